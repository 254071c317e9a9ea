// What a key press means, with any keyboard layout: capitals are letters too, and where a layout has
// other letters (Cyrillic) or no digits (AZERTY), the place of the key decides.

const NAMED = /^(Dead|Process|Unidentified)$/; // input methods hide the letter itself

function physical(code) {
  return /^Key[A-Z]$/.test(code) ? code[3].toLowerCase() : /^Digit\d$/.test(code) ? code[5] : null;
}

// The key of a class if there is one, else what the page knows it by: "u", "Enter", "+".
export function keyOf(event, classes = []) {
  const { key, code = "", shiftKey } = event;
  const taken = new Set(classes.map((one) => one.key).filter(Boolean));
  if (taken.has(key)) return key;
  const letter = key.length === 1 || NAMED.test(key);
  if (!letter) return key;
  const lower = key.toLowerCase();
  if (taken.has(lower)) return lower;
  const place = physical(code);
  if (place === null) return lower;
  const digit = /\d/.test(place);
  // Shift and a digit's key is a sign on most layouts, and a digit on AZERTY, where the key says so.
  if (digit) return !shiftKey && taken.has(place) ? place : lower;
  return /^[a-z]$/.test(lower) ? lower : place;
}

// Whether it takes back: Ctrl-Z, or Cmd-Z on a Mac.
export const isUndo = (event) => (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && keyOf(event) === "z";
