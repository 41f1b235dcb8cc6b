//! [`Files`]: what a run reads and what it writes, so that neither destroys the other.
//!
//! A command lists all of them before the work. Overwriting an input, writing a file twice, or replacing an existing
//! file without `--force` is refused then, not after an hour.

use std::path::{Path, PathBuf};

use hone::Error;
use hone::output::parts::{check_target, is_folder};
use hone::output::{
    Batch, Existing, Output, TemporaryFolder, companions, is_stream, same_file, spelled_out,
};
use hone::record;

use crate::context::Context;
use crate::exit::{self, Kept};
use crate::stdout;

/// All files of a run, each with the option that names it.
#[derive(Debug, Default)]
pub(crate) struct Files {
    inputs: Vec<(&'static str, PathBuf)>,
    outputs: Vec<(&'static str, PathBuf)>,
    folders: Vec<(&'static str, PathBuf, Use)>,
}

/// What a run does with a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// It is replaced: nothing else of the run may be in it.
    Replaced,
    /// The same, by the parts of a table.
    Parts,
    /// Files in it may be replaced: no input and no output may be one of them.
    Rewritten,
    /// Files are added, under names that the run chooses: no output may have one of them.
    Filled,
    /// Files are added.
    Kept,
}

impl Use {
    /// Whether a file in the folder may be written by the run itself, under a name that it chooses: vectors, cells, records.
    fn may_replace(self, path: &Path) -> bool {
        let ends = |endings: &[&str]| {
            path.extension()
                .is_some_and(|own| endings.iter().any(|ending| own == *ending))
        };
        match self {
            Use::Replaced | Use::Parts => true,
            Use::Rewritten | Use::Filled => ends(&["json", "npz", "txt"]),
            Use::Kept => false,
        }
    }
}

impl Files {
    /// Adds files that are read; `INPUT` is the graph, `-` what standard input is.
    pub(crate) fn read<P: AsRef<Path>>(
        mut self,
        option: &'static str,
        paths: impl IntoIterator<Item = P>,
    ) -> Self {
        let place = |path: &Path| match path == Path::new("-") {
            true => PathBuf::from("/dev/stdin"),
            false => path.to_path_buf(),
        };
        self.inputs
            .extend(paths.into_iter().map(|path| (option, place(path.as_ref()))));
        self
    }

    /// Adds files of vectors that are read, with what may stand beside them.
    pub(crate) fn read_vectors<P: AsRef<Path>>(
        self,
        option: &'static str,
        paths: impl IntoIterator<Item = P>,
    ) -> Self {
        let beside = |path: P| {
            let path = path.as_ref().to_path_buf();
            let mut columns = path.as_os_str().to_owned();
            columns.push(".columns.txt");
            let beside = [
                Some(path.with_extension("ids.txt")),
                Some(columns.into()),
                record::path(&path),
            ];
            beside.into_iter().flatten().chain([path])
        };
        let paths: Vec<PathBuf> = paths.into_iter().flat_map(beside).collect();
        self.read(option, paths)
    }

    /// Adds files that are written; a name that ends with `/` is a folder of parts.
    pub(crate) fn write<P: AsRef<Path>>(
        mut self,
        option: &'static str,
        paths: impl IntoIterator<Item = P>,
    ) -> Self {
        for path in paths.into_iter().map(|path| path.as_ref().to_path_buf()) {
            match is_folder(&path) {
                true => self.folders.push((option, path, Use::Parts)),
                false => self.outputs.push((option, path)),
            }
        }
        self
    }

    /// Adds a folder that is written to.
    pub(crate) fn folder(mut self, option: &'static str, path: Option<&Path>, used: Use) -> Self {
        self.folders
            .extend(path.map(|path| (option, path.to_path_buf(), used)));
        self
    }

    /// Refuses what cannot or must not be written. Pipes are not opened: whoever reads one would see it.
    pub(crate) fn check(&self, force: bool) -> Result<Batch, Error> {
        self.check_places()?;
        for (_, path) in &self.outputs {
            if is_stream(path) {
                if ["-", "/dev/stdout"].map(Path::new).contains(&&**path) {
                    stdout::check().map_err(|error| Error::io("standard output", error))?;
                }
                exit::keep(Kept::Stream);
            } else {
                Output::create(path, Existing::replaced_if(force))?;
                // Files that belong to an older output of this name go with it.
                for companion in companions(path)
                    .into_iter()
                    .filter(|companion| force && companion.is_file())
                {
                    Output::create(&companion, Existing::Replace)?;
                }
            }
        }
        let parts = self.folders.iter().filter(|(.., used)| *used == Use::Parts);
        for (_, path, _) in parts {
            check_target(path, Existing::replaced_if(force))?;
            TemporaryFolder::beside(path)?;
        }
        Ok(Batch::new(Existing::replaced_if(force)))
    }

    /// The same where another process may write for this one: what cannot be written is then its to refuse.
    pub(crate) fn check_by(&self, leads: bool, force: bool) -> Result<Batch, Error> {
        if leads {
            return self.check(force);
        }
        self.check_places()?;
        Ok(Batch::new(Existing::replaced_if(force)))
    }

    /// Refuses outputs that would destroy an input or each other, whatever exists already.
    pub(crate) fn check_places(&self) -> Result<(), Error> {
        for (at, (option, path)) in self.outputs.iter().enumerate() {
            let same = |other: &Path| !is_stream(path) && same_file(other, path);
            if let Some((of, _)) = self.inputs.iter().find(|other| same(&other.1)) {
                let message = format!(
                    "{} is the input{}; write to another file",
                    path.display(),
                    of_option(of)
                );
                return Err(Error::config(*option, message));
            }
            let place = spelled_out(path);
            let twice = |other: &Path| other == path || spelled_out(other) == place || same(other);
            if self.outputs[..at].iter().any(|other| twice(&other.1)) {
                let message = format!(
                    "two outputs go to {}; give each its own path",
                    path.display()
                );
                return Err(Error::config(*option, message));
            }
        }
        self.check_companions()?;
        (0..self.folders.len()).try_for_each(|at| self.check_folder(at))
    }

    /// Refuses inputs that would be taken for files that belong to an output, and removed with the old ones.
    fn check_companions(&self) -> Result<(), Error> {
        for (option, path) in self.outputs.iter().filter(|(_, path)| !is_stream(path)) {
            let beside: Vec<PathBuf> = [companions(path), companions(&spelled_out(path))].concat();
            let beside = |other: &Path| {
                beside
                    .iter()
                    .any(|file| file.exists() && same_file(other, file))
            };
            if let Some((of, input)) = self.inputs.iter().find(|other| beside(&other.1)) {
                let (input, of, path) = (input.display(), of_option(of), path.display());
                let message = format!(
                    "{input}, the input{of}, has the name of a file that belongs to {path}; write to another file"
                );
                return Err(Error::config(*option, message));
            }
        }
        Ok(())
    }

    fn check_folder(&self, at: usize) -> Result<(), Error> {
        let (option, path, used) = &self.folders[at];
        let (folder, shown) = (spelled_out(path), path.display());
        let refused = |message: String| Err(Error::config(*option, message));
        let inside = |(_, other): &&(&str, PathBuf)| {
            !is_stream(other) && spelled_out(other).starts_with(&folder)
        };
        // Standard input may be a file, whose name the system knows.
        let read_from = |(_, input): &&(&str, PathBuf)| {
            let place = input.canonicalize();
            place
                .unwrap_or_else(|_| spelled_out(input))
                .starts_with(&folder)
        };
        // Companions of a file come before it.
        if let Some((of, input)) = self
            .inputs
            .iter()
            .rev()
            .find(read_from)
            .filter(|_| matches!(used, Use::Replaced | Use::Parts | Use::Rewritten))
        {
            let (input, of) = (input.display(), of_option(of));
            return refused(format!(
                "{input}, the input{of}, is in the folder {shown}; name another folder"
            ));
        }
        let above = |(_, other): &&(&str, PathBuf)| folder.starts_with(spelled_out(other));
        if let Some((of, output)) = self.outputs.iter().find(above) {
            return refused(format!(
                "{} is also the file of {of}; name another folder",
                output.display()
            ));
        }
        if let Some((of, output)) = self
            .outputs
            .iter()
            .filter(inside)
            .find(|output| used.may_replace(&output.1))
        {
            let output = output.display();
            return refused(format!(
                "{output}, the file of {of}, is in the folder {shown}; name another folder"
            ));
        }
        for (of, other, its) in &self.folders[..at] {
            let place = spelled_out(other);
            let nested = place.starts_with(&folder) || folder.starts_with(&place);
            if nested
                && [*used, *its]
                    .iter()
                    .any(|used| matches!(used, Use::Replaced | Use::Parts))
            {
                return refused(format!(
                    "{shown} and {}, that of {of}, share a folder; keep them apart",
                    other.display()
                ));
            }
        }
        Ok(())
    }
}

/// Refuses a file name whose extension does not match its content, of which `known` are the extensions.
pub(crate) fn check_extension(path: &Path, known: &[&str]) -> Result<(), Error> {
    let own = path
        .extension()
        .and_then(|own| own.to_str())
        .unwrap_or_default()
        .to_ascii_lowercase();
    if is_stream(path) || known.contains(&own.as_str()) {
        return Ok(());
    }
    let message = format!(
        "this file is written as {}, but has another extension",
        known[0].to_uppercase()
    );
    Err(Error::input(
        path,
        message,
        format!("end its name with .{}", known[0]),
    ))
}

/// Says which files were written, the output before those that belong to it; nothing of streams.
pub(crate) fn note_written(written: &[PathBuf], output: &Path, context: &Context) {
    if let Some(files) = listed(written, output) {
        context.note(format_args!("files: {files}"));
    }
}

/// Files and folders that were written, the output first; streams left out.
pub(crate) fn listed(written: &[PathBuf], output: &Path) -> Option<String> {
    let shown = |path: &&PathBuf| {
        let slash = if path.is_dir() { "/" } else { "" };
        format!("{}{slash}", path.components().as_path().display())
    };
    let (first, others): (Vec<_>, Vec<_>) = written
        .iter()
        .filter(|path| !is_stream(path))
        .partition(|path| path.as_path() == output);
    let files: Vec<String> = first.iter().chain(&others).map(shown).collect();
    (!files.is_empty()).then(|| files.join(", "))
}

/// ` of --attributes`; nothing for the graph.
fn of_option(option: &str) -> String {
    if option == "INPUT" {
        String::new()
    } else {
        format!(" of {option}")
    }
}
