//! Numbers nodes with ids given by a caller, as the readers do for files: integers in ascending order, text in order of
//! first appearance.

use super::ids::{Names, NodeIds};
use super::read::{Ends, join};
use crate::error::{Error, Result};
use crate::parallel;

/// Edges per chunk.
const CHUNK: usize = 1 << 16;

impl NodeIds {
    /// The nodes of `count` edges between integer ids, and the edges between their numbers.
    ///
    /// ```
    /// use hone::graph::NodeIds;
    /// let edges = [(30, 10), (10, 20)];
    /// let (ids, pairs) = NodeIds::number_integers(edges.len(), |e| edges[e])?;
    /// assert_eq!(ids, NodeIds::Integers(vec![10, 20, 30]));
    /// assert_eq!(pairs, [(2, 0), (0, 1)]);
    /// # Ok::<(), hone::Error>(())
    /// ```
    pub fn number_integers(
        count: usize,
        edge: impl Fn(usize) -> (i64, i64) + Sync,
    ) -> Result<(NodeIds, Vec<(u32, u32)>)> {
        let chunk = |c: usize| {
            let edges = c * CHUNK..count.min((c + 1) * CHUNK);
            let narrow = |e| {
                let (u, v) = edge(e);
                Some((u32::try_from(u).ok()?, u32::try_from(v).ok()?))
            };
            let small: Option<Vec<_>> = edges.clone().map(narrow).collect();
            small.map_or_else(|| Ends::Wide(edges.map(&edge).collect()), Ends::Narrow)
        };
        let chunks = parallel::map(count.div_ceil(CHUNK), chunk);
        if count == 0 {
            return Ok((NodeIds::Sequential(0), Vec::new()));
        }
        join(chunks).ok_or_else(too_many)
    }

    /// The nodes of edges between names, and the edges between their numbers.
    pub fn number_texts<'a>(
        edges: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Result<(NodeIds, Vec<(u32, u32)>)> {
        let mut names = Names::new();
        let pair = |(u, v)| names.intern(u).zip(names.intern(v));
        let pairs = edges
            .map(pair)
            .collect::<Option<Vec<_>>>()
            .ok_or_else(too_many)?;
        Ok((names.into_ids(), pairs))
    }
}

fn too_many() -> Error {
    Error::config(
        "nodes",
        format!("more than {}; nodes are numbered in 32 bits", u32::MAX),
    )
}
