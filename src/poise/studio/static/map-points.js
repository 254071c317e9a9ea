// Draws points: all in one call of WebGL, or on a plain canvas where there is none. Both have the same methods:
// `points` takes x0, y0, x1, y1, ..., `dress` what geometry.js makes of the items' values, and `draw` a view
// { camera, size, ratio, radii, ground, part }, where part is "all" or "sample".

const VERTEX = `#version 300 es
layout(location = 0) in vec2 at;
layout(location = 1) in vec4 look;
uniform vec2 middle;
uniform vec2 scale;
uniform vec2 radii;
out vec4 colour;
flat out float radius;
void main() {
  bool labelled = look.a > 0.0;
  radius = labelled ? radii.y : radii.x;
  colour = vec4(look.rgb, labelled ? 1.0 : 0.8);
  gl_Position = vec4((at - middle) * scale, 0.0, 1.0);
  gl_PointSize = 2.0 * radius + 2.0;
}`;

// Labelled points get a thin edge in the ground's colour, so that they stand out of a crowd.
const FRAGMENT = `#version 300 es
precision mediump float;
in vec4 colour;
flat in float radius;
uniform vec3 ground;
out vec4 painted;
void main() {
  float far = length(gl_PointCoord - 0.5) * (2.0 * radius + 2.0);
  float cover = clamp(radius + 0.5 - far, 0.0, 1.0) * colour.a;
  float core = colour.a < 1.0 ? 1.0 : clamp(radius - 0.5 - far, 0.0, 1.0);
  painted = vec4(mix(ground, colour.rgb, core) * cover, cover);
}`;

export function makeWebgl(canvas) {
  const gl = canvas.getContext("webgl2", { antialias: false, depth: false });
  if (!gl) return null;
  const program = gl.createProgram();
  for (const [kind, text] of [
    [gl.VERTEX_SHADER, VERTEX],
    [gl.FRAGMENT_SHADER, FRAGMENT],
  ]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) return null;
  gl.useProgram(program);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  const uniforms = Object.fromEntries(
    ["middle", "scale", "radii", "ground"].map((name) => [name, gl.getUniformLocation(program, name)]),
  );
  const [at, look] = [gl.createBuffer(), gl.createBuffer()];
  const orders = { all: gl.createBuffer(), sample: gl.createBuffer() };
  const counts = { all: 0, sample: 0 };

  function attribute(location, buffer, values, parts, type) {
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(location);
    gl.vertexAttribPointer(location, parts, type, true, 0, 0);
  }

  return {
    name: "webgl",
    points(values) {
      Object.assign(counts, { all: 0, sample: 0 });
      attribute(0, at, values, 2, gl.FLOAT);
    },
    dress(dressed) {
      attribute(1, look, dressed.looks, 4, gl.UNSIGNED_BYTE);
      for (const [part, buffer] of Object.entries(orders)) {
        gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffer);
        gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, dressed[part].order, gl.STATIC_DRAW);
        counts[part] = dressed[part].order.length;
      }
    },
    draw({ camera, size, ratio, radii, ground, part }) {
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.uniform2f(uniforms.middle, camera.x, camera.y);
      gl.uniform2f(uniforms.scale, (2 * camera.scale) / size.width, (2 * camera.scale) / size.height);
      gl.uniform2f(uniforms.radii, ratio * radii[0], ratio * radii[1]);
      gl.uniform3f(uniforms.ground, ground[0] / 255, ground[1] / 255, ground[2] / 255);
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, orders[part]);
      gl.drawElements(gl.POINTS, counts[part], gl.UNSIGNED_INT, 0);
    },
    close() {
      gl.getExtension("WEBGL_lose_context")?.loseContext();
    },
  };
}

const BORDER_PIXELS = 32; // round the image, never shown, so that no disc needs clipping

// A disc's pixels, as steps from its middle in an image `wide` pixels wide, and how much of each it
// covers, 0 to 256; `strong` is what a whole pixel counts.
function disc(radius, wide, strong, own) {
  const steps = [];
  const covers = [];
  const reach = Math.ceil(radius);
  for (let y = -reach; y <= reach; y += 1) {
    for (let x = -reach; x <= reach; x += 1) {
      const cover = Math.min(Math.max(radius + 0.5 - Math.hypot(x, y), 0), 1);
      if (cover > 0.03) {
        steps.push(y * wide + x);
        covers.push(Math.round(cover * strong));
      }
    }
  }
  return { steps: Int32Array.from(steps), covers: Int32Array.from(covers), own };
}

// Two channels at a time: a 256th of red and blue, and of green.
function blend(under, over, cover) {
  const rest = 256 - cover;
  const redBlue = ((under & 0xff00ff) * rest + (over & 0xff00ff) * cover) / 256;
  const green = ((under & 0x00ff00) * rest + (over & 0x00ff00) * cover) / 256;
  return ((redBlue & 0xff00ff) | (green & 0x00ff00) | 0xff000000) >>> 0;
}

// Writes the pixels itself: squares drawn by fillRect take more than twice as long as these discs.
export function makePlain(canvas) {
  const context = canvas.getContext("2d", { alpha: false, willReadFrequently: true });
  let values = new Float32Array();
  let dressed = null;
  let image = null;

  // Prints discs, the first one below, at each of `items`; a disc without a colour of its own takes the point's.
  function print(items, discs, pixels, wide, tall, { camera, ratio }) {
    const { looks } = dressed;
    const scale = camera.scale * ratio;
    const left = wide / 2 - camera.x * scale;
    const top = tall / 2 + camera.y * scale;
    for (const i of items) {
      const x = Math.round(left + values[2 * i] * scale);
      const y = Math.round(top - values[2 * i + 1] * scale);
      if (x < BORDER_PIXELS || y < BORDER_PIXELS || x >= wide - BORDER_PIXELS || y >= tall - BORDER_PIXELS) continue;
      const middle = y * wide + x;
      const colour = looks[4 * i] | (looks[4 * i + 1] << 8) | (looks[4 * i + 2] << 16);
      for (const { steps, covers, own } of discs) {
        const paint = own ?? colour;
        for (let s = 0; s < steps.length; s += 1) {
          const at = middle + steps[s];
          pixels[at] = blend(pixels[at], paint, covers[s]);
        }
      }
    }
  }

  return {
    name: "canvas",
    points(newValues) {
      values = newValues;
      dressed = null;
    },
    dress(newDressed) {
      dressed = newDressed;
    },
    draw(view) {
      const wide = canvas.width + 2 * BORDER_PIXELS;
      const tall = canvas.height + 2 * BORDER_PIXELS;
      if (image?.width !== wide || image?.height !== tall) image = new ImageData(wide, tall);
      const pixels = new Uint32Array(image.data.buffer);
      const [red, green, blue] = view.ground;
      const ground = red | (green << 8) | (blue << 16);
      pixels.fill((ground | 0xff000000) >>> 0);
      if (dressed) {
        const { order, small } = dressed[view.part];
        const [plain, large] = view.radii.map((radius) => Math.min(radius * view.ratio, BORDER_PIXELS - 2));
        const labelled = [disc(large, wide, 256, ground), disc(large - 1, wide, 256)];
        print(order.subarray(0, small), [disc(plain, wide, 205)], pixels, wide, tall, view);
        print(order.subarray(small), labelled, pixels, wide, tall, view);
      }
      context.putImageData(image, -BORDER_PIXELS, -BORDER_PIXELS);
    },
    close() {},
  };
}
