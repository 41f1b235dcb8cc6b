//! Misspelt names: what may have been meant, and messages of deserialisers in plain words.
//!
//! Two names are close if few edits lead from one to the other: insertions, deletions, substitutions and swaps of
//! neighbouring letters (optimal string alignment; letters of either case are alike).

/// Characters of a name that are examined.
const LONGEST: usize = 64;

/// A name as names are compared.
pub fn folded(name: &str) -> String {
    name.chars()
        .flat_map(char::to_lowercase)
        .take(LONGEST)
        .collect()
}

/// Edits from `wanted` to `name`, both [`folded`], if these are few enough for a misspelling of `wanted`.
pub fn edits(wanted: &str, name: &str) -> Option<usize> {
    let lengths = [wanted, name].map(|text| text.chars().count());
    let most = (lengths[0] / 3).clamp(1, 4);
    if lengths[0].abs_diff(lengths[1]) > most {
        return None;
    }
    Some(strsim::osa_distance(wanted, name))
        .filter(|&edits| edits <= most && edits < lengths[0].max(1))
}

/// The names closest to `wanted`, all with the same number of edits; none if none is close.
pub fn closest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = folded(wanted);
    let rated: Vec<_> = names
        .into_iter()
        .filter_map(|name| Some((edits(&wanted, &folded(name))?, name)))
        .collect();
    let least = rated.iter().map(|(edits, _)| *edits).min();
    rated
        .into_iter()
        .filter(|(edits, _)| Some(*edits) == least)
        .map(|(_, name)| name)
        .collect()
}

/// Names that are suggested at most: more of them are a list.
const FEW: usize = 3;

/// ``; did you mean `name`?`` for the closest names, and otherwise `; use one of …`.
pub fn hint<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let close = closest(wanted, names.iter().copied());
    match (&close[..], &names[..]) {
        ([_, ..], _) if close.len() <= FEW => format!("; did you mean {}?", either(&close)),
        (_, []) => String::new(),
        (_, [only]) => format!("; use {only}"),
        (_, several) => format!("; use one of {}", several.join(", ")),
    }
}

/// `` `a`, `b` or `c` ``.
pub fn either(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match &quoted[..] {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        all => all.join(""),
    }
}

/// A deserialiser's message in the words of someone who writes settings, not code.
pub fn plain(message: &str) -> String {
    let message = without_place(message.trim());
    for (kind, wrong) in [
        ("unknown field `", "is not a setting here"),
        ("unknown variant `", "is not among its values"),
    ] {
        let Some((wanted, rest)) = message
            .strip_prefix(kind)
            .and_then(|rest| rest.split_once('`'))
        else {
            continue;
        };
        let names = rest.split('`').skip(1).step_by(2);
        return format!("`{wanted}` {wrong}{}", hint(wanted, names));
    }
    let words = [
        ("invalid type: ", "found "),
        ("invalid value: ", "found "),
        (
            "expected internally tagged enum ",
            "expected a group of settings, { method = … }, for a ",
        ),
        ("expected variant identifier", "expected a name"),
        ("expected usize", "expected a whole number"),
        ("expected u64", "expected a whole number"),
        ("expected u32", "expected a whole number"),
        ("expected f64", "expected a number"),
        ("expected a boolean", "expected true or false"),
        ("expected struct ", "expected the group of settings "),
        (
            "unit variant, expected newtype variant",
            "a name alone, expected { name = value }",
        ),
    ];
    words
        .iter()
        .fold(message.to_owned(), |message, (from, to)| {
            message.replace(from, to)
        })
}

/// A message without the place in a text that is not the user's: ` at line 1 column 9`.
fn without_place(message: &str) -> &str {
    let is_place = |place: &str| {
        place
            .split(" column ")
            .all(|part| part.parse::<u32>().is_ok())
    };
    message
        .rsplit_once(" at line ")
        .filter(|(_, place)| is_place(place))
        .map_or(message, |(message, _)| message)
}
