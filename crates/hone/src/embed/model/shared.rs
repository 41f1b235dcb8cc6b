//! Which nodes two graphs share, and whose edges are the same in both.
//!
//! Edges of a model are not kept; a number for the neighbours of each node is: the sum of one number per neighbour, made of
//! its id and the weight of the edge. Sums do not depend on the order of nodes; two lists of neighbours have the same sum
//! by an accident of 2⁻⁶⁴ only.

use crate::graph::{NodeIds, id_number};
use crate::hashing::SeededMap;
use crate::random::mix64;
use crate::storage::Pages;

/// A number for each id; 7 is the same id among numbers and among texts.
pub(in crate::embed) fn names(ids: &NodeIds) -> Pages<u64> {
    Pages::collect(ids.len(), |i| id_number(ids.get(i as u32)))
}

/// A number for a neighbour and the weight of the edge to it.
pub(super) fn mark(name: u64, weight: f64) -> u64 {
    mix64(name ^ mix64(!weight.to_bits()))
}

/// The same of an arc that comes from it.
pub(super) fn mark_back(name: u64, weight: f64) -> u64 {
    mark(!name, weight)
}

/// For each of `ids` its number among `others`, if it is there.
pub(in crate::embed) fn numbers(ids: &NodeIds, others: &NodeIds) -> Vec<Option<u32>> {
    if let (NodeIds::Sequential(_), NodeIds::Sequential(n)) = (ids, others) {
        return (0..ids.len())
            .map(|i| (i < *n).then_some(i as u32))
            .collect();
    }
    if let (Some(id), Some(other)) = (integers(ids), integers(others)) {
        return numbers_of_integers((ids.len(), id), (others.len(), other));
    }
    let index = others.index();
    ids.iter().map(|id| index.find(&id.to_string())).collect()
}

/// Ids as integers by node, where they are.
fn integers(ids: &NodeIds) -> Option<impl Fn(usize) -> i64> {
    match ids {
        NodeIds::Sequential(_) => Some(None),
        NodeIds::Integers(ids) => Some(Some(ids)),
        NodeIds::Text { .. } => None,
    }
    .map(|list| move |i: usize| list.map_or(i as i64, |list| list[i]))
}

/// [`numbers`] of integers: where both lists ascend, they are walked together; else most are where they were, and for the others
/// there is a table.
fn numbers_of_integers(
    (count, id): (usize, impl Fn(usize) -> i64),
    (others, other): (usize, impl Fn(usize) -> i64),
) -> Vec<Option<u32>> {
    let ascends = |count: usize, id: &dyn Fn(usize) -> i64| (1..count).all(|i| id(i - 1) < id(i));
    if ascends(count, &id) && ascends(others, &other) {
        let mut at = 0;
        let of = |i: usize| {
            while at < others && other(at) < id(i) {
                at += 1;
            }
            (at < others && other(at) == id(i)).then_some(at as u32)
        };
        return (0..count).map(of).collect();
    }
    let stays = |i: usize| i < count && i < others && id(i) == other(i);
    let mut table: SeededMap<i64, u32> = SeededMap::default();
    if (0..count).any(|i| !stays(i)) {
        table.extend(
            (0..others)
                .filter(|&i| !stays(i))
                .map(|i| (other(i), i as u32)),
        );
    }
    let of = |i: usize| {
        if stays(i) {
            Some(i as u32)
        } else {
            table.get(&id(i)).copied()
        }
    };
    (0..count).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_the_same_as_numbers_and_as_texts() {
        let (numbered, named) = (
            NodeIds::from_integers(vec![7, 3, 9]),
            NodeIds::from_texts(&["x", "9", "07", "7"]),
        );
        assert_eq!(numbers(&numbered, &named), [Some(3), None, Some(1)]);
        assert_eq!(numbers(&named, &numbered), [None, Some(2), None, Some(0)]);
        assert_eq!(
            numbers(&NodeIds::Sequential(3), &NodeIds::Sequential(2)),
            [Some(0), Some(1), None]
        );
        let mixed = [
            (vec![7, 3, 9], vec![3, 7, 9, 5]),
            (vec![0, 1, 2, 3], vec![0, 2, 1]),
            (vec![2, 1], vec![0, 1, 2]),
            (vec![1, 4, 6, 9], vec![-2, 4, 5, 9, 11]),
        ];
        for (one, two) in mixed {
            let texts: Vec<String> = two
                .iter()
                .map(|id: &i64| id.to_string())
                .chain(["x".to_owned()])
                .collect();
            let (one, two) = (NodeIds::from_integers(one), NodeIds::from_integers(two));
            assert_eq!(
                numbers(&one, &two),
                numbers(&one, &NodeIds::from_texts(&texts))
            );
        }
        let (a, b) = (names(&numbered), names(&named));
        assert!(a[0] == b[3] && a[2] == b[1] && a[0] != b[2] && a[0] != a[1]);
        assert_ne!(mark(a[0], 1.0), mark(a[0], 2.0));
        assert_ne!(mark(a[0], 1.0), mark(a[1], 1.0));
        assert_ne!(mark(a[0], 1.0), mark_back(a[0], 1.0));
    }
}
