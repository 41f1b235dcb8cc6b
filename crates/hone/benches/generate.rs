//! Edges a second of each generator, to nowhere and to text: `cargo bench -p hone-embed --bench generate`.

use divan::Bencher;
use divan::counter::ItemsCount;
use hone::Silent;
use hone::graph::{Generator, GraphFormat, WriteOptions, write_generated};

const NODES: u64 = 200_000;
const DEGREE: f64 = 10.0;
const MODELS: [&str; 4] = ["er", "ba", "rmat", "sbm"];

fn model(name: &str) -> Generator {
    match name {
        "er" => Generator::Er {
            nodes: NODES,
            degree: DEGREE,
        },
        "ba" => Generator::Ba {
            nodes: NODES,
            degree: DEGREE,
        },
        "rmat" => Generator::Rmat {
            nodes: NODES,
            degree: DEGREE,
            quadrants: [0.57, 0.19, 0.19, 0.05],
        },
        _ => Generator::Sbm {
            nodes: NODES,
            degree: DEGREE,
            communities: 20,
            mixing: 0.2,
        },
    }
}

#[divan::bench(args = MODELS, sample_count = 10)]
fn draw(bencher: Bencher, name: &str) {
    bencher
        .counter(ItemsCount::new((NODES as f64 * DEGREE / 2.0) as u64))
        .bench(|| {
            let mut edges = 0;
            model(name).edges(1, &Silent, |batch| {
                edges += batch.iter().map(Vec::len).sum::<usize>();
                Ok(())
            })?;
            Ok::<usize, hone::Error>(edges)
        });
}

#[divan::bench(args = MODELS, sample_count = 10)]
fn write_tsv(bencher: Bencher, name: &str) {
    let options = WriteOptions {
        format: Some(GraphFormat::Tsv),
        overwrite: true,
    };
    bencher
        .counter(ItemsCount::new((NODES as f64 * DEGREE / 2.0) as u64))
        .bench(|| write_generated(&model(name), 1, "/dev/null", &options, &Silent));
}

fn main() {
    divan::main();
}
