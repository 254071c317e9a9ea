import { element } from "./dom.js";
import { clamp } from "./geometry.js";

const MAX_HEIGHT_PIXELS = 15_000_000; // browsers cut elements off at about 16 million
const TILE_PIXELS = { wide: 152, gap: 12 };
const OVERSCAN_PIXELS = 200; // drawn above and below what is in sight

// A long list of which only what is in sight is in the page. A line is a row of the table, or a row
// of tiles.
export class Wall {
  // `head` stays above the rows, which stand in `space`; both are in `list`, which scrolls. `total`
  // gives the number of rows, `dress` shows the row of an index in an element, `moved` is called after.
  constructor(list, head, space, hooks) {
    Object.assign(this, { list, head, space, ...hooks, tiles: false, top: 0, scrollTop: 0 });
    this.nodes = new Map();
  }

  measure() {
    const wide = this.space.clientWidth;
    const gap = this.tiles ? TILE_PIXELS.gap : 0;
    this.across = this.tiles ? Math.max(1, Math.floor((wide + gap) / (TILE_PIXELS.wide + gap))) : 1;
    this.step = (wide + gap) / this.across;
    this.wide = this.step - gap;
    this.line = parseFloat(getComputedStyle(this.list).getPropertyValue("--row")) + gap;
    this.view = Math.max(1, this.list.clientHeight - this.head.offsetHeight);
    this.measured = this.total();
    this.full = Math.ceil(this.measured / this.across) * this.line;
    const tall = Math.min(this.full, MAX_HEIGHT_PIXELS);
    this.space.style.height = `${tall}px`;
    this.factor = this.full > tall ? (this.full - this.view) / (tall - this.view) : 1;
  }

  // Changes shape or size; the same row stays at the top.
  reshape(tiles) {
    const first = this.line ? Math.round(this.top / this.line) * this.across : 0;
    if (tiles !== this.tiles) {
      for (const node of this.nodes.values()) node.remove();
      this.nodes.clear();
    }
    this.tiles = tiles;
    this.measure();
    this.moveTo(Math.floor(first / this.across) * this.line);
  }

  sight() {
    const first = Math.max(0, Math.floor((this.top - OVERSCAN_PIXELS) / this.line)) * this.across;
    const last = Math.ceil((this.top + this.view + OVERSCAN_PIXELS) / this.line) * this.across;
    return [Math.min(first, this.measured), Math.min(last, this.measured)];
  }

  moveTo(top) {
    this.top = clamp(top, 0, Math.max(0, this.full - this.view));
    this.list.scrollTop = this.top / this.factor;
    this.scrollTop = this.list.scrollTop;
    this.draw();
  }

  reveal(index) {
    const top = Math.floor(index / this.across) * this.line;
    this.moveTo(clamp(this.top, top + this.line - this.view, top));
  }

  scrolled() {
    // A position that was set by the script comes back rounded.
    if (Math.abs(this.list.scrollTop - this.scrollTop) < 1) return;
    this.scrollTop = this.list.scrollTop;
    this.top = this.scrollTop * this.factor;
    this.draw();
  }

  // Where the scroll position is scaled, a turn of the wheel still moves by as many rows.
  wheel(event) {
    if (this.factor === 1 || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    this.moveTo(this.top + event.deltaY * [1, this.line, this.view][event.deltaMode]);
  }

  draw() {
    if (this.measured !== this.total()) this.measure();
    const [first, last] = this.sight();
    for (const [index, node] of this.nodes) {
      if (index >= first && index < last) continue;
      node.remove();
      this.nodes.delete(index);
    }
    let next = this.space.firstChild;
    for (let index = first; index < last; index += 1) {
      const node = this.node(index);
      if (node === next) next = next.nextSibling;
      else this.space.insertBefore(node, next);
    }
    this.moved();
  }

  node(index) {
    const node = this.nodes.get(index) ?? element("div", { className: "row", id: `review-${index}` });
    this.nodes.set(index, node);
    const down = Math.floor(index / this.across) * this.line - this.top + this.scrollTop;
    node.style.transform = `translate(${(index % this.across) * this.step}px, ${down}px)`;
    node.style.width = `${this.wide}px`;
    this.dress(node, index);
    return node;
  }

  // By how many rows each key moves.
  steps() {
    const { across } = this;
    const page = across * Math.max(1, Math.floor(this.view / this.line));
    const steps = { ArrowUp: -across, ArrowDown: across, PageUp: -page, PageDown: page };
    const sideways = this.tiles ? { ArrowLeft: -1, ArrowRight: 1 } : {};
    return { ...steps, ...sideways, Home: -Infinity, End: Infinity };
  }
}
