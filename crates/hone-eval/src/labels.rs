//! Node labels: `node<TAB>label[,label…]`, one node per line.
//!
//! Blank lines and lines that begin with `#` are skipped, unless they label a node of the graph (`#rust<TAB>x`).
//! Ids may be quoted as in other files. A node may come once. Labels are any
//! text; they are numbered in sorted order (numbers by value), so that tables do not depend on the
//! order of the file. Labelled nodes that the graph does not know are counted, not dropped
//! silently.

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use hone::graph::Graph;
use hone::memory::Allowance;
use hone::{Error, Result};
use rustc_hash::{FxHashMap, FxHashSet};

/// The labels of the nodes of one graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeLabels {
    /// Name of each label.
    pub names: Vec<String>,
    /// The labelled nodes, ascending.
    pub nodes: Vec<u32>,
    /// For each labelled node its labels, ascending, at least one.
    pub of: Vec<Vec<u32>>,
    /// Labelled nodes of the file that the graph does not have.
    pub unknown: usize,
}

impl NodeLabels {
    /// Reads a label file and looks its nodes up in `graph`.
    pub fn read(path: impl AsRef<Path>, graph: &Graph) -> Result<Self> {
        Self::read_at(path.as_ref(), graph)
    }

    fn read_at(path: &Path, graph: &Graph) -> Result<Self> {
        let size = fs::metadata(path).map_err(|e| Error::io(path, e))?.len();
        // Two bytes can be a label.
        Allowance::new(None).check(path, size.saturating_mul(32))?;
        let text = fs::read(path).map_err(|e| Error::io(path, e))?;
        let index: FxHashMap<String, u32> =
            (0..graph.nodes() as u32).map(|i| (graph.ids().get(i).to_string(), i)).collect();
        let rows = parse(path, &text, |node| index.contains_key(node))?;
        let all = rows.len();
        let rows: Vec<Row<'_>> = rows.into_iter().filter(|(node, _)| index.contains_key(&**node)).collect();
        if rows.is_empty() {
            return Err(Error::input(path, "none of its nodes is in the graph", "use the node ids of the edge list"));
        }
        let found: Vec<(u32, Vec<&str>)> = rows.into_iter().map(|(node, labels)| (index[&*node], labels)).collect();
        let unknown = all - found.len();
        let labels = NodeLabels::new(&found).map_err(|message| {
            Error::input(path, message, "give at least two labels: with one there is nothing to learn")
        })?;
        Ok(NodeLabels { unknown, ..labels })
    }

    /// The labels of nodes, each listed once with at least one label. An error in words where they are not, or do not differ.
    pub fn new(rows: &[(u32, Vec<&str>)]) -> Result<Self, String> {
        if let Some((node, _)) = rows.iter().find(|(_, labels)| labels.is_empty()) {
            return Err(format!("row {node} has an empty list of labels"));
        }
        let names = label_names(rows);
        match &names[..] {
            [] => return Err("no node has a label".into()),
            [only] => return Err(format!("all labelled nodes of the graph have the label {only}")),
            _ => {}
        }
        let number: FxHashMap<&str, u32> = names.iter().zip(0..).map(|(n, i)| (n.as_str(), i)).collect();
        let mut found: Vec<(u32, Vec<u32>)> = Vec::new();
        for (node, labels) in rows {
            let mut labels: Vec<u32> = labels.iter().map(|l| number[l]).collect();
            labels.sort_unstable();
            labels.dedup();
            found.push((*node, labels));
        }
        found.sort();
        if let Some(twice) = found.windows(2).find(|two| two[0].0 == two[1].0) {
            return Err(format!("row {} is labelled twice", twice[0].0));
        }
        let (nodes, of) = found.into_iter().unzip();
        Ok(NodeLabels { names, nodes, of, unknown: 0 })
    }

    /// Number of distinct labels.
    pub fn labels(&self) -> usize {
        self.names.len()
    }

    /// Whether some node has several labels.
    pub fn is_multi(&self) -> bool {
        self.of.iter().any(|l| l.len() > 1)
    }

    /// For each label, which of the labelled nodes have it.
    pub fn indicators(&self) -> Vec<Vec<bool>> {
        (0..self.labels() as u32).map(|l| self.of.iter().map(|of| of.binary_search(&l).is_ok()).collect()).collect()
    }
}

type Row<'a> = (Cow<'a, str>, Vec<&'a str>);

/// Cuts a line into the node and its labels; none when there are no labels.
fn cut(line: &str) -> Option<(Cow<'_, str>, &str)> {
    let Some(quoted) = line.strip_prefix('"') else {
        let (node, labels) = line.split_once('\t').or_else(|| line.split_once(char::is_whitespace))?;
        return Some((node.trim().into(), labels));
    };
    let mut from = 0;
    let end = loop {
        let quote = from + quoted[from..].find('"')?;
        if !quoted[quote + 1..].starts_with('"') {
            break quote;
        }
        from = quote + 2;
    };
    let (node, labels) = (&quoted[..end], &quoted[end + 1..]);
    let apart = labels.starts_with(char::is_whitespace) && !labels.trim().is_empty();
    apart.then(|| (node.replace("\"\"", "\"").into(), labels.trim_start()))
}

/// The first line of a file of roles, as `hone roles` writes it. It labels a node where the graph has one of that name and no
/// other line labels it.
const HEADER: (&str, &str) = ("id", "role");

fn is_header((node, labels): &Row<'_>) -> bool {
    node == HEADER.0 && labels[..] == [HEADER.1]
}

fn parse<'a>(path: &Path, text: &'a [u8], is_node: impl Fn(&str) -> bool) -> Result<Vec<Row<'a>>> {
    let mut rows = Vec::new();
    let mut seen = FxHashSet::default();
    for (line, bytes) in (1..).zip(text.split(|&b| b == b'\n')) {
        let fail = |message: &str, remedy: &str| Err(Error::input_at(path, line, bytes, message, remedy));
        let Ok(shown) = std::str::from_utf8(bytes) else {
            return fail("not UTF-8", "save the file as UTF-8");
        };
        let shown = shown.trim();
        let cut = cut(shown);
        if shown.is_empty() || shown.starts_with('#') && !cut.as_ref().is_some_and(|(node, _)| is_node(node)) {
            continue;
        }
        let Some((node, labels)) = cut else {
            return fail("no label after the node", "write one line per node: node<TAB>label[,label…]");
        };
        let labels: Vec<&str> = labels.split(',').map(str::trim).collect();
        if labels.iter().any(|l| l.is_empty()) {
            return fail("an empty label", "write one line per node: node<TAB>label[,label…]");
        }
        let again = !seen.insert(node.clone());
        if again && rows.first().is_some_and(is_header) && node == HEADER.0 {
            rows.remove(0);
        } else if again {
            return fail("this node was labelled before", "give all labels of a node on one line, separated by commas");
        }
        rows.push((node, labels));
    }
    if rows.first().is_some_and(is_header) && !is_node(HEADER.0) {
        rows.remove(0);
    }
    if rows.is_empty() {
        return Err(Error::input(path, "no labels in it", "write one line per node: node<TAB>label[,label…]"));
    }
    Ok(rows)
}

fn label_names(rows: &[(u32, Vec<&str>)]) -> Vec<String> {
    let mut names: Vec<&str> =
        rows.iter().flat_map(|r| r.1.iter().copied()).collect::<FxHashSet<_>>().into_iter().collect();
    names.sort_by_key(|n| (n.parse::<i64>().map_or((1, 0), |v| (0, v)), *n));
    names.into_iter().map(str::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hone::graph::GraphBuilder;

    fn read(text: &str) -> Result<NodeLabels> {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("x.labels");
        fs::write(&path, text).expect("written");
        NodeLabels::read(&path, &GraphBuilder::undirected(4).edges(vec![(0, 1)]).build().expect("in range"))
    }

    #[test]
    fn labels_are_sorted_and_matched() {
        let labels = read("# head\n3\t10,2\r\n\n0 2\n9\tx\n").expect("well formed");
        assert_eq!(labels.names, ["2", "10"], "x is a label of a node that is not there");
        assert_eq!(
            (labels.nodes.clone(), labels.of.clone(), labels.unknown),
            (vec![0, 3], vec![vec![0], vec![0, 1]], 1)
        );
        assert!(labels.is_multi());
        assert_eq!(labels.indicators(), [vec![true, true], vec![false, true]]);
    }

    #[test]
    fn ids_may_be_quoted_or_begin_like_comments() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("x.labels");
        fs::write(&path, "# head\n#a\tx\n# a note\n\"b \"\"c\"\"\"\ty\n").expect("written");
        let ids = hone::graph::NodeIds::from_texts(&["#a", "b \"c\""]);
        let graph = GraphBuilder::undirected(2).edges(vec![(0, 1)]).ids(ids).build().expect("in range");
        let labels = NodeLabels::read(&path, &graph).expect("well formed");
        assert_eq!((labels.nodes, labels.of, labels.unknown), (vec![0, 1], vec![vec![0], vec![1]], 0));
    }

    #[test]
    fn errors_name_the_line() {
        for (text, part) in [
            ("1\ta\n2\n", "line 2: no label"),
            ("1\ta,,b\n", "line 1: an empty label"),
            ("1\ta\n1\tb\n", "line 2: this node was labelled before"),
            ("\n#\n", "no labels in it"),
            ("77\ta\n", "none of its nodes"),
            ("1\ta\n2\ta\n77\tb\n", "have the label a"),
        ] {
            let error = read(text).expect_err("malformed").to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
