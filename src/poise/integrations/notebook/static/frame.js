// What every widget stands in: a shadow root with the page's styles, the notebook's theme, and keys that stay
// inside.

import { element } from "../../../studio/static/dom.js";
import { isUndo } from "../../../studio/static/keys.js";

const DARK = "(prefers-color-scheme: dark)";

// Whether the notebook around the widget is dark. `body` and `page` are its <body> and <html>; the notebooks
// that say nothing follow the system.
export function isDark(body, page, systemIsDark) {
  const jupyter = body.dataset.jpThemeLight;
  if (jupyter !== undefined) return jupyter === "false";
  const code = body.dataset.vscodeThemeKind;
  if (code !== undefined) return /dark|black/.test(code);
  const names = [...body.classList, ...page.classList]; // marimo
  if (names.includes("dark")) return true;
  return names.includes("light") ? false : systemIsDark;
}

// Whether a key is meant for the widget alone, so that the notebook must not see it: all but those with Ctrl,
// Cmd or Alt, which save the notebook, for example.
export const staysInside = (event) => isUndo(event) || !(event.ctrlKey || event.metaKey || event.altKey);

// The root in which a widget builds its page. `themed` is called when the theme changes; everything ends
// with `signal`.
export function makeFrame(host, styles, { themed, signal }) {
  const root = host.attachShadow({ mode: "open" });
  root.append(element("style", {}, styles));
  const follow = () => {
    const theme = isDark(document.body, document.documentElement, matchMedia(DARK).matches) ? "dark" : "light";
    if (host.dataset.theme === theme) return;
    host.dataset.theme = theme;
    themed?.();
  };
  follow();
  matchMedia(DARK).addEventListener("change", follow, { signal });
  const observer = new MutationObserver(follow);
  for (const part of [document.body, document.documentElement]) observer.observe(part, { attributes: true });
  signal.addEventListener("abort", () => observer.disconnect());
  for (const type of ["keydown", "keypress", "keyup"]) {
    root.addEventListener(type, (event) => staysInside(event) && event.stopPropagation(), { signal });
  }
  return root;
}

// What anywidget calls for each view: `show(model, host, styles, signal)` builds it.
export const viewer = (show) => (styles) => ({
  render({ model, el }) {
    const closing = new AbortController();
    const host = element("div");
    el.append(host);
    show(model, host, styles, closing.signal);
    return () => closing.abort();
  },
});
