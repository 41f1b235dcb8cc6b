//! [`Role`]: the description of a role, and how its motif counts differ.

use serde::Serialize;

/// A role.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Role {
    /// Its name.
    pub name: String,
    /// Nodes that belong to it more than to any other.
    pub nodes: usize,
    /// Its share of all nodes.
    pub share: f64,
    /// Mean degree of its nodes.
    pub degree: f64,
    /// Mean out-degree of its nodes, in a directed graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_degree: Option<f64>,
    /// Mean in-degree of its nodes, in a directed graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_degree: Option<f64>,
    /// Its typical ratios, in the order of [`RATIOS`](super::RATIOS); six where there are no one-way arcs.
    pub ratios: Vec<f64>,
    /// How its motif counts differ from those of all nodes: node orbits, then directed motifs of a directed graph.
    pub motifs: Vec<MotifScore>,
    /// Its most typical nodes, by number.
    pub exemplars: Vec<u32>,
}

/// How much more or less of a motif a role has than the graph.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MotifScore {
    /// The node orbit; or the directed motif, over arcs that leave (`030T.out`) or enter (`030T.in`).
    pub motif: String,
    /// Mean count of the role's nodes.
    pub mean: f64,
    /// Difference of the means of log(1 + count), in standard deviations over all nodes.
    pub z: f64,
}

impl Role {
    /// The motifs that it has more of than the graph, the strongest first.
    pub fn more(&self) -> Vec<&MotifScore> {
        self.leading(1.0)
    }

    /// The motifs that it has less of.
    pub fn less(&self) -> Vec<&MotifScore> {
        self.leading(-1.0)
    }

    fn leading(&self, sign: f64) -> Vec<&MotifScore> {
        let mut telling: Vec<&MotifScore> = self
            .motifs
            .iter()
            .filter(|score| sign * score.z > 0.1)
            .collect();
        telling.sort_by(|a, b| b.z.abs().total_cmp(&a.z.abs()));
        telling.truncate(3);
        telling
    }
}
