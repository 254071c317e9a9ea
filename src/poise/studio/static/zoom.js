// Zooms the image on the stage: wheel, pinch, keys and double click zoom, dragging moves it. The image in
// full resolution is loaded with the first zoom.

import { clamp } from "./geometry.js";
import { watchGestures } from "./map-gestures.js";

const SHRUNK_PIXELS = 1200; // an image with a side that long may be larger on the server
const FULL_PIXELS = 16384;
const KEY_FACTOR = 1.5;
const MAX_PIXEL_SIZE = 4; // screen pixels for one pixel of a large image
const MAX_SMALL_FACTOR = 8; // for small images

export class Zoom {
  constructor(stage) {
    this.stage = stage;
    this.picture = null;
  }

  get isOn() {
    return this.picture !== null && this.scale > 1;
  }

  // What is on the stage now. Only images are zoomed.
  show(shown, item) {
    this.watching?.abort();
    const picture = shown?.tagName === "IMG";
    Object.assign(this, { picture: picture ? shown : null, item, scale: 1, x: 0, y: 0, sharp: false });
    this.stage.classList.toggle("zoomable", picture);
    this.stage.classList.remove("zoomed");
    if (!picture) return;
    shown.style.transform = "";
    this.watching = new AbortController();
    const nothing = () => {};
    const gestures = {
      pan: (right, down) => this.pan(right, down),
      zoom: (factor, left, top) => this.zoom(factor, left, top),
      wantsLasso: () => false,
      hover: nothing,
      leave: nothing,
      click: nothing,
      lasso: nothing,
      lassoEnd: nothing,
      lassoCancel: nothing,
    };
    watchGestures(this.stage, gestures, this.watching.signal);
    const twice = (event) => {
      const { left, top } = this.stage.getBoundingClientRect();
      if (this.isOn) this.reset();
      else this.zoom(this.wholePixels(), event.clientX - left, event.clientY - top);
    };
    this.stage.addEventListener("dblclick", twice, { signal: this.watching.signal });
  }

  // Shows the whole image again.
  reset() {
    Object.assign(this, { scale: 1, x: 0, y: 0 });
    this.draw();
  }

  // Whether the key was meant for the zoom.
  press(key) {
    if (!this.picture) return false;
    const factor = { "+": KEY_FACTOR, "=": KEY_FACTOR, "-": 1 / KEY_FACTOR }[key];
    if (factor) this.zoom(factor);
    return factor !== undefined;
  }

  // The scale at which a pixel of the file is a pixel of the screen.
  wholePixels() {
    const { naturalWidth, offsetWidth } = this.picture;
    const more = Math.max(naturalWidth, this.picture.naturalHeight) >= SHRUNK_PIXELS ? 2 : 1;
    return Math.max((more * naturalWidth) / Math.max(offsetWidth, 1), 2.5);
  }

  zoom(factor, left = this.stage.clientWidth / 2, top = this.stage.clientHeight / 2) {
    const highest = Math.max(MAX_SMALL_FACTOR, MAX_PIXEL_SIZE * this.wholePixels());
    const scale = clamp(this.scale * factor, 1, highest);
    // What is under the pointer stays there.
    const { offsetLeft, offsetTop, offsetWidth, offsetHeight } = this.picture;
    const right = left - (offsetLeft - this.stage.offsetLeft + offsetWidth / 2);
    const down = top - (offsetTop - this.stage.offsetTop + offsetHeight / 2);
    const change = scale / this.scale;
    this.x = right - (right - this.x) * change;
    this.y = down - (down - this.y) * change;
    this.scale = scale;
    this.draw();
    if (scale > 1 && !this.sharp) this.sharpen();
  }

  pan(right, down) {
    if (!this.isOn) return;
    this.x += right;
    this.y += down;
    this.draw();
  }

  draw() {
    const { picture, scale, stage } = this;
    const room = (size, frame) => Math.max((scale * size - frame) / 2, 0);
    const wide = room(picture.offsetWidth, stage.clientWidth);
    const tall = room(picture.offsetHeight, stage.clientHeight);
    this.x = clamp(this.x, -wide, wide);
    this.y = clamp(this.y, -tall, tall);
    picture.style.transform = scale === 1 ? "" : `translate(${this.x}px, ${this.y}px) scale(${scale})`;
    stage.classList.toggle("zoomed", scale > 1);
  }

  async sharpen() {
    this.sharp = true;
    const { picture, item } = this;
    if (Math.max(picture.naturalWidth, picture.naturalHeight) < SHRUNK_PIXELS) return;
    const full = new Image();
    full.alt = picture.alt;
    full.src = `api/items/${encodeURIComponent(item)}?size=${FULL_PIXELS}`;
    try {
      await full.decode();
    } catch {
      return; // the smaller image stays
    }
    if (this.picture !== picture) return;
    full.style.width = `${picture.offsetWidth}px`;
    full.style.height = `${picture.offsetHeight}px`;
    picture.replaceWith(full);
    picture.style.transform = "";
    this.picture = full;
    this.draw();
  }
}
