//! A model on the way: what the stages of a fit leave behind for it.

use std::sync::Arc;

use rayon::prelude::*;

use super::kept::Kept;
use super::shared::{mark, names};
use super::{Basis, Log, Model, ModelFacts, Scales, View, ViewFacts, ViewSide, arcs};
use crate::config::{Config, Local, Scale};
use crate::dense::{Block, Eigen, Norm, Panels, Small};
use crate::embed::weighted::Weighted;
use crate::error::Result;
use crate::factor::log_window::Landmarks;
use crate::graph::{Graph, NodeIds};
use crate::motif::{Counts, Motif};
use crate::report::{LocalFacts, Report};
use crate::sparse::Csr;
use crate::store::Embedding;

/// Parts of a model, as they are found.
#[derive(Default)]
pub(in crate::embed) struct Draft {
    views: Vec<View>,
    h: Option<Block>,
    structure: Option<Small>,
    features: Vec<String>,
    scales: Scales,
    kept: Kept,
}

/// A local embedding as it was found, before rows and columns are shaped.
pub(in crate::embed) struct Found<'a> {
    pub(in crate::embed) motif: Motif,
    pub(in crate::embed) weighted: &'a Weighted,
    pub(in crate::embed) u: &'a Panels,
    /// Target factors, where arcs keep their directions.
    pub(in crate::embed) v: Option<&'a Panels>,
    pub(in crate::embed) facts: &'a LocalFacts,
    pub(in crate::embed) ids: &'a NodeIds,
}

impl Draft {
    /// Keeps a local embedding; of a directed graph one view for each side.
    pub(in crate::embed) fn view(&mut self, config: &Config, laziness: f64, found: &Found) -> Result<()> {
        match found.v {
            None => self.views.push(View::of(config, laziness, found)?),
            Some(v) => self.views.extend(arcs::views(config, found, v)?),
        }
        Ok(())
    }

    /// Keeps the log window of the view that was kept last, and what its rows were multiplied with.
    pub(in crate::embed) fn log(&mut self, mut landmarks: Landmarks, size: f64) -> Result<()> {
        let view = self.views.last_mut().expect("the log window of a view");
        let Eigen { values, vectors } = view.basis.c.eigen()?;
        let largest = values.first().copied().unwrap_or(0.0);
        let laziness = view.basis.laziness;
        let step = |value: f64| laziness + (1.0 - laziness) * value;
        // Rows of landmarks are zero in directions of other signs.
        let inverse = |value: f64| if value > SMALL * largest { step(value).powi(-(view.step as i32)) } else { 0.0 };
        let mut scaled = vectors.clone();
        scaled.scale_columns(&values.iter().map(|&value| inverse(value)).collect::<Vec<_>>());
        landmarks.rows = landmarks.rows.times(&scaled.times(&vectors.transposed()).times(&view.basis.q));
        view.log = Some(Log { landmarks, size });
        Ok(())
    }

    /// Keeps the steps that were chosen, in the order of the columns of Y.
    pub(in crate::embed) fn keep_steps(&mut self, kept: impl Fn(usize) -> bool) {
        self.views.retain(|view| kept(view.step));
        self.views.sort_by_key(|view| view.step);
    }

    /// Keeps what Y is multiplied with to give Z.
    pub(in crate::embed) fn global(&mut self, h: &Block) {
        self.h = Some(h.clone());
    }

    /// Keeps what features and a column of ones are multiplied with.
    pub(in crate::embed) fn structure(&mut self, features: Vec<String>, matrix: Small) {
        (self.features, self.structure) = (features, Some(matrix));
    }

    /// Keeps the motif counts.
    pub(in crate::embed) fn counts(&mut self, counts: &Arc<Counts>) {
        self.kept = Kept::of(counts);
    }

    /// Keeps the sizes of the last stage.
    pub(in crate::embed) fn scales(&mut self, scales: Scales) {
        self.scales = scales;
    }

    /// The model of a finished run.
    pub(in crate::embed) fn finish(
        self,
        config: &Config,
        report: &Report,
        graph: &Graph,
        embedding: &Embedding,
    ) -> Model {
        let Draft { views, h, structure, features, scales, kept } = self;
        let view = |view: &View| ViewFacts {
            motif: view.motif.name().to_owned(),
            step: view.step,
            side: view.side,
            laziness: view.basis.laziness,
        };
        let facts = ModelFacts {
            version: report.version.clone(),
            config: config.clone(),
            graph: report.graph.clone(),
            fingerprint: graph.fingerprint(),
            columns: embedding.columns.clone(),
            blocks: report.blocks.clone(),
            features,
            views: views.iter().map(view).collect(),
        };
        let (ids, vectors) = (embedding.ids.clone(), embedding.vectors.clone());
        Model { facts, ids, vectors, views, h, structure, scales, kept }
    }
}

impl View {
    fn of(config: &Config, laziness: f64, found: &Found) -> Result<View> {
        let Found { motif, weighted, u, facts, ids, .. } = *found;
        let graph = &weighted.graph;
        let degrees = degrees(&graph.matrix, graph.scale);
        let tau = config.regularize * mean_of_nonzero(&degrees);
        let x = joined(u);
        let a = normalized(&graph.matrix, graph.scale, &degrees, tau);
        let mut image = Block::zeros(x.rows(), x.cols());
        a.multiply(&x, &mut image);
        let c = symmetric(&x.cross(&image));
        let residual = relative_residual(image, &x, &c);
        let mut basis = Basis { q: Small::identity(c.rows()), c, laziness };
        basis.q = signs_to(&basis.step(), facts.step)?;
        let names = names(ids);
        let name = |i: usize| graph.nodes.as_ref().map_or(i as u32, |nodes| nodes[i]);
        let marks = (0..x.rows()).into_par_iter().map(|i| {
            let (columns, values) = graph.matrix.row(i);
            let entry = |(&j, &w): (&u32, &f32)| mark(names[name(j as usize) as usize], f64::from(w) / graph.scale);
            columns.iter().zip(values).filter(|(_, w)| **w != 0.0).map(entry).fold(0, u64::wrapping_add)
        });
        Ok(View {
            motif,
            step: facts.step,
            side: ViewSide::Both,
            nodes: graph.nodes.clone(),
            marks: marks.collect(),
            weights: weights(&config.local, &x, &facts.singular_values),
            basis,
            x,
            degrees,
            tau,
            residual,
            log: None,
        })
    }
}

/// All panels in one block; the panels stay.
pub(super) fn joined(u: &Panels) -> Block {
    u.clone().into_block()
}

/// Motif degrees, of weights as they are.
pub(super) fn degrees(matrix: &Csr, scale: f64) -> Vec<f64> {
    let sum = |i: usize| matrix.row(i).1.iter().map(|&w| f64::from(w)).sum::<f64>() / scale;
    (0..matrix.rows()).into_par_iter().map(sum).collect()
}

/// (D+τ)^-½ W (D+τ)^-½.
pub(super) fn normalized(matrix: &Csr, scale: f64, degrees: &[f64], tau: f64) -> Csr {
    let roots: Vec<f64> = degrees.iter().map(|&d| root(d, tau)).collect();
    matrix.scaled(|i, j| roots[i] * roots[j] / scale)
}

/// (d+τ)^-½; nothing for a node without the motif.
pub(super) fn root(degree: f64, tau: f64) -> f64 {
    if degree > 0.0 { (degree + tau).sqrt().recip() } else { 0.0 }
}

pub(super) fn mean_of_nonzero(d: &[f64]) -> f64 {
    let nodes = d.iter().filter(|&&d| d != 0.0).count();
    d.iter().sum::<f64>() / nodes.max(1) as f64
}

/// The symmetric part.
pub(super) fn symmetric(c: &Small) -> Small {
    Small::from_fn(c.rows(), c.cols(), |i, j| (c.get(i, j) + c.get(j, i)) / 2.0)
}

/// ‖A X − X C‖ / ‖X C‖, A X being the image: X may be some rows of factors only.
pub(super) fn relative_residual(mut image: Block, x: &Block, c: &Small) -> f64 {
    let expected = x.times(c);
    image.update_rows(|i, row| row.iter_mut().zip(expected.row(i)).for_each(|(to, x)| *to -= x));
    let length = |block: &Block| block.column_norms(Norm::L2).iter().map(|norm| norm * norm).sum::<f64>().sqrt();
    let size = length(&expected);
    if size > 0.0 { length(&image) / size } else { 0.0 }
}

/// Q with L^K Q = (L²)^(K/2): the signs of the eigenvalues of L where K is odd.
fn signs_to(c: &Small, step: usize) -> Result<Small> {
    let r = c.rows();
    if step.is_multiple_of(2) {
        return Ok(Small::identity(r));
    }
    let eigen = c.eigen()?;
    let mut signed = eigen.vectors.clone();
    signed.scale_columns(&eigen.values.iter().map(|&value| if value < 0.0 { -1.0 } else { 1.0 }).collect::<Vec<_>>());
    Ok(signed.times(&eigen.vectors.transposed()))
}

/// Eigenvalues below this part of the largest have no part in a window.
const SMALL: f64 = 1e-2;

/// Singular values below this part of the largest are rounding noise.
const NOISE: f64 = 1e-6;

/// What the columns of U Σ^K are multiplied with by the norm and the scale of a local embedding.
pub(super) fn weights(local: &Local, x: &Block, sigma: &[f64]) -> Vec<f64> {
    let largest = sigma.first().copied().unwrap_or(0.0);
    let weight = |(norm, &sigma): (f64, &f64)| match local.scale {
        _ if norm <= 0.0 || sigma <= NOISE * largest => 0.0,
        Scale::Sigma => 1.0 / (norm * largest),
        Scale::Unit => 1.0 / (norm * sigma),
    };
    x.column_norms(local.norm).into_iter().zip(sigma).map(weight).collect()
}
