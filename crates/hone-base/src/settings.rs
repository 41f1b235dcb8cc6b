//! Groups of settings, each written once: name, meaning, type, default and range.
//!
//! [`settings!`](crate::settings!) makes of such a list a struct that is read and written by serde and refuses unknown names,
//! its default, its ranges, and the texts that explain it to users.

use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::ops::RangeInclusive;

use serde::de::value::{
    BoolDeserializer, F64Deserializer, I64Deserializer, StrDeserializer, U64Deserializer,
};
use serde::de::{Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::error::{Error, Result};

/// The largest weight, offset or rate that a setting may have: far beyond use, and far from overflow.
pub const LARGEST: f64 = 1e12;
/// The smallest factor.
pub const SMALLEST: f64 = 1e-12;

/// A value that is given, or left to the program: `"auto"`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Auto<T> {
    /// The program chooses it, from the other settings or the graph.
    #[default]
    Auto,
    /// This value.
    Given(T),
}

impl<T> Auto<T> {
    /// The value, if it is given.
    pub fn given(&self) -> Option<&T> {
        match self {
            Auto::Auto => None,
            Auto::Given(value) => Some(value),
        }
    }

    /// The value, or another where it is left to the program.
    pub fn or(self, other: T) -> T {
        match self {
            Auto::Auto => other,
            Auto::Given(value) => value,
        }
    }
}

impl<T: Serialize> Serialize for Auto<T> {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Auto::Auto => to.serialize_str("auto"),
            Auto::Given(value) => value.serialize(to),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Auto<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        from.deserialize_any(ValueOrAuto(PhantomData))
    }
}

struct ValueOrAuto<T>(PhantomData<T>);

macro_rules! given {
    ($($visit:ident: $value:ty, $deserializer:ident;)*) => {$(
        fn $visit<E: serde::de::Error>(self, value: $value) -> std::result::Result<Auto<T>, E> {
            or_auto(T::deserialize($deserializer::<E>::new(value)))
        }
    )*};
}

/// A value that was read, or an error that says what else it may be.
fn or_auto<T, E: serde::de::Error>(
    read: std::result::Result<T, E>,
) -> std::result::Result<Auto<T>, E> {
    // Messages of TOML end with a line break.
    let more = |e: E| E::custom(format!("{} or \"auto\"", e.to_string().trim_end()));
    read.map(Auto::Given).map_err(more)
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for ValueOrAuto<T> {
    type Value = Auto<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value or \"auto\"")
    }

    given! {
        visit_bool: bool, BoolDeserializer;
        visit_i64: i64, I64Deserializer;
        visit_u64: u64, U64Deserializer;
        visit_f64: f64, F64Deserializer;
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> std::result::Result<Auto<T>, E> {
        match value {
            "auto" => Ok(Auto::Auto),
            _ => or_auto(T::deserialize(StrDeserializer::<E>::new(value))),
        }
    }
}

/// A setting that is a number, or may be one.
pub trait Number<T> {
    /// What it may be instead, as an error says it.
    const OR: &'static str = "";
    /// The number, if it is one.
    fn number(&self) -> Option<T>;
}

impl Number<f64> for f64 {
    fn number(&self) -> Option<f64> {
        Some(*self)
    }
}

impl Number<usize> for usize {
    fn number(&self) -> Option<usize> {
        Some(*self)
    }
}

impl<T: Copy> Number<T> for Auto<T> {
    const OR: &'static str = ", nor \"auto\"";
    fn number(&self) -> Option<T> {
        self.given().copied()
    }
}

/// Refuses a number out of its range; `field` is the name of the setting.
pub fn check_range<T: PartialOrd + Display, N: Number<T>>(
    field: &str,
    setting: &N,
    range: RangeInclusive<T>,
) -> Result<()> {
    match setting.number() {
        Some(number) if !range.contains(&number) => {
            let (least, most) = (range.start(), range.end());
            let message = format!("{number} is not between {least} and {most}{}", N::OR);
            Err(Error::config(field, message))
        }
        _ => Ok(()),
    }
}

/// Defines a group of settings: a struct whose fields have a meaning (the doc comment, which users read too), a type, a default,
/// and where they are numbers a range.
///
/// ```
/// hone_base::settings! {
///     /// How to walk.
///     pub struct Walk {
///         /// Steps of a walk.
///         #[range(1..=16)]
///         pub steps: usize = 3,
///         /// Whether it may stay.
///         pub lazy: bool = false,
///     }
/// }
/// assert_eq!(Walk::default(), Walk { steps: 3, lazy: false });
/// assert_eq!(Walk::MEANINGS[1], ("lazy", "Whether it may stay."));
/// let error = Walk { steps: 0, ..Walk::default() }.check_ranges("walk.").unwrap_err();
/// assert_eq!(error.to_string(), "walk.steps: 0 is not between 1 and 16");
/// ```
#[macro_export]
macro_rules! settings {
    (
        $(#[$attribute:meta])*
        pub struct $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $(#[range($range:expr)])?
                $(#[serde($($serde:tt)*)])?
                pub $field:ident: $type:ty = $default:expr,
            )*
        }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
        pub struct $name {
            $(
                $(#[doc = $doc])+
                $(#[serde($($serde)*)])?
                pub $field: $type,
            )*
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $default,)* }
            }
        }

        impl $name {
            /// What each setting means.
            pub const MEANINGS: $crate::settings::Meanings =
                &[$((stringify!($field), concat!($($doc),+).trim_ascii()),)*];

            /// Refuses numbers out of range; `group` is the name of this group with a dot behind it.
            pub fn check_ranges(&self, group: &str) -> $crate::error::Result<()> {
                $($(
                    let field = format!("{group}{}", stringify!($field).replace('_', "-"));
                    $crate::settings::check_range(&field, &self.$field, $range)?;
                )?)*
                let _ = group;
                Ok(())
            }
        }
    };
}

/// Names of the fields of a group and what they mean.
pub type Meanings = &'static [(&'static str, &'static str)];
