//! Cyclic coordinate descent: one column of a factor after the other (Yu, Hsieh, Si, Dhillon 2012).
//!
//! With B fixed, the rows of A are independent and column f of a row has the minimum a_f + ((S B)_f − (A BᵀB)_f − λ
//! a_f) / ((BᵀB)_ff + λ): a sweep over the columns needs the product S B and a Gram matrix, so S is never formed. On
//! the observed entries alone the residual S − A Bᵀ is stored for them, and pairs of columns (a_f, b_f) are improved in
//! turn, as in CCD++. No step increases ‖S − A Bᵀ‖² + λ(‖A‖² + ‖B‖²). Cost per iteration: 2 products and O(sweeps N
//! b²); observed only: O(sweeps nonzeros b).

use serde::{Deserialize, Serialize};

use super::entries::{ENTRY_BYTES, dot, fit_nonzeros};
use super::pair::{Descent, Pair, Start, at_least_one, not_negative, nothing, penalty};
use super::{Factors, Method, Shape, Task, WITH_ROOTS};
use crate::dense::{Block, Panels, Small};
use crate::error::Result;
use crate::operator::{Operator, Workspace};
use crate::parallel;
use crate::space::Host;
use crate::sparse::{Csr, Fused};

/// Rows per parallel task.
const STRETCH: usize = 1 << 10;

/// Options of cyclic coordinate descent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Ccd {
    /// Maximum number of iterations, each over all columns of both factors.
    pub iterations: usize,
    /// Iterations stop when the relative change of the loss is below this.
    pub tolerance: f64,
    /// Passes over the columns of a factor (or a pair of columns) in each iteration.
    pub sweeps: usize,
    /// λ, the weight of the squared length of the factors.
    pub regularization: f64,
    /// Whether zeros are unknown entries rather than zeros to be fitted.
    pub observed_only: bool,
    /// The initial factors.
    pub start: Start,
}

impl Default for Ccd {
    fn default() -> Self {
        Ccd {
            iterations: 50,
            tolerance: 1e-4,
            sweeps: 2,
            regularization: 0.0,
            observed_only: false,
            start: Start::Svd,
        }
    }
}

impl Method for Ccd {
    fn check(&self, field: &str) -> Result<()> {
        not_negative(field, "tolerance", self.tolerance)?;
        not_negative(field, "regularization", self.regularization)?;
        at_least_one(field, "sweeps", self.sweeps)
    }

    fn is_scale_free(&self) -> bool {
        self.regularization == 0.0
    }

    fn largest(&self) -> f64 {
        WITH_ROOTS
    }

    fn factor(&self, s: &Operator, task: &Task) -> Result<Factors<Panels>> {
        let descent = Descent::new(
            "cyclic coordinate descent",
            self.iterations,
            self.tolerance,
            task,
        );
        if self.observed_only {
            return self.observed(s, descent);
        }
        let pair = Pair::start(s, self.start, task)?;
        let sweeps = Sweeps {
            count: self.sweeps,
            penalty: self.regularization,
            lowest: f64::NEG_INFINITY,
        };
        sweeps.fit(s, pair, descent, |pair| pair.decompose())
    }

    fn keeps_entries(&self) -> bool {
        self.observed_only
    }

    fn memory(&self, shape: &Shape) -> u64 {
        if self.observed_only {
            shape.entries * (ENTRY_BYTES + 8)
        } else {
            0
        }
    }
}

/// Coordinate descent on all entries, with or without a bound on the coordinates.
pub(super) struct Sweeps {
    /// Passes over the columns of a factor in each iteration.
    pub(super) count: usize,
    /// λ.
    pub(super) penalty: f64,
    /// Lower bound of the coordinates: 0 for non-negative factors.
    pub(super) lowest: f64,
}

impl Sweeps {
    /// Improves factors until they are good, and brings them into their final basis.
    pub(super) fn fit(
        &self,
        s: &Operator,
        mut pair: Pair,
        descent: Descent,
        basis: impl FnOnce(Pair) -> Result<(Block, Vec<f64>, Block)>,
    ) -> Result<Factors<Panels>> {
        let loss = s.energy(descent.task.key, || pair.b.clone());
        if loss.value == 0.0 {
            return Ok(nothing(s, descent.task, loss.measure()));
        }
        let extra = |a: &Small, b: &Small| penalty(self.penalty, [a, b]);
        let mut work = Workspace::default();
        let mut image = s.image(&Host, false, &pair.b, &mut work);
        let (mut gram_a, mut gram_b) = (pair.a.gram(), pair.b.gram());
        let first = loss.loss(&image, &pair.a, &gram_a, &gram_b, extra(&gram_a, &gram_b));
        let descent = descent.run(first, |iteration| {
            if iteration > 1 {
                s.product(
                    &Host,
                    false,
                    &pair.b,
                    &mut image,
                    Fused::default(),
                    &mut work,
                );
            }
            self.sweep(&mut pair.a, &image, &gram_b);
            gram_a = pair.a.gram();
            let back = s.image(&Host, true, &pair.a, &mut work);
            self.sweep(&mut pair.b, &back, &gram_a);
            gram_b = pair.b.gram();
            let value = loss.loss(&back, &pair.b, &gram_a, &gram_b, extra(&gram_a, &gram_b));
            work.give(back);
            Ok(value)
        })?;
        drop((work, image));
        let found = basis(pair)?;
        Ok(descent.finish(found, loss.measure(), |pair| loss.loss_of(s, pair, extra)))
    }

    /// Moves each coordinate of each row to its minimum, the others fixed, given the product of S with the other
    /// factor and that factor's Gram matrix.
    fn sweep(&self, x: &mut Block, image: &Block, gram: &Small) {
        let width = x.cols();
        let largest = (0..width).map(|f| gram.get(f, f)).fold(0.0, f64::max);
        x.update_rows(|i, row| {
            let target = image.row(i);
            let mut wide: Vec<f64> = row.iter().map(|&x| f64::from(x)).collect();
            for _ in 0..self.count {
                for f in 0..width {
                    let curvature = gram.get(f, f);
                    // A column of the other factor that is zero, or nearly so, carries no information.
                    if curvature <= 1e-14 * largest {
                        wide[f] = 0.0;
                        continue;
                    }
                    let along: f64 = gram.row(f).iter().zip(&wide).map(|(g, x)| g * x).sum();
                    let slope = f64::from(target[f]) - along - self.penalty * wide[f];
                    wide[f] = (wide[f] + slope / (curvature + self.penalty)).max(self.lowest);
                }
            }
            row.iter_mut()
                .zip(&wide)
                .for_each(|(to, &x)| *to = x as f32);
        });
    }
}

impl Ccd {
    fn observed(&self, s: &Operator, descent: Descent) -> Result<Factors<Panels>> {
        // S − A Bᵀ on the nonzeros, by rows and by columns.
        let mut residuals = None;
        fit_nonzeros(
            s,
            self.start,
            self.regularization,
            descent,
            |entries, pair, weight| {
                let (by_rows, by_columns) = residuals.get_or_insert_with(|| {
                    (
                        residual(&entries.rows, &pair.a, &pair.b),
                        residual(&entries.columns, &pair.b, &pair.a),
                    )
                });
                for f in 0..pair.a.cols() {
                    let (mut a, mut b) = (column(&pair.a, f), column(&pair.b, f));
                    add_product(&entries.rows, by_rows, &a, &b, 1.0);
                    add_product(&entries.columns, by_columns, &b, &a, 1.0);
                    for _ in 0..self.sweeps {
                        best_column(&entries.rows, by_rows, &mut a, &b, weight);
                        best_column(&entries.columns, by_columns, &mut b, &a, weight);
                    }
                    add_product(&entries.rows, by_rows, &a, &b, -1.0);
                    add_product(&entries.columns, by_columns, &b, &a, -1.0);
                    pair.a.update_rows(|i, row| row[f] = a[i]);
                    pair.b.update_rows(|j, row| row[f] = b[j]);
                }
            },
        )
    }
}

/// S − A Bᵀ on the entries.
fn residual(entries: &Csr, a: &Block, b: &Block) -> Vec<f32> {
    let of_row = |i: usize| {
        let (columns, values) = entries.row(i);
        columns
            .iter()
            .zip(values)
            .map(move |(&j, &s)| (f64::from(s) - dot(a.row(i), b.row(j as usize))) as f32)
    };
    (0..entries.rows()).flat_map(of_row).collect()
}

fn column(x: &Block, f: usize) -> Vec<f32> {
    (0..x.rows()).map(|i| x.get(i, f)).collect()
}

/// Splits the values of entries by [`STRETCH`] of rows.
fn stretches<'a>(entries: &Csr, mut values: &'a mut [f32]) -> Vec<&'a mut [f32]> {
    let pattern = entries.pattern();
    let starts = (0..entries.rows()).step_by(STRETCH);
    let lengths =
        starts.map(|start| pattern.range(last(entries, start)).end - pattern.range(start).start);
    lengths
        .map(|length| {
            values
                .split_off_mut(..length)
                .expect("as many values as entries")
        })
        .collect()
}

/// The last row of the stretch that starts with a row.
fn last(entries: &Csr, start: usize) -> usize {
    entries.rows().min(start + STRETCH) - 1
}

/// R ← R + sign · a bᵀ on the entries.
fn add_product(entries: &Csr, residual: &mut [f32], a: &[f32], b: &[f32], sign: f32) {
    parallel::each(stretches(entries, residual), &|at, mut rest: &mut [f32]| {
        let start = at * STRETCH;
        for i in start..=last(entries, start) {
            let columns = entries.pattern().row(i);
            let row = rest
                .split_off_mut(..columns.len())
                .expect("as many values as entries");
            row.iter_mut()
                .zip(columns)
                .for_each(|(r, &j)| *r += sign * a[i] * b[j as usize]);
        }
    });
}

/// Each a_i by least squares on R ≈ a bᵀ.
fn best_column(entries: &Csr, residual: &[f32], a: &mut [f32], b: &[f32], weight: f64) {
    let best = |i: usize| {
        let range = entries.pattern().range(i);
        let (mut up, mut down) = (0.0, weight);
        for (&j, &r) in entries.pattern().row(i).iter().zip(&residual[range]) {
            let b = f64::from(b[j as usize]);
            up += f64::from(r) * b;
            down += b * b;
        }
        if down > 0.0 { (up / down) as f32 } else { 0.0 }
    };
    parallel::for_chunks(a, STRETCH, &|at, part| {
        part.iter_mut()
            .zip(at * STRETCH..)
            .for_each(|(to, i)| *to = best(i));
    });
}
