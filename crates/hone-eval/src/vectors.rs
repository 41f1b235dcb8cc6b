//! Vectors in files: those of other tools, and those that evaluations save.
//!
//! Rows of a file are matched to the nodes of a graph. `hone embed` writes a record next to its output (`OUT.run.json`) with a
//! fingerprint of the edges it has seen. In link prediction it distinguishes the training graph of a split from the whole graph, which
//! contains the edges to be predicted.
//!
//! `hone eval … --save DIR` saves the vectors of all methods: a file `GRAPH/METHOD-SEED.npz` with vectors and ids, and a record next
//! to it with the method, all its options, the seed and the graph, so that the vectors may be evaluated again
//! (`file:DIR/GRAPH/METHOD-{seed}.npz`). `DIR/manifest.json` lists all files.

use std::cell::RefCell;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use hone::dense::Block;
use hone::graph::{Graph, GraphFacts, NodeIds, Recorded};
use hone::message::{message, set};
use hone::output::{Batch, Existing, Output};
use hone::store::Embedding;
use hone::{Error, Result, record};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::method::Embedder;

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
    let refuse = |message: &str, remedy: &str| Err(Error::input(path, message, remedy));
    let Embedding { ids, vectors, .. } = Embedding::read(path)?;
    let (nodes, rows) = (graph.nodes(), vectors.rows());
    if vectors.cols() == 0 {
        let remedy = "write at least one number per node";
        return refuse("vectors have no columns", remedy);
    }
    if !vectors.as_slice().iter().all(|v| v.is_finite()) {
        return refuse("a value is not finite", "write finite numbers only");
    }
    let (index, mut is_used) = (ids.index(), vec![false; rows]);
    let mut block = Block::zeros(nodes, vectors.cols());
    let mut absent = Vec::new();
    for (node, id) in graph.ids().iter().enumerate() {
        match index.find(&id.to_string()) {
            Some(row) => {
                is_used[row as usize] = true;
                let row = vectors.row(row as usize);
                block.row_mut(node).copy_from_slice(row);
            }
            None => absent.push(node as u32),
        }
    }
    let surplus: Vec<u32> = (0..rows as u32)
        .filter(|&row| !is_used[row as usize])
        .collect();
    let without = format!(
        "{} of {nodes} nodes have no vector ({})",
        absent.len(),
        first(graph.ids(), &absent)
    );
    let unknown = format!(
        "{} of {rows} rows are of nodes that the graph does not have ({})",
        surplus.len(),
        first(&ids, &surplus)
    );
    if 2 * absent.len() > nodes || 2 * surplus.len() > rows {
        let facts = [(&absent, &*without), (&surplus, &*unknown)];
        let facts = facts.into_iter().filter(|fact| !fact.0.is_empty());
        let facts: Vec<&str> = facts.map(|fact| fact.1).collect();
        let message = format!("the vectors are of another graph: {}", facts.join("; "));
        let remedy = "give vectors of this graph, under its own node ids";
        return refuse(&message, remedy);
    }
    let mut notes = Vec::new();
    if !absent.is_empty() {
        let into = graph.in_degrees();
        if absent
            .iter()
            .any(|&node| into[node as usize] > 0 || graph.degree(node) > 0)
        {
            return refuse(&without, "embed all nodes of the graph that have an edge");
        }
        let consequence = "they have no edge either, and count as zero";
        notes.push(format!("{}: {without}; {consequence}", path.display()));
    }
    if !surplus.is_empty() {
        notes.push(format!("{}: {unknown}; they were left out", path.display()));
    }
    Ok(Vectors { block, notes })
}

/// The first few of some ids.
fn first(ids: &NodeIds, rows: &[u32]) -> String {
    const SHOWN: usize = 5;
    let shown = rows
        .iter()
        .take(SHOWN)
        .map(|&row| format!("`{}`", ids.get(row)));
    let more = (rows.len() > SHOWN).then(|| "…".to_owned());
    shown.chain(more).collect::<Vec<_>>().join(", ")
}

/// The graph that the vectors of a file were made from, where the record beside them says so.
pub fn origin(path: &Path) -> Option<GraphFacts> {
    let recorded = Recorded::read(&record::path(path)?).ok()??;
    Some(recorded.graph)
}

/// Refuses vectors that have seen the edges to be predicted. Gives a warning where that cannot be known.
pub fn refuse_leak(path: &Path, whole: &Graph, train: &Graph, seed: u64) -> Result<Option<String>> {
    let name = path.display();
    let facts = origin(path).filter(|facts| facts.edge_fingerprint.is_some());
    let Some(facts) = facts else {
        return Ok(Some(format!(
            "{name}: nothing says which graph these vectors were made from; if it was the whole graph and not the \
             training graph of seed {seed}, the result is meaningless"
        )));
    };
    let seen = |graph: &Graph| facts.edge_fingerprint.as_ref() == Some(&graph.edge_fingerprint());
    let message = if seen(train) {
        return Ok(None);
    } else if seen(whole) {
        "these vectors were made from the whole graph, which holds the edges to be predicted".into()
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
    let remedy = message![
        "embed the training graph of every seed (",
        set("split.seed", seed),
        ") and name the files by their seeds: file:z-{seed}.npy"
    ];
    Err(Error::input(path, message, remedy))
}

/// For tasks in which edges are not hidden: whether the vectors are of this graph.
pub fn note_other_graph(path: &Path, graph: &Graph) -> Option<String> {
    let facts = origin(path)?;
    let same = *facts.edge_fingerprint.as_ref()? == graph.edge_fingerprint();
    let (name, nodes, edges) = (path.display(), facts.nodes, facts.edges);
    let note = || {
        format!("{name}: these vectors were made from another graph ({nodes} nodes, {edges} edges)")
    };
    (!same).then(note)
}

/// A folder in which vectors are saved.
#[derive(Debug)]
pub struct Save {
    folder: PathBuf,
    existing: Existing,
    listed: RefCell<Vec<Entry>>,
}

/// The record of one embedding: whose vectors they are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The file, relative to the folder.
    file: PathBuf,
    version: String,
    /// Name of the graph in tables.
    name: String,
    /// The graph that was embedded: of link prediction, the training graph.
    graph: GraphFacts,
    /// As the user wrote it.
    method: String,
    /// Options that set this candidate apart from others of the method.
    candidate: String,
    /// The method with all its options.
    embedder: Value,
    seed: u64,
    /// Columns.
    dim: usize,
}

impl Entry {
    /// The vectors that a candidate of a method, with the options that set it apart, gives a graph called `name`: they are in the
    /// file `GRAPH/METHOD-SEED.npz`, with the candidate's options in its name when there are several.
    pub fn new(
        name: &str,
        graph: &Graph,
        method: &str,
        (candidate, embedder): &(String, Embedder),
        seed: u64,
    ) -> Self {
        let mut file = method.split(':').next().unwrap_or_default().to_string();
        if !candidate.is_empty() {
            file = format!("{file}-{candidate}");
        }
        Entry {
            file: PathBuf::from(plain(name)).join(format!("{}-{seed}.npz", plain(&file))),
            version: env!("CARGO_PKG_VERSION").into(),
            name: name.into(),
            graph: GraphFacts::of(graph),
            method: method.into(),
            candidate: candidate.clone(),
            embedder: serde_json::to_value(embedder).expect("options are plain data"),
            seed,
            dim: 0,
        }
    }
}

/// The list of all files.
#[derive(Serialize, Deserialize)]
struct Manifest {
    vectors: Vec<Entry>,
}

/// A name that every file system takes.
fn plain(name: &str) -> String {
    let safe = |c: char| c.is_alphanumeric() || "-_.+=,".contains(c);
    let name = name.chars().map(|c| if safe(c) { c } else { '_' });
    let name: String = name.take(120).collect();
    match name.trim_matches('.') {
        "" => "_".into(),
        _ => name,
    }
}

impl Save {
    /// Saves vectors in `folder`, which is made when absent; `existing` is for files of other content.
    pub fn open(folder: &Path, existing: Existing) -> Result<Self> {
        crate::make_folder(folder, "save")?;
        let save = Save {
            folder: folder.to_path_buf(),
            existing,
            listed: RefCell::default(),
        };
        // Now, not after hours.
        save.listed_before()?;
        Output::create(&save.manifest(), Existing::Replace)?;
        Ok(save)
    }

    /// The list of all files.
    pub fn manifest(&self) -> PathBuf {
        self.folder.join("manifest.json")
    }

    /// The files that earlier runs have listed.
    fn listed_before(&self) -> Result<Vec<Entry>> {
        let path = self.manifest();
        let Some(text) = record::read(&path)? else {
            return Ok(Vec::new());
        };
        let read: Result<Manifest, _> = serde_json::from_slice(&text);
        read.map(|manifest| manifest.vectors).map_err(|e| {
            let remedy = "name another folder, or delete the file: it is then written again, without what it listed";
            Error::input(&path, format!("not a list of saved vectors: {e}"), remedy)
        })
    }

    fn list(&self, entry: Entry) {
        let mut listed = self.listed.borrow_mut();
        if !listed.iter().any(|other| other.file == entry.file) {
            listed.push(entry);
        }
    }

    /// Whether the vectors of an entry are in the folder already. They are then listed too.
    pub fn has(&self, entry: &Entry) -> Result<bool> {
        let path = self.folder.join(&entry.file);
        let record = record::path(&path).map(|path| record::read(&path));
        let record = record.transpose()?.flatten();
        let stored = record.and_then(|text| serde_json::from_slice::<Entry>(&text).ok());
        let Some(stored) = stored.filter(|_| path.exists()) else {
            return Ok(false);
        };
        let mut expected = entry.clone();
        expected.dim = stored.dim;
        let same = stored == expected;
        if same {
            self.list(stored);
        }
        Ok(same)
    }

    /// Writes vectors and their record, unless they are there already.
    pub fn keep(&self, mut entry: Entry, ids: &NodeIds, vectors: &Block) -> Result<()> {
        if self.has(&entry)? {
            return Ok(());
        }
        entry.dim = vectors.cols();
        let path = self.folder.join(&entry.file);
        let folder = path.parent().expect("a file in a folder of its own");
        fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
        // A record without vectors belongs to some that are gone.
        let orphan = !path.exists() && record::path(&path).is_some_and(|record| record.exists());
        let mut batch = Batch::new(match orphan {
            true => Existing::Replace,
            false => self.existing,
        });
        Embedding::new(ids.clone(), vectors.clone()).add_to(&mut batch, &path, None)?;
        record::add_to(&mut batch, &path, &entry)?;
        batch.commit()?;
        self.list(entry);
        Ok(())
    }

    /// Writes the list of all files, those of earlier runs included, and returns how many there are.
    pub fn finish(&self) -> Result<usize> {
        let (mut vectors, listed) = (self.listed_before()?, self.listed.borrow().clone());
        let is_new = |old: &Entry| listed.iter().any(|new| new.file == old.file);
        vectors.retain(|old| !is_new(old) && self.folder.join(&old.file).exists());
        vectors.extend(listed);
        vectors.sort_by(|a, b| a.file.cmp(&b.file));
        let count = vectors.len();
        let text = serde_json::to_string_pretty(&Manifest { vectors }).expect("plain data");
        let mut output = Output::create(&self.manifest(), Existing::Replace)?;
        writeln!(output, "{text}").map_err(|e| output.error(e))?;
        output.commit()?;
        Ok(count)
    }
}
