//! What the stages of a fit leave behind for a model.
//!
//! For one side of a directed graph, A = (D+τ)^-½ W (D+τ)^-½ with total degrees D is not symmetric, and no power of it has
//! factors that its other powers share. But a row of U Σ = S V is that row of A times A^(K−1) V, and a row of V Σ = Sᵀ U is that
//! row of Aᵀ times (Aᵀ)^(K−1) U. Each side keeps its product as the X of a view. A node is then placed by its own arcs: by those
//! that W has from it among source factors, by those to it among target factors.
//!
//! Walks that first take l steps between new nodes need A^(K−1−l) V. What stands for it is X R^l, X R being closest to
//! A^(K−2) V (least squares): such walks are few, and nodes that have arcs with nodes of the fit alone are placed exactly.
//! Cost: 2 (K−1) products and O(N r²).

use std::path::Path;
use std::sync::Arc;

use super::matching::{marks, names, node};
use super::{Basis, KnownProfiles, Log, Model, ModelFacts, Scales, View, ViewFacts, ViewSide};
use crate::config::Config;
use crate::dense::{Block, Eigen, Panels, Small};
use crate::embed::context::Context;
use crate::embed::profiles::Profiles;
use crate::embed::weighted::is_of_edges;
use crate::engine::Shape;
use crate::error::Result;
use crate::factor::log_window::Landmarks;
use crate::graph::{Graph, GraphFacts, NodeIds};
use crate::matrix::mean_of_nonzero;
use crate::motif::{Counts, MotifGraph};
use crate::parallel;
use crate::report::{LocalFacts, Report};
use crate::sparse::{Csr, multiply};
use crate::store::Embedding;

/// Singular values below this part of the largest are rounding noise.
const NOISE: f64 = 1e-6;
/// Eigenvalues below this part of the largest have no part in a window.
const SMALL: f64 = 1e-2;
/// Directions of X with less than this part of the largest variance have no part in R.
const NEGLIGIBLE: f64 = 1e-6;

/// A model in the making.
#[derive(Default)]
pub(in crate::embed) struct Draft {
    views: Vec<View>,
    /// What Y is multiplied with to give Z.
    pub(in crate::embed) h: Option<Block>,
    /// Features, and what they and a column of ones are multiplied with.
    pub(in crate::embed) structure: Option<(Vec<String>, Small)>,
    pub(in crate::embed) scales: Scales,
    pub(in crate::embed) profiles: Option<(Profiles, Block)>,
    counts: Option<Arc<Counts>>,
}

/// Keeps factors of a motif graph as they were found, before rows and columns are shaped; `v` is there where arcs keep their
/// directions, and gives a view of its own.
pub(in crate::embed) fn keep_factors(
    run: &mut Context,
    ids: &NodeIds,
    graph: &MotifGraph,
    u: &Panels,
    v: Option<&Panels>,
    facts: &LocalFacts,
) -> Result<()> {
    let Some(draft) = &mut run.draft else {
        return Ok(());
    };
    let (local, step) = (&run.config.local, facts.step);
    let back = v.map(|_| graph.matrix.transposed());
    let mut sums = degrees(&graph.matrix, graph.scale);
    if let Some(back) = &back {
        let into = degrees(back, graph.scale).into_iter();
        sums.iter_mut()
            .zip(into)
            .for_each(|(out, into)| *out += into);
    }
    let tau = run.config.regularize * mean_of_nonzero(&sums);
    let names = names(ids);
    let marks = marks(graph, back.as_ref(), |row| Some(names[node(graph, row)]));
    let laziness = if v.is_none() { run.laziness } else { 0.0 };
    let shape = Shape::new(local, step, laziness, v.is_none());
    let normalized = |matrix: &Csr| normalized(matrix, graph.scale, &sums, tau);
    let weights = |own: &Block| weights(&shape, own, &facts.singular_values);
    let view = |side, weights, x: Block, basis, residual| View {
        motif: graph.motif,
        step,
        side,
        nodes: graph.nodes.clone(),
        marks: marks.clone(),
        weights,
        basis,
        x: x.into(),
        degrees: sums.clone(),
        tau,
        residual,
        log: None,
    };
    let u = u.clone().into_block();
    let (Some(v), Some(back)) = (v, back) else {
        let image = product(&normalized(&graph.matrix), &u);
        let c = u.cross(&image).symmetrized();
        let residual = relative_residual(image, &u, &c);
        let mut basis = Basis {
            q: Small::identity(c.rows()),
            c,
            laziness,
        };
        basis.q = signs(&basis.step(), step)?;
        let weights = weights(&u);
        draft
            .views
            .push(view(ViewSide::Both, weights, u, basis, residual));
        return Ok(());
    };
    let v = v.clone().into_block();
    let factors = [weights(&u), weights(&v)];
    let sides = [
        (ViewSide::Source, &graph.matrix, v),
        (ViewSide::Target, &back, u),
    ];
    for ((side, matrix, other), weights) in sides.into_iter().zip(factors) {
        let (x, c) = walked(&normalized(matrix), other, step)?;
        let basis = Basis {
            q: Small::identity(c.rows()),
            c,
            laziness,
        };
        draft.views.push(view(side, weights, x, basis, 0.0));
    }
    Ok(())
}

impl Draft {
    /// Keeps motif counts: exact ones without directions, from which those of a graph that changed follow.
    pub(in crate::embed) fn keep_counts(&mut self, counts: &Arc<Counts>) {
        let can_be_updated = counts.are_exact() && counts.triads().is_none();
        self.counts = can_be_updated.then(|| Arc::clone(counts));
    }

    /// Keeps the log window of the view that was kept last: what its rows were multiplied with, and what the weights of the
    /// graph were multiplied with when it was made. Degrees of models are those of weights as they are.
    pub(in crate::embed) fn keep_window(
        &mut self,
        mut landmarks: Landmarks,
        size: f64,
        scale: f64,
    ) -> Result<()> {
        let view = self.views.last_mut().expect("the log window of a view");
        let laziness = view.basis.laziness;
        // Rows of landmarks are zero in directions of other signs.
        let inverse = function(&view.basis.c, |value, largest| {
            let step = laziness + (1.0 - laziness) * value;
            let kept = value > SMALL * largest;
            if kept {
                step.powi(-(view.step as i32))
            } else {
                0.0
            }
        })?;
        landmarks.rows = landmarks.rows.times(&inverse.times(&view.basis.q));
        if scale != 1.0 {
            let cols = landmarks.rows.cols();
            landmarks
                .rows
                .scale_columns(&vec![scale.sqrt().recip(); cols]);
        }
        view.log = Some(Log { landmarks, size });
        Ok(())
    }

    /// Keeps the steps that were chosen, in the order of the columns of Y.
    pub(in crate::embed) fn keep_steps(&mut self, kept: impl Fn(usize) -> bool) {
        self.views.retain(|view| kept(view.step));
        self.views.sort_by_key(|view| view.step);
    }

    /// The model of a finished run.
    pub(in crate::embed) fn finish(
        self,
        report: &Report,
        graph: &Graph,
        embedding: &Embedding,
    ) -> Model {
        let Draft {
            views,
            h,
            structure,
            scales,
            profiles,
            counts,
        } = self;
        let (features, structure) = structure.unzip();
        // Triangles of a graph that views do not tell all of could not be used.
        let tells = |counts: &Counts| {
            let edges = counts.pattern().nnz();
            !views.is_empty()
                && report.local.iter().all(|facts| facts.nonzeros == edges)
                && views
                    .iter()
                    .all(|view| is_of_edges(&report.config, view.motif))
        };
        let triangles = counts
            .as_ref()
            .filter(|counts| structure.is_some() && tells(counts));
        let triangles = triangles.and_then(|counts| counts.triangles());
        let view = |view: &View| ViewFacts {
            motif: view.motif.name().to_owned(),
            step: view.step,
            side: view.side,
            laziness: view.basis.laziness,
        };
        let facts = ModelFacts {
            version: report.version.clone(),
            config: without_folder(report.config.clone()),
            graph: without_folders(report.graph.clone()),
            fingerprint: graph.fingerprint(),
            columns: embedding.columns.clone(),
            blocks: report.blocks.clone(),
            features: features.unwrap_or_default(),
            views: views.iter().map(view).collect(),
        };
        Model {
            facts,
            ids: embedding.ids.clone(),
            vectors: embedding.vectors.clone().into(),
            views,
            h,
            structure,
            scales,
            profiles: profiles.map(|(profiles, rows)| KnownProfiles {
                profiles,
                rows: rows.into(),
            }),
            triangles,
            counts,
        }
    }
}

/// The same with the name of the file alone: models are given away, and where a file lies is nobody else's business. Notes name
/// it too.
fn without_folders(mut graph: GraphFacts) -> GraphFacts {
    if let Some(reading) = &mut graph.reading {
        reading.notes.clear();
        if let Some(name) = Path::new(&reading.file).file_name() {
            reading.file = name.to_string_lossy().into_owned();
        }
    }
    graph
}

/// The same for the file of attributes.
fn without_folder(mut config: Config) -> Config {
    let file = config.attributes.file.as_deref().map(Path::new);
    let name = file.and_then(Path::file_name);
    config.attributes.file = name.map(|name| name.to_string_lossy().into_owned());
    config
}

/// A function of a symmetric matrix: of each of its eigenvalues, given with the largest one.
fn function(matrix: &Small, of: impl Fn(f64, f64) -> f64) -> Result<Small> {
    let Eigen { values, vectors } = matrix.eigen()?;
    let largest = values.first().copied().unwrap_or(0.0);
    let mut scaled = vectors.clone();
    let factors: Vec<f64> = values.iter().map(|&value| of(value, largest)).collect();
    scaled.scale_columns(&factors);
    Ok(scaled.times(&vectors.transposed()))
}

/// Q with L^K Q = (L²)^(K/2): the signs of the eigenvalues of L where K is odd.
fn signs(step: &Small, power: usize) -> Result<Small> {
    if power.is_multiple_of(2) {
        return Ok(Small::identity(step.rows()));
    }
    function(step, |value, _| if value < 0.0 { -1.0 } else { 1.0 })
}

/// X = A^(K−1) times the factors of the other side, and R with X R closest to A^(K−2) times them.
fn walked(a: &Csr, mut x: Block, step: usize) -> Result<(Block, Small)> {
    let mut before = None;
    for _ in 1..step {
        let image = product(a, &x);
        before = Some(std::mem::replace(&mut x, image));
    }
    let Some(before) = before else {
        let identity = Small::identity(x.cols());
        return Ok((x, identity));
    };
    let inverse = function(&x.gram(), |value, largest| {
        let kept = value > NEGLIGIBLE * largest;
        if kept { value.recip() } else { 0.0 }
    })?;
    let r = inverse.times(&x.cross(&before));
    Ok((x, r))
}

/// A X.
pub(in crate::embed) fn product(a: &Csr, x: &Block) -> Block {
    let mut image = Block::zeros(x.rows(), x.cols());
    multiply(a, x, &mut image);
    image
}

/// Motif degrees, of weights as they are.
pub(in crate::embed) fn degrees(matrix: &Csr, scale: f64) -> Vec<f64> {
    let sum = |i: usize| matrix.row(i).1.iter().map(|&w| f64::from(w)).sum::<f64>() / scale;
    parallel::collect(matrix.rows(), sum)
}

/// (D+τ)^-½ W (D+τ)^-½.
pub(in crate::embed) fn normalized(matrix: &Csr, scale: f64, degrees: &[f64], tau: f64) -> Csr {
    let roots: Vec<f64> = degrees.iter().map(|&d| root(d, tau)).collect();
    matrix.scaled(|i, j| roots[i] * roots[j] / scale)
}

/// (d+τ)^-½; nothing for a node without the motif.
pub(in crate::embed) fn root(degree: f64, tau: f64) -> f64 {
    match degree > 0.0 {
        true => (degree + tau).sqrt().recip(),
        false => 0.0,
    }
}

/// ‖A X − X C‖ / ‖X C‖, A X being the image: X may be some rows of factors only.
pub(in crate::embed) fn relative_residual(mut image: Block, x: &Block, c: &Small) -> f64 {
    let expected = x.times(c);
    image.update_rows(|i, row| {
        let pairs = row.iter_mut().zip(expected.row(i));
        pairs.for_each(|(to, x)| *to -= x);
    });
    let size = expected.energy().sqrt();
    if size > 0.0 {
        image.energy().sqrt() / size
    } else {
        0.0
    }
}

/// What the columns of U Σ^K are multiplied with by the norm and the scale of a local embedding.
fn weights(shape: &Shape, x: &Block, sigma: &[f64]) -> Vec<f64> {
    let largest = sigma.first().copied().unwrap_or(0.0);
    let scales = shape
        .weights(sigma, x.rows())
        .unwrap_or_else(|| vec![1.0; sigma.len()]);
    let weight = |(norm, (&sigma, scale)): (f64, (&f64, f64))| {
        let solid = norm > 0.0 && sigma > NOISE * largest;
        if solid { scale / (norm * sigma) } else { 0.0 }
    };
    let norms = x.column_norms(shape.norm).into_iter();
    norms.zip(sigma.iter().zip(scales)).map(weight).collect()
}
