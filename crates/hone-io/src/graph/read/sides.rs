//! [`Sides`]: whether the two id columns of a table name nodes of one kind, or of two, such as users and movies.
//!
//! Tables of ratings, purchases and the like number users and items each from 1. Read as one kind of node, user 1 and
//! item 1 become the same node. Whether two columns are of two kinds is seen by their names (`userId,movieId`), or by the
//! columns of ratings without a header (two ids, a number up to 10, a Unix time). If such columns then have integers in
//! common, a note counts them; only the user can know, so the nodes stay merged unless [`ReadOptions::bipartite`] is
//! set. Cost of the count: one pass over the edges.

use super::super::NodeIds;
use super::kinds::{self, Kind};
use super::options::ReadOptions;
use super::reading::ReadNote;
use super::times::are_times;
use super::vocabulary::words;

/// What the two id columns of a table name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Sides {
    /// Nodes of one kind.
    #[default]
    One,
    /// Nodes of one kind, though the names of the columns, or what stands beside them, suggest two.
    Suspect([String; 2]),
    /// Nodes of two kinds; their ids get these words and a colon in front.
    Two([String; 2]),
}

impl Sides {
    /// Those of columns `source` and `target` of a table with these names, if it has names, and rows.
    pub(super) fn of(
        options: &ReadOptions,
        (source, target): (usize, usize),
        names: &[String],
        body: &[Vec<String>],
    ) -> Self {
        let named = names
            .get(source)
            .zip(names.get(target))
            .filter(|(a, b)| a != b && !a.is_empty() && !b.is_empty());
        let owned = |(a, b): (&String, &String)| [a.clone(), b.clone()];
        match named {
            _ if options.bipartite == Some(true) => {
                Sides::Two(named.map_or_else(|| ["source".into(), "target".into()], owned))
            }
            _ if options.bipartite == Some(false) => Sides::One,
            Some((a, b)) if are_two_kinds(a, b) => Sides::Suspect(owned((a, b))),
            None if names.is_empty() && (source, target) == (0, 1) && are_ratings(body) => {
                Sides::Suspect(["column 1".into(), "column 2".into()])
            }
            _ => Sides::One,
        }
    }

    /// A note if integers of two kinds of nodes have become the same nodes.
    pub(super) fn note(&self, file: &str, ids: &NodeIds, pairs: &[(u32, u32)]) -> Option<ReadNote> {
        let Sides::Suspect(names) = self else {
            return None;
        };
        if matches!(ids, NodeIds::Text { .. }) {
            return None;
        }
        let (mut left, mut right) = (vec![false; ids.len()], vec![false; ids.len()]);
        for &(u, v) in pairs {
            left[u as usize] = true;
            right[v as usize] = true;
        }
        let merged = left
            .iter()
            .zip(&right)
            .filter(|(left, right)| **left && **right)
            .count();
        (merged > 0).then(|| ReadNote::Merged {
            file: file.to_owned(),
            names: names.clone(),
            ids: merged as u64,
        })
    }
}

/// An id of one side, as it is called in the graph.
pub(super) fn prefixed(side: &str, id: &str) -> String {
    format!("{side}:{id}")
}

/// Whether two columns of a table, by their names, name nodes of two kinds.
///
/// ```
/// use hone_io::graph::are_two_kinds;
/// assert!(are_two_kinds("userId", "movieId") && are_two_kinds("nurse", "patient"));
/// assert!(!are_two_kinds("source", "target") && !are_two_kinds("user", "friend"));
/// ```
pub fn are_two_kinds(a: &str, b: &str) -> bool {
    kind(a).zip(kind(b)).is_some_and(|(a, b)| a.differs(b))
}

/// The kind of thing that a column has the ids of; nothing if its name does not say.
fn kind(name: &str) -> Option<Kind> {
    words(name).iter().find_map(|word| kinds::of(word))
}

/// Whether rows are two ids, a rating and a Unix time.
fn are_ratings(body: &[Vec<String>]) -> bool {
    let column = |c: usize| body.iter().map(move |row| row.get(c)?.parse::<f64>().ok());
    let is_rating = |value: Option<f64>| value.is_some_and(|value| (0.0..=10.0).contains(&value));
    body.first().is_some_and(|row| row.len() == 4)
        && column(2).all(is_rating)
        && are_times(column(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_columns() {
        for (a, b) in [
            ("user", "item"),
            ("userId", "movieId"),
            ("userid", "movieid"),
            ("user_id", "business_id"),
            ("Users", "Products"),
            ("author", "paper"),
            ("gene", "disease"),
            ("customer id", "ASIN"),
            ("nurse", "patient"),
            ("company", "investor"),
            ("plant", "pollinator"),
            ("student", "course"),
            ("teacher_id", "student_id"),
            ("hospital", "doctor"),
            ("company_id", "country"),
        ] {
            assert!(are_two_kinds(a, b) && are_two_kinds(b, a), "{a}, {b}");
        }
        for (a, b) in [
            ("source", "target"),
            ("user", "friend"),
            ("user1", "user2"),
            ("follower", "followee"),
            ("user", "customer"),
            ("paper", "reference"),
            ("id1", "id2"),
            ("author_id", "user"),
            ("protein1", "protein2"),
            ("buyer", "seller"),
            ("employee", "person"),
            ("movie", "film"),
        ] {
            assert!(!are_two_kinds(a, b), "{a}, {b}");
        }
    }

    #[test]
    fn ratings_without_a_header() {
        let table = |text: &str| -> Vec<Vec<String>> {
            text.lines()
                .map(|line| line.split(' ').map(str::to_owned).collect())
                .collect()
        };
        assert!(are_ratings(&table(
            "1 1193 5 978300760\n1 661 3 978302109\n2 1 3.5 978301968"
        )));
        for other in [
            "",
            "1 1193 5\n1 661 3",
            "1 2 978300760 5",
            "1 2 5 17\n2 3 4 18",
            "1 2 500 978300760",
        ] {
            assert!(!are_ratings(&table(other)), "{other}");
        }
    }
}
