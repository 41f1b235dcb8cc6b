//! [`Panel`]: some columns of a tall matrix in device memory, row-major.

use crate::driver::{Arg, Memory};

/// Some columns of a tall matrix, on a device.
#[derive(Debug)]
pub struct Panel {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    /// Empty while the values are aside.
    pub(crate) values: Memory<f32>,
    /// The values in the memory of this process, while the device needs its own for others.
    pub(crate) aside: Option<Vec<f32>>,
}

impl Panel {
    pub(crate) fn new(rows: usize, cols: usize, values: Memory<f32>) -> Self {
        Panel {
            rows,
            cols,
            values,
            aside: None,
        }
    }

    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        self.rows * self.cols
    }

    /// # Panics
    /// When the values are aside.
    pub(crate) fn address(&self) -> Arg {
        assert!(self.aside.is_none(), "a panel in use is on the device");
        self.values.address()
    }

    pub(crate) fn width(&self) -> Arg {
        count(self.cols)
    }
}

/// A small number as an argument of a kernel.
pub(crate) fn count(value: usize) -> Arg {
    Arg::Count(u32::try_from(value).expect("a count of a kernel"))
}

/// An address as a number.
pub(crate) fn number(address: Arg) -> u64 {
    if let Arg::Wide(address) = address {
        address
    } else {
        0
    }
}

/// A number as an argument of a kernel.
pub(crate) fn wide(value: usize) -> Arg {
    Arg::Wide(value as u64)
}
