// What a key press means, with any keyboard layout: capitals are letters too, and where a layout has
// other letters (Cyrillic) or no digits (AZERTY), the position of the key decides.

const NAMED = /^(Dead|Process|Unidentified)$/; // input methods hide the letter itself
const FIELDS = "input:not([type=range], [type=checkbox]), select, textarea";
const OPENS_A_FIELD = "cn/"; // the key itself must not be typed into the field that opens

function letterAt(code) {
  return /^Key[A-Z]$/.test(code) ? code[3].toLowerCase() : /^Digit\d$/.test(code) ? code[5] : null;
}

// The key of a class if there is one, else the name that the page uses: "u", "Enter", "+".
export function keyOf(event, classes = []) {
  const { key, code = "", shiftKey } = event;
  const taken = new Set(classes.map((labelClass) => labelClass.key).filter(Boolean));
  if (taken.has(key)) return key;
  const isLetter = key.length === 1 || NAMED.test(key);
  if (!isLetter) return key;
  const lower = key.toLowerCase();
  if (taken.has(lower)) return lower;
  const letter = letterAt(code);
  if (letter === null) return lower;
  // Shift and a digit's key is a sign on most layouts, and a digit on AZERTY, where the key says so.
  if (/\d/.test(letter)) return !shiftKey && taken.has(letter) ? letter : lower;
  return /^[a-z]$/.test(lower) ? lower : letter;
}

// Ctrl-Z, or Cmd-Z on a Mac.
export const isUndo = (event) =>
  (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && keyOf(event) === "z";

// Calls `press(key, event)` for each key that is meant for the page, not for a field or a control. A key that a
// dialog has used is prevented: the Enter that closes it must not accept a guess too. `classes()` are those whose
// keys count now; `page` is the document, or the root of a widget that shares its document with others.
export function watchKeys(press, classes, page = document) {
  page.addEventListener("keydown", (event) => {
    if (event.repeat || event.defaultPrevented || page.querySelector("dialog[open]")) return;
    // A field keeps the focus for a moment after its dialog has closed: what is typed then is for the page.
    const target = event.target.closest("dialog") ? document.body : event.target;
    if (target.closest(FIELDS) && event.key !== "Escape") return;
    if (isUndo(event)) {
      event.preventDefault();
      press("u");
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.startsWith("Arrow") && target.closest("[type=range]")) return;
    if (event.key === "Enter" && target.closest("button, a, summary")) return;
    const key = keyOf(event, classes());
    if (OPENS_A_FIELD.includes(key)) event.preventDefault();
    press(key, event);
  });
}
