//! Exact counts after edges came and went, from the counts before.
//!
//! Everything follows from five numbers per edge (`formula`), and each of them changes by what contains a changed edge.
//! Letters: A and A′ the adjacency before and after, Δ = A′ − A with its ends D, δ the growth of a degree.
//!
//! * t and K, and the triangles of nodes: triangles and 4-cliques that are made or destroyed are listed (`triangles`),
//!   each at the first of its changed edges.
//! * C = (A³)_uv − d_u − d_v + 1, and A′³ − A³ = ΔAA′ + (ΔAA′)ᵀ + A′ΔA′ − ΔAΔ. The first two are walks from the ends of
//!   changed edges (`cycles`); the others need only neighbours in D (`middle`).
//! * Q = Σ d_w gains and loses triangles at old degrees, and δ_w for each triangle that is there afterwards: neighbours
//!   in D again (`middle`).
//! * R = Σ (t(u,w) + t(v,w)) gains and loses triangles at old t, and what t has grown by for each triangle at such an edge
//!   (`rims`).
//!
//! Cost: for each changed edge about Σ d_w over the small neighbours w of its ends, and some words of bits for each hub among
//! them (`cycles`); for each triangle that comes or goes the smaller rows of its edges (`rims`); Σ_e min of the two ends'
//! neighbours in D (`middle`); and one pass over the edges (`arrange`). Where counting again is less work, because much
//! changed or because the graph has no hubs, it is counted again: the result is the same. Memory is linear in the edges.
//! All sums are of integers, so that no order of threads matters.

mod arrange;
mod changes;
mod cycles;
mod hubs;
mod middle;
mod rims;
mod striped;
mod triangles;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use self::changes::{Changes, range, row};
use self::striped::Striped;
use super::counting;
use super::counts::{Counts, Values};
use super::exact::Exact;
use super::peers::Alone;
use super::ranked::balanced;
use crate::error::{Error, Result};
use crate::memory::Allowance;
use crate::pages::Pages;
use crate::parallel;
use crate::progress::Progress;
use crate::sparse::Pattern;

/// Bytes per slot of the changed graph that an update takes at its peak, beside the old and the new counts.
const UPDATING: u64 = 60;
/// Slots below which an update is always worked out: counting again would hardly be noticed either.
const SMALL: usize = 1 << 20;
/// Changes are few when there are fewer than one for so many slots: nobody asks whether counting is less work.
const MANY: usize = 400;
/// Steps of an update that take as long as one of Σ_e min(d_u, d_v) of a count.
const STEPS_PER_STEP: u64 = 4;
/// Steps of a count for each slot of a graph up to which it takes less than the passes of an update over all slots.
const LIGHT: u64 = 20;
/// Of so many rows one is looked at to find out.
const SAMPLED: usize = 61;

/// Whether counting a graph is so little work that nothing is gained by an update: Σ min(d_u, d_v) over its slots is small.
pub(crate) fn is_light(pattern: &Pattern) -> bool {
    let degree = |i: usize| pattern.range(i).len() as u64;
    let of = |i: usize| pattern.row(i).iter().map(|&j| degree(j as usize).min(degree(i))).sum::<u64>();
    let rows = || (0..pattern.rows()).step_by(SAMPLED);
    pattern.nnz() > SMALL && rows().map(of).sum::<u64>() < LIGHT * rows().map(degree).sum::<u64>()
}

impl Counts {
    /// The counts after edges were added and removed, exactly as [`count`](super::count) gives them; nodes beyond those
    /// counted are new. The changed adjacency is the [`Counts::pattern`] of the result.
    ///
    /// ```
    /// use hone::graph::GraphBuilder;
    /// use hone::motif::{self, Orbit};
    ///
    /// let graph = GraphBuilder::undirected(3).edges(vec![(0, 1), (1, 2)]).build()?;
    /// let counts = motif::count(&graph, &hone::Silent)?;
    /// let counts = counts.update(&[(2, 0), (2, 3)], &[], &hone::Silent)?;
    /// assert_eq!(counts.edge(0, 1).expect("an edge")[Orbit::Triangle.index()], 1);
    /// assert_eq!(counts.edge(2, 3).expect("an edge")[Orbit::TailedTail.index()], 1);
    /// # Ok::<(), hone::Error>(())
    /// ```
    ///
    /// Fails on self-loops, edges named twice, added edges that are there and removed edges that are not; on estimates
    /// and on counts of directed motifs; when memory does not suffice, or `progress` asks to stop.
    pub fn update(&self, added: &[(u32, u32)], removed: &[(u32, u32)], progress: &dyn Progress) -> Result<Counts> {
        self.update_within(added, removed, Allowance::new(None), progress)
    }

    /// As [`Counts::update`]; refuses work for which the process would hold more than it may.
    pub fn update_within(
        &self,
        added: &[(u32, u32)],
        removed: &[(u32, u32)],
        allowance: Allowance,
        progress: &dyn Progress,
    ) -> Result<Counts> {
        let exact = self.updatable()?;
        progress.stage("changes", 0);
        let changes = Changes::new(self.pattern(), added, removed)?;
        let slots = (self.pattern().nnz() + 2 * added.len()) as u64;
        let more = UPDATING.saturating_mul(slots).saturating_add(2 * self.bytes() as u64);
        allowance.check_work("updating counts", more, "raise the memory limit")?;
        let new = Arc::new(changes.applied(self.pattern()));
        Exact::check_degrees(&new)?;
        let update = Update::new(self.pattern(), &new, exact, changes);
        match update {
            Some(update) => Ok(Counts::exact(new.clone(), update.run(progress)?)),
            None => counting::exact(new, allowance, &Alone, progress),
        }
    }

    /// The primitives, if they are exact and all there is.
    fn updatable(&self) -> Result<&Exact> {
        if self.triads().is_some() {
            let message = "counts of directed motifs cannot be updated; count the changed graph";
            return Err(Error::config("counts", message));
        }
        match self.values() {
            Values::Exact(exact) => Ok(exact),
            Values::Estimated(_) => Err(Error::config(
                "counts",
                "estimates cannot be updated; count exactly, or estimate the changed graph",
            )),
            Values::Absent => Err(Error::config("counts", "no edge orbits were counted; count the changed graph")),
        }
    }
}

/// What edges of the changed graph gain, modulo 2⁶⁴, in two shares: one at each slot of an edge, so that whoever walks a row
/// adds in the order of memory.
struct Gains<'a> {
    /// C by walks from changed edges: in rows of D alone.
    c: Striped<'a>,
    /// K and R: in rows of nodes of triangles that come or go alone.
    k: Striped<'a>,
    r: Striped<'a>,
}

/// The same when all is added up.
#[derive(Clone, Copy)]
struct Sums<'a> {
    c: &'a [u64],
    k: &'a [u64],
    r: &'a [u64],
    /// C and Q by neighbours in D, two numbers in one, at one of the slots (`middle`).
    middle: &'a [u64],
}

/// An update under way.
struct Update<'a> {
    old: &'a Pattern,
    new: &'a Pattern,
    /// What was counted before.
    exact: &'a Exact,
    changes: Changes,
    /// For each slot of the changed graph that of the same edge in the other row.
    back: Vec<u32>,
    /// Triangles that nodes gain.
    triangles: Vec<AtomicU64>,
}

impl<'a> Update<'a> {
    /// Nothing when counting again is less work, or edges or changes are too many to be numbered.
    fn new(old: &'a Pattern, new: &'a Pattern, exact: &'a Exact, changes: Changes) -> Option<Update<'a>> {
        if changes.list.len() >= 1 << 30 || is_light(new) {
            return None;
        }
        let degree = |i: u32| new.range(i as usize).len() as u64;
        if new.nnz() > SMALL && changes.list.len() > new.nnz() / MANY {
            let least = |i: usize| new.row(i).iter().map(|&j| degree(j).min(degree(i as u32))).sum::<u64>() / 2;
            let counting: u64 =
                parallel::stretches(new.rows(), 1 << 12, |rows| rows.map(least).sum::<u64>()).iter().sum();
            let walks = |i: u32| new.row(i as usize).iter().map(|&j| degree(j)).sum::<u64>();
            let walks: Vec<u64> = parallel::map(changes.nodes.len(), |at| walks(changes.nodes[at]));
            let of = |i: u32| changes.place(i).map_or(0, |place| walks[place]);
            let updating: u64 = changes.list.iter().map(|change| of(change.u).min(of(change.v))).sum();
            if updating > STEPS_PER_STEP * counting {
                return None;
            }
        }
        u32::try_from(new.nnz()).ok()?;
        let triangles = (0..new.rows()).map(|_| AtomicU64::new(0)).collect();
        Some(Update { old, new, exact, changes, back: turned(new), triangles })
    }

    fn run(self, progress: &dyn Progress) -> Result<Exact> {
        let zeros = || Pages::<u64>::zeros(self.new.nnz());
        let (mut c, mut k, mut r, mut through) = (zeros(), zeros(), zeros(), zeros());
        let of = |values| Striped::new(self.new, values);
        let gains = Gains { c: of(&mut c), k: of(&mut k), r: of(&mut r) };
        let found = triangles::list(&self, &gains, progress)?;
        rims::add_all(&self, &gains, &found, progress)?;
        let middle = middle::Middle::new(&self);
        middle.add_all(&gains, &mut through, progress)?;
        cycles::add_all(&self, &gains, progress)?;
        drop(gains);
        progress.stage("arranging counts", 0);
        let s = middle.ends();
        Ok(arrange::arrange(&self, &found, Sums { c: &c, k: &k, r: &r, middle: &through }, s))
    }

    /// The place of the edge between two nodes in the row of the first, if there is one.
    fn find(&self, u: u32, v: u32) -> Option<usize> {
        self.new.row(u as usize).binary_search(&v).ok()
    }

    /// Degree before.
    fn degree(&self, i: u32) -> u64 {
        row(self.old, i).len() as u64
    }

    /// Common neighbours of the ends of an edge before; none for an edge that was not there.
    fn common_before(&self, u: u32, v: u32) -> u64 {
        let slots = range(self.old, u as usize);
        row(self.old, u).binary_search(&v).map_or(0, |at| self.exact.t.get(slots.start + at))
    }

    /// Cuts the changes into parts of about equal work.
    fn parts(&self, work: impl Fn(usize) -> u64) -> Vec<(std::ops::Range<usize>, ())> {
        let bounds = balanced(self.changes.list.len(), 1 << 16, work);
        super::ranked::ranges(&bounds).map(|range| (range, ())).collect()
    }
}

/// Adds modulo 2⁶⁴.
#[inline]
fn add(sum: &AtomicU64, value: u64) {
    if value != 0 {
        sum.fetch_add(value, Relaxed);
    }
}

/// For each slot that of the same edge in the other row: rows ascend, so that the lower part of a row is met in order.
pub(super) fn turned(pattern: &Pattern) -> Vec<u32> {
    let mut back = vec![0; pattern.nnz()];
    let mut next: Vec<usize> = pattern.offsets()[..pattern.rows()].to_vec();
    for i in 0..pattern.rows() {
        let upper = next[i];
        for (slot, &j) in (upper..).zip(&pattern.columns()[upper..pattern.range(i).end]) {
            let place = &mut next[j as usize];
            back[slot] = *place as u32;
            back[*place] = slot as u32;
            *place += 1;
        }
    }
    back
}
