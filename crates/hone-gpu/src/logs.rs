//! Rows that are picked, and products with logarithms of inner products, on the device.
//!
//! Stretches of rows are multiplied with the landmarks, replaced by their logarithms, and multiplied with the small matrix, by the
//! kernel that finds Z: three passes over a stretch that the device's cache holds in part.

use hone::dense::{Block, Logs, Small};
use hone::space::panels;
use hone::sparse::Diagonal;

use crate::Cuda;
use crate::columns::described;
use crate::driver::{Arg, Memory, NULL};
use crate::panel::{Panel, count, number, wide};
use crate::ranked::THREADS;

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
            let place =
                |range: &std::ops::Range<usize>| number(own.address()) + 4 * range.start as u64;
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
