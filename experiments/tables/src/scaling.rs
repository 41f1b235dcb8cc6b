//! The scaling study (sec. 4.4 of the paper): whole runs, from edge list to vectors, on graphs of growing size.
//!
//! Each run of `hone embed` is a process of its own, so that its peak memory is measured alone. The study fits the
//! exponent of time over nodes and relates the bytes that a run moves to what the memory of the machine can do.

use std::env;
use std::fs;
use std::hint::black_box;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use clap::ValueEnum;
use hone::report::{Done, Report as RunReport};
use hone_eval::report::{Best, Plot, Report, Style, Table};
use hone_eval::stats::Summary;
use rayon::prelude::*;

use crate::{OutputArgs, runtime};

/// Measure how time and memory grow with the graph: whole runs, stage by stage.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Numbers of nodes [default: 100, 1000, … up to --max-nodes].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    sizes: Vec<u64>,
    /// The largest number of nodes, when --sizes does not list them.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1_000_000,
        conflicts_with = "sizes"
    )]
    max_nodes: u64,
    /// Kinds of graphs.
    #[arg(
        long,
        value_enum,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "er"
    )]
    models: Vec<Model>,
    /// Average degree.
    #[arg(long, value_name = "D", default_value_t = 10.0)]
    degree: f64,
    /// Seed of the graphs.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// The preset that is run.
    #[arg(long, value_name = "NAME", default_value = "hone-p")]
    preset: String,
    /// Iterations of each local factorisation, the same for all sizes, or auto: the preset's choice, many more
    /// for small graphs than for large ones.
    #[arg(long, value_name = "N", default_value = "2")]
    iterations: String,
    /// Any setting of the preset by its dotted name; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Memory limit of each run, such as 8G.
    #[arg(long, value_name = "SIZE")]
    memory: Option<String>,
    /// Where to count motifs and embed: cpu, cuda, cuda:N or auto.
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: String,
    /// The program that is measured [default: `hone` next to this one].
    #[arg(long, value_name = "FILE")]
    hone: Option<PathBuf>,
    /// Folder for the graphs and vectors, which are removed afterwards [default: the system's].
    #[arg(long, value_name = "DIR")]
    temp_dir: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

const EXAMPLES: &str = "\
Examples:
  hone-tables scaling --max-nodes 10000000 --json scaling.json --markdown scaling.md --svg scaling.svg
  hone-tables scaling --sizes 100000,1000000 --models er,rmat
  hone-tables scaling --sizes 10000000 --memory 8G

Keep the machine idle meanwhile.";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Model {
    /// Erdős–Rényi.
    Er,
    /// R-MAT: skewed degrees.
    Rmat,
}

impl Model {
    fn name(self) -> &'static str {
        match self {
            Model::Er => "er",
            Model::Rmat => "rmat",
        }
    }
}

/// Runs the study. If a run fails, the finished ones are reported before its error.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let sizes = args.sizes();
    ensure!(
        !sizes.is_empty(),
        "--max-nodes: {} is below 100, the smallest size",
        args.max_nodes
    );
    let mut study = Scaling {
        machine: machine(),
        threads: rayon::current_num_threads(),
        bandwidth: bandwidth(),
        runs: Vec::new(),
    };
    let graphs = args
        .models
        .iter()
        .flat_map(|model| sizes.iter().map(move |&nodes| (*model, nodes)));
    let mut failure = None;
    for (model, nodes) in graphs {
        let what = format!("{} of {nodes} nodes", model.name());
        match args.measure(model, nodes) {
            Ok(run) => {
                eprintln!("{what}: {:.2} s", run.seconds);
                study.runs.push(run);
            }
            Err(error) => {
                failure = Some(error.context(what));
                break;
            }
        }
    }
    if let Some(first) = study.runs.first() {
        let device = first.report.engine.clone();
        let mut report = study.report();
        report.settings.extend([
            ("preset".to_owned(), args.preset.clone()),
            ("iterations".into(), args.iterations.clone()),
            ("settings".into(), args.set.join(", ")),
            ("average degree".into(), args.degree.to_string()),
            ("seed".into(), args.seed.to_string()),
            (
                "memory".into(),
                args.memory.clone().unwrap_or_else(|| "what is free".into()),
            ),
            ("device".into(), device),
            ("version".into(), env!("CARGO_PKG_VERSION").into()),
        ]);
        args.output.write(&report)?;
    }
    failure.map_or(Ok(()), Err)
}

impl Args {
    fn sizes(&self) -> Vec<u64> {
        if self.sizes.is_empty() {
            let decades = std::iter::successors(Some(100u64), |n| n.checked_mul(10));
            return decades.take_while(|&n| n <= self.max_nodes).collect();
        }
        let mut sizes = self.sizes.clone();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// A graph is generated, embedded by a separate process, and removed with its vectors.
    fn measure(&self, model: Model, nodes: u64) -> anyhow::Result<ScalingRun> {
        let folder = tempfile::tempdir_in(self.temp_dir.clone().unwrap_or_else(env::temp_dir))?;
        let folder = folder.path();
        let (graph, vectors) = (folder.join("graph.tsv"), folder.join("vectors.npy"));
        let mut generate = self.hone()?;
        generate
            .args(["generate", model.name(), "--nodes", &nodes.to_string()])
            .args([
                "--degree",
                &self.degree.to_string(),
                "--seed",
                &self.seed.to_string(),
                "-o",
            ])
            .arg(&graph);
        finish(generate)?;
        let mut embed = self.hone()?;
        embed
            .args(["embed", "--preset", &self.preset, "--device", &self.device])
            .arg(&graph)
            .arg("-o")
            .arg(&vectors);
        if self.iterations != "auto" {
            embed.args([
                "--set",
                &format!("local.solver.iterations={}", self.iterations),
            ]);
        }
        embed.args(self.set.iter().flat_map(|setting| ["--set", setting]));
        embed.args(self.memory.iter().flat_map(|memory| ["--memory", memory]));
        let start = Instant::now();
        finish(embed)?;
        let seconds = start.elapsed().as_secs_f64();
        let record = folder.join("vectors.npy.run.json");
        let report: RunReport = serde_json::from_slice(&fs::read(&record)?)?;
        Ok(ScalingRun {
            model: model.name().into(),
            seconds,
            report,
        })
    }

    /// The program that is measured, with as many threads as this one.
    fn hone(&self) -> anyhow::Result<Command> {
        let program = match &self.hone {
            Some(program) => program.clone(),
            None => env::current_exe()?.with_file_name(format!("hone{}", env::consts::EXE_SUFFIX)),
        };
        ensure!(
            program.exists(),
            "{} is missing: build it with cargo, or name it with --hone",
            program.display()
        );
        let mut command = ended_with_this(program)?;
        command
            .args([
                "--quiet",
                "--threads",
                &rayon::current_num_threads().to_string(),
            ])
            .stdin(Stdio::null());
        Ok(command)
    }
}

/// A program that the system ends when this process ends: a study that is killed would leave it running. This program starts
/// again, asks for that, and becomes the other one.
#[cfg(target_os = "linux")]
fn ended_with_this(program: PathBuf) -> anyhow::Result<Command> {
    let mut command = Command::new(env::current_exe()?);
    command.arg("become").arg(std::process::id().to_string());
    command.arg(program).arg("--");
    Ok(command)
}

#[cfg(not(target_os = "linux"))]
fn ended_with_this(program: PathBuf) -> anyhow::Result<Command> {
    Ok(Command::new(program))
}

/// Become another program, which ends when the process that has started this one does.
#[cfg(target_os = "linux")]
#[derive(Debug, clap::Args)]
pub(crate) struct Become {
    parent: i32,
    program: PathBuf,
    #[arg(last = true)]
    arguments: Vec<std::ffi::OsString>,
}

#[cfg(target_os = "linux")]
impl Become {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        use std::os::unix::process::CommandExt;

        use rustix::process::{Signal, getppid, set_parent_process_death_signal};
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // It may have ended before.
        let parent = getppid().map(rustix::process::Pid::as_raw_pid);
        ensure!(parent == Some(self.parent), "the study has ended");
        let error = Command::new(&self.program).args(&self.arguments).exec();
        Err(error).context(self.program.display().to_string())
    }
}

fn finish(mut command: Command) -> anyhow::Result<()> {
    let output = command.output().context("hone could not be started")?;
    if !output.status.success() {
        bail!(
            "the run failed ({}): {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(())
}

/// One run.
#[derive(Debug)]
struct ScalingRun {
    /// Name of the kind of graph.
    model: String,
    /// Wall-clock seconds of the whole process.
    seconds: f64,
    /// What the run says of itself.
    report: RunReport,
}

/// A study.
struct Scaling {
    /// The machine, in words.
    machine: String,
    /// Threads of each run.
    threads: usize,
    /// Bytes a second that all threads together move, measured by [`bandwidth`].
    bandwidth: f64,
    /// The runs, smallest graph first.
    runs: Vec<ScalingRun>,
}

/// Exponents are fitted to graphs of at least this many nodes: below, fixed costs rule.
const FITTED_FROM: usize = 10_000;

impl ScalingRun {
    /// The most bytes held.
    fn peak(&self) -> Option<u64> {
        self.report
            .stages
            .iter()
            .filter_map(|stage| stage.peak_memory)
            .max()
    }

    /// Processor time of all stages.
    fn processor(&self) -> Option<f64> {
        self.report
            .stages
            .iter()
            .map(|stage| stage.processor_seconds)
            .sum()
    }

    fn nodes(&self) -> usize {
        self.report.graph.nodes
    }

    /// Stages, and the kinds of work within them that have a name of their own.
    fn parts(&self) -> Vec<(String, f64)> {
        let mut parts = Vec::new();
        for stage in &self.report.stages {
            parts.push((stage.name.clone(), stage.seconds));
            let within: &[&str] = match stage.name.as_str() {
                "read" => &["build"],
                "local" => &["weights", "products", "orthonormalise"],
                "global" => &["gram", "combine"],
                _ => &[],
            };
            let done = within
                .iter()
                .filter_map(|name| self.report.work.iter().find(|done| done.name == *name));
            parts.extend(done.map(|done| (format!("– {}", label(&done.name)), done.seconds)));
        }
        parts
    }
}

/// What a kind of work is called in tables.
fn label(name: &str) -> &str {
    match name {
        "combine" => "Z",
        "gram" => "Gram matrix",
        "weights" => "operators",
        "orthonormalise" => "orthonormalisation",
        other => other,
    }
}

impl Scaling {
    /// Slope of log seconds over log nodes, of one kind of graph.
    fn exponent(&self, model: &str) -> Option<f64> {
        let large = self
            .runs
            .iter()
            .filter(|run| run.model == model && run.nodes() >= FITTED_FROM);
        let (x, y): (Vec<f64>, Vec<f64>) = large
            .map(|run| (run.nodes() as f64, run.seconds.max(1e-9)))
            .unzip();
        runtime::exponent(&x, &y)
    }

    /// Tables and figure.
    fn report(&self) -> Report {
        let mut models: Vec<&str> = self.runs.iter().map(|run| run.model.as_str()).collect();
        models.dedup();
        let mut tables = vec![self.totals(&models)];
        tables.extend(models.iter().map(|model| self.stages(model)));
        tables.extend(self.runs.last().map(|run| self.traffic(run)));
        let lines = |model: &&str| (self.name(model), self.points(model, |run| run.seconds));
        let plot = Plot {
            title: "From edge list to vectors".into(),
            axes: ("nodes".into(), "seconds".into()),
            log: (true, true),
            ticks: Vec::new(),
            lines: models.iter().map(lines).collect(),
        };
        let settings = vec![
            ("machine".to_owned(), self.machine.clone()),
            ("threads".into(), self.threads.to_string()),
            (
                "memory bandwidth".into(),
                format!("{:.1} GB/s", self.bandwidth / 1e9),
            ),
        ];
        Report {
            title: "Scaling".into(),
            settings,
            tables,
            plots: vec![plot],
            ..Report::default()
        }
    }

    fn name(&self, model: &str) -> String {
        self.exponent(model).map_or_else(
            || model.to_owned(),
            |exponent| format!("{model}, N^{exponent:.2}"),
        )
    }

    fn points(&self, model: &str, value: impl Fn(&ScalingRun) -> f64) -> Vec<(f64, f64)> {
        let runs = self.runs.iter().filter(|run| run.model == model);
        runs.map(|run| (run.nodes() as f64, value(run).max(1e-6)))
            .collect()
    }

    fn totals(&self, models: &[&str]) -> Table {
        let columns = [
            "edges",
            "seconds",
            "processor seconds",
            "µs per edge",
            "peak GB",
            "planned GB",
        ];
        let mut table = Table::new("Whole runs", columns.map(str::to_owned).to_vec());
        (table.best, table.style) = (Best::Unmarked, Style::Significant);
        for run in &self.runs {
            let edges = run.report.graph.edges as f64;
            let giga = |bytes: u64| bytes as f64 / 1e9;
            let cells = [
                Some(edges),
                Some(run.seconds),
                run.processor(),
                Some(run.seconds * 1e6 / edges.max(1.0)),
                run.peak().map(giga),
                Some(giga(run.report.memory_estimate)),
            ];
            table.rows.push((
                format!("{} N = {}", run.model, run.nodes()),
                cells.map(cell).to_vec(),
            ));
        }
        for model in models {
            if let Some(exponent) = self.exponent(model) {
                let text =
                    format!("{model}: seconds grow as N^{exponent:.3} from N = {FITTED_FROM} on.");
                table.notes.push(text);
            }
        }
        table
    }

    fn stages(&self, model: &str) -> Table {
        let runs: Vec<&ScalingRun> = self.runs.iter().filter(|run| run.model == model).collect();
        let columns = runs
            .iter()
            .map(|run| format!("N = {}", run.nodes()))
            .collect();
        let mut table = Table::new(format!("Seconds by stage, {model}"), columns);
        (table.best, table.style) = (Best::Unmarked, Style::Significant);
        let parts: Vec<Vec<(String, f64)>> = runs.iter().map(|run| run.parts()).collect();
        for (name, _) in parts.last().into_iter().flatten() {
            let seconds = |parts: &Vec<(String, f64)>| {
                parts.iter().find(|part| part.0 == *name).map(|part| part.1)
            };
            table.rows.push((
                name.clone(),
                parts.iter().map(|parts| cell(seconds(parts))).collect(),
            ));
        }
        table
    }

    /// Bytes moved by each kind of work against what the memory can do.
    fn traffic(&self, run: &ScalingRun) -> Table {
        let title = format!("Memory traffic, {} N = {}", run.model, run.nodes());
        let columns = ["seconds", "GB moved", "GB/s", "of the bandwidth"];
        let mut table = Table::new(title, columns.map(str::to_owned).to_vec());
        (table.best, table.style) = (Best::Unmarked, Style::Significant);
        for Done {
            name,
            seconds,
            bytes,
            ..
        } in run.report.work.iter().filter(|done| done.calls > 0)
        {
            let rate = *bytes as f64 / seconds.max(1e-9);
            let cells = [
                *seconds,
                *bytes as f64 / 1e9,
                rate / 1e9,
                rate / self.bandwidth.max(1.0),
            ];
            table.rows.push((
                label(name).to_owned(),
                cells.map(|value| cell(Some(value))).to_vec(),
            ));
        }
        table.notes.push(
            "Bytes are estimated from shapes: each operand once, gathered rows once per entry. What the caches serve \
             counts as moved, so a share may exceed 1."
                .into(),
        );
        table
    }
}

fn cell(value: Option<f64>) -> Option<Summary> {
    value.and_then(|value| Summary::of(&[value]))
}

/// Bytes a second of a = b + s·c over arrays far larger than the caches, all threads together: the
/// best of five rounds (McCalpin's STREAM triad; what a write reads is not counted).
fn bandwidth() -> f64 {
    const LENGTH: usize = 1 << 24;
    const PIECE: usize = 1 << 14;
    let (b, c) = (vec![1.0f64; LENGTH], vec![2.0f64; LENGTH]);
    let mut a = vec![0.0f64; LENGTH];
    let mut best = f64::INFINITY;
    for round in 0..5 {
        let scale = black_box(f64::from(round));
        let start = Instant::now();
        let pieces = a
            .par_chunks_mut(PIECE)
            .zip(b.par_chunks(PIECE))
            .zip(c.par_chunks(PIECE));
        pieces.for_each(|((a, b), c)| {
            a.iter_mut()
                .zip(b)
                .zip(c)
                .for_each(|((a, b), c)| *a = b + scale * c);
        });
        best = best.min(start.elapsed().as_secs_f64());
        black_box(&a);
    }
    (3 * LENGTH * size_of::<f64>()) as f64 / best
}

/// Processor and memory in words, where the system reports it.
fn machine() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let (processors, memory) = (read("/proc/cpuinfo"), read("/proc/meminfo"));
    let field = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let name = field(&processors, "model name").unwrap_or_else(|| "unknown processor".into());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let kilobytes = field(&memory, "MemTotal")
        .and_then(|text| text.trim_end_matches(" kB").parse::<f64>().ok());
    let memory = kilobytes.map_or_else(String::new, |kb| format!(", {:.1} GB", kb * 1024.0 / 1e9));
    format!("{name}, {cores} cores{memory}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use hone::graph::builtin;
    use hone::{Config, Hone, Silent};

    #[test]
    fn exponents_and_tables_come_from_the_runs() {
        let hone = Hone::new(Config::preset("hone-p").expect("known")).expect("valid");
        let report = hone
            .embed(&builtin("karate").expect("known"), &Silent)
            .expect("small")
            .report;
        let run = |nodes: usize, seconds: f64| {
            let mut report = report.clone();
            report.graph.nodes = nodes;
            ScalingRun {
                model: "er".into(),
                seconds,
                report,
            }
        };
        // Small graphs do not count: they would spoil the exponent.
        let runs = vec![
            run(100, 90.0),
            run(10_000, 1.0),
            run(100_000, 10f64.powf(1.1)),
            run(1_000_000, 10f64.powf(2.2)),
        ];
        let study = Scaling {
            machine: "m".into(),
            threads: 2,
            bandwidth: 1e9,
            runs,
        };
        assert!((study.exponent("er").expect("three sizes") - 1.1).abs() < 1e-9);
        assert_eq!(study.exponent("rmat"), None);
        let report = study.report();
        let text = report.markdown();
        assert!(
            text.contains("er N = 1000000") && text.contains("N^1.100"),
            "{text}"
        );
        for stage in [
            "count",
            "local",
            "– products",
            "– orthonormalisation",
            "– Gram matrix",
            "– Z",
        ] {
            assert!(
                report.tables[1].rows.iter().any(|row| row.0 == stage),
                "{stage}: {text}"
            );
        }
        assert_eq!(report.plots[0].lines[0].1.len(), 4);
    }

    #[test]
    fn memory_has_a_bandwidth() {
        let rate = bandwidth();
        assert!(rate > 1e7 && rate < 1e13, "{rate}");
        assert!(machine().contains("core"));
    }
}
