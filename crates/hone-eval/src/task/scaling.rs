//! The scaling study (sec. 4.4): whole runs, from edge list to vectors, on graphs of growing size.
//!
//! Who runs them is not decided here: a run is one report of the method and the seconds around it. This
//! file fits the exponent, measures what the machine's memory can do, and makes tables and the figure.

use std::hint::black_box;
use std::time::Instant;

use hone::report::{Done, Report as RunReport};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::report::{Best, Plot, Report, Style, Table};
use crate::stats::{self, Summary};

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScalingRun {
    /// Name of the kind of graph.
    pub model: String,
    /// Wall-clock seconds of the whole process.
    pub seconds: f64,
    /// What the run says of itself.
    pub report: RunReport,
}

/// A study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    /// The machine, in words.
    pub machine: String,
    /// Threads of each run.
    pub threads: usize,
    /// Bytes a second that all threads together move, measured by [`bandwidth`].
    pub bandwidth: f64,
    /// The runs, smallest graph first.
    pub runs: Vec<ScalingRun>,
}

/// Exponents are fitted to graphs of at least this many nodes: below, fixed costs rule.
pub const FITTED_FROM: usize = 10_000;

impl ScalingRun {
    /// The most bytes held.
    pub fn peak(&self) -> Option<u64> {
        self.report
            .stages
            .iter()
            .filter_map(|stage| stage.peak_memory)
            .max()
    }

    /// Processor time of all stages.
    pub fn processor(&self) -> Option<f64> {
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
    pub fn exponent(&self, model: &str) -> Option<f64> {
        let large = self
            .runs
            .iter()
            .filter(|run| run.model == model && run.nodes() >= FITTED_FROM);
        let (x, y): (Vec<f64>, Vec<f64>) = large
            .map(|run| (run.nodes() as f64, run.seconds.max(1e-9)))
            .unzip();
        stats::exponent(&x, &y)
    }

    /// Tables and figure.
    pub fn report(&self) -> Report {
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
pub fn bandwidth() -> f64 {
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
pub fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
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
