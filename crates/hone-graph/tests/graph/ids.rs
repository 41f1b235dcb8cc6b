//! Ids, names and fingerprints.

use hone_graph::{Graph, GraphBuilder, Names, NodeId, NodeIds, canonical_integer, id_number};

#[test]
fn canonical_means_printing_gives_it_back() {
    for text in [
        "0",
        "7",
        "-7",
        "10",
        "9223372036854775807",
        "-9223372036854775808",
    ] {
        assert_eq!(
            canonical_integer(text.as_bytes())
                .map(|i| i.to_string())
                .as_deref(),
            Some(text)
        );
    }
    for text in [
        "",
        "-",
        "-0",
        "00",
        "07",
        "+7",
        "1.0",
        " 1",
        "9223372036854775808",
        "99999999999999999999",
        "a",
    ] {
        assert_eq!(canonical_integer(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn names_are_numbered_as_they_come() {
    let mut names = Names::new();
    for i in 0..1000u32 {
        assert_eq!(names.intern(&format!("n{}", i * 7919 % 1000)), Some(i));
    }
    for i in 0..1000u32 {
        assert_eq!(names.find(&format!("n{}", i * 7919 % 1000)), Some(i));
    }
    assert_eq!((names.find("x"), names.len()), (None, 1000));
}

#[test]
fn listed_names_are_found_and_added_to() {
    let mut names = Names::listed([1, 0, 2].into_iter(), "aü").expect("three names");
    assert_eq!((names.get(0), names.get(1), names.get(2)), ("a", "", "ü"));
    assert_eq!((names.find("ü"), names.find("b")), (Some(2), None));
    assert_eq!(
        (names.intern(""), names.intern("b"), names.intern("ü")),
        (Some(1), Some(3), Some(2))
    );
    for lengths in [&[1, 1, 1][..], &[2, 1], &[1], &[3, 1], &[u32::MAX, 4]] {
        assert!(
            Names::listed(lengths.iter().copied(), "aü").is_none(),
            "{lengths:?}"
        );
    }
}

#[test]
fn every_kind_of_id_finds_its_way_back() {
    for ids in [
        NodeIds::Sequential(3),
        NodeIds::from_integers(vec![5, -1, 3]),
        NodeIds::from_texts(&["a", "", "ü"]),
    ] {
        let index = ids.index();
        for i in 0..3 {
            assert_eq!(index.find(&ids.get(i).to_string()), Some(i));
        }
        assert_eq!((index.find("007"), index.find("9")), (None, None));
    }
    assert_eq!(NodeIds::from_integers(vec![0, 1]), NodeIds::Sequential(2));
}

#[test]
fn ids_of_some_nodes() {
    assert_eq!(
        NodeIds::Sequential(9).some(&[4, 7]),
        NodeIds::from_integers(vec![4, 7])
    );
    assert_eq!(
        NodeIds::from_integers(vec![5, 3, 8]).some(&[0, 2]),
        NodeIds::from_integers(vec![5, 8])
    );
    let names = NodeIds::from_texts(&["a", "7", "", "täg"]);
    let some = names.some(&[1, 2, 3]);
    assert!(
        some.iter().map(|id| id.to_string()).eq(["7", "", "täg"]),
        "{some:?}"
    );
    assert!(names.some(&[]).is_empty());
}

#[test]
fn ids_that_occur_twice() {
    for (ids, repeated) in [
        (NodeIds::Sequential(3), None),
        (NodeIds::from_integers(vec![5, -1, 3]), None),
        (NodeIds::from_integers(vec![1, 3, 5]), None),
        (NodeIds::from_integers(vec![5, 3, 3, 5]), Some((1, 2))),
        (NodeIds::from_texts(&["a", "", "b", ""]), Some((1, 3))),
        (NodeIds::from_texts(&["a", "b"]), None),
    ] {
        assert_eq!(ids.repeated(), repeated, "{ids:?}");
    }
}

fn graph(ids: &[&str], edges: &[(u32, u32)], directed: bool) -> Graph {
    let builder = if directed {
        GraphBuilder::directed(0)
    } else {
        GraphBuilder::undirected(0)
    };
    builder
        .ids(NodeIds::from_texts(ids))
        .edges(edges.to_vec())
        .build()
        .expect("in range")
}

#[test]
fn numbers_have_the_names_of_their_digits() {
    for number in [0, 7, -7, 10, 1_000_000, i64::MAX, i64::MIN] {
        assert_eq!(
            id_number(NodeId::Integer(number)),
            id_number(NodeId::Text(&number.to_string())),
            "{number}"
        );
    }
}

#[test]
fn edges_are_the_same_in_any_order() {
    let first = graph(&["7", "b", "c", "d"], &[(0, 1), (1, 2), (2, 3)], false).edge_fingerprint();
    let turned = graph(
        &["d", "c", "b", "7", "alone"],
        &[(1, 0), (2, 1), (3, 2)],
        false,
    )
    .edge_fingerprint();
    assert_eq!(first, turned, "another order, and a node without an edge");
    let arcs = graph(
        &["7", "b", "c", "d"],
        &[(1, 0), (1, 2), (2, 1), (3, 2)],
        true,
    )
    .edge_fingerprint();
    assert_eq!(first, arcs, "directions do not count, nor do arcs back");
    assert_eq!(graph(&["7", "8"], &[(0, 1)], false).edge_fingerprint(), {
        graph(&["7", "8", "x"], &[(1, 0)], false).edge_fingerprint()
    });
    for (ids, edges) in [
        (["7", "b", "c", "e"], vec![(0, 1), (1, 2), (2, 3)]),
        (["7", "b", "c", "d"], vec![(0, 1), (1, 2), (1, 3)]),
        (["7", "b", "c", "d"], vec![(0, 1), (1, 2)]),
    ] {
        assert_ne!(
            first,
            graph(&ids, &edges, false).edge_fingerprint(),
            "{ids:?} {edges:?}"
        );
    }
}
