//! Exact counts after edges were added or removed, from the counts before.
//!
//! Everything follows from five numbers per edge (`formula`), which change only by subgraphs that contain a
//! changed edge. Letters: A and A′ the adjacency before and after, Δ = A′ − A with its ends D, δ the growth of
//! a degree.
//!
//! * t and K, and the triangles of nodes: triangles and 4-cliques that are made or destroyed are listed (`triangles`),
//!   each at the first of its changed edges.
//! * C = (A³)_uv − d_u − d_v + 1, and A′³ − A³ = ΔAA′ + (ΔAA′)ᵀ + A′ΔA′ − ΔAΔ. The first two are walks from the ends of
//!   changed edges (`walks`); the others need only neighbours in D (`walks`).
//! * Q = Σ d_w gains and loses triangles at old degrees, and δ_w for each triangle that is there afterwards: neighbours
//!   in D again (`walks`).
//! * R = Σ (t(u,w) + t(v,w)) gains and loses triangles at old t, and what t has grown by for each triangle at such an edge
//!   (`triangles`).
//!
//! Cost: for each changed edge about Σ d_w over the small neighbours w of its ends, and some words of bits for each hub
//! among them (`walks`); for each triangle that comes or goes the smaller rows of its edges (`triangles`); Σ_e min of the
//! two ends' neighbours in D (`walks`); and one pass over the edges (`arrange`). If counting again is less work,
//! because much changed or because the graph has no hubs, it is counted again: the result is the same. Memory is linear
//! in the edges. All sums are of integers, so that no order of threads matters.

mod arrange;
mod changes;
mod triangles;
mod walks;

use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use self::changes::{Changes, range, row};
use super::counts::{Counts, Values};
use super::formula::{Exact, Whole};
use super::ranked::{balanced, ranges, reversed};
use super::sample;
use crate::communicator::SingleProcess;
use crate::error::{Error, Result};
use crate::memory::Allowance;
use crate::parallel::{self, cut};
use crate::progress::Progress;
use crate::sparse::Pattern;
use crate::storage::Pages;

/// Bytes per slot of the changed graph that an update takes at its peak, in addition to the old and the new counts.
const UPDATING: u64 = 60;

impl Counts {
    /// The counts after edges were added and removed, exactly as [`count`](super::count) gives them; nodes beyond those
    /// counted are new. The changed adjacency is the [`Counts::pattern`] of the result.
    ///
    /// ```
    /// use hone_graph::GraphBuilder;
    /// use hone_graph::motif::{self, Orbit};
    ///
    /// let graph = GraphBuilder::undirected(3).edges(vec![(0, 1), (1, 2)]).build()?;
    /// let counts = motif::count(&graph, &hone_graph::Silent)?;
    /// let counts = counts.update(&[(2, 0), (2, 3)], &[], &hone_graph::Silent)?;
    /// assert_eq!(counts.edge(0, 1).expect("an edge")[Orbit::Triangle.index()], 1);
    /// assert_eq!(counts.edge(2, 3).expect("an edge")[Orbit::TailedTail.index()], 1);
    /// # Ok::<(), hone_graph::Error>(())
    /// ```
    ///
    /// Fails on self-loops, edges named twice, added edges that exist and removed edges that do not; on estimates
    /// and on counts of directed motifs; when memory does not suffice, or `progress` asks to stop.
    pub fn update(
        &self,
        added: &[(u32, u32)],
        removed: &[(u32, u32)],
        progress: &dyn Progress,
    ) -> Result<Counts> {
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
        progress.stage("sorting changes", 0);
        let changes = Changes::new(self.pattern(), added, removed)?;
        let slots = (self.pattern().nnz() + 2 * added.len()) as u64;
        let more = UPDATING
            .saturating_mul(slots)
            .saturating_add(2 * self.bytes() as u64);
        allowance.check_work("updating counts", more, "raise the memory limit")?;
        let new = Arc::new(changes.applied(self.pattern()));
        Exact::check_degrees(&new)?;
        match Update::new(self.pattern(), &new, exact, changes) {
            Some(update) => Ok(Counts::exact(new.clone(), update.run(progress)?)),
            None => sample::exact(new, allowance, &SingleProcess, progress),
        }
    }

    /// The primitives, if they are exact and there are no triads.
    fn updatable(&self) -> Result<&Exact> {
        let message = match &self.values {
            _ if self.triads().is_some() => {
                "counts of directed motifs cannot be updated; count the changed graph"
            }
            Values::Exact(exact) => return Ok(exact),
            Values::Estimated(_) => {
                "estimates cannot be updated; count exactly, or estimate the changed graph"
            }
            Values::Absent => "no edge orbits were counted; count the changed graph",
        };
        Err(Error::config("counts", message))
    }
}

/// An update in progress.
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
    /// Nothing if counting again is less work, or there are too many edges or changes to number.
    fn new(
        old: &'a Pattern,
        new: &'a Pattern,
        exact: &'a Exact,
        changes: Changes,
    ) -> Option<Update<'a>> {
        if changes.list.len() >= 1 << 30 || is_light(new) || is_more_than_counting(new, &changes) {
            return None;
        }
        u32::try_from(new.nnz()).ok()?;
        let triangles = (0..new.rows()).map(|_| AtomicU64::new(0)).collect();
        Some(Update {
            old,
            new,
            exact,
            changes,
            back: reversed(new),
            triangles,
        })
    }

    /// The neighbours of a node after the changes.
    fn row(&self, i: u32) -> &'a [u32] {
        self.new.row(i as usize)
    }

    /// The neighbours of a node before; none of a new one.
    fn old_row(&self, i: u32) -> &'a [u32] {
        row(self.old, i)
    }

    /// The place of the edge between two nodes in the row of the first, if there is one.
    fn find(&self, u: u32, v: u32) -> Option<usize> {
        self.row(u).binary_search(&v).ok()
    }

    /// Degree before.
    fn degree(&self, i: u32) -> u64 {
        self.old_row(i).len() as u64
    }

    /// Common neighbours of the ends of an edge before; none for an edge that was not there.
    fn common_before(&self, u: u32, v: u32) -> u64 {
        let slots = range(self.old, u as usize);
        row(self.old, u)
            .binary_search(&v)
            .map_or(0, |at| self.exact.t.get(slots.start + at))
    }

    fn run(self, progress: &dyn Progress) -> Result<Exact> {
        let zeros = || Pages::<Whole>::zeros(self.new.nnz());
        let (mut c, mut k, mut r) = (zeros(), zeros(), zeros());
        let mut through = Pages::<u64>::zeros(self.new.nnz());
        let gains = Gains {
            c: Striped::new(self.new, &mut c),
            k: Striped::new(self.new, &mut k),
            r: Striped::new(self.new, &mut r),
        };
        let found = triangles::list(&self, &gains, progress)?;
        triangles::add_rims(&self, &gains, &found, progress)?;
        let middle = walks::Middle::new(&self);
        middle.add_all(&gains, &mut through, progress)?;
        walks::add_cycles(&self, &gains, progress)?;
        drop(gains);
        progress.stage("arranging counts", 0);
        let sums = Sums {
            c: &c,
            k: &k,
            r: &r,
            middle: &through,
        };
        let primitives = arrange::arrange(&self, &found, sums, middle.ends());
        Ok(Exact::new(self.new, primitives))
    }

    /// Divides the changes into parts of about equal work.
    fn parts(&self, work: impl Fn(usize) -> u64) -> Vec<(Range<usize>, ())> {
        let bounds = balanced(self.changes.list.len(), 1 << 16, work);
        ranges(&bounds).map(|range| (range, ())).collect()
    }
}

/// What edges of the changed graph gain, modulo 2⁶⁴, in two shares: one at each slot of an edge, so that additions
/// along a row are in memory order.
struct Gains<'a> {
    /// C by walks from changed edges: in rows of D alone.
    c: Striped<'a>,
    /// K and R: in rows of nodes of triangles that come or go alone.
    k: Striped<'a>,
    r: Striped<'a>,
}

/// The same, summed.
#[derive(Clone, Copy)]
struct Sums<'a> {
    c: &'a [Whole],
    k: &'a [Whole],
    r: &'a [Whole],
    /// C and Q by neighbours in D, two numbers in one, at one of the slots (`middle`).
    middle: &'a [u64],
}

/// Rows of a stripe.
const ROWS: usize = 64;

/// One number per slot that any thread may add to, row by row.
///
/// The lock of a stripe of rows is taken once per row, followed by plain additions. Atomic additions would each wait
/// for memory, and with values scattered over rows that are not in a cache, a thread would do nothing else.
struct Striped<'a> {
    pattern: &'a Pattern,
    parts: Vec<Mutex<&'a mut [Whole]>>,
}

impl<'a> Striped<'a> {
    /// `values` has one for each slot.
    fn new(pattern: &'a Pattern, values: &'a mut [Whole]) -> Striped<'a> {
        let rows = pattern.rows();
        let bounds: Vec<usize> = (0..rows)
            .step_by(ROWS)
            .chain([rows])
            .map(|i| pattern.offsets()[i])
            .collect();
        Striped {
            pattern,
            parts: cut(values, &bounds).into_iter().map(Mutex::new).collect(),
        }
    }

    /// Passes the values of a row to a function.
    #[inline]
    fn row<T>(&self, i: u32, change: impl FnOnce(&mut [Whole]) -> T) -> T {
        let i = i as usize;
        let mut part = self.parts[i / ROWS]
            .lock()
            .expect("no thread panics with the lock");
        let (first, range) = (
            self.pattern.offsets()[i / ROWS * ROWS],
            self.pattern.range(i),
        );
        change(&mut part[range.start - first..range.end - first])
    }

    /// Adds to the value at a place in a row.
    fn add(&self, i: u32, at: usize, value: Whole) {
        if value.0 != 0 {
            self.row(i, |row| row[at] += value);
        }
    }
}

/// Number of slots below which the graph is always updated: counting again would hardly take time either.
const SMALL: usize = 1 << 20;
/// There are few changes if there is less than one per this many slots: then the costs are not compared.
const MANY: usize = 400;
/// Steps of an update that take as long as one of Σ_e min(d_u, d_v) of a count.
const STEPS_PER_STEP: u64 = 4;
/// Steps of a count for each slot of a graph up to which it takes less than the passes of an update over all slots.
const LIGHT: u64 = 20;
/// One row in this many is sampled to find out.
const SAMPLED: usize = 61;

/// The smaller degree of each edge of node `i`, summed.
fn smaller_degrees(pattern: &Pattern, i: usize) -> u64 {
    let (row, d) = (pattern.row(i).iter(), pattern.range(i).len());
    row.map(|&j| pattern.range(j as usize).len().min(d) as u64)
        .sum()
}

/// Whether counting a graph is so little work that nothing is gained by an update: Σ min(d_u, d_v) over its slots is small.
pub fn is_light(pattern: &Pattern) -> bool {
    let rows = || (0..pattern.rows()).step_by(SAMPLED);
    let steps = || rows().map(|i| smaller_degrees(pattern, i)).sum::<u64>();
    let slots = || rows().map(|i| pattern.range(i).len() as u64).sum::<u64>();
    pattern.nnz() > SMALL && steps() < LIGHT * slots()
}

/// Whether an update walks so much more than a count that counting again is less work; few changes are never compared.
fn is_more_than_counting(new: &Pattern, changes: &Changes) -> bool {
    if new.nnz() <= SMALL || changes.list.len() <= new.nnz() / MANY {
        return false;
    }
    let counting = parallel::stretches(new.rows(), 1 << 12, |rows| {
        rows.map(|i| smaller_degrees(new, i) / 2).sum::<u64>()
    });
    let walks = |i: u32| {
        let row = new.row(i as usize).iter();
        row.map(|&j| new.range(j as usize).len() as u64)
            .sum::<u64>()
    };
    let walks: Vec<u64> = parallel::map(changes.nodes.len(), |at| walks(changes.nodes[at]));
    let of = |i: u32| changes.place(i).map_or(0, |place| walks[place]);
    let updating = changes.list.iter();
    let updating: u64 = updating.map(|edge| of(edge.u).min(of(edge.v))).sum();
    updating > STEPS_PER_STEP * counting.iter().sum::<u64>()
}
