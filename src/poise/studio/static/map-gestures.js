// Turns pointer and wheel events of an element into gestures. `handlers` has
//   pan(right, down), zoom(factor, left, top), hover(left, top), leave(), click(left, top, kind),
//   wantsLasso(event), lasso(left, top, first), lassoEnd(), lassoCancel(),
//   and wantsWheel(event) if some turns of the wheel are for what is around the element
// in pixels of the element; kind is "mouse", "touch" or "pen". A second finger turns anything into a pinch.

const MAX_CLICK_PIXELS = 4; // a pointer that travels farther drags
const WHEEL_FACTOR = 0.0015; // of the logarithm of the scale, per pixel
const LINE_PIXELS = 16;
// Browsers send a pinch on a touchpad as a wheel with Ctrl, in much smaller steps.
const TOUCHPAD_FACTOR = 8;

export function watchGestures(target, handlers, signal) {
  const held = new Map();
  let kind = null; // "pan", "lasso" or "pinch"
  let travelled = 0;

  const at = (event) => {
    const { left, top } = target.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };
  const span = () => {
    const [[ax, ay], [bx, by]] = held.values();
    return { middle: [(ax + bx) / 2, (ay + by) / 2], wide: Math.max(Math.hypot(ax - bx, ay - by), 1) };
  };

  function down(event) {
    if (event.button !== 0 || held.size === 2) return;
    target.setPointerCapture(event.pointerId);
    held.set(event.pointerId, at(event));
    if (held.size === 2) {
      if (kind === "lasso") handlers.lassoCancel();
      kind = "pinch";
      return;
    }
    kind = handlers.wantsLasso(event) ? "lasso" : "pan";
    travelled = 0;
    if (kind === "lasso") handlers.lasso(...at(event), true);
  }

  function move(event) {
    const now = at(event);
    const before = held.get(event.pointerId);
    if (!before) {
      if (held.size === 0 && event.pointerType !== "touch") handlers.hover(...now);
    } else if (kind === "pinch") {
      const old = span();
      held.set(event.pointerId, now);
      const fresh = span();
      handlers.pan(fresh.middle[0] - old.middle[0], fresh.middle[1] - old.middle[1]);
      handlers.zoom(fresh.wide / old.wide, ...fresh.middle);
    } else {
      held.set(event.pointerId, now);
      travelled += Math.hypot(now[0] - before[0], now[1] - before[1]);
      if (kind === "lasso") handlers.lasso(...now, false);
      else handlers.pan(now[0] - before[0], now[1] - before[1]);
    }
  }

  function up(event) {
    if (!held.delete(event.pointerId)) return;
    if (kind === "lasso") handlers.lassoEnd();
    else if (kind === "pan" && travelled < MAX_CLICK_PIXELS) handlers.click(...at(event), event.pointerType);
    // The finger that stays must not move the map at once, nor count as a click.
    kind = held.size ? "pan" : null;
    travelled = MAX_CLICK_PIXELS;
  }

  function cancel(event) {
    if (!held.delete(event.pointerId)) return;
    if (kind === "lasso") handlers.lassoCancel();
    kind = held.size ? "pan" : null;
  }

  // Lifting a finger always leaves: what it touched stays shown.
  function leave(event) {
    if (event.pointerType !== "touch") handlers.leave();
  }

  function wheel(event) {
    if (handlers.wantsWheel?.(event) === false) return;
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PIXELS : 1;
    const step = event.deltaY * lines * WHEEL_FACTOR * (event.ctrlKey ? TOUCHPAD_FACTOR : 1);
    handlers.zoom(Math.exp(-Math.min(Math.max(step, -1), 1)), ...at(event));
  }

  target.addEventListener("pointerdown", down, { signal });
  target.addEventListener("pointermove", move, { signal });
  target.addEventListener("pointerup", up, { signal });
  target.addEventListener("pointercancel", cancel, { signal });
  target.addEventListener("pointerleave", leave, { signal });
  target.addEventListener("wheel", wheel, { signal, passive: false });
}
