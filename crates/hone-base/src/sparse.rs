//! Sparse matrices in compressed rows: [`Pattern`] (positions) and [`Csr`] (positions and values).
//!
//! Many matrices of the method share one pattern (all W_t share the graph's), so the pattern is
//! reference-counted and stored separately from the values. Sums and products with vectors are computed where the values are;
//! transposes in this process.

use std::any::Any;
use std::fmt::{self, Debug};
use std::ops::{Deref, Range};
use std::sync::{Arc, OnceLock};

use yoke::Yoke;

use crate::parallel;

/// Positions of the nonzeros of a square or rectangular matrix, row by row.
///
/// Invariants, checked by the constructor: `offsets` has one entry more than there are rows, starts at 0, never falls
/// and ends at `columns.len()`; each row's columns strictly ascend and are below `cols`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    offsets: Vec<usize>,
    columns: Indices,
    cols: usize,
}

impl Pattern {
    /// Takes rows that satisfy the invariants.
    ///
    /// # Panics
    /// When they do not.
    pub fn new(offsets: Vec<usize>, columns: Vec<u32>, cols: usize) -> Self {
        Self::shared(offsets, columns.into(), cols)
    }

    /// [`Pattern::new`] with columns that may be borrowed.
    ///
    /// # Panics
    /// When the invariants are violated.
    pub fn shared(offsets: Vec<usize>, columns: Indices, cols: usize) -> Self {
        assert!(
            offsets.first() == Some(&0) && offsets.last() == Some(&columns.len()),
            "offsets do not span columns"
        );
        assert!(
            offsets.len() - 1 <= u32::MAX as usize && cols <= u32::MAX as usize,
            "more than u32 many rows or columns"
        );
        assert!(offsets.windows(2).all(|w| w[0] <= w[1]), "offsets fall");
        let pattern = Pattern {
            offsets,
            columns,
            cols,
        };
        // Products read the columns without further checks.
        let wrong = |i: usize| {
            let row = pattern.row(i);
            !row.is_sorted_by(|a, b| a < b) || row.last().is_some_and(|&j| j as usize >= cols)
        };
        assert!(
            parallel::first(pattern.rows(), wrong).is_none(),
            "a row is not sorted, or a column is out of range"
        );
        pattern
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Number of stored positions.
    pub fn nnz(&self) -> usize {
        self.columns.len()
    }

    /// Ascending columns of row `i`.
    pub fn row(&self, i: usize) -> &[u32] {
        &self.columns[self.offsets[i]..self.offsets[i + 1]]
    }

    /// Where row `i` lies in [`Pattern::columns`] and in the values that belong to it.
    pub fn range(&self, i: usize) -> Range<usize> {
        self.offsets[i]..self.offsets[i + 1]
    }

    /// All row offsets, `rows + 1` of them.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// All columns, row after row.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// The same, which may be shared.
    pub fn indices(&self) -> &Indices {
        &self.columns
    }

    /// Bytes in memory.
    pub fn memory(&self) -> usize {
        size_of_val(&*self.offsets) + size_of_val(&*self.columns)
    }
}

/// Where runs of these lengths begin, one behind the other, and where the last ends.
pub fn offsets(lengths: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let mut offsets = vec![0];
    let mut end = 0;
    offsets.extend(lengths.into_iter().map(|length| {
        end += length;
        end
    }));
    offsets
}

/// The owner of the memory.
type Owner = Arc<dyn AsRef<[u32]> + Send + Sync>;

/// A shared, immutable run of u32 values.
///
/// A caller that already holds a matrix (a NumPy array behind a SciPy matrix, a mapped file) lends its memory instead of
/// having it copied. Reading costs the same either way: a slice tied to its owner, without a virtual call or check.
///
/// ```
/// use hone_base::sparse::Indices;
/// let own = Indices::from(vec![1, 2, 3]);
/// let lent = Indices::lent([1u32, 2, 3]);
/// assert_eq!(own, lent);
/// ```
#[derive(Clone)]
pub struct Indices(Yoke<&'static [u32], Owner>);

impl Indices {
    /// Takes memory that `owner` keeps alive and unchanged; it is dropped with the last clone.
    pub fn lent(owner: impl AsRef<[u32]> + Send + Sync + 'static) -> Self {
        let owner: Owner = Arc::new(owner);
        Indices(Yoke::attach_to_cart(owner, |owner| owner.as_ref()))
    }
}

impl From<Vec<u32>> for Indices {
    fn from(own: Vec<u32>) -> Self {
        Indices::lent(own)
    }
}

impl Deref for Indices {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        self.0.get()
    }
}

impl PartialEq for Indices {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Indices {}

impl Debug for Indices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Values per parallel task.
const CHUNK: usize = 1 << 14;

/// A sparse matrix: a shared pattern and one value per position. The values may be [remote](RemoteValues)
/// until they are read.
#[derive(Debug, Clone)]
pub struct Csr {
    pattern: Arc<Pattern>,
    values: Arc<OnceLock<Arc<[f32]>>>,
    remote: Option<Arc<dyn RemoteValues>>,
    /// The position of the first value: 0, or that of the first row that is present.
    first: usize,
}

impl Csr {
    /// Joins a pattern and its values.
    ///
    /// # Panics
    /// When their lengths differ.
    pub fn new(pattern: Arc<Pattern>, values: Arc<[f32]>) -> Self {
        assert_eq!(pattern.nnz(), values.len(), "one value per position");
        Csr {
            pattern,
            values: Arc::new(values.into()),
            remote: None,
            first: 0,
        }
    }

    /// A matrix of which only some rows are present, for products of these rows.
    ///
    /// # Panics
    /// When these rows have another number of positions.
    pub fn of_rows(pattern: Arc<Pattern>, rows: &Range<usize>, values: Arc<[f32]>) -> Self {
        let positions = pattern.offsets()[rows.start]..pattern.offsets()[rows.end];
        assert_eq!(positions.len(), values.len(), "one value per position");
        Csr {
            pattern,
            values: Arc::new(values.into()),
            remote: None,
            first: positions.start,
        }
    }

    /// Joins a pattern and remote values.
    pub fn with_remote_values(pattern: Arc<Pattern>, values: Arc<dyn RemoteValues>) -> Self {
        Csr {
            pattern,
            values: Arc::default(),
            remote: Some(values),
            first: 0,
        }
    }

    /// The values, if they are remote.
    pub fn remote_values(&self) -> Option<&Arc<dyn RemoteValues>> {
        self.remote.as_ref()
    }

    /// The positions.
    pub fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    /// The values, in the order of the pattern.
    pub fn values(&self) -> &[f32] {
        self.shared_values()
    }

    /// The values, shared by all clones: a device can keep its own copy and recognise it.
    pub fn shared_values(&self) -> &Arc<[f32]> {
        self.values.get_or_init(|| {
            let values = self
                .remote
                .as_ref()
                .map(|values| values.read())
                .unwrap_or_default();
            assert_eq!(self.pattern.nnz(), values.len(), "one value per position");
            values.into()
        })
    }

    /// An identifier that clones share and other matrices do not have.
    pub fn identity(&self) -> usize {
        Arc::as_ptr(&self.values).addr()
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.pattern.rows()
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.pattern.cols()
    }

    /// Number of stored positions.
    pub fn nnz(&self) -> usize {
        self.pattern.nnz()
    }

    /// Bytes in memory, pattern included.
    pub fn memory(&self) -> usize {
        self.pattern.memory() + self.values.get().map_or(0, |values| size_of_val(&**values))
    }

    /// Columns and values of row `i`.
    pub fn row(&self, i: usize) -> (&[u32], &[f32]) {
        let Range { start, end } = self.pattern.range(i);
        (
            self.pattern.row(i),
            &self.values()[start - self.first..end - self.first],
        )
    }

    /// The product with a vector, in f64.
    pub fn times_vector(&self, x: &[f64]) -> Vec<f64> {
        assert_eq!(
            x.len(),
            self.cols(),
            "length of the vector in a sparse product"
        );
        if let Some(values) = self.remote_values() {
            return values.times_vector(x);
        }
        self.rows_times_vector(0..self.rows(), x)
    }

    /// Some rows of the product with a vector.
    pub fn rows_times_vector(&self, rows: Range<usize>, x: &[f64]) -> Vec<f64> {
        let entry = |i: usize| {
            let (columns, values) = self.row(i);
            columns
                .iter()
                .zip(values)
                .map(|(&j, &a)| f64::from(a) * x[j as usize])
                .sum()
        };
        let some = |part: Range<usize>| part.map(|k| entry(rows.start + k)).collect::<Vec<f64>>();
        parallel::stretches(rows.len(), 1 << 12, some).concat()
    }

    /// The sum of each row, in f64.
    pub fn row_sums(&self) -> Arc<Vec<f64>> {
        match self.remote_values() {
            Some(values) => values.row_sums(),
            None => Arc::new(self.times_vector(&vec![1.0; self.cols()])),
        }
    }

    /// The sum of all squares, in f64.
    pub fn squares(&self) -> f64 {
        if let Some(values) = self.remote_values() {
            return values.squares();
        }
        let values = self.values();
        let of = |range: Range<usize>| {
            values[range]
                .iter()
                .map(|&x| f64::from(x) * f64::from(x))
                .sum::<f64>()
        };
        parallel::stretches(values.len(), CHUNK, of)
            .into_iter()
            .sum()
    }

    /// scale · diag(left) · A · diag(right), with the same pattern; entries are multiplied in f64.
    #[must_use]
    pub fn scaled_by(&self, scale: f64, left: &Diagonal, right: &Diagonal) -> Csr {
        match self.remote_values() {
            Some(values) => {
                Csr::with_remote_values(self.pattern().clone(), values.scaled(scale, left, right))
            }
            None => self.scaled(|i, j| {
                scale * (f64::from(left.values()[i]) * f64::from(right.values()[j]))
            }),
        }
    }

    /// A + c·Aᵀ.
    ///
    /// # Panics
    /// When the matrix is not square.
    pub fn plus_transposed(&self, factor: f32) -> Csr {
        assert_eq!(
            self.rows(),
            self.cols(),
            "a matrix and its transpose must have the same shape"
        );
        let transposed = self.transposed();
        let merged = parallel::stretches(self.rows(), 1 << 12, |rows| {
            let (mut lengths, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
            for i in rows {
                let ((own, ours), (other, theirs)) = (self.row(i), transposed.row(i));
                let (mut a, mut b, before) = (0, 0, columns.len());
                while a < own.len() || b < other.len() {
                    let column = own
                        .get(a)
                        .into_iter()
                        .chain(other.get(b))
                        .min()
                        .copied()
                        .expect("one is left");
                    let mut value = 0.0;
                    if own.get(a) == Some(&column) {
                        value += ours[a];
                        a += 1;
                    }
                    if other.get(b) == Some(&column) {
                        value += factor * theirs[b];
                        b += 1;
                    }
                    columns.push(column);
                    values.push(value);
                }
                lengths.push(columns.len() - before);
            }
            (lengths, columns, values)
        });
        let (mut all, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (lengths, more, numbers) in merged {
            all.extend(lengths);
            columns.extend(more);
            values.extend(numbers);
        }
        let pattern = Pattern::new(offsets(all), columns, self.cols());
        Csr::new(Arc::new(pattern), values.into())
    }

    /// The matrix with entry (i, j) multiplied by `factor(i, j)`, in f64; the pattern is shared.
    #[must_use]
    pub fn scaled(&self, factor: impl Fn(usize, usize) -> f64 + Sync) -> Csr {
        let (offsets, columns) = (self.pattern.offsets(), self.pattern.columns());
        let mut values = self.values().to_vec();
        parallel::for_chunks(&mut values, CHUNK, &|index, piece| {
            let first = self.first + index * CHUNK;
            let mut i = offsets.partition_point(|&start| start <= first) - 1;
            for (at, value) in (first..).zip(piece) {
                while offsets[i + 1] <= at {
                    i += 1;
                }
                *value = (f64::from(*value) * factor(i, columns[at] as usize)) as f32;
            }
        });
        Csr {
            values: Arc::new(Arc::<[f32]>::from(values).into()),
            remote: None,
            ..self.clone()
        }
    }

    /// The transpose.
    ///
    /// Each stripe of columns becomes a run of rows of the result, so stripes are filled in parallel;
    /// in a sorted row the columns of a stripe lie together and are found by bisection.
    /// Time O(nnz + stripes · rows · log degree).
    pub fn transposed(&self) -> Csr {
        let mut lengths = vec![0usize; self.cols()];
        for &j in self.pattern.columns() {
            lengths[j as usize] += 1;
        }
        let offsets = offsets(lengths);
        let (mut columns, mut values) = (vec![0u32; self.nnz()], vec![0.0f32; self.nnz()]);
        // Runs of whole rows of the result with about equally many nonzeros.
        let stripes = rayon::current_num_threads() * 2;
        let row = |s: usize| offsets.partition_point(|&at| at < self.nnz() * s / stripes);
        let bounds: Vec<usize> = (0..stripes).map(row).chain([self.cols()]).collect();
        let places: Vec<usize> = bounds.iter().map(|&j| offsets[j]).collect();
        let parts = parallel::cut(&mut columns, &places).into_iter();
        let parts = parts.zip(parallel::cut(&mut values, &places)).collect();
        parallel::each(parts, &|s, (columns, values): (&mut [u32], &mut [f32])| {
            let rows = bounds[s]..bounds[s + 1];
            let next = offsets[rows.clone()].iter().map(|at| at - places[s]);
            let mut next: Vec<usize> = next.collect();
            for i in 0..self.rows() {
                let (js, numbers) = self.row(i);
                let from = js.partition_point(|&j| (j as usize) < rows.start);
                for (&j, &a) in js[from..].iter().zip(&numbers[from..]) {
                    if j as usize >= rows.end {
                        break;
                    }
                    let at = &mut next[j as usize - rows.start];
                    (columns[*at], values[*at]) = (i as u32, a);
                    *at += 1;
                }
            }
        });
        let pattern = Pattern::new(offsets, columns, self.rows());
        Csr::new(Arc::new(pattern), values.into())
    }
}

/// Values of a sparse matrix, in the order of its pattern, in the memory of a device or divided among processes, with the few
/// operations needed besides products. They are copied to this process when needed there.
pub trait RemoteValues: Debug + Send + Sync {
    /// A copy in the memory of this process.
    fn read(&self) -> Vec<f32>;

    /// The matrix times a vector, in f64.
    fn times_vector(&self, x: &[f64]) -> Vec<f64>;

    /// The sum of each row, in f64.
    fn row_sums(&self) -> Arc<Vec<f64>>;

    /// The sum of all squares.
    fn squares(&self) -> f64;

    /// The values of scale · diag(left) · A · diag(right), in the same place.
    fn scaled(&self, scale: f64, left: &Diagonal, right: &Diagonal) -> Arc<dyn RemoteValues>;

    /// The concrete type, so that a device can recognise its own values.
    fn as_any(&self) -> &dyn Any;
}

/// A diagonal matrix with its name in formulas. Clones share the entries, so that a device can keep its own copy and
/// recognise it ([`Diagonal::shared`]).
#[derive(Debug, Clone)]
pub struct Diagonal {
    name: Arc<str>,
    values: Arc<[f32]>,
}

impl Diagonal {
    /// A diagonal that prints as `diag(name)`.
    pub fn new(name: &str, values: impl Into<Arc<[f32]>>) -> Self {
        Diagonal {
            name: name.into(),
            values: values.into(),
        }
    }

    /// The name in formulas.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The entries.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The entries, shared by all clones.
    pub fn shared(&self) -> &Arc<[f32]> {
        &self.values
    }

    /// The largest absolute value.
    pub fn largest(&self) -> f64 {
        let most = |values: Range<usize>| {
            self.values[values]
                .iter()
                .fold(0.0, |most, x| f64::max(most, f64::from(x.abs())))
        };
        parallel::stretches(self.values.len(), 1 << 16, most)
            .into_iter()
            .fold(0.0, f64::max)
    }

    /// The product of two diagonals.
    #[must_use]
    pub fn times(&self, other: &Diagonal) -> Diagonal {
        let values: Arc<[f32]> = self
            .values
            .iter()
            .zip(other.values.iter())
            .map(|(a, b)| a * b)
            .collect();
        Diagonal::new(&format!("{}·{}", self.name, other.name), values)
    }

    /// Whether two diagonals, or their absence, are the same.
    pub fn same(a: &Option<Diagonal>, b: &Option<Diagonal>) -> bool {
        match (a, b) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(&a.values, &b.values) || a.values == b.values,
            _ => false,
        }
    }
}

/// Bytes in a cache line.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const LINE: usize = 64;

/// Hints to the processor that these values will be read soon, which hides the latency of gathers; does nothing on processors
/// without such a hint.
///
/// A sparse product gathers rows of a block at random, and a core waits for memory with only a few gathers in flight.
/// The column indices are known long before; with this hint, the rows arrive in time: at ten million nonzeros
/// and 24 columns on two cores, 0.080 s become 0.057 s, from 2.5 to 1.5 times what the bandwidth allows (bench `spmm`).
#[expect(unsafe_code, reason = "the instruction takes an address")]
#[inline(always)]
pub fn prefetch<T>(values: &[T]) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    for line in values.chunks((LINE / size_of::<T>().max(1)).max(1)) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the instruction is part of every x86-64 processor; it is a hint that neither reads
        // nor writes for the program and never faults, and the address lies inside a slice.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = values;
}
