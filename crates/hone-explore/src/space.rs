//! [`Space`]: node vectors prepared for similarity search.
//!
//! The default embedding has two kinds of columns. *Proximity* columns are directions: where they point says which part
//! of the graph a node belongs to, their length grows with the degree. *Structure* columns (`structure_…`,
//! `attributes.…`, or `features_…` for both) are coordinates with an offset from zero: what matters is the distance
//! between two nodes. A single cosine over all columns would mix both, and be above .96 for arbitrary nodes. Here each
//! kind is compared in its own way:
//!
//! | by | similarity of nodes i and j |
//! |---|---|
//! | proximity | cos(pᵢ, pⱼ) |
//! | structure | 1 − ‖sᵢ − sⱼ‖² / 2σ², where σ² is the mean squared distance from the mean: 1 for equals, 0 for an average pair |
//! | all | cos(pᵢ, pⱼ) − w ‖sᵢ − sⱼ‖² / 2σ², with w = [`STRUCTURE_WEIGHT`]: proximity decides, structure chooses among near equals |
//!
//! Files without such names, of other tools or of the paper's presets, have proximity columns only: plain cosine. All three
//! are xᵢ·xⱼ − hᵢ − hⱼ with prepared rows x and half squared lengths h, so one search serves them all.
//! Cost: O(N D) once; memory for one more copy of the vectors.
//!
//! [`Space::prepared`] gives these rows to others: by plain distance d they rank as here, for 1 − d²/2 is the similarity. Only
//! nodes without a direction need a column more. Their cosine with all others is 0, but the distance of zero to a direction
//! is that of a cosine of ½; with a direction of their own, at a right angle to all others, it is that of 0. Among
//! themselves their cosine becomes 1: they have equal rows. Names of columns say what they are, so that rows which are read back
//! make the same space, bit for bit.

use std::ops::Range;

use hone::dense::Block;
use hone::graph::NodeIds;
use hone::parallel;
use hone::store::Embedding;
use hone::{Error, Result};
use serde::{Deserialize, Serialize};

/// What a unit of structural difference subtracts from the cosine. With more, the labels of the ten nearest neighbours
/// in labelled graphs agree less than by proximity alone; with less, structure has no effect.
pub const STRUCTURE_WEIGHT: f64 = 0.05;

/// Maps of more nodes have one layout, and less is stored of each node.
pub(crate) const LARGE: usize = 200_000;

/// Names of columns that are coordinates begin with one of these.
const PLACED: [&str; 3] = ["structure_", "attributes_", "features_"];

/// Names of prepared columns begin with these: those of directions, of coordinates, and of nodes without a direction.
const PREPARED: [&str; 3] = ["prepared_direction", "prepared_coordinate", "prepared_none"];

/// Which columns are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum By {
    /// Proximity, and structure among near equals.
    #[default]
    All,
    /// Being in the same part of the graph.
    Proximity,
    /// Being surrounded by the same motifs.
    Structure,
}

names!(By, "by": "all", "proximity", "structure");

/// Vectors prepared for one meaning of similarity.
#[derive(Debug, Clone)]
pub struct Space {
    /// Directions of unit length, then scaled coordinates.
    vectors: Block,
    /// Half the squared length of the coordinates of each row.
    half: Vec<f32>,
    /// How many columns are directions.
    directions: usize,
    /// What is compared, and what else these vectors can be compared by.
    by: By,
    beside: Option<By>,
    /// The similarity of equals, less that of their directions.
    top: f64,
}

/// What is compared with the rows of a [`Space`].
#[derive(Debug, Clone)]
pub struct Query {
    pub(crate) vector: Vec<f32>,
    pub(crate) half: f32,
}

/// Why there are no columns to compare.
fn lacking(by: By, embedding: &Embedding) -> String {
    let mut names = embedding.columns.iter();
    let kind = match by {
        By::Structure if names.any(|name| name.starts_with("features_")) => {
            return "these vectors have no columns of structure alone: `features_…` describe structure and attributes \
                    together; compare by all, or embed the graph without attributes"
                .into();
        }
        By::Structure => "structure",
        _ => "proximity",
    };
    format!(
        "these vectors have no {kind} columns; compare by all, or embed the graph with the preset `hone`, which has both \
         kinds"
    )
}

impl Space {
    /// Prepares the vectors of an embedding.
    ///
    /// # Errors
    /// When a value is not finite, or the columns requested are not there.
    pub fn of(embedding: &Embedding, by: By) -> Result<Space> {
        check_finite(embedding)?;
        let is_prepared = |name: &String| PREPARED.iter().any(|kind| name.starts_with(kind));
        if !embedding.columns.is_empty() && embedding.columns.iter().all(is_prepared) {
            return Space::of_prepared(embedding, by);
        }
        let (from, names) = (&embedding.vectors, &embedding.columns);
        let is_placed = |j: &usize| PLACED.iter().any(|prefix| names[*j].starts_with(prefix));
        let (mut coordinates, mut directions): (Vec<usize>, Vec<usize>) =
            (0..names.len()).partition(is_placed);
        let both = !directions.is_empty() && names.iter().any(|name| name.starts_with(PLACED[0]));
        let other = match by {
            By::Structure => By::All,
            _ => By::Structure,
        };
        match by {
            By::All => {}
            By::Proximity => coordinates.clear(),
            By::Structure => {
                directions.clear();
                coordinates.retain(|&j| names[j].starts_with(PLACED[0]));
            }
        }
        let width = directions.len() + coordinates.len();
        if width == 0 && !names.is_empty() {
            return Err(Error::config("by", lacking(by, embedding)));
        }
        let (weight, top) = match directions.is_empty() {
            true => (1.0, 1.0),
            false => (STRUCTURE_WEIGHT, 0.0),
        };
        let rows = from.rows().max(1) as f64;
        let mut means = column_sums(from, &coordinates, |x| x);
        means.iter_mut().for_each(|sum| *sum /= rows);
        let squares = column_sums(from, &coordinates, |x| x * x);
        let squares = squares.into_iter().sum::<f64>() / rows;
        let spread = squares - means.iter().map(|mean| mean * mean).sum::<f64>();
        // What is left of equal coordinates is rounding.
        let scale = match spread > 1e-10 * squares {
            true => (weight / spread).sqrt(),
            false => 0.0,
        };
        let mut vectors = Block::zeros(from.rows(), width);
        vectors.update_rows(|i, row| {
            let source = from.row(i);
            let (to, placed) = row.split_at_mut(directions.len());
            let square = directions.iter().map(|&j| f64::from(source[j]).powi(2));
            let length = square.sum::<f64>().sqrt();
            let factor = if length > 0.0 { 1.0 / length } else { 0.0 };
            for (to, &j) in to.iter_mut().zip(&directions) {
                *to = (f64::from(source[j]) * factor) as f32;
            }
            for ((to, &j), mean) in placed.iter_mut().zip(&coordinates).zip(&means) {
                *to = ((f64::from(source[j]) - mean) * scale) as f32;
            }
        });
        Ok(Space {
            half: halves(&vectors, directions.len()),
            vectors,
            directions: directions.len(),
            by,
            beside: both.then_some(other),
            top,
        })
    }

    /// Rows that [`Space::prepared`] gave, as they are.
    fn of_prepared(embedding: &Embedding, by: By) -> Result<Space> {
        let (from, names) = (&embedding.vectors, &embedding.columns);
        let kind = |kind: &str| -> Vec<usize> {
            let all = 0..names.len();
            all.filter(|&j| names[j].starts_with(kind)).collect()
        };
        let (directions, coordinates) = (kind(PREPARED[0]), kind(PREPARED[1]));
        let others = match by {
            By::All => 0,
            By::Proximity => coordinates.len(),
            By::Structure => directions.len(),
        };
        if others > 0 {
            let message = "these rows are prepared for another comparison; compare by all, or prepare the vectors by what is \
                           wanted";
            return Err(Error::config("by", message));
        }
        let columns = [&directions[..], &coordinates[..]].concat();
        let mut vectors = Block::zeros(from.rows(), columns.len());
        vectors.update_rows(|i, row| {
            let pairs = row.iter_mut().zip(&columns);
            pairs.for_each(|(to, &j)| *to = from.get(i, j));
        });
        Ok(Space {
            half: halves(&vectors, directions.len()),
            vectors,
            directions: directions.len(),
            by,
            beside: None,
            top: f64::from(u8::from(directions.is_empty())),
        })
    }

    /// The prepared rows under these ids, for any index that compares by plain distance: the similarity of two rows at
    /// distance d is 1 − d²/2, except that rows without a direction are as similar as if they had one, and the same.
    ///
    /// # Panics
    /// When there are not as many ids as rows.
    pub fn prepared(&self, ids: NodeIds) -> Embedding {
        let (directions, width) = (self.directions, self.vectors.cols());
        let lone = usize::from(directions > 0);
        let name = |j: usize| match j.checked_sub(directions) {
            None => format!("{}{j}", PREPARED[0]),
            Some(0) if lone == 1 => PREPARED[2].to_owned(),
            Some(k) => format!("{}{}", PREPARED[1], k - lone),
        };
        let columns = (0..width + lone).map(name).collect();
        let mut vectors = Block::zeros(self.len(), width + lone);
        vectors.update_rows(|i, row| {
            let (from, to) = self.vectors.row(i).split_at(directions);
            row[..directions].copy_from_slice(from);
            row[directions + lone..].copy_from_slice(to);
            if lone == 1 && from.iter().all(|&x| x == 0.0) {
                row[directions] = 1.0;
            }
        });
        Embedding::with_columns(ids, vectors, columns)
    }

    /// What is compared.
    pub fn by(&self) -> By {
        self.by
    }

    /// What a map shows besides: structure beside proximity, and the other way round. None if the vectors have but one kind
    /// of columns, or more than 200 000 rows.
    pub fn beside(&self) -> Option<By> {
        self.beside.filter(|_| self.len() <= LARGE)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.vectors.rows()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The prepared rows: inner products less both [half lengths](Space::halves) are similarities.
    pub fn vectors(&self) -> &Block {
        &self.vectors
    }

    /// Half squared lengths of the rows' coordinates.
    pub fn halves(&self) -> &[f32] {
        &self.half
    }

    /// The similarity of two rows, in double precision.
    pub fn similarity(&self, i: u32, j: u32) -> f64 {
        let half = f64::from(self.half[i as usize]) + f64::from(self.half[j as usize]);
        self.top + wide_dot(self.vectors.row(i as usize), self.vectors.row(j as usize)) - half
    }

    /// The similarity of a query to a row, in double precision.
    pub fn similarity_to(&self, query: &Query, j: u32) -> f64 {
        let half = f64::from(query.half) + f64::from(self.half[j as usize]);
        self.top + wide_dot(&query.vector, self.vectors.row(j as usize)) - half
    }

    /// The similarity of two rows up to a constant, in single precision.
    pub(crate) fn score(&self, i: u32, j: u32) -> f32 {
        dot(self.vectors.row(i as usize), self.vectors.row(j as usize))
            - self.half[i as usize]
            - self.half[j as usize]
    }

    /// A query for rows like the `positive` and unlike the `negative` ones: directions are added and subtracted and
    /// normalised; coordinates are averaged where all are positive, and go as in *a is to b as c is to …*.
    ///
    /// # Errors
    /// When there is no row at all, or one that does not exist.
    pub fn query(&self, positive: &[u32], negative: &[u32]) -> Result<Query> {
        let positive = positive.iter().map(|&i| (i, 1.0));
        let signed = positive.chain(negative.iter().map(|&i| (i, -1.0)));
        let signed: Vec<(u32, f64)> = signed.collect();
        let refuse = |message: String| Err(Error::config("positive", message));
        if signed.is_empty() {
            return refuse("no node to compare with; name at least one".into());
        }
        if let Some((row, _)) = signed.iter().find(|(row, _)| *row as usize >= self.len()) {
            return refuse(format!("row {row} of {}", self.len()));
        }
        let mut sum = vec![0f64; self.vectors.cols()];
        for &(row, sign) in &signed {
            let row = self.vectors.row(row as usize);
            let both = sum.iter_mut().zip(row);
            both.for_each(|(sum, &x)| *sum += sign * f64::from(x));
        }
        let (directions, coordinates) = sum.split_at_mut(self.directions);
        let length = directions.iter().map(|x| x * x).sum::<f64>().sqrt();
        directions
            .iter_mut()
            .for_each(|x| *x /= if length > 0.0 { length } else { 1.0 });
        let net = signed.iter().map(|(_, sign)| sign).sum::<f64>().max(1.0);
        coordinates.iter_mut().for_each(|x| *x /= net);
        let half = (coordinates.iter().map(|x| x * x).sum::<f64>() / 2.0) as f32;
        Ok(Query {
            vector: sum.into_iter().map(|x| x as f32).collect(),
            half,
        })
    }
}

/// Half the squared length of the coordinates of each row, which follow the directions.
fn halves(vectors: &Block, directions: usize) -> Vec<f32> {
    parallel::collect(vectors.rows(), |i| {
        let placed = &vectors.row(i)[directions..];
        (placed.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>() / 2.0) as f32
    })
}

/// Sums of some columns after `f`, in chunks of fixed size.
fn column_sums(block: &Block, columns: &[usize], f: impl Fn(f64) -> f64 + Sync) -> Vec<f64> {
    const CHUNK: usize = 1 << 14;
    let chunk = |range: Range<usize>| {
        let mut sums = vec![0f64; columns.len()];
        for i in range {
            let row = block.row(i);
            sums.iter_mut()
                .zip(columns)
                .for_each(|(sum, &j)| *sum += f(f64::from(row[j])));
        }
        sums
    };
    let partial: Vec<Vec<f64>> = parallel::stretches(block.rows(), CHUNK, chunk);
    partial
        .into_iter()
        .fold(vec![0.0; columns.len()], |mut sums, part| {
            sums.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
            sums
        })
}

/// Refuses values that no similarity can be computed from.
fn check_finite(embedding: &Embedding) -> Result<()> {
    let Embedding {
        ids,
        vectors,
        columns,
        ..
    } = embedding;
    let bad = |i: usize| vectors.row(i).iter().any(|x| !x.is_finite());
    let Some(i) = parallel::first(vectors.rows(), bad) else {
        return Ok(());
    };
    let j = vectors
        .row(i)
        .iter()
        .position(|x| !x.is_finite())
        .expect("just found");
    let (id, name, value) = (ids.get(i as u32), &columns[j], vectors.get(i, j));
    let message = format!("node `{id}` has {value} in column `{name}`; every value must be finite");
    Err(Error::config("vectors", message))
}

/// An inner product in double precision.
fn wide_dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(&a, &b)| f64::from(a) * f64::from(b))
        .sum()
}

/// An inner product in single precision, eight sums side by side.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0f32; 8];
    let (a_chunks, b_chunks) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = a_chunks
        .remainder()
        .iter()
        .zip(b_chunks.remainder())
        .map(|(a, b)| a * b)
        .sum();
    for (a, b) in a_chunks.zip(b_chunks) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7])) + rest
}
