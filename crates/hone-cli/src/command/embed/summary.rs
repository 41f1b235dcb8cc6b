//! What is said when an embedding is done: what it shows about its graph, the files, and where the time went.

use std::path::{Path, PathBuf};

use hone::report::{Dimension, Report, Structure};

use crate::context::Context;
use crate::files;

/// What the embedding shows about the graph, the files that were written, where the time went, and notes.
pub(crate) fn note_summary(report: &Report, written: &[PathBuf], output: &Path, context: &Context) {
    let mut out = findings(report);
    out.push(format!("columns: {}", blocks(report)));
    out.extend(files::listed(written, output).map(|files| format!("files: {files}")));
    let stages = report.stages.iter();
    let stages = stages.map(|stage| format!("{} {:.2}", stage.name, stage.seconds));
    out.push(format!(
        "seconds: {}",
        stages.collect::<Vec<_>>().join(", ")
    ));
    let steps = report.automatic_steps.as_ref();
    out.extend(steps.map(|chosen| format!("note: --steps auto chose {}", chosen.steps)));
    out.iter().for_each(|line| context.note(line));
    context.say_all(report);
}

/// `proximity 0–111, structure 112–127`; of many blocks the first and the last.
fn blocks(report: &Report) -> String {
    let blocks = report.blocks.iter().map(|block| {
        let step = match block.step {
            0 => String::new(),
            step => format!(".k{step}"),
        };
        let last = (block.first + block.count).saturating_sub(1);
        let first = match block.first == last {
            true => String::new(),
            false => format!("{}–", block.first),
        };
        format!("{}{step} {first}{last}", block.kind())
    });
    let all: Vec<String> = blocks.collect();
    match all.as_slice() {
        [first, .., last] if all.len() > 4 => format!("{first}, …, {last}"),
        few => few.join(", "),
    }
}

/// Which motifs count in Z, how concentrated it is, and which node features its structure follows.
fn findings(report: &Report) -> Vec<String> {
    // Those without a share are in the note about motifs that do not occur. Motifs and their diffused attributes have
    // separate weights.
    let motifs = report.motif_importance().into_iter();
    let (diffused, plain): (Vec<_>, Vec<_>) = motifs
        .filter(|(_, share)| *share >= VISIBLE)
        .partition(|(name, _)| name.contains(':'));
    let uneven = |of: &Vec<(String, f64)>| matches!(of[..], [(_, most), .., (_, least)] if most > UNEVEN * least);
    let shown: Vec<_> = [diffused, plain]
        .into_iter()
        .filter(uneven)
        .flatten()
        .collect();
    let mut out = Vec::new();
    if !shown.is_empty() {
        out.push("motif            share of the embedding".to_owned());
    }
    for (motif, share) in shown {
        let bar = "█".repeat((share * 40.0).round() as usize);
        let line = format!("{motif:15} {:5.1} %  {bar}", share * 100.0);
        out.push(line.trim_end().to_owned());
    }
    let proximity = report.proximity.as_ref();
    if let Some(found) = proximity.filter(|found| found.directions > found.leading) {
        let (leading, all, share) = (found.leading, found.directions, 100.0 * found.share);
        out.push(format!(
            "proximity: the first {leading} of {all} dimensions hold {share:.1} % of the squared norm"
        ));
    }
    let structure = report.structure.as_ref();
    out.extend(structure.and_then(components));
    out
}

/// What the leading components of the node features follow, by the names of their columns.
fn components(found: &Structure) -> Option<String> {
    let dimensions = found.dimensions.iter().zip(&found.explained).enumerate();
    let described = dimensions.filter(|(_, (_, part))| **part >= WORTH);
    let described = described.map(|(j, (dimension, part))| {
        let variance = if j == 0 { " of the variance" } else { "" };
        let (percent, followed) = (100.0 * part, followed(dimension));
        format!("pc{j} ({percent:.0} %{variance}) {followed}")
    });
    let described = described.collect::<Vec<_>>().join("; ");
    (!described.is_empty()).then(|| format!("structure: {described}"))
}

/// The features with which a component rises and falls; the weaker of the two only if it is nearly as strong.
fn followed(Dimension { most, least }: &Dimension) -> String {
    let (up, down) = (most.correlation.max(0.0), -least.correlation.min(0.0));
    let rises = (up > CONTRAST * down).then(|| format!("increases with {}", most.feature));
    let falls = (down > CONTRAST * up).then(|| format!("decreases with {}", least.feature));
    let both: Vec<String> = rises.into_iter().chain(falls).collect();
    both.join(", ")
}

/// Components with less of the variance are not described.
const WORTH: f64 = 0.01;

/// The smaller of two opposite correlations is named if it is more than this part of the larger.
const CONTRAST: f64 = 0.5;

/// Shares below this would be shown as 0.0 %.
const VISIBLE: f64 = 0.0005;

/// Shares are shown when the largest is more than this times the smallest: columns of equal length make even shares, which
/// say nothing of the graph.
const UNEVEN: f64 = 2.0;
