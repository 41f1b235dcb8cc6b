//! [`Block`]: a tall, thin, row-major f32 matrix, the only dense thing of size N in the method.

/// A dense row-major matrix of `rows` × `cols` f32 values.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    rows: usize,
    cols: usize,
    data: Vec<f32>,
}

impl Block {
    /// A block of zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Block { rows, cols, data: vec![0.0; rows * cols] }
    }

    /// Takes row-major data.
    ///
    /// # Panics
    /// When the length is not `rows * cols`.
    pub fn from_vec(rows: usize, cols: usize, data: Vec<f32>) -> Self {
        assert_eq!(data.len(), rows * cols, "{rows} × {cols} values");
        Block { rows, cols, data }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &[f32] {
        &self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// Row `i`, to be changed.
    pub fn row_mut(&mut self, i: usize) -> &mut [f32] {
        &mut self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// All values, row after row.
    pub fn as_slice(&self) -> &[f32] {
        &self.data
    }

    /// All values, to be changed.
    pub fn as_mut_slice(&mut self) -> &mut [f32] {
        &mut self.data
    }
}
