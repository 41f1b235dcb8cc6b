//! W_t on the device, from the counts there, and other functions of its values (`kernels/weights.cu`).
//!
//! If most positions have a weight, W_t shares the pattern of the graph, and its values never leave the device. Else it
//! is compacted there, and its pattern copied to this process.
//!
//! Structure features on the device: motif degrees, and sums, means and maxima over neighbours (`features.rs`
//! of the method).
//!
//! All columns are stored there, 16 bytes per node and motif, since Gram matrix and components are computed
//! from them at once.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

use hone::Result;
use hone::dense::{Columns, Group};
use hone::features::{NamedColumns, Structure};
use hone::graph::Graph;
use hone::motif::{
    Counts, Motif, MotifGraph, Weighting, overflow, shares_pattern, unit_of_weights,
};
use hone::space::{Fold, Space};
use hone::sparse::{Csr, Diagonal, Pattern, RemoteValues};

use crate::Cuda;
use crate::counting::Counted;
use crate::counting::{THREADS, WARPS};
use crate::driver::{Arg, Memory, NULL};
use crate::engine::Kept;
use crate::resident::{Matrix, Positions};
use crate::space::SIDE;
use crate::space::{Panel, count, wide};

/// Number of parts in which rows or values are summed.
const PARTS: usize = 1024;

/// Values of a sparse matrix in device memory.
pub(crate) struct Values {
    cuda: Cuda,
    rows: usize,
    nonzeros: usize,
    positions: Arc<Positions>,
    values: Arc<Memory<f32>>,
    /// Row sums, if known.
    sums: Option<Memory<f64>>,
    /// A copy of them, made when first requested.
    sums_here: OnceLock<Arc<Vec<f64>>>,
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Values")
            .field("nonzeros", &self.nonzeros)
            .finish_non_exhaustive()
    }
}

impl Values {
    fn matrix(&self) -> [Arg; 4] {
        let Positions {
            offsets, columns, ..
        } = &*self.positions;
        [
            wide(self.rows),
            offsets.address(),
            columns.address(),
            self.values.address(),
        ]
    }
}

impl RemoteValues for Values {
    fn read(&self) -> Vec<f32> {
        let mut values = vec![0.0; self.nonzeros];
        self.cuda.driver.download(&self.values, &mut values);
        values
    }

    fn times_vector(&self, x: &[f64]) -> Vec<f64> {
        let driver = &self.cuda.driver;
        let (x, y) = (driver.upload(x), driver.reserve::<f64>(self.rows));
        let args = [&self.matrix()[..], &[x.address(), y.address()]].concat();
        self.cuda
            .start("times_vector", self.rows.div_ceil(WARPS), &args);
        let mut product = vec![0.0; self.rows];
        driver.download(&y, &mut product);
        product
    }

    fn row_sums(&self) -> Arc<Vec<f64>> {
        let find = || match &self.sums {
            None => self.times_vector(&vec![1.0; self.rows]),
            Some(known) => {
                let mut sums = vec![0.0; self.rows];
                self.cuda.driver.download(known, &mut sums);
                sums
            }
        };
        self.sums_here.get_or_init(|| Arc::new(find())).clone()
    }

    fn squares(&self) -> f64 {
        let (driver, part) = (&self.cuda.driver, self.nonzeros.div_ceil(PARTS).max(1));
        let parts = self.nonzeros.div_ceil(part);
        let sums = driver.reserve::<f64>(parts);
        let args = [
            wide(self.nonzeros),
            wide(part),
            self.values.address(),
            sums.address(),
        ];
        self.cuda.start("squares", parts, &args);
        let mut found = vec![0.0; parts];
        driver.download(&sums, &mut found);
        found.into_iter().sum()
    }

    fn scaled(&self, scale: f64, left: &Diagonal, right: &Diagonal) -> Arc<dyn RemoteValues> {
        let (driver, resident) = (&self.cuda.driver, &self.cuda.resident);
        let (left, right) = (
            resident.diagonal(driver, left),
            resident.diagonal(driver, right),
        );
        let values = driver.reserve::<f32>(self.nonzeros);
        let by = [
            Arg::Real(scale),
            left.address(),
            right.address(),
            values.address(),
        ];
        self.cuda.start(
            "scale_both",
            self.rows.div_ceil(WARPS),
            &[&self.matrix()[..], &by].concat(),
        );
        let (cuda, positions, values) =
            (self.cuda.clone(), self.positions.clone(), Arc::new(values));
        Arc::new(Values {
            cuda,
            rows: self.rows,
            nonzeros: self.nonzeros,
            positions,
            values,
            sums: None,
            sums_here: OnceLock::new(),
        })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Statistics of all weights of a motif.
#[derive(Default)]
struct Summary {
    nonzeros: usize,
    below: usize,
    total: f64,
    largest: f64,
}

/// Weights of all positions, and per row the number of nonzeros and the sum.
struct Weights {
    values: Memory<f32>,
    nonzeros: Memory<u64>,
    sums: Memory<f64>,
}

impl Cuda {
    /// A sparse matrix on the device: where its values are, or a copy.
    pub(crate) fn resident_matrix(&self, matrix: &Csr) -> Matrix {
        let own = matrix
            .remote_values()
            .and_then(|values| values.as_any().downcast_ref::<Values>());
        match own.filter(|own| Arc::ptr_eq(&own.cuda.0, &self.0)) {
            Some(own) => Matrix {
                positions: own.positions.clone(),
                values: own.values.clone(),
            },
            None => self.resident.matrix(&self.driver, matrix),
        }
    }

    /// W_t, if the motifs of an undirected graph were counted here.
    pub(crate) fn motif_graph_there(
        &self,
        counts: &Counts,
        graph: &Graph,
        motif: Motif,
        weighting: Weighting,
    ) -> Result<Option<MotifGraph>> {
        let same = !graph.is_directed() && Arc::ptr_eq(graph.pattern(), counts.pattern());
        let Some(of) = self
            .counts_of(counts)
            .filter(|_| same && !motif.is_directed())
        else {
            return Ok(None);
        };
        let own = graph.weights().filter(|_| weighting.use_weights);
        let unit = own.map_or(1.0, |own| unit_of_weights(own));
        let own = own.map(|own| self.resident.values(&self.driver, own));
        let own = own.as_ref().map_or(NULL, |own| own.address());
        let (weights, summary) = self.weighed(
            &of,
            motif,
            [Arg::Real(weighting.delta as f64), own, Arg::Real(unit)],
        );
        if !summary.largest.is_finite() {
            return Err(overflow(motif));
        }
        let (nodes, matrix) = if shares_pattern(summary.nonzeros, of.slots) {
            let (positions, values) = (of.positions.clone(), Arc::new(weights.values));
            let (sums, sums_here) = (Some(weights.sums), OnceLock::new());
            let (cuda, rows, nonzeros) = (self.clone(), of.nodes, of.slots);
            let values = Values {
                cuda,
                rows,
                nonzeros,
                positions,
                values,
                sums,
                sums_here,
            };
            (
                None,
                Csr::with_remote_values(graph.pattern().clone(), Arc::new(values)),
            )
        } else {
            self.compacted(&of, &weights, summary.nonzeros)
        };
        let (total, below_delta) = (summary.total / unit, summary.below);
        Ok(Some(MotifGraph {
            motif,
            nodes,
            matrix,
            scale: unit,
            total,
            nnz: summary.nonzeros,
            below_delta,
        }))
    }

    fn weighed(&self, of: &Counted, motif: Motif, how: [Arg; 3]) -> (Weights, Summary) {
        let (driver, nodes) = (&self.driver, of.nodes);
        let (values, nonzeros) = (
            driver.reserve::<f32>(of.slots),
            driver.reserve::<u64>(nodes + 1),
        );
        let (below, sums, totals) = (
            driver.reserve::<u64>(nodes),
            driver.reserve::<f64>(nodes),
            driver.reserve::<f64>(nodes),
        );
        let to = [
            values.address(),
            nonzeros.address(),
            below.address(),
            sums.address(),
            totals.address(),
        ];
        let args = [
            &[wide(nodes)],
            &of.args()[..],
            &[Arg::Count(motif.orbit_bits())],
            &how,
            &to,
        ]
        .concat();
        self.start("weigh", nodes.div_ceil(WARPS), &args);
        let part = nodes.div_ceil(PARTS).max(1);
        let parts = nodes.div_ceil(part);
        let (whole, weights) = (
            driver.reserve::<u64>(3 * parts),
            driver.reserve::<f64>(2 * parts),
        );
        let from = [
            nonzeros.address(),
            below.address(),
            totals.address(),
            whole.address(),
            weights.address(),
        ];
        self.start(
            "summary",
            parts,
            &[&[wide(nodes), wide(part)], &from[..]].concat(),
        );
        let (mut numbers, mut sizes) = (vec![0u64; 3 * parts], vec![0f64; 2 * parts]);
        driver.download(&whole, &mut numbers);
        driver.download(&weights, &mut sizes);
        let mut summary = Summary::default();
        for (numbers, sizes) in numbers.chunks_exact(3).zip(sizes.chunks_exact(2)) {
            summary.nonzeros += numbers[0] as usize;
            summary.below += numbers[2] as usize;
            summary.total += sizes[0];
            summary.largest = summary.largest.max(sizes[1]);
        }
        (
            Weights {
                values,
                nonzeros,
                sums,
            },
            summary,
        )
    }

    /// The matrix without zeros, on the nodes that have a nonzero.
    fn compacted(
        &self,
        of: &Counted,
        weights: &Weights,
        nonzeros: usize,
    ) -> (Option<Vec<u32>>, Csr) {
        let (driver, rows) = (&self.driver, of.nodes);
        let number = driver.reserve::<u64>(rows + 1);
        self.start(
            "touched",
            rows.div_ceil(THREADS),
            &[wide(rows), weights.nonzeros.address(), number.address()],
        );
        self.sum_before(&number, rows);
        self.sum_before(&weights.nonzeros, rows);
        let kept = self.value(&number, rows);
        let (nodes, offsets) = (
            driver.reserve::<u32>(kept),
            driver.reserve::<usize>(kept + 1),
        );
        let (columns, values) = (
            driver.reserve::<u32>(nonzeros),
            driver.reserve::<f32>(nonzeros),
        );
        let sums = driver.reserve::<f64>(kept);
        let from = [
            of.positions.offsets.address(),
            of.positions.columns.address(),
            weights.values.address(),
        ];
        let places = [
            number.address(),
            weights.nonzeros.address(),
            weights.sums.address(),
        ];
        let to = [
            nodes.address(),
            offsets.address(),
            columns.address(),
            values.address(),
            sums.address(),
        ];
        self.start(
            "compact",
            rows.div_ceil(WARPS),
            &[&[wide(rows)], &from[..], &places, &to].concat(),
        );
        let (mut nodes_here, mut offsets_here, mut columns_here) =
            (vec![0; kept], vec![0; kept + 1], vec![0; nonzeros]);
        driver.download(&nodes, &mut nodes_here);
        driver.download(&offsets, &mut offsets_here);
        driver.download(&columns, &mut columns_here);
        if rows == 0 {
            offsets_here = vec![0];
        }
        let pattern = Arc::new(Pattern::new(offsets_here, columns_here, kept));
        let positions = Arc::new(Positions::new(driver, &pattern, offsets, columns));
        self.resident.remember(&pattern, &positions);
        let (cuda, values, sums, sums_here) =
            (self.clone(), Arc::new(values), Some(sums), OnceLock::new());
        let values = Values {
            cuda,
            rows: kept,
            nonzeros,
            positions,
            values,
            sums,
            sums_here,
        };
        let nodes = if kept == rows { None } else { Some(nodes_here) };
        (nodes, Csr::with_remote_values(pattern, Arc::new(values)))
    }
}

impl Cuda {
    /// The features, if motifs were counted here and one level of logarithms is requested.
    pub(crate) fn features_there(
        &self,
        features: &Structure,
        counts: &Counts,
    ) -> Result<Option<NamedColumns>> {
        let Some(of) = self.counts_of(counts) else {
            return Ok(None);
        };
        let motifs = features.motifs.motifs();
        let known = motifs.len() <= SIDE && motifs.iter().all(|motif| !motif.is_directed());
        if !(known && features.log && features.depth == 1) {
            return Ok(None);
        }
        let (nodes, width) = (of.nodes, motifs.len());
        let masks: Vec<u32> = motifs.iter().map(|motif| motif.orbit_bits()).collect();
        let masks = self.driver.upload(&masks);
        let degrees = self.zeros(nodes, width);
        let last = [masks.address(), count(width), degrees.address()];
        self.start(
            "motif_degrees",
            nodes.div_ceil(WARPS),
            &[&[wide(nodes)], &of.args()[..], &last].concat(),
        );
        let panel = |wanted: bool| wanted.then(|| self.zeros(nodes, width));
        let logs = self.zeros(nodes, width);
        self.logarithms(&degrees, &logs);
        let (sums, means, maxima) = (
            panel(features.sum),
            panel(features.mean),
            panel(features.max),
        );
        let address = |panel: &Option<Panel>| panel.as_ref().map_or(NULL, Panel::address);
        let graph = [
            wide(nodes),
            of.positions.offsets.address(),
            of.positions.columns.address(),
            count(width),
        ];
        let to = [
            degrees.address(),
            logs.address(),
            address(&sums),
            address(&means),
            address(&maxima),
        ];
        self.start(
            "aggregate",
            nodes.div_ceil(WARPS),
            &[&graph, &to[..]].concat(),
        );
        let (names, origins) = features.named(counts);
        if let Some(sums) = &sums {
            let largest = self.fold(std::slice::from_ref(sums), Fold::Extreme);
            features.check_sums(&names[width..], &largest)?;
            self.logarithms(sums, sums);
        }
        let panels = [Some(logs), sums, means, maxima]
            .into_iter()
            .flatten()
            .collect();
        let group = Group::stored(None, Arc::new(Kept::new(self, panels)));
        Ok(Some(NamedColumns {
            names,
            origins,
            columns: Columns::new(nodes, vec![group]),
        }))
    }

    fn logarithms(&self, of: &Panel, to: &Panel) {
        self.start(
            "take_logs",
            of.len().div_ceil(THREADS),
            &[wide(of.len()), of.address(), to.address()],
        );
    }
}
