//! The negatives of link prediction: random pairs, or reversed arcs.

use std::str::FromStr;

use hone::graph::Graph;
use hone::{Error, Result};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use super::labeled_pairs::LabeledPairs;
use crate::named;

/// Which pairs without an arc are to be distinguished from removed arcs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Negatives {
    /// Pairs at random.
    #[default]
    Random,
    /// Removed arcs, reversed, if the reverse is not an arc: which way does the arc go?
    Reversed,
    /// Reversed arcs and random pairs, half each.
    Mixed,
}

impl FromStr for Negatives {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        named("negatives", text, "random, reversed, mixed")
    }
}

impl Negatives {
    /// The default for a graph: reversed arcs and random pairs, if any arc can be reversed.
    pub fn usual(graph: &Graph) -> Self {
        if graph.is_directed() && has_one_way(graph) {
            Negatives::Mixed
        } else {
            Negatives::Random
        }
    }

    /// Refuses reversed arcs for undirected graphs.
    pub(super) fn check(self, graph: &Graph) -> Result<()> {
        if self == Negatives::Random || graph.is_directed() {
            return Ok(());
        }
        Err(Error::config(
            "negatives",
            "reversed arcs are of directed graphs, and this one is undirected; read it with directed = true, or use \
             negatives = \"random\"",
        ))
    }

    /// Arcs and as many pairs without one.
    pub(super) fn pairs(
        self,
        graph: &Graph,
        arcs: &[(u32, u32)],
        random: &[(u32, u32)],
    ) -> Result<LabeledPairs> {
        if self == Negatives::Random {
            return Ok(LabeledPairs::new(arcs, random));
        }
        let arcs: Vec<(u32, u32)> = arcs
            .iter()
            .filter(|arc| is_one_way(graph, **arc))
            .copied()
            .collect();
        if arcs.is_empty() {
            return Err(nothing_to_turn(graph));
        }
        let turned = arcs.iter().map(|&(u, v)| (v, u));
        let reversed = if self == Negatives::Mixed {
            arcs.len().div_ceil(2)
        } else {
            arcs.len()
        };
        // No pair twice: a random one may be a reversed arc.
        let turned: Vec<(u32, u32)> = turned.take(reversed).collect();
        let seen: FxHashSet<&(u32, u32)> = turned.iter().collect();
        let others = random
            .iter()
            .filter(|pair| !seen.contains(pair))
            .take(arcs.len() - reversed);
        let others: Vec<(u32, u32)> = others.copied().collect();
        Ok(LabeledPairs::new(&arcs, &[&turned[..], &others].concat()))
    }
}

fn is_one_way(graph: &Graph, (u, v): (u32, u32)) -> bool {
    graph.neighbors(v).binary_search(&u).is_err()
}

/// Whether some arc has no reverse, so that it can be reversed.
fn has_one_way(graph: &Graph) -> bool {
    let mut nodes = 0..graph.nodes() as u32;
    nodes.any(|u| {
        graph
            .neighbors(u)
            .iter()
            .any(|&v| is_one_way(graph, (u, v)))
    })
}

/// Why there are no reversed arcs, and what can be done.
fn nothing_to_turn(graph: &Graph) -> Error {
    let message = if has_one_way(graph) {
        "every removed arc has its reverse, so none can be reversed; remove a larger share, or use negatives = \"random\""
    } else {
        "every arc has its reverse, so none can be reversed; use negatives = \"random\""
    };
    Error::config("negatives", message)
}
