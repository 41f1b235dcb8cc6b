//! Reading and building: throughput, and the builder's time as a multiple of sorting the same pairs.
//!
//! `cargo bench -p hone-embed --bench graph -- [MILLIONS OF EDGES] [build|read]` (default 5, both).
//! Prints the best of three runs; on Linux also processor time and the peak memory so far.

#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::time::Instant;

use hone::Silent;
use hone::graph::{GraphBuilder, ReadOptions, read};
use rayon::prelude::*;

fn main() {
    let millions: f64 = std::env::args()
        .skip(1)
        .find_map(|arg| arg.parse().ok())
        .unwrap_or(5.0);
    let m = (millions * 1e6) as usize;
    let n = (m / 5).max(2);
    println!(
        "{n} nodes, {m} edges, {} threads",
        rayon::current_num_threads()
    );
    let only = |what: &str| std::env::args().skip(1).any(|arg| arg == what);
    if !only("read") {
        build(n, m);
    }
    if !only("build") {
        parse(n, m);
    }
}

/// Uniform random pairs; the same for the same index.
fn pair(n: usize, e: usize) -> (u32, u32) {
    let mix = |x: u64| {
        let x = (x ^ (x >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d049bb133111eb);
        x ^ (x >> 31)
    };
    let e = e as u64;
    (
        (mix(2 * e + 1) % n as u64) as u32,
        (mix(2 * e + 2) % n as u64) as u32,
    )
}

fn pairs(n: usize, m: usize) -> Vec<(u32, u32)> {
    (0..m).into_par_iter().map(|e| pair(n, e)).collect()
}

/// How long a run took: on the clock, and summed over the processors, which is what to compare
/// when others use the machine too (0 where the system does not report it).
#[derive(Clone, Copy)]
struct Took {
    wall: f64,
    cpu: f64,
}

impl std::fmt::Display for Took {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:7.3} s (cpu {:6.2} s)", self.wall, self.cpu)
    }
}

/// The best of three runs on fresh input.
fn best<I, O>(mut input: impl FnMut() -> I, mut run: impl FnMut(I) -> O) -> Took {
    let runs = (0..3).map(|_| {
        let input = input();
        let (start, cpu_start) = (Instant::now(), cpu());
        let output = run(input);
        let took = Took {
            wall: start.elapsed().as_secs_f64(),
            cpu: cpu() - cpu_start,
        };
        drop(output);
        took
    });
    runs.reduce(|a, b| Took {
        wall: a.wall.min(b.wall),
        cpu: a.cpu.min(b.cpu),
    })
    .expect("three runs")
}

/// Processor seconds of the whole process so far.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .skip(11)
        .take(2);
    ticks
        .filter_map(|ticks| ticks.parse::<f64>().ok())
        .sum::<f64>()
        / 100.0
}

fn build(n: usize, m: usize) {
    let rate = |took: Took| m as f64 / took.wall / 1e6;
    let undirected = best(
        || pairs(n, m),
        |pairs| GraphBuilder::undirected(n).edges(pairs).build().unwrap(),
    );
    println!(
        "build undirected  {undirected}  {:6.1} M edges/s{}",
        rate(undirected),
        peak()
    );
    let directed = best(
        || pairs(n, m),
        |pairs| GraphBuilder::directed(n).edges(pairs).build().unwrap(),
    );
    println!(
        "build directed    {directed}  {:6.1} M edges/s",
        rate(directed)
    );
    let sort = best(
        || pairs(n, m),
        |mut pairs| {
            pairs.par_sort_unstable();
            pairs
        },
    );
    println!("sort the pairs    {sort}  {:6.1} M edges/s", rate(sort));
    for (name, took) in [("undirected", undirected), ("directed", directed)] {
        println!(
            "{name} / sort: {:.2} (cpu {:.2})",
            took.wall / sort.wall,
            took.cpu / sort.cpu
        );
    }
    let weighted = best(
        || (pairs(n, m), vec![1.0; m]),
        |(pairs, weights)| {
            GraphBuilder::undirected(n)
                .edges(pairs)
                .weights(weights)
                .build()
                .unwrap()
        },
    );
    println!(
        "build weighted    {weighted}  {:6.1} M edges/s{}",
        rate(weighted),
        peak()
    );
}

fn parse(n: usize, m: usize) {
    let folder = tempfile::tempdir().unwrap();
    type Line = fn(&mut Vec<u8>, u32, u32);
    let kinds: [(&str, &str, Line); 4] = [
        ("integers", "a.edges", |out, u, v| {
            writeln!(out, "{u} {v}").unwrap();
        }),
        ("integers, csv", "a.csv", |out, u, v| {
            writeln!(out, "{u},{v}").unwrap();
        }),
        ("weights kept", "a.tsv", |out, u, v| {
            writeln!(out, "{u}\t{v}\t{}.25", u % 10).unwrap();
        }),
        ("names", "a.txt", |out, u, v| {
            writeln!(out, "n{u} n{v}").unwrap();
        }),
    ];
    for (kind, name, line) in kinds {
        let mut content = Vec::new();
        pairs(n, m)
            .into_iter()
            .for_each(|(u, v)| line(&mut content, u, v));
        let path = folder.path().join(name);
        std::fs::write(&path, &content).unwrap();
        let options = ReadOptions {
            weighted: kind == "weights kept",
            ..ReadOptions::default()
        };
        report(kind, content.len(), m, path.to_str().unwrap(), &options);
        if kind == "integers" {
            let path = folder.path().join("a.edges.zst");
            std::fs::write(&path, zstd::encode_all(&content[..], 1).unwrap()).unwrap();
            report(
                "integers, zstd",
                content.len(),
                m,
                path.to_str().unwrap(),
                &options,
            );
        }
    }
}

/// Times reading up to the finished graph; the share of parsing is what the builder leaves.
fn report(kind: &str, bytes: usize, m: usize, path: &str, options: &ReadOptions) {
    let whole = best(|| (), |()| read(path, options, &Silent).unwrap());
    let parse = best(|| (), |()| parse_only(path, options));
    let rate = |took: Took| bytes as f64 / took.wall / 1e6;
    println!(
        "read {kind:15} {parse} {:7.1} MB/s {:6.1} M edges/s",
        rate(parse),
        m as f64 / parse.wall / 1e6
    );
    println!(
        "  with building      {whole} {:7.1} MB/s; {:.0} MB",
        rate(whole),
        bytes as f64 / 1e6
    );
}

/// Reads everything but fails at the very end, before building: a cancelled progress.
fn parse_only(path: &str, options: &ReadOptions) {
    struct StopAfter;
    impl hone::Progress for StopAfter {
        fn check(&self) -> hone::Result<()> {
            Err(hone::Error::Interrupted)
        }
    }
    if path.ends_with(".zst") {
        // The stream path asks between batches; there is no moment before building to stop at.
        read(path, options, &Silent).unwrap();
    } else {
        assert!(matches!(
            read(path, options, &StopAfter),
            Err(hone::Error::Interrupted)
        ));
    }
}

/// The peak memory of the process, where the system reports it.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap_or_default();
    let kilobytes: f64 = line
        .split_whitespace()
        .nth(1)
        .and_then(|kb| kb.parse().ok())
        .unwrap_or(0.0);
    if kilobytes > 0.0 {
        format!("  peak {:.2} GB", kilobytes / 1e6)
    } else {
        String::new()
    }
}
