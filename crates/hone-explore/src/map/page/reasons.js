// Why a node has its role, and what would have given it another role; the same rules as in roles/explain.rs.

/** The ratios that speak; open pairs repeat what closed pairs say. The last two are of graphs with one-way arcs. */
const RATIOS = meta.averages[6] + meta.averages[7] > 0 ? [0, 1, 2, 4, 5, 6, 7] : [0, 1, 2, 4, 5];
/** Steps from a node's ratio to that of a typical node of another role. */
const CHANGES = 200;
/** Whether a node of this degree can have a ratio: there are no pairs of one neighbour. */
const defined = (d, degree) => degree >= [0, 1, 2, 2, 1, 3, 1, 1][d];
const isolated = (component) => component.centre[0] < -0.5;

/** The ratios of a node in the units that roles were found in. */
function signatureOf(i) {
  const degree = degreeOf(i), part = (plane) => data.ratios[plane][i] / 255;
  const pairs = degree > 1 ? part(1) : 0;
  // Neighbours without an arc back, and those without an arc to them.
  const oneWay = (others) => data.arcs && degree ? 3 * Math.max(0, degree - others(i)) / degree : 0;
  return [Math.log2(Math.max(degree, 0.5)), data.ratios[0][i] / 16, 2 * pairs, degree > 1 ? 1.5 * (1 - pairs) : 0, part(2), part(3), oneWay(intoOf), oneWay(outOf)];
}

const density = (c, at) => Math.log(c.share) - 0.5 * c.centre.reduce((sum, m, d) => sum + (at[d] - m) ** 2 / c.variance[d] + Math.log(c.variance[d]), 0);

/** The most likely role at a place. */
function likeliest(at) {
  const logs = meta.components.map((c) => density(c, at));
  return logs.indexOf(Math.max(...logs));
}

/** A ratio as part of a sentence: with the average as a reason, without it as what would have to be. */
function phrase(d, at, average) {
  const percent = (x) => Math.round(100 * x) + " %", number = d < 2;
  const count = d === 0 && at[0] < -0.5 ? 0 : 2 ** at[d];
  const tenths = (x) => show(Math.round(10 * x) / 10);
  const [value, mean] = number ? [tenths(count), tenths(meta.averages[d])] : [percent(d === 2 ? at[2] / 2 : d > 5 ? at[d] / 3 : at[d]), percent(meta.averages[d])];
  const verb = (now, then) => (average ? now : then);
  const text = {
    0: `it ${verb("has", "had")} ${value} neighbour${value === "1" ? "" : "s"}`,
    1: `its neighbours ${verb("have", "had")} ${value} neighbour${value === "1" ? "" : "s"} each`,
    2: `${value} of the pairs of its neighbours ${verb("are", "were")} linked`,
    4: `${value} of the pairs around its neighbours ${verb("are", "were")} linked`,
    6: `it ${verb("has", "had")} arcs to ${value} of its neighbours and none back`,
    7: `${value} of its neighbours ${verb("have", "had")} arcs to it and none back`,
    5: `${value} of the triples of its neighbours ${verb("form", "formed")} a clique with it`,
  }[d];
  return average ? `${text} (average ${mean})` : text;
}

/** The least change of one ratio that makes another role the most likely, if one does. */
function leastChange(at, own, degree) {
  let best = null;
  for (const d of RATIOS.filter((d) => defined(d, degree))) for (const [k, other] of meta.components.entries()) {
    if (k === own || isolated(other)) continue;
    for (let step = 1; step <= CHANGES; step++) {
      const moved = at.slice();
      moved[d] += ((other.centre[d] - at[d]) * step) / CHANGES;
      // A pair is either closed or open.
      if (d === 2 && moved[3] + at[2] > 0) moved[3] = 1.5 * (1 - moved[2] / 2);
      // What is gained on one side is lost on the other where all neighbours are taken.
      if (d > 5) moved[13 - d] = Math.min(moved[13 - d], 3 - moved[d]);
      const far = Math.abs(moved[d] - at[d]);
      if (best && far >= best.far) break;
      const role = likeliest(moved);
      if (role !== own) {
        best = { d, moved, role, far };
        break;
      }
    }
  }
  return best;
}

/** What a node with a role is: a hub, in a chain, isolated; numbers of roles that share a name follow. */
function being(name) {
  const [, base, number] = /^(.*?)\s*(\d*)$/.exec(name);
  const text = base === "isolated" ? base : /(core|periphery)$/.test(base) ? "in the " + base : /(chain|near-clique)$/.test(base) ? "in a " + base : (/^[aeiou]/.test(base) ? "an " : "a ") + base;
  return number ? `${text} (${number})` : text;
}

/** Parts of a sentence: a, b and c. */
const listed = (parts) => parts.length > 1 ? parts.slice(0, -1).join(", ") + " and " + parts.at(-1) : parts.join("");

/** Why a node has its role: the three ratios that most favour it over the next, and the least change that would have given it another role. */
function reasonsOf(i) {
  const at = signatureOf(i), parts = meta.components, own = data.role[i], degree = degreeOf(i);
  if (degree === 0 && parts.length > 1) return { membership: 1, text: `it has no neighbours (average ${show(Math.round(10 * meta.averages[0]) / 10)})`, otherwise: "Any edge would have given it another role." };
  const order = parts.map((_, k) => k).filter((k) => k !== own).sort((a, b) => density(parts[b], at) - density(parts[a], at));
  const gap = (k, d) => (at[d] - parts[k].centre[d]) ** 2 / parts[k].variance[d] + Math.log(parts[k].variance[d]);
  const telling = RATIOS.filter((d) => defined(d, degree)).sort((a, b) => order.length ? gap(order[0], b) - gap(own, b) - gap(order[0], a) + gap(own, a) : 0).slice(0, 3);
  const logs = parts.map((c) => density(c, at)), top = Math.max(...logs), sum = logs.reduce((s, l) => s + Math.exp(l - top), 0);
  const change = order.length ? leastChange(at, own, degree) : null;
  if (change && change.d === 0) {
    // Neighbours are whole: as many as are enough.
    const count = 2 ** change.moved[0];
    change.moved[0] = Math.log2(Math.max(0.5, change.moved[0] > at[0] ? Math.ceil(count) : Math.floor(count)));
  }
  const otherwise = change ? `It would have been ${being(meta.roles[change.role].name)} if ${phrase(change.d, change.moved, false)}.`
    : order.length ? `No single change would have given it another role; the next role is ${meta.roles[order[0]].name}.`
    : "All nodes of this graph have the same role.";
  return { membership: Math.exp(logs[own] - top) / sum, text: listed(telling.map((d) => phrase(d, at, true))), otherwise };
}
