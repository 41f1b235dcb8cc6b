//! [`Elsewhere`]: values of a sparse matrix that lie in the memory of a device, with the few things that are asked of them
//! besides products. They are read into the memory of this process when somebody needs them there.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use super::diagonal::Diagonal;

/// Values of a sparse matrix, in the order of its pattern, in some other place.
pub trait Elsewhere: Debug + Send + Sync {
    /// A copy in the memory of this process.
    fn read(&self) -> Vec<f32>;

    /// The matrix times a vector, in f64.
    fn times_vector(&self, x: &[f64]) -> Vec<f64>;

    /// The sum of each row, in f64.
    fn row_sums(&self) -> Arc<Vec<f64>>;

    /// The sum of all squares.
    fn squares(&self) -> f64;

    /// The values of scale · diag(left) · A · diag(right), in the same place.
    fn scaled(&self, scale: f64, left: &Diagonal, right: &Diagonal) -> Arc<dyn Elsewhere>;

    /// The values as what they are, for a device that knows its own.
    fn as_any(&self) -> &dyn Any;
}
