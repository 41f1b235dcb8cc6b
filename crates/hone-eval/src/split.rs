//! Link-prediction splits that cannot leak, and their files for methods that are run elsewhere.
//!
//! [`LinkSplit::of`] consumes the whole graph and returns two things: a [`TrainGraph`], the only input that embedding
//! methods accept, and [`LabeledPairs`], the removed edges with as many sampled non-edges. No [`TrainGraph`] with
//! removed edges can be made from a split. Nodes keep their number and order, so a node that lost all its edges stays,
//! isolated. Time and memory are linear in the edges, also for graphs so dense that non-edges are rare.
//!
//! | file | content |
//! |---|---|
//! | `train.tsv` | the remaining edges, a third column with their weights when they have some |
//! | `nodes.txt` | all node ids in order, one per line, also of nodes left without an edge |
//! | `pairs.tsv` | `source target label`: removed edges (1) and as many pairs without an edge (0) |
//! | `split.json` | seed, share, kind of the pairs without an edge, and both graphs in figures |
//!
//! Ids are quoted as in every other file of the project, so that the next command reads the same nodes and edges. Where
//! ids are text, `train.tsv` begins with a line of column names: no edge can then be taken for one. All files are written
//! before the first appears under its name, and a failure leaves none of them.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use hone::graph::{Graph, GraphBuilder, GraphFacts, NodeId, NodeIds, quoted, quoted_line};
use hone::message::{message, set};
use hone::output::{Batch, Existing, NewFolder, Output};
use hone::{Error, Result};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::named;
use crate::random::Stream;

type Pair = (u32, u32);

/// Writes one file of a split.
type Writer<'a> = &'a dyn Fn(&mut Output) -> io::Result<()>;

/// The graph a method may learn from.
#[derive(Debug, Clone)]
pub struct TrainGraph(Graph);

impl TrainGraph {
    /// The whole graph, for tasks in which edges are not hidden (node labels, roles, run time).
    pub fn whole(graph: Graph) -> Self {
        TrainGraph(graph)
    }

    /// The graph to learn from.
    pub fn graph(&self) -> &Graph {
        &self.0
    }
}

/// Node pairs and whether each is an edge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabeledPairs {
    /// Pairs of node indices; the smaller first when the graph is undirected.
    pub pairs: Vec<Pair>,
    /// Whether the pair of the same position is an edge.
    pub labels: Vec<bool>,
}

impl LabeledPairs {
    fn new(edges: &[Pair], non_edges: &[Pair]) -> Self {
        LabeledPairs {
            pairs: [edges, non_edges].concat(),
            labels: [vec![true; edges.len()], vec![false; non_edges.len()]].concat(),
        }
    }

    /// The pairs at the given positions.
    pub fn select(&self, rows: &[u32]) -> LabeledPairs {
        LabeledPairs {
            pairs: rows.iter().map(|&i| self.pairs[i as usize]).collect(),
            labels: rows.iter().map(|&i| self.labels[i as usize]).collect(),
        }
    }

    /// A random part holding `share` of each class (at least one of each where there are two), and
    /// the rest.
    pub fn divide(&self, share: f64, seed: u64) -> (LabeledPairs, LabeledPairs) {
        let mut order: Vec<u32> = (0..self.pairs.len() as u32).collect();
        Stream::new(seed, "divide pairs", 0).shuffle(&mut order);
        let (mut part, mut rest) = (Vec::new(), Vec::new());
        for class in [true, false] {
            let of_class = order.iter().copied();
            let of_class: Vec<u32> = of_class
                .filter(|&i| self.labels[i as usize] == class)
                .collect();
            let size = (share * of_class.len() as f64).round() as usize;
            let size = size.clamp(usize::from(of_class.len() > 1), of_class.len());
            part.extend(&of_class[..size]);
            rest.extend(&of_class[size..]);
        }
        (self.select(&part), self.select(&rest))
    }
}

/// Which pairs without an arc are to be distinguished from removed arcs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Negatives {
    /// Pairs at random.
    #[default]
    Random,
    /// Removed arcs, reversed, if the reverse is not an arc: which way does the arc go?
    Reversed,
    /// Reversed arcs and random pairs, half each.
    Mixed,
}

impl FromStr for Negatives {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        named("negatives", text, "random, reversed, mixed")
    }
}

impl Negatives {
    /// The default for a graph: reversed arcs and random pairs, if any arc can be reversed.
    pub fn usual(graph: &Graph) -> Self {
        match graph.is_directed() && has_one_way(graph) {
            true => Negatives::Mixed,
            false => Negatives::Random,
        }
    }

    /// Arcs and as many pairs without one.
    fn pairs(self, graph: &Graph, arcs: &[Pair], random: &[Pair]) -> Result<LabeledPairs> {
        if self == Negatives::Random {
            return Ok(LabeledPairs::new(arcs, random));
        }
        let mut arcs = arcs.to_vec();
        arcs.retain(|&arc| is_one_way(graph, arc));
        if arcs.is_empty() {
            let message = match has_one_way(graph) {
                true => {
                    "every removed arc has its reverse, so none can be reversed; remove a larger share, or use "
                }
                false => "every arc has its reverse, so none can be reversed; use ",
            };
            let message = message![message, set("negatives", "random")];
            return Err(Error::config("negatives", message));
        }
        let count = match self {
            Negatives::Mixed => arcs.len().div_ceil(2),
            _ => arcs.len(),
        };
        let mut others: Vec<Pair> = arcs[..count].iter().map(|&(u, v)| (v, u)).collect();
        // No pair twice: a random one may be a reversed arc.
        let seen: FxHashSet<Pair> = others.iter().copied().collect();
        let random = random.iter().filter(|pair| !seen.contains(pair));
        others.extend(random.take(arcs.len() - count));
        Ok(LabeledPairs::new(&arcs, &others))
    }
}

fn is_one_way(graph: &Graph, (u, v): Pair) -> bool {
    graph.neighbors(v).binary_search(&u).is_err()
}

/// Whether some arc has no reverse, so that it can be reversed.
fn has_one_way(graph: &Graph) -> bool {
    (0..graph.nodes() as u32).any(|u| {
        let mut neighbors = graph.neighbors(u).iter();
        neighbors.any(|&v| is_one_way(graph, (u, v)))
    })
}

/// Which edges a [`LinkSplit`] removes, and the negatives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Removal {
    /// The share of edges that is removed, at random.
    pub share: f64,
    /// Whether edges that stay get as many further non-edges.
    pub remaining: bool,
    /// The pairs without an edge. Reversed arcs are those of one-way arcs alone; with them arcs and non-arcs of a class are
    /// as many as there are one-way arcs among the removed (or remaining) ones, and mutual arcs are left out.
    pub negatives: Negatives,
    /// Seed of all random choices.
    pub seed: u64,
}

impl Default for Removal {
    fn default() -> Self {
        Removal {
            share: 0.5,
            remaining: false,
            negatives: Negatives::Random,
            seed: 0,
        }
    }
}

/// A graph with part of its edges removed, and the pairs to be classified.
#[derive(Debug, Clone)]
pub struct LinkSplit {
    /// What is left: the only thing methods may see.
    pub train: TrainGraph,
    /// Removed edges and as many non-edges.
    pub pairs: LabeledPairs,
    /// Remaining edges and as many further non-edges, when requested.
    pub remaining: Option<LabeledPairs>,
}

impl LinkSplit {
    /// Removes edges at random and finds as many pairs without one.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the whole graph must not stay with the caller"
    )]
    pub fn of(graph: Graph, removal: &Removal) -> Result<Self> {
        let Removal {
            share,
            remaining,
            negatives,
            seed,
        } = *removal;
        if negatives != Negatives::Random && !graph.is_directed() {
            return Err(Error::config(
                "negatives",
                message![
                    "reversed arcs are of directed graphs, and this one is undirected; read it with ",
                    set("directed", true),
                    ", or use ",
                    set("negatives", "random")
                ],
            ));
        }
        let removed = check_share(&graph, share)?;
        // Every edge once (the smaller node first when undirected), with its position in the pattern.
        let mut edges: Vec<(Pair, usize)> = Vec::with_capacity(graph.edges());
        for u in 0..graph.nodes() as u32 {
            let arcs = graph
                .neighbors(u)
                .iter()
                .zip(graph.pattern().range(u as usize));
            let once = arcs.filter(|&(&v, _)| graph.is_directed() || u < v);
            edges.extend(once.map(|(&v, k)| ((u, v), k)));
        }
        let mut order: Vec<u32> = (0..edges.len() as u32).collect();
        Stream::new(seed, "remove edges", 0).shuffle(&mut order);
        let wanted = if remaining { edges.len() } else { removed };
        let non_edges = sample_non_edges(&graph, wanted, seed)?;
        let take = |which: &[u32]| which.iter().map(|&e| edges[e as usize].0).collect();
        let (gone, kept): (Vec<Pair>, Vec<Pair>) =
            (take(&order[..removed]), take(&order[removed..]));
        let pairs = negatives.pairs(&graph, &gone, &non_edges[..removed])?;
        let remaining = remaining
            .then(|| negatives.pairs(&graph, &kept, &non_edges[removed..]))
            .transpose()?;
        let builder = match graph.is_directed() {
            true => GraphBuilder::directed(graph.nodes()),
            false => GraphBuilder::undirected(graph.nodes()),
        };
        let mut builder = builder.ids(graph.ids().clone()).edges(kept);
        if let Some(weights) = graph.weights() {
            let kept = order[removed..].iter();
            builder = builder.weights(kept.map(|&e| weights[edges[e as usize].1]).collect());
        }
        Ok(LinkSplit {
            train: TrainGraph(builder.build()?),
            pairs,
            remaining,
        })
    }
}

/// The number of edges to remove.
fn check_share(graph: &Graph, share: f64) -> Result<usize> {
    let refuse = |message: String| Err(Error::config("removed", message));
    if !(share > 0.0 && share < 1.0) {
        return refuse(format!(
            "the share of removed edges is {share}, not between 0 and 1"
        ));
    }
    let edges = graph.edges();
    let removed = (share * edges as f64).round() as usize;
    let remedy = match removed {
        _ if edges < 2 => "give a larger graph",
        0 => "give a larger share",
        _ if removed == edges => "give a smaller share",
        _ => return Ok(removed),
    };
    refuse(format!(
        "{share} of {edges} edges leaves nothing to learn or to test; {remedy}"
    ))
}

/// `count` distinct pairs without an edge, in random order.
fn sample_non_edges(graph: &Graph, count: usize, seed: u64) -> Result<Vec<Pair>> {
    let n = graph.nodes();
    let ordered = n as u128 * (n as u128).saturating_sub(1);
    let all = if graph.is_directed() {
        ordered
    } else {
        ordered / 2
    };
    let free = all - graph.edges() as u128;
    if count as u128 > free {
        let message = format!(
            "the split needs {count} pairs without an edge, but the graph has only {free}; remove fewer edges"
        );
        return Err(Error::config("removed", message));
    }
    let is_free = |(u, v): Pair| u != v && graph.neighbors(u).binary_search(&v).is_err();
    let mut stream = Stream::new(seed, "non-edges", 0);
    let mut pairs: Vec<Pair> = Vec::with_capacity(count);
    if free < 2 * count as u128 {
        // So dense that listing all non-edges is linear in the edges.
        for u in 0..n as u32 {
            let first = if graph.is_directed() { 0 } else { u + 1 };
            let row = (first..n as u32).map(|v| (u, v));
            pairs.extend(row.filter(|&pair| is_free(pair)));
        }
        stream.shuffle(&mut pairs);
        pairs.truncate(count);
        return Ok(pairs);
    }
    let mut seen = FxHashSet::default();
    while pairs.len() < count {
        let (mut u, mut v) = (stream.below(n) as u32, stream.below(n) as u32);
        if !graph.is_directed() && u > v {
            (u, v) = (v, u);
        }
        if is_free((u, v)) && seen.insert((u, v)) {
            pairs.push((u, v));
        }
    }
    Ok(pairs)
}

/// The files of a split in `folder`.
pub fn files(folder: &Path) -> [PathBuf; 4] {
    ["train.tsv", "nodes.txt", "pairs.tsv", "split.json"].map(|name| folder.join(name))
}

/// Writes the files of a split of the graph `whole` into `folder`, which is made when absent.
pub fn write(
    split: &LinkSplit,
    whole: &GraphFacts,
    removal: &Removal,
    folder: &Path,
    existing: Existing,
) -> Result<()> {
    let train = split.train.graph();
    // Ids that no line of text can hold; they may come from Parquet files or from Python.
    let bad = |id: &NodeId<'_>| matches!(id, NodeId::Text(text) if text.is_empty() || text.contains(['\n', '\r', '\0']));
    if let NodeIds::Text { .. } = train.ids()
        && let Some(id) = train.ids().iter().find(bad)
    {
        let message = format!("an edge list cannot hold the node id {:?}", id.to_string());
        let remedy = "rename nodes whose ids are empty or hold line breaks";
        return Err(Error::input(folder, message, remedy));
    }
    if folder.exists() && !folder.is_dir() {
        let message = format!("{} is a file; give a folder", folder.display());
        return Err(Error::config("output", message));
    }
    let made = NewFolder::make(folder)?;
    let writers: [Writer<'_>; 4] = [
        &|out| write_edges(train, out),
        &|out| write_nodes(train, out),
        &|out| write_pairs(split, out),
        &|out| {
            let record = json!({"version": env!("CARGO_PKG_VERSION"), "seed": removal.seed, "removed": removal.share,
                "negatives": removal.negatives, "graph": whole, "train": GraphFacts::of(train)});
            writeln!(out, "{record:#}")
        },
    ];
    let mut batch = Batch::new(existing);
    for (path, write) in files(folder).into_iter().zip(writers) {
        let mut output = batch.begin(&path)?;
        write(&mut output).map_err(|e| output.error(e))?;
        batch.add(output)?;
    }
    batch.commit()?;
    made.keep();
    Ok(())
}

fn write_nodes(train: &Graph, out: &mut Output) -> io::Result<()> {
    train.ids().iter().try_for_each(|id| match id {
        NodeId::Integer(id) => writeln!(out, "{id}"),
        NodeId::Text(id) => writeln!(out, "{}", quoted_line(id)),
    })
}

fn write_edges(train: &Graph, out: &mut Output) -> io::Result<()> {
    if let NodeIds::Text { .. } = train.ids() {
        let weight = if train.weights().is_some() {
            "\tweight"
        } else {
            ""
        };
        writeln!(out, "source\ttarget{weight}")?;
    }
    for u in 0..train.nodes() as u32 {
        for k in train.pattern().range(u as usize) {
            let v = train.pattern().columns()[k];
            if !train.is_directed() && v <= u {
                continue;
            }
            let [from, to] = [u, v].map(|node| field(train.ids().get(node)));
            match train.weights() {
                Some(weights) => writeln!(out, "{from}\t{to}\t{}", weights[k])?,
                None => writeln!(out, "{from}\t{to}")?,
            }
        }
    }
    Ok(())
}

fn write_pairs(split: &LinkSplit, out: &mut Output) -> io::Result<()> {
    let ids = split.train.graph().ids();
    writeln!(out, "source\ttarget\tlabel")?;
    for (&(u, v), &edge) in split.pairs.pairs.iter().zip(&split.pairs.labels) {
        let [from, to] = [u, v].map(|node| field(ids.get(node)));
        writeln!(out, "{from}\t{to}\t{}", u8::from(edge))?;
    }
    Ok(())
}

fn field(id: NodeId<'_>) -> String {
    match id {
        NodeId::Integer(id) => id.to_string(),
        // The edge between two nodes of these names would be taken for the header once more.
        NodeId::Text(id @ "source") => format!("\"{id}\""),
        NodeId::Text(id) => quoted(id, '\t').into_owned(),
    }
}
