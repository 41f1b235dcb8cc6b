//! A model on the way: what the stages of a fit leave behind for it.

use std::path::Path;
use std::sync::Arc;

use super::found::Found;
use super::kept::Kept;
use super::normal::{
    degrees, joined, mean_of_nonzero, normalized, relative_residual, symmetric, weights,
};
use super::rows::nonzeros;
use super::shared::{mark, names};
use super::{Basis, Log, Model, ModelFacts, Scales, View, ViewFacts, ViewSide, arcs};
use crate::config::Config;
use crate::dense::{Block, Eigen, Small};
use crate::embed::weighted::is_of_edges;
use crate::engine::Shape;
use crate::error::Result;
use crate::factor::log_window::Landmarks;
use crate::graph::{Graph, GraphFacts};
use crate::motif::Counts;
use crate::parallel;
use crate::report::Report;
use crate::sparse::multiply;
use crate::store::Embedding;

/// Parts of a model, as they are found.
#[derive(Default)]
pub(in crate::embed) struct Draft {
    views: Vec<View>,
    h: Option<Block>,
    structure: Option<Small>,
    features: Vec<String>,
    scales: Scales,
    triangles: Option<Vec<u64>>,
    /// Slots of the graph whose triangles these are, and whether each view tells of all of them.
    slots: usize,
    tell: bool,
    kept: Kept,
}

impl Draft {
    /// Keeps a local embedding; of a directed graph one view for each side.
    pub(in crate::embed) fn view(
        &mut self,
        config: &Config,
        laziness: f64,
        found: &Found,
    ) -> Result<()> {
        let told =
            is_of_edges(config, found.motif) && nonzeros(&found.weighted.graph) == self.slots;
        self.tell = told && (self.tell || self.views.is_empty());
        match found.v {
            None => self.views.push(View::of(config, laziness, found)?),
            Some(v) => self.views.extend(arcs::views(config, found, v)?),
        }
        Ok(())
    }

    /// Keeps the log window of the view that was kept last, what its rows were multiplied with, and what the weights of the graph
    /// were multiplied with when it was made: degrees of models are those of weights as they are.
    pub(in crate::embed) fn log(
        &mut self,
        mut landmarks: Landmarks,
        (size, scale): (f64, f64),
    ) -> Result<()> {
        let view = self.views.last_mut().expect("the log window of a view");
        let Eigen { values, vectors } = view.basis.c.eigen()?;
        let largest = values.first().copied().unwrap_or(0.0);
        let laziness = view.basis.laziness;
        let step = |value: f64| laziness + (1.0 - laziness) * value;
        // Rows of landmarks are zero in directions of other signs.
        let inverse = |value: f64| {
            if value > SMALL * largest {
                step(value).powi(-(view.step as i32))
            } else {
                0.0
            }
        };
        let mut scaled = vectors.clone();
        scaled.scale_columns(
            &values
                .iter()
                .map(|&value| inverse(value))
                .collect::<Vec<_>>(),
        );
        landmarks.rows = landmarks
            .rows
            .times(&scaled.times(&vectors.transposed()).times(&view.basis.q));
        if scale != 1.0 {
            landmarks
                .rows
                .scale_columns(&vec![scale.sqrt().recip(); landmarks.rows.cols()]);
        }
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
        self.triangles = if counts.triads().is_none() {
            counts.triangles()
        } else {
            None
        };
        self.slots = counts.pattern().nnz();
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
        let Draft {
            views,
            h,
            structure,
            features,
            scales,
            triangles,
            tell,
            kept,
            ..
        } = self;
        // Those of a graph that views do not tell all of could not be used.
        let triangles = triangles.filter(|_| tell && structure.is_some());
        let view = |view: &View| ViewFacts {
            motif: view.motif.name().to_owned(),
            step: view.step,
            side: view.side,
            laziness: view.basis.laziness,
        };
        let facts = ModelFacts {
            version: report.version.clone(),
            config: config.clone(),
            graph: without_folders(report.graph.clone()),
            fingerprint: graph.fingerprint(),
            columns: embedding.columns.clone(),
            blocks: report.blocks.clone(),
            features,
            views: views.iter().map(view).collect(),
        };
        let (ids, vectors) = (embedding.ids.clone(), embedding.vectors.clone().into());
        Model {
            facts,
            ids,
            vectors,
            views,
            h,
            structure,
            scales,
            triangles,
            kept,
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

impl View {
    fn of(config: &Config, laziness: f64, found: &Found) -> Result<View> {
        let Found {
            motif,
            weighted,
            u,
            facts,
            ids,
            ..
        } = *found;
        let graph = &weighted.graph;
        let degrees = degrees(&graph.matrix, graph.scale);
        let tau = config.regularize * mean_of_nonzero(&degrees);
        let x = joined(u);
        let a = normalized(&graph.matrix, graph.scale, &degrees, tau);
        let mut image = Block::zeros(x.rows(), x.cols());
        multiply(&a, &x, &mut image);
        let c = symmetric(&x.cross(&image));
        let residual = relative_residual(image, &x, &c);
        let mut basis = Basis {
            q: Small::identity(c.rows()),
            c,
            laziness,
        };
        basis.q = signs_to(&basis.step(), facts.step)?;
        let shape = Shape::new(&config.local, facts.step, laziness, true);
        let names = names(ids);
        let name = |i: usize| graph.nodes.as_ref().map_or(i as u32, |nodes| nodes[i]);
        let marks = parallel::collect(x.rows(), |i| {
            let (columns, values) = graph.matrix.row(i);
            let entry = |(&j, &w): (&u32, &f32)| {
                mark(names[name(j as usize) as usize], f64::from(w) / graph.scale)
            };
            columns
                .iter()
                .zip(values)
                .filter(|(_, w)| **w != 0.0)
                .map(entry)
                .fold(0, u64::wrapping_add)
        });
        Ok(View {
            motif,
            step: facts.step,
            side: ViewSide::Both,
            nodes: graph.nodes.clone(),
            marks,
            weights: weights(&shape, &x, &facts.singular_values),
            basis,
            x: x.into(),
            degrees,
            tau,
            residual,
            log: None,
        })
    }
}

/// Q with L^K Q = (L²)^(K/2): the signs of the eigenvalues of L where K is odd.
fn signs_to(c: &Small, step: usize) -> Result<Small> {
    let r = c.rows();
    if step.is_multiple_of(2) {
        return Ok(Small::identity(r));
    }
    let eigen = c.eigen()?;
    let mut signed = eigen.vectors.clone();
    signed.scale_columns(
        &eigen
            .values
            .iter()
            .map(|&value| if value < 0.0 { -1.0 } else { 1.0 })
            .collect::<Vec<_>>(),
    );
    Ok(signed.times(&eigen.vectors.transposed()))
}

/// Eigenvalues below this part of the largest have no part in a window.
const SMALL: f64 = 1e-2;
