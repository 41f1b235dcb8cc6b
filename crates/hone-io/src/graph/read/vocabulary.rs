//! Words that name the columns of edge lists.

use super::kinds;

/// Names of the two id columns of a table that are recognised without being asked for, in lower case. The
/// first `CERTAIN` are hardly ever ids themselves.
pub(super) const ID_COLUMNS: [(&str, &str); 59] = [
    ("source", "target"),
    ("src", "dst"),
    ("src", "dest"),
    ("src", "tgt"),
    ("source", "destination"),
    ("source", "dest"),
    ("from", "to"),
    ("node1", "node2"),
    ("node_1", "node_2"),
    ("node_a", "node_b"),
    ("id1", "id2"),
    ("id_1", "id_2"),
    ("id_a", "id_b"),
    ("fromnodeid", "tonodeid"),
    ("from_node_id", "to_node_id"),
    ("from_node", "to_node"),
    ("fromnode", "tonode"),
    ("from_id", "to_id"),
    ("fromid", "toid"),
    ("source_id", "target_id"),
    ("sourceid", "targetid"),
    ("source_node", "target_node"),
    ("src_id", "dst_id"),
    ("srcid", "dstid"),
    ("user_id", "item_id"),
    ("userid", "itemid"),
    ("user_id", "friend_id"),
    ("follower_id", "followee_id"),
    ("follower", "followee"),
    ("follower", "followed"),
    ("citing", "cited"),
    ("citing_id", "cited_id"),
    ("parent_id", "child_id"),
    ("user_id", "movie_id"),
    ("userid", "movieid"),
    ("vertex1", "vertex2"),
    ("protein1", "protein2"),
    ("sender", "receiver"),
    ("sender", "recipient"),
    ("caller", "callee"),
    ("parent", "child"),
    ("ancestor", "descendant"),
    ("user", "item"),
    ("user", "friend"),
    ("user", "follower"),
    ("user", "movie"),
    ("head", "tail"),
    ("subject", "object"),
    ("origin", "destination"),
    ("start", "end"),
    ("left", "right"),
    ("buyer", "seller"),
    ("payer", "payee"),
    ("predator", "prey"),
    ("tweet", "tag"),
    ("u", "v"),
    ("i", "j"),
    ("s", "t"),
    ("x", "y"),
];
/// How many of [`ID_COLUMNS`] leave no doubt.
pub(super) const CERTAIN: usize = 40;

/// Names of the weight column of a table, in lower case, the most usual first.
pub(super) const WEIGHT_COLUMNS: [&str; 12] = [
    "weight",
    "weights",
    "w",
    "value",
    "edge_weight",
    "edgeweight",
    "wt",
    "strength",
    "count",
    "score",
    "rating",
    "similarity",
];

/// Words in the names of columns of times.
const TIMES: &str = "\
time timestamp timestamps date dates datetime year years month week quarter decade day hour minute ts t when since \
until epoch unixtime created updated";

/// Words in the names of other columns of numbers that are no weights.
const NO_WEIGHTS: &str = "\
id ids idx index key uid guid uuid eid pid type kind label class category cluster community layer code zip postcode \
status version row begin start end where lat lon lng latitude longitude phone";

/// Names of columns that number the rows of a table.
const INDICES: &str =
    "id idx index row rowid row_id rownames row_names edge edge_id edgeid eid no nr number # line";

/// What nodes are, what they are to each other, and what else tables have columns for.
const NOUNS: &str = "\
account actor actress address agent airline airport album alias alter ancestor animal answer app article artist \
asset asin attendee attribute author bank band begin behavior board body book borrower boss brand building buyer \
callee caller case category celebrity cell channel character chemical child citation cited cites citing city class \
client cluster coauthor collaborator collection comment commit committee community company component compound \
concept conference contact container contract cookie country course creator credit customer date day degree \
department dependency dependent depends descendant dest destination developer device direction director disease \
distance doc document domain donor driver drug dst duration edge ego email employee employer enemy end entity episode \
event exporter feature field file film firm followed followee follower following forum friend from function game \
gender gene genre group guest hashtag head host hotel husband hyperlink hypernym hyponym importer import individual \
influencer infected infector ingredient inhibitor input instance institution interaction interactor invoice issue item \
job journal keyword kind label language layer left lender length level library ligand likes link list location \
machine manager margin meeting member mention mentioned mentor mesh message method metabolite module molecule month \
movie musician neighbor neighbour network object officer offset order organisation organization organism origin output \
owner package page paper parent partner passenger patent patient payee payer peer person pid place player point politician \
post postcode predator predicate predecessor presenter prey probability product professor project protein publication \
publisher query question quote rank rating reaction reader reactant receiver recipient recipe recommendation record \
referee reference referrer region relation relationship relative replier reply repo repository requester \
researcher residue resource respondent responder restaurant retweet retweeted retweeter review reviewer right role room \
route router row sample scene school score seller sender sentence sequence server session shareholder ship shop sibling \
sign similarity singer site song source species speaker spouse src sponsor start state station status step stop store \
strength street student style subject subreddit substance substrate successor superior supervisor supplier symbol symptom tag \
tail target taxon teacher team term text tgt thread time timestamp title to token topic town track transaction trust \
trustee trustor truster tweet tweeter type unit university user utc val value variable vendor venue vertex vertices \
video viewer village visitor voter votee votes ward website weight weights wife winner loser word work worker writer \
year zip zone first second one two alpha beta arc dyad tie";

/// Words that say what kind of name follows or precedes: they make no name by themselves less known.
const FILLERS: &str = "id ids name names node nodes key no num number nr idx index code uid guid uuid uri url nodeid of the";

/// Whether a column has no name, as the index of a table that pandas or R wrote.
pub(super) fn is_unnamed(name: &str) -> bool {
    let lower = name.trim().to_lowercase();
    lower.is_empty() || lower.starts_with("unnamed: ") || lower.starts_with("__index_level_")
}

/// Whether a name is one of columns that number the rows.
pub(super) fn is_index(name: &str) -> bool {
    listed(INDICES, &name.trim().to_lowercase())
}

/// Whether a name is one of times: `year`, `created_at`, `startTime`.
pub(super) fn is_time(name: &str) -> bool {
    words(name)
        .iter()
        .any(|word| is_compound(word, TIMES, &["time", "date", "year"]))
}

/// Whether a name is one of numbers that are no weights: ids, times, kinds, places.
pub(super) fn is_no_weight(name: &str) -> bool {
    let other = |word: &String| is_compound(word, NO_WEIGHTS, &["id", "ids"]);
    is_unnamed(name) || is_time(name) || words(name).iter().any(other)
}

/// Whether a name is one of weights: `weight`, `edgeWeight`, `message_count`.
pub(super) fn is_weight(name: &str) -> bool {
    let known = |word: &str| {
        WEIGHT_COLUMNS.contains(&word)
            || word
                .strip_suffix('s')
                .is_some_and(|one| WEIGHT_COLUMNS.contains(&one))
    };
    known(&name.trim().to_lowercase())
        || !is_no_weight(name) && words(name).iter().any(|word| known(word))
}

/// Whether a word is in a list, or ends with one of `ends` after a word that tables have columns for: `edgeid`.
fn is_compound(word: &str, list: &str, ends: &[&str]) -> bool {
    let mut stems = ends.iter().filter_map(|end| word.strip_suffix(end));
    listed(list, word) || stems.any(|stem| listed(NOUNS, stem))
}

fn listed(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

/// Whether a name is one that tables give to columns: `user`, `UserID`, `from_node_id`, `Artist 1`.
pub(super) fn is_known(name: &str) -> bool {
    let words = words(name);
    !words.is_empty() && words.iter().all(|word| is_word(word))
}

/// Whether two ids are words that name two columns.
pub(super) fn are_names(u: &str, v: &str) -> bool {
    let text = |id: &str| id.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let is_pair = || {
        ID_COLUMNS
            .iter()
            .any(|(a, b)| a.eq_ignore_ascii_case(u) && b.eq_ignore_ascii_case(v))
    };
    text(u) && text(v) && (is_pair() || is_known(u) && is_known(v))
}

fn is_word(word: &str) -> bool {
    let noun = |word: &str| {
        listed(NOUNS, word) || word.strip_suffix('s').is_some_and(|one| listed(NOUNS, one))
    };
    let stem = ["ids", "id", "name", "node", "no"]
        .iter()
        .filter_map(|suffix| word.strip_suffix(suffix))
        .any(noun);
    noun(word) || listed(FILLERS, word) || stem || kinds::of(word).is_some()
}

/// The words of a name in lower case, numbers left out: `fromNodeID2` has `from`, `node` and `id`.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut inside, mut lower) = (false, false);
    for c in name.chars() {
        let begins = !inside || (c.is_uppercase() && lower);
        inside = c.is_alphabetic();
        lower = c.is_lowercase();
        match words.last_mut() {
            Some(word) if inside && !begins => word.extend(c.to_lowercase()),
            _ if inside => words.push(c.to_lowercase().collect()),
            _ => {}
        }
    }
    // `node_a` and `node_b`: a letter that tells two columns apart.
    if words.len() > 1 {
        words.retain(|word| word.chars().count() > 1);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_columns_and_names_of_people() {
        for name in [
            "user",
            "UserID",
            "userid",
            "from_node_id",
            "Artist1",
            "movie id",
            "node_a",
            "id",
            "Tweets",
            "targetName",
        ] {
            assert!(is_known(name), "{name}");
        }
        for name in ["ann", "Bob Ray", "Rome", "x17", "", "42", "user-ann", "t2"] {
            assert!(!is_known(name), "{name}");
        }
    }

    #[test]
    fn weights_and_other_numbers() {
        for name in [
            "weight",
            "Weights",
            "w",
            "edgeWeight",
            "message_count",
            "avg rating",
            "trade_weight",
            "count",
        ] {
            assert!(is_weight(name) && !is_no_weight(name), "{name}");
        }
        for name in [
            "",
            "id",
            "count_id",
            "edgeid",
            "eid",
            "year",
            "Year",
            "created_at",
            "startTime",
            "timestamp",
            "t",
            "type",
            "Unnamed: 0",
            "__index_level_0__",
            "date_of_birth",
            "user_id",
            "userid",
            "rating_id",
        ] {
            assert!(is_no_weight(name) && !is_weight(name), "{name}");
        }
        for name in ["amount", "x", "days", "distance", "messages", "grid"] {
            assert!(!is_weight(name) && !is_no_weight(name), "{name}");
        }
        assert!(
            is_time("year") && is_time("startTime") && !is_time("user_id") && !is_time("sometimes")
        );
    }

    #[test]
    fn certain_names_come_first() {
        assert_eq!(ID_COLUMNS[CERTAIN], ("parent", "child"));
        let lower = |name: &str| name.to_lowercase() == name;
        assert!(
            ID_COLUMNS
                .iter()
                .all(|(u, v)| lower(u) && lower(v) && u != v)
        );
    }
}
