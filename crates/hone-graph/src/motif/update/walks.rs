//! Walks from changed edges: what C gains, and Q by grown degrees.
//!
//! [`add_cycles`] finds ΔAA′ and its transpose, [`Middle`] what goes through changed edges in the middle: A′ΔA′ − ΔAΔ, and
//! Σ δ_w over the triangles of each edge.

use std::num::Wrapping;
use std::sync::Mutex;

use super::changes::{Change, common, for_common, sign};
use super::{Gains, Update};
use crate::error::Result;
use crate::motif::column::Column;
use crate::motif::formula::Whole;
use crate::motif::ranked::{Marks, balanced, ranges, sweep};
use crate::parallel::{self, cut};
use crate::progress::Progress;
use crate::sparse::{Pattern, prefetch};

/// Nodes from the current one to those whose place among lists, and whose list, is prefetched.
const STARTS_AHEAD: usize = 24;
const LISTS_AHEAD: usize = 12;

/// Neighbours from the current one to the one whose row is prefetched, and how much of it.
const ROWS_AHEAD: usize = 8;
const ENTRIES: usize = 32;
/// Steps along a row that take as long as the first one of a row, and as looking up the hubs next to a node.
const PER_ROW: u64 = 8;
const PER_LIST: u64 = 16;
/// A row so many times as long as another is searched for it, not walked.
const LONGER: usize = 16;

struct Scratch {
    /// Old neighbours of u: all, and the hubs among them as bits.
    marks: Marks,
    hubs_of_u: Vec<u64>,
    /// Hubs that are neighbours of x before and after: how many small neighbours of u each has, one more; else 0.
    hubs_of_x: Vec<u32>,
    /// For each old neighbour of u how many walks over small nodes end there; zero between changes.
    ends: Vec<u32>,
    /// The same over hubs: by the place of the neighbour in the row of u where it is small, else by its number.
    from_hubs: Vec<u32>,
    between_hubs: Vec<u32>,
    /// For each neighbour of x how many walks lead over it.
    met: Vec<u64>,
}

/// Steps to the neighbours of a node of D.
#[derive(Clone, Copy, Default)]
struct Steps {
    degree: u64,
    /// Of all rows of neighbours; of those of small ones, with bits of hubs; of the lists of hubs next to small ones.
    all: u64,
    small: u64,
    hubs: u64,
}

/// How the walks of a change are found: from x to the neighbours of u, and whether rows of hubs are walked.
#[derive(Clone, Copy)]
struct Way {
    x: u32,
    u: u32,
    whole: bool,
    cost: u64,
}

/// Adds ΔAA′ and its transpose on the edges of the changed graph, and C of added edges.
///
/// For a changed edge {x, u} the row x of ΔAA′ has at y, a neighbour of x afterwards, the number of nodes w that were
/// neighbours of u and are neighbours of y; the row u has at w those y that were neighbours of x. Both count edges {y, w}
/// between the two neighbourhoods. Where x has few neighbours, their rows are walked over marks on the neighbours of u.
/// If there are many hubs among them, whose long rows mostly lead to irrelevant leaves, edges are found by their
/// smaller end: rows of y are walked where y is small; where w is small and y a hub, the hubs next to w are looked up
/// among those next to x; and between two hubs there are rows of bits. Of both methods, and both ends of the change as
/// x, the cheapest is used; a row that is not in a cache costs as much as some steps along one.
pub(super) fn add_cycles(
    update: &Update<'_>,
    gains: &Gains<'_>,
    progress: &dyn Progress,
) -> Result<()> {
    let (changes, n) = (&update.changes, update.new.rows());
    progress.stage("counting cycles", changes.list.len() as u64);
    let hubs = Hubs::new(update.new);
    let steps: Vec<Steps> = parallel::map(changes.nodes.len(), |at| {
        steps(update, &hubs, changes.nodes[at])
    });
    let of = |i: u32| changes.place(i).map(|at| steps[at]).unwrap_or_default();
    let ways: Vec<Way> = changes.list.iter().map(|change| way(change, of)).collect();
    let parts = update.parts(|at| ways[at].cost + 64);
    let scratch = || Scratch {
        marks: Marks::new(n),
        hubs_of_u: vec![0; hubs.words],
        hubs_of_x: vec![0; 64 * hubs.words],
        ends: vec![0; n],
        from_hubs: Vec::new(),
        between_hubs: vec![0; 64 * hubs.words],
        met: Vec::new(),
    };
    let born = Mutex::new(Vec::new());
    sweep(parts, progress, scratch, |range, (), scratch| {
        for (change, &way) in changes.list[range.clone()].iter().zip(&ways[range]) {
            let walks = walk(update, &hubs, way, scratch);
            scratch.add(update, gains, (way, change.sign()));
            if change.added {
                let cycles = cycles_of(update, (way.x, way.u), walks);
                born.lock()
                    .expect("no thread panics with the lock")
                    .push((way.x, way.u, cycles));
            }
        }
    })?;
    // Only now: contributions of others to an edge that did not exist are meaningless.
    for (x, u, cycles) in born.into_inner().expect("no thread panics with the lock") {
        for (i, j, value) in [(x, u, cycles), (u, x, Wrapping(0))] {
            let at = update.find(i, j).expect("an added edge");
            gains.c.row(i, |row| row[at] = value);
        }
    }
    Ok(())
}

/// The cheapest method.
fn way(change: &Change, of: impl Fn(u32) -> Steps) -> Way {
    let (u, v) = (change.u, change.v);
    let ways = [(u, v, true), (u, v, false), (v, u, true), (v, u, false)];
    let ways = ways.map(|(x, u, whole)| {
        let (from, to) = (of(x), of(u));
        let steps = if whole {
            from.all
        } else {
            from.small + to.hubs + PER_LIST * to.degree
        };
        Way {
            x,
            u,
            whole,
            cost: steps + PER_ROW * from.degree + to.degree,
        }
    });
    ways.into_iter()
        .min_by_key(|way| way.cost)
        .expect("four ways")
}

fn steps(update: &Update<'_>, hubs: &Hubs, i: u32) -> Steps {
    let row = update.row(i);
    let mut steps = Steps {
        degree: row.len() as u64,
        ..Steps::default()
    };
    for &j in row {
        let degree = update.new.range(j as usize).len() as u64;
        steps.all += degree;
        if hubs.number(j).is_some() {
            steps.small += hubs.words as u64;
        } else {
            steps.small += degree;
            steps.hubs += hubs.near.of(j).len() as u64;
        }
    }
    steps
}

/// C of an added edge: walks x–y–w to neighbours w of u other than x, over neighbours y of x other than u; `walks` are those
/// to old neighbours of u.
fn cycles_of(update: &Update<'_>, (x, u): (u32, u32), walks: u64) -> Whole {
    let from_x = update.row(x);
    let change = |&(v, added): &(u32, bool)| {
        let shared = common(update.row(v), from_x) - u64::from(added);
        sign(added) * Wrapping(shared)
    };
    let changed = update.changes.of_node(u).iter().map(change).sum::<Whole>();
    Wrapping(walks) + changed - Wrapping(from_x.len() as u64 - 1)
}

/// Finds what a change gives to the rows of both ends; returns the walks x–y–w to old neighbours w of u, over neighbours y of
/// x other than u.
fn walk(
    update: &Update<'_>,
    hubs: &Hubs,
    Way { x, u, whole, .. }: Way,
    scratch: &mut Scratch,
) -> u64 {
    let (around, from_x) = (update.old_row(u), update.row(x));
    scratch.marks.set(around);
    scratch.met.clear();
    if !whole {
        scratch.mark_hubs(update, hubs, x, around);
        scratch.look_up(hubs, around);
    }
    let mut all = scratch.changed(update, (x, u), around);
    let mut own = update
        .changes
        .of_node(x)
        .iter()
        .filter(|end| end.1)
        .map(|end| end.0)
        .peekable();
    for (at, &y) in from_x.iter().enumerate() {
        if let Some(&ahead) = from_x.get(at + ROWS_AHEAD) {
            let row = update.row(ahead);
            prefetch(&row[..row.len().min(ENTRIES)]);
        }
        // Edges that are new to x have been met.
        let met = if own.next_if_eq(&y).is_some() {
            0
        } else {
            match hubs.number(y).filter(|_| !whole) {
                Some(number) => scratch.meet_hub(hubs, number),
                None => scratch.meet(update.row(y), around),
            }
        };
        scratch.met.push(met);
        all += met;
    }
    scratch.marks.clear(around);
    scratch.finish(hubs, around, whole);
    all
}

impl Scratch {
    /// Marks the hubs among old neighbours of u, and those that are neighbours of x before and after.
    fn mark_hubs(&mut self, update: &Update<'_>, hubs: &Hubs, x: u32, around: &[u32]) {
        for number in around.iter().filter_map(|&w| hubs.number(w)) {
            self.hubs_of_u[number / 64] |= 1 << (number % 64);
        }
        let near = update.row(x).iter().filter_map(|&y| hubs.number(y));
        near.for_each(|number| self.hubs_of_x[number] = 1);
        let changed = update
            .changes
            .of_node(x)
            .iter()
            .filter_map(|&(y, _)| hubs.number(y));
        changed.for_each(|number| self.hubs_of_x[number] = 0);
    }

    /// Walks over hubs to small neighbours of u.
    fn look_up(&mut self, hubs: &Hubs, around: &[u32]) {
        self.from_hubs.clear();
        for (at, &w) in around.iter().enumerate() {
            hubs.near.ask(around, at);
            let mut walks = 0;
            for &number in hubs.near.of(w) {
                let own = &mut self.hubs_of_x[number as usize];
                let met = u32::from(*own > 0);
                *own += met;
                walks += met;
            }
            self.from_hubs.push(walks);
        }
    }

    /// Walks over nodes whose edge to x changes: those over new ones other than u are returned, those over old ones end.
    fn changed(&mut self, update: &Update<'_>, (x, u): (u32, u32), around: &[u32]) -> u64 {
        let mut all = 0;
        for &(y, added) in update.changes.of_node(x) {
            let row = update.row(y);
            if !added {
                for_common(around, row, |w, _, _| self.ends[w as usize] += 1);
            } else if y != u {
                all += common(around, row);
            }
        }
        all
    }

    /// How many nodes of a row are old neighbours of u, at each of which a walk ends.
    #[inline(always)]
    fn meet(&mut self, row: &[u32], around: &[u32]) -> u64 {
        let mut count = 0;
        if row.len() > LONGER * around.len() {
            for_common(around, row, |w, _, _| {
                self.ends[w as usize] += 1;
                count += 1;
            });
            return count;
        }
        for &w in row {
            if self.marks.has(w) {
                self.ends[w as usize] += 1;
                count += 1;
            }
        }
        count
    }

    /// The same of a hub next to x.
    #[inline(always)]
    fn meet_hub(&mut self, hubs: &Hubs, number: usize) -> u64 {
        let mut count = 0;
        for ((&word, &marked), base) in hubs
            .row(number)
            .iter()
            .zip(&self.hubs_of_u)
            .zip((0..).step_by(64))
        {
            let mut both = word & marked;
            while both != 0 {
                self.between_hubs[base + both.trailing_zeros() as usize] += 1;
                count += 1;
                both &= both - 1;
            }
        }
        count + u64::from(std::mem::take(&mut self.hubs_of_x[number]) - 1)
    }

    /// Leaves in `from_hubs` all walks that end at each old neighbour of u, and zeros elsewhere.
    fn finish(&mut self, hubs: &Hubs, around: &[u32], whole: bool) {
        if whole {
            self.from_hubs.clear();
            self.from_hubs.resize(around.len(), 0);
        }
        for (&w, walks) in around.iter().zip(&mut self.from_hubs) {
            *walks += std::mem::take(&mut self.ends[w as usize]);
            if let Some(number) = hubs.number(w).filter(|_| !whole) {
                *walks += std::mem::take(&mut self.between_hubs[number]);
                self.hubs_of_u[number / 64] = 0;
            }
        }
    }

    /// Adds to the edges of x what was met, and to those of u what ends there.
    fn add(&self, update: &Update<'_>, gains: &Gains<'_>, (Way { x, u, .. }, sign): (Way, Whole)) {
        gains.c.row(x, |row| {
            row.iter_mut()
                .zip(&self.met)
                .for_each(|(c, &met)| *c += sign * Wrapping(met));
        });
        gains.c.row(u, |own| {
            let (mut ends, mut shift) = (update.changes.of_node(u).iter().peekable(), 0isize);
            for (at, (&w, &walks)) in update.old_row(u).iter().zip(&self.from_hubs).enumerate() {
                while let Some(&(_, added)) = ends.next_if(|end| end.0 < w) {
                    shift += if added { 1 } else { -1 };
                }
                // An edge that is removed has no place.
                if walks > 0 && ends.peek().is_none_or(|end| end.0 != w) {
                    let c = &mut own[at.wrapping_add_signed(shift)];
                    *c += sign * Wrapping(walks.into());
                }
            }
        });
    }
}

/// Neighbours below which a row is walked as fast as its bits are.
const LEAST: usize = 128;
/// Hubs, at most: their rows of bits take a kilobyte each.
const MOST: usize = 8192;
/// Marks nodes that are not hubs.
const NONE: u16 = u16::MAX;

/// The largest nodes by number: for hubs their adjacency to other hubs as bits, for others the list of their hubs.
struct Hubs {
    /// The number of each node that is a hub.
    number: Vec<u16>,
    /// Words of a row of bits.
    words: usize,
    bits: Vec<u64>,
    /// The hubs next to each node; hubs have an empty list.
    near: Lists<u16>,
}

impl Hubs {
    fn new(pattern: &Pattern) -> Hubs {
        let n = pattern.rows();
        let degree = |i: u32| pattern.range(i as usize).len();
        let mut nodes: Vec<u32> = (0..n as u32).filter(|&i| degree(i) >= LEAST).collect();
        nodes.sort_unstable_by_key(|&i| (std::cmp::Reverse(degree(i)), i));
        nodes.truncate(MOST);
        let mut number = vec![NONE; n];
        for (&node, at) in nodes.iter().zip(0..) {
            number[node as usize] = at;
        }
        let words = nodes.len().div_ceil(64);
        let rows = parallel::map(nodes.len(), |at| {
            let mut bits = vec![0u64; words];
            for &j in pattern.row(nodes[at] as usize) {
                let j = number[j as usize];
                if j != NONE {
                    bits[j as usize / 64] |= 1 << (j % 64);
                }
            }
            bits
        });
        let near = hubs_next_to(pattern, &number, nodes.is_empty());
        Hubs {
            number,
            words,
            bits: rows.concat(),
            near,
        }
    }

    /// The hub number of a node.
    #[inline(always)]
    fn number(&self, i: u32) -> Option<usize> {
        let number = self.number[i as usize];
        (number != NONE).then_some(number as usize)
    }

    /// Which hubs are adjacent to a hub.
    #[inline(always)]
    fn row(&self, number: usize) -> &[u64] {
        &self.bits[number * self.words..][..self.words]
    }
}

/// For every node a list of the numbers of some of its neighbours.
struct Lists<T> {
    starts: Vec<u32>,
    numbers: Vec<T>,
}

impl<T> Lists<T> {
    #[inline(always)]
    fn of(&self, i: u32) -> &[T] {
        let [start, end] = [0, 1].map(|next| self.starts[i as usize + next] as usize);
        &self.numbers[start..end]
    }

    /// Prefetches the lists of nodes that come soon.
    #[inline(always)]
    fn ask(&self, nodes: &[u32], at: usize) {
        if let Some(&i) = nodes.get(at + STARTS_AHEAD) {
            prefetch(&self.starts[i as usize..][..2]);
        }
        if let Some(&i) = nodes.get(at + LISTS_AHEAD) {
            prefetch(self.of(i).get(..1).unwrap_or_default());
        }
    }
}

/// The hubs next to each node that is not a hub.
fn hubs_next_to(pattern: &Pattern, number: &[u16], none: bool) -> Lists<u16> {
    let (mut starts, mut numbers) = (vec![0], Vec::new());
    if none {
        starts.resize(pattern.rows() + 1, 0);
        return Lists { starts, numbers };
    }
    let offsets = pattern.offsets();
    let bounds = balanced(pattern.rows(), 1 << 16, |i| {
        (offsets[i + 1] - offsets[i] + 4) as u64
    });
    let parts = parallel::map_each(ranges(&bounds).collect(), |_, rows| {
        let (mut ends, mut list) = (Vec::new(), Vec::new());
        for i in rows {
            if number[i] == NONE {
                let hubs = pattern.row(i).iter().map(|&j| number[j as usize]);
                list.extend(hubs.filter(|&hub| hub != NONE));
            }
            ends.push(list.len() as u32);
        }
        (ends, list)
    });
    for (ends, list) in parts {
        let before = numbers.len() as u32;
        starts.extend(ends.into_iter().map(|end| before + end));
        numbers.extend(list);
    }
    Lists { starts, numbers }
}

/// Neighbours in D of every node, by their number in D.
///
/// Both are sums over neighbours in D, the ends of changed edges. For each node x the vector z = Δ·(row x of A′) and the
/// growth δ of its neighbours in D are laid out over D, which is small, and added up over the neighbours in D of each
/// neighbour y: Σ_e min(|N_D(x)|, |N_D(y)|) steps. Nodes of D are numbered by degree, so that those which most steps
/// go to lie side by side in the nearest cache.
pub(super) struct Middle<'a> {
    update: &'a Update<'a>,
    /// The nodes of D, the largest first, and the number of each by its place among changes.
    nodes: Vec<u32>,
    number: Vec<u32>,
    near: Lists<u32>,
    /// By how much the degree of each node of D grows.
    growth: Vec<i64>,
}

#[derive(Clone)]
struct MiddleScratch {
    /// For each node of D, z in the upper half and δ, if it is a neighbour of x, in the lower; zero between nodes.
    sums: Vec<i64>,
    /// Places that may not be zero.
    touched: Vec<u32>,
}

impl<'a> Middle<'a> {
    pub(super) fn new(update: &'a Update<'a>) -> Middle<'a> {
        let (new, changes) = (update.new, &update.changes);
        let mut nodes = changes.nodes.clone();
        nodes.sort_unstable_by_key(|&i| (std::cmp::Reverse(new.range(i as usize).len()), i));
        let mut number = vec![0; nodes.len()];
        let place = |i: u32| changes.place(i).expect("an end of a change");
        for (&i, at) in nodes.iter().zip(0..) {
            number[place(i)] = at;
        }
        // No more than the changed graph has slots, which are numbered by 32 bits.
        let mut starts = vec![0u32; new.rows() + 1];
        for &i in nodes.iter().flat_map(|&v| new.row(v as usize)) {
            starts[i as usize + 1] += 1;
        }
        (0..new.rows()).for_each(|i| starts[i + 1] += starts[i]);
        let (mut numbers, mut next) = (vec![0; starts[new.rows()] as usize], starts.clone());
        for (&v, at) in nodes.iter().zip(0..) {
            for &i in new.row(v as usize) {
                numbers[next[i as usize] as usize] = at;
                next[i as usize] += 1;
            }
        }
        let growth = |&i: &u32| changes.growth(place(i)).0.cast_signed();
        let growth = nodes.iter().map(growth).collect();
        Middle {
            update,
            nodes,
            number,
            near: Lists { starts, numbers },
            growth,
        }
    }

    /// The number of an end of a change.
    #[inline]
    fn number(&self, i: u32) -> usize {
        self.number[self.update.changes.place(i).expect("an end of a change")] as usize
    }

    /// `sums` has one number for each slot.
    pub(super) fn add_all(
        &self,
        gains: &Gains<'_>,
        sums: &mut [u64],
        progress: &dyn Progress,
    ) -> Result<()> {
        let (n, offsets) = (self.update.new.rows(), self.update.new.offsets());
        let scratch = || MiddleScratch {
            sums: vec![0; self.growth.len()],
            touched: Vec::new(),
        };
        let bounds = balanced(n, 1 << 14, |i| {
            (self.near.of(i as u32).len() + self.update.new.range(i).len()) as u64
        });
        let slots: Vec<usize> = bounds.iter().map(|&i| offsets[i]).collect();
        let parts = ranges(&bounds).zip(cut(sums, &slots)).collect();
        progress.stage("counting between changed edges", n as u64);
        sweep(parts, progress, scratch, |range, sums, scratch| {
            let first = offsets[range.start];
            range.for_each(|x| {
                self.row(
                    x as u32,
                    &mut sums[offsets[x] - first..offsets[x + 1] - first],
                    scratch,
                );
            });
        })?;
        let parts = (0..self.growth.len())
            .map(|number| (number..number + 1, ()))
            .collect();
        sweep(parts, progress, scratch, |range, (), scratch| {
            range.for_each(|x| self.between(x, gains, scratch));
        })
    }

    /// A′ΔA′ and Σ δ on the edges from `x` to nodes with fewer neighbours in D.
    fn row(&self, x: u32, stored: &mut [u64], scratch: &mut MiddleScratch) {
        let own = self.near.of(x);
        if own.is_empty() {
            return;
        }
        let MiddleScratch { sums, touched } = scratch;
        for &at in own {
            sums[at as usize] += self.growth[at as usize];
            touched.push(at);
            for &(v, added) in self.update.changes.of_node(self.nodes[at as usize]) {
                let v = self.number(v);
                sums[v] += if added { 1 << 32 } else { -1 << 32 };
                touched.push(v as u32);
            }
        }
        let row = self.update.row(x);
        for (at, (&y, stored)) in row.iter().zip(stored).enumerate() {
            self.near.ask(row, at);
            let others = self.near.of(y);
            if !others.is_empty() && (others.len(), y) < (own.len(), x) {
                *stored = total(sums, others).cast_unsigned();
            }
        }
        touched.drain(..).for_each(|at| sums[at as usize] = 0);
    }

    /// −ΔAΔ on the edges from a node of D to later nodes of D.
    fn between(&self, number: usize, gains: &Gains<'_>, scratch: &mut MiddleScratch) {
        let changes = &self.update.changes;
        let x = self.nodes[number];
        let MiddleScratch { sums, touched } = scratch;
        for &(u, added) in changes.of_node(x) {
            let sign = if added { 1 } else { -1 };
            for &v in self.near.of(u) {
                sums[v as usize] += sign;
                touched.push(v);
            }
            // Neighbours before, not after.
            for &(v, added) in changes.of_node(u) {
                sums[self.number(v)] += if added { -sign } else { sign };
            }
        }
        let removed = changes
            .of_node(x)
            .iter()
            .flat_map(|&(u, _)| changes.of_node(u));
        touched.extend(removed.map(|&(v, _)| self.number(v) as u32));
        for &later in self
            .near
            .of(x)
            .iter()
            .filter(|&&later| later as usize > number)
        {
            let through = |&(v, added): &(u32, bool)| {
                let sum = sums[self.number(v)];
                if added { sum } else { -sum }
            };
            let other = self.nodes[later as usize];
            let sum: i64 = changes.of_node(other).iter().map(through).sum();
            if sum != 0 {
                let at = self.update.find(x, other).expect("a neighbour");
                gains.c.add(x, at, -Wrapping(sum.cast_unsigned()));
            }
        }
        touched.drain(..).for_each(|at| sums[at as usize] = 0);
    }

    /// Σ (d_w − 1) over the neighbours w of every node after the changes.
    pub(super) fn ends(&self) -> Column {
        let update = self.update;
        Column::collect(update.new.rows(), |i| {
            let known = i < update.old.rows();
            let before = Wrapping(if known { update.exact.s.get(i) } else { 0 });
            let near = self.near.of(i as u32).iter();
            let grown = near.map(|&at| Wrapping(self.growth[at as usize].cast_unsigned()));
            // Edges that come and go, at old degrees.
            let own = update.changes.of_node(i as u32).iter();
            let own =
                own.map(|&(v, added)| sign(added) * (Wrapping(update.degree(v)) - Wrapping(1)));
            (before + grown.sum::<Whole>() + own.sum::<Whole>()).0
        })
    }
}

/// The sum of some numbers; a function of its own, so that nothing else is in the registers.
#[inline(never)]
fn total(sums: &[i64], list: &[u32]) -> i64 {
    list.iter().map(|&v| sums[v as usize]).sum()
}

/// What C and Q of an edge gain, modulo 2⁶⁴, of what was stored for it: upper and lower half of a sum of pairs, both of them
/// sums over distinct changes, of which there are fewer than 2³⁰.
#[inline(always)]
pub(super) fn halves(stored: u64) -> (Whole, Whole) {
    let sum = stored.cast_signed();
    let low = i64::from(sum as i32);
    (
        Wrapping(((sum - low) >> 32).cast_unsigned()),
        Wrapping(low.cast_unsigned()),
    )
}
