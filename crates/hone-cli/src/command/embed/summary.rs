//! What is said when an embedding is done: what it shows about its graph, the files, and where the time went.

use std::path::{Path, PathBuf};

use hone::report::{Dimension, Report, Structure};

use super::choices::OPTIONS;
use crate::context::Context;
use crate::{files, options};

/// What the embedding shows about the graph, the files that were written, where the time went, and notes.
pub(super) fn note_summary(report: &Report, written: &[PathBuf], output: &Path, context: &Context) {
    let mut out = findings(report);
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

/// Which motifs count in Z, how concentrated it is, and which node features its structure follows.
fn findings(report: &Report) -> Vec<String> {
    // Those without a share are in the note about motifs that do not occur.
    let motifs: Vec<_> = report
        .motif_importance()
        .into_iter()
        .filter(|(_, share)| *share >= VISIBLE)
        .collect();
    let mut out = Vec::new();
    // Motifs and their diffused attributes have separate weights.
    let (diffused, plain): (Vec<_>, Vec<_>) =
        motifs.into_iter().partition(|(name, _)| name.contains(':'));
    let uneven = |of: &Vec<(String, f64)>| matches!(of[..], [(_, most), .., (_, least)] if most > UNEVEN * least);
    let shown: Vec<_> = [diffused, plain]
        .into_iter()
        .filter(uneven)
        .flatten()
        .collect();
    if !shown.is_empty() {
        out.push("motif            share of the embedding".to_owned());
        out.extend(shown.iter().map(share));
    }
    if let Some(found) = report
        .proximity
        .filter(|found| found.directions > found.leading)
    {
        let (leading, all, share) = (found.leading, found.directions, 100.0 * found.share);
        out.push(format!(
            "proximity: the first {leading} of {all} dimensions hold {share:.1} % of the squared norm"
        ));
    }
    let structure = report.structure.as_ref();
    out.extend(structure.and_then(|found| components(found, report)));
    out
}

/// What the leading components of the node features follow, by the names of their columns.
fn components(found: &Structure, report: &Report) -> Option<String> {
    let described = found
        .dimensions
        .iter()
        .zip(&found.explained)
        .enumerate()
        .filter(|(_, (_, part))| **part >= WORTH);
    let described = described.map(|(j, (dimension, part))| {
        let variance = if j == 0 { " of the variance" } else { "" };
        format!(
            "pc{j} ({:.0} %{variance}) {}",
            100.0 * part,
            followed(dimension)
        )
    });
    let described = described.collect::<Vec<_>>().join("; ");
    let kind = report
        .blocks
        .iter()
        .filter_map(|block| block.kind().split(':').next())
        .find(|kind| KINDS.contains(kind))
        .unwrap_or("structure");
    (!described.is_empty()).then(|| format!("{kind}: {described}"))
}

/// The features with which a component rises and falls; the weaker of the two only if it is nearly as strong.
fn followed(Dimension { most, least }: &Dimension) -> String {
    let (up, down) = (most.correlation.max(0.0), -least.correlation.min(0.0));
    let rises = (up > CONTRAST * down).then(|| format!("rises with {}", most.feature));
    let falls = (down > CONTRAST * up).then(|| format!("falls with {}", least.feature));
    rises
        .into_iter()
        .chain(falls)
        .collect::<Vec<_>>()
        .join(", ")
}

/// Components with less of the variance are not described.
const WORTH: f64 = 0.01;

/// The smaller of two opposite correlations is named if it is more than this part of the larger.
const CONTRAST: f64 = 0.5;

/// Blocks of columns that can be components.
const KINDS: [&str; 3] = ["structure", "attributes", "features"];

/// Shares below this would be shown as 0.0 %.
const VISIBLE: f64 = 0.0005;

/// Shares are shown when the largest is more than this times the smallest: columns of equal length make even shares, which
/// say nothing of the graph.
const UNEVEN: f64 = 2.0;

/// A share with a bar.
fn share((motif, share): &(String, f64)) -> String {
    let bar = "█".repeat((share * 40.0).round() as usize);
    let line = format!("{motif:15} {:5.1} %  {bar}", share * 100.0);
    line.trim_end().to_owned()
}
