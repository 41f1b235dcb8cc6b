//! Tables for a terminal.

use std::fmt::Write as _;

/// Columns side by side, those of `right` to the right.
pub(crate) fn aligned(lines: &[Vec<String>], right: &[usize]) -> String {
    let columns = lines.first().map_or(0, Vec::len);
    let width = |c: usize| {
        lines
            .iter()
            .map(|line| line[c].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for line in lines {
        let cells = line
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(c, (cell, &width))| match right.contains(&c) {
                true => format!("{cell:>width$}"),
                false => format!("{cell:width$}"),
            });
        let _ = writeln!(text, "{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
    text
}
