//! [`Stored`]: rows of values that are not in the memory of this process, or not as a block.

use std::any::Any;
use std::fmt::Debug;
use std::ops::Range;

use super::Panels;

/// Rows of values kept elsewhere, such as in a file.
pub trait Stored: Debug + Send + Sync {
    /// Number of rows.
    fn rows(&self) -> usize;
    /// Number of columns.
    fn cols(&self) -> usize;
    /// Writes rows `range`, row-major, into `to`. Products cannot fail: what cannot be read becomes zero,
    /// and the owner of the rows reports the error.
    fn read(&self, range: Range<usize>, to: &mut [f32]);
    /// Bytes in memory.
    fn memory(&self) -> usize {
        0
    }
    /// Lengths of the columns, if they are known without reading.
    fn lengths(&self) -> Option<Vec<f64>> {
        None
    }
    /// The concrete type, so that a device can recognise its own values.
    fn as_any(&self) -> Option<&dyn Any> {
        None
    }
}

/// Panels as columns of a larger matrix.
impl Stored for Panels {
    fn rows(&self) -> usize {
        Panels::rows(self)
    }

    fn cols(&self) -> usize {
        Panels::cols(self)
    }

    fn read(&self, range: Range<usize>, to: &mut [f32]) {
        Panels::read(self, &range, to);
    }

    fn memory(&self) -> usize {
        Panels::memory(self)
    }
}
