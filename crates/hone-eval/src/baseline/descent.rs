//! Gradient descent on the samples of skip-gram with negative sampling, one thread's share.
//!
//! Samples of one vertex that follow each other are trained in groups of up to eight, in the manner of
//! word2vec, whose group is a pair with its negatives: all products are taken before anything
//! moves, so that none waits for another's step, and the vertex is read and written once per group.
//! A context that is twice in a group moves twice, the second time from where the first left it.
//! The last bits depend on the vector width of the machine.
//!
//! Cost: two passes of length D over each context, one and a bit over the vertex.
//! Reference: Mikolov et al., Distributed representations of words and phrases, 2013.

/// Marks a true pair in the context index of a sample.
pub(super) const TRUE: u32 = 1 << 31;
/// Samples of one vertex that are trained at once.
const GROUP: usize = 8;
/// Rows are padded with zeros to a multiple of this, two of the widest vectors: padding stays zero.
pub(crate) const PAD: usize = 32;

/// One block of one pool, compiled for the widest vectors the machine has.
pub(super) struct Descent<'a> {
    pub(super) samples: &'a [(u32, u32)],
    pub(super) vertices: &'a mut [f32],
    /// Absent when both ends are rows of `vertices`.
    pub(super) contexts: Option<&'a mut [f32]>,
    pub(super) stride: usize,
    pub(super) rate: f32,
    pub(super) sigmoid: &'a Sigmoid,
}

impl pulp::WithSimd for Descent<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) {
        let Descent {
            samples,
            vertices,
            contexts,
            stride,
            rate,
            sigmoid,
        } = self;
        match contexts {
            Some(contexts) => {
                for run in samples.chunk_by(|a, b| a.0 == b.0) {
                    let vertex = &mut vertices[run[0].0 as usize * stride..][..stride];
                    for group in run.chunks(GROUP) {
                        learn(simd, vertex, contexts, group, rate, sigmoid);
                    }
                }
            }
            None => {
                for &(v, marked) in samples {
                    let (a, b) = (v as usize * stride, (marked & !TRUE) as usize * stride);
                    let (low, high) = vertices.split_at_mut(a.max(b));
                    let (vertex, context) = (&mut low[a.min(b)..][..stride], &mut high[..stride]);
                    learn(simd, vertex, context, &[(0, marked & TRUE)], rate, sigmoid);
                }
            }
        }
    }
}

/// One step of gradient descent on Σ −log σ(±v·c) over a group of contexts c of one vertex: all
/// products are taken before anything moves, so that none waits for another, and v is read and
/// written once.
#[inline(always)]
fn learn<S: pulp::Simd>(
    simd: S,
    vertex: &mut [f32],
    contexts: &mut [f32],
    group: &[(u32, u32)],
    rate: f32,
    sigmoid: &Sigmoid,
) {
    let stride = vertex.len();
    let mut pulls = [(0, simd.splat_f32s(0.0)); GROUP];
    for (pull, &(_, marked)) in pulls.iter_mut().zip(group) {
        let start = (marked & !TRUE) as usize * stride;
        let error = sigmoid.error(dot(simd, vertex, &contexts[start..start + stride]), marked);
        *pull = (start, simd.splat_f32s(rate * error));
    }
    let (vectors, _) = S::as_mut_simd_f32s(vertex);
    for (k, v) in vectors.chunks_exact_mut(2).enumerate() {
        let old = [v[0], v[1]];
        let mut new = old;
        for &(start, pull) in &pulls[..group.len()] {
            let (c, _) = S::as_mut_simd_f32s(
                &mut contexts[start + 2 * k * S::F32_LANES..][..2 * S::F32_LANES],
            );
            for half in 0..2 {
                let context = c[half];
                new[half] = simd.mul_add_e_f32s(pull, context, new[half]);
                c[half] = simd.mul_add_e_f32s(pull, old[half], context);
            }
        }
        v.copy_from_slice(&new);
    }
}

/// The product of two rows, whose length is a multiple of [`PAD`].
#[inline(always)]
fn dot<S: pulp::Simd>(simd: S, a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [simd.splat_f32s(0.0); 2];
    let ((a, _), (b, _)) = (S::as_simd_f32s(a), S::as_simd_f32s(b));
    for (a, b) in a.chunks_exact(2).zip(b.chunks_exact(2)) {
        for half in 0..2 {
            sums[half] = simd.mul_add_e_f32s(a[half], b[half], sums[half]);
        }
    }
    simd.reduce_sum_f32s(simd.add_f32s(sums[0], sums[1]))
}

/// The logistic function by table on [−8, 8].
pub(super) struct Sigmoid(Vec<f32>);

impl Sigmoid {
    pub(super) fn new() -> Self {
        Sigmoid(
            (0..=4096)
                .map(|i| (1.0 / (1.0 + (8.0 - f64::from(i) / 256.0).exp())) as f32)
                .collect(),
        )
    }

    #[inline(always)]
    fn at(&self, x: f32) -> f32 {
        self.0[((x.clamp(-8.0, 8.0) + 8.0) * 256.0 + 0.5) as usize]
    }

    /// What the prediction σ(x) misses of the truth of a sample.
    #[inline(always)]
    fn error(&self, x: f32, marked: u32) -> f32 {
        let truth = if marked & TRUE != 0 { 1.0 } else { 0.0 };
        truth - self.at(x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sigmoid_is_close() {
        let table = Sigmoid::new();
        for i in -120..=120 {
            let x = i as f32 / 10.0;
            assert!((table.at(x) - 1.0 / (1.0 + (-x).exp())).abs() < 1e-3);
        }
    }

    /// The definition in f64: the gradients of different contexts are taken at the vectors before the step.
    #[test]
    fn a_group_moves_along_the_sum_of_its_gradients() {
        let (dim, stride, rate) = (37, 64, 0.05);
        let value = |i: usize, k: usize| {
            if k < dim {
                ((i * 37 + k * 11) % 23) as f32 / 23.0 - 0.5
            } else {
                0.0
            }
        };
        let start: Vec<Vec<f32>> = (0..10)
            .map(|i| (0..stride).map(|k| value(i, k)).collect())
            .collect();
        for tied in [false, true] {
            // The vertex is row 9; tied samples are single steps, so one suffices.
            let contexts = if tied { 1 } else { GROUP };
            let samples: Vec<(u32, u32)> = (0..contexts as u32)
                .map(|c| {
                    (
                        if tied { 9 } else { 0 },
                        c | if c.is_multiple_of(3) { TRUE } else { 0 },
                    )
                })
                .collect();
            let mut rows: Vec<f32> = start[..9].concat();
            let mut vertex = start[9].clone();
            if tied {
                rows.extend(&vertex);
            }
            let sigmoid = Sigmoid::new();
            let (vertices, others) = if tied {
                (&mut rows, None)
            } else {
                (&mut vertex, Some(&mut rows[..]))
            };
            let train = Descent {
                samples: &samples,
                vertices,
                contexts: others,
                stride,
                rate,
                sigmoid: &sigmoid,
            };
            pulp::Arch::new().dispatch(train);
            let got = if tied {
                rows[9 * stride..].to_vec()
            } else {
                vertex
            };
            let mut wanted: Vec<f64> = start[9].iter().map(|&x| f64::from(x)).collect();
            for &(_, marked) in &samples {
                let c = (marked & !TRUE) as usize;
                let product: f64 = start[9]
                    .iter()
                    .zip(&start[c])
                    .map(|(&x, &y)| f64::from(x) * f64::from(y))
                    .sum();
                let truth = if c.is_multiple_of(3) { 1.0 } else { 0.0 };
                let pull = f64::from(rate) * (truth - 1.0 / (1.0 + (-product).exp()));
                for k in 0..stride {
                    wanted[k] += pull * f64::from(start[c][k]);
                    let moved = f64::from(start[c][k]) + pull * f64::from(start[9][k]);
                    assert!(
                        (f64::from(rows[c * stride + k]) - moved).abs() < 1e-4,
                        "context {c}, tied {tied}"
                    );
                }
            }
            assert!(
                got.iter()
                    .zip(&wanted)
                    .all(|(g, w)| (f64::from(*g) - w).abs() < 1e-4),
                "tied {tied}"
            );
            assert!(got[dim..].iter().all(|&g| g == 0.0), "padding stays zero");
            assert!(
                got.iter().zip(&start[9]).any(|(g, s)| (g - s).abs() > 5e-3),
                "something moved"
            );
        }
    }
}
