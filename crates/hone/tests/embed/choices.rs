//! Thresholds by motif, one order of local embeddings, names of columns.

use hone::Config;
use hone::config::Layers;
use hone::graph::{Graph, GraphBuilder, builtin};

use super::{chorded_ring, config, run};

/// Facts, shares and columns of Y all have the order of eq. 16: by step, then by motif.
#[test]
fn local_embeddings_have_one_order_everywhere() {
    let graph = chorded_ring(30, false);
    let settings = [("motifs", "[\"edge\", \"triangle\", \"path3\"]"), ("steps", "3"), ("local.dim", "2")];
    let found = run(config(&[&settings[..], &[("global.output", "local")]].concat()), &graph);
    let expected: Vec<(String, usize)> =
        (1..=3).flat_map(|step| ["edge", "triangle", "path3"].map(|motif| (motif.to_owned(), step))).collect();
    let local: Vec<_> = found.report.local.iter().map(|facts| (facts.motif.clone(), facts.step)).collect();
    let shares: Vec<_> = found.report.importance.iter().map(|part| (part.motif.clone(), part.step)).collect();
    let blocks: Vec<_> = found.report.blocks.iter().map(|block| (block.name.clone(), block.step)).collect();
    assert_eq!((&local, &shares, &blocks), (&expected, &expected, &expected));
    let named = |(motif, step): &(String, usize)| [0, 1].map(|j| format!("{motif}.k{step}.{j}"));
    assert_eq!(found.embedding.columns, expected.iter().flat_map(named).collect::<Vec<_>>());
    assert_eq!(found.report.columns, found.embedding.columns);
    assert_eq!(found.report.blocks[4].first, 8);
    for model in ["tucker", "cp"] {
        let joint = run(config(&[&settings[..], &[("model", model), ("global.dim", "4")]].concat()), &graph);
        let slices = joint.report.joint.unwrap().slices;
        assert_eq!(slices.iter().map(|s| (s.motif.clone(), s.step)).collect::<Vec<_>>(), expected, "{model}");
        let shares: Vec<_> = joint.report.importance.iter().map(|part| (part.motif.clone(), part.step)).collect();
        assert_eq!(shares, expected, "{model}");
    }
}

#[test]
fn columns_of_the_default_say_what_they_are() {
    let found = run(Config::preset("hone").unwrap(), &builtin("karate").unwrap());
    let columns = &found.embedding.columns;
    assert_eq!((columns[0].as_str(), columns[111].as_str()), ("z0", "z111"));
    assert_eq!((columns[112].as_str(), columns[127].as_str()), ("structure.pc0", "structure.pc15"));
    let blocks: Vec<_> = found.report.blocks.iter().map(|b| (b.name.as_str(), b.first, b.count)).collect();
    assert_eq!(blocks, [("z", 0, 112), ("structure", 112, 16)]);
}

/// A threshold of its own for each motif gives the W_t of that threshold.
#[test]
fn thresholds_may_differ_by_motif() {
    let graph = builtin("karate").unwrap();
    let run = |delta: &str, motif: &str| {
        let all = [("motifs", motif), ("delta", delta), ("steps", "1"), ("local.dim", "4"), ("global.output", "local")];
        run(config(&all), &graph)
    };
    let both = run("{ triangle = 3 }", "[\"edge\", \"triangle\"]");
    let (edge, triangle) = (run("1", "[\"edge\"]"), run("3", "[\"triangle\"]"));
    for i in 0..34 {
        let alone = [edge.embedding.vectors.row(i), triangle.embedding.vectors.row(i)].concat();
        assert_eq!(both.embedding.vectors.row(i), alone, "node {i}");
    }
    assert!(both.report.local[1].nonzeros < run("1", "[\"triangle\"]").report.local[0].nonzeros);
    let refused = |delta: &str| {
        let layers = Layers::new().set("motifs", "edge,triangle").unwrap().set("delta", delta).unwrap();
        layers.build().unwrap_err().to_string()
    };
    for (delta, said) in [
        ("0", "delta"),
        ("{ triangle = 0 }", "delta.triangle"),
        ("triangle=0,edge=1", "delta.triangle"),
        ("{ clique4 = 2 }", "`clique4` is not among the motifs used"),
        ("{ squid = 2 }", "`squid` is no motif"),
        ("triangle:3", "MOTIF=NUMBER"),
        ("edge=1,edge=2", "named twice"),
        ("-1", "whole number"),
    ] {
        assert!(refused(delta).contains(said), "{delta}: {}", refused(delta));
    }
}

#[test]
fn an_empty_motif_graph_is_explained() {
    let graph = builtin("karate").unwrap();
    let said = |settings: &[(&str, &str)], graph: &Graph| run(config(settings), graph).report.notes.join("; ");
    let delta = [("motifs", "[\"edge\"]"), ("delta", "2"), ("global.dim", "4")];
    for model in ["separate", "tucker"] {
        let notes = said(&[&delta[..], &[("model", model)]].concat(), &graph);
        assert!(notes.contains("all edges with motif edge have fewer than delta = 2 occurrences"), "{notes}");
        assert!(!notes.contains("does not occur"), "{notes}");
    }
    let weightless = GraphBuilder::undirected(3).edges(vec![(0, 1), (1, 2)]).weights(vec![0.0; 2]).build().unwrap();
    let notes = said(&[("motifs", "[\"edge\"]"), ("weights", "true"), ("global.dim", "2")], &weightless);
    assert!(notes.contains("motif edge does not occur on edges with a weight"), "{notes}");
}
