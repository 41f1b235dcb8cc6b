// Reading what the page holds: sections of compressed bytes, made into typed arrays.

const $ = (id) => document.getElementById(id);
const meta = JSON.parse($("meta").textContent);
const N = meta.nodes;

/** The bytes of a section. The text of the page is freed once it is read. */
async function section(name) {
  const element = $("data-" + name);
  if (!element) return new Uint8Array(0);
  const text = element.textContent.trim();
  element.remove();
  let bytes;
  if (Uint8Array.fromBase64) bytes = Uint8Array.fromBase64(text);
  else {
    const binary = atob(text);
    bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  }
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Reads numbers and planes of bytes one after the other. */
class Reader {
  constructor(bytes) { this.bytes = bytes; this.at = 0; }
  plane(n) { const part = this.bytes.subarray(this.at, this.at + n); this.at += n; return part; }
  u16(n) {
    const low = this.plane(n), high = this.plane(n), out = new Uint16Array(n);
    for (let i = 0; i < n; i++) out[i] = low[i] | (high[i] << 8);
    return out;
  }
  f32(n) {
    const planes = [this.plane(n), this.plane(n), this.plane(n), this.plane(n)];
    const out = new Float32Array(n), bits = new Uint32Array(out.buffer);
    for (let i = 0; i < n; i++) bits[i] = (planes[0][i] | planes[1][i] << 8 | planes[2][i] << 16 | planes[3][i] << 24) >>> 0;
    return out;
  }
  varint() {
    let value = 0, factor = 1, byte;
    do { byte = this.bytes[this.at++]; value += (byte & 127) * factor; factor *= 128; } while (byte & 128);
    return value;
  }
  signed() { const value = this.varint(); return value % 2 ? -(value + 1) / 2 : value / 2; }
}

/** A count as it is packed: eleven bits and how often they are doubled; exact up to 2047. */
const unpackCount = (code) => (code & 2047) * 2 ** (code >> 11);

const data = { x: null, y: null, role: null, ids: null, counts: null, arcs: null, why: null, near: null, edges: null, colours: [] };

async function readCore() {
  const reader = new Reader(await section("core"));
  data.x = reader.u16(N);
  data.y = reader.u16(N);
  data.role = reader.plane(N);
}

async function readIds() {
  if (meta.ids === "text") {
    const reader = new Reader(await section("ids")), lengths = [];
    for (let i = 0; i < N; i++) lengths.push(reader.varint());
    const decoder = new TextDecoder();
    data.ids = lengths.map((length) => decoder.decode(reader.plane(length)));
  } else {
    const reader = new Reader(await section("ids")), ids = new Float64Array(N);
    let last = 0;
    for (let i = 0; i < N; i++) ids[i] = last += reader.signed();
    data.ids = ids;
  }
}

async function readCounts() {
  const reader = new Reader(await section("counts"));
  data.counts = meta.orbits.map(() => reader.u16(N));
  if (meta.directed) data.arcs = [reader.u16(N), reader.u16(N)];
}

/** Why nodes have their roles: memberships in percent, and for each node the numbers of up to three reasons and of what would have given it another role. */
async function readReasons() {
  const reader = new Reader(await section("reasons")), decoder = new TextDecoder(), k = 4;
  const lengths = Array.from({ length: reader.varint() }, () => reader.varint());
  const phrases = ["", ...lengths.map((length) => decoder.decode(reader.plane(length)))];
  const percent = reader.plane(N), parts = Uint32Array.from({ length: k * N }, () => reader.varint());
  data.why = (i) => {
    const said = Array.from(parts.subarray(k * i, k * (i + 1)), (part) => phrases[part]), otherwise = said.pop(), reasons = said.filter(Boolean);
    const because = reasons.length > 1 ? reasons.slice(0, -1).join(", ") + " and " + reasons.at(-1) : reasons.join("");
    return `It is ${meta.roles[data.role[i]].being} (${percent[i]} %)${because && " because " + because}. ${otherwise}`;
  };
}

async function readNear() {
  const reader = new Reader(await section("near")), k = meta.near;
  data.near = new Int32Array(N * k);
  for (let i = 0; i < N; i++) for (let r = 0; r < k; r++) data.near[i * k + r] = i + reader.signed();
  data.similarity = new Float64Array(N * k);
  for (let at = 0; at < N * k; at++) data.similarity[at] = reader.signed() / 100;
}

/** Both directions of all edges in compressed rows; in a directed graph `kinds` says of each end whether an arc leads to it (1), comes from it (2), or both (3). */
async function readEdges() {
  const reader = new Reader(await section("edges"));
  if (!reader.bytes.length) return;
  const sources = new Uint32Array(meta.links), targets = new Uint32Array(meta.links), offsets = new Uint32Array(N + 1);
  let at = 0;
  for (let i = 0; i < N; i++) {
    let last = i;
    for (let c = reader.varint(); c > 0; c--) {
      last += reader.varint();
      sources[at] = i;
      targets[at++] = last;
      offsets[i + 1]++;
      offsets[last + 1]++;
    }
  }
  for (let i = 0; i < N; i++) offsets[i + 1] += offsets[i];
  const next = offsets.slice(), ends = new Uint32Array(2 * meta.links);
  const codes = await section("directions"), kinds = codes.length ? new Uint8Array(2 * meta.links) : null;
  for (let e = 0; e < at; e++) {
    const [there, back] = [next[sources[e]]++, next[targets[e]]++];
    ends[there] = targets[e];
    ends[back] = sources[e];
    if (!kinds) continue;
    const code = (codes[e >> 2] >> (2 * (e & 3))) & 3;
    kinds[there] = code;
    kinds[back] = ((code & 1) << 1) | (code >> 1);
  }
  data.edges = { offsets, ends, kinds };
}

async function readColours() {
  const reader = new Reader(await section("colours"));
  for (const colour of meta.colours) data.colours.push(colour.categories ? reader.u16(N) : reader.f32(N));
}

const idOf = (i) => String(data.ids[i]);
const countOf = (orbit, i) => unpackCount(data.counts[orbit][i]);
const degreeOf = (i) => data.edges ? data.edges.offsets[i + 1] - data.edges.offsets[i] : countOf(0, i);
/** Arcs that leave a node, and that enter it. */
const outOf = (i) => unpackCount(data.arcs[0][i]);
const intoOf = (i) => unpackCount(data.arcs[1][i]);
/** Degrees as text: one of edges, two of arcs. */
const degreeText = (i) => data.arcs ? `out-degree ${show(outOf(i))}, in-degree ${show(intoOf(i))}` : `degree ${show(data.counts || data.edges ? degreeOf(i) : NaN)}`;
/** What joins two nodes. */
const link = meta.directed ? "arc" : "edge";

let idIndex = null;
function findId(text) {
  if (!idIndex) { idIndex = new Map(); for (let i = N - 1; i >= 0; i--) idIndex.set(idOf(i), i); }
  return idIndex.get(text);
}

/** A number for people: whole ones as they are, others with three digits. */
function show(x) {
  if (!Number.isFinite(x)) return "–";
  if (Number.isInteger(x) && Math.abs(x) < 1e9) return x.toLocaleString("en");
  if (Math.abs(x) >= 1000 && Math.abs(x) < 1e9) return Math.round(x).toLocaleString("en");
  return Math.abs(x) >= 1e9 || (Math.abs(x) < 0.001 && x !== 0) ? x.toExponential(2) : String(+x.toPrecision(3));
}

/** A number of things: 1 edge, 2 edges. */
const counted = (count, thing) => `${show(count)} ${thing}${count === 1 ? "" : "s"}`;

/** An element with text and attributes. Text is set as text: names are never markup. */
function make(tag, text, attributes = {}, ...children) {
  const element = document.createElement(tag);
  if (text !== null && text !== undefined) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}
