//! Products with vectors, sums over the values of a sparse matrix, and rescaling of rows and columns, computed where the values are stored.

use std::ops::Range;
use std::sync::Arc;

use super::Csr;
use super::diagonal::Diagonal;
use crate::parallel;

/// Values per parallel task in a sum of squares.
const CHUNK: usize = 1 << 14;

impl Csr {
    /// The product with a vector, in f64.
    pub fn times_vector(&self, x: &[f64]) -> Vec<f64> {
        assert_eq!(
            x.len(),
            self.cols(),
            "length of the vector in a sparse product"
        );
        if let Some(values) = self.elsewhere() {
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
        match self.elsewhere() {
            Some(values) => values.row_sums(),
            None => Arc::new(self.times_vector(&vec![1.0; self.cols()])),
        }
    }

    /// The sum of all squares, in f64.
    pub fn squares(&self) -> f64 {
        if let Some(values) = self.elsewhere() {
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
        match self.elsewhere() {
            Some(values) => {
                Csr::of_values_elsewhere(self.pattern().clone(), values.scaled(scale, left, right))
            }
            None => self.scaled(|i, j| {
                scale * (f64::from(left.values()[i]) * f64::from(right.values()[j]))
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::any::Any;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::*;
    use crate::sparse::{Elsewhere, Pattern};

    /// Values "elsewhere" that are in this process, too.
    #[derive(Debug)]
    struct Other {
        held: Csr,
        read: AtomicUsize,
    }

    impl Elsewhere for Other {
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
        fn scaled(&self, scale: f64, left: &Diagonal, right: &Diagonal) -> Arc<dyn Elsewhere> {
            Arc::new(Other {
                held: self.held.scaled_by(scale, left, right),
                read: AtomicUsize::new(0),
            })
        }
        fn as_any(&self) -> &dyn Any {
            self
        }
    }

    /// Sums and products are computed elsewhere; values are read once, when first needed.
    #[test]
    fn values_elsewhere_are_read_when_needed() {
        let pattern = Arc::new(Pattern::new(vec![0, 2, 3, 3], vec![0, 2, 1], 3));
        let held = Csr::new(pattern.clone(), vec![1.0, 2.0, 3.0].into());
        let other = Arc::new(Other {
            held: held.clone(),
            read: AtomicUsize::new(0),
        });
        let there = Csr::of_values_elsewhere(pattern, other.clone());
        let [left, right] =
            [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]].map(|values| Diagonal::new("d", values.to_vec()));
        assert_eq!(*there.row_sums(), [3.0, 3.0, 0.0]);
        assert_eq!(
            (there.squares(), there.times_vector(&[1.0, 2.0, 4.0])),
            (14.0, vec![9.0, 6.0, 0.0])
        );
        let scaled = there.scaled_by(0.5, &left, &right);
        assert!(scaled.elsewhere().is_some() && other.read.load(Relaxed) == 0);
        assert_eq!(scaled.values(), held.scaled_by(0.5, &left, &right).values());
        assert_eq!(
            (there.clone().values(), there.row(0).1),
            (held.values(), &[1.0, 2.0][..])
        );
        assert_eq!(other.read.load(Relaxed), 1);
    }
}
