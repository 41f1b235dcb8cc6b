//! The old numbers of edges plus their gains, as columns in the order of the changed graph: one pass.
//!
//! Columns are written in their previous width, with values that do not fit stored separately; if so many values grew
//! that another width is smaller, the column is written once more.

use std::num::Wrapping;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

use super::changes::range;
use super::triangles::{EdgeGain, Triangles};
use super::walks::halves;
use super::{Sums, Update};
use crate::motif::column::{Column, Part, Sizes, parts_of, with_wide};
use crate::motif::formula::{Middle, Primitives, Whole};
use crate::motif::ranked::{Marks, balanced, ranges};
use crate::parallel;
use crate::sparse::prefetch;

/// Slots from the current one to the one whose other share is prefetched.
const AHEAD: usize = 16;

/// What the pass reads.
struct Arranging<'a> {
    update: &'a Update<'a>,
    found: &'a Triangles,
    sums: Sums<'a>,
    /// The nodes of D.
    ends: Marks,
}

/// Values of some rows that do not fit, of t and C and of K, Q and R, and the sizes of all.
struct Filled {
    tc: [Vec<(usize, u64)>; 2],
    kqr: [Vec<(usize, u64)>; 3],
    sizes: [Sizes; 5],
}

/// All columns; `s` is that of the changed graph.
pub(super) fn arrange(
    update: &Update<'_>,
    found: &Triangles,
    sums: Sums<'_>,
    s: Column,
) -> Primitives {
    let (new, exact) = (update.new, update.exact);
    let offsets = new.offsets();
    let bounds = balanced(new.rows(), 1 << 16, |i| {
        (offsets[i + 1] - offsets[i] + 4) as u64
    });
    let slots: Vec<usize> = bounds.iter().map(|&i| offsets[i]).collect();
    let firsts = first_places(update, found, &bounds);
    let inside = firsts.last().copied().unwrap_or(0);
    let mut ends = Marks::new(new.rows());
    ends.set(&update.changes.nodes);
    let arranging = Arranging {
        update,
        found,
        sums,
        ends,
    };
    let mut tc = [&exact.t, &exact.c].map(|before| Column::zeros_like(new.nnz(), before));
    let mut kqr = [&exact.k, &exact.q, &exact.r].map(|before| Column::zeros_like(inside, before));
    let parts = ranges(&bounds)
        .zip(parts_of(&mut tc, &slots))
        .zip(parts_of(&mut kqr, &firsts));
    let filled = parallel::map_each(parts.collect(), |at, ((rows, tc), kqr)| {
        arranging.fill(rows, firsts[at], tc, kqr)
    });
    let (mut wide_tc, mut wide_kqr, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
    for filled in filled {
        wide_tc.push(filled.tc);
        wide_kqr.push(filled.kqr);
        sizes.push(filled.sizes);
    }
    let size = |x: usize| Sizes::sum(sizes.iter().map(|sizes| sizes[x]));
    let [t, c] = with_wide(tc, wide_tc);
    let [k, q, r] = with_wide(kqr, wide_kqr);
    let triangles = |i: usize| {
        let known = i < update.old.rows();
        let before = if known { exact.triangles.get(i) } else { 0 };
        before.wrapping_add(update.triangles[i].load(Relaxed))
    };
    Primitives {
        t: t.fitted(size(0)),
        c: c.fitted(size(1)),
        k: k.fitted(size(2)),
        q: q.fitted(size(3)),
        r: r.fitted(size(4)),
        triangles: Column::collect(new.rows(), triangles),
        s,
    }
}

/// The place in K, Q and R of the first edge in a triangle at or after each bound.
fn first_places(update: &Update<'_>, found: &Triangles, bounds: &[usize]) -> Vec<usize> {
    let (old, exact) = (update.old, update.exact);
    // Rows that gain or lose an edge in a triangle.
    let mut changed: Vec<(u32, isize)> = Vec::new();
    for &EdgeGain { u, v, t, .. } in &found.grown {
        let before = Wrapping(update.common_before(u, v));
        let inside = |t: Whole| isize::from(t.0 > 0);
        changed.push((u, inside(before + t) - inside(before)));
    }
    for change in update.changes.list.iter().filter(|change| !change.added) {
        if update.common_before(change.u, change.v) > 0 {
            changed.extend([(change.u, -1), (change.v, -1)]);
        }
    }
    changed.sort_unstable();
    let (mut next, mut sum) = (0, 0);
    let place = |&bound: &usize| {
        while let Some(&(node, by)) = changed.get(next)
            && (node as usize) < bound
        {
            (next, sum) = (next + 1, sum + by);
        }
        let slot = old.offsets()[bound.min(old.rows())];
        exact.place(slot).wrapping_add_signed(sum)
    };
    bounds.iter().map(place).collect()
}

impl Arranging<'_> {
    /// Writes the numbers of some rows; `next` is the place of the first edge in a triangle.
    fn fill(
        &self,
        rows: Range<usize>,
        mut next: usize,
        mut tc: [Part<'_>; 2],
        mut kqr: [Part<'_>; 3],
    ) -> Filled {
        let update = self.update;
        let (mut sizes, mut old) = ([Sizes::default(); 5], Before::new(update, rows.start));
        let grown = &self.found.grown;
        let first = grown.partition_point(|edge| (edge.u as usize) < rows.start);
        let mut grown = grown[first..].iter().peekable();
        for i in rows {
            let place = update.changes.place(i as u32);
            let growth = place.map_or(Wrapping(0), |place| update.changes.growth(place));
            let own = (place.is_some(), self.found.nodes.has(i as u32));
            for (slot, &j) in update.new.range(i).zip(update.new.row(i)) {
                self.ask_ahead(slot);
                let before = old.at(i, j, place.is_some());
                let mut now = before.unwrap_or_default();
                self.add_shares(&mut now, slot, own, (j, before.is_some(), growth));
                if let Some(edge) = grown.next_if(|edge| (edge.u, edge.v) == (i as u32, j)) {
                    now.t += edge.t;
                    now.q += edge.q;
                }
                let kept = if now.t.0 > 0 { 5 } else { 2 };
                let values = [now.t, now.c, now.k, now.q, now.r].map(|value| value.0);
                for (sizes, value) in sizes.iter_mut().zip(values).take(kept) {
                    sizes.add(value, 1);
                }
                tc[0].set(slot, values[0]);
                tc[1].set(slot, values[1]);
                if now.t.0 > 0 {
                    for (part, &value) in kqr.iter_mut().zip(&values[2..]) {
                        part.set(next, value);
                    }
                    next += 1;
                }
            }
            old.end_row(i);
        }
        Filled {
            tc: tc.map(|part| part.wide),
            kqr: kqr.map(|part| part.wide),
            sizes,
        }
    }

    /// Adds what the edge at a slot gained at both of its slots; `own` says of its row whether it is in D, and in triangles that
    /// come or go.
    #[inline(always)]
    fn add_shares(
        &self,
        now: &mut Middle<Whole>,
        slot: usize,
        (in_d, in_triangles): (bool, bool),
        (j, was_there, growth): (u32, bool, Whole),
    ) {
        let (update, sums) = (self.update, self.sums);
        let back = update.back[slot] as usize;
        // One of them is zero.
        let (through, q) = halves(sums.middle[slot] | sums.middle[back]);
        now.q += q;
        if was_there {
            now.c += through - growth;
        }
        if in_d {
            now.c += sums.c[slot];
        }
        if self.ends.has(j) {
            now.c += sums.c[back];
            if let Some(place) = update.changes.place(j).filter(|_| was_there) {
                now.c -= update.changes.growth(place);
            }
        }
        if in_triangles {
            now.k += sums.k[slot];
            now.r += sums.r[slot];
        }
        if self.found.nodes.has(j) {
            now.k += sums.k[back];
            now.r += sums.r[back];
        }
    }

    /// Prefetches the other share of an edge that comes soon.
    #[inline(always)]
    fn ask_ahead(&self, slot: usize) {
        if let Some(&j) = self.update.new.columns().get(slot + AHEAD) {
            let back = self.update.back[slot + AHEAD] as usize;
            prefetch(&self.sums.middle[back..=back]);
            if self.ends.has(j) {
                prefetch(&self.sums.c[back..=back]);
            }
            if self.found.nodes.has(j) {
                prefetch(&self.sums.k[back..=back]);
                prefetch(&self.sums.r[back..=back]);
            }
        }
    }
}

/// The numbers of edges before the changes, read in order.
struct Before<'a> {
    update: &'a Update<'a>,
    slot: usize,
    /// Place of the next edge in a triangle.
    place: Option<usize>,
}

impl<'a> Before<'a> {
    fn new(update: &'a Update<'a>, row: usize) -> Before<'a> {
        Before {
            update,
            slot: update.old.offsets()[row.min(update.old.rows())],
            place: None,
        }
    }

    /// The primitives of the edge of `i` to `j`, if it was there. Asked for in ascending order.
    #[inline(always)]
    fn at(&mut self, i: usize, j: u32, changes: bool) -> Option<Middle<Whole>> {
        if changes {
            let (end, columns) = (range(self.update.old, i).end, self.update.old.columns());
            while self.slot < end && columns[self.slot] < j {
                self.take();
            }
            if self.slot >= end || columns[self.slot] != j {
                return None;
            }
        }
        Some(self.take())
    }

    /// Passes over what is left of a row.
    #[inline(always)]
    fn end_row(&mut self, i: usize) {
        while self.slot < range(self.update.old, i).end {
            self.take();
        }
    }

    #[inline(always)]
    fn take(&mut self) -> Middle<Whole> {
        self.slot += 1;
        self.update.exact.middle(self.slot - 1, &mut self.place)
    }
}
