//! ΔAA′ and its transpose on the edges of the changed graph, and C of added edges.
//!
//! For a changed edge {x, u} the row x of ΔAA′ has at y, a neighbour of x afterwards, the number of nodes w that were
//! neighbours of u and are neighbours of y; the row u has at w those y that were neighbours of x. Both come from the walks
//! x–y–w to marked neighbours of u. Of the ends, x is the one with the fewer walks. Where y is a hub and u is
//! smaller, the neighbours of u are looked up in the row of y instead.

use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;

use super::super::ranked::sweep;
use super::changes::{Change, common, row, sign};
use super::hubs::{Hubs, Marks};
use super::{Update, add};
use crate::error::Result;
use crate::progress::Progress;

struct Scratch {
    /// Old neighbours of u.
    marks: Marks,
    /// For each of them how many walks over small nodes end there; zero between changes.
    ends: Vec<u64>,
    /// The same over hubs, by the place of the neighbour in the row of u.
    from_hubs: Vec<u64>,
}

pub(super) fn add_all(update: &Update<'_>, progress: &dyn Progress) -> Result<()> {
    let changes = &update.changes;
    let hubs = Hubs::new(update.new);
    let degree = |i: u32| update.new.row(i as usize).len() as u64;
    let walks: Vec<u64> =
        changes.nodes.iter().map(|&i| update.new.row(i as usize).iter().map(|&j| degree(j)).sum()).collect();
    let walks = |i: u32| changes.place(i).map_or(0, |place| walks[place]);
    let parts = update.parts(|at| walks(changes.list[at].u).min(walks(changes.list[at].v)) + 64);
    let n = update.new.rows();
    progress.stage("cycles", changes.list.len() as u64);
    let scratch = || Scratch { marks: Marks::new(n), ends: vec![0; n], from_hubs: Vec::new() };
    let of =
        |change: Change| if walks(change.u) <= walks(change.v) { (change.u, change.v) } else { (change.v, change.u) };
    let born = Mutex::new(Vec::new());
    sweep(parts, progress, scratch, |range, (), scratch| {
        for &change in &changes.list[range] {
            let (x, u) = of(change);
            let walks = walk(update, &hubs, (x, u, change.sign()), scratch);
            if change.added {
                let cycles = cycles_of(update, (x, u), walks);
                born.lock().expect("no thread panics with the lock").push((x, u, cycles));
            }
        }
    })?;
    // Only now: what others add to an edge that was not there means nothing.
    for (x, u, cycles) in born.into_inner().expect("no thread panics with the lock") {
        let [share, other] = update.gains_between(x, u).expect("an added edge");
        share.c.store(cycles, Relaxed);
        other.c.store(0, Relaxed);
    }
    Ok(())
}

/// C of an added edge: walks x–y–w to neighbours w of u other than x, over neighbours y of x other than u; `walks` are those
/// to old neighbours of u.
fn cycles_of(update: &Update<'_>, (x, u): (u32, u32), walks: u64) -> u64 {
    let from_x = update.new.row(x as usize);
    let change = |&(v, added): &(u32, bool)| {
        let shared = common(update.new.row(v as usize), from_x) - u64::from(added);
        sign(added).wrapping_mul(shared)
    };
    let changed = update.changes.of_node(u).iter().map(change).fold(0, u64::wrapping_add);
    walks.wrapping_add(changed).wrapping_sub(from_x.len() as u64 - 1)
}

/// Adds what a change gives to the rows of both ends; returns the walks x–y–w to old neighbours w of u, over neighbours y of
/// x other than u.
fn walk(update: &Update<'_>, hubs: &Hubs, (x, u, sign): (u32, u32, u64), scratch: &mut Scratch) -> u64 {
    let around = row(update.old, u);
    scratch.marks.set(around);
    scratch.from_hubs.clear();
    scratch.from_hubs.resize(around.len(), 0);
    let mut all = 0;
    for (at, &y) in update.new.row(x as usize).iter().enumerate() {
        let added = update.changes.find(x, y) == Some(true);
        let met = meet(update, hubs, (y, around, u64::from(!added)), scratch);
        add(&update.gain(x, at).c, sign.wrapping_mul(met));
        all += if y == u { 0 } else { met };
    }
    let removed = update.changes.of_node(x).iter().filter(|end| !end.1);
    removed.for_each(|&(y, _)| _ = meet(update, hubs, (y, around, 1), scratch));
    scratch.marks.clear(around);
    for (at, &w) in around.iter().enumerate() {
        let walks = std::mem::take(&mut scratch.ends[w as usize]) + scratch.from_hubs[at];
        if let Some(at) = update.changes.moved(u, at, w).filter(|_| walks > 0) {
            add(&update.gain(u, at).c, sign.wrapping_mul(walks));
        }
    }
    all
}

/// How many neighbours of y are in the marked row `around`, each of which gains `weight`.
#[inline(always)]
fn meet(update: &Update<'_>, hubs: &Hubs, (y, around, weight): (u32, &[u32], u64), scratch: &mut Scratch) -> u64 {
    let Scratch { marks, ends, from_hubs } = scratch;
    let row = update.new.row(y as usize);
    let mut count = 0;
    if around.len() < row.len()
        && let Some(hub) = hubs.row(y)
    {
        for (&w, sum) in around.iter().zip(from_hubs) {
            let met = u64::from(hub.has(w));
            *sum += met * weight;
            count += met;
        }
        return count;
    }
    for &w in row {
        if marks.has(w) {
            ends[w as usize] += weight;
            count += 1;
        }
    }
    count
}
