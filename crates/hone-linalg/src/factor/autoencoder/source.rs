//! The source of the rows: a dense matrix, or a lazy one whose rows are computed from walks when needed.
//!
//! A batch is dense either way. That of a lazy N × N matrix takes N numbers per row, so fewer rows are read at once the
//! longer they are.

use crate::dense::{Block, Columns, Small};
use crate::operator::Operator;
use crate::parallel;

/// Rows read at once outside training.
const ROWS: usize = 4096;
/// Values read at once, unless a single row has more.
const VALUES: usize = 1 << 24;
/// Rows whose squares one task adds up.
const CHUNK: usize = 256;

/// Rows of this length that are read at once outside training.
pub(super) fn rows_at_once(columns: usize) -> usize {
    ROWS.min(VALUES / columns.max(1)).max(1)
}

/// A matrix that is read row by row.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    Dense(&'a Columns),
    Lazy(&'a Operator),
}

impl Source<'_> {
    pub(super) fn rows(&self) -> usize {
        match self {
            Source::Dense(y) => y.rows(),
            Source::Lazy(s) => s.rows(),
        }
    }

    pub(super) fn cols(&self) -> usize {
        match self {
            Source::Dense(y) => y.cols(),
            Source::Lazy(s) => s.cols(),
        }
    }

    /// The sum of all squares, and the rows used for training: all of a dense matrix, the nonzero ones of a lazy
    /// matrix. A node that a motif does not touch has no code.
    pub(super) fn measure(&self) -> (f64, Vec<u32>) {
        let s = match self {
            Source::Dense(y) => {
                return (
                    y.column_energy().iter().sum(),
                    (0..y.rows() as u32).collect(),
                );
            }
            Source::Lazy(s) => s,
        };
        let pieces = parallel::stretches(s.rows(), CHUNK, |range| {
            let (mut rows, mut row) = (s.read_rows(), Vec::new());
            let square = |i: usize| {
                rows.read(i, &mut row);
                row.iter().map(|(_, value)| value * value).sum::<f64>()
            };
            range.map(square).collect::<Vec<f64>>()
        });
        let squares: Vec<f64> = pieces.concat();
        let rows = (0..)
            .zip(&squares)
            .filter(|(_, square)| **square != 0.0)
            .map(|(i, _)| i)
            .collect();
        (squares.iter().sum(), rows)
    }

    fn read_row(&self, i: usize, to: &mut [f32]) {
        match self {
            Source::Dense(y) => y.read_row(i, to),
            Source::Lazy(s) => {
                let mut row = Vec::new();
                s.read_rows().read(i, &mut row);
                to.fill(0.0);
                row.iter()
                    .for_each(|&(j, value)| to[j as usize] = value as f32);
            }
        }
    }
}

/// Rows of a matrix, scaled.
#[derive(Clone, Copy)]
pub(super) struct Data<'a> {
    pub(super) source: Source<'a>,
    pub(super) scale: f64,
}

impl Data<'_> {
    /// Any rows as a batch.
    pub(super) fn batch(&self, rows: impl Fn(usize) -> usize + Sync, count: usize) -> Block {
        let mut batch = Block::zeros(count, self.source.cols());
        batch.update_rows(|at, row| {
            self.source.read_row(rows(at), row);
            row.iter_mut()
                .for_each(|x| *x = (f64::from(*x) * self.scale) as f32);
        });
        batch
    }

    /// The Gram matrix of all scaled rows but those `held` out.
    pub(super) fn gram(&self, held: &[u32]) -> Small {
        let at_once = rows_at_once(self.source.cols());
        let add = |gram: &mut Small, own: &Small, sign: f64| {
            gram.as_mut_slice()
                .iter_mut()
                .zip(own.as_slice())
                .for_each(|(x, own)| *x += sign * own);
        };
        let mut gram = match self.source {
            Source::Dense(y) => {
                let (mut gram, square) = (y.gram(), self.scale * self.scale);
                gram.as_mut_slice().iter_mut().for_each(|x| *x *= square);
                gram
            }
            Source::Lazy(s) => {
                let mut gram = Small::zeros(s.cols(), s.cols());
                for start in (0..s.rows()).step_by(at_once) {
                    let count = at_once.min(s.rows() - start);
                    add(&mut gram, &self.batch(|at| start + at, count).gram(), 1.0);
                }
                gram
            }
        };
        for rows in held.chunks(at_once) {
            add(
                &mut gram,
                &self.batch(|at| rows[at] as usize, rows.len()).gram(),
                -1.0,
            );
        }
        gram
    }
}
