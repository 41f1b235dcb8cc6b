//! [`Files`]: what a run reads and what it writes, so that neither destroys the other.
//!
//! A command lists all of them before the work. Overwriting an input, writing a file twice, or replacing an existing
//! file without `--force` is refused then, not after an hour.

use std::io::Write;
use std::path::{Path, PathBuf};

use hone::Error;
use hone::output::parts::{check_target, is_folder};
use hone::output::{
    Batch, Existing, Output, Temporary, companions, is_stream, same_file, spelled_out,
};
use hone::record;

use crate::context::Context;
use crate::exit::{self, Kept};
use crate::stdout;

/// All files of a run, each with the option that names it.
#[derive(Debug, Default)]
pub(crate) struct Files {
    inputs: Vec<Named>,
    outputs: Vec<Named>,
    folders: Vec<(Named, Use)>,
}

#[derive(Debug)]
struct Named {
    option: &'static str,
    path: PathBuf,
}

impl Named {
    fn refuse(&self, message: String) -> Result<(), Error> {
        Err(Error::config(self.option, message))
    }

    /// ` of --attributes`; nothing for the graph.
    fn of_option(&self) -> String {
        match self.option {
            "INPUT" => String::new(),
            option => format!(" of {option}"),
        }
    }
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
    fn replaces(self) -> bool {
        matches!(self, Use::Replaced | Use::Parts)
    }

    /// Whether a file in the folder may be written by the run itself, under a name that it chooses: vectors, cells, records.
    fn may_replace(self, path: &Path) -> bool {
        let extension = path.extension().unwrap_or_default();
        let is_own = ["json", "npz", "txt"].iter().any(|own| extension == *own);
        self.replaces() || (self != Use::Kept && is_own)
    }
}

impl Files {
    /// Adds files that are read; `INPUT` is the graph, `-` what standard input is.
    pub(crate) fn read<P: AsRef<Path>>(
        mut self,
        option: &'static str,
        paths: impl IntoIterator<Item = P>,
    ) -> Self {
        self.inputs.extend(paths.into_iter().map(|path| {
            let path = match path.as_ref() {
                path if path == Path::new("-") => Path::new("/dev/stdin"),
                path => path,
            };
            let path = path.to_path_buf();
            Named { option, path }
        }));
        self
    }

    /// Adds files of vectors that are read, with what may stand beside them.
    pub(crate) fn read_vectors<P: AsRef<Path>>(
        mut self,
        option: &'static str,
        paths: impl IntoIterator<Item = P>,
    ) -> Self {
        for path in paths {
            let path = path.as_ref();
            let beside = [path.with_extension("ids.txt"), column_names(path)];
            self = self.read(option, beside.into_iter().chain(record::path(path)));
            self = self.read(option, [path]);
        }
        self
    }

    /// Adds files that are written; a name that ends with `/` is a folder of parts.
    pub(crate) fn write<P: AsRef<Path>>(
        mut self,
        option: &'static str,
        paths: impl IntoIterator<Item = P>,
    ) -> Self {
        for path in paths {
            let path = path.as_ref().to_path_buf();
            match is_folder(&path) {
                true => self.folders.push((Named { option, path }, Use::Parts)),
                false => self.outputs.push(Named { option, path }),
            }
        }
        self
    }

    /// Adds the files of an output, and the record next to it.
    pub(crate) fn write_recorded(self, files: &[PathBuf], output: &Path) -> Self {
        let record = record::path(output);
        self.write("--output", files.iter().chain(&record))
    }

    /// Adds a folder that is written to.
    pub(crate) fn folder(mut self, option: &'static str, path: Option<&Path>, used: Use) -> Self {
        let path = path.map(Path::to_path_buf);
        self.folders
            .extend(path.map(|path| (Named { option, path }, used)));
        self
    }

    /// Refuses what cannot or must not be written. Pipes are not opened: whoever reads one would see it.
    pub(crate) fn check(&self, force: bool) -> Result<Batch, Error> {
        self.check_places()?;
        let existing = Existing::replaced_if(force);
        for Named { path, .. } in &self.outputs {
            if is_stream(path) {
                if ["-", "/dev/stdout"].map(Path::new).contains(&&**path) {
                    stdout::check().map_err(|error| Error::io("standard output", error))?;
                }
                exit::keep(Kept::Stream);
                continue;
            }
            Output::create(path, existing)?;
            // Files that belong to an older output of this name go with it.
            let older = companions(path).into_iter().filter(|path| path.is_file());
            for companion in older.filter(|_| force) {
                Output::create(&companion, Existing::Replace)?;
            }
        }
        let parts = self.folders.iter().filter(|(_, used)| *used == Use::Parts);
        for (Named { path, .. }, _) in parts {
            check_target(path, existing)?;
            Temporary::folder(path)?;
        }
        Ok(Batch::new(existing))
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
        // What is written into the folder of a graph would be read as a part of it.
        let folders = self.folders.iter().map(|(folder, _)| folder);
        for output in self.outputs.iter().chain(folders) {
            let place = spelled_out(&output.path);
            let holds = |input: &&Named| {
                let is_graph = input.option == "INPUT" && input.path.is_dir();
                let folder = input.path.canonicalize();
                is_graph && folder.is_ok_and(|folder| place.starts_with(folder))
            };
            if let Some(input) = self.inputs.iter().find(holds) {
                let (input, path) = (input.path.display(), output.path.display());
                let message =
                    format!("{path} is in {input}, the folder that is read; write elsewhere");
                return output.refuse(message);
            }
        }
        for (at, output) in self.outputs.iter().enumerate() {
            let (path, shown) = (&output.path, output.path.display());
            let same = |other: &Named| !is_stream(path) && same_file(&other.path, path);
            if let Some(input) = self.inputs.iter().find(|other| same(other)) {
                let of = input.of_option();
                let message = format!("{shown} is the input{of}; write to another file");
                return output.refuse(message);
            }
            let place = spelled_out(path);
            let twice = |other: &Named| {
                other.path == *path || spelled_out(&other.path) == place || same(other)
            };
            if self.outputs[..at].iter().any(twice) {
                let message = format!("two outputs go to {shown}; give each its own path");
                return output.refuse(message);
            }
        }
        // Inputs that would be taken for files that belong to an output would be removed with the old ones.
        for output in self
            .outputs
            .iter()
            .filter(|output| !is_stream(&output.path))
        {
            let path = &output.path;
            let beside: Vec<PathBuf> = [companions(path), companions(&spelled_out(path))].concat();
            let existing = || beside.iter().filter(|file| file.exists());
            let is_beside = |other: &&Named| existing().any(|file| same_file(&other.path, file));
            if let Some(input) = self.inputs.iter().find(is_beside) {
                let (of, input, path) = (input.of_option(), input.path.display(), path.display());
                return output.refuse(format!(
                    "{input}, the input{of}, has the name of a file that belongs to {path}; write to another file"
                ));
            }
        }
        (0..self.folders.len()).try_for_each(|at| self.check_folder(at))
    }

    fn check_folder(&self, at: usize) -> Result<(), Error> {
        let (own, used) = &self.folders[at];
        let (folder, shown) = (spelled_out(&own.path), own.path.display());
        // Standard input may be a file, whose name the system knows.
        let is_read = |input: &&Named| {
            let place = input.path.canonicalize();
            let place = place.unwrap_or_else(|_| spelled_out(&input.path));
            place.starts_with(&folder)
        };
        // Companions of a file come before it.
        let read = self.inputs.iter().rev().find(is_read);
        if let Some(input) = read.filter(|_| used.replaces() || *used == Use::Rewritten) {
            let (input, of) = (input.path.display(), input.of_option());
            return own.refuse(format!(
                "{input}, the input{of}, is in the folder {shown}; name another folder"
            ));
        }
        let above = |other: &&Named| folder.starts_with(spelled_out(&other.path));
        if let Some(Named { option, path }) = self.outputs.iter().find(above) {
            let path = path.display();
            let message = format!("{path} is also the file of {option}; name another folder");
            return own.refuse(message);
        }
        let inside = |other: &&Named| {
            let path = &other.path;
            !is_stream(path) && spelled_out(path).starts_with(&folder) && used.may_replace(path)
        };
        if let Some(Named { option, path }) = self.outputs.iter().find(inside) {
            let path = path.display();
            return own.refuse(format!(
                "{path}, the file of {option}, is in the folder {shown}; name another folder"
            ));
        }
        for (Named { option, path }, its) in &self.folders[..at] {
            let place = spelled_out(path);
            let nested = place.starts_with(&folder) || folder.starts_with(&place);
            if nested && (used.replaces() || its.replaces()) {
                let path = path.display();
                return own.refuse(format!(
                    "{shown} and {path}, that of {option}, share a folder; keep them apart"
                ));
            }
        }
        Ok(())
    }
}

/// The file beside vectors that names their columns.
pub(crate) fn column_names(vectors: &Path) -> PathBuf {
    let mut names = vectors.as_os_str().to_owned();
    names.push(".columns.txt");
    names.into()
}

/// Adds a file with this content to a batch.
pub(crate) fn add(batch: &mut Batch, path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let mut output = batch.begin(path)?;
    output.write_all(bytes).map_err(|e| output.error(e))?;
    batch.add(output)
}

/// Refuses a file name whose extension is not that of `what` is written, of which `known` are the extensions.
pub(crate) fn check_extension(path: &Path, what: &str, known: &[&str]) -> Result<(), Error> {
    let own = path.extension().and_then(|own| own.to_str());
    let own = own.unwrap_or_default().to_ascii_lowercase();
    if is_stream(path) || known.contains(&own.as_str()) {
        return Ok(());
    }
    let known = match known {
        [only] => format!(".{only}"),
        [most @ .., last] => format!(".{} or .{last}", most.join(", .")),
        [] => String::new(),
    };
    let message = format!("{what} is {known}");
    Err(Error::input(path, message, "end its name so"))
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
    let files = written.iter().filter(|path| !is_stream(path));
    let (first, others): (Vec<_>, Vec<_>) = files.partition(|path| path.as_path() == output);
    let files: Vec<String> = first.iter().chain(&others).map(shown).collect();
    (!files.is_empty()).then(|| files.join(", "))
}
