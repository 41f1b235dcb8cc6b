//! The nodes whose rows a placed graph has: all of them, or the new ones.

use crate::dense::Block;
use crate::graph::NodeIds;

/// Nodes by row of the result, ascending.
pub(super) enum Wanted {
    All(usize),
    Some(Vec<u32>),
}

impl Wanted {
    /// Nodes that the model does not have, or all; `of_fit` has the number of each in the model.
    pub(super) fn of(new_only: bool, of_fit: &[Option<u32>]) -> Wanted {
        match new_only {
            false => Wanted::All(of_fit.len()),
            true => Wanted::Some(
                (0..)
                    .zip(of_fit)
                    .filter(|(_, model)| model.is_none())
                    .map(|(i, _)| i)
                    .collect(),
            ),
        }
    }

    /// Rows of the result.
    pub(super) fn rows(&self) -> usize {
        match self {
            Wanted::All(nodes) => *nodes,
            Wanted::Some(nodes) => nodes.len(),
        }
    }

    /// The node of a row.
    pub(super) fn node(&self, row: usize) -> u32 {
        match self {
            Wanted::All(_) => row as u32,
            Wanted::Some(nodes) => nodes[row],
        }
    }

    /// Whether they are not all nodes.
    pub(super) fn are_some(&self) -> bool {
        matches!(self, Wanted::Some(_))
    }

    /// These rows of a block with one row per node.
    pub(super) fn of_rows(&self, all: &Block) -> Block {
        let mut rows = Block::zeros(self.rows(), all.cols());
        rows.update_rows(|k, row| row.copy_from_slice(all.row(self.node(k) as usize)));
        rows
    }

    /// The ids of the rows.
    pub(super) fn ids(&self, ids: &NodeIds) -> NodeIds {
        match self {
            Wanted::All(_) => ids.clone(),
            Wanted::Some(nodes) => ids.some(nodes),
        }
    }
}
