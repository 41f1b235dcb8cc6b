// Colours: what nodes are coloured by, the legend, and what it filters.

/** Distinct in both schemes and for most kinds of colour blindness; further ones vary the lightness. */
const PALETTE = ["#3b7dd8", "#e0782f", "#2f9e6b", "#c94f7c", "#8a63d2", "#b8930f", "#1fa3b5", "#d1495b", "#6d8f2f", "#a0623a", "#5b6fb5", "#c05fc0"];
const RAMP = ["#440154", "#414487", "#2a788e", "#22a884", "#7ad151", "#fde725"];
const MISSING = [150, 150, 150];
const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
const paletteColour = (k) => {
  const [r, g, b] = rgb(PALETTE[k % PALETTE.length]), fade = Math.floor(k / PALETTE.length) * 0.28;
  return [r, g, b].map((c) => Math.round(c + (200 - c) * Math.min(fade, 0.7)));
};
const css = ([r, g, b]) => `rgb(${r}, ${g}, ${b})`;

let colouring = null; // { name, kind, value(i), categories | low, high, log }
let hidden = new Set(), range = null, bytes = null;

/** Everything that nodes can be coloured by. */
function colourings() {
  const list = [];
  const categories = (key, name, names, value) => list.push({ key, name, kind: "category", categories: names, value });
  const numbers = (key, name, value, log) => list.push({ key, name, kind: "number", value, log });
  meta.colours.forEach((colour, c) => {
    if (colour.categories) categories("own-" + c, colour.name, colour.categories, (i) => data.colours[c][i]);
  });
  categories("role", "role", meta.roles.map((role) => role.name), (i) => data.role[i]);
  numbers("degree", "degree", (i) => degreeOf(i), true);
  if (meta.directed) {
    numbers("out-degree", "out-degree", outOf, true);
    numbers("in-degree", "in-degree", intoOf, true);
  }
  meta.orbits.forEach((name, o) => { if (o) numbers("motif-" + name, "motif: " + name, (i) => countOf(o, i), true); });
  meta.colours.forEach((colour, c) => {
    if (!colour.categories) numbers("own-" + c, colour.name, (i) => data.colours[c][i], false);
  });
  return list;
}

/** Whether a node passes the filter of the legend. */
function shown(i) {
  if (!colouring) return true;
  const value = colouring.value(i);
  return colouring.kind === "category" ? !hidden.has(value) : !range || (value >= range[0] && value <= range[1]); // a missing number is in no range
}

function rampColour(part) {
  const place = Math.max(0, Math.min(1, part)) * (RAMP.length - 1), k = Math.min(RAMP.length - 2, Math.floor(place));
  const [a, b] = [rgb(RAMP[k]), rgb(RAMP[k + 1])], t = place - k;
  return a.map((c, d) => Math.round(c + (b[d] - c) * t));
}

const level = (value) => colouring.log ? Math.log1p(Math.max(0, value)) : value;

function colourOf(i) {
  if (colouring.kind === "category") return paletteColour(colouring.value(i));
  if (Number.isNaN(colouring.value(i))) return MISSING;
  const { low, high } = colouring;
  return rampColour(high > low ? (level(colouring.value(i)) - low) / (high - low) : 0.5);
}

/** Colours of all nodes, to the renderer. */
function paintColours() {
  bytes = bytes || new Uint8Array(4 * N);
  const alpha = N > 20000 ? 190 : 230;
  const table = colouring.kind === "category" ? colouring.categories.map((_, k) => paletteColour(k)) : null;
  for (let i = 0; i < N; i++) {
    const colour = table ? table[colouring.value(i)] : colourOf(i), picked = selection && !selection.has(i);
    bytes[4 * i] = colour[0];
    bytes[4 * i + 1] = colour[1];
    bytes[4 * i + 2] = colour[2];
    bytes[4 * i + 3] = shown(i) ? (picked ? 40 : alpha) : 0;
  }
  renderer.colours(bytes);
  redraw();
}

function colourBy(key) {
  const list = colourings();
  colouring = list.find((entry) => entry.key === key) || list.find((entry) => entry.key === "role");
  hidden = new Set();
  range = null;
  if (colouring.kind === "number") {
    let low = Infinity, high = -Infinity;
    for (let i = 0; i < N; i++) { const v = colouring.value(i); if (v < low) low = v; if (v > high) high = v; }
    Object.assign(colouring, { least: low, most: high, low: level(low), high: level(high) });
  }
  $("colour").value = colouring.key;
  paintColours();
  legend();
  keepAddress();
}

function legend() {
  const box = $("legend");
  box.replaceChildren(make("h2", "Colour: " + colouring.name));
  if (colouring.kind === "number") return numberLegend(box);
  const counts = new Uint32Array(colouring.categories.length);
  for (let i = 0; i < N; i++) counts[colouring.value(i)]++;
  const order = [...counts.keys()].filter((k) => counts[k]).sort((a, b) => counts[b] - counts[a]);
  box.append(make("p", "Click to hide or show; double-click to isolate.", { class: "dim" }));
  for (const k of order) {
    const dot = make("span", null, { class: "dot" });
    dot.style.background = css(paletteColour(k));
    const key = make("button", null, {
      class: "key", "aria-pressed": String(!hidden.has(k)), "data-category": k,
      onclick: () => { hidden.has(k) ? hidden.delete(k) : hidden.add(k); legend(); paintColours(); keepAddress(); },
      ondblclick: () => { hidden = new Set(order.filter((other) => other !== k)); legend(); paintColours(); keepAddress(); },
    }, dot, make("span", colouring.categories[k]), make("span", show(counts[k]), { class: "count" }));
    box.append(key);
  }
  if (hidden.size) box.append(make("div", null, { class: "row" }, make("button", "Show all", { id: "show-all", onclick: () => { hidden = new Set(); legend(); paintColours(); keepAddress(); } })));
}

function numberLegend(box) {
  const ramp = make("div", null, { class: "ramp" });
  ramp.style.background = `linear-gradient(90deg, ${RAMP.join(", ")})`;
  const ends = make("div", null, { class: "ends" }, make("span", show(colouring.least)), make("span", colouring.log ? "logarithmic" : ""), make("span", show(colouring.most)));
  const values = Array.from({ length: N }, (_, i) => level(colouring.value(i))).filter((v) => !Number.isNaN(v));
  const input = (label, value, set) => {
    const field = make("input", null, { type: "number", step: "any", value: String(value), "aria-label": label });
    field.addEventListener("change", () => { set(Number(field.value)); paintColours(); keepAddress(); });
    return make("label", label, { class: "dim" }, field);
  };
  const now = range || [colouring.least, colouring.most];
  const fields = make("div", null, { class: "range" },
    input("from", now[0], (v) => { range = [v, (range || now)[1]]; }), input("to", now[1], (v) => { range = [(range || now)[0], v]; }));
  if (values.length < N) box.append(make("p", `Grey: ${counted(N - values.length, "node")} without a value.`, { class: "dim" }));
  box.append(ramp, ends, histogram(values, colouring.name), make("p", "Show nodes with values", { class: "dim" }), fields);
}

/** A histogram of values as a small picture; `own` marks the bar of one node. */
function histogram(values, name, own = null) {
  let low = Infinity, high = -Infinity;
  for (const v of values) { if (v < low) low = v; if (v > high) high = v; }
  const bins = 30, counts = new Uint32Array(bins), span = high - low || 1;
  const bin = (v) => Math.min(bins - 1, Math.floor((v - low) / span * bins));
  for (const v of values) counts[bin(v)]++;
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 300 88");
  svg.setAttribute("class", "bars");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", "Distribution of " + name);
  const top = Math.max(...counts, 1);
  counts.forEach((count, b) => {
    const bar = document.createElementNS(svg.namespaceURI, "rect"), tall = count ? Math.max(1.5, 84 * Math.sqrt(count / top)) : 0;
    for (const [key, value] of Object.entries({ x: b * 10 + 0.5, y: 88 - tall, width: 9, height: tall })) bar.setAttribute(key, value);
    if (own !== null && bin(own) === b) bar.setAttribute("class", "own");
    svg.append(bar);
  });
  return svg;
}
