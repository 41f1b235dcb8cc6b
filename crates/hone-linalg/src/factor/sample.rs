//! The entries that a loss uses: all of them, read when needed, or nonzeros and sampled zeros, stored.
//!
//! Of a row with n nonzeros and z zeros, `negatives` · n of the zeros are drawn (some for an empty row too),
//! each with weight z over the number drawn, so that weighted sums over the sample are unbiased. If nearly
//! all zeros of a row would be drawn, all are used.

use std::sync::Arc;

use rand_xoshiro::rand_core::Rng;
use rustc_hash::FxHashSet;

use super::observed::Observed;
use crate::error::Result;
use crate::operator::{Operator, Rows, in_chunks};
use crate::random::Key;
use crate::sparse::{Csr, Pattern};

/// Bytes per entry of a sample, by rows and by columns.
pub(super) const SAMPLE_BYTES: u64 = 48;

/// Rows per parallel task.
const CHUNK: usize = 256;

/// The entries that are used.
pub(super) enum Looked<'a> {
    /// All, read from the expression.
    All(&'a Operator),
    /// Some, stored.
    Kept(Kept),
}

/// Entries with weights, by rows and by columns.
pub(super) struct Kept {
    rows: Weighted,
    columns: Weighted,
    nonzeros: usize,
}

/// Values, and weights at the same positions; none when all are 1.
struct Weighted {
    values: Csr,
    weights: Option<Csr>,
}

impl<'a> Looked<'a> {
    /// The nonzeros.
    pub(super) fn nonzeros(s: &'a Operator) -> Result<Looked<'a>> {
        let Observed { rows, columns, .. } = Observed::of(s)?;
        let nonzeros = rows.nnz();
        let plain = |values| Weighted {
            values,
            weights: None,
        };
        Ok(Looked::Kept(Kept {
            rows: plain(rows),
            columns: plain(columns),
            nonzeros,
        }))
    }

    /// The nonzeros and a sample of the zeros.
    pub(super) fn sample(s: &'a Operator, negatives: usize, key: Key) -> Result<Looked<'a>> {
        let nonzeros = Observed::of(s)?.rows;
        let pieces = in_chunks(nonzeros.rows(), CHUNK, |range| {
            let mut piece = Vec::new();
            for i in range {
                let (columns, values) = nonzeros.row(i);
                let (zeros, weight) = draw_zeros(
                    columns,
                    nonzeros.cols(),
                    negatives,
                    key.with("row", i as u64),
                );
                let own = columns.iter().zip(values).map(|(&j, &s)| (j, s, 1.0));
                let mut row: Vec<(u32, f32, f32)> = own
                    .chain(zeros.into_iter().map(|j| (j, 0.0, weight)))
                    .collect();
                row.sort_unstable_by_key(|&(j, ..)| j);
                piece.push(row);
            }
            piece
        });
        let rows: Vec<_> = pieces.into_iter().flatten().collect();
        let mut offsets = vec![0];
        rows.iter()
            .for_each(|row| offsets.push(offsets[offsets.len() - 1] + row.len()));
        let all = || rows.iter().flatten();
        let pattern = Arc::new(Pattern::new(
            offsets,
            all().map(|e| e.0).collect(),
            nonzeros.cols(),
        ));
        let values = Csr::new(
            pattern.clone(),
            all().map(|e| e.1).collect::<Vec<_>>().into(),
        );
        let weights = Csr::new(pattern, all().map(|e| e.2).collect::<Vec<_>>().into());
        let columns = Weighted {
            values: values.transposed(),
            weights: Some(weights.transposed()),
        };
        let rows = Weighted {
            values,
            weights: Some(weights),
        };
        Ok(Looked::Kept(Kept {
            rows,
            columns,
            nonzeros: nonzeros.nnz(),
        }))
    }

    /// Number of rows.
    pub(super) fn rows(&self) -> usize {
        match self {
            Looked::All(s) => s.rows(),
            Looked::Kept(kept) => kept.rows.values.rows(),
        }
    }

    /// A reader of rows, or of columns when `transpose`.
    pub(super) fn reader(&self, transpose: bool) -> Reader<'_> {
        let from = match self {
            Looked::All(s) => {
                let (rows, length) = if transpose {
                    (s.read_columns(), s.rows())
                } else {
                    (s.read_rows(), s.cols())
                };
                From::All(rows, length, Vec::new())
            }
            Looked::Kept(kept) if transpose => From::Kept(&kept.columns),
            Looked::Kept(kept) => From::Kept(&kept.rows),
        };
        Reader {
            from,
            line: Line::default(),
        }
    }

    /// Which entries these are, in words.
    pub(super) fn describe(&self) -> String {
        match self {
            Looked::All(s) => format!("all {} entries; exact", s.rows() * s.cols()),
            Looked::Kept(kept) if kept.rows.weights.is_none() => {
                format!("the {} nonzeros only; exact", kept.nonzeros)
            }
            Looked::Kept(Kept { rows, nonzeros, .. }) => {
                let zeros = rows.values.nnz() - nonzeros;
                format!(
                    "trained and measured on {nonzeros} nonzeros and {zeros} sampled zeros; an estimate"
                )
            }
        }
    }
}

/// Distinct positions outside the ascending `taken`, and the weight of each.
fn draw_zeros(taken: &[u32], cols: usize, negatives: usize, key: Key) -> (Vec<u32>, f32) {
    let zeros = cols - taken.len();
    let wanted = negatives.saturating_mul(taken.len().max(1));
    if wanted >= zeros / 2 {
        let free = (0..cols as u32).filter(|j| taken.binary_search(j).is_err());
        return (free.collect(), 1.0);
    }
    let mut rng = key.rng();
    let mut drawn = FxHashSet::default();
    while drawn.len() < wanted {
        let j = below(rng.next_u64(), cols) as u32;
        if taken.binary_search(&j).is_err() {
            drawn.insert(j);
        }
    }
    let mut drawn: Vec<u32> = drawn.into_iter().collect();
    drawn.sort_unstable();
    (drawn, (zeros as f64 / wanted as f64) as f32)
}

/// A number below `count` from 64 random bits.
fn below(bits: u64, count: usize) -> usize {
    ((u128::from(bits) * count as u128) >> 64) as usize
}

/// The entries of a row that are used.
#[derive(Default)]
pub(super) struct Line {
    columns: Vec<u32>,
    values: Vec<f64>,
    weights: Vec<f64>,
}

impl Line {
    /// Column, entry, weight.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, f64, f64)> + '_ {
        self.columns
            .iter()
            .zip(&self.values)
            .zip(&self.weights)
            .map(|((&j, &s), &weight)| (j, s, weight))
    }
}

enum From<'a> {
    All(Rows<'a>, usize, Vec<(u32, f64)>),
    Kept(&'a Weighted),
}

/// Reads rows into a [`Line`].
pub(super) struct Reader<'a> {
    from: From<'a>,
    line: Line,
}

impl Reader<'_> {
    pub(super) fn read(&mut self, i: usize) -> &Line {
        let line = &mut self.line;
        match &mut self.from {
            From::All(rows, length, nonzeros) => {
                rows.read(i, nonzeros);
                if line.columns.len() != *length {
                    line.columns = (0..*length as u32).collect();
                    line.weights = vec![1.0; *length];
                }
                line.values.clear();
                line.values.resize(*length, 0.0);
                nonzeros
                    .iter()
                    .for_each(|&(j, s)| line.values[j as usize] = s);
            }
            From::Kept(Weighted { values, weights }) => {
                let (columns, own) = values.row(i);
                line.columns.clear();
                line.columns.extend_from_slice(columns);
                line.values.clear();
                line.values.extend(own.iter().map(|&s| f64::from(s)));
                line.weights.clear();
                match weights {
                    Some(weights) => line
                        .weights
                        .extend(weights.row(i).1.iter().map(|&w| f64::from(w))),
                    None => line.weights.resize(columns.len(), 1.0),
                }
            }
        }
        line
    }
}
