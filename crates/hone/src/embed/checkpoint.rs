//! [`Checkpoint`]: a folder of finished stages, so that a killed run can be resumed.
//!
//! Every file appears complete or not at all ([`Output`]), and then in `manifest.json` with its length and
//! checksum; a file that is not listed does not count. The manifest also says what the files belong to:
//! version, every setting, the graph and the attributes. A resumed run must have the same, and gives the
//! same bits as a run that was never interrupted.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::attributes::UserAttributes;
use super::context::Context;
use crate::config::Config;
use crate::engine::CPU;
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::message::{message, set};
use crate::output::{Output, Sum, checksum, is_temporary};
use crate::record;

const MANIFEST: &str = "manifest.json";
const LOCK: &str = "lock";
/// Version of the program and of what its stages compute: raise the second when the stages compute other parts than
/// before.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "+6");

/// The remedy for a damaged file.
pub(super) const AGAIN: &str = "delete this file, and the next run creates it again";

/// What the files belong to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Identity {
    /// Version of the library.
    pub(super) version: String,
    /// Fingerprints, in hexadecimal.
    pub(super) graph: String,
    pub(super) attributes: String,
    /// The engine: another one may give other bits.
    #[serde(default = "on_cpu")]
    pub(super) engine: String,
    pub(super) config: Config,
}

/// Checkpoints that do not name an engine are of this process.
fn on_cpu() -> String {
    CPU.to_owned()
}

#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    #[serde(flatten)]
    identity: Identity,
    files: BTreeMap<String, Entry>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Entry {
    bytes: u64,
    crc32: u32,
}

impl Entry {
    fn of(sum: &Sum) -> Self {
        Entry {
            bytes: sum.bytes(),
            crc32: sum.crc32(),
        }
    }
}

/// How a checkpoint is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begin {
    /// In a folder that is empty or new.
    Anew,
    /// Resuming from the content of the folder.
    Resumed,
}

/// A folder of finished stages.
#[derive(Debug)]
pub(super) struct Checkpoint {
    folder: PathBuf,
    manifest: Manifest,
    /// Held while this lives: two runs may not share a folder. Nothing is saved without it.
    lock: Option<File>,
}

impl Checkpoint {
    /// Begins a checkpoint in an empty or new folder, or resumes one.
    pub(super) fn begin(folder: &Path, begin: Begin, identity: Identity) -> Result<Self> {
        if folder.symlink_metadata().is_ok() && !folder.is_dir() {
            let message = format!("{} is not a folder; name another place", folder.display());
            return Err(Error::config("checkpoint", message));
        }
        fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
        let (used, leftovers) = used(folder)?;
        let refusal = match (used, begin) {
            (true, Begin::Anew) => Some((
                "the checkpoint folder is not empty".to_owned(),
                message![
                    "continue it with ",
                    set("resume", true),
                    ", or name another folder"
                ],
            )),
            (true, Begin::Resumed) if !folder.join(MANIFEST).exists() => Some((
                format!("there is no checkpoint here: {MANIFEST} is missing"),
                "name the folder of a checkpoint, or an empty one".into(),
            )),
            _ => None,
        };
        if let Some((message, remedy)) = refusal {
            return Err(Error::input(folder, message, remedy));
        }
        let lock = lock(folder)?;
        let mut checkpoint = Checkpoint {
            folder: folder.to_path_buf(),
            manifest: Manifest {
                identity,
                files: BTreeMap::new(),
            },
            lock: Some(lock),
        };
        if used {
            checkpoint.manifest.files = resumed(folder, &checkpoint.manifest.identity)?;
            // Only now is it certain that nobody is writing them.
            let mut leftovers = leftovers.iter();
            leftovers.try_for_each(|path| fs::remove_file(path).map_err(|e| Error::io(path, e)))?;
        }
        checkpoint.write_manifest()?;
        Ok(checkpoint)
    }

    /// The content of a checkpoint that another process of the same run has open. It cannot save anything.
    pub(super) fn look(folder: &Path, identity: Identity) -> Result<Self> {
        Ok(Checkpoint {
            folder: folder.to_path_buf(),
            manifest: Manifest {
                files: resumed(folder, &identity)?,
                identity,
            },
            lock: None,
        })
    }

    /// Whether this process saves stages: of several, only the leading one does.
    pub(super) fn saves(&self) -> bool {
        self.lock.is_some()
    }

    /// Whether a stage is there.
    pub(super) fn has(&self, name: &str) -> bool {
        self.manifest.files.contains_key(name)
    }

    /// Reads a stage that exists, with its path for errors.
    pub(super) fn open<T>(
        &self,
        name: &str,
        read: impl FnOnce(File, &Path) -> Result<T>,
    ) -> Result<T> {
        let path = self.folder.join(name);
        read(File::open(&path).map_err(|e| Error::io(&path, e))?, &path)
    }

    /// Saves a finished stage, if this process [saves](Checkpoint::saves) any.
    pub(super) fn save(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        if !self.saves() {
            return Ok(());
        }
        let path = self.folder.join(name);
        let mut out = Output::create_own(&path)?;
        write(&mut out).map_err(|e| Error::io(&path, e))?;
        let entry = Entry::of(out.sum());
        out.commit()?;
        self.manifest.files.insert(name.to_owned(), entry);
        self.write_manifest()
    }

    fn write_manifest(&self) -> Result<()> {
        let path = self.folder.join(MANIFEST);
        let text =
            serde_json::to_string_pretty(&self.manifest).expect("a manifest is plain data") + "\n";
        let mut out = Output::create_own(&path)?;
        out.write_all(text.as_bytes())
            .map_err(|e| Error::io(&path, e))?;
        out.commit()
    }
}

/// Opens the checkpoint, if one is requested; refuses one of other work. Of several processes one opens it, and the
/// others read its content.
pub(super) fn open(
    run: &Context,
    requested: Option<&(PathBuf, Begin)>,
    graph: &Graph,
    attributes: &UserAttributes,
) -> Result<Option<Checkpoint>> {
    let Some((folder, begin)) = requested else {
        return Ok(None);
    };
    let identity = Identity {
        version: VERSION.to_owned(),
        graph: graph.fingerprint(),
        attributes: format!("{:08x}", attributes.fingerprint()),
        engine: run.engine.arithmetic().to_owned(),
        config: run.config.clone(),
    };
    let opened = if run.engine.leads() {
        let opened = Some(Checkpoint::begin(folder, *begin, identity)?);
        run.engine.meet();
        Ok(opened)
    } else {
        // What the leading process has found or created. Nobody saves anything before all have seen it.
        run.engine.meet();
        Checkpoint::look(folder, identity).map(Some)
    };
    // Some would work where others read, if they saw different files.
    let files = opened
        .iter()
        .flatten()
        .flat_map(|opened| opened.manifest.files.keys());
    let names = files
        .map(|name| format!("{name}\n"))
        .collect::<String>()
        .into_bytes();
    let all = run.engine.communicator().gather_bytes(&names);
    // A process that saw none reports its own error.
    if opened.is_ok() && all.iter().any(|other| *other != names) {
        return Err(Error::input(
            folder,
            "not all processes see the same files of the checkpoint",
            "use a folder that all machines share, and wait until it is the same on all of them",
        ));
    }
    if run.engine.leads() && *begin == Begin::Resumed {
        let folder = folder.display();
        let stages = names.split(|&byte| byte == b'\n').count() - 1;
        let note = match stages {
            0 => format!("nothing to resume in {folder}: starting from the beginning"),
            1 => format!("resuming from {folder}: 1 finished stage"),
            stages => format!("resuming from {folder}: {stages} finished stages"),
        };
        run.progress.note(&note.into());
    }
    opened
}

/// Whether a folder contains anything but unfinished files, and these.
fn used(folder: &Path) -> Result<(bool, Vec<PathBuf>)> {
    let wrong = |e| Error::io(folder, e);
    let (mut used, mut unfinished) = (false, Vec::new());
    for entry in fs::read_dir(folder).map_err(wrong)? {
        let entry = entry.map_err(wrong)?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if is_temporary(&name) {
            unfinished.push(entry.path());
        } else {
            used |= name != LOCK || !is_lock(&entry.path());
        }
    }
    Ok((used, unfinished))
}

/// Whether this can be a lock of ours: an empty regular file, not a link to one.
fn is_lock(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|m| m.is_file() && m.len() == 0)
}

/// Locks a folder against other runs; the system unlocks it when this one ends.
fn lock(folder: &Path) -> Result<File> {
    let path = folder.join(LOCK);
    let foreign = || {
        let message = "is not the lock of a checkpoint: that is an empty file, not a link";
        Error::input(&path, message, "move it away, or name another folder")
    };
    // Created if there is none, and never through a link: an existing file is opened only after a check.
    let file = match File::create_new(&path) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists && is_lock(&path) => {
            File::options().write(true).open(&path)
        }
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => return Err(foreign()),
        made => made,
    };
    let file = file.map_err(|e| Error::io(&path, e))?;
    match file.try_lock() {
        Err(fs::TryLockError::WouldBlock) => Err(Error::input(
            folder,
            "another run is using this checkpoint",
            "wait for it, or name another folder",
        )),
        // A file system without locks cannot tell.
        _ => Ok(file),
    }
}

/// The files of an earlier run, which must be of the same work, and whole.
fn resumed(folder: &Path, identity: &Identity) -> Result<BTreeMap<String, Entry>> {
    let path = folder.join(MANIFEST);
    let text =
        record::read(&path)?.ok_or_else(|| Error::io(&path, io::ErrorKind::NotFound.into()))?;
    let wrong = |what: String, remedy: &str| Error::input(&path, what, remedy);
    let again = "delete the folder and start again";
    let no_manifest =
        |why: String| wrong(format!("not the manifest of a checkpoint: {why}"), again);
    let unreadable = |e: serde_json::Error| no_manifest(e.to_string());
    // The version first: another one may have another layout.
    let value: Value = serde_json::from_slice(&text).map_err(unreadable)?;
    let (version, ours) = (
        value["version"].as_str().unwrap_or("unknown"),
        &identity.version,
    );
    if version != ours {
        let message = format!("the checkpoint is of version {version}, this is version {ours}");
        return Err(wrong(message, &format!("{again}, or use that version")));
    }
    let Manifest {
        identity: theirs,
        mut files,
    } = serde_json::from_value(value).map_err(unreadable)?;
    if let Some(message) = difference(&theirs, identity) {
        let remedy = "use the same graph, settings and device, or another folder";
        return Err(wrong(message, remedy));
    }
    let inside = |name: &String| Path::new(name).file_name() == Some(name.as_ref());
    if let Some(name) = files.keys().find(|name| !inside(name)) {
        return Err(no_manifest(format!(
            "`{name}` is not the name of a file in it"
        )));
    }
    // A file that was deleted is created again.
    files.retain(|name, _| folder.join(name).exists());
    let mut all = files.iter();
    all.try_for_each(|(name, entry)| verify(&folder.join(name), *entry))?;
    Ok(files)
}

/// What a checkpoint belongs to that is not given.
fn difference(theirs: &Identity, ours: &Identity) -> Option<String> {
    let [a, b] = [theirs, ours].map(|identity| serde_json::to_value(&identity.config).ok());
    if let Some((key, a, b)) = first_difference("", &a?, &b?) {
        return Some(format!(
            "the checkpoint has other settings: {key} is {a} there and {b} here"
        ));
    }
    if theirs.engine != ours.engine {
        let (there, here) = (&theirs.engine, &ours.engine);
        return Some(format!(
            "the checkpoint was made on {there}, this is {here}"
        ));
    }
    let other = [
        (theirs.graph != ours.graph, "another graph"),
        (theirs.attributes != ours.attributes, "other attributes"),
    ];
    let (_, what) = other.into_iter().find(|(differs, _)| *differs)?;
    Some(format!("the checkpoint is of {what}"))
}

/// The first setting that differs, and its two values.
fn first_difference(at: &str, a: &Value, b: &Value) -> Option<(String, String, String)> {
    let (Value::Object(left), Value::Object(right)) = (a, b) else {
        return (a != b).then(|| (at.to_owned(), a.to_string(), b.to_string()));
    };
    let none = Value::from("not set");
    let mut keys = left.keys().chain(right.keys());
    keys.find_map(|key| {
        let path = if at.is_empty() {
            key
        } else {
            &format!("{at}.{key}")
        };
        let [a, b] = [left, right].map(|side| side.get(key).unwrap_or(&none));
        first_difference(path, a, b)
    })
}

/// Refuses a file that has changed.
fn verify(path: &Path, entry: Entry) -> Result<()> {
    let failed = |e| Error::io(path, e);
    let mut file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let damage = if length != entry.bytes {
        format!("{length} bytes, not {}", entry.bytes)
    } else if Entry::of(&checksum(&mut file).map_err(failed)?) != entry {
        "its checksum differs".to_owned()
    } else {
        return Ok(());
    };
    Err(Error::input(path, format!("is damaged: {damage}"), AGAIN))
}
