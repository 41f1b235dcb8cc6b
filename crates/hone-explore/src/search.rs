//! [`Search`]: the most similar rows of a query, and of every row.
//!
//! Exactly, where that is cheap: one query is a pass over the rows, and all rows are compared tile by tile through matrix
//! products of fixed shape. Both select a few more than requested in single precision, and sort these by similarities
//! in double precision, so that rounding decides only between rows that agree to about seven digits. Cost: N D
//! multiplications per query; N² D for all rows, at the speed of a matrix product. Beyond, approximately
//! ([`approximate`]), with a recall measured on a sample.

use std::ops::Range;

use hone::parallel;
use hone::{Progress, Result};
use serde::{Deserialize, Serialize};

use crate::approximate;
use crate::space::{Query, Space, dot};

/// Up to this many rows [`Method::Auto`] compares all pairs.
pub const EXACT_LIMIT: usize = 100_000;
/// Rows whose exact neighbours the recall is measured with.
const SAMPLE: usize = 1000;
/// Similarities this close are equal in single precision.
const ROUNDING: f64 = 1e-6;

/// How many more than requested are selected in single precision.
const MARGIN: usize = 16;
/// Rows that one task looks at for one query.
const CHUNK: usize = 1 << 13;
/// Rows whose neighbours one task finds.
const QUERIES: usize = 128;
/// Rows compared with them at a time.
const TILE: usize = 1024;

/// How the neighbours of all rows are found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Method {
    /// Exact up to [`EXACT_LIMIT`] rows, else approximate.
    #[default]
    Auto,
    /// All pairs are compared.
    Exact,
    /// Random trees, then neighbours of neighbours.
    Approximate,
}

names!(Method, "search": "auto", "exact", "approximate");

/// A search for the neighbours of all rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Search {
    /// How many neighbours each row gets.
    pub top: usize,
    /// How they are found.
    pub search: Method,
    /// Seed of the random trees.
    pub seed: u64,
}

impl Default for Search {
    fn default() -> Self {
        Search {
            top: 10,
            search: Method::Auto,
            seed: 0,
        }
    }
}

impl Search {
    /// The neighbours of every row of a space.
    pub fn all(&self, space: &Space, progress: &dyn Progress) -> Result<Neighbours> {
        let exact = match self.search {
            Method::Auto => space.len() <= EXACT_LIMIT,
            method => method == Method::Exact,
        };
        if exact {
            return compare_all(space, self.top, progress);
        }
        let mut found = approximate::all(space, self.top, self.seed, progress)?;
        found.recall = Some(recall(space, &found, progress)?);
        Ok(found)
    }
}

/// The part of the true neighbours of evenly spaced rows that were found. A row as similar as the last true neighbour is
/// one too.
fn recall(space: &Space, found: &Neighbours, progress: &dyn Progress) -> Result<f64> {
    let (n, k) = (space.len(), found.k());
    if k == 0 {
        return Ok(1.0);
    }
    let count = SAMPLE.min(n);
    progress.stage("measuring the recall", count as u64);
    let row = |sample: usize| -> Result<usize> {
        progress.check()?;
        let i = sample * n / count;
        let exact = space.nearest_of(i..i + 1, k);
        let last = exact[0].last().map(|last| f64::from(last.similarity));
        let least = last.unwrap_or(f64::NEG_INFINITY) - ROUNDING;
        progress.advance(1);
        let is_true = |near: &&Neighbour| f64::from(near.similarity) >= least;
        Ok(found.row(i).iter().filter(is_true).count())
    };
    let hits = parallel::map(count, row)
        .into_iter()
        .sum::<Result<usize>>()?;
    Ok(hits as f64 / (count * k) as f64)
}

/// A row that is similar to another, or to a query.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Neighbour {
    /// Its number.
    pub row: u32,
    /// How similar it is, in the precision in which it is written.
    pub similarity: f32,
}

/// The `k` best of some rows with their similarities, the lower row first among those that are equal as they are written.
pub(crate) fn best_of(rows: impl Iterator<Item = (u32, f64)>, k: usize) -> Vec<Neighbour> {
    let neighbour = |(row, similarity): (u32, f64)| Neighbour {
        row,
        // Adding zero makes negative zeros positive.
        similarity: similarity as f32 + 0.0,
    };
    let mut found: Vec<Neighbour> = rows.map(neighbour).collect();
    found.sort_by(|a, b| {
        let by_similarity = b.similarity.total_cmp(&a.similarity);
        by_similarity.then(a.row.cmp(&b.row))
    });
    found.truncate(k);
    found
}

/// The `k` most similar rows of every row, the most similar first and the lower row first among equals.
#[derive(Debug, Clone, PartialEq)]
pub struct Neighbours {
    k: usize,
    all: Vec<Neighbour>,
    /// The share of true neighbours that an approximate search found, on a sample; none if it was exact.
    pub recall: Option<f64>,
}

impl Neighbours {
    /// Takes `k` neighbours of every row, row after row.
    ///
    /// # Panics
    /// When there are not as many of every row.
    pub fn new(k: usize, all: Vec<Neighbour>) -> Self {
        assert!(
            k == 0 || all.len().is_multiple_of(k),
            "{k} neighbours per row"
        );
        let recall = None;
        Neighbours { k, all, recall }
    }

    /// How many each row has: as many as were requested, or all others where there are fewer.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Number of rows; 0 where nobody has a neighbour.
    pub fn len(&self) -> usize {
        self.all.len().checked_div(self.k).unwrap_or(0)
    }

    /// Whether nobody has a neighbour.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The neighbours of row `i`; none if nobody has one.
    pub fn row(&self, i: usize) -> &[Neighbour] {
        &self.all[i * self.k..(i + 1) * self.k]
    }
}

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
        let parts = parallel::stretches(self.len(), CHUNK, chunk).into_iter();
        let mut best = Top::new(room);
        parts
            .flat_map(|part| part.items)
            .for_each(|item| best.offer(item));
        let rows = best.items.iter().map(|item| item.1);
        best_of(rows.map(|j| (j, self.similarity_to(query, j))), top)
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
            let each = rows.clone().zip(&mut best);
            for ((i, best), scores) in each.zip(scores.chunks_exact(others.len())) {
                let mut bar = best.bar();
                let halves = &self.halves()[others.clone()];
                for ((j, score), half) in others.clone().zip(scores).zip(halves) {
                    let score = score - half;
                    if score > bar && j != i {
                        best.offer((score, j as u32));
                        bar = best.bar();
                    }
                }
            }
        }
        let own = |(i, best): (usize, &Top)| {
            let rows = best.items.iter().map(|item| item.1);
            best_of(rows.map(|j| (j, self.similarity(i as u32, j))), k)
        };
        rows.zip(&best).map(own).collect()
    }
}

/// The `k` most similar rows of every row.
fn compare_all(space: &Space, k: usize, progress: &dyn Progress) -> Result<Neighbours> {
    let n = space.len();
    let k = k.min(n.saturating_sub(1));
    progress.stage("comparing all nodes", n as u64);
    let tile = |rows: Range<usize>| {
        progress.check()?;
        let found = space.nearest_of(rows.clone(), k);
        progress.advance(rows.len() as u64);
        Ok(found.concat())
    };
    let found = parallel::stretches(n, QUERIES, tile);
    let found: Vec<Vec<Neighbour>> = found.into_iter().collect::<Result<_>>()?;
    Ok(Neighbours::new(k, found.concat()))
}

/// A score and the row that has it.
pub(crate) type Scored = (f32, u32);

/// Whether `a` comes before `b`: a higher score, or the same and a lower row.
pub(crate) fn before(a: Scored, b: Scored) -> bool {
    a.0 > b.0 || (a.0 == b.0 && a.1 < b.1)
}

/// Keeps the best `room` of what it is offered, best first.
#[derive(Debug, Clone)]
pub(crate) struct Top {
    room: usize,
    pub(crate) items: Vec<Scored>,
}

impl Top {
    pub(crate) fn new(room: usize) -> Self {
        let items = Vec::with_capacity(room + 1);
        Top { room, items }
    }

    /// A score that a further row must exceed to be kept, as long as rows come in ascending order.
    fn bar(&self) -> f32 {
        match self.items.last() {
            _ if self.room == 0 => f32::INFINITY,
            Some(worst) if self.items.len() == self.room => worst.0,
            _ => f32::NEG_INFINITY,
        }
    }

    pub(crate) fn offer(&mut self, item: Scored) {
        let is_full = self.items.len() == self.room;
        if is_full && !self.items.last().is_some_and(|&worst| before(item, worst)) {
            return;
        }
        let at = self.items.partition_point(|&other| before(other, item));
        self.items.insert(at, item);
        self.items.truncate(self.room);
    }
}
