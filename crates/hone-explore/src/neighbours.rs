//! [`Neighbours`]: the most similar rows of every row.

/// A row that is similar to another, or to a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbour {
    /// Its number.
    pub row: u32,
    /// How similar it is, in the precision in which it is written.
    pub similarity: f32,
}

/// The `k` best of some rows with their similarities, the lower row first among those that are equal as they are written.
pub(crate) fn best(rows: impl Iterator<Item = (u32, f64)>, k: usize) -> Vec<Neighbour> {
    let neighbour = |(row, similarity): (u32, f64)| Neighbour {
        row,
        // Adding zero makes negative zeros positive.
        similarity: similarity as f32 + 0.0,
    };
    let mut found: Vec<Neighbour> = rows.map(neighbour).collect();
    found.sort_by(|a, b| {
        b.similarity
            .total_cmp(&a.similarity)
            .then(a.row.cmp(&b.row))
    });
    found.truncate(k);
    found
}

/// The `k` most similar rows of every row, the most similar first and the lower row first among equals.
#[derive(Debug, Clone, PartialEq)]
pub struct Neighbours {
    k: usize,
    rows: Vec<u32>,
    similarities: Vec<f32>,
}

impl Neighbours {
    /// Takes `k` neighbours of every row, row after row.
    ///
    /// # Panics
    /// When there are not as many similarities as neighbours.
    pub fn new(k: usize, rows: Vec<u32>, similarities: Vec<f32>) -> Self {
        assert_eq!(
            rows.len(),
            similarities.len(),
            "one similarity per neighbour"
        );
        assert!(
            k == 0 || rows.len().is_multiple_of(k),
            "{k} neighbours per row"
        );
        Neighbours {
            k,
            rows,
            similarities,
        }
    }

    /// How many each row has: as many as were requested, or all others where there are fewer.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Number of rows; 0 where nobody has a neighbour.
    pub fn len(&self) -> usize {
        self.rows.len().checked_div(self.k).unwrap_or(0)
    }

    /// Whether nobody has a neighbour.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The neighbours of row `i`.
    pub fn row(&self, i: usize) -> &[u32] {
        &self.rows[i * self.k..(i + 1) * self.k]
    }

    /// How similar the neighbours of row `i` are.
    pub fn similarities(&self, i: usize) -> &[f32] {
        &self.similarities[i * self.k..(i + 1) * self.k]
    }
}
