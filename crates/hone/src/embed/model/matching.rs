//! Which nodes two graphs share, and whose edges are the same in both.
//!
//! Edges of a model are not kept; a number for the neighbours of each node is: the sum of one number per neighbour, made of
//! its id and the weight of the edge. Sums do not depend on the order of nodes; two lists of neighbours have the same sum
//! by an accident of 2⁻⁶⁴ only.

use crate::graph::{IdIndex, NodeId, NodeIds, id_number};
use crate::motif::MotifGraph;
use crate::parallel;
use crate::random::mix64;
use crate::sparse::Csr;
use crate::storage::Pages;

/// A number for each id; 7 is the same id among numbers and among texts.
pub(in crate::embed) fn names(ids: &NodeIds) -> Pages<u64> {
    Pages::collect(ids.len(), |i| id_number(ids.get(i as u32)))
}

/// For each of `ids` its number among `others`, if it is there.
pub(in crate::embed) fn numbers(ids: &NodeIds, others: &NodeIds) -> Vec<Option<u32>> {
    let index = others.index();
    parallel::collect(ids.len(), |i| match (ids.get(i as u32), &index) {
        (NodeId::Integer(id), IdIndex::Integers(nodes)) => nodes.get(&id).copied(),
        (NodeId::Integer(id), IdIndex::Sequential(n)) => {
            u32::try_from(id).ok().filter(|&id| (id as usize) < *n)
        }
        (id, index) => index.find(&id.to_string()),
    })
}

/// For each row of W the number of its neighbours; `name` has the number of the id of each row that counts. Arcs to a node count
/// otherwise than arcs from it; `back` is W transposed where they differ.
pub(in crate::embed) fn marks(
    graph: &MotifGraph,
    back: Option<&Csr>,
    name: impl Fn(usize) -> Option<u64> + Sync,
) -> Vec<u64> {
    let mark = |name: u64, w: f64| mix64(name ^ mix64(!(w / graph.scale).to_bits()));
    parallel::collect(graph.matrix.rows(), |row| {
        let forth = neighbours(&graph.matrix, row).filter_map(|(j, w)| Some(mark(name(j)?, w)));
        let back = back.into_iter().flat_map(|back| neighbours(back, row));
        let back = back.filter_map(|(j, w)| Some(mark(!name(j)?, w)));
        forth.chain(back).fold(0, u64::wrapping_add)
    })
}

/// The neighbours of a row and the weights of the edges to them, zeros left out.
pub(in crate::embed) fn neighbours(matrix: &Csr, row: usize) -> impl Iterator<Item = (usize, f64)> {
    let (columns, values) = matrix.row(row);
    let entries = columns.iter().zip(values).filter(|(_, w)| **w != 0.0);
    entries.map(|(&j, &w)| (j as usize, f64::from(w)))
}

/// The node of a row of W.
pub(in crate::embed) fn node(graph: &MotifGraph, row: usize) -> usize {
    let nodes = graph.nodes.as_ref();
    nodes.map_or(row, |nodes| nodes[row] as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;
    use crate::motif::Weighting;

    #[test]
    fn ids_are_the_same_as_numbers_and_as_texts() {
        let (numbered, named) = (
            NodeIds::from_integers(vec![7, 3, 9]),
            NodeIds::from_texts(&["x", "9", "07", "7"]),
        );
        assert_eq!(numbers(&numbered, &named), [Some(3), None, Some(1)]);
        assert_eq!(numbers(&named, &numbered), [None, Some(2), None, Some(0)]);
        let first = |n: usize| NodeIds::Sequential(n);
        assert_eq!(numbers(&first(3), &first(2)), [Some(0), Some(1), None]);
        let below = NodeIds::from_integers(vec![-1, 1]);
        assert_eq!(numbers(&below, &first(2)), [None, Some(1)]);
        let (a, b) = (names(&numbered), names(&named));
        assert!(a[0] == b[3] && a[2] == b[1] && a[0] != b[2] && a[0] != a[1]);
    }

    /// Marks tell who the neighbours are, which edges lead to them, and in which direction.
    #[test]
    fn marks_tell_of_neighbours_weights_and_directions() {
        let of = |directed: bool, (from, to, weight): (u32, u32, f32)| {
            let builder = match directed {
                true => GraphBuilder::directed(3),
                false => GraphBuilder::undirected(3),
            };
            let builder = builder.edges(vec![(from, to)]).weights(vec![weight]);
            let graph = builder.build().expect("valid");
            let weighting = Weighting {
                use_weights: true,
                ..Weighting::default()
            };
            let w = MotifGraph::of_edges(&graph, weighting).expect("small");
            let back = directed.then(|| w.matrix.transposed());
            marks(&w, back.as_ref(), |row| Some(row as u64 + 5))
        };
        let one = of(false, (0, 1, 1.0));
        assert_eq!(one, of(false, (1, 0, 1.0)));
        assert_ne!(one[0], of(false, (0, 1, 2.0))[0]);
        assert_ne!(one[0], of(false, (0, 2, 1.0))[0]);
        let arc = of(true, (0, 1, 1.0));
        assert_ne!(arc[0], of(true, (1, 0, 1.0))[0]);
        assert_eq!((arc[2], one[2]), (0, 0));
    }
}
