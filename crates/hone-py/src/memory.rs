//! Memory lent by NumPy to the library, and by the library to NumPy: nothing large is copied.
//!
//! Why: of a CSR matrix of a million nodes and ten million entries, 40 MB of column numbers are not copied
//! (the graph takes 15 MB), and of its embedding 512 MB are not. The only `unsafe` of this crate. Both directions rest on the same two facts: the owner is kept
//! alive as long as the memory is used, and nobody moves or frees the memory meanwhile. NumPy moves
//! the memory of an array only in `resize`, which it refuses while somebody else refers to the array,
//! unless asked not to look (`refcheck=False`): as with any consumer of NumPy memory, that is asking for it.
#![expect(
    unsafe_code,
    reason = "NumPy's memory has no lifetime that Rust knows of"
)]

use std::slice;

use hone::dense::Block;
use hone::sparse::Indices;
use numpy::ndarray::ArrayView2;
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::error::refuse;

/// An array of column numbers that the library reads where it lies.
struct Lent {
    _owner: Py<PyArray1<i32>>,
    start: *const i32,
    len: usize,
}

// SAFETY: the pointer is only read through, and the reference count of the owner is only touched
// while attached to the interpreter (`Py` sees to that).
unsafe impl Send for Lent {}
// SAFETY: as above; reading from several threads at once is what a shared slice is for.
unsafe impl Sync for Lent {}

impl AsRef<[u32]> for Lent {
    fn as_ref(&self) -> &[u32] {
        // SAFETY: `start` and `len` come from an aligned, contiguous slice of i32, which has the size
        // and alignment of u32, and `_owner` keeps it. That the array is not written to while the
        // graph lives is the caller's part, as with every consumer of NumPy memory, and documented;
        // every index is checked when used, so a broken promise gives wrong counts or an exception.
        unsafe { slice::from_raw_parts(self.start.cast::<u32>(), self.len) }
    }
}

/// The values of a contiguous array, where they lie. Negative ones become numbers beyond 2³¹, which
/// no matrix of 32-bit indices has as a column.
pub(crate) fn lent(array: &PyReadonlyArray1<'_, i32>) -> PyResult<Indices> {
    let values = array
        .as_slice()
        .map_err(|_| refuse("indices", "not contiguous in memory; copy the matrix first"))?;
    let (start, len) = (values.as_ptr(), values.len());
    let owner: &Bound<'_, PyArray1<i32>> = array;
    Ok(Indices::lent(Lent {
        _owner: owner.clone().unbind(),
        start,
        len,
    }))
}

/// A copy of an array as a block.
pub(crate) fn block(array: &PyReadonlyArray2<'_, f32>) -> Block {
    let values = array.as_array();
    let (rows, cols) = values.dim();
    Block::from_vec(rows, cols, values.iter().copied().collect())
}

/// Owner of the memory of an embedding that NumPy shows.
#[pyclass(module = "hone_embed._native", frozen)]
pub(crate) struct Vectors {
    block: Block,
}

/// The block as an array that owns it.
pub(crate) fn array(py: Python<'_>, block: Block) -> PyResult<Bound<'_, PyArray2<f32>>> {
    let owner = Bound::new(py, Vectors { block })?;
    let block = &owner.get().block;
    let view = ArrayView2::from_shape((block.rows(), block.cols()), block.as_slice())
        .map_err(|error| refuse("embedding", error.to_string()))?;
    // SAFETY: the array keeps `owner`, which never gives its block away or touches it again; so the
    // array is the only one to read or write this memory.
    let array = unsafe { PyArray2::borrow_from_array(&view, owner.clone().into_any()) };
    debug_assert!(array.is_c_contiguous());
    Ok(array)
}
