//! [`Counts`]: orbit counts of every edge, derived on the fly from compact primitives; their sums over the edges of nodes
//! and of the graph ([`Totals`]).
//!
//! Thirteen columns of M integers would dwarf the graph. Only the primitives of [`formula`](super::formula) are stored,
//! in narrow columns; K, Q and R only for edges in triangles. At ten million nodes and fifty million random edges that
//! is 0.3 GB.

use std::num::Wrapping;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::column::Column;
use super::estimate::Estimated;
use super::formula::{
    End, Exact, Middle, Number, Primitives, Terms, Whole, orbits, sums_are_whole,
};
use super::orbit::{Graphlet, NODE_ORBITS, Orbit};
use super::sample::Sampled;
use super::set::Motif;
use super::triad::{Occurrence, Triads};
use crate::Graph;
use crate::error::{Error, Result};
use crate::parallel;
use crate::random::{Key, unit};
use crate::sparse::Pattern;

/// Orbit counts of all edges of a graph.
///
/// Made by [`count`](super::count). Counts of a directed graph are those of the undirected graph
/// underneath, which [`Counts::pattern`] gives.
#[derive(Debug, Clone)]
pub struct Counts {
    pattern: Arc<Pattern>,
    pub(super) values: Values,
    /// Counts on the arcs of a directed graph.
    triads: Option<Box<Triads>>,
}

/// The primitives that counts follow from.
#[derive(Debug, Clone)]
pub(super) enum Values {
    Exact(Box<Exact>),
    Estimated(Box<Estimated>),
    /// Only triads were counted.
    Absent,
}

impl Counts {
    pub(super) fn new(pattern: Arc<Pattern>, values: Values) -> Counts {
        Counts {
            pattern,
            values,
            triads: None,
        }
    }

    pub(super) fn exact(pattern: Arc<Pattern>, exact: Exact) -> Counts {
        Counts::new(pattern, Values::Exact(Box::new(exact)))
    }

    /// The same with counts of triads.
    pub(super) fn with_triads(self, triads: Triads) -> Counts {
        Counts {
            triads: Some(Box::new(triads)),
            ..self
        }
    }

    /// The pattern on which a graph is counted exactly, if its degrees allow it.
    pub fn counted_pattern(graph: &Graph) -> Result<Arc<Pattern>> {
        let pattern = graph.symmetric_pattern();
        Exact::check_degrees(&pattern)?;
        Ok(pattern)
    }

    /// Exact counts from primitives that were found elsewhere, such as on a device.
    ///
    /// # Panics
    /// When there are other numbers of values than the pattern has positions and nodes.
    pub fn of_primitives(pattern: Arc<Pattern>, primitives: Primitives) -> Counts {
        let exact = Exact::new(&pattern, primitives);
        Counts::exact(pattern, exact)
    }

    /// Counts of dyads and triads, if those were counted.
    pub fn triads(&self) -> Option<&Triads> {
        self.triads.as_deref()
    }

    /// The symmetric adjacency counted on: the graph's own when it is undirected.
    pub fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    /// The same counts on the same adjacency, at another address.
    ///
    /// # Panics
    /// When it is another one.
    pub fn on(self, pattern: &Arc<Pattern>) -> Counts {
        assert!(self.pattern == *pattern, "counts of another graph");
        Counts {
            pattern: Arc::clone(pattern),
            ..self
        }
    }

    /// Whether these are exact counts of edge orbits.
    pub fn are_exact(&self) -> bool {
        self.exact_values().is_some()
    }

    pub(super) fn exact_values(&self) -> Option<&Exact> {
        match &self.values {
            Values::Exact(exact) => Some(exact),
            _ => None,
        }
    }

    fn estimated_values(&self) -> Option<&Estimated> {
        match &self.values {
            Values::Estimated(estimated) => Some(estimated),
            _ => None,
        }
    }

    /// What was estimated; `None` when the counts are exact.
    pub fn sampled(&self) -> Option<&Sampled> {
        self.estimated_values().map(|estimated| &estimated.facts)
    }

    /// The estimated t, P, C, K, Q and R of each position of the pattern, each unbiased on its own; `None` when the counts are
    /// exact.
    pub fn estimates(&self) -> Option<&[[f32; 6]]> {
        self.estimated_values().map(|estimated| &*estimated.slots)
    }

    /// Triangles of each node, where counts are exact.
    pub fn triangles(&self) -> Option<Vec<u64>> {
        let triangles = &self.exact_values()?.triangles;
        Some((0..triangles.len()).map(|i| triangles.get(i)).collect())
    }

    /// Bytes in memory, without the pattern.
    pub fn bytes(&self) -> usize {
        let values = match &self.values {
            Values::Exact(exact) => exact.bytes(),
            Values::Estimated(estimated) => estimated.bytes(),
            Values::Absent => 0,
        };
        values + self.triads().map_or(0, Triads::bytes)
    }

    /// Orbit counts of the edge between two nodes, in the order of [`Orbit::ALL`]; `None` when they
    /// are not adjacent, or only triads were counted.
    pub fn edge(&self, u: u32, v: u32) -> Option<[u64; Orbit::COUNT]> {
        let k = self.pattern.row(u as usize).binary_search(&v).ok()?;
        let (_, counts) = self.row_from(u as usize, k).next()?;
        Some(counts)
    }

    /// Neighbours of node `i`, ascending, with the orbit counts of the edge to each. Estimates are
    /// held to what the edge can have, and rounded. Nothing where only triads were counted.
    pub fn row(&self, i: u32) -> impl Iterator<Item = (u32, [u64; Orbit::COUNT])> + '_ {
        self.row_from(i as usize, 0)
    }

    /// The same from the k-th neighbour on.
    pub(super) fn row_from(
        &self,
        i: usize,
        k: usize,
    ) -> impl Iterator<Item = (u32, [u64; Orbit::COUNT])> + '_ {
        let exact = self.exact_values().map(|exact| {
            let (u, mut place) = (exact.end(i as u32), None);
            let slots = self.pattern.row(i)[k..]
                .iter()
                .zip(self.pattern.range(i).skip(k));
            slots.map(move |(&j, slot)| {
                let e = exact.middle(slot, &mut place);
                (j, orbits(u, exact.end(j), e).map(|count| count.0))
            })
        });
        let estimated = self.estimated_values().map(|estimated| {
            let row = estimated.row(&self.pattern, i, k);
            row.map(|(j, counts)| (j, counts.map(|count| count.round() as u64)))
        });
        let exact = exact.into_iter().flatten();
        exact.chain(estimated.into_iter().flatten())
    }

    /// Refuses a motif that was not counted.
    pub fn check_counted(&self, motif: Motif) -> Result<()> {
        let there = if motif.is_directed() {
            self.triads.is_some()
        } else {
            !matches!(self.values, Values::Absent)
        };
        if there {
            return Ok(());
        }
        let message = format!("`{motif}` was not counted; count for a set of motifs that has it");
        Err(Error::config("motifs", message))
    }

    /// Calls `f` with each (out-)neighbour of node `i` of `graph`, ascending, and the weights of `motifs` on the edge or
    /// arc there. Fails when a weight exceeds u64, or a motif was not counted.
    pub fn for_arcs(
        &self,
        graph: &Graph,
        i: u32,
        (motifs, occurrence): (&[Motif], Occurrence),
        mut f: impl FnMut(u32, &[u64]),
    ) -> Result<()> {
        for &motif in motifs {
            self.check_counted(motif)?;
        }
        let undirected = motifs.iter().any(|motif| !motif.is_directed());
        let mut orbits = undirected.then(|| self.row(i));
        let mut triads = self.triads().map(|triads| triads.around_row(i as usize));
        let mut weights = vec![0; motifs.len()];
        for &j in graph.neighbors(i) {
            // The arcs of a directed graph are some of the neighbours counted, in the same order.
            let row = orbits.as_mut();
            let orbits = row.and_then(|row| row.find(|&(other, _)| other == j));
            let around = triads.as_mut().and_then(Iterator::next);
            for (weight, &motif) in weights.iter_mut().zip(motifs) {
                let found = match around.filter(|_| motif.is_directed()) {
                    Some((_, around)) => Some(around.sum(motif.arc_orbits(), occurrence)),
                    None => orbits.and_then(|(_, counts)| motif.weight(&counts)),
                };
                *weight = found.ok_or_else(|| Error::Numeric {
                    stage: format!("counts of motif {motif}"),
                    message: format!("more than u64 holds on the edge between nodes {i} and {j}")
                        .into(),
                })?;
            }
            f(j, &weights);
        }
        Ok(())
    }

    /// How many nodes have an edge or arc with at least `least` occurrences of each motif.
    pub fn touched(&self, motifs: &[Motif], least: impl Fn(Motif) -> u64) -> Vec<u64> {
        assert!(motifs.len() <= 64, "one bit per motif");
        let nodes = self.pattern().rows();
        let seen: Vec<AtomicU64> = (0..nodes).map(|_| AtomicU64::new(0)).collect();
        let least: Vec<(Motif, u64)> = motifs.iter().map(|&motif| (motif, least(motif))).collect();
        // One bit for each motif that is directed, or is not, and for which something holds.
        let bits = |directed: bool, holds: &dyn Fn(Motif, u64) -> bool| {
            let motifs = least.iter().enumerate();
            motifs
                .filter(|(_, (motif, least))| {
                    motif.is_directed() == directed && holds(*motif, *least)
                })
                .fold(0u64, |bits, (t, _)| bits | 1 << t)
        };
        let undirected = bits(false, &|_, _| true);
        let see = |i: usize| {
            let mut own = 0;
            for (_, orbits) in self.row(i as u32) {
                if own == undirected {
                    break;
                }
                // A sum beyond u64 certainly reaches the threshold.
                let reached = |motif: Motif, least| {
                    motif.weight(&orbits).is_none_or(|weight| weight >= least)
                };
                own |= bits(false, &reached);
            }
            let triads = self.triads().into_iter();
            for (j, around) in triads.flat_map(|triads| triads.around_row(i)) {
                // There are at least as many subgraphs as induced ones, and also where there are no induced ones: an
                // upper bound.
                let arc = bits(true, &|motif, least| {
                    around.sum(motif.arc_orbits(), Occurrence::Subgraph) >= least
                });
                seen[j as usize].fetch_or(arc, Relaxed);
                own |= arc;
            }
            seen[i].fetch_or(own, Relaxed);
        };
        parallel::stretches(nodes, 1 << 12, |rows| rows.for_each(see));
        let seen: Vec<u64> = seen.into_iter().map(AtomicU64::into_inner).collect();
        let nodes = |t: usize| seen.iter().map(|bits| bits >> t & 1).sum();
        (0..motifs.len()).map(nodes).collect()
    }
}

/// What the weight of a motif depends on.
#[derive(Clone, Copy)]
struct Need {
    /// It is zero for edges in no triangle.
    in_triangle: bool,
    /// It is zero for edges on no 4-cycle.
    on_cycle: bool,
    /// The degree of both ends, their triangles, their S.
    other_end: bool,
    triangles: bool,
    s: bool,
}

impl Need {
    fn of(motif: Motif) -> Need {
        use Orbit::*;
        let all = |some: &[Orbit]| motif.orbits().iter().all(|orbit| some.contains(orbit));
        let any = |some: &[Orbit]| motif.orbits().iter().any(|orbit| some.contains(orbit));
        Need {
            in_triangle: all(&[
                Triangle,
                TailedNear,
                TailedFar,
                DiamondChord,
                DiamondRim,
                Clique4,
            ]),
            on_cycle: all(&[Cycle4]),
            other_end: any(&[Path3, Path4End, Path4Mid, Star4, TailedTail, TailedNear]),
            triangles: any(&[Path4End, Star4, TailedTail]),
            s: any(&[Path4End]),
        }
    }
}

impl Counts {
    /// Calls `f` for each slot of row `i` with a weight of the motif: column and weight.
    pub(super) fn for_weights(
        &self,
        i: usize,
        motif: Motif,
        occurrence: Occurrence,
        mut f: impl FnMut(u32, f64),
    ) {
        if let Some(triads) = self.triads().filter(|_| motif.is_directed()) {
            for (j, around) in triads.around_row(i) {
                let count = around.sum(motif.arc_orbits(), occurrence);
                if count > 0 {
                    f(j, count as f64);
                }
            }
            return;
        }
        match &self.values {
            Values::Absent => {}
            Values::Exact(exact) => self.for_exact_weights(exact, i, motif, f),
            Values::Estimated(estimated) => {
                for (j, counts) in estimated.row(&self.pattern, i, 0) {
                    let weight = motif.orbits().iter().map(|o| counts[o.index()]).sum();
                    if weight > 0.0 {
                        f(j, weight);
                    }
                }
            }
        }
    }

    /// As [`Counts::for_weights`], by a loop made for the orbit: what it does not need is not computed.
    fn for_exact_weights(&self, exact: &Exact, i: usize, motif: Motif, f: impl FnMut(u32, f64)) {
        use Orbit::*;
        let need = Need::of(motif);
        let one = |counts: &[Whole; Orbit::COUNT], orbit: Orbit| counts[orbit.index()].0 as f64;
        macro_rules! loops {
            ($($orbit:ident)*) => {
                match motif.orbits() {
                    $([$orbit] => self.scan(exact, i, need, |counts| one(counts, $orbit), f),)*
                    // Each count is below 2⁶⁴, but the sum of the orbits of a graphlet may not be.
                    some => self.scan(exact, i, need, |counts| some.iter().map(|&orbit| one(counts, orbit)).sum(), f),
                }
            };
        }
        loops!(Edge Path3 Triangle Path4End Path4Mid Star4 Cycle4 TailedTail TailedNear TailedFar DiamondChord DiamondRim Clique4);
    }

    /// Calls `f` with the column and weight of the slots of row `i` that have one, and passes over
    /// what cannot matter: the other end of an edge is a random access, and most edges have no
    /// weight in most motifs.
    #[inline(always)]
    fn scan(
        &self,
        exact: &Exact,
        i: usize,
        need: Need,
        weight: impl Fn(&[Whole; Orbit::COUNT]) -> f64,
        mut f: impl FnMut(u32, f64),
    ) {
        if need.in_triangle && exact.triangles.get(i) == 0 {
            return;
        }
        let end = |i: u32| {
            let get = |column: &Column| Wrapping(column.get(i as usize));
            let zero = Wrapping(0);
            End {
                d: get(&exact.d),
                triangles: if need.triangles {
                    get(&exact.triangles)
                } else {
                    zero
                },
                s: if need.s { get(&exact.s) } else { zero },
            }
        };
        let (u, mut place) = (end(i as u32), None);
        for (&j, slot) in self.pattern.row(i).iter().zip(self.pattern.range(i)) {
            let e = exact.middle(slot, &mut place);
            if (need.in_triangle && e.t.0 == 0) || (need.on_cycle && e.c.0 == 0) {
                continue;
            }
            let v = if need.other_end { end(j) } else { u };
            let weight = weight(&orbits(u, v, e));
            if weight > 0.0 {
                f(j, weight);
            }
        }
    }

    /// Counts of the 15 node orbits of every node, in ORCA's numbering
    /// ([`NODE_ORBITS`](super::NODE_ORBITS)). Estimates are rounded up or down at random, with the probabilities that keep
    /// their mean; negative ones are set to zero. Fails when a count exceeds u64, which takes a node of about five million
    /// neighbours.
    pub fn node_orbits(&self) -> Result<Vec<[u64; 15]>> {
        let key = self.estimated_values().map_or(Key::new(0), Estimated::key);
        let node = |i: usize| {
            let counts = match self.estimated_values() {
                Some(estimated) => {
                    let amounts = node_orbits(estimated.degrees(&self.pattern, i));
                    let row = key.of_row(i as u64);
                    std::array::from_fn(|orbit| {
                        let part = unit(row.bits(orbit as u64));
                        (amounts[orbit].max(0.0) + part).floor() as i128
                    })
                }
                None => {
                    let mut sums = [0i128; Orbit::COUNT];
                    for (_, counts) in self.row(i as u32) {
                        for (sum, count) in sums.iter_mut().zip(counts) {
                            *sum += i128::from(count);
                        }
                    }
                    node_orbits(sums)
                }
            };
            let Some(x) = counts.iter().position(|&count| count > u64::MAX.into()) else {
                return Ok(counts.map(|count| count as u64));
            };
            let message = format!(
                "node {i} of degree {} has {} of orbit {}, more than u64 holds",
                counts[0], counts[x], NODE_ORBITS[x]
            );
            Err(Error::Numeric {
                stage: "node orbits".into(),
                message: message.into(),
            })
        };
        let rows = |rows: Range<usize>| rows.map(node).collect::<Result<Vec<_>>>();
        let found = parallel::stretches(self.pattern.rows(), 1 << 12, rows);
        Ok(found.into_iter().collect::<Result<Vec<_>>>()?.concat())
    }
}

/// The node orbits of a node, from the sums of the edge orbits of its row.
fn node_orbits<N: Number>(o: [N; Orbit::COUNT]) -> [N; NODE_ORBITS.len()] {
    let [one, two, three] = [1, 2, 3].map(N::of);
    let d = o[0];
    let triangle = o[2] / two;
    let path3_mid = d.pairs() - triangle;
    let path4_mid = o[4];
    let (tailed_far, clique) = (o[9], o[12] / three);
    let tailed_centre = (o[8] - tailed_far) / two;
    let chord = o[10];
    let star_centre = d * (d - one) * (d - two) / N::of(6) - tailed_centre - chord - clique;
    [
        d,
        o[1] - two * path3_mid,
        path3_mid,
        triangle,
        o[3] - path4_mid,
        path4_mid,
        o[5] - three * star_centre,
        star_centre,
        o[6] / two,
        o[7] - tailed_centre,
        tailed_far,
        tailed_centre,
        o[11] / two - chord,
        chord,
        clique,
    ]
}

impl Counts {
    /// The sum over the edges of a node of each orbit's count, with the same bits as adding f64 values one by one.
    ///
    /// Counts are linear in a few terms, so their sums follow from sums of the terms, which need no products of edges.
    /// Cost of all nodes: O(M), and few additions for each edge.
    pub fn node_sums(&self) -> impl Fn(usize) -> [f64; Orbit::COUNT] + Sync + '_ {
        let (pattern, are_whole) = (self.pattern(), sums_are_whole(self.pattern()));
        move |i| match self.exact_values() {
            Some(exact) if are_whole(pattern.range(i).len()) => {
                exact.node_sums(pattern, i).map(|sum| sum.0 as f64)
            }
            _ => self
                .row(i as u32)
                .fold([0.0; Orbit::COUNT], |sums, (_, orbits)| {
                    std::array::from_fn(|orbit| sums[orbit] + orbits[orbit] as f64)
                }),
        }
    }
}

/// Occurrences in the whole graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Totals {
    /// Sum over the edges of each orbit's count, in the order of [`Orbit::ALL`].
    pub orbits: [u128; Orbit::COUNT],
    /// Induced occurrences of each graphlet, in the order of [`Graphlet::ALL`].
    pub graphlets: [u128; Graphlet::COUNT],
}

impl Totals {
    /// Total weight of a motif over all edges.
    pub fn weight(&self, motif: Motif) -> u128 {
        let orbits = motif.orbits().iter();
        orbits.map(|orbit| self.orbits[orbit.index()]).sum()
    }
}

impl Counts {
    /// Occurrences in the whole graph: of each orbit over all edges, and of each graphlet. Estimates from a cap are
    /// unbiased, except that negative ones are set to zero, and need not be the sums of [`Counts::row`]. Zero where
    /// only triads were counted, whose totals [`Counts::triads`] has.
    ///
    /// The sum of each term of the formulas over the edges is a sum over columns that are held: no edge is examined from both
    /// ends. Estimates are summed without clamping single edges, which keeps sums unbiased.
    pub fn totals(&self) -> Totals {
        let (nodes, slots) = (self.pattern.rows(), self.pattern.nnz());
        match &self.values {
            Values::Exact(exact) => {
                let of = |x: Whole| i128::from(x.0);
                let ends = sums(nodes, |i| {
                    let End { d, triangles, s } = exact.end(i as u32);
                    both_ends(End {
                        d: of(d),
                        triangles: of(triangles),
                        s: of(s),
                    })
                });
                let [t, p, c] = sums(slots, |slot| {
                    let t = i128::from(exact.t.get(slot));
                    [t, t.pairs(), exact.c.get(slot).into()]
                });
                let [k, q, r] = sums(exact.k.len(), |at| {
                    [&exact.k, &exact.q, &exact.r].map(|column| column.get(at).into())
                });
                let orbits = orbits_of_sums(ends, [t, p, c, k, q, r])
                    .map(|total: i128| u128::try_from(total).expect("counts are not negative"));
                let sum = |g: Graphlet| g.orbits().iter().map(|o| orbits[o.index()]).sum::<u128>();
                Totals {
                    orbits,
                    graphlets: Graphlet::ALL.map(|g| sum(g) / g.edges() as u128),
                }
            }
            Values::Estimated(estimated) => {
                let ends = sums(nodes, |i| both_ends(estimated.end(&self.pattern, i)));
                let middle = sums(slots, |slot| estimated.slots[slot].map(f64::from));
                let orbits = orbits_of_sums(ends, middle).map(|total: f64| total.max(0.0));
                let sum = |g: Graphlet| g.orbits().iter().map(|o| orbits[o.index()]).sum::<f64>();
                let whole = |total: f64| total.round() as u128;
                Totals {
                    orbits: orbits.map(whole),
                    graphlets: Graphlet::ALL.map(|g| whole(sum(g) / g.edges() as f64)),
                }
            }
            Values::Absent => Totals {
                orbits: [0; Orbit::COUNT],
                graphlets: [0; Graphlet::COUNT],
            },
        }
    }
}

/// What a node adds to the terms of all its edges: one, Σ x, Π x, Σ x(x − 1)/2, t Σ x, T, S. Products need both ends,
/// and are met from both.
fn both_ends<N: Number>(end: End<N>) -> [N; 7] {
    let End { d, triangles, s } = end;
    let x = d - N::of(1);
    let t_both = x * N::of(2) * triangles;
    [d, d * x, x * s, d * x.pairs(), t_both, d * triangles, d * s]
}

/// Orbit counts of the whole graph from sums over nodes, and over slots, of which every edge has two.
fn orbits_of_sums<N: Number>(ends: [N; 7], slots: [N; 6]) -> [N; Orbit::COUNT] {
    let half = |sum: N| sum / N::of(2);
    let [ends, both, product, pairs, t_both, triangles, s] = ends;
    Terms {
        one: half(ends),
        both,
        product: half(product),
        pairs,
        t_both,
        triangles,
        s,
        middle: Middle::from(slots.map(half)),
    }
    .orbits()
}

/// The sum of a function over the numbers below `len`, by ranges of fixed length, so that rounding depends on nothing else.
fn sums<N: Number, const K: usize>(len: usize, values: impl Fn(usize) -> [N; K] + Sync) -> [N; K] {
    let add = |a: [N; K], b: [N; K]| std::array::from_fn(|at| a[at] + b[at]);
    let chunks = parallel::stretches(len, 1 << 12, |range| {
        range.map(&values).fold([N::of(0); K], add)
    });
    chunks.into_iter().fold([N::of(0); K], add)
}
