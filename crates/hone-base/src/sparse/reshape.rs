//! Transposes, and matrices without empty rows and columns.

use std::sync::Arc;

use super::{Csr, Pattern};
use crate::parallel;
use crate::parallel::for_chunks;

/// Values that are scaled at a time.
const PIECE: usize = 1 << 14;

impl Csr {
    /// A + c·Aᵀ.
    ///
    /// # Panics
    /// When the matrix is not square.
    pub fn plus_transposed(&self, factor: f32) -> Csr {
        assert_eq!(
            self.rows(),
            self.cols(),
            "a matrix and its transpose must have the same shape"
        );
        let turned = self.transposed();
        let merged = parallel::stretches(self.rows(), 1 << 12, |rows| {
            let (mut lengths, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
            for i in rows {
                let ((own, ours), (other, theirs)) = (self.row(i), turned.row(i));
                let (mut a, mut b, before) = (0, 0, columns.len());
                while a < own.len() || b < other.len() {
                    let column = own
                        .get(a)
                        .into_iter()
                        .chain(other.get(b))
                        .min()
                        .copied()
                        .expect("one is left");
                    let mut value = 0.0;
                    if own.get(a) == Some(&column) {
                        value += ours[a];
                        a += 1;
                    }
                    if other.get(b) == Some(&column) {
                        value += factor * theirs[b];
                        b += 1;
                    }
                    columns.push(column);
                    values.push(value);
                }
                lengths.push(columns.len() - before);
            }
            (lengths, columns, values)
        });
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for (lengths, more, numbers) in merged {
            for length in lengths {
                offsets.push(offsets.last().copied().unwrap_or(0) + length);
            }
            columns.extend(more);
            values.extend(numbers);
        }
        Csr::new(
            Arc::new(Pattern::new(offsets, columns, self.cols())),
            values.into(),
        )
    }

    /// The matrix with entry (i, j) multiplied by `factor(i, j)`, in f64; the pattern is shared.
    #[must_use]
    pub fn scaled(&self, factor: impl Fn(usize, usize) -> f64 + Sync) -> Csr {
        let (offsets, columns) = (self.pattern.offsets(), self.pattern.columns());
        let mut values = self.values().to_vec();
        for_chunks(&mut values, PIECE, &|index, piece| {
            let first = self.first + index * PIECE;
            let mut i = offsets.partition_point(|&start| start <= first) - 1;
            for (at, value) in (first..).zip(piece) {
                while offsets[i + 1] <= at {
                    i += 1;
                }
                *value = (f64::from(*value) * factor(i, columns[at] as usize)) as f32;
            }
        });
        Csr {
            values: Arc::new(Arc::<[f32]>::from(values).into()),
            elsewhere: None,
            ..self.clone()
        }
    }

    /// The transpose.
    ///
    /// Each stripe of columns becomes a run of rows of the result, so stripes are filled in parallel;
    /// in a sorted row the columns of a stripe lie together and are found by bisection.
    /// Time O(nnz + stripes · rows · log degree).
    pub fn transposed(&self) -> Csr {
        let mut counts = vec![0usize; self.cols() + 1];
        self.pattern
            .columns()
            .iter()
            .for_each(|&j| counts[j as usize + 1] += 1);
        for j in 0..self.cols() {
            counts[j + 1] += counts[j];
        }
        let offsets = counts;
        let (mut columns, mut values) = (vec![0u32; self.nnz()], vec![0.0f32; self.nnz()]);
        let stripes = cut(
            &offsets,
            &mut columns,
            &mut values,
            rayon::current_num_threads() * 2,
        );
        parallel::each(stripes, &|_, stripe| stripe.fill(self, &offsets));
        Csr::new(
            Arc::new(Pattern::new(offsets, columns, self.rows())),
            values.into(),
        )
    }

    /// The square matrix restricted to nodes with a nonzero in their row or column, without stored
    /// zeros; also the nodes kept, ascending. What is dropped does not affect any product.
    pub fn compacted(&self) -> (Vec<u32>, Csr) {
        assert_eq!(self.rows(), self.cols(), "a compacted matrix is square");
        let mut used = vec![false; self.rows()];
        let nonzeros = |i: usize| {
            let (columns, values) = self.row(i);
            columns
                .iter()
                .zip(values)
                .filter(|(_, a)| **a != 0.0)
                .map(|(&j, &a)| (j, a))
        };
        for i in 0..self.rows() {
            for (j, _) in nonzeros(i) {
                used[i] = true;
                used[j as usize] = true;
            }
        }
        let kept: Vec<u32> = (0..self.rows() as u32)
            .filter(|&i| used[i as usize])
            .collect();
        let mut number = vec![0u32; self.rows()];
        kept.iter()
            .enumerate()
            .for_each(|(new, &old)| number[old as usize] = new as u32);
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for &i in &kept {
            for (j, a) in nonzeros(i as usize) {
                columns.push(number[j as usize]);
                values.push(a);
            }
            offsets.push(columns.len());
        }
        let pattern = Pattern::new(offsets, columns, kept.len());
        (kept, Csr::new(Arc::new(pattern), values.into()))
    }
}

/// Rows `first..` of a transpose, and where their columns and values go.
struct Stripe<'a> {
    first: usize,
    last: usize,
    columns: &'a mut [u32],
    values: &'a mut [f32],
}

/// Divides the result into `count` runs of whole rows with about equally many nonzeros.
fn cut<'a>(
    offsets: &[usize],
    mut columns: &'a mut [u32],
    mut values: &'a mut [f32],
    count: usize,
) -> Vec<Stripe<'a>> {
    let (rows, nnz) = (offsets.len() - 1, columns.len());
    let mut stripes = Vec::new();
    let mut first = 0;
    for s in 1..=count {
        let goal = nnz * s / count;
        let last = if s == count {
            rows
        } else {
            offsets.partition_point(|&at| at < goal).clamp(first, rows)
        };
        let length = offsets[last] - offsets[first];
        let (head, tail) = columns.split_at_mut(length);
        let (head_values, tail_values) = values.split_at_mut(length);
        stripes.push(Stripe {
            first,
            last,
            columns: head,
            values: head_values,
        });
        (columns, values, first) = (tail, tail_values, last);
    }
    stripes
}

impl Stripe<'_> {
    fn fill(self, matrix: &Csr, offsets: &[usize]) {
        let base = offsets[self.first];
        let mut next: Vec<usize> = offsets[self.first..self.last]
            .iter()
            .map(|at| at - base)
            .collect();
        for i in 0..matrix.rows() {
            let (columns, values) = matrix.row(i);
            let from = columns.partition_point(|&j| (j as usize) < self.first);
            for (&j, &a) in columns[from..].iter().zip(&values[from..]) {
                if j as usize >= self.last {
                    break;
                }
                let at = &mut next[j as usize - self.first];
                self.columns[*at] = i as u32;
                self.values[*at] = a;
                *at += 1;
            }
        }
    }
}
