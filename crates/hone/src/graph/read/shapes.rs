//! Texts with another shape than one edge per line: signs between the ids, adjacency lists, adjacency matrices.
//!
//! They can be cut into columns like any table, and would give a graph that nobody meant: a star around `->`, nodes called
//! `1:`, two nodes 0 and 1.

use super::reading::ReadNote;

/// The most characters of a sign.
const LONGEST_SIGN: usize = 3;
/// Lines from which numbers are taken for a matrix.
const LEAST_MATRIX: usize = 3;

/// Whether a column has the same sign in all lines, such as `->` or `--`, which only links the ids beside it.
pub(super) fn is_sign(body: &[Vec<String>], column: usize) -> bool {
    let mut fields = body.iter().map(|row| row.get(column));
    let Some(Some(first)) = fields.next() else { return false };
    let sign = |c: char| "-<>=~\u{2013}\u{2014}\u{2192}\u{2194}".contains(c);
    let is_short = !first.is_empty() && first.chars().count() <= LONGEST_SIGN;
    is_short && first.chars().all(sign) && fields.all(|field| field == Some(first))
}

/// What is wrong with a list of the neighbours of each node (`1: 2 3`), as message and remedy.
pub(super) fn adjacency_list(body: &[Vec<String>]) -> Option<(String, &'static str)> {
    let is_node = |row: &Vec<String>| row.first().is_some_and(|field| field.len() > 1 && field.ends_with(':'));
    let all = body.len() > 1 && body.iter().all(is_node);
    let remedy = "write one edge per line; remove the colons if each line is an edge";
    all.then(|| ("the first id of every line ends with a colon, as in a list of neighbours".to_owned(), remedy))
}

/// A note about numbers that could be a matrix: as many lines as columns, symmetric or with zeros on the diagonal.
pub(super) fn matrix_note(body: &[Vec<String>], whole: bool, file: &str) -> Option<ReadNote> {
    let n = body.len();
    if !whole || n < LEAST_MATRIX || body.iter().any(|row| row.len() != n) {
        return None;
    }
    let row = |row: &Vec<String>| row.iter().map(|field| field.parse::<f64>().ok()).collect::<Option<Vec<f64>>>();
    let matrix: Vec<Vec<f64>> = body.iter().map(row).collect::<Option<_>>()?;
    let symmetric = (0..n).all(|i| (0..i).all(|j| matrix[i][j] == matrix[j][i]));
    let hollow = (0..n).all(|i| matrix[i][i] == 0.0);
    (symmetric || hollow).then(|| ReadNote::MaybeMatrix { file: file.to_owned(), size: n })
}
