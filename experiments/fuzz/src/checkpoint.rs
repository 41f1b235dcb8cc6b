//! Checkpoints with one file replaced: its checksum is made right, so that only what it says can be wrong.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use hone::graph::{Graph, GraphBuilder};
use hone::{Config, Error, Hone, Result, Silent, config::Layers};
use serde_json::json;

/// A folder with a finished checkpoint, and what is in it.
struct Saved {
    _folder: tempfile::TempDir,
    place: PathBuf,
    graph: Graph,
    config: Config,
    files: Vec<(String, Vec<u8>)>,
}

const MANIFEST: &str = "manifest.json";
const PART: &str = "edge.k1.part";
const COUNTS: &str = "counts";

/// A small graph with a rare motif, and few columns.
fn saved() -> &'static Saved {
    static SAVED: OnceLock<Saved> = OnceLock::new();
    SAVED.get_or_init(|| {
        let edges = vec![(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5)];
        let graph = GraphBuilder::undirected(6)
            .edges(edges)
            .build()
            .expect("in range");
        let layers = Layers::new().preset("hone-p").and_then(|layers| {
            layers.set_all([
                ("motifs", "edge,triangle"),
                ("steps", "1"),
                ("local.dim", "2"),
                ("global.dim", "2"),
            ])
        });
        let config = layers.and_then(Layers::build).expect("well formed");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let place = folder.path().join("saved");
        run(&config, &graph, &place).expect("nothing is wrong yet");
        let name = |entry: fs::DirEntry| entry.file_name().into_string().expect("our own names");
        let names = fs::read_dir(&place)
            .expect("there")
            .map(|entry| name(entry.expect("readable")));
        let files = names.filter(|name| name != "lock");
        let files = files
            .map(|name| (name.clone(), fs::read(place.join(&name)).expect("readable")))
            .collect();
        Saved {
            _folder: folder,
            place,
            graph,
            config,
            files,
        }
    })
}

fn run(config: &Config, graph: &Graph, place: &Path) -> Result<String> {
    let hone = Hone::new(config.clone())?.resume(place);
    let run = hone.embed(graph, &Silent)?;
    Ok(format!("{} rows", run.embedding.vectors.rows()))
}

/// The file of a seed.
pub(crate) fn seed(name: &str) -> Vec<u8> {
    let files = &saved().files;
    files
        .iter()
        .find(|(known, _)| known == name)
        .map(|(_, bytes)| bytes.clone())
        .unwrap_or_default()
}

/// Names of the files that are replaced.
pub(crate) const SEEDS: [(&str, &str); 3] = [
    ("checkpoint-manifest", MANIFEST),
    ("checkpoint-part", PART),
    ("checkpoint-counts", COUNTS),
];

/// Resumes with one file replaced by the one at `path`. The others are written again where the run before may have
/// changed them: one that was accepted, or whose manifest asked for anything.
fn resume(path: &Path, replaced: &str) -> Result<String> {
    static CHANGED: AtomicBool = AtomicBool::new(true);
    let saved = saved();
    let new = fs::read(path).map_err(|e| Error::io(path, e))?;
    let all = CHANGED.swap(true, Ordering::Relaxed);
    for (name, bytes) in saved
        .files
        .iter()
        .filter(|(name, _)| all || name == replaced)
    {
        let bytes: &[u8] = if name == replaced { &new } else { bytes };
        fs::write(saved.place.join(name), bytes).map_err(|e| Error::io(path, e))?;
    }
    if replaced != MANIFEST {
        let mut manifest: serde_json::Value =
            serde_json::from_slice(&seed(MANIFEST)).expect("our own");
        manifest["files"][replaced] = json!({ "bytes": new.len(), "crc32": crc32fast::hash(&new) });
        fs::write(saved.place.join(MANIFEST), manifest.to_string())
            .map_err(|e| Error::io(path, e))?;
    }
    let outcome = run(&saved.config, &saved.graph, &saved.place);
    CHANGED.store(outcome.is_ok() || replaced == MANIFEST, Ordering::Relaxed);
    outcome
}

pub(crate) fn manifest(path: &Path) -> Result<String> {
    resume(path, MANIFEST)
}

pub(crate) fn part(path: &Path) -> Result<String> {
    resume(path, PART)
}

pub(crate) fn counts(path: &Path) -> Result<String> {
    resume(path, COUNTS)
}
