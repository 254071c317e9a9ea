"""Script time per frame while a map of 100,000 points is dragged, in chromium.

    python benchmarks/map_frames.py                          # Studio's map, WebGL and plain canvas
    npm pack @deck.gl/core @deck.gl/layers regl-scatterplot regl pub-sub-es ogl twgl.js  # in FOLDER
    python benchmarks/map_frames.py --packages FOLDER        # the libraries as well

Runs under Studio's Content-Security-Policy. The time of a frame is the wall time of its animation
callbacks and of the pointer events before it. CPU is the mean processor time of all the page's
script. Both count script alone: drawing happens in another process, here without a graphics card.
The table is in docs/decisions/map-library.md.
"""

import argparse
import gzip
import io
import json
import shutil
import statistics
import sys
import tarfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
from playwright.sync_api import Browser, CDPSession, sync_playwright
from playwright.sync_api import TimeoutError as PlaywrightTimeout

STATIC = Path(__file__).parents[1] / "src" / "poise" / "studio" / "static"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'"
)
TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html"}
#: Studio's own drawing, for its size.
OWN = "map-points.js"
N_CLASSES, N_LABELLED = 10, 400
MOVES = 240
#: Seconds after which a drag is given up: some need seconds for a frame without a graphics card.
PATIENCE = 20

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>map</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="/static/studio.css">
<link rel="stylesheet" href="/static/map.css"><link rel="stylesheet" href="/bench.css">
<div id="plot"></div>
<script type="module" src="/candidates/{name}.js"></script></html>"""
STYLE = "body { display: block; } #plot { position: absolute; inset: 0; }"

COMMON = """
globalThis.plot = document.getElementById("plot");
const bytes = async (path) => (await fetch(path)).arrayBuffer();
const script = (path) => new Promise((done, failed) => {
  const made = document.createElement("script");
  Object.assign(made, { src: path, onload: done, onerror: failed });
  document.head.append(made);
});
const canvas = () => {
  const made = document.createElement("canvas");
  Object.assign(made, { width: innerWidth, height: innerHeight });
  plot.append(made);
  return made;
};
const xy = new Float32Array(await bytes("/api/map/points?layout=pca"));
const n = xy.length / 2;
const rgba = Uint8Array.from({ length: 4 * n }, (_, i) => (i % 4 === 3 ? 255 : (37 * i) % 200));
const VERTEX = `attribute vec2 at; attribute vec4 colour; uniform vec2 shift; uniform vec2 scale;
varying vec4 shade;
void main() {
  gl_Position = vec4((at + shift) * scale, 0.0, 1.0);
  gl_PointSize = 3.0;
  shade = colour;
}`;
const FRAGMENT = `precision mediump float;
varying vec4 shade;
void main() { gl_FragColor = shade; }`;
// Pans what `draw(x, y)` draws: the libraries below the level of a scatter plot leave that to us.
const pan = (target, draw) => {
  let x = 0, y = 0, waiting = false;
  target.addEventListener("pointermove", (event) => {
    if (!event.buttons) return;
    x += event.movementX / 400;
    y -= event.movementY / 400;
    if (!waiting) requestAnimationFrame(() => { waiting = false; draw(x, y); });
    waiting = true;
  });
  draw(0, 0);
};
"""

DONE = "plot.dataset.done = true;"

#: What each candidate needs of its packages, and a page that shows all points and can be dragged.
CANDIDATES = {
    "deck.gl": (
        ["deck.gl-core/dist.min.js", "deck.gl-layers/dist.min.js"],
        """
await script("/packages/deck.gl-core/dist.min.js");
await script("/packages/deck.gl-layers/dist.min.js");
await new Promise((done) => new deck.Deck({
  parent: plot, deviceProps: { webgl: { antialias: false } }, controller: true,
  views: new deck.OrthographicView({ flipY: false }),
  initialViewState: { target: [0, 0, 0], zoom: Math.log2(400) }, onAfterRender: done,
  layers: [new deck.ScatterplotLayer({
    data: { length: n, attributes: {
      getPosition: { value: xy, size: 2 }, getFillColor: { value: rgba, size: 4 } } },
    getRadius: 1.5, radiusUnits: "pixels" })],
}));
""",
    ),
    "regl-scatterplot": (
        [
            "regl-scatterplot/dist/regl-scatterplot.min.js",
            "regl/dist/regl.min.js",
            "pub-sub-es/dist/index.js",
        ],
        """
globalThis.createPubSub = (await import("/packages/pub-sub-es/dist/index.js")).default;
await script("/packages/regl/dist/regl.min.js");
await script("/packages/regl-scatterplot/dist/regl-scatterplot.min.js");
const points = Array.from({ length: n }, (_, i) => [xy[2 * i], xy[2 * i + 1], rgba[4 * i] % 10]);
await createScatterplot.default({
  canvas: canvas(), width: innerWidth, height: innerHeight, pointSize: 3, colorBy: "valueA",
}).draw(points);
""",
    ),
    "ogl": (
        [
            *(f"ogl/src/core/{name}.js" for name in ("Camera", "Geometry", "Mesh", "Program")),
            *(f"ogl/src/core/{name}.js" for name in ("Renderer", "Texture", "Transform")),
            *(f"ogl/src/math/{name}.js" for name in ("Euler", "Mat3", "Mat4", "Quat", "Vec3")),
            *(f"ogl/src/math/functions/{name}Func.js" for name in ("Euler", "Mat3", "Mat4")),
            *(f"ogl/src/math/functions/{name}Func.js" for name in ("Quat", "Vec3", "Vec4")),
        ],
        """
const from = "/packages/ogl/src/core/";
const { Renderer } = await import(`${from}Renderer.js`);
const { Program } = await import(`${from}Program.js`);
const { Geometry } = await import(`${from}Geometry.js`);
const { Mesh } = await import(`${from}Mesh.js`);
const renderer = new Renderer({ canvas: canvas(), width: innerWidth, height: innerHeight });
const { gl } = renderer;
const uniforms = { shift: { value: [0, 0] }, scale: { value: [0.5, 0.9] } };
const geometry = new Geometry(gl, {
  at: { size: 2, data: xy }, colour: { size: 4, data: rgba, normalized: true },
});
const program = new Program(gl, { vertex: VERTEX, fragment: FRAGMENT, uniforms });
const mesh = new Mesh(gl, { mode: gl.POINTS, geometry, program, frustumCulled: false });
pan(gl.canvas, (x, y) => { uniforms.shift.value = [x, y]; renderer.render({ scene: mesh }); });
""",
    ),
    "twgl.js": (
        ["twgl.js/dist/7.x/twgl-full.module.js"],
        """
const twgl = await import("/packages/twgl.js/dist/7.x/twgl-full.module.js");
const gl = canvas().getContext("webgl2");
const program = twgl.createProgramInfo(gl, [VERTEX, FRAGMENT]);
const buffers = twgl.createBufferInfoFromArrays(gl, {
  at: { numComponents: 2, data: xy }, colour: { numComponents: 4, data: rgba, normalize: true },
});
pan(gl.canvas, (x, y) => {
  gl.useProgram(program.program);
  twgl.setBuffersAndAttributes(gl, program, buffers);
  twgl.setUniforms(program, { shift: [x, y], scale: [0.5, 0.9] });
  twgl.drawBufferInfo(gl, buffers, gl.POINTS);
});
""",
    ),
    "Studio": (
        [],
        """
const { mountMap } = await import("/static/map.js");
const get = async (path) => (await fetch(path)).json();
const post = async (path, body) => (await fetch(path, {
  method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
})).json();
const state = await get("/api/state");
const note = (name) => async (...given) => { (plot.calls ??= []).push([name, ...given]); };
const host = {
  get, post, bytes,
  content: async (item) => Object.assign(document.createElement("div"), {
    className: "text", textContent: `The text of ${item}, which goes on for a line or two.` }),
  classes: () => state.classes.map((one, i) => ({ ...one, colour: `var(--c${i % 12})` })),
  open: note("open"), label: note("label"), restrict: note("restrict"), say: note("say"),
};
globalThis.state = state;
globalThis.map = mountMap(plot, host);
globalThis.map.update(state);
await new Promise((done) => {
  const look = () => (plot.dataset.ready === "yes" ? done() : setTimeout(look, 20));
  look();
});
""",
    ),
}

# Before the page's own scripts: times every animation callback and pointer event.
TIMER = """
(() => {
  const frames = (window.frames_ = []);
  let handled = 0, stamp = -1;
  const ask = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (work) => ask((time) => {
    const start = performance.now();
    try { work(time); } finally {
      const took = performance.now() - start + handled;
      handled = 0;
      if (time === stamp) frames[frames.length - 1] += took;
      else frames.push(took);
      stamp = time;
    }
  });
  const listen = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function (kind, work, options) {
    if (!/^(pointer|mouse|wheel)/.test(kind) || typeof work !== "function")
      return listen.call(this, kind, work, options);
    return listen.call(this, kind, function (event) {
      const start = performance.now();
      try { return work.call(this, event); } finally { handled += performance.now() - start; }
    }, options);
  };
})();
"""


class Points:
    """Random clusters as Studio's API gives them: positions, labels, predictions, certainty."""

    def __init__(self, n: int) -> None:
        rng = np.random.default_rng(0)
        self.n = n
        clusters = rng.integers(3 * N_CLASSES, size=n)
        centres = rng.uniform(-0.8, 0.8, (3 * N_CLASSES, 2))
        spread = rng.uniform(0.02, 0.09, 3 * N_CLASSES)[clusters, None]
        at = centres[clusters] + spread * rng.standard_normal((n, 2))
        self.positions = np.clip(at, -1, 1).astype("<f4")
        self.predicted = (clusters % N_CLASSES + 1).astype("<u2")
        self.labels = np.zeros(n, "<u2")
        asked = rng.permutation(n)[:N_LABELLED]
        self.labels[asked] = self.predicted[asked]
        far = np.linalg.norm(at - centres[clusters], axis=1) / (3 * spread[:, 0])
        self.known = (255 * np.clip(1 - far, 0, 1)).astype("u1")
        self.known[asked] = 255
        self.classes = [
            {"name": f"class {i}", "key": str((i + 1) % 10), "count": 0} for i in range(N_CLASSES)
        ]

    def answer(self, path: str, query: dict[str, list[str]]) -> bytes | object | None:
        """What the server would send for `path`: bytes, or an object for JSON."""
        if path == "/api/state":
            asked = int(np.argmin(self.known))
            question = {"item": f"item-{asked}", "index": asked}
            return {"items": self.n, "classes": self.classes, "question": question} | {
                "only": None,
                "last": 1,
            }
        if path == "/api/map":
            layout = {"name": "pca", "title": "Principal components", "ready": True}
            return {"n": self.n, "layouts": [layout]}
        if path == "/api/map/points":
            return self.positions.tobytes()
        if path == "/api/map/values":
            return self.labels.tobytes() + self.predicted.tobytes() + self.known.tobytes()
        if path == "/api/map/item":
            index = int(query["index"][0])
            code = int(self.labels[index])
            return {
                "item": f"item-{index}",
                "label": self.classes[code - 1]["name"] if code else None,
                "guess": self.classes[int(self.predicted[index]) - 1]["name"],
                "confidence": 0.82,
            }
        return None


def handler_for(points: Points, packages: dict[str, bytes]) -> type[BaseHTTPRequestHandler]:
    """Serves the pages, the packages' files and the API, all under the policy."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            self.send(self.found(parts.path, parse_qs(parts.query)), Path(parts.path).suffix)

        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.send({"items": [f"item-{index}" for index in sent["indices"]]}, "")

        def found(self, path: str, query: dict[str, list[str]]) -> bytes | object | None:
            _, kind, rest = [*path.split("/", 2), ""][:3]
            if kind == "pages":
                return PAGE.format(name=rest.removesuffix(".html")).encode()
            if kind == "candidates":
                return (
                    COMMON + CANDIDATES[rest.removesuffix(".js")][1] + "plot.dataset.done = true;"
                ).encode()
            if kind == "bench.css":
                return STYLE.encode()
            if kind == "packages":
                return packages.get(rest)
            if kind == "static":
                return (STATIC / rest).read_bytes() if (STATIC / rest).is_file() else None
            return points.answer(path, query)

        def send(self, found: bytes | object | None, suffix: str) -> None:
            body = found if isinstance(found, bytes) else json.dumps(found).encode()
            self.send_response(404 if found is None else 200)
            self.send_header("Content-Type", TYPES.get(suffix, "application/octet-stream"))
            self.send_header("Content-Security-Policy", POLICY)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler


@contextmanager
def serving(points: Points, packages: dict[str, bytes]) -> Iterator[str]:
    """The address of a server that runs until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler_for(points, packages))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def unpacked(folder: Path) -> tuple[dict[str, bytes], dict[str, str]]:
    """Files of the packages that `npm pack` left in `folder`, and the packages' versions."""
    contents: dict[str, bytes] = {}
    versions: dict[str, str] = {}
    for archive in sorted(folder.glob("*.tgz")):
        with tarfile.open(fileobj=io.BytesIO(archive.read_bytes())) as packed:
            of_package = {
                member.name.split("/", 1)[1]: packed.extractfile(member).read()  # type: ignore[union-attr]
                for member in packed
                if member.isfile()
            }
        about = json.loads(of_package["package.json"])
        name = about["name"].removeprefix("@").replace("/", "-")
        versions[name] = f"{about['version']}, {about['license']}"
        contents |= {f"{name}/{path}": content for path, content in of_package.items()}
    return contents, versions


@dataclass(frozen=True)
class Drag:
    """Milliseconds of script by frame, seconds by the clock, the script's on the processor."""

    times: list[float]
    seconds: float
    processor: float
    problem: str


def script_seconds(inspector: CDPSession) -> float:
    """Processor time that the page's script has taken so far: waiting for others is not in it."""
    metrics = inspector.send("Performance.getMetrics")["metrics"]
    return next(each["value"] for each in metrics if each["name"] == "ScriptDuration")


def dragged(browser: Browser, address: str) -> Drag:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    problems: list[str] = []
    page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.add_init_script(TIMER)
    inspector = page.context.new_cdp_session(page)
    inspector.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(address)
    try:
        page.wait_for_selector("[data-done]", timeout=20_000)
    except PlaywrightTimeout:
        return Drag([], 0, 0, problems[0].strip() if problems else "no picture after 20 s")
    page.wait_for_timeout(500)
    page.mouse.move(900, 450)
    page.mouse.down()
    page.evaluate("frames_.length = 0")
    before = script_seconds(inspector)
    start = time.perf_counter()
    for move in range(MOVES):
        if time.perf_counter() - start > PATIENCE:
            break
        angle = 2 * np.pi * move / 60
        page.mouse.move(900 + 200 * np.sin(angle), 250 + 200 * np.cos(angle))
        page.wait_for_timeout(16)
    seconds = time.perf_counter() - start
    processor = script_seconds(inspector) - before
    times = page.evaluate("frames_.slice()")
    page.mouse.up()
    page.close()
    return Drag(times, seconds, processor, problems[0].strip() if problems else "")


def row(title: str, about: str, files: list[bytes], drag: Drag) -> str:
    """One line of the table."""
    plain = sum(map(len, files)) / 1000
    small = sum(len(gzip.compress(content)) for content in files) / 1000
    start = f"| {title} | {about} | {plain:.0f} | {small:.0f} |"
    frames = len(drag.times)
    if frames < 2:
        return f"{start} {drag.problem or f'{frames} frames'} | | | |"
    most = statistics.quantiles(drag.times, n=20)[-1]
    middle = statistics.median(drag.times)
    mean = 1000 * drag.processor / frames
    return f"{start} {frames / drag.seconds:.1f} | {middle:.1f} | {most:.1f} | {mean:.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--packages", type=Path, help="folder with what `npm pack` wrote")
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--only", nargs="+", choices=CANDIDATES, default=list(CANDIDATES))
    asked = parser.parse_args()
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("map_frames: needs chromium on the PATH")
    packages, versions = unpacked(asked.packages) if asked.packages else ({}, {})
    print("| | version, licence | KB | KB gzip | frames a second | median ms | 95% ms | CPU ms |")
    print("|---|---|--:|--:|--:|--:|--:|--:|")
    with serving(Points(asked.points), packages) as address, sync_playwright() as playwright:
        for name in asked.only:
            needed = CANDIDATES[name][0]
            if any(path not in packages for path in needed):
                print(f"{name}: not in --packages, left out", file=sys.stderr)
                continue
            about = versions[needed[0].split("/")[0]] if needed else ""
            files = [packages[path] for path in needed] or [(STATIC / OWN).read_bytes()]
            for how in ("", "?webgl=off") if name == "Studio" else ("",):
                # A browser each: what one leaves behind to draw must not slow the next.
                browser = playwright.chromium.launch(
                    executable_path=chromium, args=["--no-sandbox"]
                )
                found = dragged(browser, f"{address}/pages/{name}.html{how}")
                browser.close()
                title = f"{name}, plain canvas" if how else name
                print(row(title, about, files, found), flush=True)
                if found.times and found.problem:
                    print(f"{title}: {found.problem}", file=sys.stderr)


if __name__ == "__main__":
    main()
