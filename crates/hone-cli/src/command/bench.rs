//! `hone bench`: the scaling study, each size from edge list to vectors in a separate process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::Context as _;
use clap::ValueEnum;
use hone::Error;
use hone::output::TemporaryFolder;
use hone::report::Report as RunReport;
use hone_eval::task::{Scaling, ScalingRun, bandwidth, machine};
use hone_gpu::Device;

use super::eval::output::OutputArgs;
use crate::context::Context;
use crate::files::Files;

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
    #[arg(long, value_name = "DEVICE", default_value_t = Device::Cpu)]
    device: Device,
    /// Folder for the graphs and vectors, which are removed afterwards [default: the system's].
    #[arg(long, value_name = "DIR")]
    temp_dir: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

const EXAMPLES: &str = "\
Examples:
  hone bench --max-nodes 10000000 --json scaling.json --markdown scaling.md --svg scaling.svg
  hone bench --sizes 100000,1000000 --models er,rmat
  hone bench --sizes 10000000 --memory 8G

Each run is a separate process, so that its peak memory is measured alone; on Linux it ends with the study, even one
that is killed. Keep the machine idle meanwhile.";

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
}

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    args.output.check(Files::default())?;
    let sizes = args.sizes();
    if sizes.is_empty() {
        return Err(Error::config(
            "--max-nodes",
            format!("{} is below 100, the smallest size", args.max_nodes),
        )
        .into());
    }
    let parent = args.temp_dir.clone().unwrap_or_else(std::env::temp_dir);
    let folder = TemporaryFolder::create_in(parent)?;
    context.progress().stage("measuring memory", 0);
    let bandwidth = bandwidth();
    context
        .progress()
        .stage("runs", (args.models.len() * sizes.len()) as u64);
    let (mut runs, mut failed) = (Vec::new(), None);
    for (&model, &nodes) in args
        .models
        .iter()
        .flat_map(|model| sizes.iter().map(move |nodes| (model, nodes)))
    {
        match one(args, model, nodes, folder.path())
            .with_context(|| format!("{} of {nodes} nodes", model.name()))
        {
            Ok(run) => {
                context.note(format_args!(
                    "{} of {nodes} nodes: {:.2} s",
                    model.name(),
                    run.seconds
                ));
                runs.push(run);
                context.progress().advance(1);
            }
            Err(error) => {
                failed = Some(error);
                break;
            }
        }
    }
    drop(folder);
    if let Some(error) = failed.take_if(|_| runs.is_empty()) {
        return Err(error);
    }
    let runs_on = runs
        .first()
        .map_or_else(|| args.device.to_string(), |run| run.report.engine.clone());
    let study = Scaling {
        machine: machine(),
        threads: rayon::current_num_threads(),
        bandwidth,
        runs,
    };
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
        ("device".into(), runs_on),
        ("version".into(), env!("CARGO_PKG_VERSION").into()),
    ]);
    args.output.write(&report, context)?;
    // Finished results are written; then the failure is reported.
    failed.map_or(Ok(()), Err)
}

/// A graph is generated, embedded by a separate process, and removed with its vectors.
fn one(args: &Args, model: Model, nodes: u64, folder: &Path) -> anyhow::Result<ScalingRun> {
    let (graph, vectors) = (folder.join("graph.tsv"), folder.join("vectors.npy"));
    let mut make = child()?;
    make.args([
        "generate",
        model.name(),
        "--force",
        "--nodes",
        &nodes.to_string(),
    ]);
    make.args([
        "--degree",
        &args.degree.to_string(),
        "--seed",
        &args.seed.to_string(),
        "-o",
    ])
    .arg(&graph);
    finish(make)?;
    let mut embed = child()?;
    embed
        .args(["embed", "--force", "--preset", &args.preset])
        .arg(&graph)
        .arg("-o")
        .arg(&vectors);
    if args.iterations != "auto" {
        embed.args([
            "--set",
            &format!("local.solver.iterations={}", args.iterations),
        ]);
    }
    embed.args(["--device", &args.device.to_string()]);
    embed.args(args.set.iter().flat_map(|setting| ["--set", setting]));
    embed.args(args.memory.iter().flat_map(|memory| ["--memory", memory]));
    let start = Instant::now();
    finish(embed)?;
    let seconds = start.elapsed().as_secs_f64();
    let path = folder.join("vectors.npy.run.json");
    let text = fs::read_to_string(&path).map_err(|e| Error::io(&path, e))?;
    let report: RunReport = serde_json::from_str(&text)?;
    for file in [graph, vectors, path] {
        fs::remove_file(&file).map_err(|e| Error::io(&file, e))?;
    }
    Ok(ScalingRun {
        model: model.name().into(),
        seconds,
        report,
    })
}

/// This same program, quiet, with as many threads.
fn child() -> anyhow::Result<Command> {
    let mut command = Command::new(std::env::current_exe().context("the name of this program")?);
    command
        .args([
            "--quiet",
            "--threads",
            &rayon::current_num_threads().to_string(),
        ])
        .stdin(Stdio::null());
    #[cfg(target_os = "linux")]
    ended_with_this(&mut command);
    Ok(command)
}

/// Has the system end a child when this process ends: a study that is killed would leave it running.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn ended_with_this(command: &mut Command) {
    use std::io::{self, ErrorKind};
    use std::os::unix::process::CommandExt;

    use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};
    let this = getpid();
    let ask = move || -> io::Result<()> {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // It may have ended before.
        (getppid() == Some(this))
            .then_some(())
            .ok_or(ErrorKind::NotFound.into())
    };
    // SAFETY: in the new process, which has one thread and the memory of this one, the closure makes two calls of the
    // system and neither allocates nor locks anything.
    unsafe { command.pre_exec(ask) };
}

fn finish(mut command: Command) -> anyhow::Result<()> {
    let output = command
        .output()
        .context("this program could not be started again")?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim().trim_start_matches("error:").trim();
    if output.status.code() == Some(2) {
        return Err(Error::config("bench", said.to_owned()).into());
    }
    anyhow::bail!("the run failed ({}): {said}", output.status)
}
