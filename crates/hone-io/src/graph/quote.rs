//! How ids are quoted in text files, so that every reader restores them.
//!
//! As RFC 4180 does: quotes around the text, quotes within doubled. A field is quoted only when it would
//! otherwise be read as something else, so that files stay readable by tools without support for quotes.

use std::borrow::Cow;

/// A field between separators, quoted when it must be: when it holds the separator, a quote or a line
/// break, begins like a comment (`#`, `%`), or has blanks around it.
///
/// ```
/// use hone_io::graph::quoted;
/// assert_eq!(quoted("Ann Lee", '\t'), "Ann Lee");
/// assert_eq!(quoted("Lee, \"Ann\"", ','), "\"Lee, \"\"Ann\"\"\"");
/// assert_eq!(quoted("#rust", ','), "\"#rust\"");
/// ```
pub fn quoted(field: &str, separator: char) -> Cow<'_, str> {
    quote_if(
        field,
        field.is_empty() || field.contains([separator, '"', '\n', '\r']) || is_deceptive(field),
    )
}

/// An id on a line of its own, as in the node lists that are written and read: quoted when it is empty,
/// holds a line break, begins with a quote or like a comment, has blanks around it, or could be taken
/// for the header of such a list.
///
/// ```
/// use hone_io::graph::quoted_line;
/// assert_eq!(quoted_line("a, b \"c\""), "a, b \"c\"");
/// assert_eq!(quoted_line("id"), "\"id\"");
/// assert_eq!(quoted_line(""), "\"\"");
/// ```
pub fn quoted_line(id: &str) -> Cow<'_, str> {
    let broken = id.is_empty() || id.starts_with('"') || id.contains(['\n', '\r']);
    quote_if(id, broken || is_deceptive(id) || list_header(id).is_some())
}

fn quote_if(text: &str, must: bool) -> Cow<'_, str> {
    if must {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}

/// Whether text would be read as a comment, or without the blanks around it.
fn is_deceptive(text: &str) -> bool {
    text.starts_with(['#', '%']) || text.trim() != text
}

/// Whether text is the name of a column of ids.
#[doc(hidden)]
pub fn is_id_header(name: &str) -> bool {
    name.trim_matches(['"', ' ']).eq_ignore_ascii_case("id")
}

/// Whether the first line of a node list is a header: `id` alone, or among the names of a table. The separator of the table,
/// if it is one, and the position of the ids.
pub(super) fn list_header(line: &str) -> Option<(Option<u8>, usize)> {
    if is_id_header(line) {
        return Some((None, 0));
    }
    let separator = [b'\t', b',', b';', b'|']
        .into_iter()
        .find(|&byte| line.contains(char::from(byte)))?;
    line.split(char::from(separator))
        .position(is_id_header)
        .map(|position| (Some(separator), position))
}
