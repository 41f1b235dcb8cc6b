//! Exact search: every pair is compared.
//!
//! One query is a pass over the rows. All rows are compared tile by tile through matrix products of fixed shape. Both
//! select a few more than requested in single precision, and sort these by similarities computed in double precision, so that
//! rounding decides only between rows whose similarities agree to about seven digits. Cost: N D multiplications per
//! query; N² D for all rows, at the speed of a matrix product.

use std::ops::Range;

use hone::parallel;
use hone::{Progress, Result};

use crate::neighbours::{self, Neighbour, Neighbours};
use crate::space::{Query, Space, dot};
use crate::top::Top;

/// How many more than requested are selected in single precision.
const MARGIN: usize = 16;
/// Rows that one task looks at for one query.
const CHUNK: usize = 1 << 13;
/// Rows whose neighbours one task finds.
const QUERIES: usize = 128;
/// Rows compared with them at a time.
const TILE: usize = 1024;

impl Space {
    /// The `top` rows most similar to a query, those of `without` left out.
    pub fn nearest(&self, query: &Query, without: &[u32], top: usize) -> Vec<Neighbour> {
        let room = top.min(self.len()).saturating_add(MARGIN);
        let chunk = |range: Range<usize>| {
            let mut best = Top::new(room);
            for j in range {
                let score = dot(&query.vector, self.vectors().row(j)) - self.halves()[j];
                if score > best.bar() && !without.contains(&(j as u32)) {
                    best.offer((score, j as u32));
                }
            }
            best
        };
        let mut best = Top::new(room);
        for part in parallel::stretches(self.len(), CHUNK, chunk) {
            part.items().iter().for_each(|&item| best.offer(item));
        }
        let rows = best.items().iter().map(|item| item.1);
        neighbours::best(rows.map(|j| (j, self.similarity_to(query, j))), top)
    }

    /// The `k` most similar rows of each of `rows`.
    pub(crate) fn nearest_of(&self, rows: Range<usize>, k: usize) -> Vec<Vec<Neighbour>> {
        let n = self.len();
        let mut best = vec![Top::new(k + MARGIN); rows.len()];
        let mut scores = vec![0f32; rows.len() * TILE];
        for start in (0..n).step_by(TILE) {
            let others = start..n.min(start + TILE);
            let scores = &mut scores[..rows.len() * others.len()];
            self.vectors()
                .dots(rows.clone(), self.vectors(), others.clone(), scores);
            for ((i, best), scores) in rows
                .clone()
                .zip(&mut best)
                .zip(scores.chunks_exact(others.len()))
            {
                let mut bar = best.bar();
                for ((j, score), half) in others
                    .clone()
                    .zip(scores)
                    .zip(&self.halves()[others.clone()])
                {
                    let score = score - half;
                    if score > bar && j != i {
                        best.offer((score, j as u32));
                        bar = best.bar();
                    }
                }
            }
        }
        let own = |(i, best): (usize, &Top)| {
            let rows = best.items().iter().map(|item| item.1);
            neighbours::best(rows.map(|j| (j, self.similarity(i as u32, j))), k)
        };
        rows.zip(&best).map(own).collect()
    }
}

/// The `k` most similar rows of every row.
pub(crate) fn all(space: &Space, k: usize, progress: &dyn Progress) -> Result<Neighbours> {
    let n = space.len();
    let k = k.min(n.saturating_sub(1));
    progress.stage("comparing all nodes", n as u64);
    let tile = |rows: Range<usize>| {
        progress.check()?;
        let found = space.nearest_of(rows.clone(), k);
        progress.advance(rows.len() as u64);
        Ok(found)
    };
    let found = parallel::stretches(n, QUERIES, tile);
    let found: Vec<Vec<Vec<Neighbour>>> = found.into_iter().collect::<Result<_>>()?;
    let found = || found.iter().flatten().flatten();
    let rows = found().map(|neighbour| neighbour.row).collect();
    Ok(Neighbours::new(
        k,
        rows,
        found().map(|neighbour| neighbour.similarity).collect(),
    ))
}
