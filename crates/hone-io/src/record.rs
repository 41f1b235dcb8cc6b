//! `OUT.run.json`: the record of a run next to its output, with checksums of the files that belong together.
//!
//! The record is written in one [`Batch`] with the files it lists. Readers call [`verify`], so that files of two runs
//! are never mixed: ids of one with vectors of another, or a record that describes something else. Cost: one more pass
//! over the files.
//!
//! Inputs are recorded as the user named them, mostly relative to the folder of the run. The record stores the path
//! from itself to that folder, so that [`locate`] finds them from any other folder, even after all have been moved
//! together.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::{Component, Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, human_bytes};
use crate::output::companions::{LARGEST, is_record, record as beside};
use crate::output::parts::{files as parts, is_part};
use crate::output::{Batch, Existing, Written, WrittenFolder, is_stream, plain, same_file};

/// What a record says about files, and everything else in it.
#[derive(Serialize)]
struct Complete<'a, T> {
    #[serde(flatten)]
    run: &'a T,
    /// The folder of the run, relative to that of the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<PathBuf>,
    files: &'a [Written],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    folders: &'a [WrittenFolder],
}

/// The part of a record that [`verify`] needs.
#[derive(Deserialize)]
struct Listed {
    version: Option<String>,
    files: Option<Vec<Written>>,
    #[serde(default)]
    folders: Vec<WrittenFolder>,
}

impl Listed {
    /// The files of an output, with what may have been renamed under its present name; nothing if another tool wrote the
    /// record, else what is wrong with it.
    fn files_of(self, output: &Path) -> std::result::Result<Option<Vec<Written>>, String> {
        let now = output.file_name().unwrap_or_default();
        match (self.version, self.files) {
            (None, None) => Ok(None),
            _ if output.is_dir() => {
                // That of this name, else a table that was renamed.
                let folders = &self.folders;
                let named = folders
                    .iter()
                    .find(|folder| folder.path.file_name() == Some(now));
                let of_parts =
                    |folder: &&WrittenFolder| folder.files.iter().all(|file| is_part(&file.name));
                match named.or_else(|| folders.iter().find(of_parts)) {
                    Some(folder) => Ok(Some(folder.files.clone())),
                    None => Err("it lists no folder of parts".into()),
                }
            }
            (_, None) => Err("`files` is missing".into()),
            (_, Some(files)) if files.is_empty() => Err("`files` lists none".into()),
            (_, Some(mut files)) => {
                // The main file is the first one.
                let main = files[0].name.clone();
                if let Some(now) = now.to_str()
                    && files.iter().all(|file| file.name != now)
                {
                    for file in &mut files {
                        file.name = renamed(&file.name, &main, now);
                    }
                }
                Ok(Some(files))
            }
        }
    }
}

/// The version that wrote a record; nothing for what is no JSON object, or says none.
pub fn version(record: &Path) -> Result<Option<String>> {
    #[derive(Deserialize)]
    struct Versioned {
        version: Option<String>,
    }
    let text = read(record)?.unwrap_or_default();
    if !is_object(&text) {
        return Ok(None);
    }
    let wrong = |what: String| {
        Error::input(
            record,
            what,
            "give a record as it was written, OUT.run.json",
        )
    };
    parse(&text)
        .map(|Versioned { version }| version)
        .map_err(wrong)
}

/// What a record says, which is a JSON object; else what is wrong, with the field.
pub fn parse<T: DeserializeOwned>(text: &[u8]) -> std::result::Result<T, String> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let parsed = serde_path_to_error::deserialize(&mut reader).map_err(|e| {
        let field = e.path().to_string();
        if field == "." {
            e.into_inner().to_string()
        } else {
            format!("`{field}`: {}", e.into_inner())
        }
    });
    // A list would be taken for the fields in a row.
    let parsed = if is_object(text) {
        parsed
    } else {
        Err("it is not a JSON object".into())
    };
    parsed.and_then(|value| reader.end().map(|()| value).map_err(|e| e.to_string()))
}

fn is_object(text: &[u8]) -> bool {
    text.trim_ascii_start().starts_with(b"{")
}

/// Where the record of a run stands; nowhere when its output is a stream.
pub fn path(output: &Path) -> Option<PathBuf> {
    (!is_stream(output)).then(|| beside(output))
}

/// Adds the record of a run, as indented JSON, to the files of its batch, which it lists; nothing for a stream.
pub fn add_to(batch: &mut Batch, output: &Path, run: &impl Serialize) -> Result<()> {
    let Some(path) = path(output) else {
        return Ok(());
    };
    let complete = Complete {
        run,
        folder: run_folder(&path),
        files: batch.written(),
        folders: batch.folders(),
    };
    let text = serde_json::to_string_pretty(&complete).expect("a record is plain data") + "\n";
    let mut out = batch.begin(&path)?;
    out.write_all(text.as_bytes()).map_err(|e| out.error(e))?;
    batch.add(out)
}

/// Writes what `add` adds to a batch, all files or none, without a record: that of an earlier run beside `output` is removed.
/// Returns the files.
pub fn without(
    output: &Path,
    existing: Existing,
    add: impl FnOnce(&mut Batch) -> Result<()>,
) -> Result<Vec<PathBuf>> {
    let mut batch = Batch::new(existing);
    add(&mut batch)?;
    if let Some(record) = outdated(output) {
        batch.obsolete(&record)?;
    }
    batch.commit()
}

/// The record of an earlier run beside an output.
fn outdated(output: &Path) -> Option<PathBuf> {
    path(output).filter(|path| is_record(path))
}

/// Refuses the record of an earlier run beside an output that will have none, where it may not be removed.
///
/// # Errors
/// [`Error::Exists`].
pub fn check_without(output: &Path, existing: Existing) -> Result<()> {
    outdated(output).map_or(Ok(()), |record| Batch::new(existing).obsolete(&record))
}

/// The folder of this process relative to that of a record, if both are known.
fn run_folder(record: &Path) -> Option<PathBuf> {
    let of_record = match record.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let (from, to) = (
        of_record.canonicalize().ok()?,
        Path::new(".").canonicalize().ok()?,
    );
    Some(relative(&from, &to))
}

/// The way from one folder to another, both absolute.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let same = from
        .components()
        .zip(to.components())
        .take_while(|(a, b)| a == b)
        .count();
    let up = from.components().skip(same).map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(to.components().skip(same)).collect();
    if way.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        way
    }
}

/// Where a file is that a record names: in the folder of the run that `folder` leads to from the record, else in the present
/// one. A record without that folder is taken to lie in it.
pub fn locate(record: &Path, folder: Option<&Path>, named: &str) -> Result<String> {
    let path = Path::new(named);
    if named == "-" || path.is_absolute() {
        return Ok(named.to_owned());
    }
    let beside = record
        .parent()
        .unwrap_or(Path::new(""))
        .join(folder.unwrap_or(Path::new("")));
    let there = plain(&beside.join(path));
    match there.to_str() {
        _ if same_file(&there, path) => Ok(named.to_owned()),
        Some(place) if there.exists() => Ok(place.to_owned()),
        _ if path.exists() => Ok(named.to_owned()),
        _ => {
            let beside = plain(&beside);
            let place = match beside.as_os_str().is_empty() {
                true => "not in this folder".to_owned(),
                false => format!("neither in {} nor in this folder", beside.display()),
            };
            let message = format!("{} names this file, which is {place}", record.display());
            let remedy = "give the file by its present name, or put it back";
            Err(Error::input(named, message, remedy))
        }
    }
}

/// Refuses an output whose record lists other files than those that are there; what has no record is not checked. Files
/// that were renamed together with their record are compared under their new names.
pub fn verify(output: &Path) -> Result<()> {
    let record = beside(output);
    let Some(text) = read(&record)? else {
        return Ok(());
    };
    let files = parse(&text).and_then(|listed: Listed| listed.files_of(output));
    let files = files.map_err(|what| {
        let message = format!("the record of {} is damaged: {what}", output.display());
        let remedy =
            "write the files again, or delete the .run.json if they are known to belong together";
        Error::input(&record, message, remedy)
    })?;
    let Some(files) = files else {
        return Ok(());
    };
    let mixed = |how: String| {
        let message = format!(
            "not as {} says: {how}. These are files of two runs, or one was changed",
            record.display()
        );
        let remedy = "write them again, or delete the .run.json if the change is meant";
        Err(Error::input(output, message, remedy))
    };
    let mut folder = output.parent().unwrap_or(Path::new(""));
    if output.is_dir() {
        folder = output;
        let listed = |name: &OsStr| files.iter().any(|file| name == file.name.as_str());
        for part in parts(output)? {
            let name = part.file_name().unwrap_or_default();
            if !listed(name) {
                return mixed(format!("{} is not listed", name.display()));
            }
        }
    }
    for file in &files {
        // Never a path that leads elsewhere.
        let Some(name) = Path::new(&file.name).file_name() else {
            return mixed("it lists no name".into());
        };
        if let Some(how) = file.difference(&folder.join(name))? {
            return mixed(how);
        }
    }
    Ok(())
}

/// What a file is called after the main one beside it, and all with it, was renamed: `z.ids.txt` is `y.ids.txt` where
/// `z.npy` is `y.npy`.
fn renamed(name: &str, main: &str, now: &str) -> String {
    fn stem(name: &str) -> &str {
        let stem = Path::new(name).file_stem();
        stem.and_then(OsStr::to_str).unwrap_or(name)
    }
    if let Some(rest) = name.strip_prefix(main) {
        return format!("{now}{rest}");
    }
    match name.strip_prefix(stem(main)) {
        Some(rest) if rest.is_empty() || rest.starts_with('.') => format!("{}{rest}", stem(now)),
        _ => name.to_owned(),
    }
}

/// The text of a record or of a manifest, when there is one; refuses what is too large to be one, or no regular file.
pub fn read(record: &Path) -> Result<Option<Vec<u8>>> {
    let wrong = |e| Error::io(record, e);
    let refused = || {
        let message = format!(
            "not the record of a run, which is a regular file of at most {}",
            human_bytes(LARGEST)
        );
        Error::input(record, message, "name another file, or move this one away")
    };
    match std::fs::metadata(record) {
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(e) => return Err(wrong(e)),
        Ok(found) if !found.is_file() || found.len() > LARGEST => return Err(refused()),
        Ok(_) => {}
    }
    let mut text = Vec::new();
    // It may grow while it is read.
    File::open(record)
        .and_then(|file| file.take(LARGEST + 1).read_to_end(&mut text))
        .map_err(wrong)?;
    if text.len() as u64 > LARGEST {
        Err(refused())
    } else {
        Ok(Some(text))
    }
}
