// @ts-check
// What the page holds: sections of compressed bytes, made into typed arrays, and what of it is shown now.

/**
 * What the program says of the map. A scheme says how nodes are coloured: by groups, or by a number on a ramp.
 * @typedef {{ name: string, colour: string, nodes: number, muted: boolean, shape: number, middles: number[][] }} Group
 * @typedef {{ key: string, name: string, names?: string[], groupOf: number[], groups?: Group[], order: number[],
 *   least: number, most: number, missing: number, log: boolean, unit: number }} Scheme
 * @typedef {{ name: string, being: string, nodes: number, degree: number, out_degree: number, in_degree: number,
 *   more: [string, number][], less: [string, number][], exemplars: number[] }} Role
 * @typedef {{ title: string, nodes: number, edges: number, directed: boolean, links: number, ids: string, near: number[],
 *   layouts: string[], orbits: string[], means: number[], deviations: number[], logs: number[], most: number[],
 *   graphlets: [string, number][], roles: Role[], affinity: number[][], schemes: Scheme[], colour: string, ramp: string[],
 *   shapes: number[][][], style: { names: boolean, shapes: boolean }, radius: number, muted: number,
 *   opacity: number, fewEdges: number }} Meta
 * @typedef {{ offsets: Uint32Array, ends: Uint32Array, kinds: Uint8Array | null }} Edges
 */

/** @param {string} id @returns {any} */
export const $ = (id) => document.getElementById(id);
/** @type {Meta} */
export const meta = JSON.parse($("meta").textContent);
export const N = meta.nodes;

/** What is shown now; `focus` is the node that the keyboard is at, `chosen` the open one. */
export const state = {
  layout: 0, chosen: -1, focus: -1, hover: -1, tool: "pan", edges: meta.links <= meta.fewEdges, log: false,
  names: meta.style.names, shapes: meta.style.shapes,
  /** @type {Scheme} */ scheme: meta.schemes[0],
  /** @type {Set<number>} */ hidden: new Set(),
  /** @type {[number, number] | null} */ range: null,
  /** @type {Set<number> | null} */ selection: null,
  /** @type {string | null} */ theme: null,
};

/** The bytes of a section. The text of the page is freed once it is read. @param {string} name */
async function section(name) {
  const element = $("data-" + name);
  if (!element) return new Uint8Array(0);
  const text = element.textContent.trim();
  element.remove();
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Reads numbers and planes of bytes one after the other. */
class Reader {
  /** @param {Uint8Array} bytes */
  constructor(bytes) { this.bytes = bytes; this.at = 0; }
  /** @param {number} n */
  plane(n) { const part = this.bytes.subarray(this.at, this.at + n); this.at += n; return part; }
  /** @param {number} n */
  u16(n) {
    const low = this.plane(n), high = this.plane(n);
    return Uint16Array.from(low, (byte, i) => byte | (high[i] << 8));
  }
  /** @param {number} n */
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

/** A count as it is packed: eleven bits and how often they are doubled; exact up to 2047. @param {number} code */
const unpackCount = (code) => (code & 2047) * 2 ** (code >> 11);

export const data = {
  /** Two coordinates for each layout. @type {Uint16Array[][]} */ places: [],
  /** @type {Uint8Array} */ role: new Uint8Array(0),
  /** @type {string[] | Float64Array | null} */ ids: null,
  /** @type {Uint16Array[] | null} */ counts: null,
  /** Arcs that leave nodes, and that enter them. @type {Uint16Array[] | null} */ arcs: null,
  /** Why a node has its role. @type {((i: number) => string) | null} */ why: null,
  /** For each layout. @type {{ rows: Int32Array, similarities: Float64Array }[]} */ near: [],
  /** @type {Edges | null} */ edges: null,
  /** @type {(Uint16Array | Float32Array)[]} */ own: [],
};

export async function readCore() {
  const reader = new Reader(await section("core"));
  data.places = meta.layouts.map(() => [reader.u16(N), reader.u16(N)]);
  data.role = reader.plane(N);
}

export async function readRest() {
  await readIds();
  const colours = new Reader(await section("colours"));
  const own = meta.schemes.filter((scheme) => scheme.key.startsWith("own-"));
  own.sort((a, b) => Number(a.key.slice(4)) - Number(b.key.slice(4)));
  data.own = own.map((scheme) => scheme.groups ? colours.u16(N) : colours.f32(N));
  const counts = new Reader(await section("counts"));
  data.counts = meta.orbits.map(() => counts.u16(N));
  if (meta.directed) data.arcs = [counts.u16(N), counts.u16(N)];
  await readReasons();
  const near = new Reader(await section("near"));
  data.near = meta.near.map((k) => ({
    rows: Int32Array.from({ length: N * k }, (_, at) => Math.floor(at / k) + near.signed()),
    similarities: Float64Array.from({ length: N * k }, () => near.signed() / 100),
  }));
  await readEdges();
}

async function readIds() {
  const reader = new Reader(await section("ids"));
  if (meta.ids === "text") {
    const lengths = Array.from({ length: N }, () => reader.varint()), decoder = new TextDecoder();
    data.ids = lengths.map((length) => decoder.decode(reader.plane(length)));
  } else {
    let last = 0;
    data.ids = Float64Array.from({ length: N }, () => last += reader.signed());
  }
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

/** @param {number} i */
export const idOf = (i) => data.ids ? String(data.ids[i]) : "";
/** @param {number} orbit @param {number} i */
export const countOf = (orbit, i) => data.counts ? unpackCount(data.counts[orbit][i]) : NaN;
/** @param {number} i */
export const degreeOf = (i) => data.edges ? data.edges.offsets[i + 1] - data.edges.offsets[i] : countOf(0, i);
/** Arcs that leave a node (0), or enter it (1). @param {number} way @param {number} i */
export const arcsOf = (way, i) => data.arcs ? unpackCount(data.arcs[way][i]) : NaN;
/** Degrees as text: one of edges, two of arcs. @param {number} i */
export const degreeText = (i) => data.arcs ? `out-degree ${show(arcsOf(0, i))}, in-degree ${show(arcsOf(1, i))}` : `degree ${show(degreeOf(i))}`;
/** What joins two nodes. */
export const link = "edge";

/** @type {Map<string, number> | null} */
let numbers = null;
/** The node of an id. @param {string | null} text */
export function findId(text) {
  if (!numbers) { numbers = new Map(); for (let i = N - 1; i >= 0; i--) numbers.set(idOf(i), i); }
  return text === null ? undefined : numbers.get(text);
}

/** A number for people: whole ones as they are, others with three digits. @param {number} x */
export function show(x) {
  if (!Number.isFinite(x)) return "–";
  if (Number.isInteger(x) && Math.abs(x) < 1e9) return x.toLocaleString("en");
  if (Math.abs(x) >= 1000 && Math.abs(x) < 1e9) return Math.round(x).toLocaleString("en");
  return Math.abs(x) >= 1e9 || (Math.abs(x) < 0.001 && x !== 0) ? x.toExponential(2) : String(+x.toPrecision(3));
}

/** A number of things: 1 edge, 2 edges. @param {number} count @param {string} thing */
export const counted = (count, thing) => `${show(count)} ${thing}${count === 1 ? "" : "s"}`;

/**
 * An element with text and attributes. Text is set as text: names are never markup.
 * @param {string} tag @param {string | null} text @param {Record<string, any>} attributes @param {(Node | string)[]} children
 * @returns {any}
 */
export function make(tag, text, attributes = {}, ...children) {
  const element = document.createElement(tag);
  if (text !== null) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}
