//! Edits by id, and where new nodes are placed.

use hone_graph::{Graph, GraphBuilder, NodeIds};

fn graph(ids: &[&str], edges: &[(u32, u32)]) -> Graph {
    GraphBuilder::undirected(0)
        .ids(NodeIds::from_texts(ids))
        .edges(edges.to_vec())
        .build()
        .expect("in range")
}

#[test]
fn edges_by_id_become_edges_by_node() {
    let before = graph(&["2", "5", "9"], &[(0, 1), (1, 2)]);
    let added = graph(&["9", "2", "7"], &[(0, 1), (1, 2)]);
    let edits = before
        .edits(Some(&added), Some(&graph(&["9", "5"], &[(0, 1)])))
        .expect("sound");
    assert_eq!(
        (edits.graph.nodes(), edits.new_nodes, edits.present),
        (4, 1, 0)
    );
    assert_eq!(
        (edits.added, edits.removed),
        (vec![(0, 3), (0, 2)], vec![(1, 3)])
    );
    let present = before
        .edits(Some(&graph(&["5", "2"], &[(0, 1)])), None)
        .expect("sound");
    assert_eq!((present.present, present.added.len()), (1, 0));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let before = graph(&["a", "b", "c"], &[(0, 1), (1, 2)]);
    let refused = |added: Option<&Graph>, removed: Option<&Graph>| {
        before.edits(added, removed).unwrap_err().to_string()
    };
    for (ids, words) in [
        (["a", "c"], "no edge between `a` and `c`"),
        (["a", "x"], "no edge between `a` and `x`"),
    ] {
        let message = refused(None, Some(&graph(&ids, &[(0, 1)])));
        assert!(message.contains(words), "{message}");
    }
    let both = graph(&["b", "a"], &[(0, 1)]);
    assert!(refused(Some(&both), Some(&both)).contains("to be added as well"));
    let arcs = GraphBuilder::directed(2)
        .edges(vec![(0, 1)])
        .build()
        .expect("sound");
    assert!(
        arcs.edits(None, None)
            .unwrap_err()
            .to_string()
            .contains("directed graph")
    );
}

#[test]
fn new_nodes_come_where_reading_would_put_them() {
    let edges = vec![(0, 1), (1, 2)];
    let grown = |ids: NodeIds, further: &[&str]| {
        let graph = GraphBuilder::undirected(0)
            .ids(ids)
            .edges(edges.clone())
            .build()
            .expect("sound");
        let further: Vec<String> = further.iter().map(|id| (*id).to_owned()).collect();
        let graph = graph.grown(&further).expect("few nodes");
        let names: Vec<String> = graph.ids().iter().map(|id| id.to_string()).collect();
        let rows: Vec<Vec<u32>> = (0..graph.nodes() as u32)
            .map(|i| graph.neighbors(i).to_vec())
            .collect();
        (names.join(" "), rows)
    };
    let none: Vec<u32> = Vec::new();
    let integers = || NodeIds::from_integers(vec![2, 5, 9]);
    let (names, rows) = grown(integers(), &["7", "-1"]);
    assert_eq!(
        (names.as_str(), rows),
        (
            "-1 2 5 7 9",
            vec![none.clone(), vec![2], vec![1, 4], none.clone(), vec![2]]
        )
    );
    let (names, rows) = grown(NodeIds::Sequential(3), &["4", "3"]);
    assert_eq!((names.as_str(), rows.len()), ("0 1 2 3 4", 5));
    assert_eq!(grown(integers(), &["x"]).0, "2 5 9 x");
    assert_eq!(
        grown(NodeIds::from_integers(vec![9, 5, 2]), &["3"]).0,
        "9 5 2 3"
    );
    assert_eq!(
        grown(NodeIds::from_texts(&["b", "c", "a"]), &["7"]).0,
        "b c a 7"
    );
    assert_eq!(grown(integers(), &[]).0, "2 5 9");
}

/// Adding the edges of another graph gives what all of them give together; its weights replace those that were there.
#[test]
fn edges_of_another_graph_are_added() {
    let of = |directed: bool, ids: &[&str], edges: &[(u32, u32)], weights: &[f32]| {
        let builder = match directed {
            true => GraphBuilder::directed(0),
            false => GraphBuilder::undirected(0),
        };
        let builder = builder
            .ids(NodeIds::from_texts(ids))
            .edges(edges.to_vec())
            .weights(weights.to_vec());
        builder.build().expect("in range")
    };
    for directed in [false, true] {
        let before = of(directed, &["2", "5", "9"], &[(0, 1), (1, 2)], &[1.5, 2.0]);
        // 7 comes between 5 and 9; an arc the other way round is another one.
        let added = of(directed, &["9", "5", "7"], &[(0, 1), (0, 2)], &[4.0, 3.0]);
        let all = before.with_added(&added).expect("sound");
        let ids = ["2", "5", "7", "9"];
        let expected = match directed {
            true => {
                let edges = [(0, 1), (1, 3), (3, 1), (3, 2)];
                of(true, &ids, &edges, &[1.5, 2.0, 4.0, 3.0])
            }
            false => of(false, &ids, &[(0, 1), (1, 3), (3, 2)], &[1.5, 4.0, 3.0]),
        };
        assert_eq!(all.fingerprint(), expected.fingerprint());
        assert_eq!(
            (all.ids(), all.weights()),
            (expected.ids(), expected.weights())
        );
        let plain = graph(&["2", "5"], &[(0, 1)]).with_added(&graph(&["x", "2"], &[(0, 1)]));
        let plain = plain.expect("sound");
        assert!(plain.weights().is_none() && plain.ids() == &NodeIds::from_texts(&["2", "5", "x"]));
        let other = of(!directed, &["2", "5"], &[(0, 1)], &[1.0]);
        let refused = before.with_added(&other).expect_err("of another kind");
        assert!(refused.to_string().contains("directed"), "{refused}");
    }
}
