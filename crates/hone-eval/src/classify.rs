//! L2-penalised logistic regression, converged to tolerance, and the choice of its penalty C by cross-validation.
//!
//! Minimises ½ w·w + C Σ log(1 + exp(−y (x·w + b))) over w and b, the objective and the meaning of C of scikit-learn
//! and LIBLINEAR (the intercept b is not penalised), by Newton's method, each step by backtracking on the margins
//! alone. With up to 1024 features, directions come from the Hessian and its Cholesky factor: unscaled columns make it
//! far too ill-conditioned for anything else. With more features they come from conjugate gradients, preconditioned by
//! the diagonal of the Hessian. Cost: n d² per iteration, or (CG steps) passes over the n rows.
//!
//! Folds are stratified and depend on the seed alone. For each fold the models of all C are fitted as one path from small to large C,
//! each starting where the last one ended; folds run in parallel. Ties go to the smaller C (the simpler model).
//!
//! Reference: Galli, Lin. A study on truncated Newton methods for linear classification, 2021.

use faer::{Mat, MatRef};
use hone::dense::Block;
use hone::dense::kernels::{add_gram, solve_positive};
use hone::parallel;

use crate::metrics;
use crate::random::Stream;

/// Up to this many features the Hessian is formed.
const DENSE: usize = 1024;

/// Stands in for the penalty that the intercept does not have.
const RIDGE: f64 = 1e-12;

/// Rows that are added to the Hessian at a time.
const CHUNK: usize = 256;

/// When to stop optimising.
#[derive(Debug, Clone, Copy)]
pub struct Stop {
    /// Ends when the gradient has shrunk to this share of the gradient at zero.
    pub tolerance: f64,
    /// Maximum number of Newton steps.
    pub iterations: usize,
}

impl Default for Stop {
    fn default() -> Self {
        Stop {
            tolerance: 1e-6,
            iterations: 200,
        }
    }
}

/// A fitted model: score(x) = x·weights + intercept, the log-odds of the positive class.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// One weight per feature.
    pub weights: Vec<f64>,
    /// The constant.
    pub intercept: f64,
    /// Whether the tolerance was reached.
    pub converged: bool,
}

impl Model {
    /// The zero model: the start of a path of fits.
    pub fn zero(features: usize) -> Self {
        Model {
            weights: vec![0.0; features],
            intercept: 0.0,
            converged: false,
        }
    }

    /// Log-odds of one row.
    pub fn score(&self, row: &[f32]) -> f64 {
        dot(row, &self.weights) + self.intercept
    }

    /// Log-odds of every row.
    pub fn scores(&self, x: &Block) -> Vec<f64> {
        parallel::collect(x.rows(), |i| self.score(x.row(i)))
    }
}

/// The rows to learn from: features, and which rows are positive. `rows` selects and orders them.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// Features of all rows.
    pub x: &'a Block,
    /// Class of all rows.
    pub y: &'a [bool],
    /// The rows that are used.
    pub rows: &'a [u32],
}

/// Fits one binary model with penalty 1/C, starting from `start`. A single class gives a model of
/// zero weights whose intercept is the smoothed log-odds of that class.
///
/// # Panics
/// When lengths differ, a row is out of range, or C is not positive.
pub fn fit(task: Task<'_>, c: f64, start: &Model, stop: Stop) -> Model {
    assert_eq!(task.x.rows(), task.y.len(), "one class per row");
    assert_eq!(task.x.cols(), start.weights.len(), "one weight a feature");
    assert!(c > 0.0 && c.is_finite(), "C is {c}");
    let positives = task.rows.iter().filter(|&&i| task.y[i as usize]).count();
    if positives == 0 || positives == task.rows.len() {
        let intercept =
            ((positives as f64 + 0.5) / ((task.rows.len() - positives) as f64 + 0.5)).ln();
        return Model {
            intercept,
            converged: true,
            ..Model::zero(task.x.cols())
        };
    }
    Newton::new(task, c, start).run(stop)
}

/// Candidates for C: nine decades around 1.
const PENALTIES: [f64; 9] = [1e-4, 1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3, 1e4];

/// Folds that the penalty is chosen on, at most: no more than a class has rows.
const FOLDS: usize = 10;

/// Gradients of fits to choose a penalty by may shrink less.
const ROUGH: f64 = 1e-4;

/// What was chosen, and the mean score over folds that made it so.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chosen {
    /// The penalty parameter.
    pub c: f64,
    /// Mean AUC over the folds (0.5 when there were too few rows to validate).
    pub score: f64,
}

/// The number of the fold of each row: stratified by `class`, shuffled by seed, as even as can be.
pub fn folds(class: &[u32], k: usize, seed: u64) -> Vec<u32> {
    let mut stream = Stream::new(seed, "folds", k as u64);
    let mut order: Vec<usize> = (0..class.len()).collect();
    stream.shuffle(&mut order);
    order.sort_by_key(|&i| class[i]);
    let mut fold = vec![0; class.len()];
    for (place, &i) in order.iter().enumerate() {
        fold[i] = (place % k.max(1)) as u32;
    }
    fold
}

/// Chooses C by the mean AUC over stratified folds of all rows of `x`.
pub fn choose(x: &Block, y: &[bool], seed: u64) -> Chosen {
    let positives = y.iter().filter(|&&y| y).count();
    let k = FOLDS.min(positives).min(y.len() - positives);
    if k < 2 {
        let c = PENALTIES[PENALTIES.len() / 2];
        return Chosen { c, score: 0.5 };
    }
    let class: Vec<u32> = y.iter().map(|&y| u32::from(y)).collect();
    let fold = folds(&class, k, seed);
    let scores: Vec<[f64; PENALTIES.len()]> = parallel::map(k, |f| {
        let of_fold = |&i: &u32| fold[i as usize] == f as u32;
        let (held, rows): (Vec<u32>, Vec<u32>) = (0..y.len() as u32).partition(of_fold);
        let truth: Vec<bool> = held.iter().map(|&i| y[i as usize]).collect();
        let mut model = Model::zero(x.cols());
        let stop = Stop {
            tolerance: ROUGH,
            ..Stop::default()
        };
        PENALTIES.map(|c| {
            model = fit(Task { x, y, rows: &rows }, c, &model, stop);
            let score = |&i: &u32| model.score(x.row(i as usize));
            let scores: Vec<f64> = held.iter().map(score).collect();
            metrics::auc(&scores, &truth).expect("each fold holds both classes")
        })
    });
    let mut best = Chosen {
        c: 1.0,
        score: f64::NEG_INFINITY,
    };
    for (p, c) in PENALTIES.into_iter().enumerate() {
        let score = scores.iter().map(|s| s[p]).sum::<f64>() / k as f64;
        if score > best.score + 1e-12 {
            best = Chosen { c, score };
        }
    }
    best
}

/// The state of one optimisation. Vectors of parameters hold the intercept last.
struct Newton<'a> {
    task: Task<'a>,
    c: f64,
    w: Vec<f64>,
    /// x·w + b of every used row.
    margins: Vec<f64>,
}

impl<'a> Newton<'a> {
    fn new(task: Task<'a>, c: f64, start: &Model) -> Self {
        let mut w = start.weights.clone();
        w.push(start.intercept);
        let mut newton = Newton {
            task,
            c,
            w,
            margins: Vec::new(),
        };
        newton.margins = newton.product(&newton.w);
        newton
    }

    fn run(mut self, stop: Stop) -> Model {
        let (origin, flat) = (vec![0.0; self.w.len()], vec![0.0; self.margins.len()]);
        let at_zero = norm(&self.gradient(&origin, &flat).0);
        let goal = stop.tolerance * at_zero.max(f64::MIN_POSITIVE);
        let mut converged = false;
        for _ in 0..stop.iterations {
            let (gradient, curvature) = self.gradient(&self.w, &self.margins);
            let size = norm(&gradient);
            converged = size <= goal;
            if converged {
                break;
            }
            let exact = match self.task.x.cols() <= DENSE {
                true => self.exact(&gradient, &curvature),
                false => None,
            };
            let direction = exact.unwrap_or_else(|| {
                let xi = (size / goal * stop.tolerance).sqrt().min(0.1);
                self.iterated(&gradient, &curvature, xi)
            });
            if !self.step(&direction, &gradient) {
                break; // rounding forbids further descent
            }
        }
        let intercept = self.w.pop().expect("the intercept is always there");
        Model {
            weights: self.w,
            intercept,
            converged,
        }
    }

    /// X v for every used row.
    fn product(&self, v: &[f64]) -> Vec<f64> {
        let (weights, constant) = v.split_at(v.len() - 1);
        let row = |&i: &u32| dot(self.task.x.row(i as usize), weights) + constant[0];
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || self.task.rows.iter().map(row).collect(),
        )
    }

    /// Gradient at parameters with these margins, and p (1 − p) of every used row.
    fn gradient(&self, w: &[f64], margins: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let d = w.len() - 1;
        let mut gradient = w.to_vec();
        gradient[d] = 0.0;
        let mut curvature = Vec::with_capacity(margins.len());
        for (&i, &m) in self.task.rows.iter().zip(margins) {
            let p = sigmoid(m);
            let scale = self.c * (p - f64::from(u8::from(self.task.y[i as usize])));
            add(&mut gradient[..d], scale, self.task.x.row(i as usize));
            gradient[d] += scale;
            curvature.push(p * (1.0 - p));
        }
        (gradient, curvature)
    }

    /// H v in one pass over the rows.
    fn hessian_times(&self, curvature: &[f64], v: &[f64]) -> Vec<f64> {
        let d = v.len() - 1;
        let mut out = v.to_vec();
        out[d] = 0.0;
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || {
                for (&i, &s) in self.task.rows.iter().zip(curvature) {
                    let row = self.task.x.row(i as usize);
                    let scale = self.c * s * (dot(row, &v[..d]) + v[d]);
                    add(&mut out[..d], scale, row);
                    out[d] += scale;
                }
            },
        );
        out
    }

    fn hessian_diagonal(&self, curvature: &[f64]) -> Vec<f64> {
        let d = self.w.len() - 1;
        let mut out = vec![1.0; d + 1];
        out[d] = RIDGE;
        for (&i, &s) in self.task.rows.iter().zip(curvature) {
            let row = self.task.x.row(i as usize);
            out.iter_mut()
                .zip(row)
                .for_each(|(o, &x)| *o += self.c * s * f64::from(x) * f64::from(x));
            out[d] += self.c * s;
        }
        out
    }

    /// Newton's direction −H⁻¹ g by a Cholesky factor; none where rounding leaves H indefinite.
    fn exact(&self, gradient: &[f64], curvature: &[f64]) -> Option<Vec<f64>> {
        let n = gradient.len();
        let mut hessian = Mat::<f64>::zeros(n, n);
        let mut rows = vec![0.0; CHUNK * n];
        for (chosen, curvature) in self.task.rows.chunks(CHUNK).zip(curvature.chunks(CHUNK)) {
            for ((&i, &s), row) in chosen.iter().zip(curvature).zip(rows.chunks_exact_mut(n)) {
                let root = (self.c * s).sqrt();
                row.iter_mut()
                    .zip(self.task.x.row(i as usize))
                    .for_each(|(to, &x)| *to = root * f64::from(x));
                row[n - 1] = root;
            }
            add_gram(
                hessian.as_mut(),
                MatRef::from_row_major_slice(&rows[..chosen.len() * n], chosen.len(), n),
            );
        }
        (0..n).for_each(|k| hessian[(k, k)] += if k < n - 1 { 1.0 } else { RIDGE });
        let step = solve_positive(
            hessian.as_ref(),
            &gradient.iter().map(|g| -g).collect::<Vec<_>>(),
        )?;
        (inner(&step, gradient) < 0.0).then_some(step)
    }

    /// The same by preconditioned conjugate gradients, to relative accuracy `xi`.
    fn iterated(&self, gradient: &[f64], curvature: &[f64], xi: f64) -> Vec<f64> {
        let diagonal = self.hessian_diagonal(curvature);
        let mut step = vec![0.0; gradient.len()];
        let mut residual: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut z: Vec<f64> = residual.iter().zip(&diagonal).map(|(r, m)| r / m).collect();
        let mut p = z.clone();
        let mut rz = inner(&residual, &z);
        let goal = xi * xi * rz;
        for _ in 0..gradient.len().max(20) {
            let hp = self.hessian_times(curvature, &p);
            let bend = inner(&p, &hp);
            if bend <= 0.0 {
                break;
            }
            let alpha = rz / bend;
            for k in 0..p.len() {
                step[k] += alpha * p[k];
                residual[k] -= alpha * hp[k];
                z[k] = residual[k] / diagonal[k];
            }
            let next = inner(&residual, &z);
            if next <= goal {
                break;
            }
            p.iter_mut()
                .zip(&z)
                .for_each(|(p, z)| *p = z + next / rz * *p);
            rz = next;
        }
        step
    }

    /// Moves along `direction` as far as the objective falls enough; false when it cannot fall.
    fn step(&mut self, direction: &[f64], gradient: &[f64]) -> bool {
        let along = self.product(direction);
        let slope = inner(direction, gradient);
        let d = self.w.len() - 1;
        let (ww, wd, dd) = (
            inner(&self.w[..d], &self.w[..d]),
            inner(&self.w[..d], &direction[..d]),
            inner(&direction[..d], &direction[..d]),
        );
        let objective = |t: f64| {
            let rows = self.task.rows.iter().zip(self.margins.iter().zip(&along));
            let against = |i: u32| if self.task.y[i as usize] { -1.0 } else { 1.0 };
            let loss: f64 = rows
                .map(|(&i, (m, a))| softplus(against(i) * (m + t * a)))
                .sum();
            0.5 * (ww + 2.0 * t * wd + t * t * dd) + self.c * loss
        };
        let before = objective(0.0);
        let mut t = 1.0;
        // Near the optimum the gain drowns in rounding: then accept what does not visibly rise.
        let slack = 4.0 * f64::EPSILON * before.abs();
        while objective(t) > before + 1e-4 * t * slope + slack {
            t *= 0.5;
            if t < 1e-10 {
                return false;
            }
        }
        self.w
            .iter_mut()
            .zip(direction)
            .for_each(|(w, s)| *w += t * s);
        self.margins
            .iter_mut()
            .zip(&along)
            .for_each(|(m, a)| *m += t * a);
        true
    }
}

/// 1 / (1 + e^−m), accurate at both ends.
pub fn sigmoid(m: f64) -> f64 {
    if m >= 0.0 {
        1.0 / (1.0 + (-m).exp())
    } else {
        let e = m.exp();
        e / (1.0 + e)
    }
}

/// log(1 + e^m), accurate at both ends.
fn softplus(m: f64) -> f64 {
    m.max(0.0) + (-m.abs()).exp().ln_1p()
}

/// Sixteen partial sums, added up pairwise, so that the compiler may use vector registers.
#[inline(always)]
fn dot(row: &[f32], w: &[f64]) -> f64 {
    let mut sums = [0.0f64; 16];
    let (rows, ws) = (row.chunks_exact(16), w.chunks_exact(16));
    let tail: f64 = rows
        .remainder()
        .iter()
        .zip(ws.remainder())
        .map(|(&x, w)| f64::from(x) * w)
        .sum();
    for (x, w) in rows.zip(ws) {
        for k in 0..16 {
            sums[k] += f64::from(x[k]) * w[k];
        }
    }
    for half in [8, 4, 2, 1] {
        for k in 0..half {
            sums[k] += sums[k + half];
        }
    }
    sums[0] + tail
}

#[inline(always)]
fn add(target: &mut [f64], scale: f64, row: &[f32]) {
    target
        .iter_mut()
        .zip(row)
        .for_each(|(t, &x)| *t += scale * f64::from(x));
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    inner(a, a).sqrt()
}
