//! Laws of rows that are picked, rows that are shortened, and products with logarithms.

use super::{Space, Wide};
use crate::dense::{Block, Logs, Small};
use crate::random::Key;
use crate::space::{Host, Map};
use crate::sparse::Diagonal;

/// More landmarks than a tile of any device has, and columns for two panels.
const LANDMARKS: usize = 70;
const WIDTHS: [usize; 2] = [32, 3];

/// What products with logarithms take beside a tall matrix.
struct Case {
    factors: Diagonal,
    landmarks: Block,
    scales: Vec<f32>,
    matrix: Small,
}

impl Case {
    fn new(rows: usize, cols: usize) -> Self {
        Case {
            // Some rows have a factor of zero, as nodes without edges have.
            factors: Diagonal::new("r", (0..rows).map(|i| (i % 6) as f32).collect::<Vec<f32>>()),
            landmarks: Block::random(LANDMARKS, cols, Key::new(11)),
            scales: (0..LANDMARKS)
                .map(|j| 0.25 + (j % 9) as f32 / 8.0)
                .collect(),
            matrix: Small::from_fn(LANDMARKS, WIDTHS.iter().sum(), |i, j| {
                ((i * 5 + j * 3) % 17) as f64 / 8.0 - 1.0
            }),
        }
    }

    fn logs(&self) -> (&Diagonal, Logs<'_>) {
        (
            &self.factors,
            Logs {
                landmarks: &self.landmarks,
                scales: &self.scales,
            },
        )
    }

    /// One row of L by its definition.
    fn row(&self, i: usize, x: &[f32]) -> Vec<f64> {
        let factor = f64::from(self.factors.values()[i]);
        let dot = |j: usize| -> f64 {
            x.iter()
                .zip(self.landmarks.row(j))
                .map(|(&a, &b)| f64::from(a) * f64::from(b))
                .sum()
        };
        (0..LANDMARKS)
            .map(|j| (factor * dot(j)).max(1.0).ln() * f64::from(self.scales[j]))
            .collect()
    }
}

impl<S: Space> Wide<'_, S> {
    /// Rows as they are, in any order and repeatedly; logarithms by their definition; rows of the length asked for.
    pub(super) fn rows_and_logarithms(&self) {
        let which: Vec<usize> = (0..self.rows.min(40))
            .map(|k| (k * 977 + 3) % self.rows)
            .collect();
        let picked = self.space.pick(&self.panels, &which);
        assert_eq!(
            (picked.rows(), picked.cols()),
            (which.len(), self.cols),
            "shape of picked rows, {}",
            self.what()
        );
        for (k, &row) in which.iter().enumerate() {
            assert_eq!(
                picked.row(k),
                self.truth.row(row),
                "picked row, {}",
                self.what()
            );
        }
        let case = Case::new(self.rows, self.cols);
        let find = || {
            self.gather(
                self.space
                    .log_times(&self.panels, case.logs(), &case.matrix, &WIDTHS),
            )
        };
        let found = find();
        assert_eq!(
            found,
            find(),
            "product with logarithms, repeated, {}",
            self.what()
        );
        let mut shortened = self.copies();
        self.space.map(&mut shortened, &Map::Shorten(0.75));
        let shortened = self.gather(shortened);
        for i in 0..self.rows {
            let logs = case.row(i, self.truth.row(i));
            for j in 0..case.matrix.cols() {
                let terms = || {
                    logs.iter()
                        .enumerate()
                        .map(|(k, log)| log * case.matrix.get(k, j))
                };
                let (truth, size) = (terms().sum::<f64>(), terms().map(f64::abs).sum::<f64>());
                let off = (f64::from(found.get(i, j)) - truth).abs();
                assert!(
                    off <= 1e-4 * (1.0 + size),
                    "product with logarithms, {}",
                    self.what()
                );
            }
            let length = self
                .truth
                .row(i)
                .iter()
                .map(|&x| f64::from(x).powi(2))
                .sum::<f64>()
                .sqrt();
            for (&short, &x) in shortened.row(i).iter().zip(self.truth.row(i)) {
                let truth = f64::from(x) / length.powf(0.75);
                assert!(
                    (f64::from(short) - truth).abs() <= 1e-6,
                    "shortened row, {}",
                    self.what()
                );
            }
        }
    }

    /// Products with logarithms, and shortened rows, of the host.
    pub(super) fn bits_of_logarithms(&self) {
        let case = Case::new(self.rows, self.cols);
        let own =
            self.gather(
                self.space
                    .log_times(&self.panels, case.logs(), &case.matrix, &WIDTHS),
            );
        let blocks: Vec<Block> = self
            .copies()
            .into_iter()
            .map(|panel| self.space.export(panel))
            .collect();
        let host = self.gather_host(&Host.log_times(&blocks, case.logs(), &case.matrix, &WIDTHS));
        assert_eq!(
            own,
            host,
            "bits of a product with logarithms, {}",
            self.what()
        );
        let (mut own, mut host) = (self.copies(), blocks);
        self.space.map(&mut own, &Map::Shorten(0.5));
        Host.map(&mut host, &Map::Shorten(0.5));
        assert_eq!(
            self.gather(own),
            self.gather_host(&host),
            "bits of shortened rows, {}",
            self.what()
        );
    }
}
