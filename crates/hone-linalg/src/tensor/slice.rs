//! [`Slice`]: one matrix of a tensor, on the nodes that it has.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::dense::Block;
use crate::operator::{Operator, Workspace};

/// One matrix of the tensor, zero outside some of the nodes.
#[derive(Debug, Clone)]
pub struct Slice {
    /// Its name in errors: motif and step.
    pub name: String,
    /// The matrix on its own nodes, times `scale`.
    pub operator: Operator,
    /// The factor that keeps the matrix in range; mostly 1.
    pub scale: f64,
    /// The nodes that are its rows and columns, ascending; absent for all.
    pub nodes: Option<Arc<[u32]>>,
}

/// The size of a slice.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SliceNorm {
    /// Frobenius norm of the matrix, without the slice's `scale`.
    pub frobenius: f64,
    /// Whether that is exact, not estimated from random products.
    pub exact: bool,
    /// The factor of the matrix in the tensor; 0 for a slice of zeros.
    pub factor: f64,
}

impl Slice {
    /// The rows of a block that the slice has.
    pub(super) fn rows<'b>(&self, x: &'b Block) -> Cow<'b, Block> {
        match &self.nodes {
            None => Cow::Borrowed(x),
            Some(nodes) => {
                let mut own = Block::zeros(nodes.len(), x.cols());
                own.update_rows(|i, row| row.copy_from_slice(x.row(nodes[i] as usize)));
                Cow::Owned(own)
            }
        }
    }

    /// Changes the rows of a block that the slice has, given their number among its own.
    pub(super) fn change_rows(&self, x: &mut Block, change: impl Fn(usize, &mut [f32]) + Sync) {
        match &self.nodes {
            None => x.update_rows(change),
            Some(nodes) => x.update_rows(|i, row| {
                if let Ok(own) = nodes.binary_search(&(i as u32)) {
                    change(own, row);
                }
            }),
        }
    }

    /// X_s B or X_sᵀ B on the slice's own rows, B given on all nodes.
    pub(super) fn times(&self, b: &Block, transpose: bool, work: &mut Workspace) -> Block {
        let own = self.rows(b);
        let mut out = work.block(own.rows(), own.cols());
        if transpose {
            self.operator.apply_transposed_into(&own, &mut out, work);
        } else {
            self.operator.apply_into(&own, &mut out, work);
        }
        out
    }
}
