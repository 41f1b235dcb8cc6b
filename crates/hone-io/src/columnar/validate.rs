//! Checks of a Parquet file before the Parquet crate decodes it.
//!
//! The crate trusts several sizes that a file promises: it follows a schema of any depth with its stack, reserves a
//! page's promised size, and as many dictionary entries or lengths as a page claims. So the footer's schema and every
//! page header are checked first, and every page is examined between its decompression and its decoding. Remaining
//! problems cause a panic inside the crate; [`decoded`], around its calls alone, turns it into an error.
//! Cost: one small read for each page.
//!
//! Headers are data of Thrift's compact protocol, which is read as far as it is needed ([`Cursor`]).

use std::cell::Cell;
use std::io::{self, Read};
use std::ops::Deref;
use std::panic::{self, AssertUnwindSafe};

use flate2::read::MultiGzDecoder;
use parquet::basic::{Compression, Encoding, Type as Physical};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::ChunkReader;

/// Structs and lists within one another that are followed.
const DEEPEST: u32 = 32;

/// Kinds of values, as the protocol numbers them.
const I32: u8 = 5;
const LIST: u8 = 9;
const STRUCT: u8 = 12;
/// Groups within groups that a schema may have.
const DEEPEST_SCHEMA: usize = 32;
/// Bytes of a page header that are examined: statistics may be long.
pub const LONGEST_HEADER: u64 = 1 << 20;
/// Bytes of a page header that are read at first.
const USUAL_HEADER: u64 = 1 << 9;
/// How far a byte of the old LZ4 format can expand.
const LZ4_RATIO: u64 = 255;

/// How a Parquet file begins: its magic, and the first field of the header of a page, or of a table without pages. No text
/// has such a byte.
pub const BEGINNING: &[u8] = b"PAR1\x15";

thread_local!(static DECODING: Cell<bool> = const { Cell::new(false) });

/// Whether the decoder of Parquet is at work on this thread: a panic is then caught, and becomes an error of the file. For programs
/// whose panic hook should not mention it.
pub fn is_decoding() -> bool {
    DECODING.get()
}

/// Runs a call of the decoder; returns what it says is wrong, also where it panics. It must not be used again then.
pub fn decoded<T>(call: impl FnOnce() -> ParquetResult<T>) -> Result<T, String> {
    let before = DECODING.replace(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(call));
    DECODING.set(before);
    match outcome {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => Err("a page cannot be decoded".into()),
    }
}

/// Whether these can be the first bytes of a Parquet file: a page comes first, or the footer of a table without rows.
/// [`LONGEST_HEADER`] of them decide.
pub fn may_begin(bytes: &[u8]) -> bool {
    let rest = bytes.get(4..).unwrap_or_default();
    bytes.starts_with(BEGINNING)
        && (page_header(rest).is_some() || check_schema(&mut Cursor::new(rest)).is_some())
}

/// Checks the frame of a file and the shape of its schema; returns the bytes of the footer, or what is wrong.
pub(super) fn check_footer(file: &impl ChunkReader) -> Result<u64, String> {
    let size = file.len();
    let Some(begin) = size.checked_sub(8).filter(|&begin| begin >= 4) else {
        return Err(format!("{size} bytes are too few"));
    };
    let tail = bytes(file, begin, 8)?;
    if &tail[4..] != b"PAR1" {
        return Err("its last bytes are not PAR1".into());
    }
    let length = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
    let Some(start) = begin.checked_sub(length).filter(|&start| start >= 4) else {
        return Err(format!("its footer should have {length} bytes"));
    };
    let footer = bytes(file, start, length)?;
    check_schema(&mut Cursor::new(&footer))
        .map(|()| length)
        .ok_or_else(|| "its footer is damaged".to_owned())
}

/// The schema is a list of elements, each followed by as many children as it says.
fn check_schema(footer: &mut Cursor) -> Option<()> {
    let mut found = false;
    footer.fields(|id, kind, value| {
        if (id, kind) != (2, LIST) {
            return Some(false);
        }
        let (kind, elements) = value.list()?;
        if kind != STRUCT {
            return None;
        }
        // Children still to come, of each group that is open.
        let mut open: Vec<i64> = Vec::new();
        for _ in 0..elements {
            let mut children = 0;
            value.fields(|id, kind, value| {
                let counts = (id, kind) == (5, I32);
                if counts {
                    children = value.integer()?;
                }
                Some(counts)
            })?;
            if !(0..=elements as i64).contains(&children) {
                return None;
            }
            if let Some(rest) = open.last_mut() {
                *rest -= 1;
            }
            open.push(children);
            while open.last() == Some(&0) {
                open.pop();
            }
            if open.len() > DEEPEST_SCHEMA {
                return None;
            }
        }
        found = true;
        open.is_empty().then_some(true)
    })?;
    found.then_some(())
}

/// What the header of a page says.
struct PageHeader {
    uncompressed: u64,
    compressed: u64,
    /// Bytes of the header itself.
    length: u64,
}

fn page_header(bytes: &[u8]) -> Option<PageHeader> {
    let mut cursor = Cursor::new(bytes);
    let (mut uncompressed, mut compressed) = (None, None);
    cursor.fields(|id, kind, value| {
        let size = match (id, kind) {
            (2, I32) => &mut uncompressed,
            (3, I32) => &mut compressed,
            _ => return Some(false),
        };
        *size = Some(u64::try_from(value.integer()?).ok()?);
        Some(true)
    })?;
    Some(PageHeader {
        uncompressed: uncompressed?,
        compressed: compressed?,
        length: cursor.at as u64,
    })
}

/// Checks where a column chunk lies in a file and the sizes of all its pages; returns the bytes that its largest page takes.
pub(super) fn check_pages(
    file: &impl ChunkReader,
    chunk: &ColumnChunkMetaData,
) -> Result<u64, String> {
    let number =
        |value: i64, what: &str| u64::try_from(value).map_err(|_| format!("{what} is {value}"));
    let data = number(chunk.data_page_offset(), "the place of a column")?;
    let mut at = match chunk.dictionary_page_offset() {
        Some(dictionary) => number(dictionary, "the place of a column")?,
        None => data,
    };
    let end = at.checked_add(number(chunk.compressed_size(), "the size of a column")?);
    let Some(end) = end.filter(|&end| end <= file.len()) else {
        return Err("a column ends beyond the file".into());
    };
    let mut largest = 0;
    while at < end {
        let header = read_header(file, at, end)?;
        let next = at.checked_add(header.length + header.compressed);
        let Some(next) = next.filter(|&next| next <= end) else {
            return Err("a page ends beyond its column".into());
        };
        let page = page_memory(file, at + header.length, &header, chunk.compression())?;
        largest = largest.max(page);
        at = next;
    }
    Ok(largest)
}

fn read_header(file: &impl ChunkReader, at: u64, end: u64) -> Result<PageHeader, String> {
    let mut length = USUAL_HEADER;
    loop {
        let bytes = bytes(file, at, length.min(end - at))?;
        match page_header(&bytes) {
            Some(header) => return Ok(header),
            None if bytes.len() as u64 == length && length < LONGEST_HEADER => length *= 8,
            None => return Err("the header of a page is damaged".into()),
        }
    }
}

/// Bytes that a page takes while it is decompressed. Two of the decoders ignore the declared size, so their pages
/// are measured, or assumed to be as large as possible.
fn page_memory(
    file: &impl ChunkReader,
    at: u64,
    header: &PageHeader,
    compression: Compression,
) -> Result<u64, String> {
    let PageHeader {
        uncompressed,
        compressed,
        ..
    } = *header;
    let most = match compression {
        Compression::GZIP(_) => {
            let packed = bytes(file, at, compressed)?;
            let mut page = MultiGzDecoder::new(&packed[..]).take(uncompressed + 1);
            // What cannot be decompressed is for the decoder to say.
            let length = io::copy(&mut page, &mut io::sink()).unwrap_or(0);
            if length > uncompressed {
                return Err("a page is larger than its header says".into());
            }
            uncompressed
        }
        Compression::LZ4 => uncompressed.max(compressed.saturating_mul(LZ4_RATIO)),
        _ => uncompressed,
    };
    Ok(compressed + most)
}

/// Bytes of a file, which has them by what was checked before.
fn bytes(
    file: &impl ChunkReader,
    at: u64,
    length: u64,
) -> Result<impl Deref<Target = [u8]>, String> {
    file.get_bytes(at, length as usize)
        .map_err(|error| error.to_string())
}

/// Pages of a column, each looked at before it is decoded.
pub(super) struct Checked {
    pub(super) inner: Box<dyn PageReader>,
    pub(super) physical: Physical,
    /// The largest definition level, 0 where no value may be missing.
    pub(super) levels: i16,
    /// Whether there are levels of repetition too, in front.
    pub(super) repeated: bool,
    /// Values still to come.
    pub(super) left: u64,
}

impl Checked {
    fn check(&mut self, page: &Page) -> Option<()> {
        let (bytes, values) = (page.buffer(), page.num_values() as usize);
        if let Page::DictionaryPage { .. } = page {
            let least = match self.physical {
                Physical::FIXED_LEN_BYTE_ARRAY => 1,
                _ => 4,
            };
            return (values <= bytes.len() / least).then_some(());
        }
        self.left = self.left.checked_sub(values as u64)?;
        let (start, present) = match page {
            Page::DataPageV2 {
                def_levels_byte_len,
                rep_levels_byte_len,
                num_nulls,
                ..
            } => {
                let levels = def_levels_byte_len.checked_add(*rep_levels_byte_len)? as usize;
                (levels, values.checked_sub(*num_nulls as usize)?)
            }
            Page::DataPage {
                def_level_encoding: Encoding::RLE,
                ..
            } if self.levels > 0 => {
                let mut start = 0usize;
                for _ in 0..1 + usize::from(self.repeated) {
                    let length = bytes.get(start..)?.first_chunk()?;
                    let length = u32::from_le_bytes(*length) as usize;
                    start = start.checked_add(4)?.checked_add(length)?;
                }
                (start, values)
            }
            // Packed, in as many bits as the largest level takes.
            _ => {
                let bits = i16::BITS - self.levels.leading_zeros();
                ((values * bits as usize).div_ceil(8), values)
            }
        };
        let body = bytes.get(start..)?;
        match page.encoding() {
            Encoding::DELTA_BINARY_PACKED | Encoding::DELTA_LENGTH_BYTE_ARRAY => {
                delta_block(body, present).map(drop)
            }
            Encoding::DELTA_BYTE_ARRAY => {
                delta_block(body.get(delta_block(body, present)?..)?, present).map(drop)
            }
            _ => Some(()),
        }
    }
}

/// Checks a block of delta-encoded integers of at most `values` values; returns its length in bytes.
fn delta_block(bytes: &[u8], values: usize) -> Option<usize> {
    let mut cursor = Cursor::new(bytes);
    let (block, minis, total) = (cursor.varint()?, cursor.varint()?, cursor.varint()?);
    cursor.integer()?;
    let mini = block
        .checked_div(minis)
        .filter(|&mini| mini > 0 && mini % 8 == 0 && block <= 1 << 24)?;
    let mut left = usize::try_from(total)
        .ok()
        .filter(|&total| total <= values)?
        .saturating_sub(1) as u64;
    let mut at = cursor.at;
    while left > 0 {
        let mut cursor = Cursor::new(bytes.get(at..)?);
        cursor.integer()?;
        at += cursor.at;
        let widths = bytes.get(at..at.checked_add(minis as usize)?)?;
        at += widths.len();
        for &width in widths {
            if left == 0 {
                break;
            }
            at = at.checked_add(usize::try_from(mini / 8 * u64::from(width)).ok()?)?;
            left = left.saturating_sub(mini);
        }
    }
    // A writer may leave out the end of the last one.
    Some(at.min(bytes.len()))
}

impl Iterator for Checked {
    type Item = ParquetResult<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Checked {
    fn get_next_page(&mut self) -> ParquetResult<Option<Page>> {
        let Some(page) = self.inner.get_next_page()? else {
            return Ok(None);
        };
        match self.check(&page) {
            Some(()) => Ok(Some(page)),
            None => Err(ParquetError::General(
                "a page is not as large as its header says".into(),
            )),
        }
    }

    fn peek_next_page(&mut self) -> ParquetResult<Option<PageMetadata>> {
        self.inner.peek_next_page()
    }

    fn skip_next_page(&mut self) -> ParquetResult<()> {
        self.inner.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> ParquetResult<bool> {
        self.inner.at_record_boundary()
    }
}

/// A place in data of Thrift's compact protocol. Every read is bounded by the bytes that are there, every nesting by
/// [`DEEPEST`]; nothing panics and nothing is allocated. `None` means that the bytes are no Thrift data.
#[derive(Debug, Clone)]
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: u32,
}

impl<'a> Cursor<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Cursor {
            bytes,
            at: 0,
            depth: 0,
        }
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
    fn varint(&mut self) -> Option<u64> {
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
    fn integer(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// The kind and number of the elements of a list; each takes a byte at least.
    fn list(&mut self) -> Option<(u8, usize)> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => usize::try_from(self.varint()?).ok()?,
            count => count.into(),
        };
        (count <= self.bytes.len() - self.at).then_some((head & 15, count))
    }

    /// Visits the fields of a struct: `visit` uses a value up and says so, or leaves it to be skipped.
    fn fields(&mut self, mut visit: impl FnMut(i64, u8, &mut Self) -> Option<bool>) -> Option<()> {
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
                let is_shallow = self.depth <= DEEPEST;
                let done = is_shallow.then(|| self.skip_nested(kind)).flatten();
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
    fn delta_blocks_have_the_length_they_say() {
        // 128 values per block, 4 minis, 3 values, first 7; least delta 1, widths 8 0 0 0, 32 deltas of one byte.
        let mut bytes = vec![0x80, 1, 4, 3, 14, 2, 8, 0, 0, 0];
        bytes.extend([0; 32]);
        bytes.extend(b"rest");
        assert_eq!(delta_block(&bytes, 3), Some(42));
        assert_eq!(
            delta_block(&bytes, 2),
            None,
            "more values than the page has"
        );
        bytes[1] = 0;
        assert_eq!(delta_block(&bytes, 3), None, "no values per block");
        assert_eq!(
            delta_block(
                &[
                    0x80, 1, 4, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0
                ],
                9
            ),
            None
        );
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
