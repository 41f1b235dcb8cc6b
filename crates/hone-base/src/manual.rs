//! Where the manual is. Help and messages name its pages as they are in the repository, `docs/gpu.md`; who installed a
//! program has an address instead.

use std::borrow::Cow;

/// The address of the manual: a placeholder until the project has a public one (CONTRIBUTING.md, release checklist).
pub const ADDRESS: &str = "https://hone.example/";

/// The text with the addresses of the pages that it names.
///
/// ```
/// use hone_base::manual::{ADDRESS, linked};
/// assert_eq!(linked("see docs/gpu.md."), format!("see {ADDRESS}gpu.html."));
/// ```
pub fn linked(text: &str) -> Cow<'_, str> {
    const FOLDER: &str = "docs/";
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(FOLDER) {
        let (before, after) = (&rest[..at], &rest[at + FOLDER.len()..]);
        let is_of_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let end = after.find(|c| !is_of_name(c)).unwrap_or(after.len());
        out += before;
        match after[end..].strip_prefix(".md") {
            Some(behind) if end > 0 => {
                out += &format!("{ADDRESS}{}.html", &after[..end]);
                rest = behind;
            }
            _ => {
                out += FOLDER;
                rest = after;
            }
        }
    }
    if out.is_empty() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(out + rest)
}
