//! Random trees over the rows of a [`Space`]: similar rows tend to end in the same leaf.
//!
//! A set of rows is cut in two halves of equal size by their projection on the difference of two of them, chosen at
//! random, until a leaf is small. Cutting at the median keeps the depth at log₂(N / leaf) whatever the data, equal rows
//! included. Random numbers are named by tree and position, so the forest is the same for any number of threads.
//! Cost: O(N D log N) per tree. Reference: Dasgupta and Freund, *Random projection trees*, 2008.

use std::ops::Range;

use hone::parallel;
use hone::random::Key;
use rand_xoshiro::rand_core::Rng;

use crate::space::{Space, dot};

/// Most rows of a leaf.
pub(crate) const LEAF: usize = 96;

/// All rows in the order of the leaves of a tree; leaves are found by [`leaves`].
pub(crate) fn tree(space: &Space, key: Key) -> Vec<u32> {
    let mut rows: Vec<u32> = (0..space.len() as u32).collect();
    split(space, &mut rows, key);
    rows
}

/// The ranges of the leaves among `n` rows: the halves that [`tree`] made.
pub(crate) fn leaves(n: usize) -> Vec<Range<usize>> {
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
