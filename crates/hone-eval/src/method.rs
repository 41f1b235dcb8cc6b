//! All methods by name.
//!
//! A method is written `NAME` or `NAME:key=value,key=value`; a value `a|b|c` gives several
//! candidates, of which validation picks one (never the test pairs): `hone-p:steps=1|2|3|4`,
//! `node2vec:p=0.5|2,q=1`, `file:z.npy`.

use std::path::Path;

use hone::config::{Config, Layers, PRESETS, solver_settings};
use hone::{Error, Result, spelling};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::baseline::{
    self, Degree, GraRep, GraphWave, Heuristic, Hope, Line, NetMf, Node2Vec, ProNe, RolX, Spectral,
};
use crate::embedder::{Embedder, Random};

impl Method {
    /// Its name, and how many candidates validation has to choose from.
    pub fn describe(&self) -> String {
        match &self.kind {
            Kind::Vectors(candidates) if candidates.len() > 1 => {
                format!("{} ({} candidates)", self.name, candidates.len())
            }
            _ => self.name.clone(),
        }
    }

    /// The single candidate, for tasks without validation.
    pub fn single(&self) -> Result<&Embedder> {
        let refuse = |message: &str| {
            Err(Error::config(
                "methods",
                format!("`{}` {message}", self.name),
            ))
        };
        match &self.kind {
            Kind::Score(_) => refuse("scores pairs of nodes and has no vectors"),
            Kind::Vectors(_) if self.reads_file() => {
                refuse("holds vectors of another graph; this task makes its own graphs")
            }
            Kind::Vectors(candidates) if candidates.len() > 1 => refuse(
                "has several candidates, but this task cannot choose among them; give one value per option",
            ),
            Kind::Vectors(candidates) => Ok(&candidates[0].1),
        }
    }

    /// The ways to make vectors, each with the options that set it apart; none for an untrained score.
    pub fn candidates(&self) -> &[(String, Embedder)] {
        match &self.kind {
            Kind::Vectors(candidates) => candidates,
            Kind::Score(_) => &[],
        }
    }

    /// Whether vectors come from a file, whose name does not tell its content.
    pub fn reads_file(&self) -> bool {
        self.candidates()
            .iter()
            .any(|c| matches!(c.1, Embedder::File(_)))
    }
}

/// One method: candidates among which validation chooses, or an untrained score.
#[derive(Debug, Clone, PartialEq)]
pub struct Method {
    /// As the user wrote it; the row's name in tables.
    pub name: String,
    /// What it does.
    pub kind: Kind,
}

/// What a method gives.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Vectors; each candidate with the options that set it apart.
    Vectors(Vec<(String, Embedder)>),
    /// A score of node pairs, used as it is.
    Score(Heuristic),
}

/// A line of the registry.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// The options the paper searches, as they would be written after the colon.
    pub grid: &'static str,
}

/// All baselines.
pub const BASELINES: [Entry; 20] = [
    entry(
        "node2vec",
        "biased random walks and skip-gram (Grover, Leskovec 2016)",
        "p=0.25|0.5|1|2|4,q=0.25|0.5|1|2|4",
    ),
    entry(
        "deepwalk",
        "uniform random walks and skip-gram (Perozzi et al. 2014)",
        "",
    ),
    entry(
        "line",
        "second-order proximity by edge sampling (Tang et al. 2015)",
        "",
    ),
    entry("line-1st", "LINE, first-order proximity", ""),
    entry(
        "line-both",
        "LINE, first and second order, half of the columns each",
        "",
    ),
    entry(
        "grarep",
        "factors of log transition probabilities of 1…K steps (Cao et al. 2015)",
        "steps=1|2|3|4",
    ),
    entry(
        "netmf",
        "factors of the log window matrix that DeepWalk implies (Qiu et al. 2018)",
        "window=1|10",
    ),
    entry(
        "prone",
        "factors of log transition probabilities, then a band-pass filter (Zhang et al. 2019)",
        "",
    ),
    entry(
        "hope",
        "source and target factors of the Katz proximity, for directed graphs (Ou et al. 2016)",
        "",
    ),
    entry(
        "spectral",
        "eigenvectors of the normalised Laplacian (Tang, Liu 2011)",
        "",
    ),
    entry(
        "rolx",
        "roles: non-negative factors of recursive features (Henderson et al. 2012)",
        "",
    ),
    entry(
        "graphwave",
        "roles: characteristic functions of heat diffusion (Donnat et al. 2018)",
        "",
    ),
    entry(
        "degree",
        "eight hand-made features of degree and triangles",
        "",
    ),
    entry("random", "random vectors", ""),
    entry("log-degree", "untrained: sum of log(1 + degree)", ""),
    entry(
        "preferential-attachment",
        "untrained: product of degrees",
        "",
    ),
    entry(
        "common-neighbors",
        "untrained: number of common neighbours",
        "",
    ),
    entry(
        "adamic-adar",
        "untrained: common neighbours weighted by 1/log degree",
        "",
    ),
    entry("jaccard", "untrained: common over all neighbours", ""),
    entry(
        "katz",
        "untrained: walks up to length 4, weight 0.01 per step",
        "",
    ),
];

const fn entry(name: &'static str, summary: &'static str, grid: &'static str) -> Entry {
    Entry {
        name,
        summary,
        grid,
    }
}

impl Method {
    /// Reads `NAME[:options]`.
    pub fn parse(text: &str) -> Result<Self> {
        Method::read(text, false)
    }

    /// The same where options that the paper searches are searched unless given.
    pub fn parse_searched(text: &str) -> Result<Self> {
        Method::read(text, true)
    }

    /// Reads several texts, each of one method or of several with commas between them; with `grid`, the options that the
    /// paper searches are searched unless given.
    pub fn parse_list(texts: &[String], grid: bool) -> Result<Vec<Self>> {
        let names = texts.iter().flat_map(|text| split_list(text));
        names.map(|name| Method::read(&name, grid)).collect()
    }

    fn read(text: &str, grid: bool) -> Result<Self> {
        let (name, options) = text.split_once(':').unwrap_or((text, ""));
        if name == "file" {
            if options.is_empty() || (!options.contains("{seed}") && !Path::new(options).exists()) {
                return Err(Error::config(
                    "methods",
                    format!("`{text}`: there is no such file"),
                ));
            }
            let kind = Kind::Vectors(vec![(String::new(), Embedder::File(options.into()))]);
            return Ok(Method {
                name: text.to_string(),
                kind,
            });
        }
        let mut settings = parse_settings(text, options)?;
        let searched = search_of(name).ok_or_else(|| unknown(name))?;
        if grid {
            for (key, values) in parse_settings(text, searched)? {
                if !settings.iter().any(|s| s.0 == key) {
                    settings.push((key, values));
                }
            }
        }
        if let Some(score) = heuristic(name) {
            if let Some((key, _)) = settings.first() {
                return Err(Error::config(
                    "methods",
                    format!("`{name}` has no option `{key}`"),
                ));
            }
            return Ok(Method {
                name: text.to_string(),
                kind: Kind::Score(score),
            });
        }
        let candidates: Result<_> = product(&settings)
            .iter()
            .map(|chosen| Ok((show(chosen), checked(name, chosen)?)))
            .collect();
        Ok(Method {
            name: text.to_string(),
            kind: Kind::Vectors(candidates?),
        })
    }
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

/// Name and one-line description of every method, HONE's presets first.
pub fn registry() -> Vec<(String, String)> {
    let presets = PRESETS
        .iter()
        .map(|(name, summary)| (name.to_string(), format!("HONE, {summary}")));
    presets
        .chain(
            BASELINES
                .iter()
                .map(|e| (e.name.to_string(), e.summary.to_string())),
        )
        .collect()
}

/// The options the paper searches for a method; nothing for an unknown method.
fn search_of(name: &str) -> Option<&'static str> {
    let preset = PRESETS
        .iter()
        .any(|p| p.0 == name)
        .then(|| if name == "hone" { "" } else { "steps=1|2|3|4" });
    preset.or_else(|| BASELINES.iter().find(|e| e.name == name).map(|e| e.grid))
}

fn unknown(name: &str) -> Error {
    let names: Vec<String> = registry().into_iter().map(|e| e.0).collect();
    let hint = spelling::hint(name, names.iter().map(String::as_str));
    let message = format!("`{name}` is not a method{hint} (vectors of another tool: file:PATH)");
    Error::config("methods", message)
}

type Settings = Vec<(String, Vec<String>)>;

fn parse_settings(text: &str, options: &str) -> Result<Settings> {
    let one = |part: &str| {
        let (key, values) = part.split_once('=').ok_or_else(|| {
            Error::config("methods", format!("`{text}`: `{part}` is not key=value"))
        })?;
        Ok((
            key.trim().to_string(),
            values.split('|').map(|v| v.trim().to_string()).collect(),
        ))
    };
    options
        .split(',')
        .filter(|p| !p.trim().is_empty())
        .map(one)
        .collect()
}

/// Every combination of one value a key.
fn product(settings: &Settings) -> Vec<Vec<(String, String)>> {
    let mut all = vec![Vec::new()];
    for (key, values) in settings {
        let extend = |chosen: &Vec<(String, String)>| {
            let with = |value: &String| [&chosen[..], &[(key.clone(), value.clone())]].concat();
            values.iter().map(with).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(extend).collect();
    }
    all
}

fn show(chosen: &[(String, String)]) -> String {
    chosen
        .iter()
        .map(|(k, v)| format!("{k}={v}"))
        .collect::<Vec<_>>()
        .join(",")
}

fn heuristic(name: &str) -> Option<Heuristic> {
    serde_json::from_value(Value::String(name.to_string())).ok()
}

/// A candidate whose options are in range.
fn checked(name: &str, chosen: &[(String, String)]) -> Result<Embedder> {
    let built = build(name, chosen)?;
    built.check().map_err(|error| match error {
        Error::Config { field, message } => {
            Error::config("methods", format!("`{name}`: {field} {message}"))
        }
        other => other,
    })?;
    Ok(built)
}

fn build(name: &str, chosen: &[(String, String)]) -> Result<Embedder> {
    Ok(match name {
        "node2vec" | "deepwalk" => {
            Embedder::Node2Vec(with_options(name, Node2Vec::default(), chosen)?)
        }
        "line" => Embedder::Line(with_options(name, Line::default(), chosen)?),
        "line-1st" => Embedder::Line(with_options(
            name,
            Line {
                order: baseline::Order::First,
                ..Line::default()
            },
            chosen,
        )?),
        "line-both" => Embedder::Line(with_options(
            name,
            Line {
                order: baseline::Order::Both,
                ..Line::default()
            },
            chosen,
        )?),
        "grarep" => Embedder::GraRep(with_options(name, GraRep::default(), chosen)?),
        "netmf" => Embedder::NetMf(with_options(name, NetMf::default(), chosen)?),
        "prone" => Embedder::ProNe(with_options(name, ProNe::default(), chosen)?),
        "hope" => Embedder::Hope(with_options(name, Hope::default(), chosen)?),
        "rolx" => Embedder::RolX(with_options(name, RolX::default(), chosen)?),
        "graphwave" => Embedder::GraphWave(with_options(name, GraphWave::default(), chosen)?),
        "spectral" => Embedder::Spectral(with_options(name, Spectral::default(), chosen)?),
        "random" => Embedder::Random(with_options(name, Random::default(), chosen)?),
        "degree" => Embedder::Degree(with_options(name, Degree::default(), chosen)?),
        preset => Embedder::Hone(Box::new(hone_config(preset, chosen)?)),
    })
}

/// A preset with settings by their dotted names, or by the short names they have among the options of `hone embed`.
fn hone_config(preset: &str, chosen: &[(String, String)]) -> Result<Config> {
    let mut settings: Vec<(&str, &str)> = Vec::new();
    for (key, value) in chosen {
        match key.as_str() {
            "dim" => settings.push(("global.dim", value)),
            "local-dim" | "local_dim" => settings.push(("local.dim", value)),
            "solver" => settings.extend(
                solver_settings(value)
                    .iter()
                    .map(|key| (*key, value.as_str())),
            ),
            "vectors" => settings.push(("global.output", value)),
            "seed" => {
                let message =
                    format!("`{preset}`: every split has its own seed; set the first seed instead");
                return Err(Error::config("methods", message));
            }
            dotted => settings.push((dotted, value)),
        }
    }
    Layers::new()
        .preset(preset)?
        .set_all(settings)?
        .build()
        .map_err(|error| match error {
            Error::Config { field, message } => {
                Error::config("methods", format!("`{preset}`: {field}: {message}"))
            }
            other => other,
        })
}

/// Sets options by name, with the checks of the options' own type.
fn with_options<T: Serialize + DeserializeOwned>(
    name: &str,
    start: T,
    chosen: &[(String, String)],
) -> Result<T> {
    let refuse = |message: String| Error::config("methods", format!("`{name}`: {message}"));
    let mut value = serde_json::to_value(start).map_err(|e| refuse(e.to_string()))?;
    let object = value
        .as_object_mut()
        .ok_or_else(|| refuse("has no options".to_string()))?;
    for (key, text) in chosen {
        let parsed = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone()));
        object.insert(key.clone(), parsed);
    }
    serde_json::from_value(value).map_err(|e| refuse(spelling::plain(&e.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(text: &str, grid: bool) -> Vec<(String, Embedder)> {
        match Method::read(text, grid).expect("well formed").kind {
            Kind::Vectors(candidates) => candidates,
            Kind::Score(_) => Vec::new(),
        }
    }

    #[test]
    fn options_stay_with_their_method() {
        assert_eq!(
            split_list("hone-p,node2vec:p=0.5|2,q=1, degree"),
            ["hone-p", "node2vec:p=0.5|2,q=1", "degree"]
        );
        assert_eq!(split_list("a,b"), ["a", "b"]);
    }

    #[test]
    fn every_name_of_the_registry_is_built() {
        for (name, _) in registry() {
            Method::parse(&name).expect("built");
            Method::parse_searched(&name).expect("built");
        }
        assert_eq!(candidates("hone-w", true).len(), 4);
        assert_eq!(candidates("node2vec", true).len(), 25);
        assert_eq!(candidates("node2vec:p=2", true).len(), 5);
        assert_eq!(candidates("node2vec", false).len(), 1);
    }

    #[test]
    fn options_are_set_and_multiplied() {
        let found = candidates("node2vec:p=0.5|2,dim=64", false);
        assert_eq!(found[1].0, "p=2,dim=64");
        assert_eq!(
            found[1].1,
            Embedder::Node2Vec(Node2Vec {
                p: 2.0,
                dim: 64,
                ..Node2Vec::default()
            })
        );
    }

    #[test]
    fn presets_take_the_names_that_others_take() {
        for (short, dotted) in [
            ("hone-p:dim=32", "hone-p:global.dim=32"),
            ("hone:dim=64|128", "hone:global.dim=64|128"),
            (
                "hone-w:local-dim=8,solver=als",
                "hone-w:local.dim=8,local.solver.method=als,global.solver.method=als",
            ),
            (
                "hone-p:solver=autoencoder",
                "hone-p:global.solver.method=autoencoder",
            ),
            ("hone-p:vectors=local", "hone-p:global.output=local"),
        ] {
            let of = |text| {
                candidates(text, false)
                    .into_iter()
                    .map(|c| c.1)
                    .collect::<Vec<_>>()
            };
            assert_eq!(of(short), of(dotted), "{short}");
        }
    }

    #[test]
    fn a_method_keeps_options_that_are_given_before_it() {
        let found = candidates(
            "hone-p:local.solver.sweeps=3,local.solver.method=ccd",
            false,
        );
        assert_eq!(
            found[0].1,
            candidates(
                "hone-p:local.solver.method=ccd,local.solver.sweeps=3",
                false
            )[0]
            .1
        );
    }

    #[test]
    fn slips_are_named() {
        for (text, part) in [
            (
                "node3vec",
                "`node3vec` is not a method; did you mean `node2vec`?",
            ),
            (
                "node2vec:wlks=1",
                "`node2vec`: `wlks` is not a setting here; did you mean `walks`?",
            ),
            ("node2vec:p=x", "found string \"x\", expected a number"),
            ("line:dim", "`dim` is not key=value"),
            (
                "hone-w:psy=1",
                "`hone-w`: psy: there is no such setting; did you mean `psi`?",
            ),
            (
                "hone:stps=2",
                "`hone`: stps: there is no such setting; did you mean `steps`?",
            ),
            (
                "node2vec:dim=0",
                "`node2vec`: dim is 0; must be from 1 to 65536",
            ),
            (
                "node2vec:dim=18446744073709551615",
                "`node2vec`: dim is 18446744073709551615",
            ),
            ("deepwalk:walks=9223372036854775807", "`deepwalk`: walks is"),
            (
                "node2vec:length=1",
                "`node2vec`: length is 1; must be from 2",
            ),
            ("node2vec:window=99999999999", "`node2vec`: window is"),
            ("node2vec:epochs=99999999999", "`node2vec`: epochs is"),
            ("node2vec:negatives=99999999999", "`node2vec`: negatives is"),
            ("node2vec:p=0", "`node2vec`: p is 0"),
            ("line:samples=18446744073709551615", "`line`: samples is"),
            ("line-both:dim=1", "`line-both`: dim is 1; must be from 2"),
            (
                "grarep:steps=17",
                "`grarep`: steps is 17; must be from 1 to 16",
            ),
            ("netmf:window=0", "`netmf`: window is 0; must be from 1"),
            ("netmf:rank=0", "`netmf`: rank is 0"),
            ("prone:order=1", "`prone`: order is 1; must be from 2"),
            ("prone:theta=-1", "`prone`: theta is -1"),
            (
                "hope:decay=1",
                "`hope`: decay is 1; must be between 0 and 1",
            ),
            ("hope:dim=1", "`hope`: dim is 1; must be from 2"),
            ("rolx:share=1", "`rolx`: share is 1"),
            ("rolx:values=squares", "use one of bins, logs"),
            ("rolx:depth=9", "`rolx`: depth is 9; must be from 0 to 8"),
            ("graphwave:scales=0", "`graphwave`: scales is 0"),
            ("graphwave:dim=8", "`dim` is not a setting here; use one of"),
            ("spectral:dim=99999999", "`spectral`: dim is"),
            ("random:dim=99999999", "`random`: dim is"),
            (
                "degree:columns=9",
                "`degree`: columns is 9; must be from 1 to 8",
            ),
            ("hone-w:dim=0", "`hone-w`: global.dim: must be at least 1"),
            ("hone-w:seed=3", "its own seed"),
            ("katz:beta=1", "no option `beta`"),
            ("degree:dim=1", "`dim` is not a setting here"),
        ] {
            let error = Method::parse(text).expect_err("refused").to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
