//! The factors of a run as a folder of NumPy arrays with a manifest: U, Σ and V of every local embedding, Z and H of
//! the global one, or the factors of a joint model.
//!
//! The folder is written under a temporary name and appears complete or not at all, together with the other files of its
//! [`Batch`]. Arrays are written as they are computed; none is kept in memory for the folder. [`Folder`] reads
//! them back, and compares them with the checksums in the manifest.
//!
//! | file | content |
//! |---|---|
//! | `manifest.json` | a [`Manifest`]: which file is what, and what it approximates |
//! | `ids.npy` | the id of each node, int64 or text |
//! | `edge.k1.U.npy` `.sigma.npy` `.V.npy` | S ≈ U diag(σ) Vᵀ, on the nodes in `edge.rows.npy` if there is one |
//! | `Z.npy` `H.npy` | Y ≈ Z H |
//! | `left.npy` `right.npy` `motifs.npy` `weights.npy` `core.npy` | a joint model |

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::npy;
use crate::dense::Block;
use crate::error::{Error, Result};
use crate::graph::NodeIds;
use crate::output::{Batch, Existing, Output, Temporary, Written, check_folder, spelled_out};
use crate::record;

const MANIFEST: &str = "manifest.json";
/// How a manifest identifies itself.
const FORMAT: &str = "hone-factors";

/// What the files of a folder are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// `hone-factors`.
    pub format: String,
    /// Version of the library that wrote it.
    pub version: String,
    /// N.
    pub nodes: usize,
    /// File of the node ids.
    pub ids: String,
    /// One entry per motif and step, by step, then by motif.
    pub local: Vec<LocalEntry>,
    /// The global embedding; absent when Y is the result, and for joint models.
    pub global: Option<GlobalEntry>,
    /// A joint model.
    pub joint: Option<JointEntry>,
    /// Length and checksum of every file but this one.
    #[serde(default)]
    pub files: Vec<Written>,
}

/// An array.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrayEntry {
    /// Its file.
    pub file: String,
    /// Its dimensions.
    pub shape: Vec<usize>,
}

/// The factors of one S_t^(k).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LocalEntry {
    /// Name of the motif.
    pub motif: String,
    /// k.
    pub step: usize,
    /// S_t^(k) as a formula of W.
    pub formula: String,
    /// The factored matrix is S_t^(k) times this; 1 except for extreme counts or edge weights.
    pub scale: f64,
    /// Columns that are not zero.
    pub rank: usize,
    /// A description of what the factors approximate.
    pub model: String,
    /// Numbers of the nodes that are the rows of S, U and V; absent when they are all nodes.
    pub rows: Option<ArrayEntry>,
    /// Columns of length one.
    #[serde(rename = "U")]
    pub u: ArrayEntry,
    /// Weight of each column.
    pub sigma: ArrayEntry,
    /// One row per column of S; absent where a solver has none.
    #[serde(rename = "V")]
    pub v: Option<ArrayEntry>,
}

/// The factors of Y.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GlobalEntry {
    /// A description of what the factors approximate.
    pub model: String,
    /// N × D.
    #[serde(rename = "Z")]
    pub z: ArrayEntry,
    /// D × columns of Y; absent where a solver has none.
    #[serde(rename = "H")]
    pub h: Option<ArrayEntry>,
    /// Name of each column of Y.
    pub columns: Vec<String>,
}

/// The factors of the tensor of all S_t^(k).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JointEntry {
    /// A description of what the factors approximate.
    pub model: String,
    /// N × D.
    pub left: ArrayEntry,
    /// N × D.
    pub right: ArrayEntry,
    /// Slices × R.
    pub motifs: ArrayEntry,
    /// Length of each column of Z = left · diag(weights).
    pub weights: ArrayEntry,
    /// R × D × D, for a Tucker decomposition.
    pub core: Option<ArrayEntry>,
    /// The slices, one per row of `motifs`.
    pub slices: Vec<SliceEntry>,
}

/// One slice of the tensor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SliceEntry {
    /// Name of the motif.
    pub motif: String,
    /// k.
    pub step: usize,
    /// S_t^(k) as a formula of W.
    pub formula: String,
    /// The slice of the tensor is S_t^(k) times this.
    pub factor: f64,
}

/// A folder that was written.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
    /// What is in it.
    pub manifest: Manifest,
}

impl Folder {
    /// Opens a folder of factors.
    pub fn open(path: impl Into<PathBuf>) -> Result<Folder> {
        let path = path.into();
        let file = path.join(MANIFEST);
        let wrong = |of: &Path, message| Error::input(of, message, "name a folder of factors");
        let Some(text) = record::read(&file)? else {
            let message = format!("there are no factors here: {MANIFEST} is missing");
            return Err(wrong(&path, message));
        };
        let manifest: Manifest = serde_json::from_slice(&text)
            .map_err(|e| wrong(&file, format!("not a manifest of factors: {e}")))?;
        match manifest.format == FORMAT {
            true => Ok(Folder { path, manifest }),
            false => {
                let message = format!("the format is {:?}, not {FORMAT:?}", manifest.format);
                Err(wrong(&file, message))
            }
        }
    }

    /// Reads an array of one or two dimensions; more are laid out as rows of the last.
    pub fn read(&self, array: &ArrayEntry) -> Result<Block> {
        npy::read_rows(&self.checked(&array.file)?)
    }

    /// Reads the node ids.
    pub fn ids(&self) -> Result<NodeIds> {
        npy::read_ids(&self.checked(&self.manifest.ids)?)
    }

    /// The path of a file that is as the manifest says; those of folders without checksums are taken as they are.
    fn checked(&self, name: &str) -> Result<PathBuf> {
        let remedy = "write the factors again";
        if Path::new(name).file_name() != Some(OsStr::new(name)) {
            let message = format!(
                "{MANIFEST} names `{name}`, which is not the name of a file in this folder"
            );
            return Err(Error::input(&self.path, message, remedy));
        }
        let path = self.path.join(name);
        let mut listed = self.manifest.files.iter();
        if let Some(listed) = listed.find(|file| file.name == name)
            && let Some(how) = listed.difference(&path)?
        {
            let message =
                format!("not as {MANIFEST} says: {how}. It was changed, or is of another run");
            return Err(Error::input(&path, message, remedy));
        }
        Ok(path)
    }
}

/// A folder under construction.
#[derive(Debug)]
pub struct Writer {
    folder: Temporary,
    target: PathBuf,
    existing: Existing,
    /// What the folder holds.
    pub manifest: Manifest,
}

/// Refuses an existing folder. Only one that contains nothing but factors can be replaced: everything in it is deleted.
pub fn check_target(target: &Path, existing: Existing) -> Result<()> {
    let Ok(metadata) = fs::symlink_metadata(target) else {
        return Ok(());
    };
    if existing == Existing::Refuse {
        let path = target.to_path_buf();
        return Err(Error::Exists { path });
    }
    let remedy = "name another folder";
    if !metadata.is_dir() {
        return Err(Error::input(target, "is not a folder", remedy));
    }
    let mut entries = fs::read_dir(target).map_err(|e| Error::io(target, e))?;
    if entries.next().is_none() {
        return Ok(());
    }
    let Ok(Folder { manifest, .. }) = Folder::open(target) else {
        let message = "is a folder of something else, which is not replaced";
        return Err(Error::input(target, message, remedy));
    };
    let named = |name: &str| manifest.names().any(|file| file == name);
    check_folder(target, existing, named, "its manifest.json does not list")
}

/// Refuses to replace a folder that the input `file` is in; `field` names the setting of that.
pub fn check_outside(target: &Path, field: &str, file: &Path) -> Result<()> {
    if !spelled_out(file).starts_with(spelled_out(target)) {
        return Ok(());
    }
    let (file, target) = (file.display(), target.display());
    let message =
        format!("{file} is in the folder that the factors go to, {target}; name another folder");
    Err(Error::config(field, message))
}

impl Writer {
    /// Begins a folder.
    pub fn begin(target: &Path, existing: Existing, ids: &NodeIds) -> Result<Writer> {
        check_target(target, existing)?;
        let manifest = Manifest {
            format: FORMAT.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            nodes: ids.len(),
            ids: "ids.npy".into(),
            ..Manifest::default()
        };
        let folder = Temporary::folder(target)?;
        let mut writer = Writer {
            folder,
            target: target.to_path_buf(),
            existing,
            manifest,
        };
        writer.put("ids.npy", |out| npy::write_ids(ids, out))?;
        Ok(writer)
    }

    /// Writes a block.
    pub fn block(&mut self, name: &str, block: &Block) -> Result<ArrayEntry> {
        let values = bytemuck::cast_slice(block.as_slice());
        let shape = [block.rows(), block.cols()];
        self.array(name, "<f4", &shape, |out| out.write_all(values))
    }

    /// Writes the transpose of a block, padded with zero rows to `rows`; row by row, since it may be far larger.
    pub fn transposed(&mut self, name: &str, block: &Block, rows: usize) -> Result<ArrayEntry> {
        let value = |i, j| match i < block.cols() {
            true => block.get(j, i),
            false => 0.0,
        };
        self.array(name, "<f4", &[rows, block.rows()], |out| {
            (0..rows).try_for_each(|i| {
                let row: Vec<f32> = (0..block.rows()).map(|j| value(i, j)).collect();
                out.write_all(bytemuck::cast_slice(&row))
            })
        })
    }

    /// Writes numbers in f64, in the order of an array of that shape.
    pub fn numbers(&mut self, name: &str, shape: &[usize], numbers: &[f64]) -> Result<ArrayEntry> {
        let size: usize = shape.iter().product();
        assert_eq!(numbers.len(), size, "{name} has the shape {shape:?}");
        let bytes = bytemuck::cast_slice(numbers);
        self.array(name, "<f8", shape, |out| out.write_all(bytes))
    }

    /// Writes numbers of nodes, unless the file is there.
    pub fn rows(&mut self, name: &str, rows: &[u32]) -> Result<ArrayEntry> {
        let (file, shape) = (format!("{name}.npy"), vec![rows.len()]);
        if self.folder.path().join(&file).exists() {
            return Ok(ArrayEntry { file, shape });
        }
        let bytes = bytemuck::cast_slice(rows);
        self.array(name, "<u4", &shape, |out| out.write_all(bytes))
    }

    fn array(
        &mut self,
        name: &str,
        dtype: &str,
        shape: &[usize],
        values: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<ArrayEntry> {
        let file = format!("{name}.npy");
        self.put(&file, |out| {
            npy::write_header(dtype, shape, out)?;
            values(out)
        })?;
        let shape = shape.to_vec();
        Ok(ArrayEntry { file, shape })
    }

    /// Writes the manifest, removes files it does not name, and adds the folder to a batch.
    pub fn finish(mut self, batch: &mut Batch) -> Result<()> {
        self.manifest.local.sort_by_key(|entry| entry.step);
        let named: BTreeSet<String> = self.manifest.names().map(str::to_owned).collect();
        // Files were written here by `put` alone.
        let (listed, others) = std::mem::take(&mut self.manifest.files)
            .into_iter()
            .partition(|file| named.contains(&file.name));
        self.manifest.files = listed;
        self.manifest.files.sort_by(|a, b| a.name.cmp(&b.name));
        for Written { name, .. } in others {
            let removed = fs::remove_file(self.folder.path().join(name));
            removed.map_err(|e| self.error(e))?;
        }
        let text =
            serde_json::to_string_pretty(&self.manifest).expect("a manifest is plain data") + "\n";
        self.put(MANIFEST, |out| out.write_all(text.as_bytes()))?;
        // It may have appeared meanwhile.
        check_target(&self.target, self.existing)?;
        batch.add_folder(self.folder, self.target, self.existing, self.manifest.files);
        Ok(())
    }

    /// Writes a file and remembers its checksum.
    fn put(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        let path = self.folder.path().join(name);
        let to_disk = || {
            let mut out = Output::inside(&path)?;
            write(&mut out)?;
            out.finish()
        };
        let written = to_disk().map_err(|e| self.error(e))?;
        self.manifest.files.retain(|file| file.name != name);
        self.manifest.files.extend(written.map(|(file, _)| file));
        Ok(())
    }

    /// An error under the name that the user gave.
    fn error(&self, error: io::Error) -> Error {
        Error::io(&self.target, error)
    }
}

impl Manifest {
    /// All files that are named, the manifest among them.
    fn names(&self) -> impl Iterator<Item = &str> {
        let mut arrays: Vec<&ArrayEntry> = Vec::new();
        for entry in &self.local {
            arrays.extend([&entry.u, &entry.sigma]);
            arrays.extend(entry.v.iter().chain(&entry.rows));
        }
        if let Some(entry) = &self.global {
            arrays.extend([&entry.z].into_iter().chain(&entry.h));
        }
        if let Some(entry) = &self.joint {
            arrays.extend([&entry.left, &entry.right, &entry.motifs, &entry.weights]);
            arrays.extend(&entry.core);
        }
        let arrays = arrays.into_iter().map(|array| array.file.as_str());
        [MANIFEST, &self.ids].into_iter().chain(arrays)
    }
}
