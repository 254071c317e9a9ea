// Elements: the one function that makes them, and the one that finds them.

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

// An element with children. `settings` is a class name, or properties and attributes by name.
export function element(name, settings = {}, ...children) {
  const made = document.createElement(name);
  const values = typeof settings === "string" ? { className: settings } : settings;
  for (const [key, value] of Object.entries(values)) {
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

export const button = (settings, ...children) => element("button", { type: "button", ...settings }, ...children);

// A select with an option for each entry of `options`, value -> text.
export function select(name, options) {
  const made = Object.entries(options).map(([value, text]) => element("option", { value }, text));
  return element("select", { "aria-label": name }, ...made);
}

export function svgElement(name, attributes = {}) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// A drawing of `shapes`, each a name and its attributes.
export function drawing(width, height, shapes, label) {
  const svg = svgElement("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  svg.append(...shapes.map(([name, attributes]) => svgElement(name, attributes)));
  return svg;
}
