//! The library names settings (`global.dim`), the command its options (`--dim`): errors translated from one to the
//! other.

use hone::Error;

/// A setting and the option that gives it.
pub(crate) type Known = (&'static str, &'static str);

/// What errors of every command may mention.
const COMMON: &[Known] = &[
    ("overwrite = true", "--force"),
    ("resume = true", "--resume"),
    ("(temp_dir)", "(--temp-dir)"),
    ("the memory limit", "--memory"),
    ("attributes.table.id", "--attribute-id"),
    ("the option `weight`", "--weight"),
];

/// A message in the words of every command.
pub(crate) fn in_options(text: &str) -> String {
    COMMON.iter().fold(text.to_owned(), |text, (setting, option)| text.replace(setting, option))
}

/// A text in the words of a command with these options; names without a dot are everyday words, and stay.
pub(crate) fn worded(text: &str, options: &[Known]) -> String {
    let dotted = options.iter().filter(|(setting, _)| setting.contains('.'));
    dotted.fold(text.to_owned(), |text, (setting, option)| text.replace(setting, option))
}

/// An error in the words of a command with these options: the field that it is about, and what can be done.
pub(crate) fn translated(error: Error, options: &[Known]) -> Error {
    match error {
        Error::Config { field, message } => {
            let option = options.iter().find(|(setting, _)| *setting == field).map(|(_, option)| *option);
            let field = match option {
                Some(option) if option.trim_start_matches('-') == field => option.to_owned(),
                Some(option) => format!("{option} ({field})"),
                None => field,
            };
            Error::Config { field, message: worded(&message, options) }
        }
        Error::Memory { stage, need, least, limit, remedy } => {
            Error::Memory { stage, need, least, limit, remedy: worded(&remedy, options) }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: &[Known] = &[("global.dim", "--dim"), ("steps", "--steps")];

    #[test]
    fn settings_become_options() {
        let dim = translated(Error::config("global.dim", "0 of global.dim; fewer steps"), OPTIONS).to_string();
        assert_eq!(dim, "--dim (global.dim): 0 of --dim; fewer steps");
        assert_eq!(translated(Error::config("steps", "17"), OPTIONS).to_string(), "--steps: 17");
        assert_eq!(translated(Error::config("psi", "q"), OPTIONS).to_string(), "psi: q");
        assert_eq!(in_options("a.npy exists; overwrite = true replaces it"), "a.npy exists; --force replaces it");
    }
}
