//! What a path refers to: a file, through links, or a stream; and why it cannot be written.

#[cfg(unix)]
use std::fs::File;
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use super::Existing;
use crate::error::{Error, Result};

/// Links that are followed before a chain of them counts as a circle, as in Linux.
const MAX_LINKS: usize = 40;

/// What is behind a name.
#[derive(Debug)]
pub(super) enum Place {
    Stdout,
    /// A device, a pipe, a socket or an open descriptor.
    Stream,
    /// A regular file, links resolved, with what is known of it when it exists.
    File {
        target: PathBuf,
        found: Option<Metadata>,
    },
}

impl Place {
    /// Looks at a name; fails for folders and for what cannot be looked at.
    pub(super) fn of(path: &Path) -> Result<Place> {
        let target = match follow(path) {
            Place::File { target, .. } => target,
            stream => return Ok(stream),
        };
        match fs::metadata(&target) {
            Ok(m) if m.is_dir() => Err(Error::input(
                path,
                "is a folder",
                "give the name of a file in it",
            )),
            Ok(m) if !m.is_file() => Ok(Place::Stream),
            Ok(m) => Ok(Place::File {
                target,
                found: Some(m),
            }),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(Place::File {
                target,
                found: None,
            }),
            Err(e) => Err(refused(path, e)),
        }
    }
}

/// Refuses to replace a file that exists, as it was chosen, and one that nobody may write, whatever was chosen: to rename
/// another over it would take no more than the permission to write in its folder.
pub fn may_replace(path: &Path, file: &Metadata, existing: Existing) -> Result<()> {
    if existing == Existing::Refuse {
        return Err(Error::Exists {
            path: path.to_path_buf(),
        });
    }
    if file.permissions().readonly() {
        return Err(Error::input(
            path,
            "is write-protected",
            "choose another name, or make it writable",
        ));
    }
    Ok(())
}

/// Whether what is written to `path` goes elsewhere than to a file of that name: standard output, a pipe, a device, a
/// descriptor.
pub fn is_stream(path: &Path) -> bool {
    matches!(Place::of(path), Ok(Place::Stdout | Place::Stream))
}

/// Whether two names refer to the same file, through symbolic and hard links; false if either does not exist.
pub fn same_file(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let identity = |path: &Path| fs::metadata(path).ok().map(|m| (m.dev(), m.ino()));
        identity(a).is_some_and(|a| Some(a) == identity(b))
    }
    #[cfg(not(unix))]
    a.canonicalize()
        .is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b))
}

/// The canonical path: absolute, links resolved as far as it exists, the rest without `.` and `..`. Two names with the
/// same one refer to the same location, even if nothing exists there yet.
pub fn spelled_out(path: &Path) -> PathBuf {
    let Place::File { target, .. } = follow(path) else {
        return path.to_path_buf();
    };
    let whole = std::path::absolute(&target).unwrap_or(target);
    let known = whole
        .ancestors()
        .find_map(|known| Some((known, known.canonicalize().ok()?)));
    match known.and_then(|(known, canonical)| Some(canonical.join(whole.strip_prefix(known).ok()?)))
    {
        Some(found) => plain(&found),
        None => plain(&whole),
    }
}

/// A path without redundant parts: `a/..`, `.`.
pub fn plain(path: &Path) -> PathBuf {
    let mut out: Vec<Component> = Vec::new();
    for part in path.components() {
        match (part, out.last()) {
            (Component::CurDir, _) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => drop(out.pop()),
            _ => out.push(part),
        }
    }
    out.into_iter().collect()
}

/// The end of a chain of symbolic links, or the stream that it leads to; a dangling link gives the name to create. What the
/// link of a descriptor says is no name (`pipe:[4711]`), so it is not followed.
fn follow(path: &Path) -> Place {
    if path == Path::new("-") {
        return Place::Stdout;
    }
    let mut target = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        match descriptor(&target).as_deref() {
            Some("1") => return Place::Stdout,
            Some(_) => return Place::Stream,
            None => {}
        }
        let Ok(next) = fs::read_link(&target) else {
            break;
        };
        target = target.parent().unwrap_or(Path::new("")).join(next);
    }
    Place::File {
        target,
        found: None,
    }
}

/// The number of an open descriptor of this process, as text: that of `/dev/fd/3`, `/proc/self/fd/3` and the like.
/// `/dev/stdout` is a link to one of these. Those of other processes have none of our numbers.
fn descriptor(path: &Path) -> Option<String> {
    let name = path
        .file_name()?
        .to_str()
        .filter(|name| cfg!(unix) && name.bytes().all(|b| b.is_ascii_digit()))?;
    let folder = folder_of(path).canonicalize().ok()?;
    let own = ["/dev/fd", "/proc/self/fd", "/proc/thread-self/fd"];
    if own
        .iter()
        .any(|own| Path::new(own).canonicalize().is_ok_and(|own| own == folder))
    {
        return Some(name.to_owned());
    }
    (folder.starts_with("/proc") && folder.ends_with("fd")).then(|| "other".to_owned())
}

/// The folder a file is in; `.` for a bare name.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Why nothing can be written there, and what to do. If the system is at fault, not the name, its own error.
pub(super) fn refused(path: &Path, error: io::Error) -> Error {
    let target = match follow(path) {
        Place::File { target, .. } => target,
        _ => path.to_path_buf(),
    };
    let link = match target == path {
        true => String::new(),
        false => format!("is a link to {}, and ", target.display()),
    };
    let folder = folder_of(&target);
    let (message, remedy) = match error.kind() {
        ErrorKind::NotFound if descriptor(path).is_some() => (
            "is not an open descriptor".to_owned(),
            "redirect it, or name a file",
        ),
        ErrorKind::NotFound if folder.is_dir() => (
            format!(
                "{link}no file can be made in the folder {}",
                folder.display()
            ),
            "write elsewhere",
        ),
        ErrorKind::NotFound => (
            format!("{link}there is no folder {}", folder.display()),
            "make it first, or write elsewhere",
        ),
        ErrorKind::NotADirectory => (
            format!("{link}{} is not a folder", folder.display()),
            "write elsewhere",
        ),
        ErrorKind::PermissionDenied => (
            format!("{link}may not be written"),
            "change the permissions of the folder, or write elsewhere",
        ),
        ErrorKind::InvalidFilename => (
            "is not a valid file name".to_owned(),
            "choose a shorter one",
        ),
        _ => return Error::io(path, of_system(error)),
    };
    Error::input(path, message, remedy)
}

/// The error of the system behind one that names a temporary file, which nobody else knows. Its number is in the text alone.
fn of_system(error: io::Error) -> io::Error {
    if error.raw_os_error().is_some() {
        return error;
    }
    let text = error.to_string();
    let number = text
        .split_once("(os error ")
        .and_then(|(_, rest)| rest.split(')').next()?.parse().ok());
    number.map_or(error, io::Error::from_raw_os_error)
}

/// Syncs a folder, so that renames survive a crash. Some file systems cannot; the files are safe by then.
pub(super) fn sync(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(error)
            if !matches!(
                error.kind(),
                ErrorKind::InvalidInput | ErrorKind::Unsupported | ErrorKind::PermissionDenied
            ) =>
        {
            return Err(error);
        }
        _ => {}
    }
    let _ = folder;
    Ok(())
}
