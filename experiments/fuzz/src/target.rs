//! The targets: one for each reader and format, each a function from a file to what came of it.

use std::path::Path;
use std::sync::OnceLock;

use hone::attributes::{self, Table};
use hone::config::Layers;
use hone::graph::{self, Graph, InputFormat, NodeIds, Orientation, ReadOptions, Recorded};
use hone::memory::Allowance;
use hone::motif::{Counts, MotifSet, Weighting};
use hone::store::{Embedding, Format};
use hone::{Error, Progress, Result, Silent};
use hone_eval::labels::NodeLabels;
use hone_explore::{Colour, read_labels};

use crate::karate::karate;
use crate::message::unquoted;
use crate::{checkpoint, folders, models};

/// Bytes that readers are allowed to hold.
const ALLOWED: u64 = 192 << 20;

/// A reader and a format.
pub(crate) struct Target {
    /// Its name, and that of its folder in the corpus.
    pub(crate) name: &'static str,
    /// The ending that its files have.
    pub(crate) extension: &'static str,
    /// Words that mean something to it.
    pub(crate) tokens: &'static [&'static str],
    /// Reads a file; says in a few words what it found.
    pub(crate) run: fn(&Path) -> Result<String>,
}

const TEXT: &[&str] = &[
    "\"", "\"\"", "\t", ",", ";", "::", " ", "\n", "\r\n", "\r", "#", "%", "\u{feff}", "\0", "é",
    "id", "NA",
];
const COPY: &[&str] = &[
    "\t", "\\N", "\\.", "\\", "\\t", "\\x4", "\\101", "[", "]", ",", "\n", "\r\n", "NaN", "\0", "é",
];
const PGCOPY: &[&str] = &["PGCOPY\n", "\0\u{2}", "\0\0\0\u{8}", "\0\0\0\u{c}", "\0\0"];
const MTX: &[&str] = &[
    "%%MatrixMarket matrix ",
    "coordinate ",
    "array ",
    "real ",
    "integer ",
    "pattern ",
    "complex ",
    "general\n",
    "symmetric\n",
    "skew-symmetric\n",
    "%",
    "\n",
    " ",
    "-",
    "1e308",
];
const METIS: &[&str] = &["011", "111", "%", "\n", "\n\n", " ", "1 1", "2 "];
const PARQUET: &[&str] = &[
    "PAR1",
    "\u{15}\u{0}",
    "\u{19}",
    "\u{1c}",
    "\u{0}",
    "\u{2}",
    "id",
    "source",
];
const NPY: &[&str] = &[
    "'descr': ",
    "'<f4'",
    "'<U9'",
    "'|b1'",
    "'>f8'",
    "'shape': (",
    "True",
    "False",
    ", ",
    "(",
    "9, 9",
];
const ZIP: &[&str] = &[
    "PK\u{3}\u{4}",
    "PK\u{1}\u{2}",
    "PK\u{5}\u{6}",
    "ids.npy",
    "embedding.npy",
    "\u{8}\u{0}",
];
const JSON: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "\"",
    ":",
    ",",
    "null",
    "true",
    "-0",
    "1e999",
    "\\u0000",
    "embedding",
    "F32",
    "I64",
];
const TOML: &[&str] = &[
    "[local]\n",
    "[[",
    "dim = ",
    "= ",
    "\n",
    "\"",
    "{",
    "}",
    "motifs = ",
    "steps = ",
    "\"auto\"",
    "attributes.",
    "structure.",
    "features.",
    "solver",
    "method = \"ccd\"",
    "true",
    "form = { components = { dim = 4 } }",
    "global.",
    "sample = \"cap=4\"",
];
const BINARY: &[&str] = &["\0", "\u{1}", "rows\":", "{\"", "}"];

const fn target(
    name: &'static str,
    extension: &'static str,
    tokens: &'static [&'static str],
    run: fn(&Path) -> Result<String>,
) -> Target {
    Target {
        name,
        extension,
        tokens,
        run,
    }
}

/// Every target.
pub(crate) const TARGETS: &[Target] = &[
    target("edges", "txt", TEXT, |path| {
        read_graph(path, InputFormat::Edges)
    }),
    target("edges-copy", "txt", COPY, |path| {
        read_table(path, InputFormat::Edges, Some("copy"))
    }),
    target("mtx", "mtx", MTX, |path| {
        read_graph(path, InputFormat::MatrixMarket)
    }),
    target("metis", "graph", METIS, |path| {
        read_graph(path, InputFormat::Metis)
    }),
    target("graph-parquet", "parquet", PARQUET, |p| {
        read_graph(p, InputFormat::Parquet)
    }),
    target("graph-gz", "txt.gz", BINARY, |path| {
        read_graph(path, InputFormat::Edges)
    }),
    target("graph-zst", "txt.zst", BINARY, |p| {
        read_graph(p, InputFormat::Metis)
    }),
    target("nodes", "txt", TEXT, nodes),
    target("attributes-text", "csv", TEXT, read_attributes),
    target("attributes-parquet", "parquet", PARQUET, read_attributes),
    target("attributes-npy", "npy", NPY, read_attributes),
    target("attributes-mtx", "mtx", MTX, read_attributes),
    target(
        "attributes-svm",
        "svm",
        &[":", " ", "#", "qid:1", "\n", "0:", "-"],
        read_attributes,
    ),
    target("embedding-tsv", "tsv", TEXT, |path| {
        embedding(path, Format::Tsv)
    }),
    target("embedding-csv", "csv", TEXT, |path| {
        embedding(path, Format::Csv)
    }),
    target("embedding-w2v", "w2v", TEXT, |path| {
        embedding(path, Format::Word2vec)
    }),
    target("embedding-npy", "npy", NPY, |path| {
        embedding(path, Format::Npy)
    }),
    target("embedding-npz", "npz", ZIP, |path| {
        embedding(path, Format::Npz)
    }),
    target("embedding-parquet", "parquet", PARQUET, |path| {
        embedding(path, Format::Parquet)
    }),
    target("embedding-pgvector", "pgvector", COPY, |path| {
        embedding(path, Format::Pgvector)
    }),
    target("embedding-pgcopy", "pgcopy", PGCOPY, |path| {
        embedding(path, Format::Pgcopy)
    }),
    target("embedding-safetensors", "st", JSON, |path| {
        embedding(path, Format::Safetensors)
    }),
    target("labels", "labels", TEXT, labels),
    target("config", "toml", TOML, config),
    target("run-json", "npy.run.json", JSON, record_of_run),
    target("counts", "counts", BINARY, counts),
    target("model", "hone", JSON, models::read),
    target("checkpoint-manifest", "json", JSON, checkpoint::manifest),
    target("checkpoint-part", "part", BINARY, checkpoint::part),
    target("checkpoint-counts", "counts", BINARY, checkpoint::counts),
    target("factors-manifest", "json", JSON, folders::factors_manifest),
    target("factors-array", "npy", NPY, folders::factors_array),
    target("saved-manifest", "json", JSON, folders::saved_manifest),
    target("saved-record", "json", JSON, folders::saved_record),
    target("cells", "json", JSON, folders::cells),
    target("map-labels", "tsv", TEXT, |path| colours(path, read_labels)),
    target("map-attributes", "csv", TEXT, |path| {
        colours(path, hone_explore::read_attributes)
    }),
];

/// Reads a graph, and once more with directions and weights; what comes out must hold what a graph promises.
fn read_graph(path: &Path, format: InputFormat) -> Result<String> {
    read_table(path, format, None)
}

fn read_table(path: &Path, format: InputFormat, delimiter: Option<&str>) -> Result<String> {
    let read = |directed: bool, weighted: bool| {
        let options = ReadOptions {
            format: Some(format),
            delimiter: delimiter.map(str::to_owned),
            directed,
            weighted,
            memory: Some(ALLOWED),
            ..ReadOptions::default()
        };
        let read = graph::read(path, &options, &Silent)?;
        let (pattern, weights) = (read.pattern(), read.weights().cloned());
        let (offsets, columns) = (pattern.offsets().to_vec(), pattern.indices().clone());
        let ids = read.ids().clone();
        let same = Graph::from_arcs(offsets, columns, weights, Orientation::Detect, ids)?;
        assert!(same.dropped().is_empty() && (directed || !same.is_directed()));
        Ok(format!(
            "{} edges",
            if read.edges() == 0 { "no" } else { "some" }
        ))
    };
    let weighted = read(true, true).unwrap_or_else(|error: Error| error.to_string());
    read(false, false).map(|found| format!("{found}, {}", unquoted(&weighted)))
}

fn nodes(path: &Path) -> Result<String> {
    static EDGES: OnceLock<tempfile::NamedTempFile> = OnceLock::new();
    let edges = EDGES.get_or_init(|| {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), "1 2\n2 3\n").expect("written");
        file
    });
    let options = ReadOptions {
        nodes: Some(path.to_path_buf()),
        memory: Some(ALLOWED),
        ..ReadOptions::default()
    };
    graph::read(edges.path(), &options, &Silent)
        .map(|read| format!("{} nodes", read.nodes().min(9)))
}

fn read_attributes(path: &Path) -> Result<String> {
    let read = attributes::read(
        path,
        &Table::default(),
        karate().ids(),
        Some(ALLOWED),
        &Silent,
    )?;
    let block = read.attributes.block();
    let finite = block.as_slice().iter().all(|value| value.is_finite());
    assert!(
        finite && block.rows() == karate().nodes(),
        "attributes of every node, all finite"
    );
    Ok(format!("{} columns", block.cols().min(9)))
}

fn embedding(path: &Path, format: Format) -> Result<String> {
    let read = Embedding::read_within(path, Some(format), Allowance::new(Some(ALLOWED)))?;
    assert_eq!(read.ids.len(), read.vectors.rows(), "one id per row");
    Ok(format!(
        "{} rows, {} columns",
        read.vectors.rows().min(9),
        read.vectors.cols().min(9)
    ))
}

fn labels(path: &Path) -> Result<String> {
    NodeLabels::read(path, karate()).map(|read| format!("{} labels", read.labels().min(9)))
}

/// What is accepted must come back the same from its own TOML.
fn config(path: &Path) -> Result<String> {
    let read = Layers::new().file(path)?.build()?;
    let again = path.with_extension("again.toml");
    std::fs::write(&again, read.to_toml()).map_err(|e| Error::io(&again, e))?;
    assert_eq!(
        Layers::new().file(&again)?.build()?,
        read,
        "a configuration repeats itself"
    );
    Ok(format!("{:?}", read.model))
}

/// A record names a graph and its settings, and lists the files it belongs to.
fn record_of_run(path: &Path) -> Result<String> {
    let recorded = Recorded::read(path)?;
    let differs = recorded
        .as_ref()
        .map(|recorded| recorded.difference(karate()).is_some());
    let input = recorded
        .as_ref()
        .and_then(|recorded| recorded.input.as_ref());
    let input = input.map(|input| {
        recorded
            .as_ref()
            .map(|recorded| recorded.locate(path, &input.path).is_ok())
    });
    let output = path.with_extension("").with_extension("");
    let listed = hone::record::verify(&output).is_ok();
    config(path).map(|model| format!("{model} {differs:?} {input:?} {listed}"))
}

type Colours =
    fn(&Path, &NodeIds, Option<u64>, &dyn Progress) -> Result<(Vec<Colour>, Vec<String>)>;

/// Labels and attributes as a map reads them: a value for every node.
fn colours(path: &Path, read: Colours) -> Result<String> {
    let (found, notes) = read(path, karate().ids(), Some(ALLOWED), &Silent)?;
    assert!(
        found
            .iter()
            .all(|colour| colour.nodes() == karate().nodes()),
        "a value for every node"
    );
    Ok(format!(
        "{} colours, {} notes",
        found.len().min(9),
        notes.len().min(3)
    ))
}

/// Counts that load are used like any others.
fn counts(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
    let counts = Counts::load(karate(), &mut &*bytes).map_err(|e| Error::io(path, e))?;
    let sum = (0..karate().nodes() as u32)
        .flat_map(|i| counts.row(i))
        .fold(0u64, |sum, (_, orbits)| {
            orbits
                .iter()
                .fold(sum, |sum, &count| sum.wrapping_add(count))
        });
    let nodes = counts.node_orbits().map(|orbits| orbits.len());
    for motif in MotifSet::default().motifs() {
        counts.motif_graph(karate(), motif, Weighting::default())?;
    }
    nodes.map(|nodes| format!("{nodes} nodes, {}", if sum == 0 { "no" } else { "some" }))
}
