// @ts-check
// The scatter: where it looks, how points are drawn (WebGL2, or a canvas), what lies under the pointer.

import { $, N, data, meta, state } from "./data.js";
import { shown } from "./colour.js";
import { keepAddress, paintOver, paintUnder } from "./main.js";

/** @type {HTMLCanvasElement} */
export const points = $("points");
/** @type {HTMLCanvasElement} */
export const over = $("over");
/** @type {HTMLCanvasElement} */
export const under = $("under");
export const view = { x: 0.5, y: 0.5, zoom: 1 };
export let width = 1, height = 1, ratio = 1;
/**
 * Draws nodes in an order, with four bytes of colour each, and a size and a shape.
 * @type {{ name: string, paint(nodes: Uint32Array, bytes: Uint8Array, marks: Uint8Array): void, draw(step: number): void } | null}
 */
export let renderer = null;
let moving = 0, frame = 0;

/** Pixels per unit; the unit square holds all nodes. */
export const scale = () => Math.min(width, height) * 0.92 * view.zoom;
/** @param {number} x @param {number} y */
export const toScreen = (x, y) => [width / 2 + (x - view.x) * scale(), height / 2 - (y - view.y) * scale()];
/** @param {number} sx @param {number} sy */
export const toWorld = (sx, sy) => [view.x + (sx - width / 2) / scale(), view.y - (sy - height / 2) / scale()];
/** Where a node is in the layout that is shown. @param {number} i @returns {[number, number]} */
export const at = (i) => [data.places[state.layout][0][i] / 65535, data.places[state.layout][1][i] / 65535];
/** Radius of a point in pixels. */
export const pointRadius = () => Math.max(1, meta.radius * Math.min(width, height) * 0.92 * view.zoom ** 0.4);

/** The sides of the shapes as half planes, four of each; a disc has none. */
const PLANES = meta.shapes.flatMap((corners) => [0, 1, 2, 3].flatMap((k) => {
  if (!corners.length) return [0, 0, 0];
  const [ax, ay] = corners[k % corners.length], [bx, by] = corners[(k + 1) % corners.length], long = Math.hypot(bx - ax, by - ay);
  const normal = [(by - ay) / long, (ax - bx) / long];
  return [...normal, normal[0] * ax + normal[1] * ay];
}));

/** The program that draws points, or null where it cannot be had. @param {WebGL2RenderingContext} gl */
function glProgram(gl) {
  const program = gl.createProgram();
  const add = (/** @type {number} */ type, /** @type {string} */ source) => {
    const shader = /** @type {WebGLShader} */ (gl.createShader(type));
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  };
  add(gl.VERTEX_SHADER, `#version 300 es
    precision highp float;
    in vec2 place; in vec4 colour; in vec2 mark; uniform vec2 centre; uniform vec2 scale; uniform float radius;
    out vec4 shade; flat out int shape; out float size;
    void main() {
      gl_Position = colour.a > 0.0 ? vec4((place - centre) * scale, 0.0, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
      size = max(radius * mark.x / 255.0, 0.8); shape = int(mark.y + 0.5); shade = colour;
      gl_PointSize = 2.0 * (shape == 0 ? size : 1.6 * size) + 1.0;
    }`);
  add(gl.FRAGMENT_SHADER, `#version 300 es
    precision highp float;
    in vec4 shade; flat in int shape; in float size; uniform vec3 planes[${PLANES.length / 3}]; out vec4 result;
    void main() {
      float reach = (shape == 0 ? size : 1.6 * size) + 0.5;
      vec2 place = (gl_PointCoord - 0.5) * 2.0 * reach / size;
      float far = shape == 0 ? length(place) : -9.0;
      if (shape > 0) for (int k = 0; k < 4; k++) { vec3 side = planes[4 * shape + k]; far = max(far, dot(side.xy, place) - side.z + 1.0); }
      float edge = clamp((1.0 - far) * size + 0.5, 0.0, 1.0);
      if (edge <= 0.01) discard;
      result = vec4(shade.rgb, 1.0) * shade.a * edge;
    }`);
  gl.linkProgram(program);
  return gl.getProgramParameter(program, gl.LINK_STATUS) ? program : null;
}

/** Points with WebGL2; positions stay on the card, a frame sets three numbers. @returns {typeof renderer} */
function glRenderer() {
  // Tried on another canvas: one that has had WebGL gives no plain drawing any more.
  const probe = document.createElement("canvas").getContext("webgl2");
  if (!probe || !glProgram(probe)) return null;
  const gl = points.getContext("webgl2", { antialias: false, alpha: true, preserveDrawingBuffer: true });
  const program = gl && glProgram(gl);
  if (!gl || !program) return null;
  gl.useProgram(program);
  const buffer = (/** @type {string} */ name) => ({ made: gl.createBuffer(), at: gl.getAttribLocation(program, name) });
  const place = buffer("place"), colour = buffer("colour"), mark = buffer("mark");
  const uniform = (/** @type {string} */ name) => gl.getUniformLocation(program, name);
  const centre = uniform("centre"), scaling = uniform("scale"), radius = uniform("radius");
  gl.uniform3fv(uniform("planes"), PLANES);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  const fill = (/** @type {{ made: WebGLBuffer }} */ buffer, /** @type {ArrayBufferView} */ values) => {
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer.made);
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
  };
  return {
    name: "webgl2",
    paint(nodes, bytes, marks) {
      const [x, y] = data.places[state.layout], pairs = new Uint16Array(2 * N);
      nodes.forEach((i, at) => { pairs[2 * at] = x[i]; pairs[2 * at + 1] = y[i]; });
      fill(place, pairs);
      fill(colour, bytes);
      fill(mark, marks);
    },
    draw(step) {
      gl.viewport(0, 0, points.width, points.height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      const use = (/** @type {typeof place} */ buffer, /** @type {number} */ parts, /** @type {number} */ type, /** @type {boolean} */ unit) => {
        const bytes = type === gl.UNSIGNED_SHORT ? 2 : 1;
        gl.bindBuffer(gl.ARRAY_BUFFER, buffer.made);
        gl.enableVertexAttribArray(buffer.at);
        gl.vertexAttribPointer(buffer.at, parts, type, unit, parts * bytes * step, 0);
      };
      use(place, 2, gl.UNSIGNED_SHORT, true);
      use(colour, 4, gl.UNSIGNED_BYTE, true);
      use(mark, 2, gl.UNSIGNED_BYTE, false);
      gl.uniform2f(centre, view.x, view.y);
      gl.uniform2f(scaling, 2 * scale() / width, 2 * scale() / height);
      gl.uniform1f(radius, pointRadius() * ratio);
      gl.drawArrays(gl.POINTS, 0, Math.floor((N + step - 1) / step));
    },
  };
}

/** The same on a plain canvas, slower. @returns {typeof renderer} */
function canvasRenderer() {
  const pen = /** @type {CanvasRenderingContext2D} */ (points.getContext("2d"));
  /** @type {[Uint32Array, Uint8Array, Uint8Array]} */
  let [nodes, bytes, marks] = [new Uint32Array(0), new Uint8Array(0), new Uint8Array(0)];
  return {
    name: "canvas",
    paint(order, colours, looks) { [nodes, bytes, marks] = [order, colours, looks]; },
    draw(step) {
      pen.clearRect(0, 0, points.width, points.height);
      const radius = pointRadius() * ratio;
      for (let k = 0; k < nodes.length; k += step) {
        const [r, g, b, alpha] = bytes.subarray(4 * k, 4 * k + 4);
        const [sx, sy] = toScreen(...at(nodes[k]));
        if (!alpha || sx < -9 || sy < -9 || sx > width + 9 || sy > height + 9) continue;
        const size = radius * marks[2 * k] / 255, corners = meta.shapes[marks[2 * k + 1]];
        pen.fillStyle = `rgb(${r} ${g} ${b} / ${alpha / 255})`;
        pen.beginPath();
        if (corners.length) corners.forEach(([dx, dy]) => pen.lineTo(sx * ratio + size * dx, sy * ratio + size * dy));
        else pen.arc(sx * ratio, sy * ratio, size, 0, 7);
        pen.fill();
      }
    },
  };
}

export function startPlot() {
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
export function redraw(move = false) {
  if (move) { moved = true; moving = performance.now(); }
  if (!frame) frame = requestAnimationFrame(paint);
}

export function paint() {
  frame = 0;
  if (!renderer) return;
  const now = performance.now(), busy = moved || now - moving < 160;
  if (busy) most = now - painted > 70 ? Math.max(10000, most / 2) : now - painted < 25 ? Math.min(2 * N, most * 1.3) : most;
  [moved, painted] = [false, now];
  renderer.draw(busy ? Math.max(1, Math.ceil(N / most)) : 1);
  paintUnder();
  paintOver();
  clearTimeout(rest);
  if (busy && N > most) rest = setTimeout(() => redraw(), 180);
}

// --- what lies under the pointer: a grid of cells

const GRID = 256;
/** @type {{ layout: number, starts: Uint32Array, order: Uint32Array } | null} */
let cells = null;
function buildCells() {
  const starts = new Uint32Array(GRID * GRID + 1), order = new Uint32Array(N), [x, y] = data.places[state.layout];
  const cell = (/** @type {number} */ i) => (y[i] >> 8) * GRID + (x[i] >> 8);
  for (let i = 0; i < N; i++) starts[cell(i) + 1]++;
  for (let c = 0; c < GRID * GRID; c++) starts[c + 1] += starts[c];
  const next = starts.slice();
  for (let i = 0; i < N; i++) order[next[cell(i)]++] = i;
  return { layout: state.layout, starts, order };
}

/**
 * Calls `visit` with every shown node of a box in world coordinates.
 * @param {number} x0 @param {number} y0 @param {number} x1 @param {number} y1 @param {(i: number) => void} visit
 */
export function visitBox(x0, y0, x1, y1, visit) {
  if (cells?.layout !== state.layout) cells = buildCells();
  const { starts, order } = cells;
  const clamp = (/** @type {number} */ v) => Math.max(0, Math.min(GRID - 1, Math.floor(v * 65535) >> 8));
  for (let cy = clamp(y0); cy <= clamp(y1); cy++) {
    for (let cx = clamp(x0); cx <= clamp(x1); cx++) {
      const c = cy * GRID + cx;
      for (let q = starts[c]; q < starts[c + 1]; q++) if (shown(order[q])) visit(order[q]);
    }
  }
}

/** The node nearest to a place on the screen, or -1. @param {number} sx @param {number} sy */
export function nodeAt(sx, sy, reach = 12) {
  const [x, y] = toWorld(sx, sy), r = (reach + pointRadius()) / scale();
  let best = -1, least = r * r;
  visitBox(x - r, y - r, x + r, y + r, (i) => {
    const [nx, ny] = at(i), gap = (nx - x) ** 2 + (ny - y) ** 2;
    if (gap < least) { least = gap; best = i; }
  });
  return best;
}

/** The next node in a direction, within 45 degrees of it, or -1. @param {number} from @param {number} dx @param {number} dy */
export function nextNode(from, dx, dy) {
  const [x, y] = at(from);
  for (let r = 40 / scale(); ; r *= 2) {
    let best = -1, least = r;
    visitBox(x - r, y - r, x + r, y + r, (i) => {
      const [nx, ny] = at(i), along = (nx - x) * dx + (ny - y) * dy, aside = Math.abs((nx - x) * dy - (ny - y) * dx);
      if (along > 0 && aside <= along && along + aside < least) { least = along + aside; best = i; }
    });
    if (best >= 0 || r > 2) return best;
  }
}

/** Moves the view to a node, a step per frame; a small graph stays in view. @param {number} i */
export function goTo(i, zoom = Math.max(view.zoom, Math.max(1, Math.min(4, N / 200)))) {
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

/** @param {number} sx @param {number} sy @param {number} factor */
export function zoomAt(sx, sy, factor) {
  const [x, y] = toWorld(sx, sy);
  view.zoom = Math.max(0.5, Math.min(4000, view.zoom * factor));
  const [nx, ny] = toWorld(sx, sy);
  view.x += x - nx;
  view.y += y - ny;
  redraw(true);
  keepAddress();
}
