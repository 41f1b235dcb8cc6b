//! Saves the vectors of all methods: `hone eval … --save DIR`.
//!
//! Each embedding is a file `GRAPH/METHOD-SEED.npz` with vectors and ids. Next to it is a record with the method, all
//! its options, the seed and the graph, which also tells [`crate::foreign`] that the vectors may be evaluated again
//! (`file:DIR/GRAPH/METHOD-{seed}.npz`). `DIR/manifest.json` lists all files.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use hone::dense::Block;
use hone::graph::{Graph, GraphFacts};
use hone::output::{Batch, Existing, Output};
use hone::store::Embedding;
use hone::{Error, Result, record};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::method::{Embedder, Method};

/// A folder in which vectors are saved.
#[derive(Debug)]
pub struct Save {
    folder: PathBuf,
    existing: Existing,
    kept: Mutex<Vec<Entry>>,
}

/// One embedding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Entry {
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

/// The list of all files.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Manifest {
    vectors: Vec<Entry>,
}

/// Whose vectors they are.
#[derive(Debug, Clone, Copy)]
pub struct Whose<'a> {
    /// Name of the graph.
    pub name: &'a str,
    /// Name of the method.
    pub method: &'a str,
    /// Options that set the candidate apart.
    pub candidate: &'a str,
    /// How the vectors were made.
    pub embedder: &'a Embedder,
    /// The seed.
    pub seed: u64,
}

impl<'a> Whose<'a> {
    /// The vectors of one candidate of a method.
    pub(crate) fn new(
        name: &'a str,
        method: &'a Method,
        (candidate, embedder): &'a (String, Embedder),
        seed: u64,
    ) -> Self {
        Whose {
            name,
            method: &method.name,
            candidate,
            embedder,
            seed,
        }
    }

    /// `GRAPH/METHOD-SEED.npz`, with the candidate's options in the name when there are several.
    fn file(&self) -> PathBuf {
        let base = self.method.split(':').next().unwrap_or(self.method);
        let method = if self.candidate.is_empty() {
            base.to_string()
        } else {
            format!("{base}-{}", self.candidate)
        };
        PathBuf::from(plain(self.name)).join(format!("{}-{}.npz", plain(&method), self.seed))
    }
}

/// A name that every file system takes.
fn plain(name: &str) -> String {
    let kept = |c: char| {
        if c.is_alphanumeric() || "-_.+=,".contains(c) {
            c
        } else {
            '_'
        }
    };
    let name: String = name.chars().map(kept).take(120).collect();
    if name.trim_matches('.').is_empty() {
        "_".into()
    } else {
        name
    }
}

impl Save {
    /// Keeps vectors in `folder`, which is made when absent; `existing` is for files of other
    /// content.
    pub fn open(folder: impl AsRef<Path>, existing: Existing) -> Result<Self> {
        Self::open_at(folder.as_ref(), existing)
    }

    fn open_at(folder: &Path, existing: Existing) -> Result<Self> {
        if folder.exists() && !folder.is_dir() {
            return Err(Error::config(
                "save",
                format!("{} is a file; give a folder", folder.display()),
            ));
        }
        fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
        let save = Save {
            folder: folder.to_path_buf(),
            existing,
            kept: Mutex::new(Vec::new()),
        };
        // Now, not after hours.
        save.listed()?;
        Output::create(&save.manifest(), Existing::Replace)?;
        Ok(save)
    }

    /// The files that earlier runs have listed.
    fn listed(&self) -> Result<Vec<Entry>> {
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

    /// Whether these vectors are in the folder already. They are then listed too.
    pub fn has(&self, whose: &Whose<'_>, graph: &Graph) -> Result<bool> {
        let path = self.folder.join(whose.file());
        let record = record::path(&path)
            .map(|path| record::read(&path))
            .transpose()?
            .flatten();
        let stored = record.and_then(|text| serde_json::from_slice::<Entry>(&text).ok());
        let Some(stored) = stored.filter(|_| path.exists()) else {
            return Ok(false);
        };
        let same = stored == entry(whose, graph, stored.dim)?;
        if same {
            self.list(stored);
        }
        Ok(same)
    }

    /// Writes vectors and their record, unless they are there already.
    pub fn keep(&self, whose: &Whose<'_>, graph: &Graph, vectors: &Block) -> Result<()> {
        if self.has(whose, graph)? {
            return Ok(());
        }
        let path = self.folder.join(whose.file());
        let folder = path.parent().expect("a file in a folder of its own");
        fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
        let entry = entry(whose, graph, vectors.cols())?;
        // A record without vectors belongs to some that are gone.
        let orphan = !path.exists() && record::path(&path).is_some_and(|record| record.exists());
        let mut batch = Batch::new(if orphan {
            Existing::Replace
        } else {
            self.existing
        });
        Embedding::new(graph.ids().clone(), vectors.clone()).add_to(&mut batch, &path, None)?;
        record::add_to(&mut batch, &path, &entry)?;
        batch.commit()?;
        self.list(entry);
        Ok(())
    }

    /// The list of all files.
    pub fn manifest(&self) -> PathBuf {
        self.folder.join("manifest.json")
    }

    /// Writes the list of all files, those of earlier runs included, and returns how many there are.
    pub fn finish(&self) -> Result<usize> {
        let path = self.manifest();
        let mut vectors = self.listed()?;
        let kept = self
            .kept
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        vectors.retain(|old| {
            !kept.iter().any(|new| new.file == old.file) && self.folder.join(&old.file).exists()
        });
        vectors.extend(kept);
        vectors.sort_by(|a, b| a.file.cmp(&b.file));
        let count = vectors.len();
        write_json(&path, &Manifest { vectors })?;
        Ok(count)
    }

    fn list(&self, entry: Entry) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if !kept.iter().any(|other| other.file == entry.file) {
            kept.push(entry);
        }
    }
}

fn entry(whose: &Whose<'_>, graph: &Graph, dim: usize) -> Result<Entry> {
    let embedder =
        serde_json::to_value(whose.embedder).map_err(|e| Error::config("save", e.to_string()))?;
    Ok(Entry {
        file: whose.file(),
        version: env!("CARGO_PKG_VERSION").into(),
        name: whose.name.into(),
        graph: GraphFacts::of(graph),
        method: whose.method.into(),
        candidate: whose.candidate.into(),
        embedder,
        seed: whose.seed,
        dim,
    })
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let text =
        serde_json::to_string_pretty(value).map_err(|e| Error::config("save", e.to_string()))?;
    let mut output = Output::create(path, Existing::Replace)?;
    output
        .write_all(text.as_bytes())
        .and_then(|()| output.write_all(b"\n"))
        .map_err(|e| output.error(e))?;
    output.commit()
}
