//! Entries of an operator, row by row, for what products alone cannot give.
//!
//! A row of any expression is a sum over walks: a row of a power is a sum of rows of its base, and so on, so that no
//! matrix is formed and only as many numbers are touched as there are walks. [`Rows`] reads one row (or column) at a
//! time into a list of nonzeros, in f64; [`Operator::entries`] keeps them all, [`Operator::explicit`] the zeros too. Cost of all rows:
//! [`Operator::row_work`], which is the number of nonzeros for a matrix without powers.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Diagonal, Operator, Scaled};
use crate::dense::{Columns, Small, Stored};
use crate::parallel;
use crate::sparse::{Csr, Pattern};

/// Rows per parallel task.
const CHUNK: usize = 256;

/// Maps chunks of rows in parallel, with a reader that a thread keeps for some of its chunks; the results come back in order.
fn map_rows<T: Send>(
    operator: &Operator,
    work: impl Fn(&mut Rows, &mut Vec<(u32, f64)>, Range<usize>) -> T + Sync,
) -> Vec<T> {
    let idle = Mutex::new(Vec::new());
    parallel::stretches(operator.rows(), CHUNK, |range| {
        let kept = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let (mut rows, mut row) = kept.unwrap_or_else(|| (operator.read_rows(), Vec::new()));
        let found = work(&mut rows, &mut row, range);
        let mut idle = idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push((rows, row));
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

    /// A spare one, or a new one, for vectors of this length.
    fn take(spare: &mut Vec<Sums>, size: usize) -> Self {
        let mut sums = spare.pop().unwrap_or_else(|| Sums::new(size));
        sums.values.resize(size.max(sums.values.len()), 0.0);
        sums
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
        Rows {
            operator: self,
            transpose,
            sum: Sums::new(self.rows().max(self.cols())),
            spare: Vec::new(),
        }
    }

    /// The nonzeros as a sparse matrix, or `None` when there are more than `limit`.
    pub fn entries(&self, limit: usize) -> Option<Csr> {
        let found = AtomicUsize::new(0);
        let pieces = map_rows(self, |rows, row, range| {
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
            for length in lengths {
                offsets.push(offsets[offsets.len() - 1] + length);
            }
            columns.extend(some_columns);
            values.extend(some_values);
        }
        let pattern = Pattern::new(offsets, columns, self.cols());
        Some(Csr::new(Arc::new(pattern), values.into()))
    }

    /// ‖S‖², the sum of all squared entries, from the rows.
    pub fn squared_norm(&self) -> f64 {
        if let Operator::Dense(leaf) = self {
            return leaf.columns.column_energy().iter().sum();
        }
        self.sum_of_rows(|_, row| row.iter().map(|(_, value)| value * value).sum())
    }

    /// The sum of something of each row and its nonzeros.
    pub(crate) fn sum_of_rows(&self, of: impl Fn(usize, &[(u32, f64)]) -> f64 + Sync) -> f64 {
        let pieces = map_rows(self, |rows, row, range| {
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
                let (rows, cols) = (leaf.columns.rows(), leaf.columns.cols());
                let each = x.iter().sum::<f64>() * leaf.columns.stored() as f64;
                vec![each / (rows * cols).max(1) as f64; rows]
            }
            Operator::Scaled(Scaled { shift, inner, .. }) => {
                let mut sums = inner.reach(x);
                if shift.is_some() {
                    sums.iter_mut().zip(x).for_each(|(sum, x)| *sum += x);
                }
                sums
            }
            Operator::Power(inner, k) => (0..*k).fold(x.to_vec(), |x, _| inner.reach(&x)),
            Operator::Product(left, right) => left.reach(&right.reach(x)),
            Operator::Sum(terms) => {
                let mut sums = vec![0.0; self.rows()];
                for (_, term) in terms {
                    let own = term.reach(x);
                    sums.iter_mut().zip(own).for_each(|(sum, x)| *sum += x);
                }
                sums
            }
        }
    }

    /// All entries in f64, without rounding beyond that of leaves and diagonals, for operators small enough to be
    /// decomposed directly. Powers are multiplied from the left by their base, whose zeros are skipped. Cost: 8 bytes per
    /// entry, three times that for powers; as many additions as reading all rows takes.
    pub fn explicit(&self) -> Small {
        match self {
            Operator::Sparse(leaf) => {
                let mut out = Small::zeros(self.rows(), self.cols());
                for i in 0..self.rows() {
                    let (columns, values) = leaf.matrix.row(i);
                    for (&j, &value) in columns.iter().zip(values) {
                        out.set(i, j as usize, f64::from(value));
                    }
                }
                out
            }
            Operator::Dense(leaf) => Small::from(&leaf.columns.to_block()),
            Operator::Scaled(scaled) => {
                let mut out = scaled.inner.explicit();
                let at = |of: &Option<Diagonal>, i: usize| {
                    of.as_ref().map_or(1.0, |d| f64::from(d.values()[i]))
                };
                for i in 0..out.rows() {
                    let left = scaled.scale * at(&scaled.left, i);
                    for (j, value) in out.row_mut(i).iter_mut().enumerate() {
                        *value *= left * at(&scaled.right, j);
                    }
                    if let Some(shift) = &scaled.shift {
                        out.row_mut(i)[i] += f64::from(shift.values()[i]);
                    }
                }
                out
            }
            Operator::Power(inner, k) => {
                let base = inner.explicit();
                let times_base = |power: Small, _| {
                    let mut out = Small::zeros(base.rows(), power.cols());
                    parallel::for_rows(out.as_mut_slice(), power.cols().max(1), |i, row| {
                        for (k, &x) in base.row(i).iter().enumerate().filter(|(_, x)| **x != 0.0) {
                            row.iter_mut()
                                .zip(power.row(k))
                                .for_each(|(to, &from)| *to += x * from);
                        }
                    });
                    out
                };
                (1..*k).fold(base.clone(), times_base)
            }
            Operator::Product(left, right) => left.explicit().times(&right.explicit()),
            Operator::Sum(terms) => {
                let mut out = Small::zeros(self.rows(), self.cols());
                for (coefficient, term) in terms {
                    out.add_scaled(*coefficient, &term.explicit());
                }
                out
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
                for (&j, &value) in columns.iter().zip(values) {
                    out.add(j, scale * f64::from(value));
                }
            }
            Operator::Dense(leaf) if transpose => add_column(&leaf.columns, i, scale, out),
            Operator::Dense(leaf) => {
                let mut row = vec![0.0; leaf.columns.cols()];
                leaf.columns.read_row(i, &mut row);
                for (j, &value) in (0..).zip(&row).filter(|(_, value)| **value != 0.0) {
                    out.add(j, scale * f64::from(value));
                }
            }
            Operator::Scaled(scaled) => {
                let (left, right) = scaled.sides(transpose);
                let at = |of: &Diagonal, i: usize| f64::from(of.values()[i]);
                if let Some(shift) = &scaled.shift {
                    out.add(i as u32, scale * at(shift, i));
                }
                let factor = scale * scaled.scale * left.as_ref().map_or(1.0, |left| at(left, i));
                match right {
                    None => scaled.inner.add_row(i, transpose, factor, out, spare),
                    Some(right) => {
                        let mut inner = Sums::take(spare, out.values.len());
                        scaled
                            .inner
                            .add_row(i, transpose, factor, &mut inner, spare);
                        inner.drain(|j, value| out.add(j, value * at(right, j as usize)));
                        spare.push(inner);
                    }
                }
            }
            Operator::Power(inner, k) => {
                let mut walks = Sums::take(spare, out.values.len());
                let mut longer = Sums::take(spare, out.values.len());
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
            Operator::Product(left, right) => {
                let (first, last) = match transpose {
                    true => (right, left),
                    false => (left, right),
                };
                let mut walks = Sums::take(spare, out.values.len().max(left.cols()));
                first.add_row(i, transpose, scale, &mut walks, spare);
                walks.drain(|j, value| last.add_row(j as usize, transpose, value, out, spare));
                spare.push(walks);
            }
            Operator::Sum(terms) => {
                terms.iter().for_each(|(factor, term)| {
                    term.add_row(i, transpose, scale * factor, out, spare);
                });
            }
        }
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
