//! What the command-line parser says about wrong options, in plain words.

/// Options of node2vec that have no counterpart.
const OF_WALKS: [&str; 8] = [
    "--walk-length",
    "--num-walks",
    "--window-size",
    "--iter",
    "--p",
    "--q",
    "--workers",
    "--epochs",
];

/// The command line; where it is wrong, each argument is quoted in one line.
pub(crate) fn parse<C: clap::Parser>() -> Result<C, clap::Error> {
    C::try_parse().map_err(|said| {
        let arguments = || std::env::args_os().map(|a| a.to_string_lossy().into_owned());
        if !arguments().any(|argument| argument.contains('\n')) {
            return said;
        }
        let lines = arguments().map(|argument| argument.replace('\n', "\\n"));
        C::try_parse_from(lines).err().unwrap_or(said)
    })
}

/// The message of the parser, line by line.
pub(crate) fn plain(message: &str) -> String {
    let unknown = between(message, "unexpected argument '", "'");
    let lines = message.lines().map(|line| match unknown {
        Some(argument) if line.trim_start().starts_with("tip: ") => tip(argument, line),
        _ => value(line),
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    text.split_once(before)?
        .1
        .split_once(after)
        .map(|(found, _)| found)
}

/// What to do about an argument that is not known.
fn tip(argument: &str, line: &str) -> String {
    let is_negative = argument
        .strip_prefix('-')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let tip = match argument {
        _ if is_negative => "the number must not be negative",
        "--input" => "the graph has no option before it: hone embed GRAPH -o VECTORS",
        "--dimensions" => "the number of dimensions is --dim",
        _ if OF_WALKS.contains(&argument) => {
            "no walks are sampled; docs/from-node2vec.md translates the options of node2vec"
        }
        // Nothing else could stand behind `--`.
        _ if line.contains("as a value, use") => "`--help` lists all options",
        _ => return line.to_owned(),
    };
    format!("  tip: {tip}")
}

/// A line about the value of an option, without the words of the compiler and without the name of the option again.
fn value(line: &str) -> String {
    let line = line
        .replace("invalid digit found in string", "not a whole number")
        .replace(
            "cannot parse integer from empty string",
            "not a whole number",
        )
        .replace("invalid float literal", "not a number")
        .replace(
            "number too large to fit in target type",
            "the number is too large",
        );
    let Some((before, after)) = line.split_once(">': ") else {
        return line;
    };
    let name = before
        .rsplit_once("'--")
        .and_then(|(_, option)| option.split(' ').next())
        .unwrap_or_default();
    let after = after.strip_prefix(&format!("{name}: ")).unwrap_or(after);
    let range = after
        .split_once(" is not in ")
        .and_then(|(_, range)| range.split_once(".."));
    match range {
        Some((least, "")) => format!("{before}>': give a whole number of at least {least}"),
        Some((least, most)) => {
            format!(
                "{before}>': give a whole number from {least} to {}",
                most.trim_start_matches('=')
            )
        }
        None => format!("{before}>': {after}"),
    }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn messages_are_plain() {
        for (said, expected) in [
            (
                "error: invalid value '0' for '--top <N>': 0 is not in 1..=10000",
                "error: invalid value '0' for '--top <N>': give a whole number from 1 to 10000",
            ),
            (
                "error: invalid value '0' for '--delta <COUNT>': 0 is not in 1..",
                "error: invalid value '0' for '--delta <COUNT>': give a whole number of at least 1",
            ),
            (
                "error: invalid value 'x' for '--dim <D>': invalid digit found in string",
                "error: invalid value 'x' for '--dim <D>': not a whole number",
            ),
            (
                "error: invalid value 'x' for '--motifs <SET>': motifs: `x` is not a motif",
                "error: invalid value 'x' for '--motifs <SET>': `x` is not a motif",
            ),
            (
                "error: unexpected argument '-3' found\n\n  tip: to pass '-3' as a value, use '-- -3'",
                "error: unexpected argument '-3' found\n\n  tip: the number must not be negative",
            ),
            (
                "error: unexpected argument '--quiett' found\n\n  tip: a similar argument exists: '--quiet'",
                "error: unexpected argument '--quiett' found\n\n  tip: a similar argument exists: '--quiet'",
            ),
            (
                "error: unexpected argument '--walk-length' found\n\n  tip: to pass '--walk-length' as a value, use '-- --walk-length'",
                "error: unexpected argument '--walk-length' found\n\n  tip: no walks are sampled; docs/from-node2vec.md translates the options of node2vec",
            ),
            (
                "error: a\n\nUsage: hone embed <INPUT>",
                "error: a\n\nUsage: hone embed <INPUT>",
            ),
        ] {
            assert_eq!(plain(said), format!("{expected}\n"));
        }
    }
}
