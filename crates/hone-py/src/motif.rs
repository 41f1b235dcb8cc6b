//! Motif counts as arrays, weighted motif graphs as compressed rows, motif matrices as operators.

use hone::Progress;
use hone::dense::Block;
use hone::graph::{Graph as Inner, NodeIds};
use hone::matrix::MotifMatrix;
use hone::memory::Allowance;
use hone::motif;
use hone::motif::triad::Occurrence;
use hone::motif::{
    Counts, Motif, MotifSet, NODE_ORBITS, OrbitTable, Sample, Weighting, node_orbits_called,
};
use hone::operator::Operator;
use hone::parallel;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::error::{raise, refuse, unread};
use crate::graph::Graph;
use crate::work::{run, run_short};

/// The names, or numbers, of a set of motifs: `all`, `graphlets`, `size3`, or names separated by commas.
#[pyfunction]
#[pyo3(signature = (set, numbers=false))]
pub(crate) fn motif_names(set: &str, numbers: bool) -> PyResult<Vec<&'static str>> {
    let motifs = parse(set)?.into_iter();
    Ok(motifs.map(|motif| motif.called(numbers)).collect())
}

/// The names, or numbers, of the 15 node orbits.
#[pyfunction]
#[pyo3(signature = (numbers=false))]
pub(crate) fn node_orbit_names(numbers: bool) -> Vec<&'static str> {
    node_orbits_called(numbers).to_vec()
}

fn parse(set: &str) -> PyResult<Vec<Motif>> {
    Ok(set.parse::<MotifSet>().map_err(raise)?.motifs())
}

/// Counts of what some motifs need, exact or estimated with a seed.
fn count(
    graph: &Inner,
    motifs: &[Motif],
    (sample, seed): (Sample, u64),
    progress: &dyn Progress,
) -> hone::Result<Counts> {
    sample.count_motifs(graph, motifs, (seed, Allowance::new(None)), progress)
}

/// How counts are made that are not estimated.
const EXACT: (Sample, u64) = (Sample::Exact, 0);

fn sample(text: &str) -> PyResult<Sample> {
    text.parse().map_err(raise)
}

/// Induced occurrences, or subgraphs of directed motifs.
fn occurrence(subgraph: bool, motifs: &[Motif]) -> PyResult<Occurrence> {
    match motifs.iter().find(|motif| subgraph && !motif.is_directed()) {
        Some(motif) => Err(refuse(
            "subgraph",
            format!("such counts exist for directed motifs, and {motif} is not one"),
        )),
        None if subgraph => Ok(Occurrence::Subgraph),
        None => Ok(Occurrence::Induced),
    }
}

/// Sources, targets and one row of counts per edge.
type EdgeCounts<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray2<u64>>,
);

/// Some edges and their counts in a row.
#[derive(Default)]
struct Rows {
    sources: Vec<i64>,
    targets: Vec<i64>,
    counts: Vec<u64>,
}

impl Rows {
    /// The counts of some motifs on every edge; with `arcs`, undirected edges stand twice, in the order of the adjacency.
    fn of(
        graph: &Inner,
        counts: &Counts,
        motifs: (&[Motif], Occurrence),
        arcs: bool,
        progress: &dyn Progress,
    ) -> hone::Result<Rows> {
        const NODES: usize = 1 << 10;
        let piece = |start: usize| {
            let mut rows = Rows::default();
            for i in start as u32..graph.nodes().min(start + NODES) as u32 {
                counts.for_arcs(graph, i, motifs, |j, weights| {
                    if arcs || graph.is_directed() || i < j {
                        rows.sources.push(i64::from(i));
                        rows.targets.push(i64::from(j));
                        rows.counts.extend(weights);
                    }
                })?;
            }
            Ok::<_, hone::Error>(rows)
        };
        let pieces: Vec<usize> = (0..graph.nodes()).step_by(NODES).collect();
        let mut all = Rows::default();
        // Some pieces at a time, so that the table is never held twice.
        for wave in pieces.chunks(64) {
            progress.check()?;
            for rows in parallel::map(wave.len(), |at| piece(wave[at])) {
                let rows = rows?;
                all.sources.extend(rows.sources);
                all.targets.extend(rows.targets);
                all.counts.extend(rows.counts);
            }
        }
        Ok(all)
    }

    fn into_arrays(self, py: Python<'_>, width: usize) -> PyResult<EdgeCounts<'_>> {
        let shape = [self.sources.len(), width];
        let counts = self.counts.into_pyarray(py).reshape(shape)?;
        Ok((
            self.sources.into_pyarray(py),
            self.targets.into_pyarray(py),
            counts,
        ))
    }
}

/// Counts motifs on every edge.
#[pyfunction]
#[pyo3(signature = (graph, motifs, subgraph=false, jobs=0, listener=None, sample="exact", seed=0))]
#[expect(
    clippy::too_many_arguments,
    reason = "called by keyword, from one place"
)]
pub(crate) fn count_edges<'py>(
    py: Python<'py>,
    graph: &Bound<'py, Graph>,
    motifs: &str,
    subgraph: bool,
    jobs: usize,
    listener: Option<Py<PyAny>>,
    sample: &str,
    seed: u64,
) -> PyResult<EdgeCounts<'py>> {
    let (motifs, graph) = (parse(motifs)?, graph.get().inner.clone());
    let how = (self::sample(sample)?, seed);
    let (width, occurrence) = (motifs.len(), occurrence(subgraph, &motifs)?);
    let all = run(py, jobs, listener, move |progress| {
        let counts = count(&graph, &motifs, how, progress)?;
        Rows::of(&graph, &counts, (&motifs, occurrence), false, progress)
    })?;
    all.into_arrays(py, width)
}

/// Both ends of each edge that is in triangles, and in how many.
type EdgeTriangles<'py> = (
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
);

/// The edges that are in triangles, each once, and the number of triangles of each; directions are ignored.
#[pyfunction]
#[pyo3(signature = (graph, jobs=0, listener=None))]
pub(crate) fn triangles<'py>(
    py: Python<'py>,
    graph: &Bound<'py, Graph>,
    jobs: usize,
    listener: Option<Py<PyAny>>,
) -> PyResult<EdgeTriangles<'py>> {
    let graph = graph.get().inner.clone();
    let (sources, targets, counts) = run(py, jobs, listener, move |progress| {
        let edges = motif::triangles(&graph.symmetric_pattern(), progress)?;
        let column = |of: fn(&(u32, u32, u32)) -> u32| edges.iter().map(of).collect::<Vec<_>>();
        Ok((
            column(|edge| edge.0),
            column(|edge| edge.1),
            column(|edge| edge.2),
        ))
    })?;
    Ok((
        sources.into_pyarray(py),
        targets.into_pyarray(py),
        counts.into_pyarray(py),
    ))
}

/// Pairs of nodes.
fn pairs(field: &str, array: &PyReadonlyArray2<'_, i64>) -> PyResult<Vec<(u32, u32)>> {
    let array = array.as_array();
    if array.ncols() != 2 {
        return Err(refuse(
            field,
            format!("{} columns; give two, the ends of edges", array.ncols()),
        ));
    }
    let node = |id: i64| {
        u32::try_from(id).map_err(|_| refuse(field, format!("{id} is not the number of a node")))
    };
    array
        .rows()
        .into_iter()
        .map(|row| Ok((node(row[0])?, node(row[1])?)))
        .collect()
}

/// Counts after edges were added and removed, from those before: `edges` and `counts` have a row per edge, `motifs` the
/// names of the columns. Nodes beyond those of the graph are new.
#[pyfunction]
#[pyo3(signature = (graph, motifs, edges, counts, added, removed, jobs=0, listener=None))]
#[expect(clippy::too_many_arguments, reason = "called from one place")]
pub(crate) fn update_edges<'py>(
    py: Python<'py>,
    graph: &Bound<'py, Graph>,
    motifs: &str,
    edges: PyReadonlyArray2<'py, i64>,
    counts: PyReadonlyArray2<'py, u64>,
    added: PyReadonlyArray2<'py, i64>,
    removed: PyReadonlyArray2<'py, i64>,
    jobs: usize,
    listener: Option<Py<PyAny>>,
) -> PyResult<EdgeCounts<'py>> {
    let (motifs, graph) = (parse(motifs)?, graph.get().inner.clone());
    let values = counts.as_array();
    if values.ncols() != motifs.len() {
        return Err(refuse(
            "counts",
            format!("{} columns for {} motifs", values.ncols(), motifs.len()),
        ));
    }
    let columns = motifs
        .iter()
        .zip(values.columns())
        .map(|(&motif, column)| (motif, column.to_vec()))
        .collect();
    let table = OrbitTable {
        edges: pairs("counts", &edges)?,
        columns,
    };
    let (added, removed) = (pairs("added", &added)?, pairs("removed", &removed)?);
    let width = motifs.len();
    let all = run(py, jobs, listener, move |progress| {
        let counts = table.counts(&graph)?;
        drop(table);
        let counts = counts.update(&added, &removed, progress)?;
        let graph = counts.graph(NodeIds::Sequential(counts.pattern().rows()))?;
        let induced = Occurrence::Induced;
        Rows::of(&graph, &counts, (&motifs, induced), false, progress)
    })?;
    all.into_arrays(py, width)
}

/// Counts the 15 node orbits of every node.
#[pyfunction]
#[pyo3(signature = (graph, jobs=0, listener=None, sample="exact", seed=0))]
pub(crate) fn count_nodes<'py>(
    py: Python<'py>,
    graph: &Bound<'py, Graph>,
    jobs: usize,
    listener: Option<Py<PyAny>>,
    sample: &str,
    seed: u64,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let (graph, how) = (graph.get().inner.clone(), (self::sample(sample)?, seed));
    let orbits = run(py, jobs, listener, move |progress| {
        count(&graph, &[], how, progress)?.node_orbits()
    })?;
    let shape = [orbits.len(), NODE_ORBITS.len()];
    orbits
        .into_iter()
        .flatten()
        .collect::<Vec<u64>>()
        .into_pyarray(py)
        .reshape(shape)
}

/// How often each motif occurs in the whole graph.
#[pyfunction]
#[pyo3(signature = (graph, motifs, subgraph=false, jobs=0, listener=None, sample="exact", seed=0))]
#[expect(
    clippy::too_many_arguments,
    reason = "called by keyword, from one place"
)]
pub(crate) fn count_totals(
    py: Python<'_>,
    graph: &Bound<'_, Graph>,
    motifs: &str,
    subgraph: bool,
    jobs: usize,
    listener: Option<Py<PyAny>>,
    sample: &str,
    seed: u64,
) -> PyResult<Vec<u128>> {
    let (motifs, graph) = (parse(motifs)?, graph.get().inner.clone());
    let how = (self::sample(sample)?, seed);
    let occurrence = occurrence(subgraph, &motifs)?;
    run(py, jobs, listener, move |progress| {
        let counts = count(&graph, &motifs, how, progress)?;
        let (edges, arcs) = (counts.totals(), counts.triads());
        let arcs = arcs.map(|triads| triads.totals(occurrence));
        let of = |motif: &Motif| match (&arcs, motif.triad(), motif.graphlet()) {
            (Some(arcs), Some(triad), _) => arcs.triads[triad.index()],
            (_, _, Some(graphlet)) => edges.graphlets[graphlet.index()],
            _ => 0,
        };
        Ok(motifs.iter().map(of).collect())
    })
}

/// `indptr`, `indices` and values of a matrix in compressed rows.
type Compressed<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f64>>,
);

/// The weighted motif graph W.
#[pyfunction]
#[pyo3(signature = (graph, motif, delta=1, weights=false, subgraph=false, jobs=0, listener=None))]
#[expect(
    clippy::too_many_arguments,
    reason = "called by keyword, from one place"
)]
pub(crate) fn motif_graph<'py>(
    py: Python<'py>,
    graph: &Bound<'py, Graph>,
    motif: &str,
    delta: u64,
    weights: bool,
    subgraph: bool,
    jobs: usize,
    listener: Option<Py<PyAny>>,
) -> PyResult<Compressed<'py>> {
    let (motif, graph): (Motif, _) = (motif.parse().map_err(raise)?, graph.get().inner.clone());
    let occurrence = occurrence(subgraph, &[motif])?;
    let (offsets, columns, values) = run(py, jobs, listener, move |progress| {
        let counts = count(&graph, &[motif], EXACT, progress)?;
        let arcs = Rows::of(&graph, &counts, (&[motif], occurrence), true, progress)?;
        let weights = graph.weights().filter(|_| weights);
        let (mut offsets, mut columns, mut values) = (vec![0; graph.nodes() + 1], vec![], vec![]);
        let ends = arcs.sources.into_iter().zip(arcs.targets).zip(arcs.counts);
        for (slot, ((i, j), count)) in ends.enumerate() {
            let value = count as f64 * weights.map_or(1.0, |own| f64::from(own[slot]));
            if count >= delta && value != 0.0 {
                columns.push(j);
                values.push(value);
                offsets[i as usize + 1] = columns.len() as i64;
            }
        }
        // Rows without entries end where the row before does.
        for i in 1..offsets.len() {
            offsets[i] = offsets[i].max(offsets[i - 1]);
        }
        Ok((offsets, columns, values))
    })?;
    Ok((
        offsets.into_pyarray(py),
        columns.into_pyarray(py),
        values.into_pyarray(py),
    ))
}

/// A motif matrix of k steps that is only ever multiplied.
#[pyclass(module = "hone_embed._native", frozen)]
pub(crate) struct MotifOperator {
    nodes: usize,
    /// The nodes the motif touches, where they are not all.
    touched: Option<Vec<u32>>,
    operator: Operator,
    /// What the operator is multiplied with.
    factor: f64,
    jobs: usize,
}

#[pymethods]
impl MotifOperator {
    /// Psi of the weighted motif graph; `matrix` is JSON with psi, order, degree and regularize.
    #[new]
    #[pyo3(signature = (graph, motif, matrix, steps, delta=1, weights=false, subgraph=false, jobs=0, listener=None))]
    #[expect(
        clippy::too_many_arguments,
        reason = "called by keyword, from one place"
    )]
    fn new(
        py: Python<'_>,
        graph: &Bound<'_, Graph>,
        motif: &str,
        matrix: &str,
        steps: usize,
        delta: u64,
        weights: bool,
        subgraph: bool,
        jobs: usize,
        listener: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let (motif, graph): (Motif, _) = (motif.parse().map_err(raise)?, graph.get().inner.clone());
        let occurrence = occurrence(subgraph, &[motif])?;
        let nodes = graph.nodes();
        let matrix: MotifMatrix = serde_json::from_str(matrix).map_err(unread("motif matrix"))?;
        if !(1..=hone::config::MAX_STEPS).contains(&steps) {
            return Err(refuse(
                "k",
                format!("{steps} is not between 1 and {}", hone::config::MAX_STEPS),
            ));
        }
        let weighting = Weighting {
            delta,
            use_weights: weights,
            occurrence,
        };
        let (touched, operator, factor) = run(py, jobs, listener, move |progress| {
            let w =
                count(&graph, &[motif], EXACT, progress)?.motif_graph(&graph, motif, weighting)?;
            let leaf = if graph.is_directed() {
                Operator::sparse("W", w.matrix)
            } else {
                Operator::symmetric("W", w.matrix)
            };
            let (factor, operator) = matrix.scaled_operator(&leaf, w.scale, steps)?;
            Ok((w.nodes, operator, factor))
        })?;
        Ok(MotifOperator {
            nodes,
            touched,
            operator,
            factor,
            jobs,
        })
    }

    /// The matrix, or its transpose, times the columns of `x`.
    fn apply<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'py, f64>,
        transposed: bool,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let x = x.as_array();
        if x.nrows() != self.nodes {
            return Err(refuse(
                "x",
                format!("{} rows for {} nodes", x.nrows(), self.nodes),
            ));
        }
        let cols = x.ncols();
        let product = run_short(py, self.jobs, || {
            let touched = self.touched.as_ref();
            let node = |row: usize| touched.map_or(row, |touched| touched[row] as usize);
            let mut block = Block::zeros(self.operator.rows(), cols);
            block.update_rows(|i, row| {
                for (k, value) in row.iter_mut().enumerate() {
                    *value = x[(node(i), k)] as f32;
                }
            });
            let y = match transposed {
                true => self.operator.apply_transposed(&block),
                false => self.operator.apply(&block),
            };
            let mut product = vec![0f64; self.nodes * cols];
            for i in 0..y.rows() {
                let out = product[node(i) * cols..].iter_mut();
                for (out, &value) in out.zip(y.row(i)) {
                    *out = f64::from(value) / self.factor;
                }
            }
            product
        })?;
        product.into_pyarray(py).reshape([self.nodes, cols])
    }

    /// The matrix as a formula.
    #[getter]
    fn formula(&self) -> String {
        self.operator.formula()
    }

    /// Whether the matrix equals its transpose.
    #[getter]
    fn symmetric(&self) -> bool {
        self.operator.is_symmetric()
    }
}
