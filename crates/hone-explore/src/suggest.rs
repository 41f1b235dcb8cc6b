//! Suggestions for an unknown id: the closest known ids.
//!
//! Closeness is the number of characters to insert, delete, replace or swap with their neighbour, ignoring case
//! (Damerau–Levenshtein, optimal string alignment); an id that contains the wanted one, or begins like it, is close
//! too. Cost: O(N L²) for ids of L characters, once, when something is wrong already.

use hone::graph::{IdIndex, NodeIds};
use hone::parallel;
use hone::spelling::{edits, folded};
use hone::{Error, Result};

/// Up to three ids close to `wanted`, the closest first.
pub fn suggest(ids: &NodeIds, wanted: &str) -> Vec<String> {
    let wanted = folded(wanted);
    let rate = |i: usize| {
        let id = folded(&ids.get(i as u32).to_string());
        let part = !wanted.is_empty() && id.contains(&wanted);
        // Misspellings, of at most four edits, before ids that it is a part of.
        let rank = edits(&wanted, &id).or_else(|| part.then(|| 5 + id.len() - wanted.len()));
        rank.map(|rank| (rank, i))
    };
    let mut close: Vec<(usize, usize)> = parallel::collect_some(ids.len(), rate);
    close.sort_unstable();
    close
        .into_iter()
        .take(3)
        .map(|(_, i)| ids.get(i as u32).to_string())
        .collect()
}

/// The row of an id.
///
/// # Errors
/// When there is no such id; the message names what may have been meant, or what ids there are.
pub fn find_node(ids: &NodeIds, index: &IdIndex<'_>, id: &str) -> Result<u32> {
    index.find(id).ok_or_else(|| {
        let close = suggest(ids, id)
            .iter()
            .map(|close| format!("`{close}`"))
            .collect::<Vec<_>>();
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
