// What an undo did, in words.

import { items as itemsIn } from "./format.js";

export function undoneWords({ kind, data: { items, label, name, to, into } }) {
  if (items) {
    const subject = kind === "label" ? `“${label}”` : kind;
    return `Undone: ${subject}${items.length > 1 ? ` of ${itemsIn(items.length)}` : ""}`;
  }
  const changes = {
    rename: `“${name}” is not renamed to “${to}” any more`,
    merge: `“${name}” and “${into}” are two classes again`,
    remove: `“${name}” is a class again, with its labels`,
    colour: `the colour of “${name}”`,
    order: "the order of the classes",
    discard: `the answers of ${name} are back`,
    describe: `the note and the examples of “${name}”`,
  };
  return `Undone: ${changes[kind]}`;
}
