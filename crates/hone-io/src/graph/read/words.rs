//! The text of notes about reading: [`ReadNote::show`], and one function per note.
//!
//! Each says what was assumed and which option changes it; the front end decides how an option is written.

use std::fmt;

use super::reading::ReadNote;

/// Writes an option of [`super::ReadOptions`] and, where it is not empty, the value to give it.
type Write<'a> = &'a dyn Fn(&str, &str) -> String;

impl ReadNote {
    /// Whether the graph may be another than was meant, so that it is a warning.
    pub fn is_warning(&self) -> bool {
        matches!(self, ReadNote::MaybeMatrix { .. } | ReadNote::Merged { .. })
    }

    /// The note as text; `option` writes an option of [`super::ReadOptions`] and, where it is not empty, the
    /// value to give it (`yes`, `no`, `none` or text).
    pub fn show(&self, option: &dyn Fn(&str, &str) -> String) -> String {
        let file = self.file();
        match self {
            ReadNote::Header { line, .. } => header(file, line, option),
            ReadNote::NoHeader { line, .. } => no_header(file, line, option),
            ReadNote::Headers { lines, line, .. } => headers(file, *lines, line, option),
            ReadNote::InnerHeader { line, .. } => inner_header(file, line),
            ReadNote::Index { column, used, .. } => index(file, *column, *used, option),
            ReadNote::Delimiter {
                line, cut, rival, ..
            } => delimiter(file, line, cut, rival, option),
            ReadNote::DecimalIds {
                column, example, ..
            } => decimal_ids(file, *column, example, option),
            ReadNote::MissingIds { id, edges, .. } => missing_ids(file, id, *edges),
            ReadNote::Merged { names, ids, .. } => merged(file, names, *ids, option),
            ReadNote::Columns {
                used, names, count, ..
            } => columns(file, used, names, *count, option),
            ReadNote::Weights { column, name, .. } => weights(file, *column, name, option),
            ReadNote::CommentsRead { lines, example, .. } => {
                comments_read(file, *lines, example, option)
            }
            ReadNote::CommentsSkipped { lines, example, .. } => {
                comments_skipped(file, *lines, example, option)
            }
            ReadNote::MaybeComment { line, mark, .. } => maybe_comment(file, line, mark, option),
            ReadNote::MaybeSizes { line, lines, .. } => maybe_sizes(file, line, *lines, option),
            ReadNote::MaybeMatrix { size, .. } => maybe_matrix(file, *size),
            ReadNote::Trailing { line, .. } => trailing(file, line),
            ReadNote::ListHeader { line, .. } => list_header(file, line),
            ReadNote::ListNoHeader { line, .. } => list_no_header(file, line),
            ReadNote::ListComment { line, .. } => list_comment(file, line),
            ReadNote::ListTable { column, .. } => {
                format!("{file} is read as a table whose column `{column}` has the ids")
            }
        }
    }
}

impl fmt::Display for ReadNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let option = |name: &str, value: &str| {
            if value.is_empty() {
                name.into()
            } else {
                format!("{name} = {value}")
            }
        };
        f.write_str(&self.show(&option))
    }
}

// --- the first line, and lines like it

fn header(file: &str, line: &str, option: Write) -> String {
    let no = option("header", "no");
    format!("the first line of {file}, `{line}`, is read as a header; {no} reads it as an edge")
}

fn no_header(file: &str, line: &str, option: Write) -> String {
    format!(
        "the first line of {file}, `{line}`, is read as an edge, though neither id occurs again in the lines examined; {} \
         reads it as a header",
        option("header", "yes")
    )
}

fn headers(file: &str, lines: u64, line: &str, option: Write) -> String {
    let no = option("header", "no");
    let (left, them) = match lines {
        1 => (
            format!("1 line of {file} is a further header, `{line}`, and is"),
            "it",
        ),
        _ => (
            format!("{lines} lines of {file} are further headers, such as `{line}`, and are"),
            "them",
        ),
    };
    format!("{left} left out; {no} reads {them}, and the first line, as edges")
}

fn inner_header(file: &str, line: &str) -> String {
    format!(
        "`{line}` is read as an edge of {file}, though these are names of columns; remove that line if it is the header of \
         a further file"
    )
}

fn index(file: &str, column: usize, used: [usize; 2], option: Write) -> String {
    let [source, target] = used.map(|position| position.to_string());
    format!(
        "column {} of {file} numbers the lines, as an index does, and is read as ids; {} and {} read columns {} and {}",
        column + 1,
        option("source", &source),
        option("target", &target),
        used[0] + 1,
        used[1] + 1
    )
}

fn maybe_comment(file: &str, line: &str, mark: &str, option: Write) -> String {
    format!(
        "the first line of {file}, `{line}`, is read as an edge, though it looks like a comment; {} skips lines that begin \
         so",
        option("comment", mark)
    )
}

fn maybe_sizes(file: &str, line: &str, lines: u64, option: Write) -> String {
    format!(
        "the first line of {file}, `{line}`, is read as an edge, though {lines} lines follow it: if it holds the numbers of \
         nodes and edges, {} leaves it out",
        option("header", "yes")
    )
}

// --- columns

fn delimiter(file: &str, line: &str, cut: &str, rival: &str, option: Write) -> String {
    let other = option("delimiter", rival);
    format!(
        "{cut} separate the columns of {file}, as in `{line}`; {other} would split its lines differently"
    )
}

fn columns(file: &str, used: &[usize], names: &[String], count: usize, option: Write) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let named = if names.is_empty() {
        String::new()
    } else {
        format!(" ({})", list(&names))
    };
    let used: Vec<String> = used.iter().map(usize::to_string).collect();
    let options = list(&["source", "target", "weight"].map(|name| option(name, "")));
    let used = list(&used);
    format!(
        "columns {used} of {count} are used in {file}{named}; {options} choose others (by name, or by position from 0)"
    )
}

fn weights(file: &str, column: usize, name: &str, option: Write) -> String {
    format!(
        "column {column} of {file}, `{name}`, is read as the weights; {} chooses another (by name, or by position from 0)",
        option("weight", "")
    )
}

fn decimal_ids(file: &str, column: usize, example: &str, option: Write) -> String {
    format!(
        "column {column} of {file} has decimal numbers such as {example}, and is read as ids; {} choose others (by name, or \
         by position from 0)",
        list(&["source", "target", "weight", "delimiter"].map(|name| option(name, "")))
    )
}

fn maybe_matrix(file: &str, size: usize) -> String {
    format!(
        "{file} has {size} lines of {size} numbers, as an adjacency matrix has; each line is read as an edge. Write \
         a matrix as Matrix Market, or one edge per line"
    )
}

// --- ids

fn missing_ids(file: &str, id: &str, edges: u64) -> String {
    format!(
        "`{id}` is the id of a node of {file}, with {edges} of its lines; if it stands for a missing value, remove these \
         lines"
    )
}

fn merged(file: &str, [a, b]: &[String; 2], ids: u64, option: Write) -> String {
    let integers = if ids == 1 {
        "1 id occurs"
    } else {
        &format!("{ids} ids occur")
    };
    format!(
        "{integers} in both columns of {file}, `{a}` and `{b}`, which seem to name nodes of two kinds; the same id \
         is read as the same node. {} keeps the two kinds apart",
        option("bipartite", "yes")
    )
}

// --- comments

fn comments_read(file: &str, lines: u64, example: &str, option: Write) -> String {
    let mark = example.trim_start().get(..1).unwrap_or("#");
    let skips = option("comment", mark);
    format!(
        "{} read as data, such as `{example}`; {skips} skips such lines",
        marked(lines, file)
    )
}

fn comments_skipped(file: &str, lines: u64, example: &str, option: Write) -> String {
    let reads = option("comment", "none");
    format!(
        "{} skipped, such as `{example}`; {reads} reads such lines as data",
        marked(lines, file)
    )
}

fn marked(lines: u64, file: &str) -> String {
    match lines {
        1 => format!("1 line of {file} that begins like a comment is"),
        _ => format!("{lines} lines of {file} that begin like comments are"),
    }
}

fn trailing(file: &str, line: &str) -> String {
    format!(
        "a line of {file} ends with what looks like a comment, and is read whole: `{line}`; put comments on lines of their \
         own"
    )
}

// --- node lists

fn list_header(file: &str, line: &str) -> String {
    format!(
        "the first line of {file}, `{line}`, is read as a header; put it in quotes (\"{line}\") to list a node of that name"
    )
}

fn list_no_header(file: &str, line: &str) -> String {
    format!(
        "the first line of {file}, `{line}`, is read as a node, though no edge has it: remove it if it is a header, or put \
         it in quotes (\"{line}\") if it is a node"
    )
}

fn list_comment(file: &str, line: &str) -> String {
    format!(
        "the line `{line}` at the beginning of {file} is read as a comment; put it in quotes (\"{line}\") to list a node of \
         that name"
    )
}

/// `a`, `a and b`, `a, b and c`.
fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}
