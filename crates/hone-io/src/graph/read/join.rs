//! The result of parsing a block, a [`Chunk`] of edges with ids as narrow as possible, and
//! [`join`], which turns the ids of all chunks into node numbers.
//!
//! A canonical integer prints as it was read, so a chunk of integers can still become text when
//! another chunk has names: nothing is read twice.

use std::path::Path;

use super::comments::Tally;
use super::reading::{ReadNote, TableColumns};
use crate::error::{Error, Result};
use crate::graph::NodeIds;
use crate::memory::Allowance;
use hone_graph::number::{Ends, concat, join_within, narrow};

/// Edges of one block, in order.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) ends: Ends,
    /// One per edge when weights are kept, else none.
    pub(super) weights: Vec<f32>,
    /// Lines that begin like comments and were taken for edges.
    pub(super) read: Tally,
    /// Lines that begin like comments, look like edges and were left out.
    pub(super) skipped: Tally,
    /// Lines that are the header once more, or one of another file.
    pub(super) headers: Tally,
}

impl Chunk {
    pub(super) fn new(ends: Ends, weights: Vec<f32>) -> Self {
        Chunk {
            ends,
            weights,
            read: Tally::default(),
            skipped: Tally::default(),
            headers: Tally::default(),
        }
    }
}

impl Chunk {
    /// Frees unused capacity.
    pub(super) fn fit(&mut self) {
        match &mut self.ends {
            Ends::Nodes(pairs) | Ends::Narrow(pairs) | Ends::Text(_, pairs) => {
                pairs.shrink_to_fit();
            }
            Ends::Wide(pairs) => pairs.shrink_to_fit(),
        }
        self.weights.shrink_to_fit();
    }

    /// Bytes that it holds.
    pub(super) fn bytes(&self) -> u64 {
        let pairs = match &self.ends {
            Ends::Nodes(pairs) | Ends::Narrow(pairs) => 8 * pairs.capacity(),
            Ends::Wide(pairs) => 16 * pairs.capacity(),
            Ends::Text(names, pairs) => 8 * pairs.capacity() + names.bytes(),
        };
        (pairs + 4 * self.weights.capacity()) as u64
    }
}

/// A file's content, ready for the builder.
#[derive(Debug)]
pub(super) struct Joined {
    pub(super) ids: NodeIds,
    pub(super) pairs: Vec<(u32, u32)>,
    pub(super) weights: Option<Vec<f32>>,
    pub(super) ignored_weights: u64,
    /// Whether each pair stands for both directions whatever the options say.
    pub(super) symmetric: bool,
    /// The columns, of a table.
    pub(super) columns: Option<TableColumns>,
    /// What was a guess.
    pub(super) notes: Vec<ReadNote>,
}

impl Joined {
    /// A file whose ids are found in it.
    pub(super) fn new(
        chunks: Vec<Chunk>,
        weighted: bool,
        path: &Path,
        allowance: Allowance,
    ) -> Result<Joined> {
        let edges: usize = chunks.iter().map(|chunk| chunk.ends.len()).sum();
        allowance.check(path, 8 * edges as u64)?;
        let (ends, weights) = unzip(chunks, weighted);
        let room = |more: u64| allowance.check(path, more);
        let (ids, pairs) = join_within(ends, &room)?.ok_or_else(|| too_many_nodes(path))?;
        Ok(Joined {
            ids,
            pairs,
            weights,
            ignored_weights: 0,
            symmetric: false,
            columns: None,
            notes: Vec::new(),
        })
    }

    /// A file whose chunks have final node numbers ([`Ends::Nodes`]).
    pub(super) fn numbered(chunks: Vec<Chunk>, weighted: bool, ids: NodeIds) -> Joined {
        let (ends, weights) = unzip(chunks, weighted);
        let pairs = concat(ends.into_iter().map(narrow).collect(), |node| node);
        Joined {
            ids,
            pairs,
            weights,
            ignored_weights: 0,
            symmetric: false,
            columns: None,
            notes: Vec::new(),
        }
    }
}

fn too_many_nodes(path: &Path) -> Error {
    let message = format!("more than {} nodes", u32::MAX);
    Error::input(
        path,
        message,
        "split the graph; nodes are numbered in 32 bits",
    )
}

fn unzip(chunks: Vec<Chunk>, weighted: bool) -> (Vec<Ends>, Option<Vec<f32>>) {
    let weights = weighted.then(|| {
        chunks
            .iter()
            .flat_map(|chunk| &chunk.weights)
            .copied()
            .collect()
    });
    (
        chunks.into_iter().map(|chunk| chunk.ends).collect(),
        weights,
    )
}
