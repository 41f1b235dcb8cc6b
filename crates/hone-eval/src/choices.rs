//! A summary of what validation chose, over all seeds.

/// Different choices that are named; the rest is counted.
const NAMED: usize = 3;

/// The choices of single seeds as one text, the most frequent first: `q=4 (3 of 5), q=1 (2)`. Empty when there was no
/// choice.
///
/// ```
/// use hone_eval::choices::in_words;
/// assert_eq!(in_words(&["q=4", "q=1", "q=4"]), "q=4 (2 of 3), q=1 (1)");
/// assert_eq!(in_words(&["q=4", "q=4"]), "q=4");
/// assert_eq!(in_words(&["", ""]), "");
/// ```
pub fn in_words<T: AsRef<str>>(chosen: &[T]) -> String {
    let mut names: Vec<&str> = chosen.iter().map(AsRef::as_ref).collect();
    names.sort_unstable();
    let mut counted: Vec<(usize, &str)> = names
        .chunk_by(|a, b| a == b)
        .map(|same| (same.len(), same[0]))
        .collect();
    counted.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    if let [(_, only)] = counted[..] {
        return only.to_string();
    }
    let one = |(at, &(count, name)): (usize, &(usize, &str))| match at {
        0 => format!("{name} ({count} of {})", chosen.len()),
        _ => format!("{name} ({count})"),
    };
    let mut parts: Vec<String> = counted.iter().take(NAMED).enumerate().map(one).collect();
    if counted.len() > NAMED {
        let rest: usize = counted[NAMED..].iter().map(|c| c.0).sum();
        let others = if counted.len() == NAMED + 1 {
            "other"
        } else {
            "others"
        };
        parts.push(format!("{} {others} ({rest})", counted.len() - NAMED));
    }
    parts.join(", ")
}
