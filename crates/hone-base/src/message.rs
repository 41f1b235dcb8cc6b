//! Sentences that name settings. The library says `global.dim`, the command `--dim`, Python `n_components`: a [`Message`] keeps
//! settings apart from the words around them, and whoever shows it gives the [`Naming`].

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Makes a [`Message`] of its parts: text, settings ([`setting`]), settings with a value ([`set`]), what was found ([`quoted`]),
/// what does something else ([`call`]), other messages.
///
/// ```
/// use hone_base::message::{message, set, setting};
/// let message = message!["use ", set("psi", "w"), ", or lower ", setting("global.dim")];
/// assert_eq!(message.to_string(), "use psi = \"w\", or lower global.dim");
/// ```
#[macro_export]
macro_rules! message {
    ($($part:expr),* $(,)?) => {
        $crate::message::Message::default()$(.and($part))*
    };
}
pub use crate::message;

/// A sentence, or a part of one, that may name settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum Part {
    Words(String),
    Quoted(String),
    Setting(String),
    Set(String, String),
    Call(String),
}

/// How settings are called.
pub trait Naming {
    /// A setting.
    fn setting(&self, name: &str) -> String {
        match name.contains(['.', '_', '-']) {
            true => name.to_owned(),
            false => format!("`{name}`"),
        }
    }

    /// A setting that has, or should have, a value.
    fn set(&self, name: &str, value: &str) -> String {
        let is_plain = value.starts_with('{') || value == "true" || value == "false";
        match is_plain || value.parse::<f64>().is_ok() {
            true => format!("{name} = {value}"),
            false => format!("{name} = \"{value}\""),
        }
    }

    /// What does something else, by its name in the library: `Model::embed`.
    fn call(&self, name: &str) -> String {
        format!("`{name}`")
    }

    /// The setting that an error is about.
    fn subject(&self, name: &str) -> String {
        name.to_owned()
    }
}

/// The names that settings have in the library and in files.
#[derive(Debug, Clone, Copy)]
pub struct Fields;

impl Naming for Fields {}

/// Quotes what was found.
pub fn quoted(text: impl Into<String>) -> Message {
    Message(vec![Part::Quoted(text.into())])
}

/// Names a setting.
pub fn setting(name: impl Into<String>) -> Message {
    Message(vec![Part::Setting(name.into())])
}

/// Names a setting with a value.
#[allow(clippy::needless_pass_by_value)] // words and numbers are written as they are
pub fn set(name: impl Into<String>, value: impl ToString) -> Message {
    Message(vec![Part::Set(name.into(), value.to_string())])
}

/// Names what does something else, such as `Model::embed`; the command says `hone place`.
pub fn call(name: impl Into<String>) -> Message {
    Message(vec![Part::Call(name.into())])
}

impl Message {
    /// This and then `more`.
    pub fn and(mut self, more: impl Into<Message>) -> Self {
        self.push(more);
        self
    }

    /// Adds `more` at the end.
    pub fn push(&mut self, more: impl Into<Message>) {
        self.0.extend(more.into().0);
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it names this setting.
    pub fn names(&self, setting: &str) -> bool {
        let is = |part: &Part| matches!(part, Part::Setting(name) | Part::Set(name, _) if name == setting);
        self.0.iter().any(is)
    }

    /// What it quotes.
    pub fn quotes(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            Part::Quoted(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// The text, with the names that settings have here.
    pub fn say(&self, names: &dyn Naming) -> String {
        let said = |part: &Part| match part {
            Part::Words(text) => text.clone(),
            Part::Quoted(text) => format!("`{text}`"),
            Part::Setting(name) => names.setting(name),
            Part::Set(name, value) => names.set(name, value),
            Part::Call(name) => names.call(name),
        };
        self.0.iter().map(said).collect()
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.say(&Fields))
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        let words = (!text.is_empty()).then_some(Part::Words(text));
        Message(words.into_iter().collect())
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<&String> for Message {
    fn from(text: &String) -> Self {
        text.clone().into()
    }
}

impl From<Cow<'_, str>> for Message {
    fn from(text: Cow<'_, str>) -> Self {
        text.into_owned().into()
    }
}

/// A message as text, with the names that settings have in files: for records.
pub mod text {
    use super::{Deserialize, Deserializer, Message, Serializer};

    /// Writes it.
    pub fn serialize<S: Serializer>(message: &Message, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(message)
    }

    /// Reads it.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Message, D::Error> {
        Ok(String::deserialize(from)?.into())
    }
}

/// The same for several.
pub mod texts {
    use super::{Deserialize, Deserializer, Message, Serializer};

    /// Writes them.
    pub fn serialize<S: Serializer>(messages: &[Message], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(messages.iter().map(Message::to_string))
    }

    /// Reads them.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Message>, D::Error> {
        let texts = Vec::<String>::deserialize(from)?;
        Ok(texts.into_iter().map(Message::from).collect())
    }
}
