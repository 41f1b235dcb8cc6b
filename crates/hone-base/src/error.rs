//! The error type of the library.
//!
//! A broken internal contract panics; wrong input is a value of [`Error`] that names the place
//! (file, line, field) and the remedy; slow convergence is neither: it is noted in the report.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::manual::linked;
use crate::message::{Fields, Message, Naming, set};
use crate::terminal;

/// Result with the library's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong on the user's side of the contract. One process can tell it another: what comes out of
/// serialization says the same.
#[derive(Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be opened, read, written or renamed.
    Io {
        /// The file concerned.
        path: PathBuf,
        /// What the operating system said.
        #[serde(serialize_with = "send_system", deserialize_with = "receive_system")]
        source: io::Error,
        /// What the user can do about it; empty where nothing is known.
        remedy: Message,
    },
    /// A file was read, but its content is not what its format promises.
    Input {
        /// The file as the user named it (`-` for standard input).
        path: PathBuf,
        /// Line number, from 1, where the format has lines.
        line: Option<u64>,
        /// The offending text, shortened; empty when there is none to show.
        text: String,
        /// What is wrong.
        message: Message,
        /// What the user can do about it; empty when the message says it all.
        remedy: Message,
    },
    /// A configuration value is out of range or contradicts another.
    Config {
        /// Dotted name of the field, as written in a configuration file.
        field: String,
        /// What is wrong and what would be right.
        message: Message,
    },
    /// The work would need more memory than it may take.
    Memory {
        /// The stage that needs it.
        stage: String,
        /// Bytes needed at the peak: sufficient as a limit, unless it is a lower bound.
        need: u64,
        /// Whether `need` is only a lower bound.
        least: bool,
        /// Bytes allowed.
        limit: u64,
        /// What to change.
        remedy: Message,
    },
    /// A computation left its range (NaN, infinity, overflow).
    Numeric {
        /// Stage, motif and step.
        stage: String,
        /// What happened.
        message: Message,
    },
    /// The requested device is missing, or failed.
    Device {
        /// The device.
        device: String,
        /// What is missing or went wrong, and what helps.
        message: String,
    },
    /// The output exists and may not be replaced.
    Exists {
        /// The existing file.
        path: PathBuf,
    },
    /// Another of several processes that work together has failed.
    Process {
        /// Its number, from 0.
        rank: usize,
        /// Number of processes.
        size: usize,
        /// What it met.
        error: Box<Error>,
    },
    /// The caller asked to stop (see [`crate::Progress::cancelled`]).
    Interrupted,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.say(&Fields))
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// The code of an error of the operating system, if it has one, and what it said.
fn send_system<S: Serializer>(error: &io::Error, to: S) -> Result<S::Ok, S::Error> {
    (error.raw_os_error(), error.to_string()).serialize(to)
}

fn receive_system<'de, D: Deserializer<'de>>(from: D) -> Result<io::Error, D::Error> {
    let (code, text) = <(Option<i32>, String)>::deserialize(from)?;
    Ok(code.map_or_else(|| io::Error::other(text), io::Error::from_raw_os_error))
}

impl Error {
    /// An [`Error::Io`] for `path`.
    pub fn io(path: impl AsRef<Path>, source: io::Error) -> Self {
        let remedy = io_remedy(&source).into();
        Error::Io {
            path: path.as_ref().to_path_buf(),
            source,
            remedy,
        }
    }

    /// What went wrong while reading `path`: an [`Error::Io`] where the system failed, an [`Error::Input`] if a
    /// decoder did (decompression, text that is not UTF-8), since then the content is at fault.
    pub fn reading(path: impl AsRef<Path>, source: io::Error) -> Self {
        if source.raw_os_error().is_some() {
            return Error::io(path, source);
        }
        let message = format!("the content is damaged, truncated or of another kind ({source})");
        Error::input(
            path,
            message,
            "check that the file has the format of its extension; write or download it again",
        )
    }

    /// An [`Error::Input`] without a line or text.
    pub fn input(
        path: impl AsRef<Path>,
        message: impl Into<Message>,
        remedy: impl Into<Message>,
    ) -> Self {
        Error::Input {
            path: path.as_ref().to_path_buf(),
            line: None,
            text: String::new(),
            message: message.into(),
            remedy: remedy.into(),
        }
    }

    /// An [`Error::Input`] at a line, showing at most 60 characters of the offending bytes.
    pub fn input_at(
        path: impl AsRef<Path>,
        line: u64,
        text: &[u8],
        message: impl Into<Message>,
        remedy: impl Into<Message>,
    ) -> Self {
        Error::Input {
            path: path.as_ref().to_path_buf(),
            line: Some(line),
            text: shorten(text),
            message: message.into(),
            remedy: remedy.into(),
        }
    }

    /// An [`Error::Config`] for `field`.
    pub fn config(field: impl Into<String>, message: impl Into<Message>) -> Self {
        Error::Config {
            field: field.into(),
            message: message.into(),
        }
    }

    /// The text, with the names that settings have here.
    pub fn say(&self, names: &dyn Naming) -> String {
        match self {
            Error::Io {
                path,
                source,
                remedy,
            } => {
                let between = if remedy.is_empty() { "" } else { "; " };
                let remedy = remedy.say(names);
                format!("{}: {}{between}{remedy}", shown(path), said(source))
            }
            Error::Input {
                path,
                line,
                text,
                message,
                remedy,
            } => {
                let mut out = shown(path);
                if let Some(line) = line {
                    out += &format!(", line {line}");
                }
                out += &format!(": {}", message.say(names));
                if !text.is_empty() {
                    out += &format!(": `{text}`");
                }
                if !remedy.is_empty() {
                    out += &format!(" ({})", remedy.say(names));
                }
                out
            }
            Error::Config { field, message } => {
                format!("{}: {}", names.subject(field), message.say(names))
            }
            Error::Memory {
                stage,
                need,
                least,
                limit,
                remedy,
            } => {
                let about = if *least { "more than" } else { "about" };
                let (need, limit) = (beside(*need, *limit), beside(*limit, *limit));
                let remedy = remedy.say(names);
                format!("{stage} needs {about} {need} but only {limit} may be used; {remedy}")
            }
            Error::Numeric { stage, message } => format!("{stage}: {}", message.say(names)),
            Error::Device { device, message } => format!("{device}: {}", linked(message)),
            Error::Exists { path } => {
                let remedy = set("overwrite", true).say(names);
                format!("{} exists; {remedy} replaces it", shown(path))
            }
            Error::Process { rank, size, error } => {
                format!("process {rank} of {size}: {}", error.say(names))
            }
            Error::Interrupted => "interrupted".to_owned(),
        }
    }

    /// Whether the user can fix this by changing input, options or usage (exit code 2), as
    /// opposed to a run that failed on its own (exit code 1).
    pub fn is_input(&self) -> bool {
        matches!(
            self,
            Error::Input { .. }
                | Error::Config { .. }
                | Error::Exists { .. }
                | Error::Memory { .. }
        ) || matches!(self, Error::Process { error, .. } if error.is_input())
            || matches!(self, Error::Io { source, .. } if matches!(source.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied | io::ErrorKind::IsADirectory
                | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof)
                || circle(source))
    }
}

/// The library's own error, when one came through an interface of the standard library, else [`Error::reading`].
pub fn unwrapped(path: impl AsRef<Path>, error: io::Error) -> Error {
    error
        .downcast::<Error>()
        .unwrap_or_else(|error| Error::reading(path, error))
}

/// What the operating system said, without its number.
fn said(source: &io::Error) -> String {
    let text = source.to_string();
    let around = text
        .split_once(" (os error ")
        .and_then(|(before, rest)| Some((before, rest.split_once(')')?.1)));
    around.map_or_else(
        || text.clone(),
        |(before, after)| format!("{before}{after}"),
    )
}

fn io_remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::NotFound => "check its name and folder",
        io::ErrorKind::IsADirectory => "give a file in its place",
        io::ErrorKind::PermissionDenied => "change its permissions, or choose another",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space, or write elsewhere"
        }
        io::ErrorKind::ReadOnlyFilesystem => {
            "write elsewhere, or have the file system mounted for writing"
        }
        io::ErrorKind::FileTooLarge => {
            "raise the limit on file sizes (ulimit -f), or write elsewhere"
        }
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
            "the file is damaged or truncated: write or download it again"
        }
        io::ErrorKind::OutOfMemory => "free some memory, or raise the limits on it (ulimit -v)",
        _ if circle(source) => {
            "a symbolic link leads back to itself: remove it, or choose another name"
        }
        _ if too_many_open(source) => {
            "raise the limit on open files (ulimit -n), or close other programs"
        }
        _ => "",
    }
}

/// ENFILE and EMFILE, which have no kind in the standard library.
fn too_many_open(source: &io::Error) -> bool {
    cfg!(unix) && matches!(source.raw_os_error(), Some(23 | 24))
}

/// ELOOP, which has no stable kind either.
fn circle(source: &io::Error) -> bool {
    let code = if cfg!(target_os = "linux") { 40 } else { 62 };
    cfg!(unix) && source.raw_os_error() == Some(code)
}

/// A path in one line.
fn shown(path: &Path) -> String {
    terminal::line(&path.display().to_string()).into_owned()
}

/// At most 60 characters of `text`, control and invalid bytes made visible.
fn shorten(text: &[u8]) -> String {
    let head = &text[..text.len().min(240)];
    let text_of = |c: char| {
        if c.is_ascii_graphic() {
            c.to_string()
        } else {
            c.escape_debug().to_string()
        }
    };
    let shown: String = String::from_utf8_lossy(head).chars().map(text_of).collect();
    let mut out: String = shown.chars().take(60).collect();
    if out.len() < shown.len() || head.len() < text.len() {
        out.push('…');
    }
    out
}

/// `3.2 GiB`-style text for a number of bytes: powers of 1024, as sizes are read (`8G` is 8 GiB), and rounded up, so
/// that it is sufficient when used as a limit.
pub fn human_bytes(bytes: u64) -> String {
    rounded_up(bytes, 1024.0, ["B", "KiB", "MiB", "GiB", "TiB"])
}

/// The same in the units of a limit: powers of 1000 (`19.8 MB`) for a limit that is round in them, such as `5MB`.
pub fn beside(bytes: u64, limit: u64) -> String {
    let decimal = limit > 0 && limit.is_multiple_of(1_000_000) && !limit.is_multiple_of(1 << 20);
    if decimal {
        rounded_up(bytes, 1000.0, ["B", "kB", "MB", "GB", "TB"])
    } else {
        human_bytes(bytes)
    }
}

fn rounded_up(bytes: u64, step: f64, units: [&str; 5]) -> String {
    let (mut value, mut unit) = (bytes as f64, 0);
    while value > step - 0.1 && unit + 1 < units.len() {
        value /= step;
        unit += 1;
    }
    let tenths = (value * 10.0).ceil();
    let text = if tenths % 10.0 == 0.0 {
        format!("{:.0}", tenths / 10.0)
    } else {
        format!("{:.1}", tenths / 10.0)
    };
    format!("{text} {}", units[unit])
}
