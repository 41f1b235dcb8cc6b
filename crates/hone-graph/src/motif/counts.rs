//! [`Counts`]: orbit counts of every edge, derived on the fly from compact primitives.
//!
//! Thirteen columns of M integers would dwarf the graph. Only the primitives of [`formula`](super::formula) are stored,
//! in narrow columns; K, Q and R only for edges in triangles. At ten million nodes and fifty million random edges that
//! is 0.3 GB.

use std::ops::{Div, Range};
use std::sync::Arc;

use super::exact::Exact;
use super::formula::{self, End, Middle, Number, orbits};
use super::orbit::{NODE_ORBITS, Orbit};
use super::sampled::{Amounts, Estimated, Estimates, Sampled};
use super::set::Motif;
use super::triad::{Occurrence, Triads};
use crate::error::{Error, Result};
use crate::parallel;
use crate::random::Key;
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
    pub(super) triads: Option<Box<Triads>>,
}

/// The primitives that counts follow from.
#[derive(Debug, Clone)]
pub(super) enum Values {
    Exact(Box<Exact>),
    Estimated(Box<Estimated>),
    /// Only triads were counted.
    Absent,
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
        use Orbit::{Clique4, Cycle4, DiamondChord, DiamondRim, Edge, Path4End, Star4, TailedFar};
        use Orbit::{TailedNear, TailedTail, Triangle};
        let orbits = motif.orbits();
        let all = |some: &[Orbit]| orbits.iter().all(|orbit| some.contains(orbit));
        let any = |some: &[Orbit]| orbits.iter().any(|orbit| some.contains(orbit));
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
            other_end: !all(&[
                Edge,
                Triangle,
                TailedFar,
                DiamondChord,
                DiamondRim,
                Clique4,
                Cycle4,
            ]),
            triangles: any(&[Path4End, Star4, TailedTail]),
            s: any(&[Path4End]),
        }
    }
}

impl Counts {
    pub(super) fn exact(pattern: Arc<Pattern>, exact: Exact) -> Counts {
        Counts {
            pattern,
            values: Values::Exact(Box::new(exact)),
            triads: None,
        }
    }

    pub(super) fn estimated(pattern: Arc<Pattern>, estimated: Estimated) -> Counts {
        Counts {
            pattern,
            values: Values::Estimated(Box::new(estimated)),
            triads: None,
        }
    }

    /// No orbit counts.
    pub(super) fn absent(pattern: Arc<Pattern>) -> Counts {
        Counts {
            pattern,
            values: Values::Absent,
            triads: None,
        }
    }

    /// Counts of dyads and triads, if those were counted.
    pub fn triads(&self) -> Option<&Triads> {
        self.triads.as_deref()
    }

    /// The same with counts of triads.
    pub(super) fn with_triads(self, triads: Triads) -> Counts {
        Counts {
            triads: Some(Box::new(triads)),
            ..self
        }
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

    /// What was estimated; `None` when the counts are exact.
    pub fn sampled(&self) -> Option<&Sampled> {
        match &self.values {
            Values::Exact(_) | Values::Absent => None,
            Values::Estimated(estimated) => Some(&estimated.facts),
        }
    }

    /// The estimated primitives, in the order of the pattern; `None` when the counts are exact.
    pub fn estimates(&self) -> Option<&Estimates> {
        match &self.values {
            Values::Exact(_) | Values::Absent => None,
            Values::Estimated(estimated) => Some(&estimated.edge),
        }
    }

    pub(super) fn values(&self) -> &Values {
        &self.values
    }

    /// Bytes in memory, without the pattern.
    pub fn bytes(&self) -> usize {
        let triads = self.triads().map_or(0, Triads::bytes);
        triads
            + match &self.values {
                Values::Exact(exact) => exact.bytes(),
                Values::Estimated(estimated) => estimated.bytes(),
                Values::Absent => 0,
            }
    }

    /// Orbit counts of the edge between two nodes, in the order of [`Orbit::ALL`]; `None` when they
    /// are not adjacent, or only triads were counted.
    pub fn edge(&self, u: u32, v: u32) -> Option<[u64; Orbit::COUNT]> {
        let k = self.pattern.row(u as usize).binary_search(&v).ok()?;
        self.row_from(u as usize, k)
            .next()
            .map(|(_, counts)| counts)
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
        let (exact, estimated) = match &self.values {
            Values::Exact(exact) => (Some(self.exact_row(exact, i, k)), None),
            Values::Estimated(estimated) => (None, Some(estimated.row(&self.pattern, i, k))),
            Values::Absent => (None, None),
        };
        let exact = exact
            .into_iter()
            .flatten()
            .map(|(j, counts)| (j, counts.map(|x| x.0)));
        exact.chain(
            estimated
                .into_iter()
                .flatten()
                .map(|(j, counts)| (j, counts.map(|x| x.round() as u64))),
        )
    }

    /// Calls `f` for each slot of row `i` with a weight of the motif: column and weight.
    pub(super) fn for_weights(
        &self,
        i: usize,
        motif: Motif,
        occurrence: Occurrence,
        mut f: impl FnMut(u32, f64),
    ) {
        if let Some(triads) = self.triads().filter(|_| motif.is_directed()) {
            let row = triads
                .around_row(i)
                .map(|(j, around)| (j, around.sum(motif.arc_orbits(), occurrence)));
            return row
                .filter(|&(_, count)| count > 0)
                .for_each(|(j, count)| f(j, count as f64));
        }
        match &self.values {
            Values::Absent => {}
            Values::Exact(exact) => self.for_exact_weights(exact, i, motif, f),
            Values::Estimated(estimated) => {
                let sum = |counts: Amounts| motif.orbits().iter().map(|o| counts[o.index()]).sum();
                let row = estimated
                    .row(&self.pattern, i, 0)
                    .map(|(j, counts)| (j, sum(counts)));
                row.filter(|&(_, weight): &(u32, f64)| weight > 0.0)
                    .for_each(|(j, weight)| f(j, weight));
            }
        }
    }

    /// As [`Counts::for_weights`], by a loop made for the orbit: what it does not need is not computed.
    fn for_exact_weights(&self, exact: &Exact, i: usize, motif: Motif, f: impl FnMut(u32, f64)) {
        use Orbit::{
            Clique4, Cycle4, DiamondChord, DiamondRim, Edge, Path3, Path4End, Path4Mid, Star4,
        };
        use Orbit::{TailedFar, TailedNear, TailedTail, Triangle};
        let need = Need::of(motif);
        let one =
            |counts: &[formula::Exact; Orbit::COUNT], orbit: Orbit| counts[orbit.index()].0 as f64;
        macro_rules! loops {
            ($($orbit:ident),*) => {
                match motif.orbits() {
                    $([$orbit] => self.scan(exact, i, need, |counts| one(counts, $orbit), f),)*
                    // Each count is below 2⁶⁴, but the sum of the orbits of a graphlet may not be.
                    some => self.scan(exact, i, need, |counts| some.iter().map(|&orbit| one(counts, orbit)).sum(), f),
                }
            };
        }
        loops!(
            Edge,
            Path3,
            Triangle,
            Path4End,
            Path4Mid,
            Star4,
            Cycle4,
            TailedTail,
            TailedNear,
            TailedFar,
            DiamondChord,
            DiamondRim,
            Clique4
        );
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
        weight: impl Fn(&[formula::Exact; Orbit::COUNT]) -> f64,
        mut f: impl FnMut(u32, f64),
    ) {
        let of = formula::Exact::of;
        if need.in_triangle && exact.triangles.get(i) == 0 {
            return;
        }
        let end = |i: usize| End {
            d: of(exact.d.get(i)),
            triangles: of(if need.triangles {
                exact.triangles.get(i)
            } else {
                0
            }),
            s: of(if need.s { exact.s.get(i) } else { 0 }),
        };
        let (u, slots) = (end(i), self.pattern.range(i));
        let mut next = None;
        for (&j, slot) in self.pattern.row(i).iter().zip(slots) {
            let (t, c) = (exact.t.get(slot), exact.c.get(slot));
            let mut e = Middle {
                t: of(t),
                p: of(t).pairs(),
                c: of(c),
                k: of(0),
                q: of(0),
                r: of(0),
            };
            if t > 0 {
                let at =
                    next.unwrap_or_else(|| exact.rank.below(slot, |range| exact.t.nonzeros(range)));
                (e.k, e.q, e.r) = (
                    of(exact.k.get(at)),
                    of(exact.q.get(at)),
                    of(exact.r.get(at)),
                );
                next = Some(at + 1);
            }
            if (need.in_triangle && t == 0) || (need.on_cycle && c == 0) {
                continue;
            }
            let v = if need.other_end { end(j as usize) } else { u };
            let weight = weight(&orbits(u, v, e));
            if weight > 0.0 {
                f(j, weight);
            }
        }
    }

    fn exact_row<'a>(
        &'a self,
        exact: &'a Exact,
        i: usize,
        k: usize,
    ) -> impl Iterator<Item = (u32, [formula::Exact; Orbit::COUNT])> + 'a {
        let of = formula::Exact::of;
        let end = move |i: usize| End {
            d: of(exact.d.get(i)),
            triangles: of(exact.triangles.get(i)),
            s: of(exact.s.get(i)),
        };
        let u = end(i);
        let start = self.pattern.range(i).start + k;
        let mut next = exact.rank.below(start, |range| exact.t.nonzeros(range));
        self.pattern.row(i)[k..]
            .iter()
            .zip(start..)
            .map(move |(&j, slot)| {
                let (t, c) = (exact.t.get(slot), exact.c.get(slot));
                let mut e = Middle {
                    t: of(t),
                    p: of(t).pairs(),
                    c: of(c),
                    k: of(0),
                    q: of(0),
                    r: of(0),
                };
                if t > 0 {
                    (e.k, e.q, e.r) = (
                        of(exact.k.get(next)),
                        of(exact.q.get(next)),
                        of(exact.r.get(next)),
                    );
                    next += 1;
                }
                (j, orbits(u, end(j as usize), e))
            })
    }

    /// Counts of the 15 node orbits of every node, in ORCA's numbering
    /// ([`NODE_ORBITS`](super::NODE_ORBITS)). Estimates are rounded up or down at random, with the probabilities that keep
    /// their mean; negative ones are set to zero. Fails when a count exceeds u64, which takes a node of about five million
    /// neighbours.
    pub fn node_orbits(&self) -> Result<Vec<[u64; 15]>> {
        let key = match &self.values {
            Values::Estimated(estimated) => estimated.key(),
            _ => Key::new(0),
        };
        let node = |i: usize| {
            let counts = match &self.values {
                Values::Estimated(estimated) => {
                    let amounts = node_orbits(estimated.degrees(&self.pattern, i));
                    let row = key.of_row(i as u64);
                    std::array::from_fn(|orbit| {
                        let part = (row.bits(orbit as u64) >> 11) as f64 / (1u64 << 53) as f64;
                        (amounts[orbit].max(0.0) + part).floor() as i128
                    })
                }
                _ => node_orbits(self.sums(i)),
            };
            in_range(i, counts)
        };
        let rows = |rows: Range<usize>| rows.map(node).collect::<Result<Vec<_>>>();
        let found: Result<Vec<_>> = parallel::stretches(self.pattern.rows(), 1 << 12, rows)
            .into_iter()
            .collect();
        Ok(found?.concat())
    }

    /// Sums of the orbit counts over the edges of a node.
    fn sums(&self, i: usize) -> [i128; Orbit::COUNT] {
        self.row(i as u32)
            .fold([0; Orbit::COUNT], |mut sums, (_, counts)| {
                sums.iter_mut()
                    .zip(counts)
                    .for_each(|(sum, count)| *sum += i128::from(count));
                sums
            })
    }
}

/// The node orbits of a node, from the sums of the edge orbits of its row.
fn node_orbits<N: Number + Div<Output = N>>(o: [N; Orbit::COUNT]) -> [N; NODE_ORBITS.len()] {
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

/// Refuses counts of a node that u64 does not hold.
fn in_range(node: usize, counts: [i128; NODE_ORBITS.len()]) -> Result<[u64; 15]> {
    let most = i128::from(u64::MAX);
    let Some(x) = counts.iter().position(|&count| count > most) else {
        return Ok(counts.map(|count| count as u64));
    };
    let message = format!(
        "node {node} of degree {} has {} of orbit {}, more than u64 holds",
        counts[0], counts[x], NODE_ORBITS[x]
    );
    Err(Error::Numeric {
        stage: "node orbits".into(),
        message,
    })
}
