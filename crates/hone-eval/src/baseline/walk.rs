//! Random walks of the first and second order, by rejection: memory stays linear in the edges.
//!
//! A second-order step from `at`, having come from `before`, chooses a neighbour x with weight
//! w(at, x) times 1/p if x is `before`, 1 if x is adjacent to `before`, 1/q otherwise. We draw x by
//! w alone and accept it with its factor over the largest factor; the way back, whose factor may
//! be far larger than all others, is drawn apart, so that few draws are rejected.
//!
//! References: Grover, Leskovec. node2vec, 2016; Yang et al. KnightKing, 2019.

use hone::graph::Graph;

use super::alias::Alias;
use crate::random::Stream;

/// Draws walks on one graph.
pub(super) struct Walker<'a> {
    graph: &'a Graph,
    /// For weighted graphs, one table per node that has neighbours.
    tables: Option<Vec<Option<Alias>>>,
    /// Factor of the way back, 1/p.
    back: f64,
    /// Factor of nodes not adjacent to the last one, 1/q.
    out: f64,
}

impl<'a> Walker<'a> {
    pub(super) fn new(graph: &'a Graph, p: f64, q: f64) -> Self {
        let tables = graph.weights().map(|weights| {
            let table = |i: usize| {
                let own = &weights[graph.pattern().range(i)];
                own.iter()
                    .any(|&w| w > 0.0)
                    .then(|| Alias::new(own.iter().map(|&w| f64::from(w))))
            };
            (0..graph.nodes()).map(table).collect()
        });
        Walker {
            graph,
            tables,
            back: 1.0 / p,
            out: 1.0 / q,
        }
    }

    /// A walk of at most `length` nodes from `start`, into `walk`; it ends early where no arc leads on.
    pub(super) fn walk(&self, start: u32, length: usize, stream: &mut Stream, walk: &mut Vec<u32>) {
        walk.clear();
        walk.push(start);
        while walk.len() < length {
            let at = walk[walk.len() - 1];
            let before = walk.len().checked_sub(2).map(|k| walk[k]);
            match self.step(at, before, stream) {
                Some(next) => walk.push(next),
                None => break,
            }
        }
    }

    fn step(&self, at: u32, before: Option<u32>, stream: &mut Stream) -> Option<u32> {
        let neighbors = self.graph.neighbors(at);
        let table = match &self.tables {
            Some(tables) => Some(tables[at as usize].as_ref()?),
            None if neighbors.is_empty() => return None,
            None => None,
        };
        let draw = |stream: &mut Stream| match table {
            Some(table) => neighbors[table.draw(stream) as usize],
            None => neighbors[stream.below(neighbors.len())],
        };
        let Some(before) = before.filter(|_| self.back != 1.0 || self.out != 1.0) else {
            return Some(draw(stream));
        };
        let bound = self.out.max(1.0);
        let extra = (self.back - bound).max(0.0) * self.share(at, before);
        loop {
            if extra > 0.0 && stream.unit() * (extra + bound) < extra {
                return Some(before);
            }
            let next = draw(stream);
            let factor = if next == before {
                self.back.min(bound)
            } else if self.graph.neighbors(before).binary_search(&next).is_ok() {
                1.0
            } else {
                self.out
            };
            if stream.unit() * bound < factor {
                return Some(next);
            }
        }
    }

    /// The share of the way to `to` in all ways out of `at`; 0 when there is none (directed graphs).
    fn share(&self, at: u32, to: u32) -> f64 {
        let neighbors = self.graph.neighbors(at);
        match (neighbors.binary_search(&to), self.graph.weights()) {
            (Err(_), _) => 0.0,
            (Ok(_), None) => 1.0 / neighbors.len() as f64,
            (Ok(k), Some(weights)) => {
                let own = &weights[self.graph.pattern().range(at as usize)];
                f64::from(own[k]) / own.iter().map(|&w| f64::from(w)).sum::<f64>()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hone::graph::GraphBuilder;

    /// A triangle 0-1-2 with tails 1-3 and 1-4: from 1, having come from 0, all factors occur.
    fn graph(weighted: bool) -> Graph {
        let builder =
            GraphBuilder::undirected(5).edges(vec![(0, 1), (0, 2), (1, 2), (1, 3), (1, 4)]);
        let builder = if weighted {
            builder.weights(vec![2.0, 1.0, 3.0, 1.0, 4.0])
        } else {
            builder
        };
        builder.build().expect("in range")
    }

    #[test]
    fn steps_follow_the_definition() {
        for (p, q) in [(1.0, 1.0), (0.25, 4.0), (4.0, 0.25), (0.5, 0.5), (2.0, 1.0)] {
            for weighted in [false, true] {
                let graph = graph(weighted);
                let walker = Walker::new(&graph, p, q);
                let mut stream = Stream::new(1, "test", 0);
                let mut seen = [0.0; 5];
                for _ in 0..100_000 {
                    seen[walker
                        .step(1, Some(0), &mut stream)
                        .expect("has neighbours") as usize] += 1e-5;
                }
                let w = if weighted {
                    [2.0, 0.0, 3.0, 1.0, 4.0]
                } else {
                    [1.0, 0.0, 1.0, 1.0, 1.0]
                };
                let mass = [w[0] / p, 0.0, w[2], w[3] / q, w[4] / q];
                let total: f64 = mass.iter().sum();
                for (s, m) in seen.iter().zip(mass) {
                    assert!(
                        (s - m / total).abs() < 0.01,
                        "{seen:?} instead of {mass:?} / {total}"
                    );
                }
            }
        }
    }

    #[test]
    fn walks_follow_arcs_and_end_where_none_leads_on() {
        let graph = GraphBuilder::directed(3)
            .edges(vec![(0, 1), (1, 2)])
            .build()
            .expect("in range");
        let walker = Walker::new(&graph, 0.5, 2.0);
        let mut walk = Vec::new();
        walker.walk(0, 10, &mut Stream::new(1, "test", 0), &mut walk);
        assert_eq!(walk, [0, 1, 2]);
        let zero = GraphBuilder::undirected(2)
            .edges(vec![(0, 1)])
            .weights(vec![0.0])
            .build()
            .expect("in range");
        Walker::new(&zero, 1.0, 1.0).walk(0, 10, &mut Stream::new(1, "test", 0), &mut walk);
        assert_eq!(walk, [0]);
    }
}
