// Panels: a node with its reasons, a selection with what it has in common, the whole graph.

let chosen = -1, selection = null;

function openTab(name) {
  for (const tab of document.querySelectorAll('[role="tab"]')) {
    const open = tab.id === "tab-" + name;
    tab.setAttribute("aria-selected", String(open));
    $(tab.getAttribute("aria-controls")).hidden = !open;
  }
  if (name === "graph") graphPanel();
  keepAddress();
}

const nodeLink = (i) => make("button", idOf(i), { class: "link", dir: "auto", onclick: () => choose(i, true) });
const line = (...cells) => make("tr", null, {}, ...cells);
const cell = (text, number = false, tag = "td") => make(tag, text, number ? { class: "n" } : {});

/** Opens a node; -1 closes it. */
function choose(i, go = false) {
  chosen = i;
  const box = $("node");
  if (i < 0) {
    box.replaceChildren(make("p", "Click a node, or find one by its id.", { class: "dim" }));
    redraw();
    keepAddress();
    return;
  }
  const role = meta.roles[data.role[i]];
  box.replaceChildren(make("h2", idOf(i), { dir: "auto", id: "node-id" }));
  const dot = make("span", null, { class: "dot" });
  dot.style.background = css(paletteColour(data.role[i]));
  box.append(make("p", null, {}, dot, " " + (role ? role.name : "")));
  if (data.why) box.append(make("p", data.why(i), { id: "reasons" }));
  for (const [c, colour] of meta.colours.entries()) {
    const value = data.colours[c] && data.colours[c][i];
    box.append(make("p", `${colour.name}: ${colour.categories ? colour.categories[value] : Number.isNaN(value) ? "(none)" : show(value)}`, { dir: "auto" }));
  }
  nearPanel(box, i);
  countPanel(box, i);
  edgePanel(box, i);
  openTab("node");
  if (go) goTo(i);
  redraw();
  keepAddress();
}

function nearPanel(box, i) {
  if (!data.near || !meta.near) return;
  const table = make("table", null, { id: "near" });
  for (let r = 0; r < meta.near; r++) {
    const j = data.near[i * meta.near + r], similarity = data.similarity[i * meta.near + r];
    table.append(line(make("td", null, {}, nodeLink(j)), cell(meta.roles[data.role[j]].name), cell(similarity.toFixed(2), true)));
  }
  box.append(make("h3", "Most similar"), table);
}

function countPanel(box, i) {
  if (!data.counts) return;
  const table = make("table", null, {}, line(cell("motif", false, "th"), cell("this node", true, "th"), cell("average", true, "th")));
  if (data.arcs) [["out-degree", outOf(i)], ["in-degree", intoOf(i)]].forEach(([name, count]) => table.append(line(cell(name), cell(show(count), true), cell(show(meta.edges / N), true))));
  meta.orbits.forEach((name, o) => table.append(line(cell(name), cell((data.counts[o][i] > 2047 && o ? "≈ " : "") + show(o ? countOf(o, i) : degreeOf(i)), true), cell(show(meta.means[o]), true))));
  box.append(make("h3", "Motif counts"), table);
}

function edgePanel(box, i) {
  if (!data.edges) return;
  const { offsets, ends, kinds } = data.edges, all = Array.from(ends.subarray(offsets[i], offsets[i + 1]));
  if (!kinds) return edgeList(box, counted(all.length, "edge"), all);
  const own = kinds.subarray(offsets[i], offsets[i + 1]);
  [[1, "arcs to"], [2, "arcs from"], [3, "arcs both ways with"]].forEach(([kind, text]) => {
    const list = all.filter((_, k) => own[k] === kind);
    if (list.length) edgeList(box, `${text} ${counted(list.length, "node")}`, list);
  });
}

function edgeList(box, title, list) {
  if (list.length <= 5000) list.sort((a, b) => idOf(a).localeCompare(idOf(b), "en", { numeric: true }));
  box.append(make("h3", title));
  const most = make("div", null, { class: "row" });
  list.slice(0, 60).forEach((j) => most.append(nodeLink(j)));
  if (list.length > 60) most.append(make("span", `and ${show(list.length - 60)} more`, { class: "dim" }));
  box.append(most);
}

/** Selects nodes; null selects none. */
function select(nodes) {
  selection = nodes && nodes.size ? nodes : null;
  const box = $("selection");
  box.replaceChildren();
  if (!selection) {
    box.append(make("p", "Select nodes with the box or the lasso.", { class: "dim" }));
  } else {
    const list = [...selection];
    box.append(make("h2", counted(list.length, "node"), { id: "picked" }));
    box.append(make("div", null, { class: "row" },
      make("button", "Copy ids", { id: "copy", onclick: (event) => copyIds(list, event.target) }),
      make("button", "Download ids", { id: "download", onclick: () => downloadIds(list) }),
      make("button", "Clear", { onclick: () => select(null) })));
    common(box, list);
    openTab("selection");
  }
  paintColours();
}

const idText = (list) => list.map(idOf).join("\n") + "\n";

function copyIds(list, button) {
  const done = () => { button.textContent = "Copied"; setTimeout(() => { button.textContent = "Copy ids"; }, 1500); };
  const area = make("textarea", null, { "aria-hidden": "true" });
  area.value = idText(list);
  const old = () => { document.body.append(area); area.select(); document.execCommand("copy"); area.remove(); done(); };
  if (navigator.clipboard && window.isSecureContext) navigator.clipboard.writeText(area.value).then(done, old);
  else old();
}

function downloadIds(list) {
  const link = make("a", null, { download: "ids.txt", href: URL.createObjectURL(new Blob([idText(list)], { type: "text/plain" })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** What selected nodes have in common, beside all nodes. */
function common(box, list) {
  const shares = (name, names, value) => {
    const own = new Map(), all = new Map();
    list.forEach((i) => own.set(value(i), (own.get(value(i)) || 0) + 1));
    for (let i = 0; i < N; i++) all.set(value(i), (all.get(value(i)) || 0) + 1);
    const top = [...own].sort((a, b) => b[1] - a[1]).slice(0, 6);
    const table = make("table", null, {}, line(cell(name, false, "th"), cell("this node", true, "th"), cell("everywhere", true, "th")));
    for (const [k, count] of top) table.append(line(cell(names[k]), cell((100 * count / list.length).toFixed(0) + " %", true), cell((100 * all.get(k) / N).toFixed(0) + " %", true)));
    box.append(table);
    if (own.size > top.length) box.append(make("p", `and ${counted(own.size - top.length, "more value")}`, { class: "dim" }));
  };
  box.append(make("h3", "In common"));
  shares("role", meta.roles.map((role) => role.name), (i) => data.role[i]);
  meta.colours.forEach((colour, c) => { if (colour.categories) shares(colour.name, colour.categories, (i) => data.colours[c][i]); });
  if (!data.counts) return;
  const mean = (o) => list.reduce((sum, i) => sum + Math.log1p(countOf(o, i)), 0) / list.length;
  const scores = meta.orbits.map((name, o) => ({ name, z: meta.deviations[o] > 0 ? (mean(o) - meta.logs[o]) / meta.deviations[o] : 0 }));
  const table = make("table", null, {}, line(cell("motif", false, "th"), cell("more or less than average", true, "th")));
  scores.sort((a, b) => Math.abs(b.z) - Math.abs(a.z)).slice(0, 5).forEach((score) => table.append(line(cell(score.name), cell((score.z >= 0 ? "+" : "") + score.z.toFixed(1) + " σ", true))));
  box.append(make("h3", "Motifs"), table);
  if (data.edges && list.length < 50000) {
    let inside = 0, all = 0;
    for (const i of list) { const { offsets, ends } = data.edges; for (let q = offsets[i]; q < offsets[i + 1]; q++) { all++; if (selection.has(ends[q])) inside++; } }
    box.append(make("p", `${counted(inside / 2, meta.directed ? "linked pair" : "edge")} among them, ${show(all - inside)} to others.`));
  }
}

/** The whole graph: roles, how they are linked, distributions and shares of motifs. */
function graphPanel() {
  const box = $("graph");
  if (box.childElementCount) return;
  box.append(make("h2", meta.title, { dir: "auto" }), make("p", `${counted(meta.nodes, "node")}, ${counted(meta.edges, link)}`, { class: "dim" }));
  const roles = make("div", null, { id: "roles" });
  meta.roles.forEach((role, k) => roles.append(rolePart(role, k)));
  box.append(make("h3", "Roles"), roles, make("h3", "Links between roles"), make("p", (meta.directed ? "Arcs from the row to the column. " : "") + "Observed / expected from degrees.", { class: "dim" }), affinityTable());
  if (data.counts) {
    const pick = make("select", null, { "aria-label": "Distribution of", id: "distribution" });
    meta.orbits.forEach((name, o) => pick.append(make("option", name, { value: o })));
    const holder = make("div", null);
    const draw = () => {
      const o = Number(pick.value), value = (i) => Math.log1p(o ? countOf(o, i) : degreeOf(i));
      holder.replaceChildren(histogram(Array.from({ length: N }, (_, i) => value(i)), meta.orbits[o], chosen >= 0 ? value(chosen) : null),
        make("div", null, { class: "ends" }, make("span", "0"), make("span", "log scale"), make("span", show(meta.most[o]))));
    };
    pick.addEventListener("change", draw);
    draw();
    box.append(make("h3", "Distribution"), pick, holder);
  }
  const shares = make("div", null, { class: "share" }), whole = meta.graphlets.reduce((sum, [, count]) => sum + count, 0) || 1;
  for (const [name, count] of meta.graphlets) {
    const bar = make("i", null);
    bar.style.width = Math.max(0.5, 100 * count / whole) + "%";
    shares.append(make("span", name), make("span", null, {}, bar), make("b", show(count)));
  }
  box.append(make("h3", "Motifs of three and four nodes"), shares);
}

/** A role: its size, what it has more and less of than all nodes (in standard deviations), and typical nodes. */
function rolePart(role, k) {
  const dot = make("span", null, { class: "dot" });
  dot.style.background = css(paletteColour(k));
  const scores = (list) => list.map(([name, z]) => `${name} ${z >= 0 ? "+" : "−"}${Math.abs(z).toFixed(1)}`).join(", ");
  const part = make("div", null, { class: "role" }, make("p", null, {}, dot, make("strong", ` ${role.name} `), make("span", `${counted(role.nodes, "node")}, mean ${meta.directed ? `out-degree ${show(role.out_degree)}, in-degree ${show(role.in_degree)}` : `degree ${show(role.degree)}`}`, { class: "dim" })));
  if (role.more.length) part.append(make("p", "more " + scores(role.more)));
  if (role.less.length) part.append(make("p", "less " + scores(role.less)));
  const typical = make("p", "such as ", { class: "row" });
  role.exemplars.forEach((i) => typical.append(nodeLink(i)));
  if (role.exemplars.length) part.append(typical);
  return part;
}

function affinityTable() {
  const table = make("table", null, { class: "cells", id: "affinity" });
  table.append(line(cell("", false, "th"), ...meta.roles.map((_, k) => cell(String(k + 1), true, "th"))));
  meta.affinity.forEach((row, k) => {
    const cells = row.map((value) => {
      const made = cell(value.toFixed(value < 10 ? 1 : 0), true), strength = Math.max(-1, Math.min(1, Math.log2(Math.max(value, 0.05)) / 3));
      made.style.background = strength >= 0 ? `rgba(59, 125, 216, ${0.6 * strength})` : `rgba(224, 120, 47, ${-0.45 * strength})`;
      return made;
    });
    table.append(line(cell(`${k + 1} ${meta.roles[k].name}`, false, "th"), ...cells));
  });
  return make("div", null, { class: "wide" }, table);
}
