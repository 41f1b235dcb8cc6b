//! Messages of readers, compared with each other.

/// A message without what it quotes of the input: all from the first grave accent to the last, since the input may have
/// some too.
pub(crate) fn unquoted(message: &str) -> String {
    match (message.find('`'), message.rfind('`')) {
        (Some(first), Some(last)) => [&message[..first], &message[last..]].concat(),
        _ => message.to_owned(),
    }
}
