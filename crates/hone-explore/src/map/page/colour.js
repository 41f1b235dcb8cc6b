// @ts-check
// Colours: each node has one of the looks of a scheme, which the program has chosen; the legend shows and filters them.

import { $, N, arcsOf, countOf, counted, data, degreeOf, make, meta, show, state } from "./data.js";
import { keepAddress } from "./main.js";
import { redraw, renderer } from "./plot.js";

/** The value of a node: the place of a name, or a number. @param {Scheme} scheme @param {number} i @returns {number} */
export function valueOf(scheme, i) {
  const [kind, at] = scheme.key.split("-");
  switch (kind) {
    case "own": return data.own[Number(at)][i];
    case "role": return data.role[i];
    case "out": return arcsOf(0, i);
    case "in": return arcsOf(1, i);
    default: return at === "0" ? degreeOf(i) : countOf(Number(at), i);
  }
}
/** @typedef {import("./data.js").Scheme} Scheme */

/** The group of a value; the last two are of others and of nodes without one. @param {Scheme} scheme @param {number} value */
function groupOf(scheme, value) {
  const all = scheme.groupOf.length;
  return scheme.groupOf[value === 65535 ? all - 1 : Math.min(value, all - 2)];
}

/** The value of a node as text. @param {Scheme} scheme @param {number} i */
export function valueText(scheme, i) {
  const value = valueOf(scheme, i);
  if (scheme.groups) return scheme.names?.[value] ?? scheme.groups[groupOf(scheme, value)].name;
  return Number.isNaN(value) ? "(none)" : show(value);
}

/** A number on its scale. @param {number} value */
const level = (value) => state.log ? Math.sign(value) * Math.log1p(Math.abs(value) / state.scheme.unit) : value;

/** @param {string} hex */
const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
const MISSING = { colour: "#b4b4b4", muted: true, shape: 0 };
const RAMP = [MISSING, ...meta.ramp.map((colour) => ({ colour, muted: false, shape: 0 }))];

/** The colour of a look; on black the grey of a muted one is dark. @param {{ colour: string, muted: boolean }} look */
const colourOf = (look) => look.muted && document.documentElement.dataset.theme === "dark" ? "#4a4f57" : look.colour;

/** What nodes look like in a scheme. @param {Scheme} scheme */
export const looksOf = (scheme) => scheme.groups ?? RAMP;

/** Which look each node has: its group, or 0 without a number, else its level. @type {Uint16Array} */
export const looks = new Uint16Array(N);
/** @type {(value: number) => number} */
let lookOf = () => 0;

/** Whether a node passes the filter of the legend. @param {number} i */
export function shown(i) {
  if (state.scheme.groups) return !state.hidden.has(looks[i]);
  if (!state.range) return true;
  const value = valueOf(state.scheme, i); // a missing number is in no range
  return value >= state.range[0] && value <= state.range[1];
}

function findLooks() {
  const { scheme } = state, low = level(scheme.least), span = level(scheme.most) - low;
  const part = (/** @type {number} */ value) => span > 0 ? Math.max(0, Math.min(255, Math.floor((level(value) - low) / span * 256))) : 127;
  lookOf = scheme.groups ? (value) => groupOf(scheme, value) : (value) => Number.isNaN(value) ? 0 : 1 + part(value);
  for (let i = 0; i < N; i++) looks[i] = lookOf(valueOf(scheme, i));
}

/** Colours, sizes and shapes of all nodes in the order in which they are drawn, to the renderer. */
export function paintColours() {
  const table = looksOf(state.scheme), order = state.scheme.order ?? table.map((_, look) => look);
  const rank = new Uint16Array(table.length), starts = new Uint32Array(table.length + 1), alpha = Math.round(255 * meta.opacity);
  order.forEach((look, at) => { rank[look] = at; });
  for (let i = 0; i < N; i++) starts[rank[looks[i]] + 1]++;
  for (let at = 0; at < table.length; at++) starts[at + 1] += starts[at];
  const colours = table.map((look) => rgb(colourOf(look)));
  const nodes = new Uint32Array(N), bytes = new Uint8Array(4 * N), marks = new Uint8Array(2 * N);
  for (let i = 0; i < N; i++) {
    const at = starts[rank[looks[i]]]++, look = table[looks[i]];
    nodes[at] = i;
    bytes.set(colours[looks[i]], 4 * at);
    bytes[4 * at + 3] = !shown(i) ? 0 : state.selection && !state.selection.has(i) ? 40 : look.muted ? alpha * meta.muted : alpha;
    marks[2 * at] = look.muted ? Math.round(255 * meta.muted) : 255;
    marks[2 * at + 1] = state.shapes ? look.shape : 0;
  }
  renderer?.paint(nodes, bytes, marks);
  redraw();
}

/** @param {string | null} key */
export function colourBy(key) {
  state.scheme = meta.schemes.find((scheme) => scheme.key === key) ?? meta.schemes[0];
  state.log = state.scheme.log;
  state.hidden = new Set();
  state.range = null;
  $("colour").value = state.scheme.key;
  recolour();
}

/** After another scheme, scale or shape was chosen. */
export function recolour() {
  findLooks();
  refresh();
}

/** After the filter was changed. */
export function refresh() {
  legend();
  paintColours();
  keepAddress();
}

/** The mark of a look, as on the map. @param {{ colour: string, muted: boolean, shape: number }} look */
export function dot(look) {
  const mark = make("span", null, { class: look.muted ? "dot muted" : "dot", "aria-hidden": "true" }), shape = state.shapes ? look.shape : 0;
  mark.style.background = colourOf(look);
  mark.style.clipPath = shape ? `polygon(${meta.shapes[shape].map(([x, y]) => `${50 + 32 * x}% ${50 + 32 * y}%`).join(", ")})` : "circle(36%)";
  return mark;
}

/** A box to tick. @param {string} id @param {string} text @param {boolean} checked @param {(checked: boolean) => void} set */
function tick(id, text, checked, set) {
  const box = make("input", null, { type: "checkbox", id });
  box.checked = checked;
  box.addEventListener("change", () => { set(box.checked); $(id)?.focus(); });
  return make("label", null, { class: "tick" }, box, " " + text);
}

function legend() {
  const box = $("legend"), { scheme } = state, held = document.activeElement?.id;
  box.replaceChildren(make("h2", scheme.name, { dir: "auto" }));
  if (scheme.groups) groupLegend(box, scheme.groups);
  else numberLegend(box);
  if (held) $(held)?.focus(); // what was clicked has been made anew
}

/** @param {HTMLElement} box @param {import("./data.js").Group[]} groups */
function groupLegend(box, groups) {
  box.append(make("div", null, { class: "row" },
    tick("names", "Names on the map", state.names, (on) => { state.names = on; redraw(); keepAddress(); }),
    tick("shapes", "Shapes", state.shapes, (on) => { state.shapes = on; recolour(); })));
  const list = make("ul", null, { class: "keys" }), used = [...groups.keys()].filter((group) => groups[group].nodes);
  for (const group of used) {
    const { name, nodes } = groups[group], { hidden } = state;
    const toggle = () => { hidden.has(group) ? hidden.delete(group) : hidden.add(group); refresh(); };
    const alone = () => { state.hidden = new Set(used.filter((other) => other !== group)); refresh(); };
    list.append(make("li", null, {},
      make("button", null, { class: "key", id: "key-" + group, "aria-pressed": String(!hidden.has(group)), onclick: toggle },
        dot(groups[group]), make("span", name, { class: "name", dir: "auto" }), make("span", show(nodes), { class: "count" })),
      make("button", "Only", { class: "only", id: "only-" + group, "aria-label": "Show only " + name, onclick: alone })));
  }
  box.append(list);
  if (state.hidden.size) box.append(make("div", null, { class: "row" }, make("button", "Show all", { id: "show-all", onclick: () => { state.hidden = new Set(); refresh(); } })));
}

/** @param {HTMLElement} box */
function numberLegend(box) {
  const { scheme } = state, ramp = make("div", null, { class: "ramp" });
  ramp.style.background = `linear-gradient(90deg, ${meta.ramp.filter((_, at) => at % 15 === 0).join(", ")})`;
  const ends = make("div", null, { class: "ends" }, make("span", show(scheme.least)), make("span", state.log ? "log scale" : ""), make("span", show(scheme.most)));
  const values = Array.from({ length: N }, (_, i) => level(valueOf(scheme, i))).filter((value) => !Number.isNaN(value));
  const now = state.range ?? [scheme.least, scheme.most];
  const field = (/** @type {number} */ end, /** @type {string} */ label) => {
    const input = make("input", null, { type: "number", step: "any", value: String(now[end]), id: "range-" + label });
    input.addEventListener("change", () => {
      /** @type {[number, number]} */
      const range = [now[0], now[1]];
      range[end] = Number(input.value);
      state.range = range;
      refresh();
    });
    return make("label", label, { class: "dim" }, input);
  };
  box.append(tick("log", "Log scale", state.log, (on) => { state.log = on; recolour(); }), ramp, ends, histogram(values, scheme.name),
    make("p", "Show nodes with values", { class: "dim" }), make("div", null, { class: "range" }, field(0, "from"), field(1, "to")));
  if (scheme.missing) box.append(make("p", null, {}, dot(MISSING), ` ${counted(scheme.missing, "node")} without a value`));
}

/** A histogram of values as a small picture; `own` marks the bar of one node. @param {number[]} values @param {string} name @param {number | null} own */
export function histogram(values, name, own = null) {
  let low = Infinity, high = -Infinity;
  for (const v of values) { if (v < low) low = v; if (v > high) high = v; }
  const bins = 30, counts = new Uint32Array(bins), span = high - low || 1;
  const bin = (/** @type {number} */ v) => Math.min(bins - 1, Math.floor((v - low) / span * bins));
  for (const v of values) counts[bin(v)]++;
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const set = (/** @type {Element} */ element, /** @type {Record<string, any>} */ attributes) => Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
  set(svg, { viewBox: "0 0 300 88", class: "bars", role: "img", "aria-label": "Distribution of " + name });
  const top = Math.max(...counts, 1);
  counts.forEach((count, b) => {
    const bar = document.createElementNS(svg.namespaceURI, "rect"), tall = count ? Math.max(1.5, 84 * Math.sqrt(count / top)) : 0;
    set(bar, { x: b * 10 + 0.5, y: 88 - tall, width: 9, height: tall, class: own !== null && bin(own) === b ? "own" : "" });
    svg.append(bar);
  });
  return svg;
}
