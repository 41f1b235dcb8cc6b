//! [`Csr`]: a sparse matrix in compressed rows.
//!
//! Sums and products with vectors are computed where the values are; transposes, and matrices without empty rows and columns, in
//! this process.

use std::any::Any;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::{Diagonal, Pattern};
use crate::parallel;

/// Values per parallel task.
const CHUNK: usize = 1 << 14;

/// A sparse matrix: a shared pattern and one value per position. The values may be [remote](RemoteValues)
/// until they are read.
#[derive(Debug, Clone)]
pub struct Csr {
    pattern: Arc<Pattern>,
    values: Arc<OnceLock<Arc<[f32]>>>,
    remote: Option<Arc<dyn RemoteValues>>,
    /// The position of the first value: 0, or that of the first row that is present.
    first: usize,
}

impl Csr {
    /// Joins a pattern and its values.
    ///
    /// # Panics
    /// When their lengths differ.
    pub fn new(pattern: Arc<Pattern>, values: Arc<[f32]>) -> Self {
        assert_eq!(pattern.nnz(), values.len(), "one value per position");
        Csr {
            pattern,
            values: Arc::new(values.into()),
            remote: None,
            first: 0,
        }
    }

    /// A matrix of which only some rows are present, for products of these rows.
    ///
    /// # Panics
    /// When these rows have another number of positions.
    pub fn of_rows(pattern: Arc<Pattern>, rows: &Range<usize>, values: Arc<[f32]>) -> Self {
        let positions = pattern.offsets()[rows.start]..pattern.offsets()[rows.end];
        assert_eq!(positions.len(), values.len(), "one value per position");
        Csr {
            pattern,
            values: Arc::new(values.into()),
            remote: None,
            first: positions.start,
        }
    }

    /// Joins a pattern and remote values.
    pub fn with_remote_values(pattern: Arc<Pattern>, values: Arc<dyn RemoteValues>) -> Self {
        Csr {
            pattern,
            values: Arc::default(),
            remote: Some(values),
            first: 0,
        }
    }

    /// The values, if they are remote.
    pub fn remote_values(&self) -> Option<&Arc<dyn RemoteValues>> {
        self.remote.as_ref()
    }

    /// The positions.
    pub fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    /// The values, in the order of the pattern.
    pub fn values(&self) -> &[f32] {
        self.shared_values()
    }

    /// The values, shared by all clones: a device can keep its own copy and recognise it.
    pub fn shared_values(&self) -> &Arc<[f32]> {
        self.values.get_or_init(|| {
            let values = self
                .remote
                .as_ref()
                .map(|values| values.read())
                .unwrap_or_default();
            assert_eq!(self.pattern.nnz(), values.len(), "one value per position");
            values.into()
        })
    }

    /// An identifier that clones share and other matrices do not have.
    pub fn identity(&self) -> usize {
        Arc::as_ptr(&self.values).addr()
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.pattern.rows()
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.pattern.cols()
    }

    /// Number of stored positions.
    pub fn nnz(&self) -> usize {
        self.pattern.nnz()
    }

    /// Bytes in memory, pattern included.
    pub fn memory(&self) -> usize {
        self.pattern.memory() + self.values.get().map_or(0, |values| size_of_val(&**values))
    }

    /// Columns and values of row `i`.
    pub fn row(&self, i: usize) -> (&[u32], &[f32]) {
        let Range { start, end } = self.pattern.range(i);
        (
            self.pattern.row(i),
            &self.values()[start - self.first..end - self.first],
        )
    }

    /// The product with a vector, in f64.
    pub fn times_vector(&self, x: &[f64]) -> Vec<f64> {
        assert_eq!(
            x.len(),
            self.cols(),
            "length of the vector in a sparse product"
        );
        if let Some(values) = self.remote_values() {
            return values.times_vector(x);
        }
        self.rows_times_vector(0..self.rows(), x)
    }

    /// Some rows of the product with a vector.
    pub fn rows_times_vector(&self, rows: Range<usize>, x: &[f64]) -> Vec<f64> {
        let entry = |i: usize| {
            let (columns, values) = self.row(i);
            columns
                .iter()
                .zip(values)
                .map(|(&j, &a)| f64::from(a) * x[j as usize])
                .sum()
        };
        let some = |part: Range<usize>| part.map(|k| entry(rows.start + k)).collect::<Vec<f64>>();
        parallel::stretches(rows.len(), 1 << 12, some).concat()
    }

    /// The sum of each row, in f64.
    pub fn row_sums(&self) -> Arc<Vec<f64>> {
        match self.remote_values() {
            Some(values) => values.row_sums(),
            None => Arc::new(self.times_vector(&vec![1.0; self.cols()])),
        }
    }

    /// The sum of all squares, in f64.
    pub fn squares(&self) -> f64 {
        if let Some(values) = self.remote_values() {
            return values.squares();
        }
        let values = self.values();
        let of = |range: Range<usize>| {
            values[range]
                .iter()
                .map(|&x| f64::from(x) * f64::from(x))
                .sum::<f64>()
        };
        parallel::stretches(values.len(), CHUNK, of)
            .into_iter()
            .sum()
    }

    /// scale · diag(left) · A · diag(right), with the same pattern; entries are multiplied in f64.
    #[must_use]
    pub fn scaled_by(&self, scale: f64, left: &Diagonal, right: &Diagonal) -> Csr {
        match self.remote_values() {
            Some(values) => {
                Csr::with_remote_values(self.pattern().clone(), values.scaled(scale, left, right))
            }
            None => self.scaled(|i, j| {
                scale * (f64::from(left.values()[i]) * f64::from(right.values()[j]))
            }),
        }
    }

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
        let transposed = self.transposed();
        let merged = parallel::stretches(self.rows(), 1 << 12, |rows| {
            let (mut lengths, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
            for i in rows {
                let ((own, ours), (other, theirs)) = (self.row(i), transposed.row(i));
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
        parallel::for_chunks(&mut values, CHUNK, &|index, piece| {
            let first = self.first + index * CHUNK;
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
            remote: None,
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

/// Values of a sparse matrix, in the order of its pattern, in the memory of a device or divided among processes, with the few
/// operations needed besides products. They are copied to this process when needed there.
pub trait RemoteValues: Debug + Send + Sync {
    /// A copy in the memory of this process.
    fn read(&self) -> Vec<f32>;

    /// The matrix times a vector, in f64.
    fn times_vector(&self, x: &[f64]) -> Vec<f64>;

    /// The sum of each row, in f64.
    fn row_sums(&self) -> Arc<Vec<f64>>;

    /// The sum of all squares.
    fn squares(&self) -> f64;

    /// The values of scale · diag(left) · A · diag(right), in the same place.
    fn scaled(&self, scale: f64, left: &Diagonal, right: &Diagonal) -> Arc<dyn RemoteValues>;

    /// The concrete type, so that a device can recognise its own values.
    fn as_any(&self) -> &dyn Any;
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::*;
    /// "Remote" values that are in this process, too.
    #[derive(Debug)]
    struct Other {
        held: Csr,
        read: AtomicUsize,
    }

    impl RemoteValues for Other {
        fn read(&self) -> Vec<f32> {
            self.read.fetch_add(1, Relaxed);
            self.held.values().to_vec()
        }
        fn times_vector(&self, x: &[f64]) -> Vec<f64> {
            self.held.times_vector(x)
        }
        fn row_sums(&self) -> Arc<Vec<f64>> {
            self.held.row_sums()
        }
        fn squares(&self) -> f64 {
            self.held.squares()
        }
        fn scaled(&self, scale: f64, left: &Diagonal, right: &Diagonal) -> Arc<dyn RemoteValues> {
            Arc::new(Other {
                held: self.held.scaled_by(scale, left, right),
                read: AtomicUsize::new(0),
            })
        }
        fn as_any(&self) -> &dyn Any {
            self
        }
    }

    /// Sums and products are computed where the values are; values are read once, when first needed.
    #[test]
    fn remote_values_are_read_when_needed() {
        let pattern = Arc::new(Pattern::new(vec![0, 2, 3, 3], vec![0, 2, 1], 3));
        let held = Csr::new(pattern.clone(), vec![1.0, 2.0, 3.0].into());
        let other = Arc::new(Other {
            held: held.clone(),
            read: AtomicUsize::new(0),
        });
        let there = Csr::with_remote_values(pattern, other.clone());
        let [left, right] =
            [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]].map(|values| Diagonal::new("d", values.to_vec()));
        assert_eq!(*there.row_sums(), [3.0, 3.0, 0.0]);
        assert_eq!(
            (there.squares(), there.times_vector(&[1.0, 2.0, 4.0])),
            (14.0, vec![9.0, 6.0, 0.0])
        );
        let scaled = there.scaled_by(0.5, &left, &right);
        assert!(scaled.remote_values().is_some() && other.read.load(Relaxed) == 0);
        assert_eq!(scaled.values(), held.scaled_by(0.5, &left, &right).values());
        assert_eq!(
            (there.clone().values(), there.row(0).1),
            (held.values(), &[1.0, 2.0][..])
        );
        assert_eq!(other.read.load(Relaxed), 1);
    }
}
