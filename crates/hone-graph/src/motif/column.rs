//! [`Column`]: many non-negative integers, each stored in as few bytes as most of them need; and [`Rank`], an index for
//! values that are stored only for some positions.
//!
//! Counts are skewed: in sparse graphs nearly all are 0, in others a few hubs have huge ones. A
//! column therefore takes 1, 2, 4 or 8 bytes per value, whichever makes the whole smallest, and keeps
//! the values that do not fit in a separate sorted list. Zeros cost no memory until a page is
//! written.

use std::io::{self, ErrorKind, Read, Write};
use std::ops::Range;

use crate::parallel::{self, cut};

/// Values per class of size, to choose the width of a column.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sizes {
    /// How many values need more than 1, 2, 4 bytes.
    over: [usize; 3],
}

impl Sizes {
    /// `over` are the numbers of values of at least 2⁸ − 1, 2¹⁶ − 1 and 2³² − 1.
    pub fn new(over: [usize; 3]) -> Self {
        Sizes { over }
    }

    /// The bytes that each of `len` values of these sizes takes in a column, and how many values do not fit.
    pub fn width(&self, len: usize) -> (usize, usize) {
        let cost = |i: usize| (len << i) + self.over[i] * size_of::<(usize, u64)>();
        match (0..3).min_by_key(|&i| cost(i)) {
            Some(i) if cost(i) <= len * 8 => (1 << i, self.over[i]),
            _ => (8, 0),
        }
    }

    #[inline]
    pub(super) fn add(&mut self, value: u64, times: usize) {
        self.over[0] += times * usize::from(value >= u64::from(u8::MAX));
        self.over[1] += times * usize::from(value >= u64::from(u16::MAX));
        self.over[2] += times * usize::from(value >= u64::from(u32::MAX));
    }

    pub(super) fn sum(parts: impl IntoIterator<Item = Sizes>) -> Sizes {
        let add = |a: Sizes, b: Sizes| Sizes::new(std::array::from_fn(|i| a.over[i] + b.over[i]));
        parts.into_iter().fold(Sizes::default(), add)
    }
}

/// Values per parallel task.
const PIECE: usize = 1 << 14;

/// Positions of a block of wide values.
const BLOCK: usize = 128;

/// A list of integers with random access.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Bytes of a value: 1, 2, 4 or 8.
    width: usize,
    /// The values, little-endian; less than 8 bytes of ones mark a wide value.
    bytes: Vec<u8>,
    /// Positions and values that do not fit, ascending.
    wide: Vec<(usize, u64)>,
    /// Wide values before each block of positions, and all of them; nothing if there are none. A search looks at the few of
    /// one block, in a cache line or two, and not at a million of them.
    before: Vec<usize>,
}

impl Column {
    /// Values that were narrowed to `width` bytes elsewhere, and those that do not fit, with their positions in any order.
    ///
    /// # Panics
    /// When other values do not fit than those that are listed.
    pub fn of(width: usize, bytes: Vec<u8>, mut wide: Vec<(usize, u64)>) -> Column {
        wide.sort_unstable();
        let column = Column::narrow(width, bytes);
        assert!(column.marks(&wide), "values that do not fit are listed");
        column.with_wide(wide)
    }

    fn narrow(width: usize, bytes: Vec<u8>) -> Column {
        Column {
            width,
            bytes,
            wide: Vec::new(),
            before: Vec::new(),
        }
    }

    /// Bytes of a value.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// The same values in the width that suits them.
    pub(super) fn fitted(self) -> Column {
        let sizes = Column::sizes_of(self.len(), &|i| self.get(i));
        if sizes.width(self.len()).0 == self.width {
            return self;
        }
        Column::collect(self.len(), |i| self.get(i))
    }

    fn sizes_of(len: usize, value: &(impl Fn(usize) -> u64 + Sync)) -> Sizes {
        Sizes::sum(parallel::stretches(len, PIECE, |range| {
            let mut sizes = Sizes::default();
            range.for_each(|i| sizes.add(value(i), 1));
            sizes
        }))
    }

    /// The values of `len` positions, found in parallel.
    pub(super) fn collect(len: usize, value: impl Fn(usize) -> u64 + Sync) -> Column {
        let (width, _) = Column::sizes_of(len, &value).width(len);
        let mut column = Column::narrow(width, vec![0; len * width]);
        let bounds: Vec<usize> = (0..len).step_by(PIECE).chain([len]).collect();
        let wide = parallel::map_each(column.parts(&bounds), |at, mut part| {
            (bounds[at]..bounds[at + 1]).for_each(|i| part.set(i, value(i)));
            part.wide
        });
        column.with_wide(wide.concat())
    }

    /// The value at `i`.
    #[inline(always)]
    pub(super) fn get(&self, i: usize) -> u64 {
        let stored = self.stored(i);
        if stored == self.marker() && self.width < 8 {
            return self.wide(i);
        }
        stored
    }

    #[inline(always)]
    fn stored(&self, i: usize) -> u64 {
        match self.width {
            1 => self.bytes[i].into(),
            2 => u16::from_le_bytes(self.bytes.as_chunks().0[i]).into(),
            4 => u32::from_le_bytes(self.bytes.as_chunks().0[i]).into(),
            _ => u64::from_le_bytes(self.bytes.as_chunks().0[i]),
        }
    }

    /// What stands for a value that does not fit; in 8 bytes all values do.
    #[inline(always)]
    fn marker(&self) -> u64 {
        u64::MAX >> (64 - 8 * self.width)
    }

    #[cold]
    fn wide(&self, i: usize) -> u64 {
        let block = i / BLOCK;
        let some = &self.wide[self.before[block]..self.before[block + 1]];
        let at = some.binary_search_by_key(&i, |wide| wide.0);
        some[at.expect("a wide value is listed")].1
    }

    /// Whether a list contains, in order, exactly the positions marked as having their value there.
    fn marks(&self, wide: &[(usize, u64)]) -> bool {
        let marked = |i: usize| self.width < 8 && self.stored(i) == self.marker();
        wide.is_sorted_by(|a, b| a.0 < b.0)
            && wide.iter().all(|&(i, _)| i < self.len() && marked(i))
            && parallel::count(self.len(), marked) == wide.len()
    }

    /// Number of nonzeros among positions `range`.
    #[inline]
    pub(super) fn nonzeros(&self, range: Range<usize>) -> usize {
        let bytes = &self.bytes[range.start * self.width..range.end * self.width];
        match self.width {
            1 => bytes.iter().filter(|&&x| x != 0).count(),
            2 => nonzeros(bytes.as_chunks::<2>().0),
            4 => nonzeros(bytes.as_chunks::<4>().0),
            _ => nonzeros(bytes.as_chunks::<8>().0),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len() / self.width
    }

    /// Bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len() + size_of_val(&*self.wide) + size_of_val(&*self.before)
    }

    /// Writes width, number of wide values, values and wide values, little-endian.
    pub(super) fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&[self.width as u8])?;
        out.write_all(&(self.wide.len() as u64).to_le_bytes())?;
        out.write_all(&self.bytes)?;
        self.wide.iter().try_for_each(|&(i, value)| {
            out.write_all(&(i as u64).to_le_bytes())?;
            out.write_all(&value.to_le_bytes())
        })
    }

    /// Reads a column of `len` values that [`Column::save`] wrote.
    pub(super) fn load(len: usize, input: &mut dyn Read) -> io::Result<Column> {
        let wrong = |what| io::Error::new(ErrorKind::InvalidData, what);
        let (mut width, mut count) = ([0], [0; 8]);
        input.read_exact(&mut width)?;
        input.read_exact(&mut count)?;
        if !matches!(width[0], 1 | 2 | 4 | 8) {
            return Err(wrong("this is not a column of counts"));
        }
        let width = usize::from(width[0]);
        let column = Column::narrow(width, read_bytes(len * width, input)?);
        let count = usize::try_from(u64::from_le_bytes(count));
        let count = count.ok().filter(|&count| count <= len);
        let count =
            count.ok_or_else(|| wrong("a column of counts has more wide values than values"))?;
        let numbers = read_bytes(16 * count, input)?;
        let numbers = numbers.as_chunks().0.iter().map(|b| u64::from_le_bytes(*b));
        let numbers: Vec<u64> = numbers.collect();
        let pairs = numbers.as_chunks::<2>().0.iter();
        let wide: Vec<_> = pairs.map(|&[i, value]| (i as usize, value)).collect();
        if !column.marks(&wide) {
            return Err(wrong("a column of counts lists other wide values"));
        }
        Ok(column.with_wide(wide))
    }

    /// Disjoint ranges to be filled by several threads: part i covers `bounds[i]..bounds[i + 1]`.
    /// Give the wide values of the parts, in order, to [`Column::with_wide`].
    fn parts(&mut self, bounds: &[usize]) -> Vec<Part<'_>> {
        let width = self.width;
        let bytes: Vec<usize> = bounds.iter().map(|&i| i * width).collect();
        let parts = cut(&mut self.bytes, &bytes).into_iter().zip(bounds);
        let part = |(bytes, &start)| Part {
            start,
            width,
            bytes,
            wide: Vec::new(),
        };
        parts.map(part).collect()
    }

    /// The same with wide values, whose positions ascend.
    fn with_wide(mut self, wide: Vec<(usize, u64)>) -> Column {
        self.before.clear();
        if !wide.is_empty() {
            let blocks = self.len().div_ceil(BLOCK);
            for (at, &(i, _)) in wide.iter().enumerate() {
                let seen = self.before.len();
                self.before.resize(seen.max(i / BLOCK + 1), at);
            }
            self.before.resize(blocks + 1, wide.len());
        }
        Column { wide, ..self }
    }
}

/// Writes t, C, K, Q and R of edges to the columns of a graph, in parallel by ranges: `fill` gets the number of the range, and
/// a writer for the slots `slots[range]..slots[range + 1]`, of which those from place `inside[range]` on are in triangles.
/// What is not written is zero.
pub(super) fn write_edges(
    widths: [usize; 5],
    slots: &[usize],
    inside: &[usize],
    fill: impl Fn(usize, &mut EdgeWriter<'_>) + Sync,
) -> [Column; 5] {
    let bounds = |x: usize| if x < 2 { slots } else { inside };
    let mut columns: [Column; 5] = std::array::from_fn(|x| {
        let len = bounds(x).last().copied().unwrap_or(0);
        Column::narrow(widths[x], vec![0; len * widths[x]])
    });
    let mut x = 0;
    let mut parts = columns.each_mut().map(|column| {
        x += 1;
        column.parts(bounds(x - 1)).into_iter()
    });
    let writers = inside
        .iter()
        .skip(1)
        .zip(inside)
        .map(|(_, &first)| EdgeWriter {
            parts: parts
                .each_mut()
                .map(|of| of.next().expect("a part for each range")),
            next: first,
        });
    let mut wide = [const { Vec::new() }; 5];
    for found in parallel::map_each(writers.collect(), |range, mut writer: EdgeWriter<'_>| {
        fill(range, &mut writer);
        writer.parts.map(|part| part.wide)
    }) {
        for (wide, mut part) in wide.iter_mut().zip(found) {
            wide.append(&mut part);
        }
    }
    let mut wide = wide.into_iter();
    columns.map(|column| column.with_wide(wide.next().expect("as many lists as columns")))
}

/// Writes the numbers of a range of slots.
pub(super) struct EdgeWriter<'a> {
    parts: [Part<'a>; 5],
    /// The place of the next slot in a triangle.
    next: usize,
}

impl EdgeWriter<'_> {
    /// t, C, K, Q and R of a slot; slots must ascend.
    #[inline(always)]
    pub(super) fn write(&mut self, slot: usize, values: [u64; 5]) {
        let (edge, triangle) = self.parts.split_at_mut(2);
        edge[0].set(slot, values[0]);
        edge[1].set(slot, values[1]);
        if values[0] > 0 {
            for (part, &value) in triangle.iter_mut().zip(&values[2..]) {
                part.set(self.next, value);
            }
            self.next += 1;
        }
    }
}

fn nonzeros<const N: usize>(values: &[[u8; N]]) -> usize {
    values.iter().filter(|&&value| value != [0; N]).count()
}

/// So many bytes; the memory grows with the data, so that a wrong length takes none.
pub(super) fn read_bytes(count: usize, input: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(count as u64).read_to_end(&mut bytes)?;
    if bytes.len() < count {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    bytes.shrink_to_fit();
    Ok(bytes)
}

/// A range of a column that one thread fills.
struct Part<'a> {
    start: usize,
    width: usize,
    bytes: &'a mut [u8],
    /// Values that did not fit.
    wide: Vec<(usize, u64)>,
}

impl Part<'_> {
    /// Sets the value at position `i` of the column; positions must ascend.
    #[inline]
    fn set(&mut self, i: usize, value: u64) {
        let (at, bytes) = (i - self.start, &mut *self.bytes);
        let most = match self.width {
            1 => {
                bytes[at] = value.min(0xff) as u8;
                0xff
            }
            2 => {
                bytes.as_chunks_mut().0[at] = (value.min(0xffff) as u16).to_le_bytes();
                0xffff
            }
            4 => {
                bytes.as_chunks_mut().0[at] = (value.min(0xffff_ffff) as u32).to_le_bytes();
                0xffff_ffff
            }
            _ => return bytes.as_chunks_mut().0[at] = value.to_le_bytes(),
        };
        if value >= most {
            self.wide.push((i, value));
        }
    }
}

/// Finds, for a position with a nonzero, how many nonzeros come before it.
#[derive(Debug, Clone)]
pub(super) struct Rank {
    /// Nonzeros before each block.
    before: Vec<usize>,
}

impl Rank {
    const BLOCK: usize = 256;

    pub(super) fn new(len: usize, nonzeros: impl Fn(Range<usize>) -> usize) -> Rank {
        let mut before = Vec::with_capacity(len / Rank::BLOCK + 2);
        before.push(0);
        let mut sum = 0;
        for start in (0..len).step_by(Rank::BLOCK) {
            sum += nonzeros(start..len.min(start + Rank::BLOCK));
            before.push(sum);
        }
        Rank { before }
    }

    /// Number of nonzeros at positions below `i`; `nonzeros` as at construction.
    #[inline]
    pub(super) fn below(&self, i: usize, nonzeros: impl Fn(Range<usize>) -> usize) -> usize {
        let block = i / Rank::BLOCK;
        self.before[block] + nonzeros(block * Rank::BLOCK..i)
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_gives_the_values_back() {
        let tops = [1, 254, 255, 65_534, 65_535, 1 << 31];
        for top in tops.into_iter().chain([u64::from(u32::MAX), u64::MAX]) {
            for rare in [2, 1000] {
                let value = |i: usize| {
                    if i.is_multiple_of(rare) {
                        top
                    } else {
                        i as u64 % 200
                    }
                };
                let column = Column::collect(50_000, value);
                let all = || 0..50_000;
                assert!(all().all(|i| column.get(i) == value(i)), "{top} {rare}");
                let nonzeros = all().filter(|&i| value(i) != 0).count();
                assert_eq!(column.nonzeros(all()), nonzeros);
                let mut saved = Vec::new();
                column.save(&mut saved).expect("memory takes it");
                assert_eq!(Column::load(50_000, &mut &*saved).expect("whole"), column);
                let Column {
                    width, bytes, wide, ..
                } = column.clone();
                assert_eq!(
                    Column::of(width, bytes, wide.into_iter().rev().collect()),
                    column
                );
            }
        }
    }

    #[test]
    fn what_is_no_column_is_refused() {
        let column = Column::collect(600, |i| if i == 7 { 300 } else { i as u64 % 200 });
        let mut bytes = Vec::new();
        column.save(&mut bytes).expect("memory takes it");
        let loaded = |bytes: &[u8]| Column::load(600, &mut &*bytes);
        for length in 0..bytes.len() {
            assert!(loaded(&bytes[..length]).is_err(), "cut to {length}");
        }
        // Width, number of wide values, a value that is said to be wide, the place of the wide one.
        for (at, byte) in [(0, 3), (1, 2), (8, 255), (9 + 5, 255), (9 + 600, 8)] {
            let mut other = bytes.clone();
            other[at] = byte;
            assert!(loaded(&other).is_err(), "byte {at}");
        }
        for wrong in [vec![(3, 900)], vec![(1, 255), (2, 4)], vec![(1, 255); 2]] {
            let made = std::panic::catch_unwind(|| Column::of(1, vec![1, 255, 3, 255], wrong));
            assert!(made.is_err());
        }
    }

    #[test]
    fn a_few_hubs_do_not_widen_a_column() {
        let column = Column::collect(100_000, |i| if i == 7 { u64::MAX } else { 3 });
        assert!(column.width == 1 && column.bytes() < 110_000);
    }
}
