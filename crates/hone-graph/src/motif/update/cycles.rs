//! ΔAA′ and its transpose on the edges of the changed graph, and C of added edges.
//!
//! For a changed edge {x, u} the row x of ΔAA′ has at y, a neighbour of x afterwards, the number of nodes w that were
//! neighbours of u and are neighbours of y; the row u has at w those y that were neighbours of x. Both count edges {y, w}
//! between the two neighbourhoods. Where x has few neighbours, their rows are walked over marks on the neighbours of u.
//! If there are many hubs among them, whose long rows mostly lead to irrelevant leaves, edges are found by their
//! smaller end: rows of y are walked where y is small; where w is small and y a hub, the hubs next to w are looked up
//! among those next to x; and between two hubs there are rows of bits. Of both methods, and both ends of the change as
//! x, the cheapest is used; a row that is not in a cache costs as much as some steps along one.

use std::sync::Mutex;

use super::super::ranked::sweep;
use super::changes::{Change, common, for_common, row, sign};
use super::gains::Gains;
use super::hubs::{Hubs, Marks};
use super::under_way::Update;
use crate::error::Result;
use crate::progress::Progress;
use crate::sparse::prefetch;

/// Neighbours from the current one to the one whose row is prefetched, and how much of it.
const AHEAD: usize = 8;
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

pub(super) fn add_all(
    update: &Update<'_>,
    gains: &Gains<'_>,
    progress: &dyn Progress,
) -> Result<()> {
    let (changes, n) = (&update.changes, update.new.rows());
    progress.stage("counting cycles", changes.list.len() as u64);
    let hubs = Hubs::new(update.new);
    let steps: Vec<Steps> = crate::parallel::map(changes.nodes.len(), |at| {
        steps(update, &hubs, changes.nodes[at])
    });
    let of = |i: u32| {
        changes
            .place(i)
            .map_or(Steps::default(), |place| steps[place])
    };
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
        for (i, j, value) in [(x, u, cycles), (u, x, 0)] {
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
    let row = update.new.row(i as usize);
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
            steps.hubs += hubs.near(j).len() as u64;
        }
    }
    steps
}

/// C of an added edge: walks x–y–w to neighbours w of u other than x, over neighbours y of x other than u; `walks` are those
/// to old neighbours of u.
fn cycles_of(update: &Update<'_>, (x, u): (u32, u32), walks: u64) -> u64 {
    let from_x = update.new.row(x as usize);
    let change = |&(v, added): &(u32, bool)| {
        let shared = common(update.new.row(v as usize), from_x) - u64::from(added);
        sign(added).wrapping_mul(shared)
    };
    let changed = update
        .changes
        .of_node(u)
        .iter()
        .map(change)
        .fold(0, u64::wrapping_add);
    walks
        .wrapping_add(changed)
        .wrapping_sub(from_x.len() as u64 - 1)
}

/// Finds what a change gives to the rows of both ends; returns the walks x–y–w to old neighbours w of u, over neighbours y of
/// x other than u.
fn walk(
    update: &Update<'_>,
    hubs: &Hubs,
    Way { x, u, whole, .. }: Way,
    scratch: &mut Scratch,
) -> u64 {
    let (around, from_x) = (row(update.old, u), update.new.row(x as usize));
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
        if let Some(&ahead) = from_x.get(at + AHEAD) {
            let row = update.new.row(ahead as usize);
            prefetch(&row[..row.len().min(ENTRIES)]);
        }
        // Edges that are new to x have been met.
        let met = if own.next_if_eq(&y).is_some() {
            0
        } else {
            match hubs.number(y).filter(|_| !whole) {
                Some(number) => scratch.meet_hub(hubs, number),
                None => scratch.meet(update.new.row(y as usize), around),
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
        let near = update
            .new
            .row(x as usize)
            .iter()
            .filter_map(|&y| hubs.number(y));
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
            hubs.ask(around, at);
            let mut walks = 0;
            for &number in hubs.near(w) {
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
            let row = update.new.row(y as usize);
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
    fn add(&self, update: &Update<'_>, gains: &Gains<'_>, (Way { x, u, .. }, sign): (Way, u64)) {
        gains.c.row(x, |row| {
            row.iter_mut()
                .zip(&self.met)
                .for_each(|(c, met)| *c = c.wrapping_add(sign.wrapping_mul(*met)));
        });
        gains.c.row(u, |own| {
            let (mut ends, mut shift) = (update.changes.of_node(u).iter().peekable(), 0isize);
            for (at, (&w, &walks)) in row(update.old, u).iter().zip(&self.from_hubs).enumerate() {
                while let Some(&(_, added)) = ends.next_if(|end| end.0 < w) {
                    shift += if added { 1 } else { -1 };
                }
                // An edge that is removed has no place.
                if walks > 0 && ends.peek().is_none_or(|end| end.0 != w) {
                    let c = &mut own[at.wrapping_add_signed(shift)];
                    *c = c.wrapping_add(sign.wrapping_mul(u64::from(walks)));
                }
            }
        });
    }
}
