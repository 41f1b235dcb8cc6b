//! [`Elsewhere`]: values of a sparse matrix in the memory of a device, with the few operations needed besides products.
//! They are copied to this process when needed there.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use super::diagonal::Diagonal;

/// Values of a sparse matrix, in the order of its pattern, stored elsewhere.
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

    /// The concrete type, so that a device can recognise its own values.
    fn as_any(&self) -> &dyn Any;
}
