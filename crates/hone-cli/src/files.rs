//! [`Files`]: what a run reads and what it writes, so that neither destroys the other.
//!
//! A command lists all of them before the work. What would be written over an input, twice, or over an existing file
//! without `--force` is refused then, and not after an hour.

use std::path::{Path, PathBuf};

use hone::Error;
use hone::output::{Batch, Existing, Output, is_stream, same_file};
use hone::record;

use crate::exit::{self, Kept};

/// All files of a run, each with the option that names it.
#[derive(Debug, Default)]
pub(crate) struct Files {
    inputs: Vec<(&'static str, PathBuf)>,
    outputs: Vec<(&'static str, PathBuf)>,
}

impl Files {
    /// Adds files that are read; `INPUT` is the graph.
    pub(crate) fn read<P: AsRef<Path>>(mut self, option: &'static str, paths: impl IntoIterator<Item = P>) -> Self {
        self.inputs.extend(paths.into_iter().map(|path| (option, path.as_ref().to_path_buf())));
        self
    }

    /// Adds files of vectors that are read, with what may stand beside them.
    pub(crate) fn read_vectors<P: AsRef<Path>>(self, option: &'static str, paths: impl IntoIterator<Item = P>) -> Self {
        let beside = |path: P| {
            let path = path.as_ref().to_path_buf();
            let mut columns = path.as_os_str().to_owned();
            columns.push(".columns.txt");
            let beside = [Some(path.with_extension("ids.txt")), Some(columns.into()), record::path(&path)];
            beside.into_iter().flatten().chain([path])
        };
        let paths: Vec<PathBuf> = paths.into_iter().flat_map(beside).collect();
        self.read(option, paths)
    }

    /// Adds files that are written.
    pub(crate) fn write<P: AsRef<Path>>(mut self, option: &'static str, paths: impl IntoIterator<Item = P>) -> Self {
        self.outputs.extend(paths.into_iter().map(|path| (option, path.as_ref().to_path_buf())));
        self
    }

    /// Refuses what cannot or must not be written. Pipes are not opened: whoever reads one would see it.
    pub(crate) fn check(&self, force: bool) -> Result<Batch, Error> {
        for (at, (option, path)) in self.outputs.iter().enumerate() {
            let named = |other: &&(&str, PathBuf)| other.1 == *path;
            let same = |other: &&(&str, PathBuf)| !is_stream(path) && same_file(&other.1, path);
            if let Some((of, _)) = self.inputs.iter().find(same) {
                let of = if *of == "INPUT" { String::new() } else { format!(" of {of}") };
                let message = format!("{} is the input{of}; write to another file", path.display());
                return Err(Error::config(*option, message));
            }
            if self.outputs[..at].iter().any(|other| named(&other) || same(&other)) {
                let message = format!("two outputs go to {}; give each a place of its own", path.display());
                return Err(Error::config(*option, message));
            }
            if is_stream(path) {
                exit::keep(Kept::Stream);
            } else {
                Output::create(path, Existing::replaced_if(force))?;
            }
        }
        Ok(Batch::new(Existing::replaced_if(force)))
    }
}
