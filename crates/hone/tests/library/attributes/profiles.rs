//! Columns of attributes against dense matrices, what they say of nodes, and what they do in models.

use std::sync::Arc;

use hone::attributes::{self, Attribute, Attributes, Given, Kind, Table};
use hone::config::Layers;
use hone::graph::{Graph, GraphBuilder, NodeIds};
use hone::sparse::{Csr, Pattern};
use hone::store::Embedding;
use hone::{Config, Error, Hone, Like, Model, Run, Silent};

use crate::naive::{
    Matrix, Numbers, distance, jacobi, same_on_any_threads, times, transpose, zeros,
};

/// Settings on top of the default.
fn config(settings: &[(&str, &str)]) -> Config {
    let set = |layers: Layers, (key, value): &(&str, &str)| layers.set(key, value).unwrap();
    settings.iter().fold(Layers::new(), set).build().unwrap()
}

fn embed(graph: &Graph, own: &Attributes, settings: &[(&str, &str)]) -> Run {
    let hone = Hone::new(config(settings)).unwrap();
    let hone = hone.with_attributes(own.clone());
    hone.embed(graph, &Silent).unwrap()
}

fn notes(run: &Run) -> String {
    let notes = run.report.notes.iter().map(ToString::to_string);
    notes.collect::<Vec<_>>().join("; ")
}

/// The columns of attributes.
fn profiles(embedding: &Embedding) -> Matrix {
    let names = embedding.columns.iter().enumerate();
    let own = names.filter(|(_, name)| name.starts_with("attributes"));
    let own: Vec<usize> = own.map(|(j, _)| j).collect();
    let row = |i: usize| {
        let row = embedding.vectors.row(i);
        own.iter().map(|&j| f64::from(row[j])).collect()
    };
    (0..embedding.vectors.rows()).map(row).collect()
}

/// A graph with two components and two isolated nodes: 30 nodes, all arcs of which have weights.
fn graph(directed: bool) -> Graph {
    let builder = match directed {
        true => GraphBuilder::directed(30),
        false => GraphBuilder::undirected(30),
    };
    let mut random = Numbers(5);
    let (mut edges, mut weights) = (Vec::new(), Vec::new());
    for i in 0..28u32 {
        for j in 0..28u32 {
            let together = (i < 18) == (j < 18);
            if (i < j || directed && i != j) && together && random.next() < 0.25 {
                edges.push((i, j));
                weights.push(0.5 + random.next() as f32);
            }
        }
    }
    builder.edges(edges).weights(weights).build().unwrap()
}

/// Ten words, some of them often; a number that some nodes lack; a category of three.
fn mixed() -> Attributes {
    let mut random = Numbers(9);
    let mut column = |name: &str, kind, absent, share: f64, value: &mut dyn FnMut(f64) -> f32| {
        let mut values = Vec::new();
        for node in 0..30u32 {
            if random.next() < share {
                values.push((node, value(random.next())));
            }
        }
        let name = name.to_owned();
        (Attribute { name, kind, absent }, values)
    };
    let mut columns = Vec::new();
    for j in 0..10 {
        let mut count = |x: f64| (1.0 + 3.0 * x).floor() as f32;
        let name = format!("word{j}");
        columns.push(column(
            &name,
            Kind::Word,
            0.0,
            0.15 + 0.05 * f64::from(j),
            &mut count,
        ));
    }
    columns.push(column("age", Kind::Number, 40.0, 0.8, &mut |x| {
        (20.0 + 40.0 * x) as f32
    }));
    let category = |k: u32| {
        let name = format!("city={k}");
        let kind = Kind::Category;
        let nodes = (0..30u32).filter(move |i| i * 7 % 3 == k);
        let ones = nodes.map(|i| (i, 1.0)).collect();
        (
            Attribute {
                name,
                kind,
                absent: 0.0,
            },
            ones,
        )
    };
    columns.extend((0..3).map(category));
    of_columns(columns, 30)
}

fn of_columns(columns: Vec<(Attribute, Vec<(u32, f32)>)>, nodes: usize) -> Attributes {
    let (columns, entries): (Vec<_>, Vec<Vec<(u32, f32)>>) = columns.into_iter().unzip();
    let mut ends = vec![0];
    entries
        .iter()
        .for_each(|column| ends.push(ends[ends.len() - 1] + column.len()));
    let (places, values): (Vec<u32>, Vec<f32>) = entries.into_iter().flatten().unzip();
    let pattern = Pattern::new(ends, places, nodes);
    Attributes {
        columns,
        values: Csr::new(Arc::new(pattern), values.into()).transposed(),
    }
}

/// X as the documentation defines it.
fn naive_units(own: &Attributes, words: f64) -> Matrix {
    let (n, m) = (own.values.rows(), own.columns.len());
    let value = |i: usize, j: usize| {
        let (columns, values) = own.values.row(i);
        let at = columns.iter().position(|&c| c as usize == j);
        at.map(|at| f64::from(values[at]))
    };
    let mut x = zeros(n, m);
    for (j, column) in own.columns.iter().enumerate() {
        let there: Vec<f64> = (0..n).filter_map(|i| value(i, j)).collect();
        let count = there.len() as f64;
        let mean = there.iter().sum::<f64>() / count;
        let variance = there.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / count;
        for (i, row) in x.iter_mut().enumerate() {
            row[j] = match (value(i, j), column.kind) {
                (None, _) => 0.0,
                (Some(v), Kind::Number) => (v - mean) / variance.sqrt(),
                (Some(v), Kind::Category) => v,
                (Some(v), Kind::Word) => (1.0 + v).ln() * (n as f64 / count).ln(),
            };
        }
    }
    let is_word = |j: usize| own.columns[j].kind == Kind::Word;
    let square = |row: &[f64], of_words: bool| -> f64 {
        let some = (0..m).filter(|&j| is_word(j) == of_words);
        some.map(|j| row[j] * row[j]).sum()
    };
    let others = x.iter().map(|row| square(row, false)).sum::<f64>() / n as f64;
    for row in &mut x {
        let length = square(row, true).sqrt();
        for j in 0..m {
            row[j] *= match is_word(j) {
                true if length > 0.0 => words.sqrt() / length,
                true => 0.0,
                false => 1.0 / others.sqrt(),
            };
        }
    }
    x
}

/// F, from dense matrices.
fn naive_smoothed(graph: &Graph, x: &Matrix, steps: usize) -> Matrix {
    let n = graph.nodes();
    let mut a = zeros(n, n);
    for i in 0..n {
        for (slot, &j) in graph.pattern().range(i).zip(graph.neighbors(i as u32)) {
            let weight = graph.weights().map_or(1.0, |w| f64::from(w[slot]));
            a[i][j as usize] += weight;
            if graph.is_directed() {
                a[j as usize][i] += weight;
            }
        }
    }
    let edges: Vec<f64> = a.iter().flatten().copied().filter(|w| *w > 0.0).collect();
    let own = edges.iter().sum::<f64>() / edges.len().max(1) as f64;
    let own = if edges.is_empty() { 1.0 } else { own };
    (0..n).for_each(|i| a[i][i] += own);
    let degrees: Vec<f64> = a.iter().map(|row| row.iter().sum()).collect();
    let mut s = zeros(n, n);
    for i in 0..n {
        for j in 0..n {
            s[i][j] = a[i][j] / (degrees[i] * degrees[j]).sqrt();
        }
    }
    let (mut walked, mut sum) = (x.clone(), x.clone());
    for _ in 0..steps {
        walked = times(&s, &walked);
        for (sum, walked) in sum.iter_mut().flatten().zip(walked.iter().flatten()) {
            *sum += walked;
        }
    }
    sum.iter_mut()
        .flatten()
        .for_each(|x| *x /= (steps + 1) as f64);
    sum
}

/// Inner products of rows, each divided by the square root of its length; the largest is 1.
fn products(rows: &Matrix) -> Matrix {
    let gram = times(rows, &transpose(rows));
    let length = |i: usize| gram[i][i].max(1e-30).sqrt();
    let mut shortened = gram.clone();
    for (i, row) in shortened.iter_mut().enumerate() {
        for (j, value) in row.iter_mut().enumerate() {
            *value = gram[i][j] / (length(i) * length(j)).sqrt();
        }
    }
    scaled(shortened)
}

fn scaled(mut gram: Matrix) -> Matrix {
    let most = gram
        .iter()
        .flatten()
        .fold(0f64, |most, x| most.max(x.abs()));
    gram.iter_mut().flatten().for_each(|x| *x /= most);
    gram
}

/// As many columns as attributes have all that F says: the same inner products of rows.
#[test]
fn profiles_are_smoothed_attributes() {
    let own = mixed();
    for directed in [false, true] {
        let graph = graph(directed);
        for (steps, words) in [(4, 1.0), (1, 3.0), (0, 0.2)] {
            let settings = [
                ("attributes.steps", &*steps.to_string()),
                ("attributes.words", &*words.to_string()),
                ("attributes.dim", "14"),
            ];
            let found = profiles(&embed(&graph, &own, &settings).embedding);
            let smoothed = naive_smoothed(&graph, &naive_units(&own, words), steps);
            let off = distance(
                &scaled(times(&found, &transpose(&found))),
                &products(&smoothed),
            );
            assert!(
                off < 1e-4,
                "directed {directed}, {steps} steps, {words}: {off}"
            );
        }
    }
}

/// Fewer columns are those of the leading right singular vectors.
#[test]
fn fewer_columns_keep_the_leading_directions() {
    let (graph, own) = (graph(false), mixed());
    let smoothed = naive_smoothed(&graph, &naive_units(&own, 1.0), 4);
    let (_, vectors) = jacobi(&times(&transpose(&smoothed), &smoothed));
    for dim in [1, 3, 6] {
        let leading: Matrix = vectors.iter().map(|row| row[..dim].to_vec()).collect();
        let expected = products(&times(&smoothed, &leading));
        let settings = [("attributes.dim", &*dim.to_string())];
        let rows = profiles(&embed(&graph, &own, &settings).embedding);
        assert_eq!(rows[0].len(), dim);
        let off = distance(&scaled(times(&rows, &transpose(&rows))), &expected);
        assert!(off < 1e-4, "{dim} columns: {off}");
    }
}

/// Bits do not depend on threads; names of nodes have no part in it.
#[test]
fn the_same_on_any_threads() {
    let (graph, own) = (graph(false), mixed());
    same_on_any_threads(|| {
        embed(&graph, &own, &[("global.dim", "32")])
            .embedding
            .vectors
    });
}

/// Half of the columns, the rest shared by proximity and structure; no more than there are attributes.
#[test]
fn columns_are_shared() {
    let mut random = Numbers(2);
    let edges = (0..300).map(|_| [(); 2].map(|()| (80.0 * random.next()) as u32));
    let edges: Vec<(u32, u32)> = edges.map(|[i, j]| (i, j)).collect();
    let graph = GraphBuilder::undirected(80).edges(edges).build().unwrap();
    let word = |j: usize| {
        let column = Attribute {
            name: format!("w{j}"),
            kind: Kind::Word,
            absent: 0.0,
        };
        let nodes = (0..80).filter(|_| random.next() < 0.1);
        (column, nodes.map(|i| (i, 1.0)).collect())
    };
    let own = of_columns((0..200).map(word).collect(), 80);
    let blocks = |own: &Attributes, settings: &[(&str, &str)]| {
        let blocks = embed(&graph, own, settings).report.blocks;
        let block = |block: &hone::report::ColumnBlock| (block.name.clone(), block.count);
        blocks.iter().map(block).collect::<Vec<_>>()
    };
    let expected = |z, attributes, structure| {
        let names = ["z", "attributes", "structure"].map(str::to_owned);
        names
            .into_iter()
            .zip([z, attributes, structure])
            .collect::<Vec<_>>()
    };
    assert_eq!(blocks(&own, &[("global.dim", "64")]), expected(24, 32, 8));
    assert_eq!(blocks(&own, &[("global.dim", "16")]), expected(6, 8, 2));
    let few = mixed();
    let thirty = GraphBuilder::undirected(30).edges(vec![(0, 1), (1, 2), (4, 5)]);
    let run = embed(&thirty.build().unwrap(), &few, &[]);
    let counts: Vec<usize> = run.report.blocks.iter().map(|block| block.count).collect();
    assert_eq!(counts.iter().sum::<usize>(), 128);
    assert!(counts[1] <= 14, "{counts:?}");
    let error = Hone::new(config(&[("global.dim", "2")])).unwrap();
    let error = error
        .with_attributes(few.clone())
        .embed(&graph_of(30), &Silent)
        .unwrap_err();
    assert!(error.to_string().contains("global.dim"), "{error}");
}

fn graph_of(nodes: usize) -> Graph {
    GraphBuilder::undirected(nodes)
        .edges(vec![(0, 1)])
        .build()
        .unwrap()
}

/// Columns that tell nothing are named; where all are such, that is an error.
#[test]
fn columns_that_say_nothing_are_left_out() {
    let number = |f: &dyn Fn(usize) -> f32| Given::Numbers((0..30).map(f).collect());
    let ids = NodeIds::Sequential(30);
    let read = |columns: Vec<(&str, Given)>| {
        let columns = columns
            .into_iter()
            .map(|(name, given)| (name.to_owned(), given));
        attributes::given(columns.collect(), &Table::default(), &ids)
    };
    let age = |i: usize| (i * i % 17) as f32;
    let mixed = read(vec![
        ("age", number(&age)),
        ("same", number(&|_| 7.0)),
        ("again", number(&age)),
        ("none", number(&|_| f32::NAN)),
        ("year", number(&|i| 2000.0 + (i % 5) as f32)),
    ]);
    let mixed = mixed.unwrap();
    assert!(
        mixed
            .facts
            .notes
            .iter()
            .any(|note| note.contains("`none` has no value"))
    );
    let run = embed(&graph(false), &mixed.attributes, &[]);
    let notes = notes(&run);
    assert!(
        notes.contains("`same` is the same for all nodes"),
        "{notes}"
    );
    assert!(notes.contains("`again` is like another one"), "{notes}");
    assert_eq!(profiles(&run.embedding)[0].len(), 2);
    let alone = read(vec![
        ("age", number(&age)),
        ("year", number(&|i| 2000.0 + (i % 5) as f32)),
    ]);
    let alone = embed(&graph(false), &alone.unwrap().attributes, &[]);
    assert_eq!(
        profiles(&run.embedding),
        profiles(&alone.embedding),
        "as if they were not there"
    );
    let same = read(vec![("same", number(&|_| 7.0))]).unwrap().attributes;
    let hone = Hone::new(config(&[])).unwrap().with_attributes(same);
    let error = hone.embed(&graph(false), &Silent).unwrap_err();
    assert!(error.to_string().contains("tells nodes apart"), "{error}");
    let infinite = read(vec![(
        "big",
        number(&|i| if i == 4 { f32::INFINITY } else { 1.0 }),
    )]);
    let error = infinite.unwrap_err().to_string();
    assert!(
        error.contains("row 4") && error.contains("`big`"),
        "{error}"
    );
    let short = read(vec![("short", Given::Numbers(vec![1.0; 7]))]).unwrap_err();
    assert!(
        short.to_string().contains("7 values for 30 nodes"),
        "{short}"
    );
}

/// Many numbers that are mostly zero are words; a text has one for each of its own.
#[test]
fn words_are_recognised() {
    let ids = NodeIds::Sequential(40);
    let column = |j: usize, every: usize| {
        let value = move |i: usize| {
            if (i + j).is_multiple_of(every) {
                1.0
            } else {
                0.0
            }
        };
        (
            format!("c{j}"),
            Given::Numbers((0..40).map(value).collect()),
        )
    };
    let kinds = |columns: usize, every: usize| {
        let columns = (0..columns).map(|j| column(j, every)).collect();
        let own = attributes::given(columns, &Table::default(), &ids)
            .unwrap()
            .attributes;
        let words = own
            .columns
            .iter()
            .filter(|column| column.kind == Kind::Word);
        (words.count(), own.values.nnz())
    };
    assert_eq!(kinds(32, 8), (32, 32 * 5));
    assert_eq!(kinds(31, 8), (0, 31 * 40), "few");
    assert_eq!(kinds(32, 2), (0, 32 * 40), "mostly not zero");
    let text = |i: usize| (i != 3).then(|| format!("Node {i}: a graph, the GRAPH of {}", i % 2));
    let table = Table {
        text: vec!["title".into()],
        ..Table::default()
    };
    let titles = vec![(
        "title".to_owned(),
        Given::Texts((0..40).map(text).collect()),
    )];
    let own = attributes::given(titles, &table, &ids).unwrap();
    let names = own.attributes.names();
    assert!(names.contains(&"title:graph".to_owned()) && names.contains(&"title:of".to_owned()));
    assert!(!names.contains(&"title:a".to_owned()), "one letter");
    let graph = names.iter().position(|name| name == "title:graph").unwrap();
    let block = own.attributes.block();
    assert_eq!((block.get(0, graph), block.get(3, graph)), (2.0, 0.0));
    assert_eq!(own.facts.missing_values, 1);
}

fn fit(graph: &Graph, own: &Attributes) -> (Run, Model) {
    let hone = Hone::new(config(&[("global.dim", "32")])).unwrap();
    hone.with_attributes(own.clone())
        .fit(graph, &Silent)
        .unwrap()
}

/// Attributes of some nodes, in the order of another graph.
fn rows(own: &Attributes, nodes: &[Option<usize>]) -> Attributes {
    let columns = own.columns.iter().enumerate().map(|(j, column)| {
        let entry = |(i, node): (u32, &Option<usize>)| {
            let (columns, values) = own.values.row((*node)?);
            let at = columns.iter().position(|&c| c as usize == j)?;
            Some((i, values[at]))
        };
        let entries = (0..).zip(nodes).filter_map(entry);
        (column.clone(), entries.collect())
    });
    of_columns(columns.collect(), nodes.len())
}

/// A new node without edges has the columns of an isolated node of the fit with its attributes; nodes that have no edge to it
/// keep theirs, and a model from a file places as the one in memory.
#[test]
fn models_place_nodes_by_their_attributes() {
    let (graph, own) = (graph(false), mixed());
    let (run, model) = fit(&graph, &own);
    let first = run.report.blocks[1].first;
    let columns = first..first + run.report.blocks[1].count;
    let of = |vectors: &hone::dense::Block, i: usize| vectors.row(i)[columns.clone()].to_vec();
    let like = |own| Like {
        attributes: Some(own),
        ..Like::default()
    };
    // The same attributes give the same columns.
    let again = model.embed(&graph, &like(&own), &Silent).unwrap();
    for i in 0..30 {
        assert_eq!(
            of(&again.embedding.vectors, i),
            of(&run.embedding.vectors, i),
            "node {i}"
        );
    }
    // A new node with the attributes of node 29, which has no edges; one with those of node 3, and one with none, next to 3.
    let edges = graph.pattern();
    let pairs = (0..30u32).flat_map(|i| edges.row(i as usize).iter().map(move |&j| (i, j)));
    let pairs = pairs.filter(|(i, j)| i < j);
    let weights: Vec<f32> = pairs
        .clone()
        .map(|(i, j)| {
            let at = edges
                .range(i as usize)
                .zip(graph.neighbors(i))
                .find(|(_, k)| **k == j);
            graph.weights().unwrap()[at.unwrap().0]
        })
        .chain([1.0])
        .collect();
    let larger = GraphBuilder::undirected(33).edges(pairs.chain([(3, 32)]).collect());
    let larger = larger.weights(weights).build().unwrap();
    let mut nodes = vec![None; 33];
    (nodes[30], nodes[31]) = (Some(29), Some(3));
    let new = rows(&own, &nodes);
    let placed = model.embed(&larger, &like(&new), &Silent).unwrap();
    let vectors = &placed.embedding.vectors;
    for (found, expected) in of(vectors, 30).iter().zip(of(&run.embedding.vectors, 29)) {
        assert!((found - expected).abs() < 1e-5, "{found} {expected}");
    }
    assert!(
        vectors.row(30)[..first].iter().all(|&x| x == 0.0),
        "no proximity"
    );
    // The mean edge has changed by one edge of 1.0, hardly, and with it all nodes.
    for (found, expected) in of(vectors, 20).iter().zip(of(&run.embedding.vectors, 20)) {
        assert!((found - expected).abs() < 0.02, "{found} {expected}");
    }
    assert!(
        of(vectors, 32).iter().any(|&x| x != 0.0),
        "its neighbour has attributes"
    );
    let notes = notes(&placed);
    assert!(notes.contains("1 new node has none"), "{notes}");
    let only = Like {
        new_only: true,
        ..like(&new)
    };
    let only = model
        .embed(&larger, &only, &Silent)
        .unwrap()
        .embedding
        .vectors;
    for (k, i) in (30..33).enumerate() {
        assert_eq!(
            only.row(k)[..columns.end],
            vectors.row(i)[..columns.end],
            "node {i}"
        );
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    model.write(&file, hone::output::Existing::Replace).unwrap();
    for read in [Model::read(&file), Model::open(&file)] {
        let read = read.unwrap();
        assert!(read == model);
        let again = read.embed(&larger, &like(&new), &Silent).unwrap();
        assert!(again.embedding == placed.embedding);
    }
}

/// Attributes of nodes of the fit that have changed; those of other columns; none for a model without.
#[test]
fn models_take_new_attributes_and_name_unknown_ones() {
    let (graph, own) = (graph(false), mixed());
    let (run, model) = fit(&graph, &own);
    let mut nodes = vec![None; 30];
    nodes[29] = Some(5);
    let moved = rows(&own, &nodes);
    let like = |own| Like {
        attributes: Some(own),
        ..Like::default()
    };
    let placed = model
        .embed(&graph, &like(&moved), &Silent)
        .unwrap()
        .embedding;
    let (now, then) = (profiles(&placed), profiles(&run.embedding));
    assert!(
        now[29] != then[29] && now[..28] == then[..28],
        "node 29 has no edges"
    );
    let mut other = moved.clone();
    other.columns[0].name = "never seen".into();
    let placed = model.embed(&graph, &like(&other), &Silent).unwrap();
    let notes = notes(&placed);
    assert!(notes.contains("1 column is not in the model"), "{notes}");
    let (_, plain) = Hone::new(config(&[("global.dim", "32")]))
        .unwrap()
        .fit(&graph, &Silent)
        .unwrap();
    let error = plain.embed(&graph, &like(&own), &Silent).unwrap_err();
    assert!(
        matches!(error, Error::Config { ref field, .. } if field == "attributes"),
        "{error}"
    );
}
