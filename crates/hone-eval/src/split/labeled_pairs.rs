//! [`LabeledPairs`]: node pairs, and whether each is an edge.

use crate::random::Stream;

/// Node pairs and whether each is an edge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabeledPairs {
    /// Pairs of node indices; the smaller first when the graph is undirected.
    pub pairs: Vec<(u32, u32)>,
    /// Whether the pair of the same position is an edge.
    pub labels: Vec<bool>,
}

impl LabeledPairs {
    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there is no pair.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The pairs at the given positions.
    pub fn select(&self, rows: &[u32]) -> LabeledPairs {
        LabeledPairs {
            pairs: rows.iter().map(|&i| self.pairs[i as usize]).collect(),
            labels: rows.iter().map(|&i| self.labels[i as usize]).collect(),
        }
    }

    /// A random part holding `share` of each class (at least one of each where there are two), and
    /// the rest.
    pub fn divide(&self, share: f64, seed: u64) -> (LabeledPairs, LabeledPairs) {
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        Stream::new(seed, "divide pairs", 0).shuffle(&mut order);
        let (mut part, mut rest) = (Vec::new(), Vec::new());
        for class in [true, false] {
            let of_class: Vec<u32> = order
                .iter()
                .copied()
                .filter(|&i| self.labels[i as usize] == class)
                .collect();
            let wanted = (share * of_class.len() as f64).round() as usize;
            let size = wanted.clamp(usize::from(of_class.len() > 1), of_class.len());
            part.extend(&of_class[..size]);
            rest.extend(&of_class[size..]);
        }
        (self.select(&part), self.select(&rest))
    }

    pub(super) fn new(edges: &[(u32, u32)], non_edges: &[(u32, u32)]) -> Self {
        let labels = [vec![true; edges.len()], vec![false; non_edges.len()]].concat();
        LabeledPairs {
            pairs: [edges, non_edges].concat(),
            labels,
        }
    }
}
