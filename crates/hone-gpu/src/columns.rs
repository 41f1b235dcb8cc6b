//! Gram matrix of Y and products with it, on the device (`kernels/columns.cu`).
//!
//! Columns kept on the device are used in place, others are copied there. A rare motif has values in few rows: the Gram
//! matrix of the others is taken over all rows, and products with rare columns only over the rows that have any. If not
//! all of Y fits on the device, this process does the work.
//!
//! Rows that are picked, and products with logarithms of inner products, on the device.
//!
//! Stretches of rows are multiplied with the landmarks, replaced by their logarithms, and multiplied with the small matrix, by the
//! kernel that finds Z: three passes over a stretch that the device's cache holds in part.

use std::ops::{Deref, Range};
use std::rc::Rc;

use hone::dense::{Block, Columns, Group, Logs, Small, Stored};
use hone::space::{Fold, Map, Space, panels, signs};
use hone::sparse::Diagonal;
use hone_base::clock::{Work, timed};

use crate::Cuda;
use crate::counting::THREADS;
use crate::driver::{Arg, Memory, NULL};
use crate::engine::Kept;
use crate::space::SIDE;
use crate::space::{Panel, count, number, wide};

/// A group is rare if fewer than one row in this many has values.
const RARE: usize = 8;

/// Rows and columns of a product that a block computes.
const TILE: (usize, usize) = (64, 128);

/// Copies of Y, and rows of a product, may take this fraction of the free memory: one part in so many.
const PART: u64 = 3;

/// A panel of columns of Y.
struct Source<'a> {
    panel: Held<'a>,
    /// The position of each row, for panels with values in only some rows.
    place: Option<Rc<Memory<u32>>>,
    /// Its first column in Y, and the factor of all values.
    first: usize,
    factor: f64,
    rare: bool,
}

/// Words that describe some columns.
const WORDS: usize = 4;

/// Columns side by side, described as a kernel reads them.
pub(crate) struct Described {
    words: Memory<u64>,
    count: usize,
}

/// At most 32 columns at an address, whose rows are `stride` values apart, at the places given (0: in order): the first of them
/// in the matrix that they are part of, and how many there are.
///
/// # Panics
/// When there are more.
pub(crate) fn described(
    address: u64,
    place: u64,
    (first, cols): (usize, usize),
    stride: usize,
) -> [u64; WORDS] {
    assert!(cols <= SIDE, "panels have at most {SIDE} columns");
    [
        address,
        place,
        cols as u64 | (first as u64) << 32,
        stride as u64,
    ]
}

/// A panel that the device keeps for somebody, or a copy.
enum Held<'a> {
    Kept(&'a Panel),
    Copied(Panel),
}

impl Deref for Held<'_> {
    type Target = Panel;

    fn deref(&self) -> &Panel {
        match self {
            Held::Kept(panel) => panel,
            Held::Copied(panel) => panel,
        }
    }
}

impl Cuda {
    /// YᵀY.
    pub(crate) fn gram_of_columns(&self, y: &Columns) -> Small {
        let Some(sources) = self.sources(y) else {
            return y.gram();
        };
        timed(Work::Gram, 4 * y.stored() as u64, || {
            self.gram_of_sources(y, &sources)
        })
    }

    /// Y·M.
    pub(crate) fn product_of_columns(&self, y: &Columns, matrix: &Small) -> Block {
        let Some(sources) = self.sources(y) else {
            return y.times(matrix);
        };
        let bytes = 4 * (y.stored() + y.rows() * matrix.cols()) as u64;
        timed(Work::Combine, bytes, || {
            self.projected(y, &sources, matrix, false).0
        })
    }

    /// Y·M with the signs of its columns normalised, and the signs.
    pub(crate) fn signed_product(&self, y: &Columns, matrix: &Small) -> (Block, Vec<f64>) {
        let Some(sources) = self.sources(y) else {
            let mut x = y.times(matrix);
            let signs = signs(&x.column_extremes());
            x.scale_columns(&signs);
            return (x, signs);
        };
        let bytes = 4 * (y.stored() + y.rows() * matrix.cols()) as u64;
        timed(Work::Combine, bytes, || {
            self.projected(y, &sources, matrix, true)
        })
    }

    /// The panels of Y, on the device; none if they do not fit.
    fn sources<'a>(&self, y: &'a Columns) -> Option<Vec<Source<'a>>> {
        let copied = y.groups().iter().filter(|group| self.kept(group).is_none());
        let bytes: usize = copied
            .map(|group| 4 * group.stored_rows() * group.cols())
            .sum();
        if !y.own().is_all() || bytes as u64 > self.free_memory().ok()? / PART {
            return None;
        }
        let (mut sources, mut first) = (Vec::new(), 0);
        for group in y.groups() {
            let place = group
                .rows()
                .map(|rows| Rc::new(self.places(y.rows(), rows)));
            let rare = place.is_some() && group.stored_rows() < y.rows() / RARE;
            let (held, factor): (Vec<Held>, f64) = match self.kept(group) {
                Some((kept, factor)) => (kept.panels.iter().map(Held::Kept).collect(), factor),
                None => (
                    self.copied_panels(group)
                        .into_iter()
                        .map(Held::Copied)
                        .collect(),
                    1.0,
                ),
            };
            for panel in held.into_iter().filter(|panel| panel.cols > 0) {
                let cols = panel.cols;
                sources.push(Source {
                    panel,
                    place: place.clone(),
                    first,
                    factor,
                    rare,
                });
                first += cols;
            }
        }
        Some(sources)
    }

    /// The part of a group that is on this device.
    fn kept<'a>(&self, group: &'a Group) -> Option<(&'a Kept, f64)> {
        let (stored, factor) = group.elsewhere()?;
        let kept = stored.as_any()?.downcast_ref::<Kept>()?;
        kept.is_on(self).then_some((kept, factor))
    }

    /// A copy of a group.
    fn copied_panels(&self, group: &Group) -> Vec<Panel> {
        let (rows, cols) = (group.stored_rows(), group.cols());
        let whole = match group.block() {
            Some(block) => self.driver.upload(block.as_slice()),
            None => {
                let mut values = vec![0.0f32; rows * cols];
                group.read(0..rows, &mut values);
                self.driver.upload(&values)
            }
        };
        let ranges = panels(cols);
        if ranges.len() == 1 {
            return vec![Panel::new(rows, cols, whole)];
        }
        let take = |range: Range<usize>| {
            let panel = self.panel(rows, range.len());
            let from = [
                wide(panel.len()),
                panel.width(),
                count(cols),
                count(range.start),
            ];
            let args = [&from[..], &[whole.address(), panel.address()]].concat();
            self.start("take_columns", panel.len().div_ceil(THREADS), &args);
            panel
        };
        ranges.into_iter().map(take).collect()
    }

    /// The index of each of `all` rows in `rows`.
    fn places(&self, all: usize, rows: &[u32]) -> Memory<u32> {
        let (place, numbers) = (self.driver.reserve::<u32>(all), self.driver.upload(rows));
        self.start(
            "fill_none",
            all.div_ceil(THREADS),
            &[wide(all), place.address()],
        );
        let args = [wide(rows.len()), numbers.address(), place.address()];
        self.start("mark_rows", rows.len().div_ceil(THREADS), &args);
        place
    }

    /// Some or all rows of a panel; zeros for rows it does not have.
    fn gathered(
        &self,
        panel: &Panel,
        rows: (Option<&Memory<u32>>, usize),
        place: Option<&Memory<u32>>,
    ) -> Panel {
        let (wanted, length) = rows;
        let out = self.panel(length, panel.cols);
        let [wanted, place] = [wanted, place].map(|memory| memory.map_or(NULL, Memory::address));
        let args = [
            wide(out.len()),
            out.width(),
            wanted,
            place,
            panel.address(),
            out.address(),
        ];
        self.start("gather_rows", out.len().div_ceil(THREADS), &args);
        out
    }

    fn gram_of_sources(&self, y: &Columns, sources: &[Source<'_>]) -> Small {
        let mut gram = Small::zeros(y.cols(), y.cols());
        // Columns of panels side by side, with their position in Y and their factor.
        let placed = |of: &[&Source<'_>]| -> Vec<(usize, f64)> {
            of.iter()
                .flat_map(|s| (s.first..s.first + s.panel.cols).map(|column| (column, s.factor)))
                .collect()
        };
        let (rare, often): (Vec<&Source<'_>>, Vec<&Source<'_>>) =
            sources.iter().partition(|source| source.rare);
        let whole = |source: &&Source<'_>| {
            source
                .place
                .as_deref()
                .map(|place| self.gathered(&source.panel, (None, y.rows()), Some(place)))
        };
        let expanded: Vec<Option<Panel>> = often.iter().map(whole).collect();
        let panels: Vec<&Panel> = often
            .iter()
            .zip(&expanded)
            .map(|(source, whole)| whole.as_ref().unwrap_or(&source.panel))
            .collect();
        let (found, columns) = (self.gram_among(&panels), placed(&often));
        for (i, &(a, p)) in columns.iter().enumerate() {
            columns
                .iter()
                .enumerate()
                .for_each(|(j, &(b, q))| gram.set(a, b, p * q * found.get(i, j)));
        }
        if rare.is_empty() {
            return gram;
        }
        let union = rare_rows(y);
        let length = union.len();
        let union = self.driver.upload(&union);
        let own: Vec<Panel> = rare
            .iter()
            .map(|source| {
                self.gathered(
                    &source.panel,
                    (Some(&union), length),
                    source.place.as_deref(),
                )
            })
            .collect();
        let others: Vec<Panel> = panels
            .iter()
            .map(|panel| self.gathered(panel, (Some(&union), length), None))
            .collect();
        let (own, all): (Vec<&Panel>, Vec<&Panel>) =
            (own.iter().collect(), own.iter().chain(&others).collect());
        let found = self.cross_of(&own, &all);
        let (down, across) = (placed(&rare), [placed(&rare), columns].concat());
        for (i, &(a, p)) in down.iter().enumerate() {
            for (j, &(b, q)) in across.iter().enumerate() {
                gram.set(a, b, p * q * found.get(i, j));
                gram.set(b, a, p * q * found.get(i, j));
            }
        }
        gram
    }

    /// Y·M; with `signed`, the entry of largest absolute value in each column is made positive, and the signs
    /// are returned.
    fn projected(
        &self,
        y: &Columns,
        sources: &[Source<'_>],
        matrix: &Small,
        signed: bool,
    ) -> (Block, Vec<f64>) {
        let (rows, b) = (y.rows(), matrix.cols());
        let mut out = Block::zeros(rows, b);
        let mut signs_found = vec![1.0; b];
        if rows * b == 0 || sources.is_empty() {
            return (out, signs_found);
        }
        let room = self.free_memory().unwrap_or(0) / PART / (4 * b as u64);
        let each = usize::try_from(room).unwrap_or(rows).max(TILE.0).min(rows);
        let starts: Vec<usize> = (0..rows).step_by(each).collect();
        let described = self.described(sources);
        let mut scaled = self.scaled_matrix(sources, matrix, &signs_found);
        let some = |first: usize, m: &Memory<f32>| {
            let panel = self.panel(each.min(rows - first), b);
            self.project(first, &described, m, &panel);
            panel
        };
        let mut only = (starts.len() == 1).then(|| some(0, &scaled));
        if signed {
            let mut extremes = vec![0.0f64; b];
            for &first in &starts {
                let found = match &only {
                    Some(panel) => self.folded(panel, Fold::Extreme),
                    None => self.folded(&some(first, &scaled), Fold::Extreme),
                };
                // In case of a tie, the first row counts.
                let more = extremes
                    .iter_mut()
                    .zip(found)
                    .filter(|(most, own)| own.abs() > most.abs());
                more.for_each(|(most, own)| *most = own);
            }
            signs_found = signs(&extremes);
            match &mut only {
                Some(panel) => self.map(std::slice::from_mut(panel), &Map::Scale(&signs_found)),
                None => scaled = self.scaled_matrix(sources, matrix, &signs_found),
            }
        }
        for (&first, to) in starts.iter().zip(out.as_mut_slice().chunks_mut(each * b)) {
            let panel = only.take().unwrap_or_else(|| some(first, &scaled));
            self.driver.download(&panel.values, to);
        }
        (out, signs_found)
    }

    /// Some columns side by side times a small matrix: rows from `first` on, as many as `out` has.
    pub(crate) fn project(&self, first: usize, of: &Described, matrix: &Memory<f32>, out: &Panel) {
        let from = [
            wide(first),
            wide(out.rows),
            of.words.address(),
            count(of.count),
        ];
        let args = [&from, &[matrix.address(), out.width(), out.address()][..]].concat();
        let blocks = (out.rows.div_ceil(TILE.0), out.cols.div_ceil(TILE.1));
        self.driver.launch(
            self.programs.kernel("project"),
            blocks,
            THREADS as u32,
            &args,
        );
    }

    /// The sources as a kernel reads them.
    fn described(&self, sources: &[Source<'_>]) -> Described {
        let words = |source: &Source<'_>| {
            let place = source
                .place
                .as_ref()
                .map_or(0, |place| number(place.address()));
            described(
                number(source.panel.address()),
                place,
                (source.first, source.panel.cols),
                source.panel.cols,
            )
        };
        self.describe(sources.iter().map(words))
    }

    /// Columns as a kernel reads them: see [`described`].
    pub(crate) fn describe(&self, columns: impl Iterator<Item = [u64; WORDS]>) -> Described {
        let words: Vec<u64> = columns.flatten().collect();
        Described {
            count: words.len() / WORDS,
            words: self.driver.upload(&words),
        }
    }

    /// A small matrix with the factors of the sources and the signs of its columns.
    fn scaled_matrix(&self, sources: &[Source<'_>], matrix: &Small, signs: &[f64]) -> Memory<f32> {
        let b = matrix.cols();
        let mut scaled = vec![0.0f32; matrix.rows() * b];
        for source in sources {
            for k in source.first..source.first + source.panel.cols {
                (0..b).for_each(|j| {
                    scaled[k * b + j] = (source.factor * signs[j] * matrix.get(k, j)) as f32;
                });
            }
        }
        self.driver.upload(&scaled)
    }
}

/// Rows that have values in a rare group, ascending.
fn rare_rows(y: &Columns) -> Vec<u32> {
    let mut seen = vec![false; y.rows()];
    let rare = y
        .groups()
        .iter()
        .filter(|group| group.stored_rows() < y.rows() / RARE);
    rare.filter_map(|group| group.rows())
        .flatten()
        .for_each(|&row| seen[row as usize] = true);
    (0..y.rows() as u32)
        .filter(|&row| seen[row as usize])
        .collect()
}

/// Values of a stretch: logarithms and results.
const STRETCH: usize = 1 << 25;

impl Cuda {
    /// Some rows of all panels, in the memory of this process.
    pub(crate) fn picked(&self, x: &[Panel], rows: &[usize]) -> Block {
        let cols = x.iter().map(|panel| panel.cols).sum();
        let mut out = Block::zeros(rows.len(), cols);
        let numbers: Vec<u32> = rows
            .iter()
            .map(|&row| u32::try_from(row).expect("a row"))
            .collect();
        let (numbers, mut first) = (self.driver.upload(&numbers), 0);
        for panel in x.iter().filter(|panel| panel.cols > 0) {
            let values = match &panel.aside {
                Some(values) => rows
                    .iter()
                    .flat_map(|&row| &values[row * panel.cols..][..panel.cols])
                    .copied()
                    .collect(),
                None => {
                    let some = self.panel(rows.len(), panel.cols);
                    let of = [numbers.address(), NULL, panel.address(), some.address()];
                    let args = [&[wide(some.len()), some.width()], &of[..]].concat();
                    self.start("gather_rows", some.len().div_ceil(THREADS), &args);
                    let mut values = vec![0.0; some.len()];
                    self.driver.download(&some.values, &mut values);
                    values
                }
            };
            for (k, from) in values.chunks_exact(panel.cols).enumerate() {
                out.row_mut(k)[first..first + panel.cols].copy_from_slice(from);
            }
            first += panel.cols;
        }
        out
    }

    /// L·M for the logarithms L of X.
    pub(crate) fn logs_times(
        &self,
        x: &[Panel],
        (factors, logs): (&Diagonal, Logs),
        matrix: &Small,
        widths: &[usize],
    ) -> Vec<Panel> {
        let (rows, marks, b) = (x[0].rows, logs.scales.len(), matrix.cols());
        assert_eq!(
            (matrix.rows(), widths.iter().sum::<usize>()),
            (marks, b),
            "shapes of a product with logarithms"
        );
        let out: Vec<Panel> = widths
            .iter()
            .map(|&cols| Panel::new(rows, cols, self.driver.zeros(rows * cols)))
            .collect();
        if rows * marks * b == 0 {
            return out;
        }
        let [landmarks, turn] = [
            transposed(logs.landmarks),
            matrix.as_slice().iter().map(|&m| m as f32).collect(),
        ];
        let (landmarks, turn) = (self.driver.upload(&landmarks), self.driver.upload(&turn));
        let (factors, scales) = (
            self.resident.diagonal(&self.driver, factors),
            self.driver.upload(logs.scales),
        );
        let each = (STRETCH / (marks + b)).clamp(1, rows);
        for first in (0..rows).step_by(each) {
            let length = each.min(rows - first);
            let (own, product) = (self.panel(length, marks), self.panel(length, b));
            self.project_panels(x, first, &landmarks, &own);
            let of_rows = Arg::Wide(number(factors.address()) + 4 * first as u64);
            let args = [
                wide(own.len()),
                own.width(),
                of_rows,
                scales.address(),
                own.address(),
            ];
            self.start("logs_above_one", own.len().div_ceil(THREADS), &args);
            let parts = panels(marks).into_iter();
            let place = |range: &Range<usize>| number(own.address()) + 4 * range.start as u64;
            let parts = self.describe(
                parts.map(|range| described(place(&range), 0, (range.start, range.len()), marks)),
            );
            self.project(0, &parts, &turn, &product);
            self.spread(&product, first, &out);
        }
        out
    }

    /// X·M of rows from `first` on, as many as `out` has; X may be aside.
    fn project_panels(&self, x: &[Panel], first: usize, matrix: &Memory<f32>, out: &Panel) {
        if x.iter().all(|panel| panel.aside.is_none()) {
            return self.project(
                first,
                &self.describe(columns_of(x).into_iter()),
                matrix,
                out,
            );
        }
        let some = |panel: &Panel| {
            let values = panel
                .aside
                .as_ref()
                .map(|values| &values[first * panel.cols..][..out.rows * panel.cols]);
            let values = match values {
                Some(values) => self.driver.upload(values),
                None => {
                    let (part, own) = (self.driver.reserve(out.rows * panel.cols), panel.width());
                    let from = Arg::Wide(number(panel.address()) + 4 * (first * panel.cols) as u64);
                    let args = [
                        wide(out.rows * panel.cols),
                        own,
                        own,
                        count(0),
                        from,
                        part.address(),
                    ];
                    self.start(
                        "take_columns",
                        (out.rows * panel.cols).div_ceil(THREADS),
                        &args,
                    );
                    part
                }
            };
            Panel::new(out.rows, panel.cols, values)
        };
        let some: Vec<Panel> = x.iter().map(some).collect();
        self.project(
            0,
            &self.describe(columns_of(&some).into_iter()),
            matrix,
            out,
        );
    }

    /// XᵀY, panel by panel, of panels that are aside.
    pub(crate) fn cross_with_aside(&self, x: &[Panel], y: &[Panel]) -> Small {
        let cols = |side: &[Panel]| side.iter().map(|panel| panel.cols).sum();
        let (mut cross, mut first) = (Small::zeros(cols(x), cols(y)), 0);
        let y: Vec<&Panel> = y.iter().collect();
        for panel in x {
            let back = panel
                .aside
                .as_ref()
                .map(|values| Panel::new(panel.rows, panel.cols, self.driver.upload(values)));
            let part = self.cross_of(&[back.as_ref().unwrap_or(panel)], &y);
            for (i, j) in (0..part.rows()).flat_map(|i| (0..part.cols()).map(move |j| (i, j))) {
                cross.set(first + i, j, part.get(i, j));
            }
            first += panel.cols;
        }
        cross
    }

    /// X ← X·M, some rows at a time: all of them at once would take the memory of X once more.
    pub(crate) fn transform_in_place(&self, x: &[Panel], matrix: &Small) {
        let (rows, cols) = (x[0].rows, matrix.cols());
        let width: usize = x.iter().map(|panel| panel.cols).sum();
        assert_eq!(
            (matrix.rows(), matrix.cols()),
            (width, width),
            "a square matrix as wide as its panels"
        );
        assert!(
            x.iter().all(|panel| panel.rows == rows),
            "rows of panels side by side"
        );
        if rows * cols == 0 {
            return;
        }
        let factors: Vec<f32> = matrix
            .as_slice()
            .iter()
            .map(|&value| value as f32)
            .collect();
        let (factors, from) = (
            self.driver.upload(&factors),
            self.describe(columns_of(x).into_iter()),
        );
        let each = (STRETCH / cols).clamp(1, rows);
        for first in (0..rows).step_by(each) {
            let product = self.panel(each.min(rows - first), cols);
            self.project(first, &from, &factors, &product);
            self.spread(&product, first, x);
        }
    }

    /// Copies columns of a product to panels, to rows from `first` on.
    fn spread(&self, product: &Panel, first: usize, out: &[Panel]) {
        let mut column = 0;
        for panel in out.iter().filter(|panel| panel.cols > 0) {
            let to = Arg::Wide(number(panel.address()) + 4 * (first * panel.cols) as u64);
            let values = product.rows * panel.cols;
            let args = [
                wide(values),
                panel.width(),
                product.width(),
                count(column),
                product.address(),
                to,
            ];
            self.start("take_columns", values.div_ceil(THREADS), &args);
            column += panel.cols;
        }
    }
}

/// All panels side by side.
fn columns_of(x: &[Panel]) -> Vec<[u64; 4]> {
    let mut first = 0;
    let mut place = |panel: &Panel| {
        let own = described(number(panel.address()), 0, (first, panel.cols), panel.cols);
        first += panel.cols;
        own
    };
    x.iter()
        .filter(|panel| panel.cols > 0)
        .map(&mut place)
        .collect()
}

/// One row per column.
fn transposed(block: &Block) -> Vec<f32> {
    let mut out = vec![0.0; block.rows() * block.cols()];
    for i in 0..block.rows() {
        block
            .row(i)
            .iter()
            .enumerate()
            .for_each(|(j, &value)| out[j * block.rows() + i] = value);
    }
    out
}
