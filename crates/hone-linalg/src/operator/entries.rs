//! Entries of an operator, row by row, for what products alone cannot give.
//!
//! A row of any expression is a sum over walks: a row of a power is a sum of rows of its base, and so on, so that no
//! matrix is formed and only as many numbers are touched as there are walks. [`Rows`] reads one row (or column) at a
//! time into a list of nonzeros, in f64; [`Operator::entries`] keeps them all. Cost of all rows:
//! [`Operator::row_work`], which is the number of nonzeros for a matrix without powers.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Operator, Scaled};
use crate::dense::{Columns, Stored};
use crate::parallel;
use crate::sparse::{Csr, Pattern};

/// Rows per parallel task.
const CHUNK: usize = 256;

/// Maps chunks of `0..count` in parallel; the results come back in order, the same for any threads.
pub fn in_chunks<T: Send>(
    count: usize,
    chunk: usize,
    work: impl Fn(Range<usize>) -> T + Sync,
) -> Vec<T> {
    in_chunks_with(count, chunk, || (), |(), range| work(range))
}

/// The same with scratch space that a thread keeps for some of its chunks.
fn in_chunks_with<S: Send, T: Send>(
    count: usize,
    chunk: usize,
    scratch: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, Range<usize>) -> T + Sync,
) -> Vec<T> {
    let idle: Mutex<Vec<S>> = Mutex::new(Vec::new());
    parallel::stretches(count, chunk, |range| {
        let kept = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut mine = kept.unwrap_or_else(&scratch);
        let found = work(&mut mine, range);
        idle.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(mine);
        found
    })
}

/// Reads rows of an operator, or its columns.
#[derive(Debug)]
pub struct Rows<'a> {
    operator: &'a Operator,
    transpose: bool,
    sum: Sums,
    spare: Vec<Sums>,
}

/// A sparse vector under construction.
#[derive(Debug)]
struct Sums {
    values: Vec<f64>,
    touched: Vec<u32>,
}

impl Sums {
    fn new(size: usize) -> Self {
        Sums {
            values: vec![0.0; size],
            touched: Vec::new(),
        }
    }

    fn add(&mut self, j: u32, value: f64) {
        let sum = &mut self.values[j as usize];
        if *sum == 0.0 {
            self.touched.push(j);
        }
        *sum += value;
    }

    /// Passes on every nonzero, in the order of arrival, and clears them.
    fn drain(&mut self, mut take: impl FnMut(u32, f64)) {
        for at in 0..self.touched.len() {
            let j = self.touched[at];
            let value = std::mem::take(&mut self.values[j as usize]);
            // A sum that passed through zero is listed twice; the second time it is already cleared.
            if value != 0.0 {
                take(j, value);
            }
        }
        self.touched.clear();
    }
}

impl Rows<'_> {
    /// The nonzeros of row i (column i of a transposed reader) by ascending position.
    pub fn read(&mut self, i: usize, into: &mut Vec<(u32, f64)>) {
        into.clear();
        self.operator
            .add_row(i, self.transpose, 1.0, &mut self.sum, &mut self.spare);
        self.sum.touched.sort_unstable();
        self.sum.drain(|j, value| into.push((j, value)));
    }
}

impl Operator {
    /// A reader of rows; one per thread.
    pub fn read_rows(&self) -> Rows<'_> {
        self.reader(false)
    }

    /// A reader of columns; one per thread.
    pub fn read_columns(&self) -> Rows<'_> {
        self.reader(true)
    }

    fn reader(&self, transpose: bool) -> Rows<'_> {
        let sum = Sums::new(self.rows().max(self.cols()));
        Rows {
            operator: self,
            transpose,
            sum,
            spare: Vec::new(),
        }
    }

    /// The nonzeros as a sparse matrix, or `None` when there are more than `limit`.
    pub fn entries(&self, limit: usize) -> Option<Csr> {
        let found = AtomicUsize::new(0);
        let scratch = || (self.read_rows(), Vec::new());
        let pieces = in_chunks_with(self.rows(), CHUNK, scratch, |(rows, row), range| {
            let (mut lengths, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
            for i in range {
                if found.load(Ordering::Relaxed) > limit {
                    break;
                }
                rows.read(i, row);
                row.retain(|&(_, value)| value as f32 != 0.0);
                found.fetch_add(row.len(), Ordering::Relaxed);
                lengths.push(row.len());
                columns.extend(row.iter().map(|&(j, _)| j));
                values.extend(row.iter().map(|&(_, value)| value as f32));
            }
            (lengths, columns, values)
        });
        let nnz = found.into_inner();
        if nnz > limit {
            return None;
        }
        let mut offsets = vec![0];
        let (mut columns, mut values) = (Vec::with_capacity(nnz), Vec::with_capacity(nnz));
        for (lengths, some_columns, some_values) in pieces {
            lengths
                .iter()
                .for_each(|length| offsets.push(offsets[offsets.len() - 1] + length));
            columns.extend(some_columns);
            values.extend(some_values);
        }
        Some(Csr::new(
            Arc::new(Pattern::new(offsets, columns, self.cols())),
            values.into(),
        ))
    }

    /// ‖S‖², the sum of all squared entries, from the rows.
    pub fn squared_norm(&self) -> f64 {
        if let Operator::Dense(leaf) = self {
            return leaf.columns.column_energy().iter().sum();
        }
        self.sum_of_rows(|_, row| row.iter().map(|(_, value)| value * value).sum())
    }

    /// The sum of something of each row and its nonzeros.
    pub fn sum_of_rows(&self, of: impl Fn(usize, &[(u32, f64)]) -> f64 + Sync) -> f64 {
        let scratch = || (self.read_rows(), Vec::new());
        let pieces = in_chunks_with(self.rows(), CHUNK, scratch, |(rows, row), range| {
            let mut sum = 0.0;
            for i in range {
                rows.read(i, row);
                sum += of(i, row);
            }
            sum
        });
        pieces.into_iter().sum()
    }

    /// Additions that reading all rows takes, which no number of nonzeros exceeds.
    pub fn row_work(&self) -> f64 {
        self.reach(&vec![1.0; self.cols()]).iter().sum()
    }

    /// For each row the sum of `x` over the columns that its walks end at.
    fn reach(&self, x: &[f64]) -> Vec<f64> {
        match self {
            Operator::Sparse(leaf) => {
                let pattern = leaf.matrix.pattern();
                let of = |i: usize| pattern.row(i).iter().map(|&j| x[j as usize]).sum();
                let some = |rows: Range<usize>| rows.map(of).collect::<Vec<f64>>();
                parallel::stretches(pattern.rows(), 1 << 12, some).concat()
            }
            Operator::Dense(leaf) => {
                let each = x.iter().sum::<f64>() * leaf.columns.stored() as f64;
                vec![
                    each / (leaf.columns.rows() * leaf.columns.cols()).max(1) as f64;
                    leaf.columns.rows()
                ]
            }
            Operator::Scaled(Scaled { shift, inner, .. }) => {
                let mut sums = inner.reach(x);
                if shift.is_some() {
                    sums.iter_mut().zip(x).for_each(|(sum, x)| *sum += x);
                }
                sums
            }
            Operator::Power(inner, k) => (0..*k).fold(x.to_vec(), |x, _| inner.reach(&x)),
            Operator::Sum(terms) => {
                terms
                    .iter()
                    .fold(vec![0.0; self.rows()], |mut sums, (_, term)| {
                        sums.iter_mut()
                            .zip(term.reach(x))
                            .for_each(|(sum, x)| *sum += x);
                        sums
                    })
            }
        }
    }

    /// Adds `scale` times row i to `out`.
    fn add_row(
        &self,
        i: usize,
        transpose: bool,
        scale: f64,
        out: &mut Sums,
        spare: &mut Vec<Sums>,
    ) {
        match self {
            Operator::Sparse(leaf) => {
                let matrix = if transpose {
                    leaf.transposed()
                } else {
                    &leaf.matrix
                };
                let (columns, values) = matrix.row(i);
                columns
                    .iter()
                    .zip(values)
                    .for_each(|(&j, &value)| out.add(j, scale * f64::from(value)));
            }
            Operator::Dense(leaf) if transpose => add_column(&leaf.columns, i, scale, out),
            Operator::Dense(leaf) => add_dense_row(&leaf.columns, i, scale, out),
            Operator::Scaled(scaled) => scaled.add_row(i, transpose, scale, out, spare),
            Operator::Power(inner, k) => {
                let mut walks = spare.pop().unwrap_or_else(|| Sums::new(out.values.len()));
                let mut longer = spare.pop().unwrap_or_else(|| Sums::new(out.values.len()));
                inner.add_row(i, transpose, scale, &mut walks, spare);
                for _ in 1..*k {
                    walks.drain(|j, value| {
                        inner.add_row(j as usize, transpose, value, &mut longer, spare);
                    });
                    std::mem::swap(&mut walks, &mut longer);
                }
                walks.drain(|j, value| out.add(j, value));
                spare.extend([walks, longer]);
            }
            Operator::Sum(terms) => {
                terms.iter().for_each(|(factor, term)| {
                    term.add_row(i, transpose, scale * factor, out, spare);
                });
            }
        }
    }
}

impl Scaled {
    fn add_row(
        &self,
        i: usize,
        transpose: bool,
        scale: f64,
        out: &mut Sums,
        spare: &mut Vec<Sums>,
    ) {
        let (left, right) = if transpose {
            (&self.right, &self.left)
        } else {
            (&self.left, &self.right)
        };
        if let Some(shift) = &self.shift {
            out.add(i as u32, scale * f64::from(shift.values()[i]));
        }
        let factor = scale
            * self.scale
            * left
                .as_ref()
                .map_or(1.0, |left| f64::from(left.values()[i]));
        match right {
            None => self.inner.add_row(i, transpose, factor, out, spare),
            Some(right) => {
                let mut inner = spare.pop().unwrap_or_else(|| Sums::new(out.values.len()));
                self.inner.add_row(i, transpose, factor, &mut inner, spare);
                inner.drain(|j, value| out.add(j, value * f64::from(right.values()[j as usize])));
                spare.push(inner);
            }
        }
    }
}

fn add_dense_row(columns: &Columns, i: usize, scale: f64, out: &mut Sums) {
    let (mut at, mut row) = (0, Vec::new());
    for group in columns.groups() {
        if let Some(stored) = group.stored_row(i) {
            row.resize(group.cols(), 0.0);
            group.read(stored..stored + 1, &mut row);
            row.iter()
                .zip(at..)
                .for_each(|(&value, j)| out.add(j, scale * f64::from(value)));
        }
        at += group.cols() as u32;
    }
}

fn add_column(columns: &Columns, mut j: usize, scale: f64, out: &mut Sums) {
    for group in columns.groups() {
        if j < group.cols() {
            let mut rows = vec![0.0; CHUNK * group.cols()];
            for start in (0..group.stored_rows()).step_by(CHUNK) {
                let range = start..(start + CHUNK).min(group.stored_rows());
                let values = &mut rows[..range.len() * group.cols()];
                group.read(range.clone(), values);
                for (stored, row) in range.zip(values.chunks_exact(group.cols())) {
                    let i = group.rows().map_or(stored as u32, |rows| rows[stored]);
                    out.add(i, scale * f64::from(row[j]));
                }
            }
            return;
        }
        j -= group.cols();
    }
}
