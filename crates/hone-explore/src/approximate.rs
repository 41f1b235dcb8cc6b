//! Approximate neighbours of all rows: leaves of random trees, then neighbours of neighbours.
//!
//! Rows that share a leaf in one of a few random trees are compared exactly. What is missed then is mostly a neighbour of
//! a neighbour: rounds of comparing those, in both directions, stop when hardly anything changes. A round reads the lists of
//! the round before and writes new ones, so the result is the same for any number of threads.
//! Cost: O(T N (D log N + D · leaf)) for T trees and O(N k² D) per round; memory of N k entries, twice.
//! Reference: Dong, Moses and Li, *Efficient k-nearest neighbor graph construction*, 2011.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use hone::dense::Block;
use hone::parallel;
use hone::random::Key;
use hone::{Progress, Result};
use rand_xoshiro::rand_core::Rng;

use crate::search::{Neighbour, Neighbours, Scored, Top, before, best_of};
use crate::space::{Space, dot};

const TREES: u64 = 8;
const ROUNDS: usize = 6;
/// A round that changes fewer entries than one in this many is the last.
const SETTLED: usize = 200;
/// Neighbours kept beyond those requested, and the minimum number kept: paths to those still missing.
const SPARE: usize = 5;
const FEWEST: usize = 16;
/// An entry of a list: its score, its row, and whether it is new since the round before.
#[derive(Debug, Clone, Copy)]
struct Entry {
    scored: Scored,
    new: bool,
}

/// An entry that is not filled.
const NONE: Entry = Entry {
    scored: (f32::NEG_INFINITY, u32::MAX),
    new: true,
};

/// The approximate `k` most similar rows of every row.
pub(crate) fn all(
    space: &Space,
    k: usize,
    seed: u64,
    progress: &dyn Progress,
) -> Result<Neighbours> {
    let n = space.len();
    let k = k.min(n.saturating_sub(1));
    let width = (k + SPARE).max(FEWEST).min(n.saturating_sub(1));
    let mut lists = vec![NONE; n * width];
    if width > 0 {
        plant(space, width, seed, &mut lists, progress)?;
        refine(space, width, &mut lists, progress)?;
    }
    let mut found = vec![Neighbour::default(); n * k];
    parallel::for_rows(&mut found, k, |i, to| {
        // By similarities in double precision. Leaves hold more rows than a list, so it is full.
        let rows = lists[i * width..][..width]
            .iter()
            .map(|entry| entry.scored.1);
        let rated = rows.map(|j| (j, space.similarity(i as u32, j)));
        to.copy_from_slice(&best_of(rated, k));
    });
    Ok(Neighbours::new(k, found))
}

/// Fills the lists from the leaves of the trees.
fn plant(
    space: &Space,
    width: usize,
    seed: u64,
    lists: &mut [Entry],
    progress: &dyn Progress,
) -> Result<()> {
    let n = space.len();
    progress.stage("searching by random trees", TREES * n as u64);
    for index in 0..TREES {
        progress.check()?;
        let order = tree(space, Key::new(seed).with("forest", index));
        let found: Vec<Vec<Top>> =
            parallel::map_each(leaves(n), |_, leaf| compare(space, &order[leaf], width));
        let mut place = vec![0u32; n];
        order
            .iter()
            .zip(0..)
            .for_each(|(&row, at)| place[row as usize] = at);
        let found: Vec<&Top> = found.iter().flatten().collect();
        parallel::for_rows(lists, width, |i, list| {
            for &item in &found[place[i] as usize].items {
                insert(list, item);
            }
        });
        progress.advance(n as u64);
    }
    Ok(())
}

/// The best of each row of a leaf within it.
fn compare(space: &Space, leaf: &[u32], width: usize) -> Vec<Top> {
    let mut block = Block::zeros(leaf.len(), space.vectors().cols());
    leaf.iter().enumerate().for_each(|(at, &row)| {
        block
            .row_mut(at)
            .copy_from_slice(space.vectors().row(row as usize));
    });
    let mut scores = vec![0f32; leaf.len() * leaf.len()];
    block.dots(0..leaf.len(), &block, 0..leaf.len(), &mut scores);
    let half = |row: u32| space.halves()[row as usize];
    let of = |(at, scores): (usize, &[f32])| {
        let mut best = Top::new(width);
        for (other, (&row, score)) in leaf.iter().zip(scores).enumerate() {
            if other != at {
                best.offer((score - half(leaf[at]) - half(row), row));
            }
        }
        best
    };
    scores
        .chunks_exact(leaf.len())
        .enumerate()
        .map(of)
        .collect()
}

/// Inserts an item unless the list has its row, or only better ones.
fn insert(list: &mut [Entry], item: Scored) -> bool {
    let Some(worst) = list.last() else {
        return false;
    };
    if !before(item, worst.scored) || list.iter().any(|entry| entry.scored.1 == item.1) {
        return false;
    }
    let at = list.partition_point(|entry| before(entry.scored, item));
    list[at..].rotate_right(1);
    list[at] = Entry {
        scored: item,
        new: true,
    };
    true
}

/// Compares neighbours of neighbours until hardly anything changes.
fn refine(
    space: &Space,
    width: usize,
    lists: &mut Vec<Entry>,
    progress: &dyn Progress,
) -> Result<()> {
    let n = space.len();
    progress.stage("comparing neighbours of neighbours", (ROUNDS * n) as u64);
    for _ in 0..ROUNDS {
        let (old, back) = (&*lists, reversed(lists, width));
        let mut next = old.clone();
        let changed = AtomicUsize::new(0);
        parallel::for_rows(&mut next, width, |i, list| {
            if i % 4096 == 0 && progress.check().is_err() {
                return;
            }
            progress.advance(1);
            list.iter_mut().for_each(|entry| entry.new = false);
            changed.fetch_add(
                visit(space, i as u32, width, old, &back, list),
                Ordering::Relaxed,
            );
        });
        progress.check()?;
        *lists = next;
        if changed.into_inner() <= lists.len() / SETTLED {
            break;
        }
    }
    Ok(())
}

/// Offers a row the neighbours of its neighbours, where one of the two steps is new; returns how many stay.
fn visit(
    space: &Space,
    i: u32,
    width: usize,
    old: &[Entry],
    back: &Reversed,
    list: &mut [Entry],
) -> usize {
    let reached = |row: u32| old[row as usize * width..][..width].iter();
    let own = reached(i).map(|entry| (entry.scored.1, entry.new));
    let mut candidates = Vec::with_capacity((width + back.of(i).len()) * width);
    for (via, new) in own.chain(back.of(i).iter().copied()) {
        if via != u32::MAX {
            let fresh = reached(via).filter(|entry| new || entry.new);
            candidates.extend(fresh.map(|entry| entry.scored.1));
        }
    }
    // Those that point here need not be pointed at.
    let pointing = back.of(i).iter().filter(|(_, new)| *new);
    candidates.extend(pointing.map(|(row, _)| *row));
    candidates.retain(|&row| row != i && row != u32::MAX);
    candidates.sort_unstable();
    candidates.dedup();
    let mut stays = |row: &u32| insert(list, (space.score(i, *row), *row));
    candidates.iter().filter(|row| stays(row)).count()
}

/// For every row the first few that list it, and whether their entry is new.
struct Reversed {
    width: usize,
    counts: Vec<u8>,
    entries: Vec<(u32, bool)>,
}

impl Reversed {
    fn of(&self, i: u32) -> &[(u32, bool)] {
        let i = i as usize;
        &self.entries[i * self.width..][..self.counts[i] as usize]
    }
}

/// Reversed lists, new entries first, then in row order.
fn reversed(lists: &[Entry], width: usize) -> Reversed {
    let n = lists.len() / width;
    let room = width.min(255);
    let mut back = Reversed {
        width: room,
        counts: vec![0; n],
        entries: vec![(0, false); n * room],
    };
    for wanted in [true, false] {
        for (i, list) in lists.chunks_exact(width).enumerate() {
            for entry in list
                .iter()
                .filter(|entry| entry.new == wanted && entry.scored.1 != u32::MAX)
            {
                let target = entry.scored.1 as usize;
                let count = back.counts[target] as usize;
                if count < room {
                    back.entries[target * room + count] = (i as u32, wanted);
                    back.counts[target] += 1;
                }
            }
        }
    }
    back
}

/// Most rows of a leaf.
const LEAF: usize = 96;

/// All rows in the order of the leaves of a tree; leaves are found by [`leaves`].
fn tree(space: &Space, key: Key) -> Vec<u32> {
    let mut rows: Vec<u32> = (0..space.len() as u32).collect();
    split(space, &mut rows, key);
    rows
}

/// The ranges of the leaves among `n` rows: the halves that [`tree`] made.
fn leaves(n: usize) -> Vec<Range<usize>> {
    fn halve(range: Range<usize>, leaves: &mut Vec<Range<usize>>) {
        if range.len() <= LEAF {
            return leaves.push(range);
        }
        let middle = range.start + range.len() / 2;
        halve(range.start..middle, leaves);
        halve(middle..range.end, leaves);
    }
    let mut all = Vec::new();
    halve(0..n, &mut all);
    all
}

fn split(space: &Space, rows: &mut [u32], key: Key) {
    if rows.len() <= LEAF {
        return;
    }
    let normal = direction(space, rows, key);
    let project = |at: usize| {
        (
            dot(&normal, space.vectors().row(rows[at] as usize)),
            rows[at],
        )
    };
    let mut projected: Vec<(f32, u32)> = parallel::collect(rows.len(), project);
    let middle = rows.len() / 2;
    projected.select_nth_unstable_by(middle, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    rows.iter_mut()
        .zip(projected)
        .for_each(|(to, (_, row))| *to = row);
    let (left, right) = rows.split_at_mut(middle);
    rayon::join(
        || split(space, left, key.with("left", 0)),
        || split(space, right, key.with("right", 0)),
    );
}

/// The difference of two of the rows; of equal ones it is zero, and the row numbers decide.
fn direction(space: &Space, rows: &[u32], key: Key) -> Vec<f32> {
    let mut rng = key.rng();
    let mut draw = || rows[(rng.next_u64() % rows.len() as u64) as usize] as usize;
    let (a, b) = (space.vectors().row(draw()), space.vectors().row(draw()));
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}
