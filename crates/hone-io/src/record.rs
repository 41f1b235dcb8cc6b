//! `OUT.run.json`: the record of a run next to its output, with checksums of the files that belong together.
//!
//! The record is written in one [`Batch`] with the files it lists. Readers call [`verify`], so that files of two runs
//! are never mixed: ids of one with vectors of another, or a record that describes something else. Cost: one more pass
//! over the files.
//!
//! Inputs are recorded as the user named them, mostly relative to the folder of the run. The record stores the path
//! from itself to that folder, so that [`locate`] finds them from any other folder, even after all have been moved
//! together.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::{Component, Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, human_bytes};
use crate::output::companions::{is_record, record as beside};
use crate::output::parts::{files as parts, is_part};
use crate::output::{
    Batch, Existing, Written, WrittenFolder, checksum, is_stream, plain, same_file,
};

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

/// The part of a record that [`verify`] needs, as it stands there.
#[derive(Deserialize)]
struct Listed {
    version: Option<serde_json::Value>,
    files: Option<serde_json::Value>,
    folders: Option<serde_json::Value>,
}

impl Listed {
    /// What is said about a folder: that of this name, else a table that was renamed. What is wrong otherwise.
    fn folder(self, name: &str) -> std::result::Result<Option<Vec<Written>>, String> {
        if self.version.is_none() && self.files.is_none() {
            // A record of another tool.
            return Ok(None);
        }
        let folders = self.folders.map_or(Ok(Vec::new()), serde_json::from_value);
        let folders: Vec<WrittenFolder> = folders.map_err(|e| format!("`folders`: {e}"))?;
        let named =
            |folder: &&WrittenFolder| folder.path.file_name().is_some_and(|own| own == name);
        let parts = |folder: &&WrittenFolder| folder.files.iter().all(|file| is_part(&file.name));
        let found = folders
            .iter()
            .find(named)
            .or_else(|| folders.iter().find(parts));
        found
            .map(|folder| Some(folder.files.clone()))
            .ok_or_else(|| "it lists no folder of parts".into())
    }

    /// Whether there is anything to compare with; what is wrong with a field otherwise.
    fn files(self) -> std::result::Result<Option<Vec<Written>>, String> {
        if let Some(version) = self.version.as_ref().filter(|version| !version.is_string()) {
            return Err(format!("`version`: {version} is not text"));
        }
        match (self.version, self.files) {
            // A record of another tool.
            (None, None) => Ok(None),
            (Some(_), None) => Err("`files` is missing".into()),
            (_, Some(files)) => match serde_json::from_value::<Vec<Written>>(files) {
                Ok(files) if files.is_empty() => Err("`files` lists none".into()),
                Ok(files) => Ok(Some(files)),
                Err(e) => Err(format!("`files`: {e}")),
            },
        }
    }
}

/// The version that wrote a record; nothing for what is no JSON object, or says none.
pub fn version(record: impl AsRef<Path>) -> Result<Option<String>> {
    version_at(record.as_ref())
}

fn version_at(record: &Path) -> Result<Option<String>> {
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
pub fn path(output: impl AsRef<Path>) -> Option<PathBuf> {
    let output = output.as_ref();
    (!is_stream(output)).then(|| beside(output))
}

/// Adds the record of a run, as indented JSON, to the files of its batch, which it lists; nothing for a stream.
pub fn add_to(batch: &mut Batch, output: impl AsRef<Path>, run: &impl Serialize) -> Result<()> {
    let output = output.as_ref();
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
    output: impl AsRef<Path>,
    existing: Existing,
    add: impl FnOnce(&mut Batch) -> Result<()>,
) -> Result<Vec<PathBuf>> {
    let output = output.as_ref();
    let mut batch = Batch::new(existing);
    add(&mut batch)?;
    outdated(output).map_or(Ok(()), |record| batch.obsolete(record))?;
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
pub fn check_without(output: impl AsRef<Path>, existing: Existing) -> Result<()> {
    let output = output.as_ref();
    outdated(output).map_or(Ok(()), |record| Batch::new(existing).obsolete(record))
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
pub fn locate(record: impl AsRef<Path>, folder: Option<&Path>, named: &str) -> Result<String> {
    locate_at(record.as_ref(), folder, named)
}

fn locate_at(record: &Path, folder: Option<&Path>, named: &str) -> Result<String> {
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
            let place = |folder: &Path| match folder.as_os_str().is_empty() {
                true => "this folder".to_owned(),
                false => folder.display().to_string(),
            };
            let beside = plain(&beside);
            let here = if beside.as_os_str().is_empty() {
                ""
            } else {
                " nor in this folder"
            };
            let neither = if here.is_empty() { "not" } else { "neither" };
            let message = format!(
                "{} names this file, which is {neither} in {}{here}",
                record.display(),
                place(&beside)
            );
            Err(Error::input(
                named,
                message,
                "give the file by its present name, or put it back",
            ))
        }
    }
}

/// Refuses an output whose record lists other files than those that are there; what has no record is not checked. Files
/// that were renamed together with their record are compared under their new names.
pub fn verify(output: impl AsRef<Path>) -> Result<()> {
    verify_at(output.as_ref())
}

fn verify_at(output: &Path) -> Result<()> {
    let record = beside(output);
    let Some(text) = read(&record)? else {
        return Ok(());
    };
    let damaged = |what: String| {
        let remedy =
            "write the files again, or delete the .run.json if they are known to belong together";
        Error::input(
            &record,
            format!("the record of {} is damaged: {what}", output.display()),
            remedy,
        )
    };
    if output.is_dir() {
        let name = output.file_name().unwrap_or_default().to_string_lossy();
        let files = parse(&text)
            .and_then(|listed: Listed| listed.folder(&name))
            .map_err(damaged)?;
        return files.map_or(Ok(()), |files| verify_parts(&files, output, &record));
    }
    let Some(files) = parse(&text).and_then(Listed::files).map_err(damaged)? else {
        return Ok(());
    };
    // The main file is the first one.
    let (Some(now), Some(then)) = (
        output.file_name().and_then(|name| name.to_str()),
        files.first(),
    ) else {
        return Ok(());
    };
    let listed = files.iter().any(|file| file.name == now);
    let then = if listed { now } else { &then.name };
    let place = |file: &Written| output.with_file_name(own_name(&renamed(&file.name, then, now)));
    files
        .iter()
        .try_for_each(|file| compare(file, &place(file), output, &record))
}

/// Refuses a folder of parts with others than those listed.
fn verify_parts(listed: &[Written], folder: &Path, record: &Path) -> Result<()> {
    let other = |path: &PathBuf| {
        listed
            .iter()
            .all(|file| path.file_name().is_none_or(|name| name != &*file.name))
    };
    if let Some(other) = parts(folder)?.iter().find(|path| other(path)) {
        let shown = other.file_name().unwrap_or_default().display();
        return Err(mixed(&format!("{shown} is not listed"), folder, record));
    }
    listed
        .iter()
        .try_for_each(|file| compare(file, &folder.join(own_name(&file.name)), folder, record))
}

/// What a file is called after the main one beside it, and all with it, was renamed: `z.ids.txt` is `y.ids.txt` where
/// `z.npy` is `y.npy`.
fn renamed<'a>(name: &'a str, main: &str, now: &str) -> Cow<'a, str> {
    if main == now {
        return Cow::Borrowed(name);
    }
    let stem = |name: &str| {
        Path::new(name)
            .file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or(name)
            .len()
    };
    if let Some(rest) = name.strip_prefix(main) {
        return Cow::Owned(format!("{now}{rest}"));
    }
    match name.strip_prefix(&main[..stem(main)]) {
        Some(rest) if rest.is_empty() || rest.starts_with('.') => {
            Cow::Owned(format!("{}{rest}", &now[..stem(now)]))
        }
        _ => Cow::Borrowed(name),
    }
}

/// Length and checksum of an existing file, in one pass over it.
pub fn content(path: &Path) -> Result<Written> {
    let read = File::open(path).and_then(|mut file| checksum(&mut file));
    read.map(|sum| Written::new(path, &sum))
        .map_err(|error| Error::io(path, error))
}

/// Maximum bytes of a record: far more than any that is written.
const LARGEST: u64 = 64 << 20;

/// The text of a record or of a manifest, when there is one; refuses what is too large to be one, or no regular file.
pub fn read(record: impl AsRef<Path>) -> Result<Option<Vec<u8>>> {
    read_at(record.as_ref())
}

fn read_at(record: &Path) -> Result<Option<Vec<u8>>> {
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

/// The name within its folder, never a path that leads elsewhere; empty if there is none.
fn own_name(name: &str) -> &OsStr {
    Path::new(name).file_name().unwrap_or_default()
}

/// Compares what a record says about a file with the one at `place`.
fn compare(file: &Written, place: &Path, output: &Path, record: &Path) -> Result<()> {
    let how = match own_name(&file.name).is_empty() {
        true => Some("it lists no name".to_owned()),
        false => file.difference(place).map_err(|e| Error::io(place, e))?,
    };
    how.map_or(Ok(()), |how| Err(mixed(&how, output, record)))
}

fn mixed(how: &str, output: &Path, record: &Path) -> Error {
    let message = format!(
        "not as {} says: {how}. These are files of two runs, or one was changed",
        record.display()
    );
    Error::input(
        output,
        message,
        "write them again, or delete the .run.json if the change is meant",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn companions_are_renamed_with_the_main_file() {
        for (name, main, now, new) in [
            ("z.npy", "z.npy", "y.npy", "y.npy"),
            ("z.ids.txt", "z.npy", "y.npy", "y.ids.txt"),
            ("z.npy.columns.txt", "z.npy", "y.npy", "y.npy.columns.txt"),
            ("z.tsv", "z.tsv.gz", "y.tsv.gz", "y.tsv"),
            ("zoo.txt", "z.npy", "y.npy", "zoo.txt"),
            ("z.ids.txt", "z.npy", "z.npy", "z.ids.txt"),
        ] {
            assert_eq!(renamed(name, main, now), new, "{name}");
        }
    }

    #[test]
    fn files_are_found_from_any_folder() {
        for (from, to, way) in [
            ("/a/b", "/a/b", "."),
            ("/a/b", "/a", ".."),
            ("/a", "/a/b/c", "b/c"),
            ("/a/b", "/c", "../../c"),
        ] {
            assert_eq!(
                relative(Path::new(from), Path::new(to)),
                Path::new(way),
                "{from} {to}"
            );
        }
        for (path, short) in [
            ("a/../b", "b"),
            ("../a", "../a"),
            ("./a/./b/..", "a"),
            ("../../a", "../../a"),
        ] {
            assert_eq!(plain(Path::new(path)), Path::new(short), "{path}");
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir_all(folder.path().join("out")).expect("made");
        std::fs::write(folder.path().join("g.tsv"), "a b\n").expect("written");
        let record = folder.path().join("out/z.npy.run.json");
        let found = locate(&record, Some(Path::new("..")), "g.tsv").expect("there");
        assert_eq!(Path::new(&found), folder.path().join("g.tsv"));
        let lost = locate(&record, None, "g.tsv")
            .expect_err("not beside the record")
            .to_string();
        assert!(
            lost.contains("neither in") && lost.contains("out") && lost.contains("this folder"),
            "{lost}"
        );
        for kept in ["-", "/no/such/file"] {
            assert_eq!(locate(&record, None, kept).expect("as it is"), kept);
        }
    }
}
