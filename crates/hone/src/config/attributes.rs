//! Settings of node attributes of the user.

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

use super::moved;
use crate::attributes::Table;

/// Node attributes of the user (sec. 2.6).
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Attributes {
    /// The file that has them; see [`crate::attributes`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// How that file is read.
    pub table: Table,
}

impl<'de> Deserialize<'de> for Attributes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_struct("Attributes", &FIELDS, Fields)
    }
}

const FIELDS: [&str; 2] = ["file", "table"];

/// Reads the fields one by one, so that settings which were here once are refused with their new names.
struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Attributes;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("struct Attributes")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Attributes, A::Error> {
        let mut attributes = Attributes::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "file" => attributes.file = map.next_value()?,
                "table" => attributes.table = map.next_value()?,
                other => {
                    let name = format!("attributes.{other}");
                    return Err(match moved::to(&name) {
                        Some(new) => A::Error::custom(format!("`{name}` is now called `{new}`")),
                        None => A::Error::unknown_field(other, &FIELDS),
                    });
                }
            }
        }
        Ok(attributes)
    }
}
