//! [`Part`]: a range of a column that one thread fills.

/// Splits a slice at the inner bounds, so that threads can fill the pieces.
pub(in super::super) fn cut<'a, T>(mut data: &'a mut [T], bounds: &[usize]) -> Vec<&'a mut [T]> {
    let mut pieces = Vec::with_capacity(bounds.len().saturating_sub(1));
    for pair in bounds.windows(2) {
        let (piece, rest) = data.split_at_mut(pair[1] - pair[0]);
        pieces.push(piece);
        data = rest;
    }
    pieces
}

/// A range of a column under construction.
pub(in super::super) struct Part<'a> {
    start: usize,
    slice: Slice<'a>,
    /// Values that did not fit.
    pub(in super::super) wide: Vec<(usize, u64)>,
}

pub(super) enum Slice<'a> {
    U8(&'a mut [u8]),
    U16(&'a mut [u16]),
    U32(&'a mut [u32]),
    U64(&'a mut [u64]),
}

impl<'a> Part<'a> {
    pub(super) fn new(start: usize, slice: Slice<'a>) -> Self {
        Part {
            start,
            slice,
            wide: Vec::new(),
        }
    }

    /// Sets the value at position `i` of the column; positions must ascend.
    #[inline]
    pub(in super::super) fn set(&mut self, i: usize, value: u64) {
        let at = i - self.start;
        let fits = match &mut self.slice {
            Slice::U8(v) => put(&mut v[at], value, u8::MAX),
            Slice::U16(v) => put(&mut v[at], value, u16::MAX),
            Slice::U32(v) => put(&mut v[at], value, u32::MAX),
            Slice::U64(v) => {
                v[at] = value;
                true
            }
        };
        if !fits {
            self.wide.push((i, value));
        }
    }
}

/// Stores `value`, or `max` if it does not fit below it, and returns which.
#[inline]
fn put<T: TryFrom<u64> + Copy + PartialEq>(place: &mut T, value: u64, max: T) -> bool {
    match T::try_from(value) {
        Ok(narrow) if narrow != max => {
            *place = narrow;
            true
        }
        _ => {
            *place = max;
            false
        }
    }
}
