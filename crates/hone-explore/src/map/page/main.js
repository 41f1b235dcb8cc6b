// @ts-check
// Beginning, pointer, keyboard, and the address that keeps the view.

import { $, N, counted, data, degreeText, findId, idOf, link, make, meta, readCore, readRest, state } from "./data.js";
import { colourBy, looks, looksOf, paintColours, recolour, refresh, shown, valueText } from "./colour.js";
import { at, height, nextNode, nodeAt, over, paint, pointRadius, points, ratio, redraw, renderer, scale, startPlot, toScreen, toWorld, under, view, visitBox, width, zoomAt } from "./plot.js";
import { choose, idText, nodePanel, openTab, select } from "./panels.js";

/** More edges than this are not drawn at all. */
const MOST_EDGES = 60000;
/** @type {any} */
let drag = null;
/** @type {number[][]} */
let path = [];
/** @type {Map<number, number[]>} */
const pointers = new Map();

/** A pen on a cleared canvas. @param {HTMLCanvasElement} canvas */
function fresh(canvas) {
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")), style = getComputedStyle(document.documentElement);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return { pen, colour: (/** @type {string} */ name) => style.getPropertyValue(name) };
}

/** Edges, below the points: all of a small graph, and those of the open node. */
export function paintUnder() {
  const { pen, colour } = fresh(under), { chosen } = state;
  if (!data.edges) return;
  const { offsets, ends, kinds } = data.edges;
  const star = (/** @type {number} */ i, /** @type {number} */ most, /** @type {boolean} */ later) => {
    const [x, y] = toScreen(...at(i));
    for (let q = offsets[i]; q < Math.min(offsets[i + 1], offsets[i] + most); q++) {
      const [tx, ty] = toScreen(...at(ends[q]));
      if (!later || (ends[q] > i && shown(i) && shown(ends[q]))) { pen.moveTo(x, y); pen.lineTo(tx, ty); }
    }
  };
  const lines = (/** @type {string} */ name, /** @type {() => void} */ draw) => { pen.strokeStyle = colour(name); pen.lineWidth = 1; pen.beginPath(); draw(); pen.stroke(); };
  if (state.edges) lines("--web", () => { for (let i = 0; i < N; i++) star(i, Infinity, true); });
  if (chosen < 0) return;
  lines("--edge", () => star(chosen, 5000, false));
  if (kinds) lines("--edge", () => { for (let q = offsets[chosen]; q < Math.min(offsets[chosen + 1], offsets[chosen] + 5000); q++) heads(pen, chosen, ends[q], kinds[q]); });
}

/** The heads of the arcs between two nodes: 1 to the second, 2 to the first, 3 both. @param {CanvasRenderingContext2D} pen @param {number} i @param {number} j @param {number} kind */
function heads(pen, i, j, kind) {
  const head = (/** @type {number} */ from, /** @type {number} */ to) => {
    const [x0, y0] = toScreen(...at(from)), [x, y] = toScreen(...at(to)), far = Math.hypot(x - x0, y - y0);
    const gap = pointRadius() + 1, size = 7;
    if (far < 2 * (gap + size)) return;
    const [dx, dy] = [(x - x0) / far, (y - y0) / far], [tx, ty] = [x - gap * dx, y - gap * dy];
    for (const side of [-0.45, 0.45]) { pen.moveTo(tx, ty); pen.lineTo(tx - size * (dx - side * dy), ty - size * (dy + side * dx)); }
  };
  if (kind & 1) head(i, j);
  if (kind & 2) head(j, i);
}

/** Names of groups, rings around nodes, and the shape of a selection. */
export function paintOver() {
  const { pen, colour } = fresh(over);
  if (state.names) paintNames(pen, colour);
  const ring = (/** @type {number} */ i, /** @type {number} */ wide) => {
    const [x, y] = toScreen(...at(i));
    pen.beginPath();
    pen.arc(x, y, pointRadius() + 3 + wide / 2, 0, 7);
    for (const [name, more] of /** @type {[string, number][]} */ ([["--bg", 3], ["--ring", 0]])) { // seen on any colour
      pen.lineWidth = wide + more;
      pen.strokeStyle = colour(name);
      pen.stroke();
    }
  };
  if (state.hover >= 0) ring(state.hover, 1.5);
  if (state.chosen >= 0) ring(state.chosen, 2.5);
  if (state.focus >= 0 && document.activeElement === points) ring(state.focus, 3.5);
  if (path.length > 1) {
    pen.strokeStyle = pen.fillStyle = colour("--accent");
    pen.lineWidth = 1.5;
    pen.beginPath();
    if (state.tool === "box") pen.rect(path[0][0], path[0][1], path[path.length - 1][0] - path[0][0], path[path.length - 1][1] - path[0][1]);
    else path.forEach(([x, y], k) => k ? pen.lineTo(x, y) : pen.moveTo(x, y));
    pen.stroke();
    pen.globalAlpha = 0.12;
    pen.fill();
    pen.globalAlpha = 1;
  }
}

/** The names of groups where they are, inside the map, the largest first; where two would overlap, the smaller has none. @param {CanvasRenderingContext2D} pen @param {(name: string) => string} colour */
function paintNames(pen, colour) {
  const { groups, order } = state.scheme, taken = /** @type {number[][]} */ ([]);
  pen.font = `600 13px ${getComputedStyle(document.body).fontFamily}`;
  [pen.textAlign, pen.textBaseline, pen.lineWidth, pen.lineJoin] = ["center", "middle", 3.5, "round"];
  [pen.strokeStyle, pen.fillStyle] = [colour("--bg"), colour("--text")];
  for (const group of groups ? order : []) {
    const { name, muted, middles } = /** @type {import("./data.js").Group[]} */ (groups)[group];
    const [left, top] = toScreen(middles[state.layout][0], middles[state.layout][1]);
    if (left < 0 || top < 0 || left > width || top > height) continue;
    const shownName = fitted(pen, name), half = pen.measureText(shownName).width / 2 + 3;
    const x = Math.max(half, Math.min(left, width - half)), y = Math.max(11, Math.min(top - 12, height - 11)); // above, so that a single point is seen
    const area = [x - half, y - 9, x + half, y + 9];
    if (muted || state.hidden.has(group) || taken.some((t) => area[2] > t[0] && t[2] > area[0] && area[3] > t[1] && t[3] > area[1])) continue;
    taken.push(area);
    pen.strokeText(shownName, x, y);
    pen.fillText(shownName, x, y);
  }
}

/** As much of a name as there is room for. @param {CanvasRenderingContext2D} pen @param {string} name */
function fitted(pen, name) {
  const letters = [...name], cut = (/** @type {number} */ count) => count < letters.length ? letters.slice(0, count).join("") + "…" : name;
  let count = Math.min(letters.length, letters.length > 28 ? 27 : 28);
  while (count > 1 && pen.measureText(cut(count)).width > width - 6) count--;
  return cut(count);
}

/** @param {boolean} all */
function showEdges(all) {
  state.edges = all && meta.links <= MOST_EDGES;
  $("edges").setAttribute("aria-pressed", String(state.edges));
  redraw();
  keepAddress();
}

/** @param {string} name */
function useTool(name) {
  state.tool = name;
  for (const other of ["pan", "box", "lasso"]) $("tool-" + other).setAttribute("aria-pressed", String(other === name));
  points.style.cursor = name === "pan" ? "grab" : "crosshair";
}

/** Shows a layout, by its number. @param {number} layout */
function useLayout(layout) {
  state.layout = layout;
  $("layout").value = String(layout);
  nodePanel();
  paintColours();
  keepAddress();
}

/** The nodes within the drawn shape. */
function selectPath() {
  const world = path.map(([x, y]) => toWorld(x, y)), [[ax, ay], [bx, by]] = [world[0], world[world.length - 1]];
  const shape = state.tool === "box" ? [[ax, ay], [bx, ay], [bx, by], [ax, by]] : world;
  const xs = shape.map((p) => p[0]), ys = shape.map((p) => p[1]), found = new Set();
  const inside = (/** @type {number} */ x, /** @type {number} */ y) => {
    let odd = false;
    for (let a = 0, b = shape.length - 1; a < shape.length; b = a++) {
      const [ax, ay] = shape[a], [bx, by] = shape[b];
      if (ay > y !== by > y && x < (bx - ax) * (y - ay) / (by - ay) + ax) odd = !odd;
    }
    return odd;
  };
  visitBox(Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys), (i) => { if (inside(...at(i))) found.add(i); });
  select(found);
}

/** @param {MouseEvent} event */
const local = (event) => { const box = points.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };

points.addEventListener("pointerdown", (event) => {
  points.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, local(event));
  if (pointers.size === 2) { path = []; drag = { pinch: pinch() }; return; }
  drag = { from: local(event), last: local(event), far: 0 };
  path = state.tool === "pan" ? [] : [local(event)];
});

function pinch() {
  const [a, b] = [...pointers.values()];
  return { far: Math.hypot(a[0] - b[0], a[1] - b[1]), middle: [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2] };
}

points.addEventListener("pointermove", (event) => {
  const [x, y] = local(event);
  if (!pointers.has(event.pointerId)) return overNode(x, y);
  pointers.set(event.pointerId, [x, y]);
  if (drag && drag.pinch && pointers.size === 2) {
    const now = pinch();
    view.x -= (now.middle[0] - drag.pinch.middle[0]) / scale();
    view.y += (now.middle[1] - drag.pinch.middle[1]) / scale();
    zoomAt(now.middle[0], now.middle[1], now.far / Math.max(1, drag.pinch.far));
    drag.pinch = now;
  } else if (drag && drag.last) {
    drag.far += Math.hypot(x - drag.last[0], y - drag.last[1]);
    if (state.tool === "pan") { view.x -= (x - drag.last[0]) / scale(); view.y += (y - drag.last[1]) / scale(); redraw(true); }
    else { path.push([x, y]); redraw(); }
    drag.last = [x, y];
  }
});

/** @param {PointerEvent} event */
function release(event) {
  const [x, y] = local(event);
  pointers.delete(event.pointerId);
  if (drag && drag.from && drag.far < 6) choose(nodeAt(x, y));
  else if (path.length > 2) selectPath();
  if (!pointers.size) drag = null;
  path = [];
  redraw();
  keepAddress();
}
points.addEventListener("pointerup", release);
points.addEventListener("pointercancel", (event) => { pointers.delete(event.pointerId); drag = null; path = []; redraw(); });
points.addEventListener("pointerleave", () => overNode(-99, -99));
points.addEventListener("wheel", (event) => {
  event.preventDefault();
  const [x, y] = local(event);
  zoomAt(x, y, Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)));
}, { passive: false });

/** Says what is under the pointer. @param {number} x @param {number} y */
function overNode(x, y) {
  const found = data.ids ? nodeAt(x, y, 6) : -1;
  tip(found, x, y);
  if (found !== state.hover) { state.hover = found; redraw(); }
}

/** @param {number} i */
const described = (i) => [`${meta.roles[data.role[i]].name}, ${degreeText(i)}`, ...(state.scheme.key === "role" || /^(orbit-0|in|out)$/.test(state.scheme.key) ? [] : [`${state.scheme.name}: ${valueText(state.scheme, i)}`])];

/** @param {number} i @param {number} x @param {number} y */
function tip(i, x, y) {
  const box = $("tip");
  box.hidden = i < 0;
  if (i < 0) return;
  box.replaceChildren(make("strong", idOf(i), { dir: "auto" }), ...described(i).map((text) => make("div", text, { dir: "auto" })));
  box.style.left = Math.max(0, Math.min(x + 14, width - box.offsetWidth - 4)) + "px";
  box.style.top = Math.max(0, Math.min(y + 14, height - box.offsetHeight - 4)) + "px";
}

/** Moves the keyboard to a node, and the view with it if it would leave it. @param {number} i */
function focusNode(i) {
  if (i < 0 || !data.ids) return;
  state.focus = i;
  let [x, y] = toScreen(...at(i));
  if (x < 20 || y < 20 || x > width - 20 || y > height - 20) { [view.x, view.y] = at(i); [x, y] = [width / 2, height / 2]; }
  tip(i, x, y);
  $("live").textContent = [idOf(i), ...described(i), state.selection?.has(i) ? "selected" : ""].filter(Boolean).join(", ");
  redraw();
  keepAddress();
}

/** The node that the keyboard is at, at first the one nearest to the middle. */
const here = () => state.focus >= 0 && shown(state.focus) ? state.focus : nodeAt(width / 2, height / 2, 2 * Math.max(width, height));

/** To the next node in a direction. @param {number} dx @param {number} dy @param {boolean} pan */
function arrow(dx, dy, pan) {
  if (pan) { view.x += dx * 60 / scale(); view.y += dy * 60 / scale(); redraw(true); return keepAddress(); }
  const from = here();
  focusNode(from < 0 || state.focus !== from ? from : nextNode(from, dx, dy));
}

/** To the next or the last node that is shown, in the order of the page: reaches every one. @param {number} way */
function turn(way) {
  let i = state.focus;
  for (let k = 0; k < N; k++) { i = (i + way + N) % N; if (shown(i)) return focusNode(i); }
}

function toggleSelected() {
  const i = here(), chosen = new Set(state.selection ?? []);
  if (i < 0) return;
  chosen.has(i) ? chosen.delete(i) : chosen.add(i);
  select(chosen);
  focusNode(i);
}

/** What keys do while the map has the focus. @type {Record<string, (event: KeyboardEvent) => void>} */
const KEYS = {
  ArrowLeft: (event) => arrow(-1, 0, event.shiftKey), ArrowRight: (event) => arrow(1, 0, event.shiftKey),
  ArrowUp: (event) => arrow(0, 1, event.shiftKey), ArrowDown: (event) => arrow(0, -1, event.shiftKey),
  PageDown: () => turn(1), PageUp: () => turn(-1), Home: () => fit(), " ": toggleSelected,
  "+": () => zoomAt(width / 2, height / 2, 1.3), "=": () => zoomAt(width / 2, height / 2, 1.3), "-": () => zoomAt(width / 2, height / 2, 1 / 1.3),
  Enter: () => choose(here()), Escape: () => { choose(-1); select(null); state.focus = -1; tip(-1, 0, 0); },
};
function fit() { Object.assign(view, { x: 0.5, y: 0.5, zoom: 1 }); redraw(); keepAddress(); }

points.addEventListener("keydown", (event) => {
  const act = KEYS[event.key];
  if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act(event);
});
points.addEventListener("focus", () => redraw());
points.addEventListener("blur", () => { tip(-1, 0, 0); redraw(); });

// Arrow keys go from tab to tab, as screen readers expect.
const tabs = /** @type {HTMLElement[]} */ ([...document.querySelectorAll('[role="tab"]')]);
tabs.forEach((tab, k) => {
  tab.addEventListener("click", () => openTab(tab.id.slice(4)));
  tab.addEventListener("keydown", (event) => {
    const to = { ArrowLeft: k - 1, ArrowRight: k + 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = tabs[(to + tabs.length) % tabs.length];
    openTab(next.id.slice(4));
    next.focus();
  });
});

$("search").addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
  event.preventDefault();
  const text = $("query").value, found = findId(text) ?? findId(text.trim()) ?? closeIds(text, 1)[0];
  if (found === undefined) { $("query").setCustomValidity("No matching id."); $("query").reportValidity(); return; }
  choose(found, true);
});
$("query").addEventListener("input", () => {
  $("query").setCustomValidity("");
  const text = $("query").value;
  $("matches").replaceChildren(...(text ? closeIds(text, 12) : []).map((i) => make("option", null, { value: idOf(i) })));
});

/** Nodes whose ids begin with a text, then those that contain it. @param {string} text @param {number} most */
function closeIds(text, most) {
  const wanted = text.trim().toLowerCase(), first = /** @type {number[]} */ ([]), rest = /** @type {number[]} */ ([]);
  for (let i = 0; data.ids && i < N && first.length < most; i++) {
    const place = idOf(i).toLowerCase().indexOf(wanted);
    if (place === 0) first.push(i);
    else if (place > 0 && rest.length < most) rest.push(i);
  }
  return [...first, ...rest].slice(0, most);
}

/** @param {string} [theme] */
function switchTheme(theme) {
  const next = theme ?? (document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  document.documentElement.dataset.theme = next;
  refresh();
  if (!theme) { state.theme = next; keepAddress(); }
}
let ready = false, waiting = 0;

/** Keeps the view in the address, not more than a few times a second. */
export function keepAddress() {
  if (!ready || waiting) return;
  waiting = setTimeout(() => {
    waiting = 0;
    const kept = new URLSearchParams(location.hash.slice(1));
    const set = (/** @type {string} */ key, /** @type {string | null} */ value) => value === null ? kept.delete(key) : kept.set(key, value);
    const unless = (/** @type {boolean} */ value, /** @type {boolean} */ usual) => value === usual ? null : String(value);
    set("view", `${view.x.toFixed(4)},${view.y.toFixed(4)},${view.zoom.toFixed(3)}`);
    set("colour", state.scheme.key);
    set("layout", state.layout ? meta.layouts[state.layout] : null);
    set("node", state.chosen >= 0 ? idOf(state.chosen) : null);
    set("theme", state.theme);
    set("hide", state.hidden.size ? [...state.hidden].join(",") : null);
    set("range", state.range ? state.range.join(",") : null);
    set("edges", unless(state.edges, meta.links <= meta.fewEdges));
    set("log", unless(state.log, state.scheme.log));
    set("names", unless(state.names, meta.style.names));
    set("shapes", unless(state.shapes, meta.style.shapes));
    const tab = tabs.find((tab) => tab.getAttribute("aria-selected") === "true")?.id.slice(4) ?? "legend";
    set("tab", tab === "legend" ? null : tab);
    history.replaceState(null, "", "#" + kept);
  }, 250);
}

function readAddress() {
  const kept = new URLSearchParams(location.hash.slice(1)), [x, y, zoom] = (kept.get("view") ?? "").split(",").map(Number);
  if (zoom > 0 && Number.isFinite(x) && Number.isFinite(y)) Object.assign(view, { x, y, zoom });
  state.theme = ["light", "dark"].find((theme) => theme === kept.get("theme")) ?? null;
  switchTheme(state.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
  state.layout = Math.max(0, meta.layouts.indexOf(kept.get("layout") ?? ""));
  return kept;
}

/** What is hidden and drawn, as the address has it. @param {URLSearchParams} kept */
function restore(kept) {
  const numbers = (/** @type {string} */ key) => (kept.get(key) ?? "").split(",").filter(Boolean).map(Number);
  const is = (/** @type {string} */ key, /** @type {boolean} */ usual) => kept.has(key) ? kept.get(key) === "true" : usual;
  state.hidden = new Set(numbers("hide").filter((group) => state.scheme.groups?.[group]));
  const [from, to] = numbers("range");
  state.range = !state.scheme.groups && Number.isFinite(from) && Number.isFinite(to) ? [from, to] : null;
  [state.names, state.shapes, state.log] = [is("names", state.names), is("shapes", state.shapes), is("log", state.log)];
  showEdges(is("edges", state.edges));
  recolour();
}

async function begin() {
  $("title").textContent = meta.title;
  $("size").textContent = `${counted(meta.nodes, "node")} · ${counted(meta.edges, link)}`;
  meta.layouts.forEach((by, k) => $("layout").append(make("option", by === "all" ? "proximity" : by, { value: k })));
  $("layout").value = String(state.layout);
  $("layout").parentElement.hidden = meta.layouts.length < 2;
  for (const scheme of meta.schemes) $("colour").append(make("option", scheme.name, { value: scheme.key }));
  const kept = readAddress();
  await readCore();
  startPlot();
  colourBy("role"); // the rest is not there yet
  $("layout").value = String(state.layout);
  $("busy").hidden = true;
  await new Promise((done) => setTimeout(done, 30));
  await readRest();
  colourBy(kept.get("colour") ?? meta.colour);
  ready = true;
  restore(kept);
  const open = findId(kept.get("node"));
  if (open !== undefined) choose(open);
  openTab(tabs.find((tab) => tab.id === "tab-" + kept.get("tab"))?.id.slice(4) ?? (open === undefined ? "legend" : "node"));
  paint(); // whoever waits for the page alone may give it no next frame
  document.documentElement.dataset.ready = "true";
}

/** For scripts and tests. */
Object.assign(window, { hone: { meta, data, state, view, at, toScreen, findId, shown, looks, looksOf, colourBy, select, idText, recolour, refresh, renderer: () => renderer } });

$("colour").addEventListener("change", () => colourBy($("colour").value));
$("layout").addEventListener("change", () => useLayout(Number($("layout").value)));
for (const name of ["pan", "box", "lasso"]) $("tool-" + name).addEventListener("click", () => useTool(name));
$("reset").addEventListener("click", fit);
$("edges").hidden = meta.links === 0 || meta.links > MOST_EDGES;
$("edges").addEventListener("click", () => showEdges(!state.edges));
$("theme").addEventListener("click", () => switchTheme());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => { if (!state.theme) switchTheme(event.matches ? "dark" : "light"); });
useTool("pan");
showEdges(state.edges);
select(null);
begin().catch((error) => { $("busy").textContent = "This map cannot be shown: " + error.message; throw error; });
