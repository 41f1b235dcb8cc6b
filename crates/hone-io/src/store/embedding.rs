//! [`Embedding`]: node vectors with the names of their rows and columns.

use crate::dense::Block;
use crate::dense::panels::Own;
use crate::graph::NodeIds;

/// Node vectors with the names of their rows and columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// Original id of every row.
    pub ids: NodeIds,
    /// One row per node, or those of this process.
    pub vectors: Block,
    /// One name per column.
    pub columns: Vec<String>,
    /// The rows that are here: all, unless several processes hold the embedding together.
    pub own: Own,
}

impl Embedding {
    /// Vectors whose columns are called `z0`, `z1`, …
    ///
    /// # Panics
    /// When there are not as many ids as rows.
    pub fn new(ids: NodeIds, vectors: Block) -> Self {
        let columns = (0..vectors.cols()).map(|j| format!("z{j}")).collect();
        Self::with_columns(ids, vectors, columns)
    }

    /// Vectors with named columns.
    ///
    /// # Panics
    /// When ids or names do not match the block's shape.
    pub fn with_columns(ids: NodeIds, vectors: Block, columns: Vec<String>) -> Self {
        let own = Own::all(vectors.rows());
        Self::part(ids, own, vectors, columns)
    }

    /// Some rows of an embedding, the others being in other processes; the ids are those of all rows.
    ///
    /// # Panics
    /// When ids or names do not match the shape.
    pub fn part(ids: NodeIds, own: Own, vectors: Block, columns: Vec<String>) -> Self {
        assert_eq!(
            (ids.len(), own.range.len()),
            (own.rows, vectors.rows()),
            "one id per row"
        );
        assert_eq!(columns.len(), vectors.cols(), "one name per column");
        Embedding {
            ids,
            vectors,
            columns,
            own,
        }
    }
}
