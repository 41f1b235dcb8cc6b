//! Gram matrix of Y and products with it, picked rows, and products with logarithms, on the device (`kernels/columns.cu`).
//!
//! Columns of Y kept on the device are used in place, others are copied there. A rare motif has values in few rows: the
//! Gram matrix of the others is taken over all rows, and products with rare columns only over the rows that have any. If
//! not all of Y fits on the device, this process does the work.
//!
//! For logarithms of inner products, stretches of rows are multiplied with the landmarks, replaced by their logarithms, and
//! multiplied with the small matrix, by the kernel that finds Z: three passes over a stretch that the device's cache holds
//! in part.

use std::sync::Arc;

use hone::dense::{Block, Columns, Group, Logs, Small, Stored};
use hone::space::{Space, panels};
use hone::sparse::Diagonal;
use hone_base::clock::{Work, timed};

use crate::driver::{Memory, args};
use crate::engine::Kept;
use crate::space::{Panel, SIDE, width};
use crate::{Cuda, THREADS};

/// Rows and columns of a product that a block computes.
const TILE: (usize, usize) = (64, 128);

/// Copies of Y, and rows of a product, may take this fraction of the free memory: one part in so many.
const PART: u64 = 3;

/// Values of a stretch: logarithms and results.
const STRETCH: usize = 1 << 25;

/// A panel of columns of Y.
struct Source {
    panel: Arc<Panel>,
    /// The position of each row, for panels with values in only some rows.
    place: Option<Arc<Memory<u32>>>,
    /// Its first column in Y, and the factor of all values.
    first: usize,
    factor: f64,
    rare: bool,
}

/// Some columns side by side with others, as the kernel reads them: at most 32 columns at an address, whose rows are `stride`
/// values apart, at the places given (0: in order), and the first of them in the matrix that they are part of.
struct Columned {
    address: u64,
    place: u64,
    first: usize,
    cols: usize,
    stride: usize,
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
            self.product_of_sources(y, &sources, matrix)
        })
    }

    /// The panels of Y, on the device; none if they do not fit.
    fn sources(&self, y: &Columns) -> Option<Vec<Source>> {
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
                .map(|rows| Arc::new(self.places(y.rows(), rows)));
            let (panels, factor) = match self.kept(group) {
                Some((kept, factor)) => (kept.panels.clone(), factor),
                None => (self.copied_panels(group), 1.0),
            };
            for panel in panels.into_iter().filter(|panel| panel.cols > 0) {
                first += panel.cols;
                sources.push(Source {
                    first: first - panel.cols,
                    panel,
                    place: place.clone(),
                    factor,
                    rare: y.is_rare(group),
                });
            }
        }
        Some(sources)
    }

    /// The part of a group that is on this device.
    fn kept<'a>(&self, group: &'a Group) -> Option<(&'a Kept, f64)> {
        let (stored, factor) = group.elsewhere().filter(|_| !group.is_part())?;
        let kept = stored.as_any()?.downcast_ref::<Kept>()?;
        kept.is_on(self).then_some((kept, factor))
    }

    /// A copy of a group.
    fn copied_panels(&self, group: &Group) -> Vec<Arc<Panel>> {
        let (rows, cols) = (group.stored_rows(), group.cols());
        let values = match group.block() {
            Some(block) => self.driver.upload(block.as_slice()),
            None => {
                let mut values = vec![0.0f32; rows * cols];
                group.read(0..rows, &mut values);
                self.driver.upload(&values)
            }
        };
        let whole = Panel::new(rows, cols, values);
        let ranges = panels(cols);
        if ranges.len() == 1 {
            return vec![Arc::new(whole)];
        }
        let parts: Vec<Panel> = ranges
            .into_iter()
            .map(|range| self.panel(rows, range.len()))
            .collect();
        self.spread(&whole, 0, &parts);
        parts.into_iter().map(Arc::new).collect()
    }

    /// The index of each of `all` rows in `rows`.
    fn places(&self, all: usize, rows: &[u32]) -> Memory<u32> {
        let place = self.driver.reserve::<u32>(all);
        self.per_value("fill_none", all, &args![&place]);
        let numbers = self.driver.upload(rows);
        self.per_value("mark_rows", rows.len(), &args![&numbers, &place]);
        place
    }

    /// Rows of a panel, or all of `length` rows; zeros for rows it does not have.
    fn gathered(
        &self,
        panel: &Panel,
        rows: Option<&Memory<u32>>,
        length: usize,
        place: Option<&Memory<u32>>,
    ) -> Panel {
        let out = self.panel(length, panel.cols);
        let args = args![out.cols, rows, place, panel, &out];
        self.per_value("gather_rows", out.len(), &args);
        out
    }

    fn gram_of_sources(&self, y: &Columns, sources: &[Source]) -> Small {
        let mut gram = Small::zeros(y.cols(), y.cols());
        // Columns of panels side by side, with their position in Y and their factor.
        let placed = |of: &[&Source]| -> Vec<(usize, f64)> {
            of.iter()
                .flat_map(|s| (s.first..s.first + s.panel.cols).map(|column| (column, s.factor)))
                .collect()
        };
        let (rare, often): (Vec<&Source>, Vec<&Source>) =
            sources.iter().partition(|source| source.rare);
        let whole = |source: &&Source| match source.place.as_deref() {
            None => source.panel.clone(),
            place => Arc::new(self.gathered(&source.panel, None, y.rows(), place)),
        };
        let panels: Vec<Arc<Panel>> = often.iter().map(whole).collect();
        let panels: Vec<&Panel> = panels.iter().map(|panel| &**panel).collect();
        let (found, columns) = (self.gram_among(&panels), placed(&often));
        for (i, &(a, p)) in columns.iter().enumerate() {
            for (j, &(b, q)) in columns.iter().enumerate() {
                gram.set(a, b, p * q * found.get(i, j));
            }
        }
        if rare.is_empty() {
            return gram;
        }
        let rows = y.rare_rows();
        let (length, rows) = (rows.len(), self.driver.upload(&rows));
        let own = rare.iter().map(|source| {
            self.gathered(&source.panel, Some(&rows), length, source.place.as_deref())
        });
        let own: Vec<Panel> = own.collect();
        let others = panels
            .iter()
            .map(|panel| self.gathered(panel, Some(&rows), length, None));
        let others: Vec<Panel> = others.collect();
        let all: Vec<&Panel> = own.iter().chain(&others).collect();
        let found = self.cross_of(&all[..own.len()], &all);
        let (down, across) = (placed(&rare), [placed(&rare), columns].concat());
        for (i, &(a, p)) in down.iter().enumerate() {
            for (j, &(b, q)) in across.iter().enumerate() {
                gram.set(a, b, p * q * found.get(i, j));
                gram.set(b, a, p * q * found.get(i, j));
            }
        }
        gram
    }

    fn product_of_sources(&self, y: &Columns, sources: &[Source], matrix: &Small) -> Block {
        let (rows, b) = (y.rows(), matrix.cols());
        let mut out = Block::zeros(rows, b);
        if rows * b == 0 || sources.is_empty() {
            return out;
        }
        // The matrix with the factors of the sources.
        let mut scaled = vec![0.0f32; matrix.rows() * b];
        for source in sources {
            for k in source.first..source.first + source.panel.cols {
                for (to, m) in scaled[k * b..][..b].iter_mut().zip(matrix.row(k)) {
                    *to = (source.factor * m) as f32;
                }
            }
        }
        let scaled = self.driver.upload(&scaled);
        let columns = sources.iter().map(|source| Columned {
            address: source.panel.at(0),
            place: source.place.as_ref().map_or(0, |place| place.at(0)),
            first: source.first,
            cols: source.panel.cols,
            stride: source.panel.cols,
        });
        let columns: Vec<Columned> = columns.collect();
        let room = self.free_memory().unwrap_or(0) / PART / (4 * b as u64);
        let each = usize::try_from(room).unwrap_or(rows).max(TILE.0).min(rows);
        for (at, to) in out.as_mut_slice().chunks_mut(each * b).enumerate() {
            let panel = self.panel(to.len() / b, b);
            self.project(at * each, &columns, &scaled, &panel);
            self.driver.download_at(&panel.values, 0, to);
        }
        out
    }

    /// Some columns side by side times a small matrix: rows from `first` on, as many as `out` has.
    fn project(&self, first: usize, columns: &[Columned], matrix: &Memory<f32>, out: &Panel) {
        let words = columns.iter().flat_map(|of| {
            assert!(of.cols <= SIDE, "panels have at most {SIDE} columns");
            let columns = of.cols as u64 | (of.first as u64) << 32;
            [of.address, of.place, columns, of.stride as u64]
        });
        let words = self.driver.upload(&words.collect::<Vec<u64>>());
        let from = args![first, out.rows, &words, columns.len(), matrix].to_vec();
        let blocks = (out.rows.div_ceil(TILE.0), out.cols.div_ceil(TILE.1));
        let args = args![from, out.cols, out];
        self.launch("project", blocks, THREADS, &args);
    }

    /// Some rows of all panels, in the memory of this process.
    pub(crate) fn picked(&self, x: &[Panel], rows: &[usize]) -> Block {
        let (mut out, mut first) = (Block::zeros(rows.len(), width(x)), 0);
        let numbers = rows.iter().map(|&row| u32::try_from(row).expect("a row"));
        let numbers = self.driver.upload(&numbers.collect::<Vec<u32>>());
        for panel in x.iter().filter(|panel| panel.cols > 0) {
            let values = match &panel.aside {
                Some(values) => rows
                    .iter()
                    .flat_map(|&row| &values[row * panel.cols..][..panel.cols])
                    .copied()
                    .collect(),
                None => {
                    let some = self.gathered(panel, Some(&numbers), rows.len(), None);
                    self.driver.read(&some.values, some.len())
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
        let out: Vec<Panel> = widths.iter().map(|&cols| self.zeros(rows, cols)).collect();
        if rows * marks * b == 0 {
            return out;
        }
        let landmarks = Small::from(logs.landmarks).transposed();
        let (landmarks, turn) = (self.upload_small(&landmarks), self.upload_small(matrix));
        let factors = self.resident.diagonal(&self.driver, factors);
        let scales = self.driver.upload(logs.scales);
        let each = (STRETCH / (marks + b)).clamp(1, rows);
        for first in (0..rows).step_by(each) {
            let length = each.min(rows - first);
            let (own, product) = (self.panel(length, marks), self.panel(length, b));
            self.project_panels(x, first, &landmarks, &own);
            let args = args![own.cols, factors.at(first), &scales, &own];
            self.per_value("logs_above_one", own.len(), &args);
            let parts = panels(marks).into_iter().map(|range| Columned {
                address: own.at(range.start),
                place: 0,
                first: range.start,
                cols: range.len(),
                stride: marks,
            });
            self.project(0, &parts.collect::<Vec<_>>(), &turn, &product);
            self.spread(&product, first, &out);
        }
        out
    }

    /// A small matrix as f32.
    fn upload_small(&self, matrix: &Small) -> Memory<f32> {
        let values = matrix.as_slice().iter().map(|&value| value as f32);
        self.driver.upload(&values.collect::<Vec<f32>>())
    }

    /// X·M of rows from `first` on, as many as `out` has; X may be aside.
    fn project_panels(&self, x: &[Panel], first: usize, matrix: &Memory<f32>, out: &Panel) {
        let some = |panel: &Panel| {
            let values = panel.aside.as_ref()?;
            let some = &values[first * panel.cols..][..out.rows * panel.cols];
            Some(self.driver.upload(some))
        };
        let back: Vec<Option<Memory<f32>>> = x.iter().map(some).collect();
        let (mut columns, mut column) = (Vec::new(), 0);
        for (panel, back) in x.iter().zip(&back).filter(|(panel, _)| panel.cols > 0) {
            let place = || panel.at(first * panel.cols);
            columns.push(Columned {
                address: back.as_ref().map_or_else(place, |back| back.at(0)),
                place: 0,
                first: column,
                cols: panel.cols,
                stride: panel.cols,
            });
            column += panel.cols;
        }
        self.project(0, &columns, matrix, out);
    }

    /// XᵀY, panel by panel, of panels that are aside.
    pub(crate) fn cross_with_aside(&self, x: &[Panel], y: &[Panel]) -> Small {
        let (mut cross, mut first) = (Small::zeros(width(x), width(y)), 0);
        let y: Vec<&Panel> = y.iter().collect();
        for panel in x {
            let back = panel
                .aside
                .as_ref()
                .map(|values| Panel::new(panel.rows, panel.cols, self.driver.upload(values)));
            let part = self.cross_of(&[back.as_ref().unwrap_or(panel)], &y);
            for i in 0..part.rows() {
                cross.row_mut(first + i).copy_from_slice(part.row(i));
            }
            first += panel.cols;
        }
        cross
    }

    /// X ← X·M, some rows at a time: all of them at once would take the memory of X once more.
    pub(crate) fn transform_in_place(&self, x: &[Panel], matrix: &Small) {
        let (rows, cols) = (x[0].rows, matrix.cols());
        assert_eq!(
            (matrix.rows(), cols),
            (width(x), width(x)),
            "a square matrix as wide as its panels"
        );
        assert!(
            x.iter().all(|panel| panel.rows == rows),
            "rows of panels side by side"
        );
        if rows * cols == 0 {
            return;
        }
        let factors = self.upload_small(matrix);
        let each = (STRETCH / cols).clamp(1, rows);
        for first in (0..rows).step_by(each) {
            let product = self.panel(each.min(rows - first), cols);
            self.project_panels(x, first, &factors, &product);
            self.spread(&product, first, x);
        }
    }

    /// Copies columns of a product to panels, to rows from `first` on.
    fn spread(&self, product: &Panel, first: usize, out: &[Panel]) {
        let mut column = 0;
        for panel in out.iter().filter(|panel| panel.cols > 0) {
            let to = panel.at(first * panel.cols);
            let args = args![panel.cols, product.cols, column, product, to];
            self.per_value("take_columns", product.rows * panel.cols, &args);
            column += panel.cols;
        }
    }
}
