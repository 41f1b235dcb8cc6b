//! Files that are read block by block, in parallel: the same graphs and the same errors as line by line.

use hone::Error;
use hone::graph::{Graph, GraphBuilder, NodeIds, ReadOptions};

use super::{default, folder, gzip, load, put, shown, text};

/// A large edge list with everything in it that the fast path must leave to the general one.
fn large(kind: usize) -> String {
    let mut out = String::from("# head\n");
    let mut state = 7u64;
    for line in 0..400_000u64 {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let (u, v) = (state >> 40 & 0xffff, state >> 20 & 0xffff);
        match (line % 1000, kind) {
            (5, _) => out.push('\n'),
            (7, _) => out.push_str(&format!("  {u}   {v} \r\n")),
            (9, 1) => out.push_str(&format!("{} -{}\n", u64::from(u32::MAX) + u, v + 1)),
            (11, 2) => out.push_str(&format!("n{u} \"n {v}\"\n")),
            _ => out.push_str(&format!("{u} {v}\n")),
        }
    }
    out.pop();
    out
}

/// Line by line, with strings: ids and edges.
fn naive(content: &str) -> Graph {
    let mut edges: Vec<(String, String)> = Vec::new();
    for line in content
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let (u, v) = line.split_once(' ').unwrap();
        edges.push((u.trim().to_string(), v.trim().trim_matches('"').to_string()));
    }
    let mut order: Vec<String> = Vec::new();
    let mut numbers = std::collections::HashMap::new();
    for id in edges.iter().flat_map(|(u, v)| [u, v]) {
        if !numbers.contains_key(id) {
            numbers.insert(id.clone(), 0);
            order.push(id.clone());
        }
    }
    if order.iter().all(|id| id.parse::<i64>().is_ok()) {
        order.sort_by_key(|id| id.parse::<i64>().unwrap());
    }
    for (i, id) in order.iter().enumerate() {
        numbers.insert(id.clone(), i as u32);
    }
    let pairs = edges
        .iter()
        .map(|(u, v)| (numbers[u], numbers[v]))
        .collect();
    GraphBuilder::undirected(0)
        .ids(NodeIds::from_texts(&order))
        .edges(pairs)
        .build()
        .unwrap()
}

fn assert_same(a: &Graph, b: &Graph, what: &str) {
    assert!(
        a.pattern() == b.pattern() && a.ids() == b.ids() && a.dropped() == b.dropped(),
        "{what}"
    );
}

#[test]
fn parallel_reading_equals_reading_line_by_line() {
    for kind in 0..3 {
        let content = large(kind);
        let expected = naive(&content);
        assert_same(&text("a.txt", &content, &default()), &expected, "plain");
        assert_same(
            &text("a.txt.gz", gzip(content.as_bytes()), &default()),
            &expected,
            "gzip",
        );
        assert_same(
            &text("sniffed.txt", gzip(content.as_bytes()), &default()),
            &expected,
            "gzip by content",
        );
        assert_same(
            &text(
                "a.txt.zst",
                zstd::encode_all(content.as_bytes(), 1).unwrap(),
                &default(),
            ),
            &expected,
            "zstd",
        );
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .unwrap();
        pool.install(|| {
            assert_same(
                &text("a.txt", &content, &default()),
                &expected,
                "one thread",
            );
        });
    }
}

#[test]
fn weighted_lines_on_the_fast_path_equal_those_off_it() {
    let (mut plain, mut odd) = (String::new(), String::new());
    for e in 0..100_000u32 {
        let (u, v, w) = (
            e % 1009,
            e.wrapping_mul(7919) % 1013,
            f64::from(e % 64) / 8.0,
        );
        plain.push_str(&format!("{u} {v} {w}\n"));
        odd.push_str(&format!(" {u}\t{v}  \"{w}\" \r\n"));
    }
    let weighted = ReadOptions {
        weighted: true,
        ..default()
    };
    let blanks = ReadOptions {
        delimiter: Some(" ".into()),
        ..weighted.clone()
    };
    let (plain_graph, odd_graph) = (
        text("a.txt", &plain, &weighted),
        text("a.txt", &odd, &blanks),
    );
    assert_same(&plain_graph, &odd_graph, "weighted");
    assert_eq!(plain_graph.weights(), odd_graph.weights());
    let mut sums = std::collections::HashMap::new();
    for line in plain.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let (u, v): (u32, u32) = (fields[0].parse().unwrap(), fields[1].parse().unwrap());
        *sums.entry((u.min(v), u.max(v))).or_insert(0.0) += fields[2].parse::<f32>().unwrap();
    }
    sums.retain(|(u, v), _| u != v);
    assert_eq!(sums.len(), plain_graph.edges());
    for (&(u, v), &sum) in &sums {
        let at = plain_graph.pattern().range(u as usize).start
            + plain_graph.neighbors(u).binary_search(&v).unwrap();
        assert_eq!(plain_graph.weights().unwrap()[at], sum);
    }
    let mtx = "%%MatrixMarket matrix coordinate real general\n2000 2000 2\n1 2 0.5\n2 3 1\n";
    assert_eq!(shown(&text("a.mtx", mtx, &weighted)), ["1-2:0.5", "2-3:1"]);
    let folder = folder();
    for (content, expected) in [
        ("1 2 3\n1 2 \n", "2 columns where 3"),
        ("1 2 3\n1 2 3 4\n", "4 columns where 3"),
    ] {
        let error = load(&put(&folder, "a.txt", content), &default())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("line 2") && error.contains(expected),
            "{error}"
        );
    }
}

#[test]
fn the_line_of_an_error_is_right_however_it_is_read() {
    let content = large(0);
    let lines: Vec<&str> = content.split('\n').collect();
    for wrong in [0, 1, 99_998, 251_234, 399_999] {
        let mut lines = lines.clone();
        lines[wrong + 1] = "1 2 3 4";
        // Of two wrong lines the first is reported.
        lines[400_000] = "1";
        let content = lines.join("\n");
        let folder = folder();
        for (name, bytes) in [
            ("a.txt", content.clone().into_bytes()),
            ("a.txt.gz", gzip(content.as_bytes())),
        ] {
            let error = load(&put(&folder, name, bytes), &default()).unwrap_err();
            match (&error, wrong) {
                (
                    Error::Input {
                        line: Some(line), ..
                    },
                    0,
                ) => assert_eq!(*line, 2, "{error}"),
                (
                    Error::Input {
                        line: Some(line),
                        text,
                        ..
                    },
                    _,
                ) => {
                    let expected = if wrong == 399_999 {
                        ("1", 400_001)
                    } else {
                        ("1 2 3 4", wrong as u64 + 2)
                    };
                    assert_eq!((text.as_str(), *line), expected, "{error}");
                }
                _ => panic!("{error}"),
            }
        }
    }
}

#[test]
fn lines_longer_than_a_block() {
    let long = "x".repeat(3 << 20);
    let content = format!("# {long}\na b\n{long} c\nc {long}\nb c\n");
    let graph = text("a.txt", &content, &default());
    assert_eq!(
        (graph.nodes(), graph.edges(), graph.dropped().duplicates),
        (4, 3, 1)
    );
    let options = ReadOptions::default();
    assert_same(
        &graph,
        &text("a.txt.gz", gzip(content.as_bytes()), &options),
        "gzip",
    );
}
