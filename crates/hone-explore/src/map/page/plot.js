// The scatter: where it looks, how points are drawn (WebGL2, or a canvas), what lies under the pointer.

const points = $("points"), over = $("over"), under = $("under");
const view = { x: 0.5, y: 0.5, zoom: 1 };
let width = 1, height = 1, ratio = 1, renderer = null, moving = 0, frame = 0;

/** Pixels per unit; the unit square holds all nodes. */
const scale = () => Math.min(width, height) * 0.92 * view.zoom;
const toScreen = (x, y) => [width / 2 + (x - view.x) * scale(), height / 2 - (y - view.y) * scale()];
const toWorld = (sx, sy) => [view.x + (sx - width / 2) / scale(), view.y - (sy - height / 2) / scale()];
const at = (i) => [data.x[i] / 65535, data.y[i] / 65535];
const pointSize = () => Math.max(2, Math.min(14, (N > 200000 ? 1.6 : N > 20000 ? 2.6 : N > 1000 ? 5 : N > 100 ? 8 : 12) * Math.sqrt(view.zoom) ** 0.8)) * ratio;

/** The program that draws points, or null where it cannot be had. */
function glProgram(gl) {
  const shader = (type, source) => {
    const made = gl.createShader(type);
    gl.shaderSource(made, source);
    gl.compileShader(made);
    return made;
  };
  const program = gl.createProgram();
  gl.attachShader(program, shader(gl.VERTEX_SHADER, `#version 300 es
    precision highp float;
    in vec2 place; in vec4 colour; uniform vec2 centre; uniform vec2 scale; uniform float size; out vec4 shade;
    void main() {
      gl_Position = colour.a > 0.0 ? vec4((place - centre) * scale, 0.0, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
      gl_PointSize = size; shade = colour;
    }`));
  gl.attachShader(program, shader(gl.FRAGMENT_SHADER, `#version 300 es
    precision highp float;
    in vec4 shade; uniform float size; out vec4 result;
    void main() {
      float far = length(gl_PointCoord - 0.5) * 2.0;
      float edge = 1.0 - smoothstep(1.0 - 2.4 / max(size, 2.5), 1.0, far);
      if (edge <= 0.01) discard;
      result = vec4(shade.rgb, 1.0) * shade.a * edge;
    }`));
  gl.linkProgram(program);
  return gl.getProgramParameter(program, gl.LINK_STATUS) ? program : null;
}

/** Points with WebGL2; positions stay on the card, a frame sets three numbers. */
function glRenderer() {
  // Tried on another canvas: one that has had WebGL gives no plain drawing any more.
  const probe = document.createElement("canvas").getContext("webgl2");
  if (!probe || !glProgram(probe)) return null;
  const gl = points.getContext("webgl2", { antialias: false, alpha: true, preserveDrawingBuffer: true });
  if (!gl) return null;
  const program = glProgram(gl);
  gl.useProgram(program);
  const buffer = (name) => ({ made: gl.createBuffer(), at: gl.getAttribLocation(program, name) });
  const place = buffer("place"), colour = buffer("colour");
  const uniform = (name) => gl.getUniformLocation(program, name);
  const centre = uniform("centre"), scaling = uniform("scale"), size = uniform("size");
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  const pairs = new Uint16Array(2 * N);
  for (let i = 0; i < N; i++) { pairs[2 * i] = data.x[i]; pairs[2 * i + 1] = data.y[i]; }
  gl.bindBuffer(gl.ARRAY_BUFFER, place.made);
  gl.bufferData(gl.ARRAY_BUFFER, pairs, gl.STATIC_DRAW);
  return {
    name: "webgl2",
    colours(bytes) { gl.bindBuffer(gl.ARRAY_BUFFER, colour.made); gl.bufferData(gl.ARRAY_BUFFER, bytes, gl.DYNAMIC_DRAW); },
    draw(step) {
      gl.viewport(0, 0, points.width, points.height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.bindBuffer(gl.ARRAY_BUFFER, place.made);
      gl.enableVertexAttribArray(place.at);
      gl.vertexAttribPointer(place.at, 2, gl.UNSIGNED_SHORT, true, 4 * step, 0);
      gl.bindBuffer(gl.ARRAY_BUFFER, colour.made);
      gl.enableVertexAttribArray(colour.at);
      gl.vertexAttribPointer(colour.at, 4, gl.UNSIGNED_BYTE, true, 4 * step, 0);
      gl.uniform2f(centre, view.x, view.y);
      gl.uniform2f(scaling, 2 * scale() / width, 2 * scale() / height);
      gl.uniform1f(size, pointSize());
      gl.drawArrays(gl.POINTS, 0, Math.floor((N + step - 1) / step));
    },
  };
}

/** The same on a plain canvas, slower. */
function canvasRenderer() {
  const pen = points.getContext("2d");
  let bytes = new Uint8Array(4 * N);
  return {
    name: "canvas",
    colours(given) { bytes = given; },
    draw(step) {
      pen.clearRect(0, 0, points.width, points.height);
      const size = pointSize(), half = size / 2;
      let last = -1;
      for (let i = 0; i < N; i += step) {
        if (!bytes[4 * i + 3]) continue;
        const [sx, sy] = toScreen(data.x[i] / 65535, data.y[i] / 65535);
        if (sx < -9 || sy < -9 || sx > width + 9 || sy > height + 9) continue;
        const code = bytes[4 * i] << 16 | bytes[4 * i + 1] << 8 | bytes[4 * i + 2];
        if (code !== last) { pen.fillStyle = "#" + code.toString(16).padStart(6, "0"); pen.globalAlpha = bytes[4 * i + 3] / 255; last = code; }
        if (size < 5) pen.fillRect(sx * ratio - half, sy * ratio - half, size, size);
        else { pen.beginPath(); pen.arc(sx * ratio, sy * ratio, half, 0, 7); pen.fill(); }
      }
    },
  };
}

function startPlot() {
  const wanted = new URLSearchParams(location.hash.slice(1)).get("renderer");
  renderer = wanted === "canvas" ? null : glRenderer();
  if (!renderer) {
    renderer = canvasRenderer();
    $("notice").textContent = "WebGL2 is not available: points are drawn on a canvas, which is slower.";
    $("notice").hidden = false;
  }
  new ResizeObserver(resize).observe($("plot"));
  resize();
}

function resize() {
  const box = $("plot").getBoundingClientRect();
  ratio = Math.min(window.devicePixelRatio || 1, 2);
  width = Math.max(1, box.width);
  height = Math.max(1, box.height);
  for (const canvas of [under, points, over]) { canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio); }
  paint(); // at once: another size has cleared the canvases, and there may be no next frame
}

/** Points that are drawn while the view moves, as many as frames have time for; all of them once it rests. */
let most = 150000, moved = false, painted = 0, rest = 0;

/** Draws at the next frame. */
function redraw(move = false) {
  if (move) { moved = true; moving = performance.now(); }
  if (!frame) frame = requestAnimationFrame(paint);
}

function paint() {
  frame = 0;
  if (!renderer) return;
  const now = performance.now(), busy = moved || now - moving < 160;
  if (busy) most = now - painted > 70 ? Math.max(10000, most / 2) : now - painted < 25 ? Math.min(2 * N, most * 1.3) : most;
  [moved, painted] = [false, now];
  renderer.draw(busy ? Math.max(1, Math.ceil(N / most)) : 1);
  paintUnder();
  paintOver();
  stats.frames++;
  clearTimeout(rest);
  if (busy && N > most) rest = setTimeout(() => redraw(), 180);
}

/** How many frames were drawn, for those who measure. */
const stats = { frames: 0 };

// --- what lies under the pointer: a grid of cells

const GRID = 256;
let cells = null;
function buildCells() {
  const starts = new Uint32Array(GRID * GRID + 1), order = new Uint32Array(N);
  const cell = (i) => (data.y[i] >> 8) * GRID + (data.x[i] >> 8);
  for (let i = 0; i < N; i++) starts[cell(i) + 1]++;
  for (let c = 0; c < GRID * GRID; c++) starts[c + 1] += starts[c];
  const next = starts.slice();
  for (let i = 0; i < N; i++) order[next[cell(i)]++] = i;
  cells = { starts, order };
}

/** Calls `visit` with every shown node of a box in world coordinates. */
function visitBox(x0, y0, x1, y1, visit) {
  if (!cells) buildCells();
  const clamp = (v) => Math.max(0, Math.min(GRID - 1, Math.floor(v * 65535) >> 8));
  for (let cy = clamp(y0); cy <= clamp(y1); cy++) {
    for (let cx = clamp(x0); cx <= clamp(x1); cx++) {
      const c = cy * GRID + cx;
      for (let q = cells.starts[c]; q < cells.starts[c + 1]; q++) {
        const i = cells.order[q];
        if (shown(i)) visit(i);
      }
    }
  }
}

/** The node nearest to a place on the screen, or -1. */
function nodeAt(sx, sy, reach = 12) {
  const [x, y] = toWorld(sx, sy), r = (reach + pointSize() / ratio / 2) / scale();
  let best = -1, least = r * r;
  visitBox(x - r, y - r, x + r, y + r, (i) => {
    const [nx, ny] = at(i), gap = (nx - x) ** 2 + (ny - y) ** 2;
    if (gap < least) { least = gap; best = i; }
  });
  return best;
}

/** Moves the view to a node, a step per frame; a small graph stays in view. */
function goTo(i, zoom = Math.max(view.zoom, Math.max(1, Math.min(4, N / 200)))) {
  const [x, y] = at(i), from = { ...view }, begin = performance.now();
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const step = () => {
    const part = still ? 1 : Math.min(1, (performance.now() - begin) / 280), ease = part * (2 - part);
    view.x = from.x + (x - from.x) * ease;
    view.y = from.y + (y - from.y) * ease;
    view.zoom = from.zoom * (zoom / from.zoom) ** ease;
    redraw(part < 1);
    if (part < 1) requestAnimationFrame(step);
    else keepAddress();
  };
  step();
}

function zoomAt(sx, sy, factor) {
  const [x, y] = toWorld(sx, sy);
  view.zoom = Math.max(0.5, Math.min(4000, view.zoom * factor));
  const [nx, ny] = toWorld(sx, sy);
  view.x += x - nx;
  view.y += y - ny;
  redraw(true);
  keepAddress();
}
