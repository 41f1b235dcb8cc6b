//! Run time of several methods (sec. 4.4 of the paper): Erdős–Rényi graphs of average degree 10, N in decades.

use std::time::Instant;

use hone::error::human_bytes;
use hone::graph::{Graph, GraphBuilder};
use hone::{Error, Progress, Result, Silent, memory};
use hone_eval::method::{Embedder, Method};
use hone_eval::random::Stream;
use hone_eval::report::{Best, Plot, Report, Style, Table};
use hone_eval::split::TrainGraph;
use hone_eval::stats::Summary;

use crate::{Log, OutputArgs};

/// Run time on Erdős–Rényi graphs of growing size, with the fitted exponent.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Methods, separated by commas (see `hone list methods`), with options after a colon; may be repeated.
    #[arg(long, value_name = "NAMES", default_value = "hone-p,node2vec")]
    methods: Vec<String>,
    /// Numbers of nodes.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "100,1000,10000,100000,1000000"
    )]
    sizes: Vec<usize>,
    /// Average degree.
    #[arg(long, value_name = "D", default_value_t = 10.0)]
    degree: f64,
    /// A method that took longer than this many seconds is not run on larger graphs.
    #[arg(long, value_name = "SECONDS", default_value_t = 100.0)]
    cap: f64,
    #[command(flatten)]
    output: OutputArgs,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let methods = Method::parse_list(&args.methods, false)?;
    let mut sizes = args.sizes.clone();
    sizes.sort_unstable();
    let config = RuntimeConfig {
        sizes,
        degree: args.degree,
        cap: args.cap,
    };
    let times = measure(&methods, &config, &Log)?;
    args.output.write(&report(&times, &config))
}

/// How run time is measured.
#[derive(Debug, Clone)]
pub(crate) struct RuntimeConfig {
    /// Numbers of nodes, ascending.
    pub(crate) sizes: Vec<usize>,
    /// Average degree.
    pub(crate) degree: f64,
    /// A method that took longer than this many seconds is not run on larger graphs.
    pub(crate) cap: f64,
}

/// Times of one method.
pub(crate) struct Times {
    /// The method.
    pub(crate) method: String,
    /// Every graph it was run on, smallest first.
    pub(crate) runs: Vec<Run>,
    /// Exponent of time over nodes, fitted to graphs of 1000 nodes and more.
    pub(crate) exponent: Option<f64>,
}

/// The time a method took on one graph.
pub(crate) struct Run {
    /// Nodes of the graph.
    pub(crate) nodes: usize,
    /// Wall-clock seconds.
    pub(crate) seconds: f64,
}

/// Embeds ever larger graphs with each method until it passes the time cap. Run times are never cached.
pub(crate) fn measure(
    methods: &[Method],
    config: &RuntimeConfig,
    progress: &dyn Progress,
) -> Result<Vec<Times>> {
    if config.cap.is_nan() || config.cap < 0.0 {
        return Err(Error::config(
            "--cap",
            format!("is {}; give seconds", config.cap),
        ));
    }
    config
        .sizes
        .iter()
        .try_for_each(|&nodes| check_size(nodes, config.degree))?;
    progress.stage("run time", (methods.len() * config.sizes.len()) as u64);
    let mut times: Vec<Times> = methods
        .iter()
        .map(|m| Times {
            method: m.name.clone(),
            runs: Vec::new(),
            exponent: None,
        })
        .collect();
    let within = |t: &Times| t.runs.last().is_none_or(|run| run.seconds <= config.cap);
    for &nodes in &config.sizes {
        if !times.iter().any(within) {
            break;
        }
        let train = TrainGraph::whole(erdos_renyi(nodes, config.degree)?);
        for (method, times) in methods.iter().zip(&mut times).filter(|(_, t)| within(t)) {
            let embedder = single(method)?;
            let start = Instant::now();
            embedder.embed(&train, SEED, &Silent)?;
            progress.advance(1);
            let seconds = start.elapsed().as_secs_f64();
            times.runs.push(Run { nodes, seconds });
        }
    }
    for times in &mut times {
        let large = times.runs.iter().filter(|run| run.nodes >= 1000);
        let (x, y): (Vec<f64>, Vec<f64>) = large
            .map(|run| (run.nodes as f64, run.seconds.max(1e-9)))
            .unzip();
        times.exponent = exponent(&x, &y);
    }
    Ok(times)
}

/// Run times as a table and a figure.
pub(crate) fn report(times: &[Times], config: &RuntimeConfig) -> Report {
    let mut columns: Vec<String> = config.sizes.iter().map(|n| format!("N = {n}")).collect();
    columns.push("exponent".into());
    let mut table = Table::new(
        format!("Seconds, Erdős–Rényi, average degree {}", config.degree),
        columns,
    );
    (table.best, table.style) = (Best::Lowest, Style::Significant);
    let single = |value: f64| Summary::of(&[value]);
    let mut lines = Vec::new();
    for Times {
        method,
        runs,
        exponent,
    } in times
    {
        let at = |&n: &usize| single(runs.iter().find(|run| run.nodes == n)?.seconds);
        let mut cells: Vec<Option<Summary>> = config.sizes.iter().map(at).collect();
        cells.push(exponent.and_then(single));
        table.rows.push((method.clone(), cells));
        let points = runs
            .iter()
            .map(|run| (run.nodes as f64, run.seconds.max(1e-6)));
        lines.push((method.clone(), points.collect()));
    }
    table.notes.push(format!(
        "Exponent: slope of log seconds over log N from N = 1000 on. A method that took more than {} s is not run \
         on larger graphs. {} threads.",
        config.cap,
        rayon::current_num_threads()
    ));
    let plot = Plot {
        title: table.title.clone(),
        axes: ("nodes".into(), "seconds".into()),
        log: (true, true),
        ticks: Vec::new(),
        lines,
    };
    let names: Vec<&str> = times.iter().map(|times| times.method.as_str()).collect();
    Report {
        title: "Run time".into(),
        settings: vec![
            ("methods".into(), names.join(" ")),
            ("time cap".into(), format!("{} s", config.cap)),
            ("version".into(), env!("CARGO_PKG_VERSION").into()),
        ],
        tables: vec![table],
        plots: vec![plot],
        ..Report::default()
    }
}

/// Seed of the graphs and of the methods.
const SEED: u64 = 1;

/// Bytes per node and per edge that a graph takes while it is made: two ends, a slot in each direction, and rows.
const NODE_BYTES: f64 = 24.0;
const EDGE_BYTES: f64 = 24.0;

/// Refuses graphs that do not exist, or that this machine has no room for.
fn check_size(nodes: usize, degree: f64) -> Result<()> {
    let refused = |message: String| Err(Error::config("--sizes", message));
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
fn erdos_renyi(nodes: usize, degree: f64) -> Result<Graph> {
    check_size(nodes, degree)?;
    let mut stream = Stream::new(SEED, "run-time graph", nodes as u64);
    let count = (nodes as f64 * degree / 2.0) as usize;
    let edges = (0..count)
        .map(|_| (stream.below(nodes) as u32, stream.below(nodes) as u32))
        .collect();
    GraphBuilder::undirected(nodes).edges(edges).build()
}

/// The single candidate of a method, for tasks without validation.
pub(crate) fn single(method: &Method) -> Result<&Embedder> {
    let message = match &method.candidates[..] {
        [] => "scores pairs of nodes and has no vectors",
        _ if method.reads_file() => {
            "holds vectors of another graph; this task makes its own graphs"
        }
        [one] => return Ok(&one.1),
        _ => {
            "has several candidates, but this task cannot choose among them; give one value per option"
        }
    };
    Err(Error::config(
        "methods",
        format!("`{}` {message}", method.name),
    ))
}

/// Slope of log y over log x by least squares: the exponent of a power law. Nothing for fewer than
/// two distinct x.
pub(crate) fn exponent(x: &[f64], y: &[f64]) -> Option<f64> {
    let (lx, ly): (Vec<f64>, Vec<f64>) = x.iter().zip(y).map(|(x, y)| (x.ln(), y.ln())).unzip();
    let n = lx.len() as f64;
    let (mx, my) = (lx.iter().sum::<f64>() / n, ly.iter().sum::<f64>() / n);
    let spread: f64 = lx.iter().map(|x| (x - mx).powi(2)).sum();
    let joint: f64 = lx.iter().zip(&ly).map(|(x, y)| (x - mx) * (y - my)).sum();
    (spread > 0.0).then(|| joint / spread)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let times = measure(&methods, &config, &Silent).expect("run");
        assert!(
            times
                .iter()
                .all(|t| t.runs.len() == 3 && t.exponent.is_some())
        );
        config.cap = 0.0;
        let times = measure(&methods, &config, &Silent).expect("run");
        assert!(
            times
                .iter()
                .all(|t| t.runs.len() == 1 && t.exponent.is_none())
        );
        let refused =
            |methods: &[Method], config: &RuntimeConfig| measure(methods, config, &Silent).is_err();
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
