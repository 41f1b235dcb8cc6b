//! What is said when an embedding is done.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use hone::report::Report;

use super::choices::OPTIONS;
use crate::{files, findings, options};

/// What the embedding shows about the graph, the files that were written, where the time went, and notes.
pub(super) fn summary(report: &Report, written: &[PathBuf], output: &Path) -> String {
    let mut out = findings::of(report);
    let _ = writeln!(out, "columns: {}", blocks(report));
    if let Some(files) = files::listed(written, output) {
        let _ = writeln!(out, "files: {files}");
    }
    let stages = report
        .stages
        .iter()
        .map(|stage| format!("{} {:.2}", stage.name, stage.seconds));
    let _ = writeln!(out, "seconds: {}", stages.collect::<Vec<_>>().join(", "));
    if let Some(chosen) = &report.automatic_steps {
        let _ = writeln!(out, "note: --steps auto chose {}", chosen.steps);
    }
    for (kind, texts) in [("warning", &report.warnings), ("note", &report.notes)] {
        for text in texts {
            let _ = writeln!(out, "{kind}: {}", options::worded(text, OPTIONS));
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// `proximity 0–111, structure 112–127`; of many blocks the first and the last.
fn blocks(report: &Report) -> String {
    let blocks = report.blocks.iter().map(|block| {
        let name = block.kind();
        let name = if block.step > 0 {
            format!("{name}.k{}", block.step)
        } else {
            name.to_owned()
        };
        let last = (block.first + block.count).saturating_sub(1);
        if block.first == last {
            format!("{name} {last}")
        } else {
            format!("{name} {}–{last}", block.first)
        }
    });
    let all: Vec<String> = blocks.collect();
    match all.as_slice() {
        [first, .., last] if all.len() > 4 => format!("{first}, …, {last}"),
        few => few.join(", "),
    }
}
