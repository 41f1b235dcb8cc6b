//! [`Columns`]: a tall matrix as groups of columns side by side, some stored for a few rows only.
//!
//! Y of sec. 2.5 is the concatenation of the local embeddings of all motifs and steps. A rare motif
//! touches few nodes, so its group keeps only their rows; all others are zero. Products read rows
//! through a window of one chunk; Y is never copied into one block, and need not be in memory.
//!
//! Rare groups cost what they hold: the Gram matrix of the others is taken over all rows, and products
//! with rare columns over the rows that have any.

use std::ops::Range;

use faer::{Accum, MatRef};
use rayon::prelude::*;

use super::group::{Group, Window};
use super::kernels::add_product;
use super::lanes::{
    Own, by_lanes, chunk_rows, cross_parts, gram_lane, narrow, products_at_a_time, times_chunk,
};
use super::{Block, Norm, Small, Stored};
use crate::clock::{Work, timed};
use crate::error::Result;

/// A group is rare if fewer than one row in this many has values.
const RARE: usize = 8;

/// Groups of columns side by side.
#[derive(Debug, Clone)]
pub struct Columns {
    rows: usize,
    cols: usize,
    groups: Vec<Group>,
    /// The range of these rows, and the total number.
    own: Own,
}

impl From<Block> for Columns {
    fn from(block: Block) -> Self {
        Columns::new(block.rows(), vec![Group::full(block)])
    }
}

impl Columns {
    /// Joins groups of a matrix with `rows` rows.
    ///
    /// # Panics
    /// When a group has other rows.
    pub fn new(rows: usize, groups: Vec<Group>) -> Self {
        Columns::part(Own::all(rows), groups)
    }

    /// Joins groups of some rows of a larger matrix, which are whole lanes.
    ///
    /// # Panics
    /// When a group has other rows.
    pub fn part(own: Own, groups: Vec<Group>) -> Self {
        let rows = own.range.len();
        for group in &groups {
            match group.rows() {
                None => assert_eq!(group.stored_rows(), rows, "rows of a group of columns"),
                Some(stored) => assert!(
                    stored.last().is_none_or(|&row| (row as usize) < rows),
                    "a row beyond {rows}"
                ),
            }
        }
        let cols = groups.iter().map(Group::cols).sum();
        Columns {
            rows,
            cols,
            groups,
            own,
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The range of these rows, and the total number.
    pub fn own(&self) -> &Own {
        &self.own
    }

    /// Number of columns of all groups.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The groups, left to right.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The groups, left to right, by value.
    pub fn into_groups(self) -> Vec<Group> {
        self.groups
    }

    /// Whether a group has values in so few rows that others are not read for its sake.
    pub fn is_rare(&self, group: &Group) -> bool {
        group.rows().is_some() && group.whole_rows() < self.own.rows / RARE
    }

    /// Rows that have values in a rare group, ascending.
    pub fn rare_rows(&self) -> Vec<u32> {
        let mut seen = vec![false; self.rows];
        let rare = self.groups.iter().filter(|group| self.is_rare(group));
        let rows = rare.filter_map(Group::rows).flatten();
        rows.for_each(|&row| seen[row as usize] = true);
        (0..)
            .zip(seen)
            .filter(|(_, seen)| *seen)
            .map(|(row, _)| row)
            .collect()
    }

    /// The squared length of each column.
    pub fn column_energy(&self) -> Vec<f64> {
        let of = |group: &Group| group.column_norms(Norm::L2);
        self.groups
            .iter()
            .flat_map(of)
            .map(|norm| norm * norm)
            .collect()
    }

    /// Fails if values in a file could not be read, once for each failure.
    pub fn check(&self) -> Result<()> {
        self.groups.iter().try_for_each(Group::check)
    }

    /// Bytes in memory.
    pub fn memory(&self) -> usize {
        self.groups.iter().map(Group::memory).sum()
    }

    /// Number of stored values.
    pub fn stored(&self) -> usize {
        self.groups
            .iter()
            .map(|group| group.stored_rows() * group.cols())
            .sum()
    }

    /// Rows whose entries are all zero, ascending.
    pub fn zero_rows(&self) -> Vec<usize> {
        let rows: Vec<usize> = (0..self.rows).collect();
        let zero = self.map_rows(&rows, |_, row| row.iter().all(|&x| x == 0.0));
        let rows = rows.into_iter().zip(zero).filter(|(_, zero)| *zero);
        rows.map(|(row, _)| row).collect()
    }

    /// The results of `of` on some rows, ascending; pieces that contain any of them are read completely.
    pub fn map_rows<T: Send>(
        &self,
        rows: &[usize],
        of: impl Fn(usize, &[f32]) -> T + Sync,
    ) -> Vec<T> {
        let chunk = chunk_rows(self.cols);
        let pieces: Vec<&[usize]> = rows.chunk_by(|a, b| a / chunk == b / chunk).collect();
        let start = || (self.window(), Vec::new());
        let found = pieces
            .into_par_iter()
            .map_init(start, |(window, values), piece| {
                let range = piece[0]..piece[piece.len() - 1] + 1;
                values.resize(range.len() * self.cols, 0.0);
                window.read(&range, values, |value| value);
                let of = |&i: &usize| of(i, &values[(i - range.start) * self.cols..][..self.cols]);
                piece.iter().map(of).collect::<Vec<T>>()
            });
        found.flatten_iter().collect()
    }

    /// Writes row `i` into `to`, without reading ahead; for rows in any order.
    pub fn read_row(&self, i: usize, to: &mut [f32]) {
        let mut rest = to;
        for group in &self.groups {
            let (own, others) = rest.split_at_mut(group.cols());
            rest = others;
            match group.stored_row(i) {
                Some(stored) => group.read(stored..stored + 1, own),
                None => own.fill(0.0),
            }
        }
    }

    /// All in one block: the only one, if it has all rows, else a copy.
    pub fn into_block(mut self) -> Block {
        if self.groups.len() == 1 {
            match self.groups.remove(0).into_whole() {
                Ok(block) => return block,
                Err(group) => self.groups.push(group),
            }
        }
        self.to_block()
    }

    /// All in one block.
    pub fn to_block(&self) -> Block {
        let mut out = Block::zeros(self.rows, self.cols);
        self.for_chunks(self.cols, out.as_mut_slice(), || {
            let mut window = self.window();
            move |range, to: &mut [f32]| window.read(&range, to, |value| value)
        });
        out
    }

    /// The Gram matrix YᵀY of the rows present.
    pub fn gram(&self) -> Small {
        let mut sum = Small::zeros(self.cols, self.cols);
        self.gram_parts(&self.own, |part| sum.add(&part));
        sum
    }

    /// Partial sums of YᵀY, one for each of some of the lanes present; added in order, they are the Gram matrix.
    pub fn gram_parts(&self, own: &Own, mut add: impl FnMut(Small)) {
        let share = own.range.len() as f64 / self.rows.max(1) as f64;
        let bytes = 4.0 * self.stored() as f64 * share;
        timed(Work::Gram, bytes as u64, || {
            self.parts_of_gram(own, &mut add);
        });
    }

    fn parts_of_gram(&self, own: &Own, add: &mut dyn FnMut(Small)) {
        if self.cols == 0 {
            return;
        }
        let (parts, rare_rows) = (Parts::of(self), self.rare_rows());
        let lane = |lane: Range<usize>| {
            let lane = lane.start - self.own.range.start..lane.end - self.own.range.start;
            let mut window = Window::new(parts.often.iter().copied());
            let often = gram_lane(&lane, parts.wide, |range, wide| {
                window.read(&range, wide, f64::from);
            });
            if parts.rare.is_empty() {
                return often;
            }
            let below = |end: usize| rare_rows.partition_point(|&row| (row as usize) < end);
            let mixed = self.rare_products(&parts, &rare_rows[below(lane.start)..below(lane.end)]);
            // Entry (i, j), i ≥ j, in the order of the parts.
            let lower = |i: usize, j: usize| match i.checked_sub(parts.wide) {
                None => often.get(i, j),
                Some(i) => mixed.get(i, j),
            };
            Small::from_fn(self.cols, self.cols, |i, j| {
                let (i, j) = (parts.place[i], parts.place[j]);
                lower(i.max(j), i.min(j))
            })
        };
        let at_a_time = products_at_a_time(own.rows, self.cols, self.cols);
        by_lanes(own, at_a_time, lane, add);
    }

    /// Products of the rare columns with all columns, in the order of the parts, over some rows.
    fn rare_products(&self, parts: &Parts, rows: &[u32]) -> Small {
        let (rare, all) = (self.cols - parts.wide, self.cols);
        let mut sum = Small::zeros(rare, all);
        if rare == 0 || rows.is_empty() {
            return sum;
        }
        let chunk = chunk_rows(all);
        let mut window = Window::new(parts.often.iter().chain(&parts.rare).copied());
        let mut wide = vec![0.0; chunk.min(rows.len()) * all];
        for some in rows.chunks(chunk) {
            for (&i, to) in some.iter().zip(wide.chunks_exact_mut(all)) {
                window.read(&(i as usize..i as usize + 1), to, f64::from);
            }
            let x = MatRef::from_row_major_slice(&wide[..some.len() * all], some.len(), all);
            let own = x.subcols(parts.wide, rare).transpose();
            add_product(sum.as_faer_mut(), 1.0, own, x);
        }
        sum
    }

    /// Y·M for a small matrix M.
    pub fn times(&self, matrix: &Small) -> Block {
        self.rows_times(0..self.rows, matrix)
    }

    /// Some rows of Y·M.
    pub fn rows_times(&self, rows: Range<usize>, matrix: &Small) -> Block {
        assert_eq!(self.cols, matrix.rows(), "inner sizes of a product");
        let share = rows.len() as f64 / self.rows.max(1) as f64;
        let bytes = 4.0 * (self.stored() as f64 * share + (rows.len() * matrix.cols()) as f64);
        timed(Work::Combine, bytes as u64, || {
            self.times_untimed(rows, matrix)
        })
    }

    fn times_untimed(&self, rows: Range<usize>, matrix: &Small) -> Block {
        let (b, first) = (matrix.cols(), rows.start);
        let mut out = Block::zeros(rows.len(), b);
        if self.cols == 0 {
            return out;
        }
        let parts = Parts::of(self);
        let (mut factor, rows) = (vec![0.0; self.cols * b], narrow(matrix));
        for (&to, row) in parts.place.iter().zip(rows.chunks_exact(b.max(1))) {
            factor[to * b..(to + 1) * b].copy_from_slice(row);
        }
        let (wide, factor, parts) = (parts.wide, &factor, &parts);
        self.for_chunks(b, out.as_mut_slice(), || {
            let mut often = Window::new(parts.often.iter().copied());
            let mut rare = Window::new(parts.rare.iter().copied());
            let mut rows = Vec::new();
            move |range, to: &mut [f32]| {
                let range = first + range.start..first + range.end;
                if wide > 0 {
                    rows.resize(range.len() * wide, 0.0);
                    often.read(&range, &mut rows, |value| value);
                    times_chunk(&rows, &factor[..wide * b], wide, b, to, Accum::Replace);
                }
                rare.each(&range, |i, at, values| {
                    let to = &mut to[(i - range.start) * b..][..b];
                    for (value, row) in values.iter().zip(factor[(wide + at) * b..].chunks_exact(b))
                    {
                        to.iter_mut().zip(row).for_each(|(to, x)| *to += value * x);
                    }
                });
            }
        });
        out
    }

    /// YᵀX for a block X of as many rows.
    pub fn cross(&self, other: &Block) -> Small {
        assert_eq!(self.rows, other.rows(), "rows of a cross product");
        let (a, b) = (self.cols, other.cols());
        let read = || {
            let mut window = self.window();
            move |range: Range<usize>, left: &mut [f64], right: &mut [f64]| {
                window.read(&range, left, f64::from);
                right
                    .iter_mut()
                    .zip(other.rows_slice(range))
                    .for_each(|(to, &x)| *to = f64::from(x));
            }
        };
        let mut sum = Small::zeros(a, b);
        cross_parts(&Own::all(self.rows), a, b, read, |part| sum.add(&part));
        sum
    }

    fn window(&self) -> Window<'_> {
        Window::new(&self.groups)
    }

    /// Cuts an output of `width` columns into chunks of rows, in parallel; `start` makes what fills chunks.
    fn for_chunks<F: FnMut(Range<usize>, &mut [f32])>(
        &self,
        width: usize,
        out: &mut [f32],
        start: impl Fn() -> F + Sync + Send,
    ) {
        if width == 0 {
            return;
        }
        let chunk = chunk_rows(width.max(self.cols));
        out.par_chunks_mut(chunk * width)
            .enumerate()
            .for_each_init(start, |fill, (index, to)| {
                let first = index * chunk;
                fill(first..first + to.len() / width, to);
            });
    }
}

/// The groups of a matrix, rare ones apart.
struct Parts<'a> {
    often: Vec<&'a Group>,
    rare: Vec<&'a Group>,
    /// Columns of the groups that are not rare.
    wide: usize,
    /// For each column of the matrix, its place when rare groups come last.
    place: Vec<usize>,
}

impl<'a> Parts<'a> {
    fn of(columns: &'a Columns) -> Self {
        let is_rare = |group: &Group| columns.is_rare(group);
        let width = |groups: &[&Group]| groups.iter().map(|group| group.cols()).sum();
        let (rare, often): (Vec<&Group>, Vec<&Group>) =
            columns.groups.iter().partition(|group| is_rare(group));
        let wide = width(&often);
        let (mut next, mut next_rare) = (0, wide);
        let mut place = Vec::with_capacity(columns.cols);
        for group in &columns.groups {
            let next = if is_rare(group) {
                &mut next_rare
            } else {
                &mut next
            };
            place.extend(*next..*next + group.cols());
            *next += group.cols();
        }
        Parts {
            often,
            rare,
            wide,
            place,
        }
    }
}
