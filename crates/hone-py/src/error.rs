//! Library errors as Python exceptions of the matching kind, with the same text.

use std::any::Any;
use std::borrow::Cow;
use std::io::ErrorKind;

use hone::message::{Fields, Message, Naming};
use hone::{Config, Error};
use pyo3::PyErr;
use pyo3::exceptions::{
    PyFileExistsError, PyFileNotFoundError, PyIsADirectoryError, PyKeyboardInterrupt,
    PyMemoryError, PyNotADirectoryError, PyOSError, PyPermissionError, PyRuntimeError,
    PyValueError,
};
use pyo3::pyfunction;

/// Settings of a configuration that are parameters of the estimator.
const PARAMETERS: [(&str, &str); 6] = [
    ("global.dim", "n_components"),
    ("local.dim", "n_local_components"),
    ("steps", "n_steps"),
    ("motifs", "motifs"),
    ("weights", "weights"),
    ("seed", "random_state"),
];

/// Settings, and the parameters that give them.
#[pyfunction]
pub(crate) fn parameters() -> Vec<(&'static str, &'static str)> {
    PARAMETERS.to_vec()
}

/// What the library names, and what does it in Python.
const CALLS: [(&str, &str); 3] = [
    ("Counts::totals", "count_orbits"),
    ("Model::embed", "HONE.transform"),
    ("motif::catalogue", "list_motifs"),
];

/// What settings are called in Python: parameters, or entries of `config`.
pub(crate) struct Parameters;

impl Naming for Parameters {
    fn setting(&self, name: &str) -> String {
        match PARAMETERS.iter().find(|(setting, _)| *setting == name) {
            Some((_, parameter)) => (*parameter).to_owned(),
            None if Config::has(name) => Fields.setting(name),
            None => Fields.setting(&name.replace('-', "_")),
        }
    }

    fn call(&self, name: &str) -> String {
        let found = CALLS.iter().find(|(call, _)| *call == name);
        format!("`{}`", found.map_or(name, |(_, function)| function))
    }

    fn set(&self, name: &str, value: &str) -> String {
        let shown = match value {
            "true" => "True".to_owned(),
            "false" => "False".to_owned(),
            number if number.parse::<f64>().is_ok() => number.to_owned(),
            text => format!("{text:?}"),
        };
        let parameter = PARAMETERS.iter().find(|(setting, _)| *setting == name);
        match parameter {
            _ if name == "split.seed" => format!("link_split with random_state={value}"),
            Some((_, parameter)) => format!("{parameter}={shown}"),
            None if Config::has(name) => format!("config={{{name:?}: {shown}}}"),
            None => format!("{}={shown}", name.replace('-', "_")),
        }
    }

    fn subject(&self, name: &str) -> String {
        match PARAMETERS.iter().find(|(setting, _)| *setting == name) {
            Some((_, parameter)) if *parameter != name => format!("{parameter} ({name})"),
            _ if Config::has(name) => name.to_owned(),
            _ => name.replace('-', "_"),
        }
    }
}

/// The exception that stands for a library error; it names parameters.
pub(crate) fn raise(error: Error) -> PyErr {
    let text = line(&error.say(&Parameters)).into_owned();
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
pub(crate) fn refuse(field: &str, message: impl Into<Message>) -> PyErr {
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
