//! Thrift's compact protocol, as far as it is needed to check a Parquet file before anything is allocated for it.
//!
//! Every read is bounded by the bytes that are there, every nesting by [`DEEPEST`]; nothing panics and nothing is
//! allocated. `None` means that the bytes are no Thrift data.
//! Reference: the Thrift compact protocol specification.

/// Structs and lists within one another that are followed.
const DEEPEST: u32 = 32;

/// Kinds of values, as the protocol numbers them.
pub(super) const I32: u8 = 5;
pub(super) const LIST: u8 = 9;
pub(super) const STRUCT: u8 = 12;

/// A place in some bytes.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: u32,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Cursor {
            bytes,
            at: 0,
            depth: 0,
        }
    }

    /// Bytes used up.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn advance(&mut self, bytes: u64) -> Option<()> {
        self.at = self
            .at
            .checked_add(usize::try_from(bytes).ok()?)
            .filter(|&at| at <= self.bytes.len())?;
        Some(())
    }

    /// An unsigned number, seven bits per byte.
    pub(super) fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// A signed number.
    pub(super) fn integer(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// The kind and number of the elements of a list; each takes a byte at least.
    pub(super) fn list(&mut self) -> Option<(u8, usize)> {
        let head = self.byte()?;
        let count = if head >> 4 == 15 {
            self.varint()?
        } else {
            u64::from(head >> 4)
        };
        let count = usize::try_from(count)
            .ok()
            .filter(|&count| count <= self.bytes.len() - self.at)?;
        Some((head & 15, count))
    }

    /// Visits the fields of a struct: `visit` uses a value up and says so, or leaves it to be skipped.
    pub(super) fn fields(
        &mut self,
        mut visit: impl FnMut(i64, u8, &mut Self) -> Option<bool>,
    ) -> Option<()> {
        let mut id = 0i64;
        loop {
            let head = self.byte()?;
            let kind = head & 15;
            if kind == 0 {
                return Some(());
            }
            id = if head >> 4 == 0 {
                self.integer()?
            } else {
                id + i64::from(head >> 4)
            };
            if !visit(id, kind, self)? {
                self.skip(kind, false)?;
            }
        }
    }

    /// Uses up a value of some kind; booleans take a byte only where they are elements.
    fn skip(&mut self, kind: u8, element: bool) -> Option<()> {
        match kind {
            1 | 2 => self.advance(u64::from(element)),
            3 => self.advance(1),
            4..=6 => self.varint().map(drop),
            7 => self.advance(8),
            8 => {
                let length = self.varint()?;
                self.advance(length)
            }
            9..=12 => {
                self.depth += 1;
                let done = if self.depth > DEEPEST {
                    None
                } else {
                    self.skip_nested(kind)
                };
                self.depth -= 1;
                done
            }
            13 => self.advance(16),
            _ => None,
        }
    }

    fn skip_nested(&mut self, kind: u8) -> Option<()> {
        match kind {
            9 | 10 => {
                let (kind, count) = self.list()?;
                (0..count).try_for_each(|_| self.skip(kind, true))
            }
            11 => {
                let count = self.varint()?;
                let kinds = if count == 0 { 0 } else { self.byte()? };
                (0..count).try_for_each(|_| {
                    self.skip(kinds >> 4, true)?;
                    self.skip(kinds & 15, true)
                })
            }
            _ => self.fields(|_, _, _| Some(false)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_and_overlong_ones_refused() {
        assert_eq!(Cursor::new(&[0xac, 0x02]).varint(), Some(300));
        assert_eq!(Cursor::new(&[3]).integer(), Some(-2));
        assert_eq!(Cursor::new(&[0xff; 9]).varint(), None);
        assert_eq!(Cursor::new(&[0xff; 11]).varint(), None);
    }

    #[test]
    fn fields_are_visited_and_others_skipped() {
        // 1: i32 = -2; 2: list of two bytes; 4: "ab"; 20: i32 = 1; stop.
        let bytes = [
            0x15, 3, 0x19, 0x23, 7, 7, 0x28, 2, b'a', b'b', 0x05, 40, 2, 0,
        ];
        let mut found = Vec::new();
        let mut cursor = Cursor::new(&bytes);
        let done = cursor.fields(|id, kind, value| {
            let number = kind == I32;
            if number {
                found.push((id, value.integer()?));
            }
            Some(number)
        });
        assert_eq!(
            (done, found, cursor.position()),
            (Some(()), vec![(1, -2), (20, 1)], bytes.len())
        );
        for length in 0..bytes.len() {
            assert_eq!(
                Cursor::new(&bytes[..length]).fields(|_, _, _| Some(false)),
                None,
                "cut to {length}"
            );
        }
    }

    #[test]
    fn nesting_and_counts_are_bounded() {
        assert_eq!(
            Cursor::new(&[0x1c; 1000]).fields(|_, _, _| Some(false)),
            None,
            "structs in structs"
        );
        assert_eq!(
            Cursor::new(&[0xf5, 0xff, 0xff, 0xff, 0x7f]).list(),
            None,
            "more elements than bytes"
        );
    }
}
