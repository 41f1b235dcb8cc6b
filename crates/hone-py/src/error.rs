//! Library errors as Python exceptions of the matching kind, with the same text.

use std::any::Any;
use std::borrow::Cow;
use std::io::ErrorKind;

use hone::Error;
use pyo3::PyErr;
use pyo3::exceptions::{
    PyFileExistsError, PyFileNotFoundError, PyIsADirectoryError, PyKeyboardInterrupt,
    PyMemoryError, PyNotADirectoryError, PyOSError, PyPermissionError, PyRuntimeError,
    PyValueError,
};
use pyo3::pyfunction;

/// Settings, and the parameters that give them.
const PARAMETERS: [(&str, &str); 3] = [
    ("global.dim", "n_components"),
    ("local.dim", "n_local_components"),
    ("steps", "n_steps"),
];

/// The exception that stands for a library error; it names parameters beside settings.
pub(crate) fn raise(mut error: Error) -> PyErr {
    match &mut error {
        Error::Config { field, .. } => {
            let given = PARAMETERS.iter().find(|(setting, _)| setting == field);
            if let Some((setting, parameter)) = given {
                *field = format!("{parameter} ({setting})");
            }
        }
        Error::Memory { remedy, .. } => {
            *remedy = remedy.replace("the memory limit", "memory_limit");
        }
        _ => {}
    }
    let text = line(&error.to_string())
        .replace("overwrite = true", "overwrite=True")
        .replace("structure-only = true", "structure_only=True")
        .replace("(the split of seed ", "(link_split with random_state=");
    match error {
        Error::Io { source, .. } => match source.kind() {
            ErrorKind::NotFound => PyFileNotFoundError::new_err(text),
            ErrorKind::PermissionDenied => PyPermissionError::new_err(text),
            ErrorKind::AlreadyExists => PyFileExistsError::new_err(text),
            ErrorKind::IsADirectory => PyIsADirectoryError::new_err(text),
            ErrorKind::NotADirectory => PyNotADirectoryError::new_err(text),
            ErrorKind::OutOfMemory => PyMemoryError::new_err(text),
            _ => PyOSError::new_err(text),
        },
        Error::Exists { .. } => PyFileExistsError::new_err(text),
        Error::Memory { .. } => PyMemoryError::new_err(text),
        Error::Device { .. } => PyRuntimeError::new_err(text),
        Error::Interrupted => PyKeyboardInterrupt::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

/// A `ValueError` about one argument.
pub(crate) fn refuse(field: &str, message: impl Into<String>) -> PyErr {
    raise(Error::config(field, message))
}

/// A `ValueError` about options that are not those of `field`.
pub(crate) fn unread(field: &str) -> impl Fn(serde_json::Error) -> PyErr {
    move |error| refuse(field, hone::spelling::plain(&error.to_string()))
}

/// A message as a terminal may show it.
#[pyfunction]
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    hone::terminal::line(text)
}

/// What a panic becomes: a bug of ours, or arrays that were changed while they were in use.
pub(crate) fn panicked(payload: &(dyn Any + Send)) -> PyErr {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    PyRuntimeError::new_err(format!(
        "internal error: {}; either arrays were changed while they were in use, or this is a bug",
        text.unwrap_or("a panic without a message")
    ))
}
