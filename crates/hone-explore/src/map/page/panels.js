// @ts-check
// Panels: a node with its reasons, a selection with what it has in common, the whole graph.

import { $, N, countOf, counted, data, degreeOf, arcsOf, idOf, link, make, meta, show, state } from "./data.js";
import { dot, histogram, looksOf, paintColours, shown, valueOf, valueText } from "./colour.js";
import { goTo, redraw } from "./plot.js";
import { keepAddress } from "./main.js";

const roles = /** @type {import("./data.js").Scheme} */ (meta.schemes.find((scheme) => scheme.key === "role"));
/** The mark of a role; roles that share grey have the same. @param {number} role */
const roleDot = (role) => dot(looksOf(roles)[roles.groupOf[role]]);

/** @param {string} name */
export function openTab(name) {
  for (const tab of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('[role="tab"]'))) {
    const open = tab.id === "tab-" + name;
    tab.setAttribute("aria-selected", String(open));
    tab.tabIndex = open ? 0 : -1;
    $(/** @type {string} */ (tab.getAttribute("aria-controls"))).hidden = !open;
  }
  if (name === "graph") graphPanel();
  keepAddress();
}

/** @param {number} i */
const nodeLink = (i) => make("button", idOf(i), { class: "link", dir: "auto", onclick: () => choose(i, true) });
/** @param {HTMLElement[]} cells */
const line = (...cells) => make("tr", null, {}, ...cells);
/** @param {string} text */
const cell = (text, number = false, tag = "td") => make(tag, text, { ...(number ? { class: "n" } : {}), ...(tag === "th" ? { scope: "col" } : {}) });
/** A table under a heading, which names it. @param {HTMLElement} box @param {string} heading @param {string} id */
function titled(box, heading, id) {
  const table = make("table", null, { id, "aria-label": heading });
  box.append(make("h3", heading), make("div", null, { class: "wide" }, table));
  return table;
}

/** Opens a node; -1 closes it. @param {number} i */
export function choose(i, go = false) {
  state.chosen = i;
  if (i >= 0) state.focus = i;
  nodePanel();
  if (i >= 0) openTab("node");
  if (i >= 0 && go) goTo(i);
  redraw();
  keepAddress();
}

export function nodePanel() {
  const box = $("node"), i = state.chosen;
  if (i < 0) {
    box.replaceChildren(make("p", "Click a node, or find one by its id.", { class: "dim" }));
    return;
  }
  box.replaceChildren(make("h2", idOf(i), { dir: "auto", id: "node-id" }));
  box.append(make("p", null, {}, roleDot(data.role[i]), " " + meta.roles[data.role[i]].name));
  if (data.why) box.append(make("p", data.why(i), { id: "reasons" }));
  for (const scheme of meta.schemes.filter(({ key }) => key.startsWith("own-"))) box.append(make("p", `${scheme.name}: ${valueText(scheme, i)}`, { dir: "auto" }));
  nearPanel(box, i);
  countPanel(box, i);
  edgePanel(box, i);
}

/** @param {HTMLElement} box @param {number} i */
function nearPanel(box, i) {
  const k = meta.near[state.layout], near = data.near[state.layout];
  if (!k) return;
  const by = meta.layouts[state.layout] === "structure" ? "structure" : "proximity", table = titled(box, "Most similar by " + by, "near");
  for (let at = i * k; at < (i + 1) * k; at++) {
    table.append(line(make("td", null, {}, nodeLink(near.rows[at])), cell(meta.roles[data.role[near.rows[at]]].name), cell(near.similarities[at].toFixed(2), true)));
  }
}

/** @param {HTMLElement} box @param {number} i */
function countPanel(box, i) {
  const table = titled(box, "Motif counts", "counts");
  table.append(line(cell("motif", false, "th"), cell("this node", true, "th"), cell("average", true, "th")));
  if (data.arcs) ["out-degree", "in-degree"].forEach((name, way) => table.append(line(cell(name), cell(show(arcsOf(way, i)), true), cell(show(meta.edges / N), true))));
  meta.orbits.forEach((name, o) => {
    const rounded = countOf(o, i) > 2047 && o > 0, own = cell((rounded ? "≈ " : "") + show(o ? countOf(o, i) : degreeOf(i)), true);
    if (rounded) own.title = "rounded to three digits";
    table.append(line(cell(name), own, cell(show(meta.means[o]), true)));
  });
}

/** @param {HTMLElement} box @param {number} i */
function edgePanel(box, i) {
  if (!data.edges) return;
  const { offsets, ends, kinds } = data.edges, all = Array.from(ends.subarray(offsets[i], offsets[i + 1]));
  if (!kinds) return edgeList(box, counted(all.length, "edge"), all);
  const own = kinds.subarray(offsets[i], offsets[i + 1]);
  ["edges to", "edges from", "edges both ways with"].forEach((text, kind) => {
    const list = all.filter((_, k) => own[k] === kind + 1);
    if (list.length) edgeList(box, `${text} ${counted(list.length, "node")}`, list);
  });
}

/** @param {HTMLElement} box @param {string} title @param {number[]} list */
function edgeList(box, title, list) {
  if (list.length <= 5000) list.sort((a, b) => idOf(a).localeCompare(idOf(b), "en", { numeric: true }));
  box.append(make("h3", title));
  const most = make("div", null, { class: "row" });
  list.slice(0, 60).forEach((j) => most.append(nodeLink(j)));
  if (list.length > 60) most.append(make("span", `and ${show(list.length - 60)} more`, { class: "dim" }));
  box.append(most);
}

/** Selects nodes; null selects none. @param {Set<number> | null} nodes */
export function select(nodes) {
  state.selection = nodes && nodes.size ? nodes : null;
  const box = $("selection"), list = [...state.selection ?? []];
  const all = () => { const found = new Set(); for (let i = 0; i < N; i++) if (shown(i)) found.add(i); select(found); $("clear")?.focus(); };
  box.replaceChildren(...(list.length ? [
    make("h2", counted(list.length, "node"), { id: "picked" }),
    make("div", null, { class: "row" },
      make("button", "Copy ids", { id: "copy", onclick: (/** @type {any} */ event) => copyIds(list, event.target) }),
      make("button", "Download ids", { id: "download", onclick: () => downloadIds(list) }),
      make("button", "Clear", { id: "clear", onclick: () => { select(null); $("select-all").focus(); } }))] : [
    make("p", "Select nodes with the box, the lasso, or the space key.", { class: "dim" }),
    make("button", "Select all that are shown", { id: "select-all", onclick: all })]));
  if (list.length) {
    common(box, list);
    openTab("selection");
  }
  paintColours();
}

/** An id as a line of a node list: quoted unless it is sure to be read as it is. @param {string} id */
function listed(id) {
  const plain = /^[^\s"#%]([^\r\n\t,;|]*[^\s,;|])?$/.test(id) && id.toLowerCase() !== "id";
  return plain ? id : `"${id.replaceAll('"', '""')}"`;
}

/** @param {number[]} list */
export const idText = (list) => list.map((i) => listed(idOf(i))).join("\n") + "\n";

/** @param {number[]} list @param {HTMLElement} button */
function copyIds(list, button) {
  const done = () => { button.textContent = "Copied"; setTimeout(() => { button.textContent = "Copy ids"; }, 1500); };
  const area = make("textarea", null, { "aria-label": "ids" });
  area.value = idText(list);
  const old = () => { document.body.append(area); area.select(); document.execCommand("copy"); area.remove(); done(); };
  if (navigator.clipboard && window.isSecureContext) navigator.clipboard.writeText(area.value).then(done, old);
  else old();
}

/** @param {number[]} list */
function downloadIds(list) {
  const link = make("a", null, { download: "ids.txt", href: URL.createObjectURL(new Blob([idText(list)], { type: "text/plain" })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** What selected nodes have in common, beside all nodes. @param {HTMLElement} box @param {number[]} list */
function common(box, list) {
  box.append(make("h3", "In common"));
  for (const scheme of meta.schemes.filter((scheme) => scheme.groups)) {
    const own = new Map(), all = new Map();
    for (let i = 0; i < N; i++) all.set(valueOf(scheme, i), (all.get(valueOf(scheme, i)) ?? 0) + 1);
    list.forEach((i) => own.set(valueOf(scheme, i), [i, (own.get(valueOf(scheme, i))?.[1] ?? 0) + 1]));
    const top = [...own].sort((a, b) => b[1][1] - a[1][1]).slice(0, 6), percent = (/** @type {number} */ part) => (100 * part).toFixed(0) + " %";
    const table = make("table", null, { "aria-label": scheme.name }, line(cell(scheme.name, false, "th"), cell("selected", true, "th"), cell("everywhere", true, "th")));
    for (const [value, [i, count]] of top) table.append(line(cell(valueText(scheme, i)), cell(percent(count / list.length), true), cell(percent(all.get(value) / N), true)));
    box.append(table);
    if (own.size > top.length) box.append(make("p", `and ${counted(own.size - top.length, "more value")}`, { class: "dim" }));
  }
  const mean = (/** @type {number} */ o) => list.reduce((sum, i) => sum + Math.log1p(countOf(o, i)), 0) / list.length;
  const scores = meta.orbits.map((name, o) => ({ name, z: meta.deviations[o] > 0 ? (mean(o) - meta.logs[o]) / meta.deviations[o] : 0 }));
  const table = titled(box, "Motifs", "scores");
  table.append(line(cell("motif", false, "th"), cell("more or less than average", true, "th")));
  scores.sort((a, b) => Math.abs(b.z) - Math.abs(a.z)).slice(0, 5).forEach((score) => table.append(line(cell(score.name), cell((score.z >= 0 ? "+" : "") + score.z.toFixed(1) + " σ", true))));
  if (data.edges && list.length < 50000) {
    let inside = 0, all = 0;
    for (const i of list) { const { offsets, ends } = data.edges; for (let q = offsets[i]; q < offsets[i + 1]; q++) { all++; if (state.selection?.has(ends[q])) inside++; } }
    box.append(make("p", `${counted(inside / 2, meta.directed ? "linked pair" : "edge")} among them, ${show(all - inside)} to others.`));
  }
}

/** The whole graph: roles, how they are linked, distributions and shares of motifs. */
function graphPanel() {
  const box = $("graph");
  if (box.childElementCount) return;
  box.append(make("h2", meta.title, { dir: "auto" }), make("p", `${counted(meta.nodes, "node")}, ${counted(meta.edges, link)}`, { class: "dim" }));
  const parts = make("div", null, { id: "roles" });
  meta.roles.forEach((role, k) => parts.append(rolePart(role, k)));
  box.append(make("h3", "Roles"), parts);
  affinityTable(titled(box, "Links between roles", "affinity"));
  box.append(make("p", (meta.directed ? "Arcs from the row to the column. " : "") + "Observed / expected from degrees.", { class: "dim" }));
  const pick = make("select", null, { "aria-label": "Distribution of", id: "distribution" }), holder = make("div", null);
  meta.orbits.forEach((name, o) => pick.append(make("option", name, { value: o })));
  const draw = () => {
    const o = Number(pick.value), value = (/** @type {number} */ i) => Math.log1p(o ? countOf(o, i) : degreeOf(i));
    holder.replaceChildren(histogram(Array.from({ length: N }, (_, i) => value(i)), meta.orbits[o], state.chosen >= 0 ? value(state.chosen) : null),
      make("div", null, { class: "ends" }, make("span", "0"), make("span", "log scale"), make("span", show(meta.most[o]))));
  };
  pick.addEventListener("change", draw);
  draw();
  box.append(make("h3", "Distribution"), pick, holder);
  const shares = make("div", null, { class: "share" }), whole = meta.graphlets.reduce((sum, [, count]) => sum + count, 0) || 1;
  for (const [name, count] of meta.graphlets) {
    const bar = make("i", null);
    bar.style.width = Math.max(0.5, 100 * count / whole) + "%";
    shares.append(make("span", name), make("span", null, {}, bar), make("b", show(count)));
  }
  box.append(make("h3", "Motifs of three and four nodes"), shares);
}

/** A role: its size, what it has more and less of than all nodes (in standard deviations), and typical nodes. @param {import("./data.js").Role} role @param {number} k */
function rolePart(role, k) {
  const scores = (/** @type {[string, number][]} */ list) => list.map(([name, z]) => `${name} ${z >= 0 ? "+" : "−"}${Math.abs(z).toFixed(1)}`).join(", ");
  const part = make("div", null, { class: "role" }, make("p", null, {}, roleDot(k), make("strong", ` ${role.name} `), make("span", `${counted(role.nodes, "node")}, mean ${meta.directed ? `out-degree ${show(role.out_degree)}, in-degree ${show(role.in_degree)}` : `degree ${show(role.degree)}`}`, { class: "dim" })));
  if (role.more.length) part.append(make("p", "more " + scores(role.more)));
  if (role.less.length) part.append(make("p", "less " + scores(role.less)));
  const typical = make("p", "such as ", { class: "row" });
  role.exemplars.forEach((i) => typical.append(nodeLink(i)));
  if (role.exemplars.length) part.append(typical);
  return part;
}

/** @param {HTMLElement} table */
function affinityTable(table) {
  table.className = "cells";
  table.append(line(cell("role", false, "th"), ...meta.roles.map((_, k) => cell(String(k + 1), true, "th"))));
  meta.affinity.forEach((row, k) => {
    const cells = row.map((value) => {
      const made = cell(value.toFixed(value < 10 ? 1 : 0), true), strength = Math.max(-1, Math.min(1, Math.log2(Math.max(value, 0.05)) / 3));
      made.style.background = strength >= 0 ? `rgb(44 91 183 / ${0.4 * strength})` : `rgb(219 127 11 / ${-0.4 * strength})`;
      return made;
    });
    table.append(line(make("th", `${k + 1} ${meta.roles[k].name}`, { scope: "row" }), ...cells));
  });
}
