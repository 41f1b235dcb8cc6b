//! [`Steps`]: the number of steps K, given or chosen.

use serde::{Deserialize, Serialize};

use super::choice::Written;

/// The number of steps K.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
#[non_exhaustive]
pub enum Steps {
    /// As many of 1..=4 as bring new directions; see [`crate::embed`].
    Auto,
    /// Exactly this many.
    Fixed(usize),
}

impl TryFrom<Written> for Steps {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        let number =
            written.number_or("auto", "steps must be a number from 1 to 16 or \"auto\"")?;
        Ok(number.map_or(Steps::Auto, Steps::Fixed))
    }
}

impl From<Steps> for Written {
    fn from(steps: Steps) -> Self {
        match steps {
            Steps::Auto => Written::Word("auto".into()),
            Steps::Fixed(k) => Written::Number(k),
        }
    }
}
