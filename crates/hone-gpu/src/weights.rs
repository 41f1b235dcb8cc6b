//! W_t on the device, from the counts there, and other functions of its values (`kernels/weights.cu`).
//!
//! If most positions have a weight, W_t shares the pattern of the graph, and its values never leave the device. Else it
//! is compacted there, and its pattern copied to this process.
//!
//! Structure features there: motif degrees, and sums, means and maxima over neighbours. All columns are stored, 16 bytes
//! per node and motif, since Gram matrix and components are computed from them at once.

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

use crate::counting::Counted;
use crate::driver::{Arg, Memory, args};
use crate::engine::Kept;
use crate::resident::{Matrix, Positions};
use crate::space::{Panel, SIDE};
use crate::{Cuda, THREADS};

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
    fn new(
        cuda: &Cuda,
        (rows, nonzeros): (usize, usize),
        positions: Arc<Positions>,
        values: Memory<f32>,
        sums: Option<Memory<f64>>,
    ) -> Arc<Self> {
        Arc::new(Values {
            cuda: cuda.clone(),
            rows,
            nonzeros,
            positions,
            values: Arc::new(values),
            sums,
            sums_here: OnceLock::new(),
        })
    }

    fn matrix(&self) -> Arg {
        let Positions {
            offsets, columns, ..
        } = &*self.positions;
        args![offsets, columns, &*self.values].to_vec().into()
    }
}

impl RemoteValues for Values {
    fn read(&self) -> Vec<f32> {
        self.cuda.driver.read(&self.values, self.nonzeros)
    }

    fn times_vector(&self, x: &[f64]) -> Vec<f64> {
        let driver = &self.cuda.driver;
        let (x, y) = (driver.upload(x), driver.reserve::<f64>(self.rows));
        let args = args![self.matrix(), &x, &y];
        self.cuda.per_row("times_vector", self.rows, &args);
        driver.read(&y, self.rows)
    }

    fn row_sums(&self) -> Arc<Vec<f64>> {
        let find = || match &self.sums {
            None => self.times_vector(&vec![1.0; self.rows]),
            Some(known) => self.cuda.driver.read(known, self.rows),
        };
        self.sums_here.get_or_init(|| Arc::new(find())).clone()
    }

    fn squares(&self) -> f64 {
        let (driver, part) = (&self.cuda.driver, self.nonzeros.div_ceil(PARTS).max(1));
        let parts = self.nonzeros.div_ceil(part);
        let sums = driver.reserve::<f64>(parts);
        let args = args![self.nonzeros, part, &*self.values, &sums];
        self.cuda.launch("squares", (parts, 1), THREADS, &args);
        driver.read(&sums, parts).into_iter().sum()
    }

    fn scaled(&self, scale: f64, left: &Diagonal, right: &Diagonal) -> Arc<dyn RemoteValues> {
        let (cuda, driver) = (&self.cuda, &self.cuda.driver);
        let [left, right] = [left, right].map(|side| cuda.resident.diagonal(driver, side));
        let values = driver.reserve::<f32>(self.nonzeros);
        let args = args![self.matrix(), scale, &*left, &*right, &values];
        cuda.per_row("scale_both", self.rows, &args);
        let shape = (self.rows, self.nonzeros);
        Values::new(cuda, shape, self.positions.clone(), values, None)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Weights of all positions, per row the number of nonzeros and the sum, and statistics of all.
struct Weights {
    values: Memory<f32>,
    nonzeros: Memory<u64>,
    sums: Memory<f64>,
    nnz: usize,
    below: usize,
    total: f64,
    largest: f64,
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
        let how = args![weighting.delta as f64, own.as_deref(), unit].to_vec();
        let weights = self.weighed(&of, motif, how);
        if !weights.largest.is_finite() {
            return Err(overflow(motif));
        }
        let (total, nnz, below_delta) = (weights.total / unit, weights.nnz, weights.below);
        let (nodes, matrix) = if shares_pattern(nnz, of.slots) {
            let (shape, sums) = ((of.nodes, of.slots), Some(weights.sums));
            let values = Values::new(self, shape, of.positions.clone(), weights.values, sums);
            let matrix = Csr::with_remote_values(graph.pattern().clone(), values);
            (None, matrix)
        } else {
            self.compacted(&of, &weights)
        };
        Ok(Some(MotifGraph {
            motif,
            nodes,
            matrix,
            scale: unit,
            total,
            nnz,
            below_delta,
        }))
    }

    fn weighed(&self, of: &Counted, motif: Motif, how: Vec<Arg>) -> Weights {
        let (driver, nodes) = (&self.driver, of.nodes);
        let values = driver.reserve::<f32>(of.slots);
        let (nonzeros, below) = (driver.reserve(nodes + 1), driver.reserve::<u64>(nodes));
        let [sums, totals] = [(); 2].map(|()| driver.reserve::<f64>(nodes));
        let to = args![&values, &nonzeros, &below, &sums, &totals].to_vec();
        let args = args![of.args(), motif.orbit_bits(), how, to];
        self.per_row("weigh", nodes, &args);
        let part = nodes.div_ceil(PARTS).max(1);
        let parts = nodes.div_ceil(part);
        let (whole, sizes) = (driver.reserve(3 * parts), driver.reserve(2 * parts));
        let args = args![nodes, part, &nonzeros, &below, &totals, &whole, &sizes];
        self.launch("summary", (parts, 1), THREADS, &args);
        let mut weights = Weights {
            values,
            nonzeros,
            sums,
            nnz: 0,
            below: 0,
            total: 0.0,
            largest: 0.0,
        };
        let (whole, sizes): (Vec<u64>, Vec<f64>) = (
            driver.read(&whole, 3 * parts),
            driver.read(&sizes, 2 * parts),
        );
        for (whole, sizes) in whole.chunks_exact(3).zip(sizes.chunks_exact(2)) {
            weights.nnz += whole[0] as usize;
            weights.below += whole[2] as usize;
            weights.total += sizes[0];
            weights.largest = weights.largest.max(sizes[1]);
        }
        weights
    }

    /// The matrix without zeros, on the nodes that have a nonzero.
    fn compacted(&self, of: &Counted, weights: &Weights) -> (Option<Vec<u32>>, Csr) {
        let (driver, rows, nonzeros) = (&self.driver, of.nodes, weights.nnz);
        let number = driver.reserve::<u64>(rows + 1);
        self.per_value("touched", rows, &args![&weights.nonzeros, &number]);
        self.sum_before(&number, rows);
        self.sum_before(&weights.nonzeros, rows);
        let kept = self.value(&number, rows);
        let (nodes, sums) = (driver.reserve::<u32>(kept), driver.reserve::<f64>(kept));
        let offsets = driver.reserve::<usize>(kept + 1);
        let (columns, values) = (driver.reserve(nonzeros), driver.reserve(nonzeros));
        let Positions {
            offsets: old_offsets,
            columns: old_columns,
            ..
        } = &*of.positions;
        let from = args![old_offsets, old_columns, &weights.values].to_vec();
        let places = args![&number, &weights.nonzeros, &weights.sums].to_vec();
        let to = args![&nodes, &offsets, &columns, &values, &sums].to_vec();
        self.per_row("compact", rows, &args![from, places, to]);
        let nodes = driver.read(&nodes, kept);
        let mut offsets_here = driver.read(&offsets, kept + 1);
        if rows == 0 {
            offsets_here = vec![0];
        }
        let columns_here = driver.read(&columns, nonzeros);
        let pattern = Arc::new(Pattern::new(offsets_here, columns_here, kept));
        let positions = Arc::new(Positions::new(driver, &pattern, offsets, columns));
        self.resident.remember(&pattern, &positions);
        let values = Values::new(self, (kept, nonzeros), positions, values, Some(sums));
        let nodes = Some(nodes).filter(|_| kept < rows);
        (nodes, Csr::with_remote_values(pattern, values))
    }

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
        let [degrees, logs] = [(); 2].map(|()| self.zeros(nodes, width));
        let args = args![of.args(), &masks, width, &degrees];
        self.per_row("motif_degrees", nodes, &args);
        self.logarithms(&degrees, &logs);
        let wanted = [features.sum, features.mean, features.max];
        let [sums, means, maxima] = wanted.map(|wanted| wanted.then(|| self.zeros(nodes, width)));
        let Positions {
            offsets, columns, ..
        } = &*of.positions;
        let from = args![offsets, columns, width, &degrees, &logs].to_vec();
        let args = args![from, sums.as_ref(), means.as_ref(), maxima.as_ref()];
        self.per_row("aggregate", nodes, &args);
        let (names, origins) = features.named(counts);
        if let Some(sums) = &sums {
            let largest = self.fold(std::slice::from_ref(sums), Fold::Extreme);
            features.check_sums(&names[width..], &largest)?;
            self.logarithms(sums, sums);
        }
        let panels = [Some(logs), sums, means, maxima];
        let panels = panels.into_iter().flatten().collect();
        let group = Group::stored(None, Arc::new(Kept::new(self, panels)));
        Ok(Some(NamedColumns {
            names,
            origins,
            columns: Columns::new(nodes, vec![group]),
        }))
    }

    fn logarithms(&self, of: &Panel, to: &Panel) {
        self.per_value("take_logs", of.len(), &args![of, to]);
    }
}
