//! [`Column`]: many non-negative integers, each stored in as few bytes as most of them need.
//!
//! Counts are skewed: in sparse graphs nearly all are 0, in others a few hubs have huge ones. A
//! column therefore takes 1, 2, 4 or 8 bytes per value, whichever makes the whole smallest, and keeps
//! the values that do not fit in a separate sorted list. Zeros cost no memory until a page is
//! written.

mod part;
mod wide;

use std::io::{self, ErrorKind, Read, Write};

use self::part::Slice;
pub(super) use self::part::{Part, cut};
use self::wide::Wide;
use crate::parallel;

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
        match (0..3)
            .min_by_key(|&i| cost(i))
            .filter(|&i| cost(i) <= len * 8)
        {
            Some(i) => (1 << i, self.over[i]),
            None => (8, 0),
        }
    }

    #[inline]
    pub(super) fn add(&mut self, value: u64, times: usize) {
        self.over[0] += times * usize::from(value >= u64::from(u8::MAX));
        self.over[1] += times * usize::from(value >= u64::from(u16::MAX));
        self.over[2] += times * usize::from(value >= u64::from(u32::MAX));
    }

    pub(super) fn merge(mut self, other: Sizes) -> Sizes {
        for (mine, theirs) in self.over.iter_mut().zip(other.over) {
            *mine += theirs;
        }
        self
    }
}

/// A list of integers with random access.
#[derive(Debug, Clone)]
pub struct Column {
    data: Narrow,
    /// Values that do not fit; in `data` they read as the largest number.
    wide: Wide,
}

/// Integers in few bytes each; the largest number of each width but the last marks one that does not fit.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub enum Narrow {
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
}

impl Narrow {
    fn len(&self) -> usize {
        match self {
            Narrow::U8(v) => v.len(),
            Narrow::U16(v) => v.len(),
            Narrow::U32(v) => v.len(),
            Narrow::U64(v) => v.len(),
        }
    }

    /// Bytes of a value.
    fn width(&self) -> usize {
        match self {
            Narrow::U8(_) => 1,
            Narrow::U16(_) => 2,
            Narrow::U32(_) => 4,
            Narrow::U64(_) => 8,
        }
    }

    /// Whether a list contains, in order, exactly the positions marked as having their value there.
    fn lists(&self, wide: &[(usize, u64)]) -> bool {
        fn listed<T: Copy + PartialEq + Sync>(
            values: &[T],
            marker: T,
            wide: &[(usize, u64)],
        ) -> bool {
            let ascend = wide.windows(2).all(|pair| pair[0].0 < pair[1].0);
            let marks = wide
                .iter()
                .all(|&(i, _)| values.get(i).is_some_and(|value| *value == marker));
            ascend && marks && parallel::count(values.len(), |i| values[i] == marker) == wide.len()
        }
        match self {
            Narrow::U8(v) => listed(v, u8::MAX, wide),
            Narrow::U16(v) => listed(v, u16::MAX, wide),
            Narrow::U32(v) => listed(v, u32::MAX, wide),
            Narrow::U64(_) => wide.is_empty(),
        }
    }
}

impl Column {
    /// Values that were narrowed elsewhere, and those that do not fit, with their positions in any order.
    ///
    /// # Panics
    /// When other values do not fit than those that are listed.
    pub fn of(data: Narrow, mut wide: Vec<(usize, u64)>) -> Column {
        wide.sort_unstable();
        assert!(data.lists(&wide), "values that do not fit are listed");
        Column {
            wide: Wide::new(data.len(), wide),
            data,
        }
    }

    /// `len` zeros, in the width that suits values of these sizes.
    pub(super) fn zeros(len: usize, sizes: Sizes) -> Column {
        let data = match sizes.width(len).0 {
            1 => Narrow::U8(vec![0; len]),
            2 => Narrow::U16(vec![0; len]),
            4 => Narrow::U32(vec![0; len]),
            _ => Narrow::U64(vec![0; len]),
        };
        Column {
            data,
            wide: Wide::default(),
        }
    }

    /// `len` zeros, in the width of another column.
    pub(super) fn zeros_like(len: usize, other: &Column) -> Column {
        let data = match &other.data {
            Narrow::U8(_) => Narrow::U8(vec![0; len]),
            Narrow::U16(_) => Narrow::U16(vec![0; len]),
            Narrow::U32(_) => Narrow::U32(vec![0; len]),
            Narrow::U64(_) => Narrow::U64(vec![0; len]),
        };
        Column {
            data,
            wide: Wide::default(),
        }
    }

    /// The same values in the width that suits these sizes.
    pub(super) fn fitted(self, sizes: Sizes) -> Column {
        if sizes.width(self.len()).0 == self.data.width() {
            return self;
        }
        Column::gather(self.len(), |i| self.get(i))
    }

    /// The values of `len` positions, known beforehand.
    pub(super) fn collect(len: usize, value: impl Fn(usize) -> u64) -> Column {
        let mut sizes = Sizes::default();
        (0..len).for_each(|i| sizes.add(value(i), 1));
        let mut column = Column::zeros(len, sizes);
        let wide = {
            let mut part = column.parts(&[0, len]).pop().expect("one part");
            (0..len).for_each(|i| part.set(i, value(i)));
            part.wide
        };
        column.finish([wide]);
        column
    }

    /// The same, found in parallel.
    pub(super) fn gather(len: usize, value: impl Fn(usize) -> u64 + Sync) -> Column {
        const PIECE: usize = 1 << 14;
        let sizes = parallel::stretches(len, PIECE, |range| {
            range.fold(Sizes::default(), |mut sizes, i| {
                sizes.add(value(i), 1);
                sizes
            })
        });
        let mut column = Column::zeros(len, sizes.into_iter().fold(Sizes::default(), Sizes::merge));
        let bounds: Vec<usize> = (0..len).step_by(PIECE).chain([len]).collect();
        let wide = parallel::map_each(column.parts(&bounds), |at, mut part| {
            (bounds[at]..bounds[at + 1]).for_each(|i| part.set(i, value(i)));
            part.wide
        });
        column.finish(wide);
        column
    }

    /// The value at `i`.
    #[inline(always)]
    pub(super) fn get(&self, i: usize) -> u64 {
        match &self.data {
            Narrow::U8(v) if v[i] != u8::MAX => u64::from(v[i]),
            Narrow::U16(v) if v[i] != u16::MAX => u64::from(v[i]),
            Narrow::U32(v) if v[i] != u32::MAX => u64::from(v[i]),
            Narrow::U64(v) => v[i],
            _ => self.wide(i),
        }
    }

    #[cold]
    fn wide(&self, i: usize) -> u64 {
        self.wide.get(i)
    }

    /// Number of nonzeros among positions `range`.
    #[inline]
    pub(super) fn nonzeros(&self, range: std::ops::Range<usize>) -> usize {
        match &self.data {
            Narrow::U8(v) => v[range].iter().filter(|&&x| x != 0).count(),
            Narrow::U16(v) => v[range].iter().filter(|&&x| x != 0).count(),
            Narrow::U32(v) => v[range].iter().filter(|&&x| x != 0).count(),
            Narrow::U64(v) => v[range].iter().filter(|&&x| x != 0).count(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.data.len()
    }

    /// Bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        self.data.len() * self.data.width() + self.wide.bytes()
    }

    /// Writes width, number of wide values, values and wide values, little-endian.
    pub(super) fn save(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&[self.data.width() as u8])?;
        out.write_all(&(self.wide.list().len() as u64).to_le_bytes())?;
        match &self.data {
            Narrow::U8(v) => out.write_all(v)?,
            Narrow::U16(v) => save(v, u16::to_le_bytes, out)?,
            Narrow::U32(v) => save(v, u32::to_le_bytes, out)?,
            Narrow::U64(v) => save(v, u64::to_le_bytes, out)?,
        }
        self.wide.list().iter().try_for_each(|&(i, value)| {
            out.write_all(&(i as u64).to_le_bytes())?;
            out.write_all(&value.to_le_bytes())
        })
    }

    /// Reads a column of `len` values that [`Column::save`] wrote.
    pub(super) fn load(len: usize, input: &mut dyn Read) -> io::Result<Column> {
        let (mut width, mut wide) = ([0], [0; 8]);
        input.read_exact(&mut width)?;
        input.read_exact(&mut wide)?;
        let data = match width[0] {
            1 => Narrow::U8(load(len, u8::from_le_bytes, input)?),
            2 => Narrow::U16(load(len, u16::from_le_bytes, input)?),
            4 => Narrow::U32(load(len, u32::from_le_bytes, input)?),
            8 => Narrow::U64(load(len, u64::from_le_bytes, input)?),
            _ => {
                return Err(io::Error::new(
                    ErrorKind::InvalidData,
                    "this is not a column of counts",
                ));
            }
        };
        let wrong = |what| io::Error::new(ErrorKind::InvalidData, what);
        let wide = usize::try_from(u64::from_le_bytes(wide))
            .ok()
            .filter(|&wide| wide <= len);
        let wide =
            wide.ok_or_else(|| wrong("a column of counts has more wide values than values"))?;
        let pairs: Vec<u64> = load(2 * wide, u64::from_le_bytes, input)?;
        let wide: Vec<(usize, u64)> = pairs
            .chunks_exact(2)
            .map(|pair| (pair[0] as usize, pair[1]))
            .collect();
        if !data.lists(&wide) {
            return Err(wrong("a column of counts lists other wide values"));
        }
        Ok(Column {
            wide: Wide::new(len, wide),
            data,
        })
    }

    /// Disjoint ranges to be filled by several threads: part i covers `bounds[i]..bounds[i + 1]`.
    /// Return the parts to [`Column::finish`], in order.
    pub(super) fn parts(&mut self, bounds: &[usize]) -> Vec<Part<'_>> {
        let starts = bounds.iter().copied();
        match &mut self.data {
            Narrow::U8(v) => starts
                .zip(cut(v, bounds))
                .map(|(s, v)| Part::new(s, Slice::U8(v)))
                .collect(),
            Narrow::U16(v) => starts
                .zip(cut(v, bounds))
                .map(|(s, v)| Part::new(s, Slice::U16(v)))
                .collect(),
            Narrow::U32(v) => starts
                .zip(cut(v, bounds))
                .map(|(s, v)| Part::new(s, Slice::U32(v)))
                .collect(),
            Narrow::U64(v) => starts
                .zip(cut(v, bounds))
                .map(|(s, v)| Part::new(s, Slice::U64(v)))
                .collect(),
        }
    }

    /// Takes the wide values of the parts, in order.
    pub(super) fn finish(&mut self, wide: impl IntoIterator<Item = Vec<(usize, u64)>>) {
        self.wide = Wide::new(self.len(), wide.into_iter().flatten().collect());
    }
}

fn save<T: Copy, const N: usize>(
    values: &[T],
    bytes: fn(T) -> [u8; N],
    out: &mut dyn Write,
) -> io::Result<()> {
    values.chunks(1 << 16).try_for_each(|piece| {
        out.write_all(
            &piece
                .iter()
                .flat_map(|&value| bytes(value))
                .collect::<Vec<u8>>(),
        )
    })
}

fn load<T, const N: usize>(
    len: usize,
    value: fn([u8; N]) -> T,
    input: &mut dyn Read,
) -> io::Result<Vec<T>> {
    // Grows with the data: a wrong length takes no memory.
    let mut values = Vec::new();
    let mut bytes = vec![0; N << 16];
    while values.len() < len {
        let bytes = &mut bytes[..N * (len - values.len()).min(1 << 16)];
        input.read_exact(bytes)?;
        values.reserve(if values.is_empty() {
            len.min(1 << 22)
        } else {
            0
        });
        values.extend(
            bytes
                .chunks_exact(N)
                .map(|b| value(b.try_into().expect("a value's bytes"))),
        );
    }
    values.shrink_to_fit();
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_gives_the_values_back() {
        for top in [
            1u64,
            254,
            255,
            65_534,
            65_535,
            1 << 31,
            u64::from(u32::MAX),
            u64::MAX,
        ] {
            for rare in [2, 1000] {
                let value = |i: usize| {
                    if i.is_multiple_of(rare) {
                        top
                    } else {
                        i as u64 % 200
                    }
                };
                let column = Column::collect(5000, value);
                let gathered = Column::gather(5000, value);
                assert_eq!(
                    (gathered.wide.clone(), gathered.bytes()),
                    (column.wide.clone(), column.bytes())
                );
                (0..5000)
                    .for_each(|i| assert_eq!(gathered.get(i), value(i), "top {top}, every {rare}"));
                (0..5000)
                    .for_each(|i| assert_eq!(column.get(i), value(i), "top {top}, every {rare}"));
                assert_eq!(
                    column.nonzeros(0..5000),
                    (0..5000).filter(|&i| value(i) != 0).count()
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
        assert_eq!(loaded(&bytes).expect("whole").get(7), 300);
        for length in 0..bytes.len() {
            assert!(loaded(&bytes[..length]).is_err(), "cut to {length}");
        }
        // Width, number of wide values, a value that is said to be wide, the place of the wide one.
        for (at, byte) in [(0, 3), (1, 2), (8, 255), (9 + 5, 255), (9 + 600, 8)] {
            let mut other = bytes.clone();
            other[at] = byte;
            assert!(loaded(&other).is_err(), "byte {at}");
        }
    }

    #[test]
    fn a_few_hubs_do_not_widen_a_column() {
        let column = Column::collect(100_000, |i| if i == 7 { u64::MAX } else { 3 });
        assert_eq!(column.data.width(), 1);
        assert!(column.bytes() < 110_000);
    }
}
