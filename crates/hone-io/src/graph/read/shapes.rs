//! Texts with another shape than one edge per line: signs between the ids, adjacency lists, adjacency matrices.
//!
//! They can be cut into columns like any table, and would give a graph that nobody meant: a star around `->`, nodes called
//! `1:`, two nodes 0 and 1.

use super::reading::ReadNote;
use super::vocabulary::is_known;

/// The most characters of a sign.
const LONGEST_SIGN: usize = 3;
/// Lines from which numbers are taken for a matrix.
const LEAST_MATRIX: usize = 3;
/// Names from which rows and columns of the same names are a matrix.
const LEAST_LABELS: usize = 2;

/// Whether a column has a sign in all lines, such as `->` or `--`, which only links the ids beside it.
pub(super) fn is_sign(body: &[Vec<String>], column: usize) -> bool {
    let sign = |c: char| "-<>=~\u{2013}\u{2014}\u{2190}\u{2192}\u{2194}".contains(c);
    let is = |field: &String| {
        !field.is_empty() && field.chars().count() <= LONGEST_SIGN && field.chars().all(sign)
    };
    !body.is_empty() && body.iter().all(|row| row.get(column).is_some_and(is))
}

/// Whether the signs between two columns of ids point to the first: `a <- b`. For arcs it is wrong if they point both ways,
/// neither way, or now one way and now the other.
pub(super) fn points_back(
    body: &[Vec<String>],
    [first, second]: [usize; 2],
    directed: bool,
) -> Result<bool, (String, &'static str)> {
    let Some(column) = (first.min(second) + 1..first.max(second)).find(|&c| is_sign(body, c))
    else {
        return Ok(false);
    };
    let ways = |sign: &str| {
        [
            sign.contains(['<', '\u{2190}', '\u{2194}']),
            sign.contains(['>', '\u{2192}', '\u{2194}']),
        ]
    };
    let mut signs: Vec<&str> = body.iter().map(|row| row[column].as_str()).collect();
    signs.sort_unstable();
    signs.dedup();
    let all: Vec<[bool; 2]> = signs.iter().map(|sign| ways(sign)).collect();
    match all[..] {
        [[true, false], ..] if all.iter().all(|ways| *ways == all[0]) => Ok(true),
        [[false, true], ..] if all.iter().all(|ways| *ways == all[0]) => Ok(false),
        _ if !directed => Ok(false),
        _ => {
            let what = format!(
                "the signs between the ids ({}) do not say which way all arcs go",
                signs.join(" ")
            );
            Err((
                what,
                "write one arc per line, source first, without signs; or leave directions out",
            ))
        }
    }
}

/// What is wrong with a list of the neighbours of each node (`1: 2 3`), as message and remedy.
pub(super) fn adjacency_list(body: &[Vec<String>]) -> Option<(String, &'static str)> {
    let is_node = |row: &Vec<String>| {
        row.first()
            .is_some_and(|field| field.len() > 1 && field.ends_with(':'))
    };
    let all = body.len() > 1 && body.iter().all(is_node);
    let remedy = "write one edge per line; remove the colons if each line is an edge";
    all.then(|| {
        (
            "the first id of every line ends with a colon, as in a list of neighbours".to_owned(),
            remedy,
        )
    })
}

/// What is wrong with lines in brackets, as programs print pairs: `(1, 2)`, `[1, 2]`.
pub(super) fn bracketed(table: &[Vec<String>]) -> Option<(String, &'static str)> {
    let is_pair = |row: &Vec<String>| {
        let mut filled = row.iter().filter(|field| !field.is_empty());
        let (Some(first), Some(last)) = (filled.next(), filled.next_back()) else {
            return false;
        };
        let last = last.trim_end_matches([',', ';']);
        let fits = |(open, close): (char, char)| {
            first.starts_with(open) && !first.contains(close) && last.ends_with(close)
        };
        [('(', ')'), ('[', ']'), ('{', '}')].into_iter().any(fits)
    };
    let message = "every line is in brackets, as programs print pairs";
    table.iter().all(is_pair).then(|| {
        (
            message.to_owned(),
            "write two ids per line, without brackets",
        )
    })
}

/// What is wrong with an adjacency matrix whose rows and columns have the names of nodes: the first line repeats the first
/// column.
pub(super) fn labelled_matrix(table: &[Vec<String>]) -> Option<(String, &'static str)> {
    let (head, rows) = table.split_first()?;
    let (corner, labels) = head.split_first()?;
    let is_number = |field: &String| field.parse::<f64>().is_ok();
    let fits = |(row, label): (&Vec<String>, &String)| {
        row.len() == head.len() && row[0] == *label && row[1..].iter().all(is_number)
    };
    let several = LEAST_LABELS <= rows.len() && rows.len() <= labels.len();
    let is_matrix = several && !is_number(corner) && rows.iter().zip(labels).all(fits);
    let message =
        "the first line and the first column have the same names, as in an adjacency matrix";
    is_matrix.then(|| {
        (
            message.to_owned(),
            "write the matrix as Matrix Market, or one edge per line",
        )
    })
}

/// A note about numbers that could be a matrix: as many lines as columns, no names of columns of a table, and the look of
/// an adjacency matrix: zeros on the diagonal, and symmetric or of zeros and ones alone; or symmetric and of zeros and ones.
pub(super) fn matrix_note(
    names: &[String],
    body: &[Vec<String>],
    whole: bool,
    file: &str,
) -> Option<ReadNote> {
    let n = body.len();
    let named = names.iter().any(|name| is_known(name));
    if !whole || named || n < LEAST_MATRIX || body.iter().any(|row| row.len() != n) {
        return None;
    }
    let row = |row: &Vec<String>| {
        row.iter()
            .map(|field| field.parse::<f64>().ok())
            .collect::<Option<Vec<f64>>>()
    };
    let matrix: Vec<Vec<f64>> = body.iter().map(row).collect::<Option<_>>()?;
    let symmetric = (0..n).all(|i| (0..i).all(|j| matrix[i][j] == matrix[j][i]));
    let hollow = (0..n).all(|i| matrix[i][i] == 0.0);
    let binary = matrix
        .iter()
        .flatten()
        .all(|&entry| entry == 0.0 || entry == 1.0);
    let looks = [symmetric, hollow, binary]
        .into_iter()
        .filter(|&holds| holds)
        .count();
    (looks >= 2).then(|| ReadNote::MaybeMatrix {
        file: file.to_owned(),
        size: n,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Vec<Vec<String>> {
        text.lines()
            .map(|line| line.split(' ').map(str::to_owned).collect())
            .collect()
    }

    #[test]
    fn signs_between_ids() {
        for (text, expected) in [
            ("a -> b\nc -> d", Some(false)),
            ("a <- b\nc <-- d", Some(true)),
            ("a \u{2190} b", Some(true)),
            ("a <-> b", None),
            ("a -- b\nc -- d", None),
            ("a -> b\nc <- d", None),
            ("a x b\nc y d", Some(false)),
        ] {
            assert_eq!(
                points_back(&table(text), [0, 2], true).ok(),
                expected,
                "{text}"
            );
            assert_eq!(
                points_back(&table(text), [0, 2], false).ok(),
                Some(expected == Some(true)),
                "{text}"
            );
        }
    }

    #[test]
    fn matrices_and_tables() {
        for (text, is_matrix) in [
            ("0 1 0\n1 0 1\n0 1 0", true),
            ("0 1 0\n0 0 1\n1 0 0", true),
            ("0 2 5\n2 0 1\n5 1 0", true),
            ("1 1 0\n1 1 1\n0 1 1", true),
            ("0 1 2\n1 0 3\n2 3 1", false),
            ("0 1 2\n1 2 3\n2 3 1", false),
            ("0 5 2\n1 0 3\n2 3 0", false),
            ("0 1\n1 0", false),
        ] {
            assert_eq!(
                matrix_note(&[], &table(text), true, "a").is_some(),
                is_matrix,
                "{text}"
            );
            let names = ["id", "source", "target"].map(str::to_owned);
            assert!(
                matrix_note(&names, &table(text), true, "a").is_none(),
                "{text}"
            );
        }
        for (text, is_list) in [
            ("(1, 2)\n(2, 3)", true),
            ("[(1, 2),\n(2, 3)]", false),
            ("[1, 2],\n[2, 3],", true),
            ("(a) (b)\n(b) (c)", false),
            ("(1, 2)\n2 3", false),
        ] {
            assert_eq!(bracketed(&table(text)).is_some(), is_list, "{text}");
        }
        for (text, is_matrix) in [
            (" a b\na 0 1\nb 1 0", true),
            ("x a b c\na 0 1 0\nb 1 0 0", true),
            (" u v\n0 a b\n1 b c", false),
            ("a b\nb c", false),
            ("0 1 2\n1 5 3\n2 7 1", false),
            ("x a b\na c d\nb e f", false),
        ] {
            assert_eq!(labelled_matrix(&table(text)).is_some(), is_matrix, "{text}");
        }
    }
}
