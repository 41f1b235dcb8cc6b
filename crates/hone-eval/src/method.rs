//! All methods by name.
//!
//! A method is written `NAME` or `NAME:key=value,key=value`; a value `a|b|c` gives several
//! candidates, of which validation picks one (never the test pairs): `hone-p:steps=1|2|3|4`,
//! `node2vec:p=0.5|2,q=1`, `file:z.npy`.

use std::path::{Path, PathBuf};

use hone::config::{Auto, Config, Layers, PRESETS, solver_settings};
use hone::{Error, Hone, Progress, Result, memory, spelling};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::baseline::{
    Baseline, Degree, FastRp, GraRep, GraphWave, Heuristic, Hope, Line, NetMf, Node2Vec, ProNe,
    Random, RolX, Spectral,
};
use crate::split::TrainGraph;
use crate::vectors::{self, Vectors};

/// One method: candidates among which validation chooses, or an untrained score.
#[derive(Debug, Clone, PartialEq)]
pub struct Method {
    /// As the user wrote it; the row's name in tables.
    pub name: String,
    /// The ways to make vectors, each with the options that set it apart; none of a score.
    pub candidates: Vec<(String, Embedder)>,
    /// A score of node pairs, used as it is.
    pub score: Option<Heuristic>,
}

/// A method that gives every node a vector, with all its options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Embedder {
    /// HONE; the seed of the configuration is replaced by that of the run.
    Hone(Box<Config>),
    /// DeepWalk and node2vec.
    Node2Vec(Node2Vec),
    /// LINE.
    Line(Line),
    /// GraRep.
    GraRep(GraRep),
    /// NetMF.
    NetMf(NetMf),
    /// ProNE.
    ProNe(ProNe),
    /// HOPE.
    Hope(Hope),
    /// RolX.
    RolX(RolX),
    /// GraphWave.
    GraphWave(GraphWave),
    /// FastRP.
    FastRp(FastRp),
    /// Spectral embedding.
    Spectral(Spectral),
    /// Hand-made degree and triangle features.
    Degree(Degree),
    /// Random vectors.
    Random(Random),
    /// Vectors from a file, made elsewhere; `{seed}` in its name stands for the seed.
    File(PathBuf),
}

/// All methods besides the presets of HONE: the name; the tag of [`Embedder`], with an option that differs from its defaults, nothing
/// for scores of pairs; the options that the paper searches; a description.
#[rustfmt::skip]
const BASELINES: [(&str, &str, &str, &str); 21] = [
    ("node2vec", "node2-vec", "p=0.25|0.5|1|2|4,q=0.25|0.5|1|2|4", "biased random walks and skip-gram (Grover, Leskovec 2016)"),
    ("deepwalk", "node2-vec", "", "uniform random walks and skip-gram (Perozzi et al. 2014)"),
    ("line", "line", "", "second-order proximity by edge sampling (Tang et al. 2015)"),
    ("line-1st", "line:order=first", "", "LINE, first-order proximity"),
    ("line-both", "line:order=both", "", "LINE, first and second order, half of the columns each"),
    ("grarep", "gra-rep", "steps=1|2|3|4", "factors of log transition probabilities of 1…K steps (Cao et al. 2015)"),
    ("netmf", "net-mf", "window=1|10", "factors of the log window matrix that DeepWalk implies (Qiu et al. 2018)"),
    ("prone", "pro-ne", "", "factors of log transition probabilities, then a band-pass filter (Zhang et al. 2019)"),
    ("fastrp", "fast-rp", "", "random vectors, averaged over neighbours (Chen et al. 2019)"),
    ("hope", "hope", "", "source and target factors of the Katz proximity, for directed graphs (Ou et al. 2016)"),
    ("spectral", "spectral", "", "eigenvectors of the normalised Laplacian (Tang, Liu 2011)"),
    ("rolx", "rol-x", "", "roles: non-negative factors of recursive features (Henderson et al. 2012)"),
    ("graphwave", "graph-wave", "", "roles: characteristic functions of heat diffusion (Donnat et al. 2018)"),
    ("degree", "degree", "", "eight hand-made features of degree and triangles"),
    ("random", "random", "", "random vectors"),
    ("log-degree", "", "", "untrained: sum of log(1 + degree)"),
    ("preferential-attachment", "", "", "untrained: product of degrees"),
    ("common-neighbors", "", "", "untrained: number of common neighbours"),
    ("adamic-adar", "", "", "untrained: common neighbours weighted by 1/log degree"),
    ("jaccard", "", "", "untrained: common over all neighbours"),
    ("katz", "", "", "untrained: walks up to length 4, weight 0.01 per step"),
];

/// Name and one-line description of every method, HONE's presets first.
pub fn registry() -> Vec<(String, String)> {
    let presets = PRESETS
        .iter()
        .map(|(name, summary)| (*name, format!("HONE, {summary}")));
    let baselines = BASELINES.iter().map(|entry| (entry.0, entry.3.to_string()));
    let all = presets.chain(baselines);
    all.map(|(name, summary)| (name.to_string(), summary))
        .collect()
}

/// The methods of a list. Commas separate them, unless what follows is `key=value`: then it belongs to the options of the
/// method before it.
pub fn split_list(text: &str) -> Vec<String> {
    let mut methods: Vec<String> = Vec::new();
    for part in text.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        let option = part
            .split_once('=')
            .is_some_and(|(key, _)| !key.contains(':'));
        match methods.last_mut() {
            Some(last) if option && last.contains(':') => last.push_str(&format!(",{part}")),
            _ => methods.push(part.to_string()),
        }
    }
    methods
}

/// An error about a method as it was written.
fn refusal(text: &str, message: impl std::fmt::Display) -> Error {
    Error::config("methods", format!("`{text}`{message}"))
}

impl Method {
    /// Reads `NAME[:options]`.
    pub fn parse(text: &str) -> Result<Self> {
        Method::parse_searched(text, false)
    }

    /// Reads several texts, each of one method or of several with commas between them; with `grid`, the options that the
    /// paper searches are searched unless given.
    pub fn parse_list(texts: &[String], grid: bool) -> Result<Vec<Self>> {
        let names = texts.iter().flat_map(|text| split_list(text));
        names
            .map(|name| Method::parse_searched(&name, grid))
            .collect()
    }

    /// Reads `NAME[:options]`; with `grid`, the options that the paper searches are searched unless given.
    pub fn parse_searched(text: &str, grid: bool) -> Result<Self> {
        let (name, options) = text.split_once(':').unwrap_or((text, ""));
        let mut method = Method {
            name: text.to_string(),
            candidates: Vec::new(),
            score: None,
        };
        if name == "file" {
            if !options.contains("{seed}") && !Path::new(options).exists() {
                return Err(refusal(text, ": there is no such file"));
            }
            let file = (String::new(), Embedder::File(options.into()));
            method.candidates.push(file);
            return Ok(method);
        }
        let mut given = settings(text, options)?;
        let baseline = BASELINES.iter().find(|entry| entry.0 == name);
        let searched = match baseline {
            Some(entry) => entry.2,
            None if name == "hone" => "",
            None if PRESETS.iter().any(|preset| preset.0 == name) => "steps=1|2|3|4",
            None => {
                let names: Vec<String> = registry().into_iter().map(|e| e.0).collect();
                let hint = spelling::hint(name, names.iter().map(String::as_str));
                let other = "(vectors of another tool: file:PATH)";
                return Err(refusal(name, format!(" is not a method{hint} {other}")));
            }
        };
        if grid {
            let mut searched = settings(text, searched)?;
            searched.retain(|(key, _)| given.iter().all(|other| other.0 != *key));
            given.extend(searched);
        }
        if baseline.is_some_and(|entry| entry.1.is_empty()) {
            if let Some((key, _)) = given.first() {
                return Err(refusal(name, format!(" has no option `{key}`")));
            }
            let score = serde_json::from_value(name.into());
            method.score = Some(score.map_err(|e| refusal(name, e))?);
            return Ok(method);
        }
        // Every combination of one value a key.
        let mut combinations: Vec<Vec<(String, String)>> = vec![Vec::new()];
        for (key, values) in &given {
            let extended = |chosen: &Vec<(String, String)>| {
                let with = |value: &String| [&chosen[..], &[(key.clone(), value.clone())]].concat();
                values.iter().map(with).collect::<Vec<_>>()
            };
            combinations = combinations.iter().flat_map(extended).collect();
        }
        for chosen in combinations {
            let made = match baseline {
                Some(entry) => embedder(name, entry.1, &chosen)?,
                None => Embedder::Hone(Box::new(hone_config(name, &chosen)?)),
            };
            made.check().map_err(|error| match error {
                Error::Config { field, message } => refusal(name, format!(": {field} {message}")),
                other => other,
            })?;
            let options: Vec<String> = chosen.iter().map(|(k, v)| format!("{k}={v}")).collect();
            method.candidates.push((options.join(","), made));
        }
        Ok(method)
    }

    /// Its name, and how many candidates validation has to choose from.
    pub fn describe(&self) -> String {
        match self.candidates.len() {
            several @ 2.. => format!("{} ({several} candidates)", self.name),
            _ => self.name.clone(),
        }
    }

    /// The ways to make vectors.
    pub(crate) fn embedders(&self) -> Vec<&Embedder> {
        self.candidates
            .iter()
            .map(|candidate| &candidate.1)
            .collect()
    }

    /// Whether vectors come from a file.
    pub fn reads_file(&self) -> bool {
        let is_file = |embedder: &&Embedder| matches!(embedder, Embedder::File(_));
        self.embedders().iter().any(is_file)
    }

    /// Whether vectors depend on a file, whose name does not tell its content: one of vectors, or of attributes.
    pub(crate) fn depends_on_file(&self) -> bool {
        let with_attributes = |embedder: &&Embedder| matches!(embedder, Embedder::Hone(config) if config.attributes.file.is_some());
        self.reads_file() || self.embedders().iter().any(with_attributes)
    }
}

/// Keys and their values, of the method `text`.
fn settings(text: &str, options: &str) -> Result<Vec<(String, Vec<String>)>> {
    let parts = options.split(',').filter(|part| !part.trim().is_empty());
    let one = |part: &str| {
        let (key, values) = part
            .split_once('=')
            .ok_or_else(|| refusal(text, format!(": `{part}` is not key=value")))?;
        let values = values.split('|').map(|v| v.trim().to_string());
        Ok((key.trim().to_string(), values.collect()))
    };
    parts.map(one).collect()
}

/// A preset with settings by their dotted names, or by the short names they have among the options of `hone embed`.
fn hone_config(preset: &str, chosen: &[(String, String)]) -> Result<Config> {
    let mut settings: Vec<(&str, &str)> = Vec::new();
    for (key, value) in chosen {
        match key.as_str() {
            "dim" => settings.push(("global.dim", value)),
            "local-dim" | "local_dim" => settings.push(("local.dim", value)),
            "solver" => {
                let keys = solver_settings(value);
                settings.extend(keys.iter().map(|key| (*key, value.as_str())));
            }
            "vectors" => settings.push(("global.output", value)),
            "seed" => {
                let message = ": every split has its own seed; set the first seed instead";
                return Err(refusal(preset, message));
            }
            dotted => settings.push((dotted, value)),
        }
    }
    let config = Layers::new().preset(preset)?.set_all(settings)?.build();
    config.map_err(|error| match error {
        Error::Config { field, message } => refusal(preset, format!(": {field}: {message}")),
        other => other,
    })
}

/// A baseline of this tag; options are set by name, with the checks of the options' own type.
fn embedder(name: &str, tag: &str, chosen: &[(String, String)]) -> Result<Embedder> {
    let (tag, fixed) = tag.split_once(':').unwrap_or((tag, ""));
    let mut options = serde_json::Map::new();
    let chosen = chosen.iter().map(|(key, value)| (&**key, &**value));
    for (key, text) in fixed.split_once('=').into_iter().chain(chosen) {
        let value = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.into()));
        options.insert(key.into(), value);
    }
    serde_json::from_value(json!({ tag: options }))
        .map_err(|e| refusal(name, format!(": {}", spelling::plain(&e.to_string()))))
}

/// The file that holds the vectors of a seed.
pub(crate) fn file_of_seed(path: &Path, seed: u64) -> PathBuf {
    PathBuf::from(path.to_string_lossy().replace("{seed}", &seed.to_string()))
}

/// Bytes that vectors may take where the system does not report what is free.
const FAR_TOO_MUCH: u64 = 1 << 40;

impl Embedder {
    fn baseline(&self) -> Option<&dyn Baseline> {
        Some(match self {
            Embedder::Hone(_) | Embedder::File(_) => return None,
            Embedder::Node2Vec(options) => options,
            Embedder::Line(options) => options,
            Embedder::GraRep(options) => options,
            Embedder::NetMf(options) => options,
            Embedder::ProNe(options) => options,
            Embedder::Hope(options) => options,
            Embedder::RolX(options) => options,
            Embedder::GraphWave(options) => options,
            Embedder::FastRp(options) => options,
            Embedder::Spectral(options) => options,
            Embedder::Degree(options) => options,
            Embedder::Random(options) => options,
        })
    }

    /// The vectors of all nodes of the training graph.
    pub fn embed(&self, train: &TrainGraph, seed: u64, progress: &dyn Progress) -> Result<Vectors> {
        let graph = train.graph();
        self.check()?;
        let block = match self {
            Embedder::File(path) => return vectors::read(&file_of_seed(path, seed), graph),
            Embedder::Hone(config) => {
                let mut config = Config::clone(config);
                config.seed = seed;
                Hone::new(config)?.embed(graph, progress)?.embedding.vectors
            }
            _ => {
                let baseline = self.baseline().expect("all others are baselines");
                check_memory(baseline, graph.nodes())?;
                baseline.embed(graph, seed, progress)?
            }
        };
        Ok(Vectors {
            block,
            notes: Vec::new(),
        })
    }

    /// Whether the weights of edges matter to it.
    pub fn uses_weights(&self) -> bool {
        match self {
            Embedder::Hone(config) => config.weights != Auto::Given(false),
            _ => self.baseline().is_none_or(Baseline::uses_weights),
        }
    }

    /// Refuses options out of range.
    pub fn check(&self) -> Result<()> {
        match self {
            Embedder::Hone(config) => config.check(),
            _ => self.baseline().map_or(Ok(()), Baseline::check),
        }
    }
}

/// Refuses vectors that memory does not hold.
fn check_memory(baseline: &dyn Baseline, nodes: usize) -> Result<()> {
    let ((columns, copies), samples) = (baseline.rows(), baseline.samples());
    let row = (columns as u64).saturating_mul(4 * copies);
    let need = row.saturating_mul(nodes as u64).saturating_add(samples);
    let limit = memory::available().unwrap_or(FAR_TOO_MUCH);
    if need <= limit {
        return Ok(());
    }
    let less = match samples > need / 2 {
        true => "`length`, `window` or `negatives`",
        false => "`dim`",
    };
    Err(Error::Memory {
        stage: "the baseline".into(),
        need,
        least: false,
        limit,
        remedy: format!("give the method a smaller {less}").into(),
    })
}
