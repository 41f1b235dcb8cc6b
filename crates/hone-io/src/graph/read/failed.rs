//! [`Failed`]: an error of one process, as it is told to the others.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// An [`Error`] that can be sent.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Failed {
    /// What the operating system said, with its code where there is one.
    Io {
        path: String,
        code: Option<i32>,
        text: String,
    },
    Input {
        path: String,
        line: Option<u64>,
        text: String,
        message: String,
        remedy: String,
    },
    Config {
        field: String,
        message: String,
    },
    Memory {
        stage: String,
        need: u64,
        least: bool,
        limit: u64,
        remedy: String,
    },
    Interrupted,
    /// An error that reading does not give today, as text.
    Other(String),
}

impl Failed {
    pub(super) fn of(error: &Error) -> Failed {
        let shown = |path: &Path| path.to_string_lossy().into_owned();
        match error {
            Error::Io { path, source } => Failed::Io {
                path: shown(path),
                code: source.raw_os_error(),
                text: source.to_string(),
            },
            Error::Input {
                path,
                line,
                text,
                message,
                remedy,
            } => Failed::Input {
                path: shown(path),
                line: *line,
                text: text.clone(),
                message: message.clone(),
                remedy: remedy.clone(),
            },
            Error::Config { field, message } => Failed::Config {
                field: field.clone(),
                message: message.clone(),
            },
            Error::Memory {
                stage,
                need,
                least,
                limit,
                remedy,
            } => Failed::Memory {
                stage: stage.clone(),
                need: *need,
                least: *least,
                limit: *limit,
                remedy: remedy.clone(),
            },
            Error::Interrupted => Failed::Interrupted,
            other => Failed::Other(other.to_string()),
        }
    }

    /// The error again. An error of the system names the `process` that met it, if others did not.
    pub(super) fn into_error(self, file: &Path, process: Option<usize>) -> Error {
        match self {
            Failed::Io { path, code, text } => {
                let system = code.map(io::Error::from_raw_os_error);
                let kind = system
                    .as_ref()
                    .map_or(io::ErrorKind::Other, io::Error::kind);
                Error::io(
                    path,
                    match process {
                        Some(process) => {
                            io::Error::new(kind, format!("{text}, in process {process}"))
                        }
                        None => system.unwrap_or_else(|| io::Error::other(text)),
                    },
                )
            }
            Failed::Input {
                path,
                line,
                text,
                message,
                remedy,
            } => Error::Input {
                path: path.into(),
                line,
                text,
                message,
                remedy,
            },
            Failed::Config { field, message } => Error::Config { field, message },
            Failed::Memory {
                stage,
                need,
                least,
                limit,
                remedy,
            } => Error::Memory {
                stage,
                need,
                least,
                limit,
                remedy,
            },
            Failed::Interrupted => Error::Interrupted,
            Failed::Other(text) => Error::input(file, text, ""),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(error: &Error, process: Option<usize>) -> Error {
        let message = serde_json::to_vec(&Failed::of(error)).expect("plain text");
        let failed: Failed = serde_json::from_slice(&message).expect("what was sent");
        failed.into_error(Path::new("a.txt"), process)
    }

    #[test]
    fn errors_arrive_as_they_were_sent() {
        let memory = Error::Memory {
            stage: "x".into(),
            need: 3 << 30,
            least: true,
            limit: 1 << 30,
            remedy: "more".into(),
        };
        for error in [
            Error::input_at("a.txt", 7, b"1 2 \xff3", "too long", "cut it"),
            Error::input("a.txt", "empty", ""),
            Error::config("nodes", "no"),
            Error::io("a.txt", io::Error::from_raw_os_error(2)),
            memory,
            Error::Interrupted,
        ] {
            let arrived = sent(&error, None);
            assert_eq!(
                (arrived.to_string(), arrived.is_input()),
                (error.to_string(), error.is_input())
            );
            assert_eq!(
                std::mem::discriminant(&arrived),
                std::mem::discriminant(&error)
            );
        }
        let one = sent(
            &Error::io("a.txt", io::Error::from_raw_os_error(5)),
            Some(3),
        )
        .to_string();
        assert!(
            one.starts_with("a.txt: ") && one.contains(", in process 3"),
            "{one}"
        );
    }
}
