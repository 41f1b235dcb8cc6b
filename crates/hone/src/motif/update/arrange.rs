//! What edges had and what they gained, together, as columns in the order of the changed graph.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::super::column::{Column, Part, Sizes};
use super::super::exact::Exact;
use super::super::place::Rank;
use super::super::ranked::{balanced, ranges};
use super::changes::{range, row};
use super::{Gain, Update};
use crate::parallel;
use crate::sparse::prefetch;

/// Slots from the current one to the one whose edge is prefetched.
const AHEAD: usize = 16;

/// All columns; `s` is that of the changed graph.
pub(super) fn arrange(update: &Update<'_>, s: Column) -> Exact {
    let new = update.new;
    let offsets = new.offsets();
    let bounds = balanced(new.rows(), 1 << 14, |i| (offsets[i + 1] - offsets[i] + 4) as u64);
    let inside: Vec<AtomicU64> = (0..new.rows()).map(|_| AtomicU64::new(0)).collect();
    let stretches: Vec<Range<usize>> = ranges(&bounds).collect();
    let sizes = parallel::map(stretches.len(), |at| settle(update, stretches[at].clone(), &inside));
    let sizes = sizes.into_iter().fold([Sizes::default(); 5], |a, b| std::array::from_fn(|x| a[x].merge(b[x])));
    let slots: Vec<usize> = bounds.iter().map(|&i| offsets[i]).collect();
    let mut firsts = vec![0];
    for stretch in &stretches {
        let own: u64 = inside[stretch.clone()].iter().map(|count| count.load(Relaxed)).sum();
        firsts.push(firsts[firsts.len() - 1] + own as usize);
    }
    let all = firsts[stretches.len()];
    let lengths = [new.nnz(), new.nnz(), all, all, all];
    let mut columns: [Column; 5] = std::array::from_fn(|x| Column::zeros(lengths[x], sizes[x]));
    let wide = {
        let [t, c, k, q, r] = &mut columns;
        let first = t.parts(&slots).into_iter().zip(c.parts(&slots));
        let second = k.parts(&firsts).into_iter().zip(q.parts(&firsts)).zip(r.parts(&firsts));
        let parts = first.zip(second).map(|((t, c), ((k, q), r))| [t, c, k, q, r]).collect();
        parallel::map_each(parts, |at, parts| fill(update, slots[at]..slots[at + 1], firsts[at], parts))
    };
    for (x, column) in columns.iter_mut().enumerate() {
        column.finish(wide.iter().map(|wide: &[Vec<(usize, u64)>; 5]| wide[x].clone()));
    }
    let [t, c, k, q, r] = columns;
    let rank = Rank::new(t.len(), |range| t.nonzeros(range));
    let before = |i: usize| if i < update.old.rows() { update.exact.triangles.get(i) } else { 0 };
    let triangles = Column::gather(new.rows(), |i| before(i).wrapping_add(update.triangles[i].load(Relaxed)));
    let d = Column::gather(new.rows(), |i| new.range(i).len() as u64);
    Exact { t, c, rank, k, q, r, d, triangles, s }
}

/// Puts what edges from some nodes to later ones have at both of their slots, and counts at both ends those in triangles. Returns
/// the sizes of t, C, K, Q and R.
fn settle(update: &Update<'_>, nodes: Range<usize>, inside: &[AtomicU64]) -> [Sizes; 5] {
    let mut sizes = [Sizes::default(); 5];
    for i in nodes {
        let upper = update.new.row(i).partition_point(|&j| (j as usize) < i);
        let mut old = Before::new(update, i);
        let row = update.new.row(i);
        let slots = update.new.range(i);
        for (slot, &j) in slots.clone().zip(row).skip(upper) {
            if slot + AHEAD < slots.end {
                let ahead = update.back[slot + AHEAD] as usize;
                prefetch(&update.gains[ahead..=ahead]);
            }
            let shares = [slot, update.back[slot] as usize].map(|slot| {
                let Gain { t, c, k, q, r } = &update.gains[slot];
                [t, c, k, q, r]
            });
            let before = old.at(j);
            let gain = |x: usize| shares[0][x].load(Relaxed).wrapping_add(shares[1][x].load(Relaxed));
            let mut now: [u64; 5] = std::array::from_fn(|x| before[x].wrapping_add(gain(x)));
            if old.found {
                now[1] = now[1].wrapping_sub(growth(update, i)).wrapping_sub(growth(update, j as usize));
            }
            shares.iter().for_each(|share| share.iter().zip(now).for_each(|(sum, now)| sum.store(now, Relaxed)));
            let kept = if now[0] > 0 { 5 } else { 2 };
            sizes.iter_mut().zip(now).take(kept).for_each(|(sizes, now)| sizes.add(now, 2));
            if now[0] > 0 {
                inside[i].fetch_add(1, Relaxed);
                inside[j as usize].fetch_add(1, Relaxed);
            }
        }
    }
    sizes
}

/// By how much a degree grows, modulo 2⁶⁴.
fn growth(update: &Update<'_>, i: usize) -> u64 {
    (update.new.range(i).len() as u64).wrapping_sub(range(update.old, i).len() as u64)
}

/// The numbers of the upper part of a row before the changes.
struct Before<'a> {
    update: &'a Update<'a>,
    rest: &'a [u32],
    slot: usize,
    /// Place of the next edge in a triangle.
    next: usize,
    /// Whether the edge asked for last was there.
    found: bool,
}

impl<'a> Before<'a> {
    fn new(update: &'a Update<'a>, i: usize) -> Before<'a> {
        let (row, slots) = (row(update.old, i as u32), range(update.old, i));
        let upper = row.partition_point(|&j| (j as usize) < i);
        let slot = slots.start + upper;
        let exact = update.exact;
        let next = exact.rank.below(slot, |range| exact.t.nonzeros(range));
        Before { update, rest: &row[upper..], slot, next, found: false }
    }

    /// t, C, K, Q and R of the edge to `j`; zero where there was none. Asked for in ascending order.
    #[inline]
    fn at(&mut self, j: u32) -> [u64; 5] {
        let exact = self.update.exact;
        while let Some((&first, rest)) = self.rest.split_first() {
            if first > j {
                break;
            }
            let (slot, t) = (self.slot, exact.t.get(self.slot));
            let next = self.next;
            self.rest = rest;
            self.slot += 1;
            self.next += usize::from(t > 0);
            if first == j {
                self.found = true;
                let [k, q, r] = if t > 0 { [&exact.k, &exact.q, &exact.r].map(|x| x.get(next)) } else { [0; 3] };
                return [t, exact.c.get(slot), k, q, r];
            }
        }
        self.found = false;
        [0; 5]
    }
}

/// Writes the numbers of some slots; `next` is the place of the first in a triangle.
fn fill(update: &Update<'_>, slots: Range<usize>, mut next: usize, mut parts: [Part<'_>; 5]) -> [Vec<(usize, u64)>; 5] {
    for slot in slots {
        let Gain { t, c, k, q, r } = &update.gains[slot];
        let inside = t.load(Relaxed);
        parts[0].set(slot, inside);
        parts[1].set(slot, c.load(Relaxed));
        if inside > 0 {
            for (part, value) in parts[2..].iter_mut().zip([k, q, r]) {
                part.set(next, value.load(Relaxed));
            }
            next += 1;
        }
    }
    parts.map(|part| part.wide)
}
