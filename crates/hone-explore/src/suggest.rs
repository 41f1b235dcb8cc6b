//! Suggestions for an unknown id: the closest known ids.
//!
//! Closeness is the number of characters to insert, delete, replace or swap with their neighbour, ignoring case
//! (Damerau–Levenshtein, optimal string alignment); an id that contains the wanted one, or begins like it, is close
//! too. Cost: O(N L²) for ids of L characters, once, when something is wrong already.

use hone::graph::{IdIndex, NodeIds};
use hone::parallel;
use hone::{Error, Result};

/// Characters of an id that are examined.
const LONGEST: usize = 64;

/// Up to three ids close to `wanted`, the closest first.
pub fn suggest(ids: &NodeIds, wanted: &str) -> Vec<String> {
    let wanted: Vec<char> = folded(wanted);
    let most = (wanted.len() / 3).clamp(1, 4);
    let rate = |i: usize| {
        let id = folded(&ids.get(i as u32).to_string());
        let distance = distance(&wanted, &id, most);
        let part = !wanted.is_empty() && contains(&id, &wanted);
        let rank = if distance <= most { distance } else { most + 1 + id.len().saturating_sub(wanted.len()) };
        (distance <= most || part).then_some((rank, i))
    };
    let mut close: Vec<(usize, usize)> = parallel::collect_some(ids.len(), rate);
    close.sort_unstable();
    close.into_iter().take(3).map(|(_, i)| ids.get(i as u32).to_string()).collect()
}

/// The row of an id.
///
/// # Errors
/// When there is no such id; the message names what may have been meant, or what ids there are.
pub fn find_node(ids: &NodeIds, index: &IdIndex<'_>, id: &str) -> Result<u32> {
    index.find(id).ok_or_else(|| {
        let close = suggest(ids, id).iter().map(|close| format!("`{close}`")).collect::<Vec<_>>();
        let hint = match (close.is_empty(), ids.is_empty()) {
            (false, _) => format!("did you mean {}?", close.join(", ")),
            (true, true) => "there are no nodes".into(),
            (true, false) => {
                let (first, last) = (ids.get(0), ids.get(ids.len() as u32 - 1));
                format!("there are {} nodes, from `{first}` to `{last}`", ids.len())
            }
        };
        Error::config("node", format!("no node is called `{id}`; {hint}"))
    })
}

fn folded(text: &str) -> Vec<char> {
    text.chars().flat_map(char::to_lowercase).take(LONGEST).collect()
}

fn contains(text: &[char], part: &[char]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// Edits from `a` to `b`, or more than `most`.
fn distance(a: &[char], b: &[char], most: usize) -> usize {
    if a.len().abs_diff(b.len()) > most {
        return most + 1;
    }
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let same = usize::from(a[i - 1] != b[j - 1]);
            let mut edits = (rows[i - 1][j - 1] + same).min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                edits = edits.min(rows[i - 2][j - 2] + 1);
            }
            row.push(edits);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        let edits = |a: &str, b: &str| distance(&folded(a), &folded(b), 9);
        assert_eq!([edits("ann", "ann"), edits("ann", "Anne"), edits("ab", "ba"), edits("", "xyz")], [0, 1, 1, 3]);
        assert_eq!(edits("kitten", "sitting"), 3);
    }

    #[test]
    fn close_ids_are_suggested_and_far_ones_are_not() {
        let ids = NodeIds::from_texts(&["Alice", "Bob", "Malice Springs", "Carol"]);
        assert_eq!(suggest(&ids, "alicce"), ["Alice"]);
        assert_eq!(suggest(&ids, "lice"), ["Alice", "Malice Springs"]);
        assert!(suggest(&ids, "Zebra").is_empty());
        let error = |ids: &NodeIds, id| find_node(ids, &ids.index(), id).expect_err("unknown").to_string();
        assert_eq!(error(&ids, "bbo"), "node: no node is called `bbo`; did you mean `Bob`?");
        assert!(error(&ids, "Zebra").ends_with("there are 4 nodes, from `Alice` to `Carol`"));
        assert!(error(&NodeIds::Sequential(0), "0").ends_with("there are no nodes"));
        assert_eq!(find_node(&ids, &ids.index(), "Bob").expect("known"), 1);
    }
}
