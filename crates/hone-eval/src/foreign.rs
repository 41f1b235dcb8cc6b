//! Vectors of other tools: their rows matched to the nodes of a graph, and what is known about the graph they
//! come from.
//!
//! `hone embed` writes a record next to its output (`OUT.run.json`) with a fingerprint of the edges it has seen. In
//! link prediction it distinguishes the training graph of a split from the whole graph, which contains the edges to be
//! predicted.

use std::path::Path;

use hone::dense::Block;
use hone::graph::{Graph, GraphFacts, Recorded};
use hone::hashing::SeededMap;
use hone::store::Embedding;
use hone::{Error, Result, record};

/// Ids that a message shows.
const SHOWN: usize = 5;

/// The vectors of all nodes.
#[derive(Debug, Clone)]
pub struct Vectors {
    /// A row per node, in the order of the graph.
    pub block: Block,
    /// Notes about them for the reader of the results.
    pub notes: Vec<String>,
}

/// The vectors of a file, a row per node of the graph.
///
/// Nodes without an edge may be absent, and count as zero. A file of which most rows, or that lacks most nodes, is of
/// another graph and is refused, and so is one that lacks a node with edges.
pub fn read(path: &Path, graph: &Graph) -> Result<Vectors> {
    let file = Embedding::read(path)?;
    if file.vectors.cols() == 0 {
        return Err(Error::input(
            path,
            "vectors have no columns",
            "write at least one number per node",
        ));
    }
    if !file.vectors.as_slice().iter().all(|v| v.is_finite()) {
        return Err(Error::input(
            path,
            "a value is not finite",
            "write finite numbers only",
        ));
    }
    let mut rows: SeededMap<String, usize> =
        file.ids.iter().map(|id| id.to_string()).zip(0..).collect();
    let mut block = Block::zeros(graph.nodes(), file.vectors.cols());
    let mut absent = Vec::new();
    for (node, id) in graph.ids().iter().enumerate() {
        match rows.remove(&id.to_string()) {
            Some(row) => block.row_mut(node).copy_from_slice(file.vectors.row(row)),
            None => absent.push(node),
        }
    }
    let linked = if absent.is_empty() {
        Vec::new()
    } else {
        linked(graph)
    };
    let lacking = absent.iter().filter(|&&node| linked[node]).count();
    let absent = absent
        .into_iter()
        .map(|node| graph.ids().get(node as u32).to_string())
        .collect();
    let mut surplus: Vec<(usize, String)> = rows.into_iter().map(|(id, row)| (row, id)).collect();
    surplus.sort_unstable();
    let surplus: Vec<String> = surplus.into_iter().map(|(_, id)| id).collect();
    let fit = Fit {
        path,
        nodes: graph.nodes(),
        rows: file.vectors.rows(),
        absent,
        lacking,
        surplus,
    };
    Ok(Vectors {
        block,
        notes: fit.judge()?,
    })
}

/// Which nodes have an edge, in either direction.
fn linked(graph: &Graph) -> Vec<bool> {
    let mut linked: Vec<bool> = (0..graph.nodes() as u32)
        .map(|node| graph.degree(node) > 0)
        .collect();
    graph
        .pattern()
        .columns()
        .iter()
        .for_each(|&node| linked[node as usize] = true);
    linked
}

/// How the rows of a file and the nodes of a graph match.
struct Fit<'a> {
    path: &'a Path,
    nodes: usize,
    rows: usize,
    /// Nodes without a row.
    absent: Vec<String>,
    /// How many of them have an edge.
    lacking: usize,
    /// Rows without a node.
    surplus: Vec<String>,
}

impl Fit<'_> {
    fn judge(&self) -> Result<Vec<String>> {
        let Fit {
            path,
            nodes,
            rows,
            absent,
            lacking,
            surplus,
        } = self;
        let without = format!(
            "{} of {nodes} nodes have no vector ({})",
            absent.len(),
            first(absent)
        );
        let unknown = format!(
            "{} of {rows} rows are of nodes that the graph does not have ({})",
            surplus.len(),
            first(surplus)
        );
        let most = |part: &[String], of: usize| 2 * part.len() > of;
        if most(absent, *nodes) || most(surplus, *rows) {
            let facts: Vec<String> = [(absent, without), (surplus, unknown)]
                .into_iter()
                .filter(|f| !f.0.is_empty())
                .map(|f| f.1)
                .collect();
            let message = format!("the vectors are of another graph: {}", facts.join("; "));
            return Err(Error::input(
                path,
                message,
                "give vectors of this graph, under its own node ids",
            ));
        }
        if *lacking > 0 {
            return Err(Error::input(
                path,
                without,
                "embed all nodes of the graph that have an edge",
            ));
        }
        let mut notes = Vec::new();
        if !absent.is_empty() {
            notes.push(format!(
                "{}: {without}; they have no edge either, and count as zero",
                path.display()
            ));
        }
        if !surplus.is_empty() {
            notes.push(format!("{}: {unknown}; they were left out", path.display()));
        }
        Ok(notes)
    }
}

/// The first few of some ids.
fn first(ids: &[String]) -> String {
    let mut shown: Vec<String> = ids.iter().take(SHOWN).map(|id| format!("`{id}`")).collect();
    if ids.len() > SHOWN {
        shown.push("…".into());
    }
    shown.join(", ")
}

/// The graph that the vectors of a file were made from, where the record beside them says so.
pub fn origin(path: &Path) -> Option<GraphFacts> {
    let recorded = Recorded::read(&record::path(path)?).ok()??;
    Some(recorded.graph)
}

/// Refuses vectors that have seen the edges to be predicted. Gives a warning where that cannot be known.
pub fn refuse_leak(path: &Path, whole: &Graph, train: &Graph, seed: u64) -> Result<Option<String>> {
    let name = path.display();
    let Some((facts, edges)) =
        origin(path).and_then(|facts| Some((facts.clone(), facts.edge_fingerprint?)))
    else {
        return Ok(Some(format!(
            "{name}: nothing says which graph these vectors were made from; if it was the whole graph and not the \
             training graph of seed {seed}, the result is meaningless"
        )));
    };
    let [of_train, of_whole] = [train, whole].map(Graph::edge_fingerprint);
    let message = if edges == of_train {
        return Ok(None);
    } else if edges == of_whole {
        "these vectors were made from the whole graph, which holds the edges to be predicted"
            .to_string()
    } else if facts.edges == train.edges() {
        format!(
            "these vectors were made from the training graph of another split than that of seed {seed}"
        )
    } else {
        return Ok(Some(format!(
            "{name}: these vectors were made from another graph ({} nodes, {} edges; the training graph of seed {seed} has {} \
             edges); if it holds the edges to be predicted, the result is meaningless",
            facts.nodes,
            facts.edges,
            train.edges()
        )));
    };
    let remedy = format!(
        "embed the training graph of every seed (the split of seed {seed}) and name the files by their seeds: \
         file:z-{{seed}}.npy"
    );
    Err(Error::input(path, message, remedy))
}

/// For tasks in which edges are not hidden: whether the vectors are of this graph.
pub fn note_other_graph(path: &Path, graph: &Graph) -> Option<String> {
    let facts = origin(path)?;
    let same = *facts.edge_fingerprint.as_ref()? == graph.edge_fingerprint();
    (!same).then(|| {
        let name = path.display();
        format!(
            "{name}: these vectors were made from another graph ({} nodes, {} edges)",
            facts.nodes, facts.edges
        )
    })
}
