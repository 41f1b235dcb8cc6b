//! A model as a file: safetensors, with the facts as JSON in the metadata.
//!
//! | tensor | content |
//! |---|---|
//! | `vectors` | N × D float32, the vectors of the fit |
//! | `vectors.sums` `view0.x.sums` | uint32, a CRC-32 of every 16 kB of the largest tensors, in whole rows, to read some of these |
//! | `ids` | int64; or UTF-8 text, with `ids.offsets` (uint64) saying where each begins |
//! | `h`, `structure` | what Y, and what features and a column of ones are multiplied with |
//! | `attributes.v` `.rows` `.units` | V, X V of the nodes of the fit; means and factors, length of words, scale of the columns |
//! | `triangles` | uint64, those of each node, where motifs of undirected edges were counted |
//! | `scales` | what Z and structure columns were multiplied with |
//! | `view0.log` `.log.turn` `.log.scales` | landmarks of its log window, with its size behind the scales |
//! | `view0.x` `.c` `.q` `.weights` `.degrees` `.marks` `.numbers` `.nodes` | a local embedding; numbers are τ and the residual |
//!
//! The metadata has the facts, a CRC-32 of them and one of each tensor. Nothing in the file is code. Sizes are compared
//! with the length of the file before anything is allocated, and with each other before anything is used.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::tall::{Tall, piece};
use super::{
    Basis, KnownProfiles, Log, Model, ModelFacts, Scales, View, ViewFacts, ViewSide, check_support,
};
use crate::attributes::Kind;
use crate::config::{Direction, MAX_STEPS};
use crate::dense::{Block, Small};
use crate::embed::profiles::{Profiles, Unit};
use crate::error::{Error, Result};
use crate::factor::log_window::Landmarks;
use crate::graph::NodeIds;
use crate::memory::Allowance;
use crate::output::{Batch, Existing};
use crate::store::tensors::{Tensors, Value, Writer, finite};

/// How a file says what it is.
const FORMAT: &str = "hone-model";
/// The layout above.
const LAYOUT: u32 = 2;
/// Factors and the matrices between them have numbers near 1: what is far beyond would only overflow later.
const LARGEST: f64 = 1e15;
/// What the matrix of the vectors is called.
const VECTORS: &str = "vectors";
/// What the block of structure columns is called.
const STRUCTURE: &str = "structure";
/// What to do about a file that is no model, or a damaged one.
pub(super) const REMEDY: &str = "give a file that was saved as a model, or save it again";
const NO_MODEL: &str = "not a model, or truncated";

/// What the metadata says.
#[derive(Serialize, Deserialize)]
struct Head {
    layout: u32,
    facts: ModelFacts,
    /// Names and kinds of attributes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    attributes: Vec<(String, Kind)>,
    /// CRC-32 of each tensor.
    checksums: BTreeMap<String, u32>,
}

fn begins_like_a_model(bytes: &[u8]) -> bool {
    let sign = format!("{{\"__metadata__\":{{\"format\":\"{FORMAT}\"");
    bytes
        .get(8..)
        .is_some_and(|header| header.starts_with(sign.as_bytes()))
}

impl Model {
    /// Whether a file begins as a model does; pipes are not looked into, since what is read of them is gone.
    pub fn is_model(path: impl AsRef<Path>) -> bool {
        if !path.as_ref().is_file() {
            return false;
        }
        let mut start = [0; 64];
        let read = |mut file: File| file.read(&mut start);
        let length = File::open(path).and_then(read).unwrap_or(0);
        begins_like_a_model(&start[..length])
    }

    /// Writes the model, whole or not at all.
    pub fn write(&self, path: impl AsRef<Path>, existing: Existing) -> Result<()> {
        let mut batch = Batch::new(existing);
        self.add_to(&mut batch, path.as_ref())?;
        batch.commit().map(drop)
    }

    /// Writes the model into a batch, to appear together with other files.
    pub fn add_to(&self, batch: &mut Batch, path: impl AsRef<Path>) -> Result<()> {
        let mut out = batch.begin(path.as_ref())?;
        self.write_to(&mut out).map_err(|e| out.error(e))?;
        batch.add(out)
    }

    /// Writes the model to any place.
    pub fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        let vectors = self.vectors.whole().map_err(io::Error::other)?;
        let factors = self.views.iter().map(|view| view.x.whole());
        let factors = factors
            .collect::<Result<Vec<_>>>()
            .map_err(io::Error::other)?;
        let known = self.profiles.as_ref();
        let rows = known.map(|known| known.rows.whole()).transpose();
        let rows = rows.map_err(io::Error::other)?;
        let profiles = known.map(|known| &known.profiles).zip(rows.as_deref());
        let tensors = self.tensors(&vectors, &factors, profiles);
        let units = known.iter().flat_map(|known| &known.profiles.units);
        let head = serde_json::to_string(&Head {
            layout: LAYOUT,
            facts: self.facts.clone(),
            attributes: units.map(|unit| (unit.name.clone(), unit.kind)).collect(),
            checksums: tensors.checksums(),
        })?;
        let sum = crc32fast::hash(head.as_bytes()).to_string();
        let metadata = [("format", FORMAT), ("head", &head), ("checksum", &sum)];
        tensors.write(&metadata, out)
    }

    fn tensors<'a>(
        &'a self,
        vectors: &'a Block,
        factors: &'a [Cow<'a, Block>],
        profiles: Option<(&'a Profiles, &'a Block)>,
    ) -> Writer<'a> {
        let mut out = Writer::default();
        out.block(VECTORS, vectors);
        out.sums(piece(vectors.cols()));
        match &self.ids {
            NodeIds::Text { offsets, bytes } => {
                let offsets: Vec<u64> = offsets.iter().map(|&o| o as u64).collect();
                out.values("ids.offsets", offsets);
                out.values("ids", bytes.as_bytes());
            }
            NodeIds::Integers(ids) => out.values("ids", ids),
            NodeIds::Sequential(n) => out.values("ids", (0..*n as i64).collect::<Vec<_>>()),
        }
        if let Some(h) = &self.h {
            out.block("h", h);
        }
        if let Some(matrix) = &self.structure {
            out.small(STRUCTURE, matrix);
        }
        out.values("scales", vec![self.scales.z, self.scales.x]);
        if let Some((profiles, rows)) = profiles {
            out.block("attributes.rows", rows);
            out.sums(piece(rows.cols()));
            out.block("attributes.v", &profiles.directions);
            let units = profiles.units.iter();
            let units = units.flat_map(|unit| [unit.mean, unit.factor]);
            let last = [profiles.words, self.scales.attributes];
            out.values("attributes.units", units.chain(last).collect::<Vec<f64>>());
        }
        if let Some(triangles) = &self.triangles {
            out.values("triangles", triangles);
        }
        for (i, (view, x)) in self.views.iter().zip(factors).enumerate() {
            let name = |what: &str| format!("view{i}.{what}");
            out.block(&name("x"), x);
            out.sums(piece(x.cols()));
            out.small(&name("c"), &view.basis.c);
            out.small(&name("q"), &view.basis.q);
            out.values(&name("weights"), &view.weights);
            out.values(&name("degrees"), &view.degrees);
            out.values(&name("marks"), &view.marks);
            out.values(&name("numbers"), vec![view.tau, view.residual]);
            if let Some(nodes) = &view.nodes {
                out.values(&name("nodes"), nodes);
            }
            if let Some(Log { landmarks, size }) = &view.log {
                out.block(&name("log"), &landmarks.rows);
                out.small(&name("log.turn"), &landmarks.turn);
                let scales = [&landmarks.scales[..], &[*size]].concat();
                out.values(&name("log.scales"), scales);
            }
        }
        out
    }

    /// Reads a model, if there is memory free for it.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        Self::read_within(path, Allowance::new(None))
    }

    /// Reads a model; what would take more memory than allowed is refused.
    pub fn read_within(path: impl AsRef<Path>, allowance: Allowance) -> Result<Self> {
        Self::from_file(path.as_ref(), allowance, false)
    }

    /// Reads a model but for its two largest parts, the vectors and the factors: these stay in the file, and are read from it
    /// whenever rows of them are needed. For models that place few nodes, once.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_within(path, Allowance::new(None))
    }

    /// The same; a stream, which has to be read whole, is refused if that takes more memory than allowed.
    pub fn open_within(path: impl AsRef<Path>, allowance: Allowance) -> Result<Self> {
        Self::from_file(path.as_ref(), allowance, true)
    }

    /// Reads all of a file, or all but the largest parts, which `stay` there.
    fn from_file(path: &Path, allowance: Allowance, stay: bool) -> Result<Self> {
        let wrong = |error| Error::io(path, error);
        if !std::fs::metadata(path).map_err(wrong)?.is_file() {
            // As it comes, and the model made of it.
            let check = |bytes: &[u8], _| match begins_like_a_model(bytes) {
                true => Ok(()),
                false => Err(Error::input(path, NO_MODEL, REMEDY)),
            };
            return Self::from_bytes(&allowance.read(path, 2, check)?, path);
        }
        let file = Arc::new(File::open(path).map_err(wrong)?);
        let length = file.metadata().map_err(wrong)?.len();
        if length < 8 {
            let message = format!("a model that is cut off: it has {length} bytes");
            return Err(Error::input(path, message, "save it again"));
        }
        if !stay {
            allowance.check(path, length)?;
        }
        Self::from_tensors(Tensors::open(&file), path, stay.then_some(&file))
    }

    /// The model in some bytes; `path` names them in errors.
    pub fn from_bytes(bytes: &[u8], path: impl AsRef<Path>) -> Result<Self> {
        Self::from_tensors(Tensors::of(bytes), path.as_ref(), None)
    }

    /// The model of some tensors; where `file` is given, the tall ones stay there.
    fn from_tensors(
        tensors: Result<Tensors, String>,
        path: &Path,
        file: Option<&Arc<File>>,
    ) -> Result<Self> {
        let wrong = |message: String| Error::input(path, message, REMEDY);
        let mut tensors = tensors.map_err(|_| wrong(NO_MODEL.into()))?;
        let (facts, attributes) = facts(&mut tensors).map_err(wrong)?;
        let parts = Parts {
            tensors,
            path,
            file,
        };
        parts.model(facts, attributes).map_err(wrong)
    }
}

/// What a file says of itself; checksums of all tensors are expected from here on.
fn facts(tensors: &mut Tensors) -> Result<(ModelFacts, Vec<(String, Kind)>), String> {
    #[derive(Deserialize)]
    struct Layout {
        layout: u32,
    }
    let metadata = |key: &str| tensors.metadata(key).ok_or("not a model");
    if metadata("format")? != FORMAT {
        return Err("not a model".into());
    }
    let head = metadata("head")?;
    if metadata("checksum")?.parse() != Ok(crc32fast::hash(head.as_bytes())) {
        return Err("its header is damaged: the checksum does not match".into());
    }
    let Layout { layout } = serde_json::from_str(head).map_err(|e| format!("not a model: {e}"))?;
    if layout != LAYOUT {
        return Err(format!(
            "its format has version {layout}, but this version of hone reads version {LAYOUT}"
        ));
    }
    let head: Head =
        serde_json::from_str(head).map_err(|e| format!("its header is not valid: {e}"))?;
    let config = &head.facts.config;
    config
        .check()
        .and_then(|()| check_support(config, !head.attributes.is_empty()))
        .map_err(|e| e.to_string())?;
    tensors.expect(head.checksums)?;
    Ok((head.facts, head.attributes))
}

/// Refuses numbers that no fit gives. Vectors may have the largest finite ones; factors are orthonormal but for a scale.
pub(super) fn check_values<T: Copy + Into<f64>>(name: &str, values: &[T]) -> Result<(), String> {
    if name == VECTORS || values.iter().all(|&value| value.into().abs() <= LARGEST) {
        return finite(name, values);
    }
    Err(format!(
        "`{name}` has values beyond {LARGEST:e}, which no fit gives"
    ))
}

/// Whether something is as it must be.
fn fits(fits: bool, what: &str) -> Result<(), String> {
    match fits {
        true => Ok(()),
        false => Err(format!("its {what} do not match the other parts")),
    }
}

/// The tensors of a file, each read with the size that it must have.
struct Parts<'a> {
    tensors: Tensors<'a>,
    path: &'a Path,
    /// Where the tall ones stay.
    file: Option<&'a Arc<File>>,
}

impl Parts<'_> {
    fn tall(&self, name: &str) -> Result<Tall, String> {
        if let Some(file) = self.file {
            return Tall::in_file(file, self.path, name, &self.tensors);
        }
        self.block(name).map(Tall::from)
    }

    fn block(&self, name: &str) -> Result<Block, String> {
        let block = self.tensors.block(name)?;
        check_values(name, block.as_slice()).map(|()| block)
    }

    fn small(&self, name: &str, rows: usize, cols: usize) -> Result<Small, String> {
        let matrix = self.tensors.small(name)?;
        if (matrix.rows(), matrix.cols()) != (rows, cols) {
            let (is, was) = (matrix.rows(), matrix.cols());
            return Err(format!("`{name}` is {is} × {was}, not {rows} × {cols}"));
        }
        check_values(name, matrix.as_slice()).map(|()| matrix)
    }

    fn values<T: Value>(&self, name: &str, count: usize) -> Result<Vec<T>, String> {
        let values = self.tensors.values(name)?;
        match values.len() == count {
            true => Ok(values),
            false => Err(format!("`{name}` has {} values, not {count}", values.len())),
        }
    }

    fn numbers(&self, name: &str, count: usize) -> Result<Vec<f64>, String> {
        let numbers = self.values(name, count)?;
        finite(name, &numbers).map(|()| numbers)
    }

    /// What need not be there.
    fn optional<T>(
        &self,
        name: &str,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, String> {
        self.tensors.has(name).then(|| read(name)).transpose()
    }

    /// The model, whose parts must fit together.
    fn model(&self, facts: ModelFacts, attributes: Vec<(String, Kind)>) -> Result<Model, String> {
        let vectors = self.tall(VECTORS)?;
        let (nodes, cols) = (vectors.rows(), vectors.cols());
        let ids = self.ids()?;
        fits(ids.len() == nodes && ids.repeated().is_none(), "ids")?;
        fits(facts.columns.len() == cols, "columns")?;
        let ends = |block: &crate::report::ColumnBlock| block.first.checked_add(block.count);
        let inside = |block| ends(block).is_some_and(|end| end <= cols);
        fits(facts.blocks.iter().all(inside), "blocks")?;
        let of_structure = facts.blocks.iter().filter(|block| block.name == STRUCTURE);
        let of_structure: usize = of_structure.map(|block| block.count).sum();
        fits(of_structure <= cols, "structure columns")?;
        let structure = self.optional(STRUCTURE, |name| {
            let rows = facts.features.len() + 1;
            self.small(name, rows, of_structure)
        })?;
        let none = of_structure == 0 && facts.features.is_empty();
        fits(structure.is_some() || none, "structure columns")?;
        let views = facts.views.iter().enumerate();
        let views = views
            .map(|(i, of_view)| self.view(i, of_view, nodes))
            .collect::<Result<Vec<_>, String>>()?;
        let config = &facts.config;
        let (motifs, last) = (config.motifs.motifs(), config.steps.or(MAX_STEPS));
        let known = |view: &View| motifs.contains(&view.motif) && view.step <= last;
        fits(views.iter().all(known), "motifs and steps")?;
        let of_arcs = facts.graph.directed && config.direction != Direction::Ignore;
        let sides = |view: &View| (view.side != ViewSide::Both) == of_arcs;
        fits(views.iter().all(sides), "directions")?;
        let h = self.optional("h", |name| self.block(name))?;
        let width: usize = views.iter().map(View::cols).sum();
        let scales = self.numbers("scales", 2)?;
        let mut scales = Scales {
            z: scales[0],
            x: scales[1],
            ..Scales::default()
        };
        let profiles = match attributes.is_empty() {
            true => None,
            false => {
                let (known, scale) = self.profiles(attributes, nodes)?;
                scales.attributes = scale;
                Some(known)
            }
        };
        let of_attributes = profiles.as_ref().map_or(0, |known| known.profiles.cols());
        fits(of_structure + of_attributes <= cols, "attributes")?;
        let z = cols - of_structure - of_attributes;
        let of_z = match &h {
            Some(h) => h.rows() == width && h.cols() <= z,
            None => width == z,
        };
        fits(of_z, "local embeddings")?;
        Ok(Model {
            ids,
            vectors,
            views,
            h,
            structure,
            scales,
            profiles,
            triangles: self.optional("triangles", |name| self.values(name, nodes))?,
            counts: None,
            facts,
        })
    }

    fn ids(&self) -> Result<NodeIds, String> {
        if !self.tensors.has("ids.offsets") {
            return Ok(NodeIds::from_integers(self.tensors.values("ids")?));
        }
        let wrong = || "`ids` and `ids.offsets` do not match".to_owned();
        let bytes = String::from_utf8(self.tensors.values("ids")?).map_err(|_| wrong())?;
        let offsets: Vec<u64> = self.tensors.values("ids.offsets")?;
        let offsets: Vec<usize> = offsets.into_iter().map(|o| o as usize).collect();
        let ends = (offsets.first(), offsets.last()) == (Some(&0), Some(&bytes.len()));
        let inside = || offsets.iter().all(|&at| bytes.is_char_boundary(at));
        match ends && offsets.is_sorted() && inside() {
            true => Ok(NodeIds::Text { offsets, bytes }),
            false => Err(wrong()),
        }
    }

    fn view(&self, i: usize, facts: &ViewFacts, nodes: usize) -> Result<View, String> {
        let name = |what: &str| format!("view{i}.{what}");
        let x = self.tall(&name("x"))?;
        let (rows, r) = (x.rows(), x.cols());
        let listed = self.optional(&name("nodes"), |name| self.values::<u32>(name, rows))?;
        let ascend = match &listed {
            None => rows == nodes,
            Some(listed) => {
                let inside = listed.last().is_none_or(|&last| (last as usize) < nodes);
                inside && listed.is_sorted_by(|a, b| a < b)
            }
        };
        fits(ascend, &name("nodes"))?;
        let degrees = self.numbers(&name("degrees"), rows)?;
        let numbers = self.numbers(&name("numbers"), 2)?;
        let laziness = (0.0..=1.0).contains(&facts.laziness);
        let step = (1..=MAX_STEPS).contains(&facts.step);
        fits(laziness && step, &name("facts"))?;
        let positive = numbers[0] >= 0.0 && degrees.iter().all(|degree| *degree >= 0.0);
        fits(positive, &name("degrees"))?;
        Ok(View {
            motif: facts.motif.parse().map_err(|e: Error| e.to_string())?,
            step: facts.step,
            side: facts.side,
            nodes: listed,
            basis: Basis {
                c: self.small(&name("c"), r, r)?,
                q: self.small(&name("q"), r, r)?,
                laziness: facts.laziness,
            },
            weights: self.numbers(&name("weights"), r)?,
            degrees,
            marks: self.values(&name("marks"), rows)?,
            tau: numbers[0],
            residual: numbers[1],
            log: self.optional(&name("log"), |name| self.log(name, r))?,
            x,
        })
    }

    /// What makes columns of attributes, and their scale.
    fn profiles(
        &self,
        attributes: Vec<(String, Kind)>,
        nodes: usize,
    ) -> Result<(KnownProfiles, f64), String> {
        let directions = self.block("attributes.v")?;
        let rows = self.tall("attributes.rows")?;
        let numbers = self.numbers("attributes.units", 2 * attributes.len() + 2)?;
        let shapes = (directions.rows(), rows.rows(), rows.cols());
        fits(
            shapes == (attributes.len(), nodes, directions.cols()),
            "attributes",
        )?;
        let units = attributes.into_iter().zip(numbers.chunks_exact(2));
        let units = units.map(|((name, kind), numbers)| Unit {
            name,
            kind,
            mean: numbers[0],
            factor: numbers[1],
        });
        let profiles = Profiles {
            units: units.collect(),
            words: numbers[numbers.len() - 2],
            directions,
        };
        Ok((KnownProfiles { profiles, rows }, numbers[numbers.len() - 1]))
    }

    fn log(&self, name: &str, r: usize) -> Result<Log, String> {
        let (rows, turn) = (
            self.tensors.block(name)?,
            self.tensors.small(&format!("{name}.turn"))?,
        );
        let mut scales = self.numbers(&format!("{name}.scales"), rows.rows() + 1)?;
        fits(rows.cols() == r && turn.rows() == rows.rows(), name)?;
        let size = scales.pop().unwrap_or_default();
        Ok(Log {
            landmarks: Landmarks { rows, scales, turn },
            size,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Layers;
    use crate::graph::builtin;
    use crate::{Hone, Silent};

    /// Its checksums are right, as those of a file that somebody made: the numbers themselves are wrong, and not the edges of
    /// a graph that is placed later.
    #[test]
    fn numbers_that_no_fit_gives_are_refused() {
        let layers = Layers::new().preset("hone");
        let layers = layers.and_then(|layers| layers.set("global.dim", "6"));
        let config = layers.and_then(Layers::build).expect("valid");
        let hone = Hone::new(config).expect("valid");
        let graph = builtin("karate").expect("there");
        let (_, model) = hone.fit(&graph, &Silent).expect("fitted");
        let reading = |model: &Model| {
            let mut bytes = Vec::new();
            model.write_to(&mut bytes).expect("written");
            Model::from_bytes(&bytes, "m.hone").map(drop)
        };
        assert!(reading(&model).is_ok());
        let absurd = |value: f64, block: &Block| {
            let (rows, cols) = (block.rows(), block.cols());
            Block::from_vec(rows, cols, vec![value as f32; rows * cols])
        };
        let small = |m: &Small, value: f64| Small::from_fn(m.rows(), m.cols(), |_, _| value);
        let whole = |tall: &Tall| tall.whole().expect("in memory").into_owned();
        type Change<'a> = &'a dyn Fn(&mut Model, f64);
        let changes: [(&str, Change); 9] = [
            ("vectors", &|m, to| {
                m.vectors = absurd(to, &whole(&m.vectors)).into();
            }),
            ("view0.x", &|m, to| {
                m.views[0].x = absurd(to, &whole(&m.views[0].x)).into();
            }),
            ("view0.c", &|m, to| {
                m.views[0].basis.c = small(&m.views[0].basis.c, to);
            }),
            ("view0.q", &|m, to| {
                m.views[0].basis.q = small(&m.views[0].basis.q, to);
            }),
            ("view0.weights", &|m, to| m.views[0].weights[0] = to),
            ("view0.degrees", &|m, to| m.views[0].degrees[0] = to),
            ("view0.numbers", &|m, to| m.views[0].tau = to),
            ("h", &|m, to| {
                m.h = m.h.as_ref().map(|h| absurd(to, h));
            }),
            ("structure", &|m, to| {
                m.structure = m.structure.as_ref().map(|x| small(x, to));
            }),
        ];
        for (name, change) in changes {
            for value in [f64::NAN, f64::INFINITY] {
                let mut model = model.clone();
                change(&mut model, value);
                let error = reading(&model).expect_err(name).to_string();
                assert!(
                    error.contains("m.hone") && error.contains(&format!("`{name}` has")),
                    "{error}"
                );
            }
        }
        for (name, change) in &changes[1..4] {
            let mut model = model.clone();
            change(&mut model, 1e38);
            let error = reading(&model).expect_err(name).to_string();
            assert!(
                error.contains(name) && error.contains("no fit gives"),
                "{error}"
            );
        }
        // The same where the matrices stay in the file until they are needed.
        let file = tempfile::NamedTempFile::new().expect("made");
        let opened = |model: &Model| {
            std::fs::write(&file, []).expect("emptied");
            model.write(&file, Existing::Replace).expect("written");
            let opened = Model::open(&file).expect("its header is right");
            let whole = opened.vectors.whole().and(opened.views[0].x.whole());
            whole.map(drop).expect_err("absurd").to_string()
        };
        for ((name, change), value) in changes.into_iter().zip([f64::NAN, f64::INFINITY]) {
            let mut model = model.clone();
            change(&mut model, value);
            let error = opened(&model);
            assert!(error.contains(&format!("`{name}` has values")), "{error}");
        }
    }
}
