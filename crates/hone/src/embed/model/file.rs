//! A model as a file: safetensors, with the facts as JSON in the metadata.
//!
//! | tensor | content |
//! |---|---|
//! | `vectors` | N × D float32, the vectors of the fit |
//! | `vectors.sums` `view0.x.sums` | uint32, a CRC-32 of every 16 kB of the largest tensors, in whole rows, to read some of these |
//! | `ids` | int64; or UTF-8 text, with `ids.offsets` (uint64) saying where each begins |
//! | `h`, `structure` | what Y, and what features and a column of ones are multiplied with |
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

use super::kept::Kept;
use super::tall::{REMEDY, Tall, piece};
use super::{Basis, Log, Model, ModelFacts, Scales, View, ViewSide, check_support};
use crate::config::{Direction, MAX_STEPS};
use crate::dense::{Block, Small};
use crate::error::{Error, Result};
use crate::factor::log_window::Landmarks;
use crate::graph::NodeIds;
use crate::memory::Allowance;
use crate::output::{Batch, Existing};
use crate::store::tensors::{Tensors, Writer};

/// How a file says what it is.
const FORMAT: &str = "hone-model";
/// The layout above.
const LAYOUT: u32 = 2;
/// Factors and the matrices between them have numbers near 1: what is far beyond would only overflow later.
const LARGEST: f64 = 1e15;
/// What the block of structure columns is called.
const STRUCTURE: &str = "structure";

/// What the metadata says.
#[derive(Serialize, Deserialize)]
struct Head {
    layout: u32,
    facts: ModelFacts,
    /// CRC-32 of each tensor.
    checksums: BTreeMap<String, u32>,
}

/// What the matrix of the vectors is called.
pub(super) const VECTORS: &str = "vectors";

const NO_MODEL: &str = "not a model, or truncated";

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
        let path = path.as_ref();
        let mut out = batch.begin(path)?;
        self.write_to(&mut out).map_err(|e| out.error(e))?;
        batch.add(out)
    }

    /// Writes the model to any place.
    pub fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        let vectors = self.vectors.whole().map_err(io::Error::other)?;
        let factors = self
            .views
            .iter()
            .map(|view| view.x.whole())
            .collect::<Result<Vec<_>>>();
        let factors = factors.map_err(io::Error::other)?;
        let tensors = self.tensors(&vectors, &factors);
        let head = Head {
            layout: LAYOUT,
            facts: self.facts.clone(),
            checksums: tensors.checksums(),
        };
        let head = serde_json::to_string(&head)?;
        let sum = crc32fast::hash(head.as_bytes()).to_string();
        tensors.write(
            &[("format", FORMAT), ("head", &head), ("checksum", &sum)],
            out,
        )
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
        let file = File::open(path).map_err(wrong)?;
        let length = file.metadata().map_err(wrong)?.len();
        if length < 8 {
            let message = format!("a model that is cut off: it has {length} bytes");
            return Err(Error::input(path, message, "save it again"));
        }
        if stay {
            let kept = Arc::new(file.try_clone().map_err(wrong)?);
            return Self::from_tensors(Tensors::open(&file), path, Some(&kept));
        }
        allowance.check(path, length)?;
        Self::from_tensors(Tensors::open(&file), path, None)
    }

    /// The model in some bytes; `path` names them in errors.
    pub fn from_bytes(bytes: &[u8], path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::from_tensors(Tensors::of(bytes), path, None)
    }

    /// The model of some tensors; where `file` is given, the tall ones stay there.
    fn from_tensors(
        tensors: Result<Tensors, String>,
        path: &Path,
        file: Option<&Arc<File>>,
    ) -> Result<Self> {
        let wrong = |message: String| Error::input(path, message, REMEDY);
        let mut tensors = tensors.map_err(|_| wrong(NO_MODEL.into()))?;
        let meta = |key: &str| {
            tensors
                .metadata(key)
                .ok_or_else(|| wrong("not a model".into()))
        };
        if meta("format")? != FORMAT {
            return Err(wrong("not a model".into()));
        }
        let head = meta("head")?;
        if meta("checksum")?.parse() != Ok(crc32fast::hash(head.as_bytes())) {
            return Err(wrong(
                "its header is damaged: the checksum does not match".into(),
            ));
        }
        #[derive(Deserialize)]
        struct Layout {
            layout: u32,
        }
        let Layout { layout } =
            serde_json::from_str(head).map_err(|e| wrong(format!("not a model: {e}")))?;
        if layout != LAYOUT {
            return Err(wrong(format!(
                "its format has version {layout}, but this version of hone reads version {LAYOUT}"
            )));
        }
        let head: Head = serde_json::from_str(head)
            .map_err(|e| wrong(format!("its header is not valid: {e}")))?;
        head.facts
            .config
            .check()
            .and_then(|()| check_support(&head.facts.config))
            .map_err(|e| wrong(e.to_string()))?;
        tensors.expect(head.checksums).map_err(&wrong)?;
        let tall = |name: &str| match file {
            None => Ok(tensors.block(name)?.into()),
            Some(file) => Tall::waiting(
                file,
                path,
                name,
                (
                    tensors.located(name)?,
                    tensors.values(&format!("{name}.sums"))?,
                ),
            ),
        };
        Self::with_facts(head.facts, &tensors, tall).map_err(wrong)
    }

    fn tensors<'a>(&'a self, vectors: &'a Block, factors: &'a [Cow<'a, Block>]) -> Writer<'a> {
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
        self.h.iter().for_each(|h| out.block("h", h));
        self.structure
            .iter()
            .for_each(|matrix| out.small("structure", matrix));
        out.values("scales", vec![self.scales.z, self.scales.x]);
        self.triangles
            .iter()
            .for_each(|triangles| out.values("triangles", triangles));
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
            view.nodes
                .iter()
                .for_each(|nodes| out.values(&name("nodes"), nodes));
            if let Some(Log { landmarks, size }) = &view.log {
                out.block(&name("log"), &landmarks.rows);
                out.small(&name("log.turn"), &landmarks.turn);
                let scales = [&landmarks.scales[..], &[*size]].concat();
                out.values(&name("log.scales"), scales);
            }
        }
        out
    }

    /// The model of some tensors, whose shapes and values must fit together.
    fn with_facts(
        facts: ModelFacts,
        tensors: &Tensors,
        tall: impl Fn(&str) -> Result<Tall, String>,
    ) -> Result<Self, String> {
        let vectors = tall(VECTORS)?;
        let ids = ids(tensors)?;
        let h = tensors.has("h").then(|| tensors.block("h")).transpose()?;
        h.iter().try_for_each(|h| moderate("h", h.as_slice()))?;
        let structure = tensors
            .has("structure")
            .then(|| tensors.small("structure"))
            .transpose()?;
        let scales = tensors.numbers("scales")?;
        let [z, x] = scales[..] else {
            return Err("`scales` does not have two numbers".into());
        };
        let view = |(i, facts): (usize, &super::ViewFacts)| {
            let name = |what: &str| format!("view{i}.{what}");
            let numbers = tensors.numbers(&name("numbers"))?;
            let [tau, residual] = numbers[..] else {
                return Err(format!("`{}` does not have two numbers", name("numbers")));
            };
            let nodes = name("nodes");
            let x = tall(&name("x"))?;
            x.held()
                .map_or(Ok(()), |x| moderate(&name("x"), x.as_slice()))?;
            let small = |what: &str| {
                let matrix = tensors.small(&name(what))?;
                moderate(&name(what), matrix.as_slice()).map(|()| matrix)
            };
            Ok(View {
                motif: facts.motif.parse().map_err(|e: Error| e.to_string())?,
                step: facts.step,
                side: facts.side,
                nodes: tensors
                    .has(&nodes)
                    .then(|| tensors.values(&nodes))
                    .transpose()?,
                x,
                basis: Basis {
                    c: small("c")?,
                    q: small("q")?,
                    laziness: facts.laziness,
                },
                weights: tensors.numbers(&name("weights"))?,
                degrees: tensors.numbers(&name("degrees"))?,
                marks: tensors.values(&name("marks"))?,
                tau,
                residual,
                log: tensors
                    .has(&name("log"))
                    .then(|| log(tensors, &name("log")))
                    .transpose()?,
            })
        };
        let views = facts
            .views
            .iter()
            .enumerate()
            .map(view)
            .collect::<Result<Vec<_>, String>>()?;
        let triangles = tensors
            .has("triangles")
            .then(|| tensors.values("triangles"))
            .transpose()?;
        let (scales, kept) = (Scales { z, x }, Kept::default());
        let model = Model {
            facts,
            ids,
            vectors,
            views,
            h,
            structure,
            scales,
            triangles,
            kept,
        };
        model.sound()?;
        Ok(model)
    }

    /// Whether the parts fit together.
    fn sound(&self) -> Result<(), String> {
        let (nodes, cols) = (self.vectors.rows(), self.vectors.cols());
        let fits = |fits: bool, what: &str| {
            if fits {
                Ok(())
            } else {
                Err(format!("its {what} do not match the other parts"))
            }
        };
        fits(
            self.ids.len() == nodes && self.ids.repeated().is_none(),
            "ids",
        )?;
        fits(
            self.triangles
                .as_ref()
                .is_none_or(|triangles| triangles.len() == nodes),
            "triangles",
        )?;
        fits(self.facts.columns.len() == cols, "columns")?;
        let ends = self
            .facts
            .blocks
            .iter()
            .map(|block| block.first.checked_add(block.count));
        fits(
            ends.into_iter()
                .all(|end| end.is_some_and(|end| end <= cols)),
            "blocks",
        )?;
        let structure: usize = self
            .facts
            .blocks
            .iter()
            .filter(|block| block.name == STRUCTURE)
            .map(|block| block.count)
            .sum();
        fits(
            self.structure_columns() <= cols && structure == self.structure_columns(),
            "structure columns",
        )?;
        let rows = self
            .structure
            .as_ref()
            .map_or(0, |matrix| matrix.rows().saturating_sub(1));
        fits(self.facts.features.len() == rows, "features")?;
        let config = &self.facts.config;
        let motifs = config.motifs.motifs();
        let last = config.steps.or(MAX_STEPS);
        let known = |view: &View| motifs.contains(&view.motif) && view.step <= last;
        fits(self.views.iter().all(known), "motifs and steps")?;
        let of_arcs = self.facts.graph.directed && config.direction != Direction::Ignore;
        fits(
            self.views
                .iter()
                .all(|view| (view.side != ViewSide::Both) == of_arcs),
            "directions",
        )?;
        let width = self
            .views
            .iter()
            .map(View::cols)
            .fold(0, usize::saturating_add);
        let z = match &self.h {
            Some(h) => h.rows() == width && h.cols() <= self.z_columns(),
            None => width == self.z_columns(),
        };
        fits(z, "local embeddings")?;
        let finite = self.scales.z.is_finite() && self.scales.x.is_finite();
        fits(
            finite
                && self
                    .structure
                    .as_ref()
                    .is_none_or(|matrix| matrix.rows() > 0),
            "constants",
        )?;
        self.views
            .iter()
            .try_for_each(|view| fits(view.is_sound(nodes), "factors"))
    }
}

impl View {
    fn is_sound(&self, nodes: usize) -> bool {
        let (rows, r) = (self.x.rows(), self.x.cols());
        let square = |m: &Small| m.rows() == r && m.cols() == r;
        let numbered = match &self.nodes {
            None => rows == nodes,
            Some(list) => {
                list.len() == rows
                    && list.is_sorted_by(|a, b| a < b)
                    && list.last().is_none_or(|&l| (l as usize) < nodes)
            }
        };
        let log = self.log.as_ref().is_none_or(|Log { landmarks, .. }| {
            let count = landmarks.scales.len();
            landmarks.rows.rows() == count
                && landmarks.rows.cols() == r
                && landmarks.turn.rows() == count
        });
        numbered
            && log
            && (1..=MAX_STEPS).contains(&self.step)
            && square(&self.basis.c)
            && square(&self.basis.q)
            && self.weights.len() == r
            && self.degrees.len() == rows
            && self.marks.len() == rows
            && (0.0..=1.0).contains(&self.basis.laziness)
            && self.tau.is_finite()
            && self.tau >= 0.0
            && self.residual.is_finite()
            && self.degrees.iter().all(|d| d.is_finite() && *d >= 0.0)
    }
}

/// Refuses a matrix that no fit gives.
pub(super) fn moderate<T: Copy + Into<f64>>(name: &str, values: &[T]) -> Result<(), String> {
    match values.iter().all(|&value| value.into().abs() <= LARGEST) {
        true => Ok(()),
        false => Err(format!(
            "`{name}` has values beyond {LARGEST:e}, which no fit gives"
        )),
    }
}

fn log(tensors: &Tensors, name: &str) -> Result<Log, String> {
    let mut scales = tensors.numbers(&format!("{name}.scales"))?;
    let size = scales
        .pop()
        .ok_or_else(|| format!("`{name}.scales` is empty"))?;
    let (rows, turn) = (
        tensors.block(name)?,
        tensors.small(&format!("{name}.turn"))?,
    );
    Ok(Log {
        landmarks: Landmarks { rows, scales, turn },
        size,
    })
}

fn ids(tensors: &Tensors) -> Result<NodeIds, String> {
    if !tensors.has("ids.offsets") {
        return Ok(NodeIds::from_integers(tensors.values("ids")?));
    }
    let wrong = || "`ids` and `ids.offsets` do not match".to_owned();
    let bytes = String::from_utf8(tensors.values("ids")?).map_err(|_| wrong())?;
    let offsets: Vec<usize> = tensors
        .values::<u64>("ids.offsets")?
        .into_iter()
        .map(|o| o as usize)
        .collect();
    let spans =
        offsets.first() == Some(&0) && offsets.last() == Some(&bytes.len()) && offsets.is_sorted();
    if !spans || !offsets.iter().all(|&at| bytes.is_char_boundary(at)) {
        return Err(wrong());
    }
    Ok(NodeIds::Text { offsets, bytes })
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
        let far = |name: &str, change: &dyn Fn(&mut View)| {
            let mut absurd = model.clone();
            change(&mut absurd.views[0]);
            let error = reading(&absurd).expect_err("absurd").to_string();
            assert!(
                error.contains(name) && error.contains("no fit gives"),
                "{error}"
            );
        };
        let huge = |m: &Small| Small::from_fn(m.rows(), m.cols(), |_, _| 1e200);
        far("view0.c", &|view| view.basis.c = huge(&view.basis.c));
        far("view0.q", &|view| view.basis.q = huge(&view.basis.q));
        far("view0.x", &|view| {
            let (rows, cols) = (view.x.rows(), view.x.cols());
            view.x = Block::from_vec(rows, cols, vec![1e38; rows * cols]).into();
        });
        // The same where the matrices stay in the file until they are needed.
        let file = tempfile::NamedTempFile::new().expect("made");
        let opened = |absurd: &Model| {
            std::fs::write(&file, []).expect("emptied");
            absurd.write(&file, Existing::Replace).expect("written");
            let opened = Model::open(&file).expect("its header is right");
            let whole = opened.vectors.whole().and(opened.views[0].x.whole());
            whole.map(drop).expect_err("absurd").to_string()
        };
        let mut absurd = model.clone();
        let (rows, cols) = (model.vectors.rows(), model.vectors.cols());
        absurd.vectors = Block::from_vec(rows, cols, vec![f32::NAN; rows * cols]).into();
        assert!(opened(&absurd).contains("`vectors` has values that are not finite"));
        absurd.vectors = model.vectors.clone();
        let (rows, cols) = (model.views[0].x.rows(), model.views[0].x.cols());
        absurd.views[0].x = Block::from_vec(rows, cols, vec![f32::INFINITY; rows * cols]).into();
        assert!(opened(&absurd).contains("`view0.x` has values beyond"));
    }
}
