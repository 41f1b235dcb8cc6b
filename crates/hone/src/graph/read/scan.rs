//! The inner loop of reading plain integer edge lists: two numbers and the end of the line,
//! straight from the bytes. Whatever looks different is left to the general parser.

use super::fields::Delimiter;

/// Two canonical integers within u32 that are a whole line from `at`, and where the next begins.
#[inline]
pub(super) fn pair(bytes: &[u8], at: usize, delimiter: Delimiter) -> Option<(u32, u32, usize)> {
    let (u, at) = number(bytes, at)?;
    let mut at = match (delimiter, *bytes.get(at)?) {
        (Delimiter::Blanks, b' ' | b'\t') => at + 1,
        (Delimiter::Byte(wanted), found) if wanted == found => at + 1,
        _ => return None,
    };
    while matches!(bytes.get(at), Some(b' ' | b'\t')) && delimiter == Delimiter::Blanks {
        at += 1;
    }
    let (v, at) = number(bytes, at)?;
    match bytes.get(at) {
        Some(b'\n') => Some((u, v, at + 1)),
        Some(b'\r') if bytes.get(at + 1) == Some(&b'\n') => Some((u, v, at + 2)),
        None => Some((u, v, at)),
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
