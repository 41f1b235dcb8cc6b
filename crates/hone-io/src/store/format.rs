//! [`Format`]: file formats of embeddings, and the extensions that name them.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::output::is_stream;

/// File formats of embeddings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Format {
    /// Tab-separated text with a header.
    Tsv,
    /// Comma-separated text with a header.
    Csv,
    /// NumPy array, ids in a sidecar.
    Npy,
    /// NumPy archive with ids.
    Npz,
    /// Parquet table.
    Parquet,
    /// word2vec text, also called `.emb` and `.vec` by other tools.
    #[serde(rename = "w2v")]
    Word2vec,
    /// safetensors file.
    Safetensors,
}

impl Format {
    /// All formats with the extension that names them.
    pub const ALL: [(Format, &'static str); 7] = [
        (Format::Tsv, "tsv"),
        (Format::Csv, "csv"),
        (Format::Npy, "npy"),
        (Format::Npz, "npz"),
        (Format::Parquet, "parquet"),
        (Format::Word2vec, "w2v"),
        (Format::Safetensors, "safetensors"),
    ];

    /// The format that `name` (an extension without dot) stands for.
    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL
            .iter()
            .find(|(_, known)| known.eq_ignore_ascii_case(name))
            .map(|&(format, _)| format)
    }

    /// Whether it is text.
    pub fn is_text(self) -> bool {
        matches!(self, Format::Tsv | Format::Csv | Format::Word2vec)
    }

    /// The format of a file by its extension, seen through `.gz` and `.zst`; TSV for streams
    /// without one, such as `-`.
    pub fn of(path: impl AsRef<Path>) -> Result<Format> {
        Self::of_at(path.as_ref())
    }

    fn of_at(path: &Path) -> Result<Format> {
        if path.extension().is_none() && is_stream(path) {
            return Ok(Format::Tsv);
        }
        let extension = |p: &Path| {
            p.extension()
                .and_then(|e| e.to_str())
                .map(str::to_ascii_lowercase)
        };
        let outer = extension(path).unwrap_or_default();
        let compressed = matches!(outer.as_str(), "gz" | "zst");
        let name = if compressed {
            extension(Path::new(path.file_stem().unwrap_or_default()))
        } else {
            Some(outer)
        };
        let known = match name.as_deref() {
            Some("emb" | "vec") => Some(Format::Word2vec),
            name => Format::from_name(name.unwrap_or_default()),
        };
        match known {
            Some(format) if !compressed || format.is_text() => Ok(format),
            Some(_) => Err(Error::input(
                path,
                "only text formats can be compressed",
                "drop the .gz or .zst",
            )),
            None if path.is_dir() => Err(Error::input(
                path,
                "is a folder",
                "give the name of a file in it",
            )),
            None => {
                let known: Vec<_> = Format::ALL
                    .iter()
                    .map(|(_, name)| format!(".{name}"))
                    .collect();
                let message = match name.as_deref() {
                    None | Some("") => "the name has no extension, which names the format",
                    Some(_) => "no embedding format has this extension",
                };
                Err(Error::input(
                    path,
                    message,
                    format!("use {}, .emb", known.join(", ")),
                ))
            }
        }
    }
}
