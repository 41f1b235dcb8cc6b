//! Motif counting: edges and wedges per second on random graphs and the data at hand.
//!
//! `cargo bench -p hone-embed --bench count` runs all but the largest; `-- er rmat` those whose name contains a
//! word, `-- er-10m` the largest (4 GB). CPU seconds are of all threads (Linux only), each figure the
//! least of three runs, for estimates of five that take turns. Estimates are compared with exact counts on
//! R-MAT: the absolute error of a motif degree (row sum of W_t), relative to the exact one and averaged
//! over the nodes that have the motif ("by node"), or summed over all nodes and relative to the sum ("by
//! weight"); each then averaged over the 13 motifs, of which the errors are listed. `-- update` changes a thousandth of
//! the edges of R-MAT, half of them added and half removed, and compares updating the counts with counting again.

use std::path::Path;
use std::time::Instant;

use hone::Silent;
use hone::graph::{Generator, Graph, ReadOptions, read};
use hone::motif::{Counts, Motif, MotifSet, Sample, Weighting, count};

const RMAT: [f64; 4] = [0.57, 0.19, 0.19, 0.05];

fn main() -> hone::Result<()> {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with("--"))
        .collect();
    let wanted = |name: &str| words.iter().any(|word| name.contains(word.as_str()));
    println!("{:<24} {HEAD}", "graph");
    let models = [
        (
            "er-1m",
            Generator::Er {
                nodes: 1_000_000,
                degree: 10.0,
            },
        ),
        (
            "ba-1m-edges",
            Generator::Ba {
                nodes: 100_000,
                degree: 20.0,
            },
        ),
        (
            "rmat-5m-edges",
            Generator::Rmat {
                nodes: 1 << 20,
                degree: 10.0,
                quadrants: RMAT,
            },
        ),
        (
            "clique-2000",
            Generator::RingOfCliques {
                cliques: 2,
                size: 2000,
            },
        ),
        (
            "er-10m",
            Generator::Er {
                nodes: 10_000_000,
                degree: 10.0,
            },
        ),
    ];
    for (name, model) in models {
        if wanted(name) || (words.is_empty() && name != "er-10m") {
            let graph = model.graph(1, &Silent)?;
            let exact = report(name, &graph)?;
            if name.starts_with("rmat") {
                estimates(&graph, &exact)?;
            }
        }
    }
    if wanted("update") {
        updates(&Generator::Rmat {
            nodes: 1 << 20,
            degree: 10.0,
            quadrants: RMAT,
        })?;
    }
    for (name, path) in data() {
        if wanted(&name) || words.is_empty() {
            report(&name, &read(path, &ReadOptions::default(), &Silent)?)?;
        }
    }
    Ok(())
}

const HEAD: &str =
    "     edges      wedges   wall s    CPU s   Medges/s  Mwedges/s  counts MB  W_t CPU s";

fn report(name: &str, graph: &Graph) -> hone::Result<Counts> {
    let (counts, wall, spent) = least(|| count(graph, &Silent))?;
    let wedges: f64 = (0..graph.nodes() as u32)
        .map(|i| graph.degree(i) as f64)
        .map(|d| d * (d - 1.0) / 2.0)
        .sum();
    let (edges, cpu) = (graph.edges() as f64, cpu_seconds());
    for motif in MotifSet::Orbits.motifs() {
        counts.motif_graph(graph, motif, Weighting::default())?;
    }
    println!(
        "{name:<24} {edges:>10} {wedges:>11.3e} {wall:>8.3} {spent:>8.3} {:>10.2} {:>10.1} {:>10.1} {:>10.3}",
        edges / wall / 1e6,
        wedges / wall / 1e6,
        counts.bytes() as f64 / 1e6,
        cpu_seconds() - cpu,
    );
    Ok(counts)
}

/// The counts, and the least wall clock and CPU seconds of three runs.
fn least(run: impl Fn() -> hone::Result<Counts>) -> hone::Result<(Counts, f64, f64)> {
    let (mut counts, mut wall, mut spent) = (None, f64::MAX, f64::MAX);
    for _ in 0..3 {
        drop(counts.take());
        let (start, cpu) = (Instant::now(), cpu_seconds());
        counts = Some(run()?);
        wall = wall.min(start.elapsed().as_secs_f64());
        spent = spent.min(cpu_seconds() - cpu);
    }
    Ok((counts.expect("three runs"), wall, spent))
}

/// Caps of estimates.
const CAPS: [usize; 5] = [16, 20, 24, 32, 40];

/// Estimates at several caps, taking turns with exact counting: CPU seconds, how many times faster, and the
/// error of motif degrees.
fn estimates(graph: &Graph, exact: &Counts) -> hone::Result<()> {
    let samples: Vec<Sample> = std::iter::once(Sample::Exact)
        .chain(CAPS.map(Sample::Cap))
        .collect();
    let mut seconds = vec![f64::MAX; samples.len()];
    for _ in 0..5 {
        for (sample, seconds) in samples.iter().zip(&mut seconds) {
            let cpu = cpu_seconds();
            let counts = sample.count(graph, 1, &Silent)?;
            *seconds = seconds.min(cpu_seconds() - cpu);
            drop(counts);
        }
    }
    println!("  exact    {:>8.3} CPU s", seconds[0]);
    for (cap, spent) in CAPS.into_iter().zip(&seconds[1..]) {
        let counts = Sample::Cap(cap).count(graph, 1, &Silent)?;
        let (mut errors, mut weighted) = (Vec::new(), Vec::new());
        for motif in MotifSet::Orbits.motifs() {
            let (exact, found) = (
                degrees(graph, exact, motif)?,
                degrees(graph, &counts, motif)?,
            );
            let with = || exact.iter().zip(&found).filter(|(exact, _)| **exact > 0.0);
            let sum: f64 = with()
                .map(|(exact, found)| (found - exact).abs() / exact)
                .sum();
            errors.push(sum / with().count().max(1) as f64);
            let absolute: f64 = with().map(|(exact, found)| (found - exact).abs()).sum();
            weighted.push(absolute / exact.iter().sum::<f64>());
        }
        let mean = |errors: &[f64]| errors.iter().sum::<f64>() / errors.len() as f64;
        let each = |errors: &[f64]| {
            errors
                .iter()
                .map(|error| format!("{error:.3}"))
                .collect::<Vec<_>>()
                .join(" ")
        };
        let (by_node, by_weight) = (mean(&errors), mean(&weighted));
        let faster = seconds[0] / spent;
        println!("  cap {cap:<4} {spent:>8.3} CPU s, {faster:>5.1}x");
        println!("    error by weight {by_weight:.3}: {}", each(&weighted));
        println!("    error by node   {by_node:.3}: {}", each(&errors));
    }
    Ok(())
}

/// CPU seconds of an update after a thousandth of the edges changed, and of counting, taking turns.
fn updates(model: &Generator) -> hone::Result<()> {
    let (graph, other) = (model.graph(1, &Silent)?, model.graph(2, &Silent)?);
    let before = count(&graph, &Silent)?;
    let edges = |graph: &Graph| -> Vec<(u32, u32)> {
        let of = |i: u32| {
            graph
                .neighbors(i)
                .iter()
                .filter(move |&&j| j > i)
                .map(move |&j| (i, j))
                .collect::<Vec<_>>()
        };
        (0..graph.nodes() as u32).flat_map(of).collect()
    };
    let removed: Vec<(u32, u32)> = edges(&graph).into_iter().step_by(2000).collect();
    let new = edges(&other)
        .into_iter()
        .filter(|&(i, j)| graph.neighbors(i).binary_search(&j).is_err());
    let added: Vec<(u32, u32)> = new.skip(1000).step_by(2000).collect();
    let changes = added.len() + removed.len();
    for _ in 0..3 {
        let (start, cpu) = (Instant::now(), cpu_seconds());
        drop(before.update(&added, &removed, &Silent)?);
        let (updating, spent) = (start.elapsed().as_secs_f64(), cpu_seconds() - cpu);
        let (start, cpu) = (Instant::now(), cpu_seconds());
        drop(count(&graph, &Silent)?);
        let (counting, all) = (start.elapsed().as_secs_f64(), cpu_seconds() - cpu);
        println!(
            "  update   {changes} changes: {updating:.3} s, {spent:.3} CPU s; counting {counting:.3} s, {all:.3} CPU s; {:.3}",
            spent / all
        );
    }
    Ok(())
}

fn degrees(graph: &Graph, counts: &Counts, motif: Motif) -> hone::Result<Vec<f64>> {
    let w = counts.motif_graph(graph, motif, Weighting::default())?;
    let mut sums = vec![0.0; graph.nodes()];
    for row in 0..w.matrix.rows() {
        let node = w.nodes.as_ref().map_or(row, |nodes| nodes[row] as usize);
        sums[node] = w
            .matrix
            .row(row)
            .1
            .iter()
            .map(|&x| f64::from(x))
            .sum::<f64>();
    }
    Ok(sums)
}

/// Edge lists beside the project, by name; none when there is no such folder.
fn data() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let Ok(files) = std::fs::read_dir(&folder) else {
        println!("no graphs in {}", folder.display());
        return Vec::new();
    };
    let paths = files.filter_map(|file| file.ok().map(|file| file.path()));
    let mut graphs: Vec<_> = paths
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "edges")
        })
        .map(|path| {
            (
                path.file_stem()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned(),
                path.display().to_string(),
            )
        })
        .collect();
    graphs.sort();
    graphs
}

/// CPU seconds of the process so far; 0 where the system does not say.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap_or("")
        .split_whitespace()
        .collect();
    let ticks = |i: usize| {
        fields
            .get(i)
            .and_then(|field| field.parse::<f64>().ok())
            .unwrap_or(0.0)
    };
    (ticks(11) + ticks(12)) / 100.0
}
