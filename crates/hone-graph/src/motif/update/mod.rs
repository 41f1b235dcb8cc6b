//! Exact counts after edges were added or removed, from the counts before.
//!
//! Everything follows from five numbers per edge (`formula`), which change only by subgraphs that contain a
//! changed edge. Letters: A and A′ the adjacency before and after, Δ = A′ − A with its ends D, δ the growth of
//! a degree.
//!
//! * t and K: triangles and 4-cliques that are made or destroyed are listed (`triangles`), each at the first of its changed
//!   edges.
//! * C = (A³)_uv − d_u − d_v + 1, and A′³ − A³ = ΔAA′ + (ΔAA′)ᵀ + A′ΔA′ − ΔAΔ. The first two are walks from the ends of
//!   changed edges (`walks`); the others need only neighbours in D (`walks`).
//! * Q = Σ d_w gains and loses triangles at old degrees, and δ_w for each triangle that is there afterwards: neighbours
//!   in D again (`walks`).
//! * R = Σ (t(u,w) + t(v,w)) gains and loses triangles at old t, and what t has grown by for each triangle at such an edge
//!   (`triangles`).
//!
//! Cost: for each changed edge about Σ d_w over the small neighbours w of its ends, and for its hubs only the neighbours of
//! larger degree (`walks`); for each triangle that comes or goes the smaller rows of its edges (`triangles`); Σ_e min of the
//! two ends' neighbours in D (`walks`); and one pass over the edges. If counting again is less work,
//! because much changed or because the graph has no hubs, it is counted again: the result is the same. Memory is linear
//! in the edges. All sums are of integers, so that no order of threads matters.

mod changes;
mod triangles;
mod walks;

use std::num::Wrapping;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use self::changes::Changes;
use self::triangles::EdgeGain;
use self::walks::{Middle, Through};
use super::column::{Column, EdgeWriter, write_edges};
use super::counts::{Counts, Values};
use super::formula::{Exact, Primitives, Whole, degrees_of_others};
use super::ranked::{Marks, balanced, ranges, reversed, smaller_degrees};
use super::sample;
use crate::communicator::SingleProcess;
use crate::error::{Error, Result};
use crate::memory::Allowance;
use crate::message::{message, setting};
use crate::parallel::{self, cut};
use crate::progress::Progress;
use crate::sparse::{Pattern, prefetch};
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
        let message = match &self.values {
            _ if self.triads().is_some() => {
                "counts of directed motifs cannot be updated; count the changed graph"
            }
            Values::Exact(exact) => {
                return self.update_exact(exact, [added, removed], allowance, progress);
            }
            Values::Estimated(_) => {
                "estimates cannot be updated; count exactly, or estimate the changed graph"
            }
            Values::Absent => "no edge orbits were counted; count the changed graph",
        };
        Err(Error::config("counts", message))
    }

    fn update_exact(
        &self,
        exact: &Exact,
        [added, removed]: [&[(u32, u32)]; 2],
        allowance: Allowance,
        progress: &dyn Progress,
    ) -> Result<Counts> {
        progress.stage("sorting changes", 0);
        let changes = Changes::new(self.pattern(), added, removed)?;
        let slots = (self.pattern().nnz() + 2 * added.len()) as u64;
        let more = UPDATING
            .saturating_mul(slots)
            .saturating_add(2 * self.bytes() as u64);
        allowance.check_work(
            "updating counts",
            more,
            message!["raise ", setting("memory_limit")],
        )?;
        let old = changes.extended(self.pattern());
        let new = Arc::new(changes.applied(&old));
        Exact::check_degrees(&new)?;
        // Changes and slots are numbered by 30 and by 32 bits.
        let too_many = changes.list.len() >= 1 << 30 || u32::try_from(new.nnz()).is_err();
        if too_many || is_light(&new) || is_more_than_counting(&new, &changes) {
            return sample::exact(new, allowance, &SingleProcess, progress);
        }
        let update = Update {
            old: &old,
            new: &new,
            exact,
            changes,
            back: reversed(&new),
        };
        let primitives = update.run(progress)?;
        Ok(Counts::of_primitives(Arc::clone(&new), primitives))
    }
}

/// An update in progress.
struct Update<'a> {
    /// The adjacency before, with rows for new nodes.
    old: &'a Pattern,
    new: &'a Pattern,
    /// What was counted before.
    exact: &'a Exact,
    changes: Changes,
    /// For each slot of the changed graph that of the same edge in the other row.
    back: Vec<u32>,
}

impl<'a> Update<'a> {
    /// The neighbours of a node after the changes.
    fn row(&self, i: u32) -> &'a [u32] {
        self.new.row(i as usize)
    }

    /// The neighbours of a node before.
    fn old_row(&self, i: u32) -> &'a [u32] {
        self.old.row(i as usize)
    }

    /// The place of the edge between two nodes in the row of the first, if there is one.
    fn find(&self, u: u32, v: u32) -> Option<usize> {
        self.row(u).binary_search(&v).ok()
    }

    /// Common neighbours of the ends of an edge before; none for an edge that was not there.
    fn common_before(&self, u: u32, v: u32) -> u64 {
        let first = self.old.range(u as usize).start;
        let at = self.old_row(u).binary_search(&v);
        at.map_or(0, |at| self.exact.t.get(first + at))
    }

    fn run(&self, progress: &dyn Progress) -> Result<Primitives> {
        let mut values = Pages::<Gain>::zeros(self.new.nnz());
        let mut through = Pages::<Through>::zeros(self.new.nnz());
        let gains = Gains::new(self.new, &mut values);
        let grown = triangles::list(self, &gains, progress)?;
        triangles::add_rims(self, &gains, &grown, progress)?;
        Middle::new(self).add_all(&gains, &mut through, progress)?;
        walks::add_cycles(self, &gains, progress)?;
        drop(gains);
        progress.stage("arranging counts", 0);
        let mut touched = Marks::new(self.new.rows());
        touched.set(&self.changes.nodes);
        grown.iter().for_each(|edge| touched.set(&[edge.u]));
        let gains = AllGains {
            update: self,
            grown,
            gains: &values,
            touched,
            through: &through,
        };
        let columns = gains.arrange();
        Ok(Primitives::new(self.new, columns, |i| {
            degrees_of_others(self.new, i)
        }))
    }

    /// Divides the changes into parts of about equal work.
    fn parts(&self, work: impl Fn(usize) -> u64) -> Vec<(Range<usize>, ())> {
        let bounds = balanced(self.changes.list.len(), 1 << 16, work);
        ranges(&bounds).map(|range| (range, ())).collect()
    }
}

/// What an edge of the changed graph gains, modulo 2⁶⁴: C by walks from changed edges, K and R. In two shares, one at each
/// slot of the edge, so that additions along a row are in memory order.
type Gain = [Whole; 3];
const C: usize = 0;
const K: usize = 1;
const R: usize = 2;

/// Rows of a stripe.
const ROWS: usize = 64;

/// A gain per slot that any thread may add to, row by row; only in rows of D and of triangles that come or go.
///
/// The lock of a stripe of rows is taken once per row, followed by plain additions. Atomic additions would each wait
/// for memory, and with values scattered over rows that are not in a cache, a thread would do nothing else.
struct Gains<'a> {
    pattern: &'a Pattern,
    parts: Vec<Mutex<&'a mut [Gain]>>,
}

impl<'a> Gains<'a> {
    /// `values` has one for each slot.
    fn new(pattern: &'a Pattern, values: &'a mut [Gain]) -> Gains<'a> {
        let rows = (0..pattern.rows()).step_by(ROWS).chain([pattern.rows()]);
        let bounds: Vec<usize> = rows.map(|i| pattern.offsets()[i]).collect();
        Gains {
            pattern,
            parts: cut(values, &bounds).into_iter().map(Mutex::new).collect(),
        }
    }

    /// Passes the values of a row to a function.
    #[inline]
    fn row<T>(&self, i: u32, change: impl FnOnce(&mut [Gain]) -> T) -> T {
        let (stripe, range) = (i as usize / ROWS, self.pattern.range(i as usize));
        let first = self.pattern.offsets()[stripe * ROWS];
        let mut part = self.parts[stripe]
            .lock()
            .expect("no thread panics with the lock");
        change(&mut part[range.start - first..range.end - first])
    }
}

/// Everything that edges gain.
struct AllGains<'a> {
    update: &'a Update<'a>,
    /// By triangles and 4-cliques, from both ends, ascending.
    grown: Vec<EdgeGain>,
    gains: &'a [Gain],
    /// Nodes in whose rows there are gains.
    touched: Marks,
    /// C and Q by neighbours in D, at one of the slots of each edge.
    through: &'a [Through],
}

/// Slots from the current one to the one whose other share is prefetched.
const AHEAD: usize = 16;

impl AllGains<'_> {
    /// The old numbers of edges plus their gains, as columns in the order of the changed graph: one pass. Columns are
    /// written in their previous width, and once more if so many values grew that another width is smaller.
    fn arrange(&self) -> [Column; 5] {
        let (new, exact) = (self.update.new, self.update.exact);
        let offsets = new.offsets();
        let bounds = balanced(new.rows(), 1 << 16, |i| {
            (offsets[i + 1] - offsets[i] + 4) as u64
        });
        let slots: Vec<usize> = bounds.iter().map(|&i| offsets[i]).collect();
        let inside = self.first_places(&bounds);
        let before = [&exact.t, &exact.c, &exact.k, &exact.q, &exact.r];
        let widths = before.map(Column::width);
        let columns = write_edges(widths, &slots, &inside, |part, writer| {
            self.write_rows(bounds[part]..bounds[part + 1], writer);
        });
        columns.map(Column::fitted)
    }

    /// The place in K, Q and R of the first edge in a triangle at or after each bound.
    fn first_places(&self, bounds: &[usize]) -> Vec<usize> {
        let Update { old, exact, .. } = *self.update;
        // Rows that gain or lose an edge in a triangle.
        let mut changed: Vec<(u32, isize)> = Vec::new();
        for edge in &self.grown {
            let before = Wrapping(self.update.common_before(edge.u, edge.v));
            let inside = |t: Whole| isize::from(t.0 > 0);
            changed.push((edge.u, inside(before + edge.t) - inside(before)));
        }
        for change in self.update.changes.list.iter().filter(|c| !c.added) {
            if self.update.common_before(change.u, change.v) > 0 {
                changed.extend([(change.u, -1), (change.v, -1)]);
            }
        }
        changed.sort_unstable();
        let (mut changed, mut sum) = (changed.into_iter().peekable(), 0);
        let place = |&bound: &usize| {
            while let Some((_, by)) = changed.next_if(|row| (row.0 as usize) < bound) {
                sum += by;
            }
            exact.place(old.offsets()[bound]).wrapping_add_signed(sum)
        };
        bounds.iter().map(place).collect()
    }

    /// Writes the numbers of some rows.
    fn write_rows(&self, rows: Range<usize>, writer: &mut EdgeWriter<'_>) {
        let Update {
            old,
            new,
            exact,
            changes,
            ..
        } = self.update;
        let first = self
            .grown
            .partition_point(|edge| (edge.u as usize) < rows.start);
        let mut grown = self.grown[first..].iter().peekable();
        let mut place = None;
        for i in rows {
            let own = (i as u32, self.touched.has(i as u32));
            let mut before = (old.row(i).iter().zip(old.range(i)))
                .map(|(&j, slot)| (j, exact.middle(slot, &mut place)))
                .peekable();
            for (slot, &j) in new.range(i).zip(new.row(i)) {
                self.ask_ahead(slot);
                // Edges that are removed are passed over.
                while before.next_if(|edge| edge.0 < j).is_some() {}
                let was = before.next_if(|edge| edge.0 == j).map(|edge| edge.1);
                let mut now = was.unwrap_or_default();
                let back = self.update.back[slot] as usize;
                // One of them is zero.
                let through = [0, 1].map(|x| self.through[slot][x] + self.through[back][x]);
                let [c, q] = through.map(|sum| Wrapping(i64::from(sum).cast_unsigned()));
                now.q += q;
                if was.is_some() {
                    now.c += c;
                }
                for ((node, touched), slot) in [(own, slot), ((j, self.touched.has(j)), back)] {
                    if touched {
                        let gain = self.gains[slot];
                        now.c += gain[C];
                        now.k += gain[K];
                        now.r += gain[R];
                        if was.is_some() {
                            now.c -= changes.growth(node);
                        }
                    }
                }
                if let Some(edge) = grown.next_if(|edge| (edge.u, edge.v) == (i as u32, j)) {
                    now.t += edge.t;
                    now.k += edge.k;
                    now.q += edge.q;
                    now.r += edge.r;
                }
                writer.write(
                    slot,
                    [now.t, now.c, now.k, now.q, now.r].map(|value| value.0),
                );
            }
            before.for_each(drop);
        }
    }

    /// Prefetches the other share of an edge that comes soon.
    #[inline(always)]
    fn ask_ahead(&self, slot: usize) {
        if let Some(&j) = self.update.new.columns().get(slot + AHEAD) {
            let back = self.update.back[slot + AHEAD] as usize;
            prefetch(&self.through[back..=back]);
            if self.touched.has(j) {
                prefetch(&self.gains[back..=back]);
            }
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

/// Whether counting a graph is so little work that nothing is gained by an update: Σ min(d_u, d_v) over its slots is small.
pub fn is_light(pattern: &Pattern) -> bool {
    let rows = (0..pattern.rows()).step_by(SAMPLED);
    let (steps, slots) = rows.fold((0, 0), |(steps, slots), i| {
        let more = pattern.range(i).len() as u64;
        (steps + smaller_degrees(pattern, i), slots + more)
    });
    pattern.nnz() > SMALL && steps < LIGHT * slots
}

/// Whether an update walks so much more than a count that counting again is less work; few changes are never compared.
fn is_more_than_counting(new: &Pattern, changes: &Changes) -> bool {
    if new.nnz() <= SMALL || changes.list.len() <= new.nnz() / MANY {
        return false;
    }
    let counting = parallel::stretches(new.rows(), 1 << 12, |rows| {
        rows.map(|i| smaller_degrees(new, i) / 2).sum::<u64>()
    });
    let walks: Vec<u64> = parallel::map(changes.nodes.len(), |at| {
        degrees_of_others(new, changes.nodes[at] as usize)
    });
    let of = |i: u32| changes.place(i).map_or(0, |place| walks[place]);
    let updating = changes.list.iter();
    let updating: u64 = updating.map(|edge| of(edge.u).min(of(edge.v))).sum();
    updating > STEPS_PER_STEP * counting.iter().sum::<u64>()
}
