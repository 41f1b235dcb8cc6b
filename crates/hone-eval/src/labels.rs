//! Node labels: `node<TAB>label[,label…]`, one node per line, or `node,label[,label…]`, where a label may be in quotes.
//!
//! Blank lines and lines that begin with `#` are skipped, unless they label a node of the graph (`#rust<TAB>x`).
//! Ids may be quoted as in other files. A node may come once. Labels are any
//! text; they are numbered in sorted order (numbers by value), so that tables do not depend on the
//! order of the file. Labelled nodes that the graph does not know are counted, not dropped
//! silently.

use std::borrow::Cow;
use std::path::Path;

use hone::graph::{Graph, LONGEST_LINE, check_lines, is_id_header};
use hone::hashing::{SeededMap, SeededSet};
use hone::memory::Allowance;
use hone::{Error, Result};

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

/// From this many on, labels that all differ are a mistake.
const ALL_APART: usize = 10;

impl NodeLabels {
    /// Reads a label file and looks its nodes up in `graph`, if there is memory free for it.
    pub fn read(path: impl AsRef<Path>, graph: &Graph) -> Result<Self> {
        Self::read_within(path, graph, Allowance::new(None))
    }

    /// The same; what would take more memory than allowed is refused.
    pub fn read_within(
        path: impl AsRef<Path>,
        graph: &Graph,
        allowance: Allowance,
    ) -> Result<Self> {
        let path = path.as_ref();
        // Two bytes can be a label.
        let text = allowance.read(path, 32, |text, seen| check_lines(path, text, seen))?;
        let index = graph.ids().index();
        let rows = parse(path, &text, |node| index.find(node).is_some())?;
        let mut found: Vec<(u32, Vec<&str>)> = Vec::new();
        for (node, labels) in &rows {
            if let Some(node) = index.find(node) {
                found.push((node, labels.iter().map(Cow::as_ref).collect()));
            }
        }
        let refuse = |message: String, remedy| Err(Error::input(path, message, remedy));
        if found.is_empty() {
            let remedy = "use the node ids of the edge list, one line per node: node<TAB>label, or node,label in a .csv";
            return refuse("none of its nodes is in the graph".into(), remedy);
        }
        let labels = match NodeLabels::new(&found) {
            Ok(labels) => labels,
            Err(message) => {
                let remedy = "give at least two labels: with one there is nothing to learn";
                return refuse(message, remedy);
            }
        };
        let given: usize = labels.of.iter().map(Vec::len).sum();
        if labels.labels() == given && given >= ALL_APART {
            let remedy = "nothing can be learned from them; is this a file of labels?";
            return refuse(format!("its {given} labels are all different"), remedy);
        }
        let unknown = rows.len() - found.len();
        Ok(NodeLabels { unknown, ..labels })
    }

    /// The labels of nodes, each listed once with at least one label. An error in words where they are not, or do not differ.
    pub fn new(rows: &[(u32, Vec<&str>)]) -> Result<Self, String> {
        if let Some((node, _)) = rows.iter().find(|(_, labels)| labels.is_empty()) {
            return Err(format!("row {node} has an empty list of labels"));
        }
        let labels = rows.iter().flat_map(|row| row.1.iter().copied());
        let mut names: Vec<&str> = labels.collect::<SeededSet<_>>().into_iter().collect();
        names.sort_by_key(|n| (n.parse::<i64>().map_or((1, 0), |v| (0, v)), *n));
        match names[..] {
            [] => return Err("no node has a label".into()),
            [only] => {
                let message = format!("all labelled nodes of the graph have the label {only}");
                return Err(message);
            }
            _ => {}
        }
        let number: SeededMap<&str, u32> = names.iter().copied().zip(0..).collect();
        let numbered = |(node, labels): &(u32, Vec<&str>)| {
            let mut labels: Vec<u32> = labels.iter().map(|l| number[l]).collect();
            labels.sort_unstable();
            labels.dedup();
            (*node, labels)
        };
        let mut found: Vec<(u32, Vec<u32>)> = rows.iter().map(numbered).collect();
        found.sort();
        if let Some(twice) = found.windows(2).find(|two| two[0].0 == two[1].0) {
            return Err(format!("row {} is labelled twice", twice[0].0));
        }
        let (nodes, of) = found.into_iter().unzip();
        Ok(NodeLabels {
            names: names.into_iter().map(str::to_owned).collect(),
            nodes,
            of,
            unknown: 0,
        })
    }

    /// Number of distinct labels.
    pub fn labels(&self) -> usize {
        self.names.len()
    }

    /// Whether some node has several labels.
    pub fn is_multi(&self) -> bool {
        self.of.iter().any(|l| l.len() > 1)
    }
}

/// A node and its labels.
type Row<'a> = (Cow<'a, str>, Vec<Cow<'a, str>>);

/// What stands between a node and its labels, as the first line with content has it: tabs before all else, commas or semicolons,
/// which then separate all fields, where blanks cannot be meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Between {
    Tab,
    Blank,
    Mark(char),
}

impl Between {
    fn of(path: &Path, text: &str) -> Between {
        let mut lines = text.lines().map(str::trim);
        let line = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
        let line = line.unwrap_or_default();
        let is_csv = path
            .extension()
            .is_some_and(|it| it.eq_ignore_ascii_case("csv"));
        let first = line.split_whitespace().next().unwrap_or_default();
        let blank = !is_csv && first.len() < line.len() && !first.ends_with(',');
        match [',', ';'].into_iter().find(|&mark| line.contains(mark)) {
            _ if line.contains('\t') => Between::Tab,
            Some(mark) if !blank => Between::Mark(mark),
            _ => Between::Blank,
        }
    }

    /// Cuts a line. A message if it is not a node and labels.
    fn cut(self, line: &str) -> Result<Row<'_>, &'static str> {
        let (node, labels) = match self {
            Between::Mark(mark) => {
                let mut fields = fields(line, mark)
                    .ok_or("a quote that is not closed, or text behind one that is")?;
                (fields.remove(0), fields)
            }
            _ => {
                let (node, labels) = after_node(line).ok_or(NO_LABEL)?;
                let labels = labels.trim_start().split('\t').next().unwrap_or_default();
                (
                    node,
                    labels.split(',').map(|label| label.trim().into()).collect(),
                )
            }
        };
        match labels.iter().find(|label| label.is_empty()) {
            Some(_) if labels.len() > 1 => Err("an empty label"),
            _ if labels.concat().is_empty() => Err(NO_LABEL),
            _ => Ok((node, labels)),
        }
    }
}

const NO_LABEL: &str = "no label after the node";

/// The node, without quotes, and what comes after the tab or blank behind it.
fn after_node(line: &str) -> Option<(Cow<'_, str>, &str)> {
    if line.starts_with('"') {
        let (node, rest) = quoted(line)?;
        return Some((node, rest.strip_prefix(char::is_whitespace)?));
    }
    let cut = line.split_once('\t');
    let (node, labels) = cut.or_else(|| line.split_once(char::is_whitespace))?;
    Some((node.trim().into(), labels))
}

/// The fields of a line, at least one, without blanks and quotes around them; none if a quote is not closed, or text comes after one
/// that is.
fn fields(line: &str, mark: char) -> Option<Vec<Cow<'_, str>>> {
    let (mut found, mut rest) = (Vec::new(), Some(line));
    while let Some(text) = rest {
        let text = text.trim_start();
        let (field, after) = match text.starts_with('"') {
            true => quoted(text)?,
            false => {
                let (field, after) = text.split_at(text.find(mark).unwrap_or(text.len()));
                (field.trim().into(), after)
            }
        };
        found.push(field);
        let after = after.trim_start();
        rest = after.strip_prefix(mark);
        if rest.is_none() && !after.is_empty() {
            return None;
        }
    }
    Some(found)
}

/// The text in quotes with which another begins, and what comes after them; none if they are not closed. A doubled quote is one of
/// the text.
fn quoted(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let mut end = 1;
    loop {
        end += text[end..].find('"')?;
        if !text[end + 1..].starts_with('"') {
            return Some((text[1..end].replace("\"\"", "\"").into(), &text[end + 1..]));
        }
        end += 2;
    }
}

/// The first line of a file of roles, as `hone roles` writes it. Columns after these are memberships.
const ROLES: [&str; 2] = ["id", "role"];

fn is_of_roles((node, labels): &Row<'_>) -> bool {
    node == ROLES[0] && labels.first().is_some_and(|label| label == ROLES[1])
}

const LAYOUT: &str = "write one line per node: node<TAB>label[,label…], or node,label[,label…] in a file called .csv";

fn parse<'a>(path: &Path, text: &'a [u8], is_node: impl Fn(&str) -> bool) -> Result<Vec<Row<'a>>> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let head = String::from_utf8_lossy(&text[..text.len().min(1 << 16)]);
    let between = Between::of(path, &head);
    let is_header = |row: &Row<'_>| is_id_header(&row.0) && !is_node(&row.0);
    let (mut rows, mut seen) = (Vec::<Row<'_>>::new(), SeededSet::default());
    // Columns of the labels; others have another meaning.
    let mut of_roles = false;
    for (line, bytes) in (1..).zip(text.split(|&b| b == b'\n')) {
        let refuse =
            |message: &str, remedy| Err(Error::input_at(path, line, bytes, message, remedy));
        if bytes.len() > LONGEST_LINE {
            let message = format!("a line of more than {} MiB", LONGEST_LINE >> 20);
            return refuse(&message, LAYOUT);
        }
        let Ok(shown) = std::str::from_utf8(bytes).map(str::trim) else {
            return refuse("not UTF-8", "save the file as UTF-8");
        };
        let row = match between.cut(shown) {
            _ if shown.is_empty() => continue,
            Ok((node, _)) if shown.starts_with('#') && !is_node(&node) => continue,
            Err(_) if shown.starts_with('#') => continue,
            Err(message) => return refuse(message, LAYOUT),
            Ok(row) => row,
        };
        of_roles |= rows.is_empty() && is_of_roles(&row);
        let columns = match between {
            Between::Tab => shown.split('\t').count(),
            Between::Mark(_) if rows.is_empty() && is_header(&row) => 1 + row.1.len(),
            _ => 2,
        };
        if columns > 2 && !of_roles {
            let message = "labels are read from one column, and there are more";
            return refuse(message, "keep the ids and the labels alone");
        }
        if !seen.insert(row.0.clone()) {
            let first = rows.first();
            if !first.is_some_and(|first| is_of_roles(first) && first.0 == row.0) {
                let remedy = "give all labels of a node on one line, separated by commas";
                return refuse("this node was labelled before", remedy);
            }
            rows.remove(0);
        }
        rows.push(row);
    }
    // A header, by whatever name: it is above nodes, and is none.
    if let [first, below @ ..] = &rows[..]
        && !is_node(&first.0)
        && below.iter().any(|row| is_node(&row.0))
    {
        rows.remove(0);
    }
    if rows.is_empty() {
        return Err(Error::input(path, "no labels in it", LAYOUT));
    }
    Ok(rows)
}
