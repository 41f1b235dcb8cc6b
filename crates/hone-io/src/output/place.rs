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
        let found = match fs::metadata(&target) {
            Ok(found) if found.is_dir() => {
                let remedy = "give the name of a file in it";
                return Err(Error::input(path, "is a folder", remedy));
            }
            Ok(found) if !found.is_file() => return Ok(Place::Stream),
            Ok(found) => Some(found),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(refused(path, error)),
        };
        Ok(Place::File { target, found })
    }
}

/// Refuses to replace a file that exists, as it was chosen, and one that nobody may write, whatever was chosen: to rename
/// another over it would take no more than the permission to write in its folder.
pub(super) fn may_replace(path: &Path, file: &Metadata, existing: Existing) -> Result<()> {
    if existing == Existing::Refuse {
        let path = path.to_path_buf();
        return Err(Error::Exists { path });
    }
    if file.permissions().readonly() {
        let remedy = "choose another name, or make it writable";
        return Err(Error::input(path, "is write-protected", remedy));
    }
    Ok(())
}

/// Refuses to replace a folder with a file that is no file `of` it, and `says` so, or that may not be replaced.
pub(crate) fn check_folder(
    folder: &Path,
    existing: Existing,
    of: impl Fn(&str) -> bool,
    says: &str,
) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(|e| Error::io(folder, e))? {
        let entry = entry.map_err(|e| Error::io(folder, e))?;
        let (name, path) = (entry.file_name(), entry.path());
        if !entry.file_type().is_ok_and(|kind| kind.is_file()) || !name.to_str().is_some_and(&of) {
            let message = format!("holds {}, which {says}: it is not replaced", name.display());
            let remedy = "move that away, or name another folder";
            return Err(Error::input(folder, message, remedy));
        }
        let metadata = entry.metadata().map_err(|e| Error::io(&path, e))?;
        may_replace(&path, &metadata, existing)?;
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
    let spelled = whole.ancestors().find_map(|known| {
        let canonical = known.canonicalize().ok()?;
        Some(canonical.join(whole.strip_prefix(known).ok()?))
    });
    plain(&spelled.unwrap_or(whole))
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
    let is_folder = |own: &str| Path::new(own).canonicalize().is_ok_and(|own| own == folder);
    if ["/dev/fd", "/proc/self/fd", "/proc/thread-self/fd"]
        .into_iter()
        .any(is_folder)
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
    let (shown, elsewhere) = (folder.display(), "write elsewhere");
    let (message, remedy) = match error.kind() {
        ErrorKind::NotFound if descriptor(path).is_some() => {
            let message = "is not an open descriptor".to_owned();
            (message, "redirect it, or name a file")
        }
        ErrorKind::NotFound if folder.is_dir() => {
            let message = format!("{link}no file can be made in the folder {shown}");
            (message, elsewhere)
        }
        ErrorKind::NotFound => {
            let message = format!("{link}there is no folder {shown}");
            (message, "make it first, or write elsewhere")
        }
        ErrorKind::NotADirectory => (format!("{link}{shown} is not a folder"), elsewhere),
        ErrorKind::PermissionDenied => {
            let message = format!("{link}may not be written");
            let remedy = "change the permissions of the folder, or write elsewhere";
            (message, remedy)
        }
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
    if let Err(error) = File::open(folder).and_then(|folder| folder.sync_all()) {
        return match error.kind() {
            ErrorKind::InvalidInput | ErrorKind::Unsupported | ErrorKind::PermissionDenied => {
                Ok(())
            }
            _ => Err(error),
        };
    }
    let _ = folder;
    Ok(())
}
