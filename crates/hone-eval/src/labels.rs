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
        let all = rows.len();
        let mut found: Vec<(u32, Vec<&str>)> = Vec::new();
        for (node, labels) in &rows {
            found.extend(
                index
                    .find(node)
                    .map(|node| (node, labels.iter().map(Cow::as_ref).collect())),
            );
        }
        if found.is_empty() {
            let remedy = "use the node ids of the edge list, one line per node: node<TAB>label, or node,label in a .csv";
            return Err(Error::input(
                path,
                "none of its nodes is in the graph",
                remedy,
            ));
        }
        let unknown = all - found.len();
        let labels = NodeLabels::new(&found).map_err(|message| {
            Error::input(
                path,
                message,
                "give at least two labels: with one there is nothing to learn",
            )
        })?;
        let given: usize = labels.of.iter().map(Vec::len).sum();
        if labels.labels() == given && given >= ALL_APART {
            let message = format!("its {given} labels are all different");
            return Err(Error::input(
                path,
                message,
                "nothing can be learned from them; is this a file of labels?",
            ));
        }
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
            [only] => {
                return Err(format!(
                    "all labelled nodes of the graph have the label {only}"
                ));
            }
            _ => {}
        }
        let number: SeededMap<&str, u32> = names
            .iter()
            .zip(0..)
            .map(|(n, i)| (n.as_str(), i))
            .collect();
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
        Ok(NodeLabels {
            names,
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

    /// For each label, which of the labelled nodes have it.
    pub fn indicators(&self) -> Vec<Vec<bool>> {
        (0..self.labels() as u32)
            .map(|l| {
                self.of
                    .iter()
                    .map(|of| of.binary_search(&l).is_ok())
                    .collect()
            })
            .collect()
    }
}

/// A node and its labels.
type Row<'a> = (Cow<'a, str>, Vec<Cow<'a, str>>);

/// What stands between a node and its labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Between {
    Tab,
    Blank,
    /// A comma or semicolon, which then separates all fields.
    Mark(char),
}

impl Between {
    /// As the first line with content has it: tabs before all else, commas where blanks cannot be meant.
    fn of(path: &Path, text: &str) -> Between {
        let mut lines = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        let line = lines.next().unwrap_or_default();
        let is_csv = path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
        let first = line.split_whitespace().next().unwrap_or_default();
        let blank = !is_csv && first.len() < line.len() && !first.ends_with(',');
        let mark = [',', ';'].into_iter().find(|&mark| line.contains(mark));
        match mark {
            _ if line.contains('\t') => Between::Tab,
            Some(mark) if !blank => Between::Mark(mark),
            _ => Between::Blank,
        }
    }

    /// Cuts a line. A message if it is not a node and labels.
    fn cut(self, line: &str) -> Result<Row<'_>, &'static str> {
        let fields = match self {
            Between::Mark(mark) => fields(line, mark)
                .ok_or("a quote that is not closed, or text behind one that is")?,
            _ => {
                let (node, labels) = after_node(line).ok_or(NO_LABEL)?;
                let labels = labels.split('\t').next().unwrap_or_default();
                std::iter::once(node)
                    .chain(labels.split(',').map(|label| label.trim().into()))
                    .collect()
            }
        };
        let mut fields = fields.into_iter();
        let node = fields.next().unwrap_or_default();
        let labels: Vec<_> = fields.collect();
        match labels.iter().find(|label| label.is_empty()) {
            Some(_) if labels.len() > 1 => Err("an empty label"),
            _ if labels.join("").is_empty() => Err(NO_LABEL),
            _ => Ok((node, labels)),
        }
    }

    /// Number of columns of a line.
    fn columns(self, line: &str) -> usize {
        match self {
            Between::Tab => line.split('\t').count(),
            Between::Mark(mark) => fields(line, mark).map_or(1, |fields| fields.len()),
            Between::Blank => 2,
        }
    }
}

/// The node, without quotes, and what comes after the tab or blank behind it.
fn after_node(line: &str) -> Option<(Cow<'_, str>, &str)> {
    let Some(quoted) = line.strip_prefix('"') else {
        let (node, labels) = line
            .split_once('\t')
            .or_else(|| line.split_once(char::is_whitespace))?;
        return Some((node.trim().into(), labels.trim_start()));
    };
    let end = closing_quote(quoted)?;
    let labels = quoted[end + 1..].strip_prefix(char::is_whitespace)?;
    Some((
        quoted[..end].replace("\"\"", "\"").into(),
        labels.trim_start(),
    ))
}

const NO_LABEL: &str = "no label after the node";

/// The fields of a line, without blanks and quotes around them; none if a quote is not closed.
fn fields(line: &str, mark: char) -> Option<Vec<Cow<'_, str>>> {
    let (mut found, mut rest) = (Vec::new(), Some(line));
    while let Some(text) = rest {
        let text = text.trim_start();
        let (field, after) = match text.strip_prefix('"') {
            Some(quoted) => {
                let end = closing_quote(quoted)?;
                (
                    Cow::from(quoted[..end].replace("\"\"", "\"")),
                    quoted[end + 1..].trim_start(),
                )
            }
            None => {
                let end = text.find(mark).unwrap_or(text.len());
                (Cow::from(text[..end].trim()), &text[end..])
            }
        };
        found.push(field);
        rest = after.strip_prefix(mark);
        // Text behind a quoted field belongs to no field.
        if rest.is_none() && !after.is_empty() {
            return None;
        }
    }
    Some(found)
}

/// Where text in quotes ends; a doubled quote is one of the text.
fn closing_quote(text: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let quote = from + text[from..].find('"')?;
        if !text[quote + 1..].starts_with('"') {
            return Some(quote);
        }
        from = quote + 2;
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
    let between = Between::of(
        path,
        &String::from_utf8_lossy(&text[..text.len().min(1 << 16)]),
    );
    let (mut rows, mut seen) = (Vec::<Row<'_>>::new(), SeededSet::default());
    // Columns of the labels; others have another meaning.
    let mut of_roles = false;
    for (line, bytes) in (1..).zip(text.split(|&b| b == b'\n')) {
        let wrong =
            |message: &str, remedy: &str| Error::input_at(path, line, bytes, message, remedy);
        if bytes.len() > LONGEST_LINE {
            let message = format!("a line of more than {} MiB", LONGEST_LINE >> 20);
            return Err(wrong(&message, LAYOUT));
        }
        let shown = std::str::from_utf8(bytes)
            .map_err(|_| wrong("not UTF-8", "save the file as UTF-8"))?
            .trim();
        let cut = between.cut(shown);
        if shown.is_empty()
            || shown.starts_with('#') && !cut.as_ref().is_ok_and(|(node, _)| is_node(node))
        {
            continue;
        }
        let row = cut.map_err(|message| wrong(message, LAYOUT))?;
        let is_header = rows.is_empty() && is_id_header(&row.0) && !is_node(&row.0);
        of_roles |= rows.is_empty() && is_of_roles(&row);
        if !of_roles && (is_header || between == Between::Tab) && between.columns(shown) > 2 {
            return Err(wrong(
                "labels are read from one column, and there are more",
                "keep the ids and the labels alone",
            ));
        }
        let again = !seen.insert(row.0.clone());
        if again
            && rows
                .first()
                .is_some_and(|first| is_of_roles(first) && first.0 == row.0)
        {
            rows.remove(0);
        } else if again {
            return Err(wrong(
                "this node was labelled before",
                "give all labels of a node on one line, separated by commas",
            ));
        }
        rows.push(row);
    }
    if rows
        .first()
        .is_some_and(|(node, _)| is_id_header(node) && !is_node(node))
    {
        rows.remove(0);
    }
    if rows.is_empty() {
        return Err(Error::input(path, "no labels in it", LAYOUT));
    }
    Ok(rows)
}

fn label_names(rows: &[(u32, Vec<&str>)]) -> Vec<String> {
    let mut names: Vec<&str> = rows
        .iter()
        .flat_map(|r| r.1.iter().copied())
        .collect::<SeededSet<_>>()
        .into_iter()
        .collect();
    names.sort_by_key(|n| (n.parse::<i64>().map_or((1, 0), |v| (0, v)), *n));
    names.into_iter().map(str::to_string).collect()
}
