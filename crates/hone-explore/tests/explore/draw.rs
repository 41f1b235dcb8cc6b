//! Drawings as a reader of the file sees them.

use std::collections::HashMap;

use hone::Silent;
use hone::graph::{Generator, Graph, GraphBuilder, NodeIds, builtin};
use hone::motif::{self, Motif, MotifSet};
use hone_explore::draw::{Drawing, LARGEST};
use rayon::ThreadPoolBuilder;

fn drawing(motifs: &str) -> Drawing {
    Drawing {
        motifs: motifs.parse().expect("names"),
        ..Drawing::default()
    }
}

fn svg(motifs: &str, graph: &Graph) -> String {
    let text = drawing(motifs).svg(graph, "g", &Silent).expect("drawn");
    check_well_formed(&text);
    text
}

/// Every element is closed, in order, and no text holds a bare `&`.
fn check_well_formed(text: &str) {
    let mut open = Vec::new();
    for tag in text.split('<').skip(1) {
        let (tag, rest) = tag.split_once('>').expect("every tag ends");
        assert!(!rest.contains('>'), "a bare > in {rest:?}");
        let name = tag
            .split([' ', '/'])
            .find(|part| !part.is_empty())
            .unwrap_or_default();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "in {text}");
        } else if !tag.ends_with('/') && !tag.starts_with('?') {
            open.push(name);
        }
        for entity in rest.split('&').skip(1) {
            let known = ["amp;", "lt;", "gt;", "quot;", "#39;"];
            assert!(
                known.iter().any(|name| entity.starts_with(name)),
                "a bare & in {rest:?}"
            );
        }
    }
    assert!(
        open.is_empty() && !text.contains("NaN") && !text.contains("inf"),
        "{open:?}"
    );
}

fn attributes(svg: &str, element: &str, name: &str) -> Vec<f64> {
    let value = |tag: &str| {
        tag.split(&format!(" {name}=\""))
            .nth(1)?
            .split('"')
            .next()?
            .parse()
            .ok()
    };
    svg.split(&format!("<{element}"))
        .skip(1)
        .filter_map(value)
        .collect()
}

#[test]
fn the_same_picture_for_any_number_of_threads() {
    let graph = Generator::Sbm {
        nodes: 300,
        degree: 8.0,
        communities: 5,
        mixing: 0.1,
    }
    .graph(1, &Silent)
    .expect("drawn");
    let run = |threads: usize| {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool");
        pool.install(|| svg("edge,triangle", &graph))
    };
    let one = run(1);
    assert_eq!(one, run(3));
    assert_eq!(one, run(4));
}

/// Where each node is in the first panel, and its weight, by its number.
fn nodes(svg: &str) -> HashMap<usize, ([f64; 2], f64)> {
    let node = |circle: &str| {
        let number = |name: &str| -> f64 {
            let (_, rest) = circle.split_once(&format!("{name}=\"")).expect("written");
            rest.split('"')
                .next()
                .expect("closed")
                .parse()
                .expect("a number")
        };
        let (_, tip) = circle.split_once("<title>")?;
        let (id, weight) = tip.split('<').next()?.split_once(": ")?;
        let place = [number("cx"), number("cy")];
        Some((id.parse().ok()?, (place, weight.parse().ok()?)))
    };
    let panel = svg.split("</g>").find(|part| part.contains("<circle"));
    panel
        .expect("nodes")
        .split("<circle ")
        .skip(1)
        .filter_map(node)
        .collect()
}

#[test]
fn sizes_are_counts() {
    let graph = builtin("barbell").expect("built in");
    let counts = motif::count(&graph, &Silent).expect("counted");
    let clique = "clique4".parse::<Motif>().expect("a name");
    let drawn = nodes(&svg("clique4", &graph));
    assert_eq!(drawn.len(), graph.nodes());
    for (&node, &(_, weight)) in &drawn {
        let edges = counts.row(node as u32);
        let sum: u64 = edges
            .map(|(_, orbits)| clique.weight(&orbits).expect("small"))
            .sum();
        assert_eq!(weight, sum as f64, "{node}");
    }
    let few = Drawing {
        delta: u64::MAX,
        ..drawing("clique4")
    };
    let few = nodes(&few.svg(&graph, "g", &Silent).expect("drawn"));
    assert!(few.values().all(|node| node.1 == 0.0));
}

#[test]
fn panels_share_one_layout() {
    let picture = svg("edge,clique4,path4", &builtin("karate").expect("built in"));
    let mut places: Vec<(String, String)> = Vec::new();
    for circle in picture
        .split("<circle ")
        .skip(1)
        .filter(|c| c.contains("<title>"))
    {
        let field = |name: &str| {
            circle
                .split(&format!("{name}=\""))
                .nth(1)
                .and_then(|r| r.split('"').next())
                .unwrap_or("")
        };
        places.push((field("cx").to_string(), field("cy").to_string()));
    }
    assert_eq!(places.len(), 3 * 34);
    let sorted = |part: &[(String, String)]| {
        let mut part = part.to_vec();
        part.sort();
        part
    };
    assert_eq!(sorted(&places[..34]), sorted(&places[34..68]));
    assert_eq!(sorted(&places[..34]), sorted(&places[68..]));
}

#[test]
fn ids_are_text_and_nothing_else() {
    let ids = NodeIds::from_texts(&[
        "<script>alert(1)</script>",
        "a & b \"c\" 'd'",
        "\u{1}bell\u{0}",
        "]]>",
    ]);
    let graph = GraphBuilder::undirected(0)
        .ids(ids)
        .edges(vec![(0, 1), (1, 2), (2, 3)])
        .build()
        .expect("in range");
    let drawing = Drawing {
        title: Some("<b>&".into()),
        ..drawing("edge")
    };
    let text = drawing.svg(&graph, "g", &Silent).expect("drawn");
    check_well_formed(&text);
    assert!(
        !text.contains("<script")
            && text.contains("&lt;script&gt;")
            && text.contains("a &amp; b &quot;c&quot;")
    );
    assert!(!text.contains(['\u{0}', '\u{1}']) && text.contains("\u{fffd}bell"));
}

#[test]
fn odd_graphs_are_drawn() {
    let build = |n: usize, edges: Vec<(u32, u32)>| {
        GraphBuilder::undirected(n)
            .edges(edges)
            .build()
            .expect("in range")
    };
    let empty = svg("edge,clique4", &build(0, vec![]));
    assert!(empty.contains("no edges"));
    assert_eq!(
        attributes(&svg("edge", &build(1, vec![])), "circle", "r").len(),
        1
    );
    let alone = svg("triangle", &build(50, vec![(3, 4), (7, 8), (8, 9)]));
    assert!(alone.contains("the motif does not occur"));
    let (x, y) = (
        attributes(&alone, "circle", "cx"),
        attributes(&alone, "circle", "cy"),
    );
    let mut places: Vec<(u64, u64)> = x
        .iter()
        .zip(&y)
        .map(|(x, y)| (x.to_bits(), y.to_bits()))
        .collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), 50, "no two nodes in one place");
    let star = svg("star4", &build(40, (1..40).map(|i| (0, i)).collect()));
    assert!(
        attributes(&star, "circle", "cx")
            .iter()
            .all(|x| x.is_finite())
    );
}

#[test]
fn arcs_have_heads() {
    let graph = GraphBuilder::directed(3)
        .edges(vec![(0, 1), (1, 0), (1, 2)])
        .build()
        .expect("in range");
    let text = svg("edge", &graph);
    assert_eq!(
        text.matches("Z\" fill=").count(),
        3,
        "one head for every arc"
    );
    assert!(text.contains("directed"));
    let plain = GraphBuilder::undirected(3)
        .edges(vec![(0, 1), (1, 2)])
        .build()
        .expect("in range");
    assert_eq!(svg("edge", &plain).matches("Z\" fill=").count(), 0);
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let large = GraphBuilder::undirected(LARGEST + 1)
        .edges(vec![(0, 1)])
        .build()
        .expect("in range");
    assert!(
        drawing("edge")
            .svg(&large, "g", &Silent)
            .expect_err("too large")
            .to_string()
            .contains("at most 100000")
    );
    let karate = builtin("karate").expect("built in");
    let all = Drawing {
        motifs: MotifSet::List(vec![]),
        ..Drawing::default()
    };
    assert!(all.svg(&karate, "g", &Silent).is_err());
}

fn places(graph: &Graph) -> Vec<[f64; 2]> {
    let nodes = nodes(&svg("edge", graph));
    (0..graph.nodes()).map(|i| nodes[&i].0).collect()
}

fn undirected(n: usize, edges: Vec<(u32, u32)>) -> Graph {
    let builder = GraphBuilder::undirected(n).edges(edges);
    builder.build().expect("in range")
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

/// Neighbours are near: the mean length of an edge is far below that between any two nodes.
#[test]
fn the_layout_follows_the_edges() {
    let generator = Generator::Sbm {
        nodes: 200,
        degree: 10.0,
        communities: 4,
        mixing: 0.05,
    };
    let graph = generator.graph(1, &Silent).expect("drawn");
    let at = places(&graph);
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    let length = |u: usize, v: usize| distance(at[u], at[v]);
    let around = |u: usize| {
        graph
            .neighbors(u as u32)
            .iter()
            .map(move |&v| (u, v as usize))
    };
    let edges = mean(
        (0..200)
            .flat_map(around)
            .map(|(u, v)| length(u, v))
            .collect(),
    );
    let pairs = (0..200).flat_map(|u| (0..u).map(move |v| (u, v)));
    let pairs = mean(pairs.map(|(u, v)| length(u, v)).collect());
    assert!(edges < 0.5 * pairs, "edges {edges}, pairs {pairs}");
}

#[test]
fn a_path_is_a_line_that_lies_flat_and_a_ring_is_round() {
    let path = places(&undirected(30, (1..30).map(|i| (i - 1, i)).collect()));
    let steps: Vec<f64> = path.windows(2).map(|two| two[1][0] - two[0][0]).collect();
    assert!(
        steps.iter().all(|step| step.signum() == steps[0].signum()),
        "{path:?}"
    );
    let ring = places(&undirected(
        40,
        (0..40).map(|i| (i, (i + 1) % 40)).collect(),
    ));
    let centre = [0, 1].map(|axis| ring.iter().map(|p| p[axis]).sum::<f64>() / 40.0);
    let radius = ring.iter().map(|&p| distance(p, centre));
    let (low, high) = radius.fold((f64::MAX, 0.0f64), |(l, h), r| (l.min(r), h.max(r)));
    assert!(high < 1.5 * low, "{low} {high}");
    let two = places(&undirected(2, vec![(0, 1)]));
    assert!(distance(two[0], two[1]) > 10.0, "{two:?}");
}

#[test]
fn nodes_are_apart_and_components_do_not_overlap() {
    // A star, a path and a clique.
    let star = (1..10).map(|i| (0, i));
    let path = (11..20).map(|i| (i - 1, i));
    let clique = (20..25).flat_map(|i| (20..i).map(move |j| (j, i)));
    let at = places(&undirected(25, star.chain(path).chain(clique).collect()));
    for i in 0..25 {
        assert!((0..i).all(|j| distance(at[i], at[j]) > 3.0), "{i}");
    }
    let end = |part: &[[f64; 2]], axis: usize, pick: fn(f64, f64) -> f64| {
        part.iter().map(|p| p[axis]).reduce(pick).expect("nodes")
    };
    let parts = [&at[..10], &at[10..20], &at[20..]];
    for (k, a) in parts.iter().enumerate() {
        for b in &parts[..k] {
            let before = |a: &[[f64; 2]], b: &[[f64; 2]], axis| {
                end(a, axis, f64::max) < end(b, axis, f64::min)
            };
            let apart = |axis| before(a, b, axis) || before(b, a, axis);
            assert!(apart(0) || apart(1), "{at:?}");
        }
    }
}
