//! Run time and scalability (sec. 4.4): Erdős–Rényi graphs of average degree 10, N in decades.

use std::time::Instant;

use hone::error::human_bytes;
use hone::graph::{Graph, GraphBuilder};
use hone::{Error, Progress, Result, memory};
use serde::{Deserialize, Serialize};

use super::Within;
use crate::method::Method;
use crate::random::Stream;
use crate::split::TrainGraph;
use crate::stats;

/// How run time is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RuntimeConfig {
    /// Numbers of nodes, ascending.
    pub sizes: Vec<usize>,
    /// Average degree.
    pub degree: f64,
    /// A method that took longer than this many seconds is not run on larger graphs.
    pub cap: f64,
}

impl Default for RuntimeConfig {
    fn default() -> Self {
        RuntimeConfig {
            sizes: vec![100, 1_000, 10_000, 100_000, 1_000_000],
            degree: 10.0,
            cap: 100.0,
        }
    }
}

/// Times of one method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// The method.
    pub method: String,
    /// Nodes, edges and seconds of every graph it was run on.
    pub runs: Vec<(usize, usize, f64)>,
    /// Exponent of time over nodes, fitted to graphs of 1000 nodes and more.
    pub exponent: Option<f64>,
}

/// Embeds ever larger graphs with each method until it passes the time cap.
/// Run times are never cached.
pub fn runtime(
    methods: &[Method],
    config: &RuntimeConfig,
    seed: u64,
    progress: &dyn Progress,
) -> Result<Vec<Times>> {
    if config.cap.is_nan() || config.cap < 0.0 {
        return Err(Error::config(
            "cap",
            format!("is {}; give seconds", config.cap),
        ));
    }
    config
        .sizes
        .iter()
        .try_for_each(|&nodes| check_size(nodes, config.degree))?;
    let mut times: Vec<Times> = methods
        .iter()
        .map(|m| Times {
            method: m.name.clone(),
            runs: Vec::new(),
            exponent: None,
        })
        .collect();
    for &nodes in &config.sizes {
        let within = |t: &Times| t.runs.last().is_none_or(|r| r.2 <= config.cap);
        if !times.iter().any(within) {
            break;
        }
        let train = TrainGraph::whole(erdos_renyi(nodes, config.degree, seed)?);
        for (method, times) in methods.iter().zip(&mut times).filter(|(_, t)| within(t)) {
            progress.check()?;
            let embedder = method.single()?;
            let start = Instant::now();
            embedder.embed(&train, seed, &Within(progress))?;
            progress.advance(1);
            times
                .runs
                .push((nodes, train.graph().edges(), start.elapsed().as_secs_f64()));
        }
    }
    for times in &mut times {
        let large = times.runs.iter().filter(|r| r.0 >= 1000);
        let (x, y): (Vec<f64>, Vec<f64>) = large.map(|r| (r.0 as f64, r.2.max(1e-9))).unzip();
        times.exponent = stats::exponent(&x, &y);
    }
    Ok(times)
}

/// Bytes per node and per edge that a graph takes while it is made: two ends, a slot in each direction, and rows.
const NODE_BYTES: f64 = 24.0;
const EDGE_BYTES: f64 = 24.0;

/// Refuses graphs that do not exist, or that this machine has no room for.
fn check_size(nodes: usize, degree: f64) -> Result<()> {
    let refused = |message: String| Err(Error::config("sizes", message));
    if nodes < 2 || !(degree > 0.0 && degree <= (nodes - 1) as f64) {
        return refused(format!(
            "no random graph has {nodes} nodes and average degree {degree}"
        ));
    }
    if u32::try_from(nodes).is_err() {
        return refused(format!("{nodes} nodes; a graph has at most {}", u32::MAX));
    }
    let bytes = nodes as f64 * (NODE_BYTES + degree / 2.0 * EDGE_BYTES);
    match memory::available() {
        Some(free) if bytes > free as f64 => {
            let (need, free) = (human_bytes(bytes as u64), human_bytes(free));
            refused(format!(
                "a graph of {nodes} nodes takes about {need} and {free} is free; leave it out"
            ))
        }
        _ => Ok(()),
    }
}

/// About `degree` / 2 edges per node, each between two nodes drawn at random.
fn erdos_renyi(nodes: usize, degree: f64, seed: u64) -> Result<Graph> {
    check_size(nodes, degree)?;
    let mut stream = Stream::new(seed, "run-time graph", nodes as u64);
    let count = (nodes as f64 * degree / 2.0) as usize;
    let edges = (0..count)
        .map(|_| (stream.below(nodes) as u32, stream.below(nodes) as u32))
        .collect();
    GraphBuilder::undirected(nodes).edges(edges).build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hone::Silent;

    #[test]
    fn methods_past_the_cap_are_left_out() {
        let methods: Vec<Method> = ["random", "degree"]
            .iter()
            .map(|m| Method::parse(m).expect("known"))
            .collect();
        let mut config = RuntimeConfig {
            sizes: vec![50, 1000, 2000],
            degree: 4.0,
            cap: f64::INFINITY,
        };
        let times = runtime(&methods, &config, 1, &Silent).expect("run");
        assert!(
            times
                .iter()
                .all(|t| t.runs.len() == 3 && t.exponent.is_some())
        );
        config.cap = 0.0;
        let times = runtime(&methods, &config, 1, &Silent).expect("run");
        assert!(
            times
                .iter()
                .all(|t| t.runs.len() == 1 && t.exponent.is_none())
        );
        let refused = |methods: &[Method], config: &RuntimeConfig| {
            runtime(methods, config, 1, &Silent).is_err()
        };
        assert!(refused(
            &methods,
            &RuntimeConfig {
                cap: f64::NAN,
                ..config.clone()
            }
        ));
        for (size, why) in [
            (4, "degree 4 of 4 nodes"),
            (usize::MAX, "no numbers"),
            (u32::MAX as usize, "no room"),
        ] {
            assert!(
                refused(
                    &methods,
                    &RuntimeConfig {
                        sizes: vec![size],
                        ..config.clone()
                    }
                ),
                "{why}"
            );
        }
        for several in ["spectral:dim=1|2", "katz"] {
            assert!(
                refused(&[Method::parse(several).expect("known")], &config),
                "{several}"
            );
        }
    }
}
