// Beginning, pointer, keyboard, and the address that keeps the view.

/** All edges are drawn below the points: of small graphs at once, of larger ones on request. */
const edgesAtFirst = meta.links <= 1500;
let allEdges = edgesAtFirst;
const MOST_EDGES = 60000;
let tool = "pan", hover = -1, drag = null, path = [];
const pointers = new Map();

/** Edges, below the points: all of a small graph, and those of the open node. */
function paintUnder() {
  const pen = under.getContext("2d"), style = getComputedStyle(document.documentElement);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  if (!data.edges) return;
  const { offsets, ends } = data.edges;
  const star = (i, most, later) => {
    const [x, y] = toScreen(...at(i));
    for (let q = offsets[i]; q < Math.min(offsets[i + 1], offsets[i] + most); q++) {
      if (!later || (ends[q] > i && shown(i) && shown(ends[q]))) { pen.moveTo(x, y); pen.lineTo(...toScreen(...at(ends[q]))); }
    }
  };
  const lines = (colour, draw) => { pen.strokeStyle = style.getPropertyValue(colour); pen.lineWidth = 1; pen.beginPath(); draw(); pen.stroke(); };
  if (allEdges) lines("--web", () => { for (let i = 0; i < N; i++) star(i, Infinity, true); });
  if (chosen < 0) return;
  lines("--edge", () => star(chosen, 5000, false));
  if (data.edges.kinds) lines("--edge", () => { for (let q = offsets[chosen]; q < Math.min(offsets[chosen + 1], offsets[chosen] + 5000); q++) heads(pen, chosen, ends[q], data.edges.kinds[q]); });
}

/** The heads of the arcs between two nodes: 1 to the second, 2 to the first, 3 both. */
function heads(pen, i, j, kind) {
  const head = (from, to) => {
    const [x0, y0] = toScreen(...at(from)), [x, y] = toScreen(...at(to)), far = Math.hypot(x - x0, y - y0);
    const gap = pointSize() / ratio / 2 + 1, size = 7;
    if (far < 2 * (gap + size)) return;
    const [dx, dy] = [(x - x0) / far, (y - y0) / far], [tx, ty] = [x - gap * dx, y - gap * dy];
    for (const side of [-0.45, 0.45]) { pen.moveTo(tx, ty); pen.lineTo(tx - size * (dx - side * dy), ty - size * (dy + side * dx)); }
  };
  if (kind & 1) head(i, j);
  if (kind & 2) head(j, i);
}

/** Rings around nodes, and the shape of a selection. */
function paintOver() {
  const pen = over.getContext("2d"), style = getComputedStyle(document.documentElement);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  const place = (i) => toScreen(...at(i));
  const ring = (i, wide) => {
    pen.lineWidth = wide;
    pen.strokeStyle = style.getPropertyValue("--ring");
    pen.beginPath();
    pen.arc(...place(i), pointSize() / ratio / 2 + 3, 0, 7);
    pen.stroke();
  };
  if (chosen >= 0) ring(chosen, 2.5);
  if (hover >= 0) ring(hover, 1.5);
  if (path.length > 1) {
    pen.strokeStyle = pen.fillStyle = style.getPropertyValue("--accent");
    pen.lineWidth = 1.5;
    pen.beginPath();
    if (tool === "box") pen.rect(path[0][0], path[0][1], path.at(-1)[0] - path[0][0], path.at(-1)[1] - path[0][1]);
    else path.forEach(([x, y], k) => k ? pen.lineTo(x, y) : pen.moveTo(x, y));
    pen.stroke();
    pen.globalAlpha = 0.12;
    pen.fill();
    pen.globalAlpha = 1;
  }
}

function showEdges(all) {
  allEdges = all && meta.links <= MOST_EDGES;
  $("edges").setAttribute("aria-pressed", String(allEdges));
  redraw();
  keepAddress();
}

function useTool(name) {
  tool = name;
  for (const other of ["pan", "box", "lasso"]) $("tool-" + other).setAttribute("aria-pressed", String(other === name));
  points.style.cursor = name === "pan" ? "grab" : "crosshair";
}

/** The nodes within the drawn shape. */
function selectPath() {
  const world = path.map(([x, y]) => toWorld(x, y));
  const shape = tool === "box" ? [world[0], [world.at(-1)[0], world[0][1]], world.at(-1), [world[0][0], world.at(-1)[1]]] : world;
  const xs = shape.map((p) => p[0]), ys = shape.map((p) => p[1]), found = new Set();
  const inside = (x, y) => {
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

const local = (event) => { const box = points.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };

points.addEventListener("pointerdown", (event) => {
  points.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, local(event));
  if (pointers.size === 2) { path = []; drag = { pinch: pinch() }; return; }
  drag = { from: local(event), last: local(event), far: 0 };
  path = tool === "pan" ? [] : [local(event)];
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
    zoomAt(...now.middle, now.far / Math.max(1, drag.pinch.far));
    drag.pinch = now;
  } else if (drag && drag.last) {
    drag.far += Math.hypot(x - drag.last[0], y - drag.last[1]);
    if (tool === "pan") { view.x -= (x - drag.last[0]) / scale(); view.y += (y - drag.last[1]) / scale(); redraw(true); }
    else { path.push([x, y]); redraw(); }
    drag.last = [x, y];
  }
});

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
  zoomAt(...local(event), Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)));
}, { passive: false });

function overNode(x, y) {
  const found = data.ids ? nodeAt(x, y, 6) : -1, tip = $("tip");
  tip.hidden = found < 0;
  if (found >= 0) {
    tip.replaceChildren(make("strong", idOf(found), { dir: "auto" }), make("div", `${meta.roles[data.role[found]].name}, ${degreeText(found)}`, { class: "dim" }));
    tip.style.left = Math.min(x + 14, width - 180) + "px";
    tip.style.top = Math.min(y + 14, height - 60) + "px";
  }
  if (found !== hover) { hover = found; redraw(); }
}

const KEYS = {
  ArrowLeft: () => step(-1, 0), ArrowRight: () => step(1, 0), ArrowUp: () => step(0, 1), ArrowDown: () => step(0, -1),
  "+": () => zoomAt(width / 2, height / 2, 1.3), "=": () => zoomAt(width / 2, height / 2, 1.3), "-": () => zoomAt(width / 2, height / 2, 1 / 1.3),
  0: () => fit(), Enter: () => choose(nodeAt(width / 2, height / 2, Math.max(width, height))), Escape: () => { choose(-1); select(null); },
  v: () => useTool("pan"), b: () => useTool("box"), l: () => useTool("lasso"), d: () => switchTheme(), e: () => showEdges(!allEdges), "/": () => $("query").focus(),
};
function step(dx, dy) { view.x += dx * 60 / scale(); view.y += dy * 60 / scale(); redraw(true); keepAddress(); }
function fit() { Object.assign(view, { x: 0.5, y: 0.5, zoom: 1 }); redraw(); keepAddress(); }

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /INPUT|SELECT|TEXTAREA/.test(event.target.tagName)) return;
  if (event.key === "Enter" && event.target !== points && event.target !== document.body) return;
  const act = KEYS[event.key];
  if (act) { event.preventDefault(); act(); }
});

$("search").addEventListener("submit", (event) => {
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

/** Nodes whose ids begin with a text, then those that contain it. */
function closeIds(text, most) {
  const wanted = text.trim().toLowerCase(), first = [], rest = [];
  for (let i = 0; data.ids && i < N && first.length < most; i++) {
    const place = idOf(i).toLowerCase().indexOf(wanted);
    if (place === 0) first.push(i);
    else if (place > 0 && rest.length < most) rest.push(i);
  }
  return [...first, ...rest].slice(0, most);
}

function switchTheme(theme) {
  const next = theme || (document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  document.documentElement.dataset.theme = next;
  redraw();
  if (!theme) { chosenTheme = next; keepAddress(); }
}
let chosenTheme = null, ready = false, waiting = 0;

/** Keeps the view in the address, not more than a few times a second. */
function keepAddress() {
  if (!ready || waiting) return;
  waiting = setTimeout(() => {
    waiting = 0;
    const kept = new URLSearchParams(location.hash.slice(1));
    const set = (key, value) => value === null || value === undefined ? kept.delete(key) : kept.set(key, value);
    set("view", `${view.x.toFixed(4)},${view.y.toFixed(4)},${view.zoom.toFixed(3)}`);
    set("colour", colouring.key);
    set("node", chosen >= 0 ? idOf(chosen) : null);
    set("theme", chosenTheme);
    set("hide", hidden.size ? [...hidden].join(",") : null);
    set("range", range ? range.join(",") : null);
    set("edges", allEdges === edgesAtFirst ? null : String(allEdges));
    const tab = document.querySelector('[role="tab"][aria-selected="true"]').id.slice(4);
    set("tab", tab === "legend" ? null : tab);
    history.replaceState(null, "", "#" + kept);
  }, 250);
}

function readAddress() {
  const kept = new URLSearchParams(location.hash.slice(1)), [x, y, zoom] = (kept.get("view") || "").split(",").map(Number);
  if (zoom > 0 && Number.isFinite(x) && Number.isFinite(y)) Object.assign(view, { x, y, zoom });
  chosenTheme = ["light", "dark"].includes(kept.get("theme")) ? kept.get("theme") : null;
  switchTheme(chosenTheme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
  return kept;
}

/** What the legend hides and whether edges are drawn, as the address has it. */
function restore(kept) {
  const numbers = (key) => (kept.get(key) || "").split(",").filter((part) => part !== "").map(Number);
  hidden = new Set(numbers("hide").filter((k) => colouring.kind === "category" && colouring.categories[k] !== undefined));
  const [from, to] = numbers("range");
  range = colouring.kind === "number" && Number.isFinite(from) && Number.isFinite(to) ? [from, to] : null;
  if (kept.has("edges")) showEdges(kept.get("edges") === "true");
  if (hidden.size || range) { legend(); paintColours(); }
}

async function begin() {
  $("title").textContent = meta.title;
  $("title").dir = "auto";
  $("size").textContent = `${counted(meta.nodes, "node")} · ${counted(meta.edges, link)}`;
  const kept = readAddress();
  await readCore();
  startPlot();
  colouring = colourings().find((entry) => entry.key === "role");
  paintColours();
  $("busy").hidden = true;
  window.firstPicture = performance.now();
  await new Promise((done) => setTimeout(done, 30));
  await readIds();
  await readColours();
  await readCounts();
  await readReasons();
  await readNear();
  await readEdges();
  for (const entry of colourings()) $("colour").append(make("option", entry.name, { value: entry.key }));
  colourBy(kept.get("colour") || colourings()[0].key);
  const open = kept.get("node") === null ? undefined : findId(kept.get("node"));
  ready = true;
  restore(kept);
  if (open !== undefined) choose(open);
  if (kept.get("tab") && $("tab-" + kept.get("tab"))) openTab(kept.get("tab"));
  paint(); // whoever waits for the page alone may give it no next frame
  window.mapReady = true;
}

$("colour").addEventListener("change", () => colourBy($("colour").value));
for (const name of ["pan", "box", "lasso"]) $("tool-" + name).addEventListener("click", () => useTool(name));
$("reset").addEventListener("click", fit);
$("edges").hidden = meta.links === 0 || meta.links > MOST_EDGES;
$("edges").addEventListener("click", () => showEdges(!allEdges));
$("theme").addEventListener("click", () => switchTheme());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => { if (!chosenTheme) switchTheme(event.matches ? "dark" : "light"); });
for (const tab of document.querySelectorAll('[role="tab"]')) tab.addEventListener("click", () => openTab(tab.id.slice(4)));
useTool("pan");
showEdges(allEdges);
begin().catch((error) => { $("busy").textContent = "This map cannot be shown: " + error.message; throw error; });
