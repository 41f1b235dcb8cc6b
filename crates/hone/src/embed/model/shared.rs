//! Which nodes two graphs share, and whose edges are the same in both.
//!
//! Edges of a model are not kept; a number for the neighbours of each node is: the sum of one number per neighbour, made of
//! its id and the weight of the edge. Sums do not depend on the order of nodes; two lists of neighbours have the same sum
//! by an accident of 2⁻⁶⁴ only.

use crate::graph::{NodeIds, id_number, spread};
use crate::parallel;

/// A number for each id; 7 is the same id among numbers and among texts.
pub(in crate::embed) fn names(ids: &NodeIds) -> Vec<u64> {
    parallel::collect(ids.len(), |i| id_number(ids.get(i as u32)))
}

/// A number for a neighbour and the weight of the edge to it.
pub(super) fn mark(name: u64, weight: f64) -> u64 {
    spread(name ^ spread(!weight.to_bits()))
}

/// The same of an arc that comes from it.
pub(super) fn mark_back(name: u64, weight: f64) -> u64 {
    mark(!name, weight)
}

/// For each of `ids` its number among `others`, if it is there.
pub(in crate::embed) fn numbers(ids: &NodeIds, others: &NodeIds) -> Vec<Option<u32>> {
    if let (NodeIds::Sequential(_), NodeIds::Sequential(n)) = (ids, others) {
        return (0..ids.len()).map(|i| (i < *n).then_some(i as u32)).collect();
    }
    let index = others.index();
    ids.iter().map(|id| index.find(&id.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_the_same_as_numbers_and_as_texts() {
        let (numbered, named) = (NodeIds::from_integers(vec![7, 3, 9]), NodeIds::from_texts(&["x", "9", "07", "7"]));
        assert_eq!(numbers(&numbered, &named), [Some(3), None, Some(1)]);
        assert_eq!(numbers(&named, &numbered), [None, Some(2), None, Some(0)]);
        assert_eq!(numbers(&NodeIds::Sequential(3), &NodeIds::Sequential(2)), [Some(0), Some(1), None]);
        let (a, b) = (names(&numbered), names(&named));
        assert!(a[0] == b[3] && a[2] == b[1] && a[0] != b[2] && a[0] != a[1]);
        assert_ne!(mark(a[0], 1.0), mark(a[0], 2.0));
        assert_ne!(mark(a[0], 1.0), mark(a[1], 1.0));
        assert_ne!(mark(a[0], 1.0), mark_back(a[0], 1.0));
    }
}
