//! [`Config`]: every choice of the method in one plain, serialisable struct.
//!
//! The same struct serves the library, the command (`--config`, `--set`, flags) and Python. Unknown
//! keys are refused by name; [`Config::check`] refuses values out of range, naming the field.
//!
//! Layers are merged as tables before they become a `Config`: preset, file, single settings; later
//! ones win. See [`Layers`].

mod attributes;
mod comments;
mod domain;
mod joint;
mod preset;
mod steps;

pub use attributes::{Attributes, Combine, Components, Form};
pub(crate) use joint::combine_before;
pub use joint::{Joint, Model};
pub use preset::PRESETS;
pub use steps::Steps;

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::dense::Norm;
use crate::error::{Error, Result};
use crate::factor::Solver;
use crate::matrix::{Accumulate, Degree, MotifMatrix, Order, Psi};
use crate::motif::{MotifSet, Sample};

/// The most steps K that are accepted.
pub const MAX_STEPS: usize = 16;

/// Every choice of the method. `Config::default()` is the preset `hone-p` with K = 2.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Config {
    /// Seed of every random number; the same seed gives the same bits for any number of threads.
    pub seed: u64,
    /// The motifs H (sec. 2.1).
    pub motifs: MotifSet,
    /// Whether motifs are counted exactly or estimated from a sample of the neighbours (sec. 3.1).
    pub sample: Sample,
    /// An edge with fewer than delta occurrences of a motif drops out of its W_t (sec. 2.2).
    pub delta: u64,
    /// Whether edge weights multiply the motif counts; otherwise they are ignored.
    pub weights: bool,
    /// The motif matrix function Psi (sec. 2.3).
    pub psi: Psi,
    /// Psi of the power, or the power of Psi (sec. 2.4).
    pub order: Order,
    /// Which motif degree is used on directed graphs.
    pub degree: Degree,
    /// The number of steps K.
    pub steps: Steps,
    /// The first step that is kept; 1 in the paper.
    pub first_step: usize,
    /// Whether each step stands alone or accumulates the steps before it (sec. 2.7).
    pub accumulate: Accumulate,
    /// Added to motif degrees before they are divided by, in multiples of their mean; 0 in the paper.
    pub regularize: f64,
    /// Whether motif matrices are embedded one by one or all at once.
    pub model: Model,
    /// Local embeddings, one a motif and step (sec. 2.4).
    pub local: Local,
    /// The global embedding (sec. 2.5).
    pub global: Global,
    /// The joint models, which take the place of both.
    pub joint: Joint,
    /// Node attributes and their diffusion (sec. 2.6).
    pub attributes: Attributes,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            seed: 0,
            motifs: MotifSet::default(),
            sample: Sample::default(),
            delta: 1,
            weights: false,
            psi: Psi::P,
            order: Order::Auto,
            degree: Degree::Out,
            steps: Steps::Fixed(2),
            first_step: 1,
            accumulate: Accumulate::None,
            regularize: 0.0,
            model: Model::Separate,
            local: Local::default(),
            global: Global::default(),
            joint: Joint::default(),
            attributes: Attributes::default(),
        }
    }
}

/// Local embeddings: S_t^(k) ≈ U V, one a motif and step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Local {
    /// D_l, columns of each U_t^(k).
    pub dim: usize,
    /// g, how the columns of U are normalised.
    pub norm: Norm,
    /// Whether each column then gets the weight of its singular value.
    pub scale: Scale,
    /// Each row is divided by its length to this power: 0 in the paper, 1 for rows of length one.
    pub row_power: f64,
    /// How the factors are found.
    pub solver: Solver,
}

impl Default for Local {
    fn default() -> Self {
        Local { dim: 16, norm: Norm::L2, scale: Scale::Unit, row_power: 0.0, solver: Solver::default() }
    }
}

/// The weight of the columns of a local embedding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// As the norm left them.
    Unit,
    /// Times the singular value, relative to the largest: U Σ instead of U.
    Sigma,
}

/// The global embedding: Y ≈ Z H.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Global {
    /// D, columns of the result; components of attributes that join after the global stage are
    /// among them.
    pub dim: usize,
    /// What is returned: Z, or the concatenated local embeddings Y.
    pub output: Output,
    /// How Z and H are found.
    pub solver: Solver,
}

impl Default for Global {
    fn default() -> Self {
        Global { dim: 128, output: Output::Global, solver: Solver::default() }
    }
}

/// What an embedding run returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Output {
    /// Z, the global embedding.
    Global,
    /// Y, the local embeddings side by side.
    Local,
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Output::Global => "global",
            Output::Local => "local",
        })
    }
}

impl Config {
    /// The configuration a preset's name stands for.
    pub fn preset(name: &str) -> Result<Self> {
        Layers::new().preset(name)?.build()
    }

    /// Refuses values out of range, naming the field.
    pub fn check(&self) -> Result<()> {
        let refuse = |field: &str, message: String| Err(Error::config(field, message));
        if self.local.dim == 0 {
            return refuse("local.dim", "must be at least 1".into());
        }
        if self.global.dim == 0 {
            return refuse("global.dim", "must be at least 1".into());
        }
        if self.delta == 0 {
            return refuse("delta", "must be at least 1: an edge without the motif is never in W_t".into());
        }
        if let Steps::Fixed(k) = self.steps
            && !(1..=MAX_STEPS).contains(&k)
        {
            return refuse("steps", format!("{k} is not between 1 and {MAX_STEPS}; or \"auto\""));
        }
        if let Accumulate::Decay(alpha) = self.accumulate
            && !(alpha.is_finite() && alpha > 0.0)
        {
            return refuse("accumulate.decay", format!("{alpha} is not a positive number"));
        }
        let steps = if let Steps::Fixed(k) = self.steps { k } else { 1 };
        if self.first_step == 0 || self.first_step > steps {
            return refuse("first-step", format!("{} is not between 1 and steps ({steps})", self.first_step));
        }
        for (field, value) in [("regularize", self.regularize), ("local.row-power", self.local.row_power)] {
            if !(value.is_finite() && value >= 0.0) {
                return refuse(field, format!("{value} is not a number ≥ 0"));
            }
        }
        self.attributes.check()?;
        self.check_models()?;
        if self.z_dim(self.attributes.any()) == 0 {
            return refuse(
                "global.dim",
                format!(
                    "{0} leaves no column beside the {0} or more components of node features (the preset hone has 16); \
                     raise it, lower attributes.form.components.dim, or take another preset",
                    self.global.dim
                ),
            );
        }
        self.motifs.check()?;
        self.sample.check()?;
        self.local.solver.check("local.solver")?;
        self.global.solver.check("global.solver")?;
        if self.model == Model::Separate { domain::check(self) } else { Ok(()) }
    }

    /// Columns of Z: all of the result but the components of attributes beside it, if there are any.
    pub fn z_dim(&self, attributes: bool) -> usize {
        match (attributes, self.attributes.combine, self.attributes.form) {
            (true, Combine::After, Form::Components(components)) => self.global.dim.saturating_sub(components.dim),
            _ => self.global.dim,
        }
    }

    /// The choices that lead from W_t to S_t^(k).
    pub fn matrix(&self) -> MotifMatrix {
        let Config { psi, order, degree, accumulate, regularize, .. } = *self;
        MotifMatrix { psi, order, degree, accumulate, regularize }
    }

    /// The configuration as TOML.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a Config is a table of plain values")
    }
}

/// Settings in layers, later ones on top, before they become a [`Config`].
///
/// ```
/// use hone::config::{Layers, Steps};
/// let config = Layers::new().preset("hone-l")?.set("steps", "3")?.set("local.dim", "8")?.build()?;
/// assert_eq!((config.steps, config.local.dim), (Steps::Fixed(3), 8));
/// # Ok::<(), hone::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Layers(Table);

impl Layers {
    /// No setting: the defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lays a preset on top.
    pub fn preset(mut self, name: &str) -> Result<Self> {
        merge(&mut self.0, preset::settings(name)?);
        Ok(self)
    }

    /// Lays a file on top: TOML, or the JSON of a run report, whose `config` is taken.
    pub fn file(mut self, path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
        let text = String::from_utf8(bytes).map_err(|_| {
            Error::input(path, "the file is not text", "a TOML configuration or a run report is expected")
        })?;
        let json = text.trim_start().starts_with('{');
        let table = if json { table_of_json(&text) } else { text.parse::<Table>().map_err(|e| e.to_string()) };
        let wrong = |message: String| Error::input(path, message, "a TOML configuration or a run report is expected");
        let table = table.map_err(|message| wrong(message.trim_end().to_owned()))?;
        let mut alone = table.clone();
        name_methods(&mut alone);
        read_config(alone).map_err(|e| wrong(e.to_string()))?;
        merge(&mut self.0, table);
        Ok(self)
    }

    /// Lays one setting on top: a dotted key and a TOML value (text may stand without quotes).
    pub fn set(self, key: &str, value: &str) -> Result<Self> {
        let parsed = format!("v = {value}").parse::<Table>().ok().and_then(|mut table| table.remove("v"));
        self.set_value(key, parsed.unwrap_or_else(|| Value::String(value.to_owned())))
    }

    /// Lays settings on top, in order but for methods, which come first: one replaces the options of another.
    pub fn set_all<'a>(mut self, settings: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self> {
        let (methods, others): (Vec<_>, Vec<_>) = settings.into_iter().partition(|(key, _)| key.ends_with(".method"));
        for (key, value) in methods.into_iter().chain(others) {
            self = self.set(key, value)?;
        }
        Ok(self)
    }

    /// Lays one setting on top, its value as a TOML value.
    pub fn set_value(mut self, key: &str, value: Value) -> Result<Self> {
        if key.split('.').any(|part| part.is_empty() || part.contains(char::is_whitespace)) {
            return Err(Error::config(key, "not a setting's name; write for instance local.dim=8"));
        }
        let mut parts: Vec<&str> = key.split('.').collect();
        let last = parts.pop().expect("split gives at least one part");
        let mut table = &mut self.0;
        for part in parts {
            let entry = table.entry(part).or_insert_with(|| Value::Table(Table::new()));
            let Value::Table(inner) = entry else {
                return Err(Error::config(key, format!("`{part}` is a value, not a group of settings")));
            };
            table = inner;
        }
        if last == "method" && table.get(last) != Some(&value) {
            table.clear();
        }
        merge(table, Table::from_iter([(last.to_owned(), value)]));
        Ok(self)
    }

    /// The checked configuration.
    pub fn build(mut self) -> Result<Config> {
        name_methods(&mut self.0);
        let config = read_config(self.0)?;
        config.check()?;
        Ok(config)
    }
}

/// Solvers without a method are the default's.
fn name_methods(table: &mut Table) {
    for stage in ["local", "global"] {
        let solver = table.get_mut(stage).and_then(|stage| stage.get_mut("solver"));
        if let Some(Value::Table(solver)) = solver {
            solver.entry("method").or_insert_with(|| Value::String("svd".into()));
        }
    }
}

fn read_config(table: Table) -> Result<Config> {
    let read: Result<Config, _> = serde_path_to_error::deserialize(Value::Table(table));
    read.map_err(|e| {
        let path = e.path().to_string();
        let field = if path == "." { "config".to_owned() } else { path };
        Error::config(field, in_plain_words(e.into_inner().message().trim()))
    })
}

/// What a reader of the language's messages would call things.
fn in_plain_words(message: &str) -> String {
    let words = [
        ("expected usize", "expected a whole number"),
        ("expected u64", "expected a whole number"),
        ("expected f64", "expected a number"),
        ("expected a boolean", "expected true or false"),
        ("expected struct ", "expected the group of settings "),
        ("unit variant, expected newtype variant", "a name alone, expected { name = value }"),
    ];
    words.iter().fold(message.to_owned(), |message, (from, to)| message.replace(from, to))
}

/// Lays `top` over `base`, table by table; a solver of another method replaces the whole solver.
fn merge(base: &mut Table, top: Table) {
    for (key, value) in top {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => {
                if above.get("method").is_some_and(|method| below.get("method") != Some(method)) {
                    *below = Table::new();
                }
                merge(below, above);
            }
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

fn table_of_json(text: &str) -> Result<Table, String> {
    let mut json: serde_json::Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
    let config = json.get_mut("config").map(serde_json::Value::take).unwrap_or(json);
    Table::try_from(config).map_err(|e| e.to_string())
}
