//! Sums over rows: Gram and cross products, lengths, extremes.
//!
//! Rows are divided into parts by their number alone; each part is summed by one block in f64, and parts are
//! added first to last. Nothing depends on the device, on timing, or on how many panels there are: each pair
//! of panels is summed separately.
//! Cost of a Gram matrix of b columns: rows·b² multiply-adds in f64 (half of it by symmetry), 4b bytes per row and pair
//! of panels.

use hone::dense::Small;
use hone::space::Fold;

use crate::Cuda;
use crate::panel::{Panel, count, wide};

/// Columns of the widest panel.
pub(crate) const SIDE: usize = 32;

/// Maximum number of parts.
const PARTS: usize = 1024;

/// The rows of a part are a multiple of this.
const UNIT: usize = 256;

/// Rows of each part, and how many parts there are.
fn parts(rows: usize) -> (usize, usize) {
    let part = rows.div_ceil(UNIT).div_ceil(PARTS).max(1) * UNIT;
    (part, rows.div_ceil(part))
}

/// First columns of the panels, and the total number.
fn columns(x: &[&Panel]) -> (Vec<usize>, usize) {
    let mut all = 0;
    let first = x.iter().map(|panel| {
        assert!(
            panel.cols <= SIDE && panel.rows == x[0].rows,
            "panels of one matrix"
        );
        all += panel.cols;
        all - panel.cols
    });
    (first.collect(), all)
}

impl Cuda {
    /// XᵀX.
    pub(crate) fn gram_among(&self, x: &[&Panel]) -> Small {
        let (first, all) = columns(x);
        let pairs: Vec<(usize, usize)> = (0..x.len())
            .flat_map(|p| (p..x.len()).map(move |q| (p, q)))
            .collect();
        let mut gram = Small::zeros(all, all);
        self.tiles(x, x, &pairs, |(p, q), i, j, value| {
            gram.set(first[p] + i, first[q] + j, value);
            gram.set(first[q] + j, first[p] + i, value);
        });
        gram
    }

    /// XᵀY.
    pub(crate) fn cross_of(&self, x: &[&Panel], y: &[&Panel]) -> Small {
        let ((above, a), (before, b)) = (columns(x), columns(y));
        assert!(
            x.is_empty() || y.is_empty() || x[0].rows == y[0].rows,
            "rows of a cross product"
        );
        let pairs: Vec<(usize, usize)> = (0..x.len())
            .flat_map(|p| (0..y.len()).map(move |q| (p, q)))
            .collect();
        let mut cross = Small::zeros(a, b);
        self.tiles(x, y, &pairs, |(p, q), i, j, value| {
            cross.set(above[p] + i, before[q] + j, value);
        });
        cross
    }

    /// Products of pairs of panels, entry by entry.
    fn tiles(
        &self,
        x: &[&Panel],
        y: &[&Panel],
        pairs: &[(usize, usize)],
        mut entry: impl FnMut((usize, usize), usize, usize, f64),
    ) {
        const TILE: usize = SIDE * SIDE;
        let rows = x.first().map_or(0, |panel| panel.rows);
        if rows == 0 || pairs.is_empty() {
            return;
        }
        let (part, parts) = parts(rows);
        let (driver, sums) = (&self.driver, self.driver.reserve::<f64>(parts * TILE));
        let totals = driver.reserve::<f64>(pairs.len() * TILE);
        for (at, &(p, q)) in pairs.iter().enumerate() {
            let (x, y) = (x[p], y[q]);
            let args = [
                wide(rows),
                wide(part),
                x.address(),
                x.width(),
                y.address(),
                y.width(),
                sums.address(),
            ];
            driver.launch(self.programs.kernel("cross_parts"), (parts, 1), 256, &args);
            let args = [count(parts), sums.address(), totals.address_at(at * TILE)];
            driver.launch(
                self.programs.kernel("add_parts"),
                (TILE / 256, 1),
                256,
                &args,
            );
        }
        let mut found = vec![0.0f64; pairs.len() * TILE];
        driver.download(&totals, &mut found);
        for (&(p, q), tile) in pairs.iter().zip(found.chunks_exact(TILE)) {
            for i in 0..x[p].cols {
                (0..y[q].cols).for_each(|j| entry((p, q), i, j, tile[i * SIDE + j]));
            }
        }
    }

    /// One number per column.
    pub(crate) fn folded(&self, x: &Panel, fold: Fold) -> Vec<f64> {
        let mut folded = vec![0.0f64; x.cols];
        if x.len() == 0 {
            return folded;
        }
        let (part, parts) = parts(x.rows);
        let found = self.driver.reserve::<f64>(parts * x.cols);
        let kernel = match fold {
            Fold::Length => self.programs.kernel("square_parts"),
            Fold::Extreme => self.programs.kernel("extreme_parts"),
        };
        let args = [
            wide(x.rows),
            wide(part),
            x.address(),
            x.width(),
            found.address(),
        ];
        self.driver
            .launch(kernel, (parts, x.cols.div_ceil(SIDE)), 256, &args);
        let mut of_parts = vec![0.0f64; parts * x.cols];
        self.driver.download(&found, &mut of_parts);
        for of_part in of_parts.chunks_exact(x.cols) {
            for (all, &own) in folded.iter_mut().zip(of_part) {
                match fold {
                    Fold::Length => *all += own,
                    Fold::Extreme if own.abs() > all.abs() => *all = own,
                    Fold::Extreme => {}
                }
            }
        }
        if fold == Fold::Length {
            folded.into_iter().map(f64::sqrt).collect()
        } else {
            folded
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_all_rows() {
        for rows in [
            1,
            255,
            256,
            257,
            262_144,
            262_145,
            10_000_000,
            4_000_000_000,
        ] {
            let (part, parts) = parts(rows);
            assert!(part.is_multiple_of(UNIT) && parts <= PARTS, "{rows}");
            assert!(part * parts >= rows && part * (parts - 1) < rows, "{rows}");
        }
    }
}
