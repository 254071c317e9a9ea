// What a project cannot do: its screens, buttons and keys are left out.

const PARTS = {
  a: "audit",
  g: "similar",
  i: "details",
  l: "review",
  m: "map",
  v: "review",
  "/": "review",
};

export const lacks = (state, part) => state.lacks.includes(part);

export const isKeyOfLacking = (state, key) => lacks(state, PARTS[key]);

// Elements that belong to a part say so with data-part.
export function hideLacking(state) {
  for (const shown of document.querySelectorAll("[data-part]")) shown.hidden = lacks(state, shown.dataset.part);
}
