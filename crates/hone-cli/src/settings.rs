//! Settings of a command line: everyday options, and `--set KEY=VALUE` for all others, laid over presets and files.
//!
//! An option and a `--set` of the same setting must not contradict each other: one of them would be ignored silently.

use hone::Error;
use hone::config::{Config, Layers};

use crate::options::Known;

/// A setting, and the value that an everyday option gives it.
pub(crate) type Flag = (&'static str, Option<String>);

/// Lays options and then single settings on top of `layers`; `options` are the names of the options.
pub(crate) fn lay(
    mut layers: Layers,
    flags: &[Flag],
    set: &[String],
    options: &[Known],
) -> Result<Layers, Error> {
    let pairs = set
        .iter()
        .map(|setting| pair(setting))
        .collect::<Result<Vec<_>, _>>()?;
    for (key, value) in flags {
        let Some(value) = value else { continue };
        let other = pairs
            .iter()
            .rfind(|(set, _)| set == key)
            .filter(|(_, other)| differ(key, value, other));
        if let Some((_, other)) = other {
            let option = options
                .iter()
                .find(|(setting, _)| setting == key)
                .map_or("an option", |(_, option)| option);
            let message = format!(
                "{option} gives {value}, and --set {key}={other} something else; leave one of them out"
            );
            return Err(Error::config(*key, message));
        }
        layers = layers.set(key, value)?;
    }
    layers.set_all(
        pairs
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str())),
    )
}

/// Cuts KEY=VALUE.
pub(crate) fn pair(setting: &str) -> Result<(String, String), Error> {
    match setting.split_once('=') {
        Some((key, value)) => Ok((key.trim().to_owned(), value.trim().to_owned())),
        None => Err(Error::config(
            "--set",
            format!("`{setting}` is not KEY=VALUE, such as local.dim=8"),
        )),
    }
}

/// Whether two values of a setting mean different things; `edge,triangle` and `["edge", "triangle"]` do not.
fn differ(key: &str, a: &str, b: &str) -> bool {
    let with = |value: &str| -> Option<Config> { Layers::new().set(key, value).ok()?.build().ok() };
    let same = a == b || with(a).zip(with(b)).is_some_and(|(a, b)| a == b);
    !same
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_and_a_setting_say_the_same_or_are_refused() {
        let lay = |key: &'static str, value: &str, set: &[&str]| {
            let set: Vec<String> = set.iter().map(|&setting| setting.to_owned()).collect();
            lay(
                Layers::new(),
                &[(key, Some(value.to_owned()))],
                &set,
                &[("global.dim", "--dim")],
            )
        };
        for (key, value, set) in [
            ("global.dim", "16", &["global.dim=16"][..]),
            ("global.dim", "16", &["local.dim=8"]),
            ("global.dim", "16", &["global.dim=8", "global.dim=16"]),
            (
                "motifs",
                "edge,triangle",
                &["motifs=[\"edge\", \"triangle\"]"],
            ),
        ] {
            assert!(lay(key, value, set).is_ok(), "{key} {value} {set:?}");
        }
        let error = lay("global.dim", "16", &["global.dim=32"])
            .expect_err("two things")
            .to_string();
        assert_eq!(
            error,
            "global.dim: --dim gives 16, and --set global.dim=32 something else; leave one of them out"
        );
        assert!(
            lay("motifs", "edge", &["motifs=triangle"]).is_err()
                && lay("steps", "2", &["steps"]).is_err()
        );
    }
}
