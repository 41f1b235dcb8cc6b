//! The inner loop of reading plain integer edge lists: two numbers, perhaps one more field, and
//! the end of the line, straight from the bytes. Whatever looks different is left to the general
//! parser.

use super::fields::Delimiter;

/// Two canonical integers within u32 that are a whole line from `at`, and where the next begins.
#[inline]
pub(super) fn pair(bytes: &[u8], at: usize, delimiter: Delimiter) -> Option<(u32, u32, usize)> {
    let (u, v, at) = two_numbers(bytes, at, delimiter)?;
    Some((u, v, line_end(bytes, at)?))
}

/// The same with one more field, neither empty nor quoted.
#[inline]
pub(super) fn triple(
    bytes: &[u8],
    at: usize,
    delimiter: Delimiter,
) -> Option<(u32, u32, &[u8], usize)> {
    let (u, v, at) = two_numbers(bytes, at, delimiter)?;
    let begin = gap(bytes, at, delimiter)?;
    // Where symbols separate columns, the first of them alone already ends the field: the general parser decides.
    let inside =
        |byte: &&u8| byte.is_ascii_graphic() && **byte != b'"' && !delimiter.begins_with(**byte);
    let end = begin + bytes[begin..].iter().take_while(inside).count();
    if begin == end {
        None
    } else {
        Some((u, v, &bytes[begin..end], line_end(bytes, end)?))
    }
}

#[inline]
fn two_numbers(bytes: &[u8], at: usize, delimiter: Delimiter) -> Option<(u32, u32, usize)> {
    let (u, at) = number(bytes, at)?;
    let (v, at) = number(bytes, gap(bytes, at, delimiter)?)?;
    Some((u, v, at))
}

/// Where the delimiter that begins at `at` ends.
#[inline]
fn gap(bytes: &[u8], at: usize, delimiter: Delimiter) -> Option<usize> {
    let mut at = match (delimiter, *bytes.get(at)?) {
        (Delimiter::Blanks, b' ' | b'\t') => at + 1,
        (Delimiter::Byte(wanted), found) if wanted == found => return Some(at + 1),
        (Delimiter::Symbols(symbols), _) if delimiter.begins(&bytes[at..]) => {
            return Some(at + symbols.as_bytes().len());
        }
        _ => return None,
    };
    while matches!(bytes.get(at), Some(b' ' | b'\t')) {
        at += 1;
    }
    Some(at)
}

/// Where the next line begins, when this one ends at `at`.
#[inline]
fn line_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at) {
        Some(b'\n') => Some(at + 1),
        Some(b'\r') if bytes.get(at + 1) == Some(&b'\n') => Some(at + 2),
        None => Some(at),
        Some(_) => None,
    }
}

/// A canonical integer within u32 from `at`, and where it ends.
#[inline]
fn number(bytes: &[u8], at: usize) -> Option<(u32, usize)> {
    let first = bytes.get(at)?.wrapping_sub(b'0');
    if first > 9 {
        return None;
    }
    let (mut value, mut end) = (u64::from(first), at + 1);
    while let Some(byte) = bytes.get(end) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        end += 1;
    }
    let digits = end - at;
    if digits > 10 || (first == 0 && digits > 1) {
        return None;
    }
    Some((u32::try_from(value).ok()?, end))
}
