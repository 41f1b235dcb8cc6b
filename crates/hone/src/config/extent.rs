//! How many values a JSON document holds in its member `config`, counted without building any of them: a tree of small tables takes a
//! hundred times its text.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The number of values in a tree, itself included.
struct Extent(usize);

impl<'de> Deserialize<'de> for Extent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Counter)
    }
}

struct Counter;

impl<'de> Visitor<'de> for Counter {
    type Value = Extent;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Extent, E> {
        Ok(Extent(1))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Extent, E> {
        Ok(Extent(1))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Extent, E> {
        Ok(Extent(1))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Extent, E> {
        Ok(Extent(1))
    }

    fn visit_str<E>(self, _: &str) -> Result<Extent, E> {
        Ok(Extent(1))
    }

    fn visit_unit<E>(self) -> Result<Extent, E> {
        Ok(Extent(1))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Extent, A::Error> {
        let mut sum = 1;
        while let Some(Extent(count)) = values.next_element()? {
            sum += count;
        }
        Ok(Extent(sum))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Extent, A::Error> {
        let mut sum = 1;
        while let Some((IgnoredAny, Extent(count))) = entries.next_entry()? {
            sum += count;
        }
        Ok(Extent(sum))
    }
}

/// What counts of the record of a run.
#[derive(Deserialize)]
struct Report {
    config: Option<Extent>,
}

/// Values of the configuration in the record of a run, or of a document that is one.
pub(super) fn values(text: &str) -> Result<usize, serde_json::Error> {
    let report: Report = serde_json::from_str(text)?;
    let whole = || serde_json::from_str(text).map(|Extent(count)| count);
    report.config.map_or_else(whole, |Extent(count)| Ok(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_the_configuration_are_counted() {
        let count = |text| values(text).expect("well formed");
        assert_eq!(count(r#"{"a": [1, "x", {"b": null}], "c": true}"#), 7);
        assert_eq!(
            count(r#"{"local": [1, 2, 3, 4], "config": {"a": -1.5}}"#),
            2
        );
        assert!(values("{").is_err() && values("[").is_err());
    }
}
