//! What is said when an embedding is done.

use std::path::{Path, PathBuf};

use hone::report::Report;

use super::choices::OPTIONS;
use crate::context::Context;
use crate::{files, findings, options};

/// What the embedding shows about the graph, the files that were written, where the time went, and notes.
pub(super) fn note_summary(report: &Report, written: &[PathBuf], output: &Path, context: &Context) {
    let mut out = findings::of(report);
    out.push(format!("columns: {}", blocks(report)));
    out.extend(files::listed(written, output).map(|files| format!("files: {files}")));
    let stages = report
        .stages
        .iter()
        .map(|stage| format!("{} {:.2}", stage.name, stage.seconds));
    let stages: Vec<String> = stages.collect();
    out.push(format!("seconds: {}", stages.join(", ")));
    let steps = report.automatic_steps.as_ref();
    out.extend(steps.map(|chosen| format!("note: --steps auto chose {}", chosen.steps)));
    for (kind, texts) in [("warning", &report.warnings), ("note", &report.notes)] {
        let said = texts.iter().map(|text| options::worded(text, OPTIONS));
        out.extend(said.map(|text| format!("{kind}: {text}")));
    }
    out.iter().for_each(|line| context.note(line));
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
