// How questions are chosen: three ways in plain words, everything else under "Advanced".

import { get } from "./api.js";
import { byId, element } from "./dom.js";

const USUAL_TAU = 1e-3;
const CONTROLS = "select, input, summary";

let choices = null; // what the server offers

// `set(name, value)` records a change.
export async function showSettings({ settings }, set) {
  if (!byId("settings").open) return;
  choices ??= await get("api/choices");
  const body = byId("settings-body");
  const parts = [waysToAsk(settings, set), advanced(settings, set, body.querySelector(".advanced")?.open)];
  // The control that has the keyboard focus keeps it.
  const focused = [...body.querySelectorAll(CONTROLS)].indexOf(body.querySelector(":focus-visible"));
  body.replaceChildren(...parts);
  body.querySelectorAll(CONTROLS)[focused]?.focus();
}

function waysToAsk({ acquisition }, set) {
  const rows = choices.ways.map((way) => {
    const choice = element("input", {
      type: "radio",
      name: "way",
      value: way.acquisition,
      checked: way.acquisition === acquisition,
      onchange: () => set("acquisition", way.acquisition),
    });
    return element("label", {}, choice, element("span", {}, way.name, element("span", "quiet", way.words)));
  });
  return element("fieldset", "ways", element("legend", {}, "What to ask"), ...rows);
}

function advanced({ acquisition, tau }, set, open) {
  const { ways, acquisitions } = choices;
  const options = Object.entries(acquisitions).map(([value, words]) =>
    element("option", { value, selected: value === acquisition }, `${value}: ${words}`),
  );
  const select = element("select", {}, ...options);
  select.addEventListener("change", () => set("acquisition", select.value));
  const automatic = element("input", {
    type: "checkbox",
    checked: tau === null,
    onchange: () => set("tau", automatic.checked ? null : USUAL_TAU),
  });
  const slider = element("input", {
    type: "range",
    min: -6,
    max: 0,
    step: 0.5,
    value: Math.log10(tau || USUAL_TAU),
    disabled: tau === null,
  });
  const shown = element("output", "quiet", tau === null ? "automatic" : tau.toExponential(0));
  slider.addEventListener("input", () => {
    shown.textContent = (10 ** slider.value).toExponential(0);
  });
  slider.addEventListener("change", () => set("tau", 10 ** Number(slider.value)));
  const unusual = tau !== null || !ways.some((way) => way.acquisition === acquisition);
  return element(
    "details",
    { className: "advanced", open: open ?? unusual },
    element("summary", {}, "Advanced"),
    element("label", {}, "Acquisition", select),
    element("p", "quiet", acquisitions[acquisition] ?? ""),
    element("label", {}, "Choose the decay automatically", automatic),
    element("label", {}, "Decay tau: higher values explore, lower values decide", slider, shown),
  );
}
