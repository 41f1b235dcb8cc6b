//! Folders with one file replaced: factors, saved vectors of evaluations, finished cells. What is there is made once.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use hone::dense::Block;
use hone::output::Existing;
use hone::store::factors::{ArrayEntry, Folder, Manifest};
use hone::{Config, Error, Hone, Result, Silent, config::Layers};
use hone_eval::baseline::Random;
use hone_eval::cache::Cache;
use hone_eval::method::Embedder;
use hone_eval::vectors::{self, Entry, Save};

use crate::karate::karate;

/// What one of the folders holds.
const FACTORS: &str = "factors";
const SAVED: &str = "saved";
const CELLS: &str = "cells";
const MANIFEST: &str = "manifest.json";
/// An array of factors, and the saved vectors.
const ARRAY: &str = "edge.k1.U.npy";
const VECTORS: &str = "karate/random-7.npz";

/// Folders of all kinds, in one that lasts as long as the process.
fn made() -> &'static Path {
    static MADE: OnceLock<tempfile::TempDir> = OnceLock::new();
    MADE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        make(folder.path()).expect("nothing is wrong yet");
        folder
    })
    .path()
}

fn make(folder: &Path) -> Result<()> {
    Hone::new(config()?)?
        .factors(folder.join(FACTORS), Existing::Replace)
        .embed(karate(), &Silent)?;
    let manifest = folder.join(FACTORS).join(MANIFEST);
    let mut read: Manifest = serde_json::from_slice(&bytes(&manifest)?).expect("our own");
    // Without checksums, so that arrays can be replaced.
    read.files.clear();
    fs::write(&manifest, serde_json::to_vec(&read).expect("plain data"))
        .map_err(|e| Error::io(&manifest, e))?;
    let save = Save::open(&folder.join(SAVED), Existing::Replace)?;
    save.keep(entry(), karate().ids(), &Block::zeros(karate().nodes(), 2))?;
    save.finish()?;
    cell(&folder.join(CELLS)).map(drop)
}

fn config() -> Result<Config> {
    let settings = [
        ("motifs", "edge,clique4"),
        ("steps", "1"),
        ("local.dim", "2"),
        ("global.dim", "2"),
    ];
    Layers::new().preset("hone-p")?.set_all(settings)?.build()
}

fn entry() -> Entry {
    let candidate = (String::new(), Embedder::Random(Random { dim: 2 }));
    Entry::new("karate", karate(), "random", &candidate, 7)
}

/// A cell of a few numbers, from the cache if that has it.
fn cell(folder: &Path) -> Result<Vec<f64>> {
    Cache::open(folder)?.cell(&("karate", 7), || Ok(vec![0.5, 1e-300, -2.0]))
}

fn bytes(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|e| Error::io(path, e))
}

/// The only file of the folder of cells.
fn cell_file() -> PathBuf {
    let mut files = fs::read_dir(made().join(CELLS)).expect("made");
    files.next().expect("one cell").expect("readable").path()
}

/// The files that are replaced, by target.
pub(crate) fn seeds() -> Result<Vec<(&'static str, Vec<u8>)>> {
    let record = made().join(SAVED).join(format!("{VECTORS}.run.json"));
    let files = [
        ("factors-manifest", made().join(FACTORS).join(MANIFEST)),
        ("factors-array", made().join(FACTORS).join(ARRAY)),
        ("saved-manifest", made().join(SAVED).join(MANIFEST)),
        ("cells", cell_file()),
    ];
    let files = files
        .into_iter()
        .map(|(target, file)| Ok((target, bytes(&file)?)));
    files
        .chain([placeless(&record).map(|bytes| ("saved-record", bytes))])
        .collect()
}

/// A record that does not say where on this machine it was made.
fn placeless(file: &Path) -> Result<Vec<u8>> {
    let mut record: serde_json::Value = serde_json::from_slice(&bytes(file)?).expect("our own");
    record["folder"] = ".".into();
    Ok(serde_json::to_vec_pretty(&record).expect("plain data"))
}

fn replace(file: &Path, by: &Path) -> Result<()> {
    fs::write(file, bytes(by)?).map_err(|e| Error::io(file, e))
}

/// All arrays that a manifest names are read.
pub(crate) fn factors_manifest(path: &Path) -> Result<String> {
    replace(&made().join(FACTORS).join(MANIFEST), path)?;
    read_factors()
}

pub(crate) fn factors_array(path: &Path) -> Result<String> {
    replace(&made().join(FACTORS).join(ARRAY), path)?;
    read_factors()
}

fn read_factors() -> Result<String> {
    let folder = Folder::open(made().join(FACTORS))?;
    let Manifest {
        local,
        global,
        joint,
        ..
    } = &folder.manifest;
    let local = local.iter().flat_map(|entry| {
        [
            Some(&entry.u),
            Some(&entry.sigma),
            entry.v.as_ref(),
            entry.rows.as_ref(),
        ]
    });
    let global = global
        .iter()
        .flat_map(|entry| [Some(&entry.z), entry.h.as_ref()]);
    let joint = joint
        .iter()
        .flat_map(|entry| [Some(&entry.left), Some(&entry.motifs), entry.core.as_ref()]);
    let arrays: Vec<&ArrayEntry> = local
        .chain(global)
        .chain(joint)
        .flatten()
        .take(40)
        .collect();
    for array in &arrays {
        folder.read(array)?;
    }
    let ids = folder.ids()?;
    Ok(format!(
        "{} arrays, {} ids",
        arrays.len().min(9),
        ids.len().min(99)
    ))
}

pub(crate) fn saved_manifest(path: &Path) -> Result<String> {
    replace(&made().join(SAVED).join(MANIFEST), path)?;
    let save = Save::open(&made().join(SAVED), Existing::Replace)?;
    save.finish().map(|count| format!("{} files", count.min(9)))
}

pub(crate) fn saved_record(path: &Path) -> Result<String> {
    let vectors = made().join(SAVED).join(VECTORS);
    replace(
        &made().join(SAVED).join(format!("{VECTORS}.run.json")),
        path,
    )?;
    let has = Save::open(&made().join(SAVED), Existing::Replace)?.has(&entry())?;
    let origin = vectors::origin(&vectors).is_some();
    vectors::read(&vectors, karate())
        .map(|read| format!("{has} {origin} {} notes", read.notes.len().min(9)))
}

/// A cell that cannot be read is computed again: the value is the same whatever the file holds, or what it says.
pub(crate) fn cells(path: &Path) -> Result<String> {
    let file = cell_file();
    replace(&file, path)?;
    cell(&made().join(CELLS)).map(|value| format!("{} numbers", value.len().min(9)))
}
