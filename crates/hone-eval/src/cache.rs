//! Finished cells on disk, so that an interrupted run continues where it stopped.
//!
//! The key of a cell is everything its value depends on, written as JSON; the file is named after a hash of it and
//! holds key, value and a checksum of both. A file with another key or checksum, or that cannot be read, counts as
//! absent, and so does a symbolic link, which is replaced and not followed. Files appear complete or not at all.

use std::io::Write;
use std::path::{Path, PathBuf};

use hone::graph::Graph;
use hone::output::Output;
use hone::{Error, Result, record};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Raised whenever the meaning or the values of cells change.
const FORMAT: u32 = 6;

/// A folder of finished cells, or none.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: Option<PathBuf>,
    /// Whether cells are computed again and replace those that are there.
    renew: bool,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    key: Value,
    value: Value,
    /// Of both, as JSON.
    sum: String,
}

impl Entry {
    fn checksum(&self) -> String {
        fingerprint(&format!("{}{}", self.key, self.value))
    }
}

impl Cache {
    /// No cache: every cell is computed.
    pub fn none() -> Self {
        Cache {
            folder: None,
            renew: false,
        }
    }

    /// A cache in `folder`, which is made when absent.
    pub fn open(folder: &Path) -> Result<Self> {
        crate::make_folder(folder, "cache")?;
        Ok(Cache {
            folder: Some(folder.to_path_buf()),
            renew: false,
        })
    }

    /// This cache, whose cells are computed again.
    #[must_use]
    pub fn renewed(&self) -> Cache {
        Cache {
            renew: true,
            ..self.clone()
        }
    }

    /// The value of the cell `key`: from the cache, or computed and stored.
    pub fn cell<T>(&self, key: &impl Serialize, compute: impl FnOnce() -> Result<T>) -> Result<T>
    where
        T: Serialize + DeserializeOwned,
    {
        let Some(folder) = &self.folder else {
            return compute();
        };
        let broken = |e: serde_json::Error| Error::config("cache", e.to_string());
        let key = serde_json::to_value((FORMAT, key)).map_err(broken)?;
        let path = folder.join(format!("{}.json", fingerprint(&key.to_string())));
        if !self.renew
            && !path.is_symlink()
            && let Ok(Some(text)) = record::read(&path)
            && let Ok(entry) = serde_json::from_slice::<Entry>(&text)
            && entry.key == key
            && entry.sum == entry.checksum()
            && let Ok(value) = serde_json::from_value(entry.value)
        {
            return Ok(value);
        }
        let value = serde_json::to_value(compute()?).map_err(broken)?;
        // Text may change the last digit: what the next run reads is what this one gives.
        let value: Value = serde_json::from_str(&value.to_string()).map_err(broken)?;
        let sum = String::new();
        let mut entry = Entry { key, value, sum };
        entry.sum = entry.checksum();
        let text = serde_json::to_vec(&entry).map_err(broken)?;
        let mut output = Output::create_own(&path)?;
        output.write_all(&text).map_err(|e| Error::io(&path, e))?;
        output.commit()?;
        serde_json::from_value(entry.value).map_err(broken)
    }
}

/// A name for any text: FNV-1a with 128 bits.
pub(crate) fn fingerprint(text: &str) -> String {
    let start = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    let add = |hash: u128, byte: u8| {
        (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
    };
    format!("{:032x}", text.bytes().fold(start, add))
}

/// The identity of a graph in the key of a cell.
pub fn graph_key(graph: &Graph) -> (usize, usize, String) {
    (graph.nodes(), graph.edges(), graph.fingerprint())
}
