//! What an embedding shows about its graph, in a few lines.

use std::fmt::Write;

use hone::report::{Dimension, Report};

/// Which motifs count in Z, how concentrated it is, and which node features its structure follows.
pub(crate) fn of(report: &Report) -> String {
    // Those without a share are in the note about motifs that do not occur.
    let motifs: Vec<_> = report.motif_importance().into_iter().filter(|(_, share)| *share >= VISIBLE).collect();
    let mut out = String::new();
    // Motifs and their diffused attributes have separate weights.
    let (diffused, plain): (Vec<_>, Vec<_>) = motifs.into_iter().partition(|(name, _)| name.contains(':'));
    let uneven = |of: &Vec<(String, f64)>| matches!(of[..], [(_, most), .., (_, least)] if most > UNEVEN * least);
    let shown: Vec<_> = [diffused, plain].into_iter().filter(uneven).flatten().collect();
    if !shown.is_empty() {
        out.push_str(&shares("share of the embedding", shown));
    }
    if let Some(found) = report.proximity.filter(|found| found.directions > found.leading) {
        let (leading, all, share) = (found.leading, found.directions, 100.0 * found.share);
        let _ = writeln!(out, "proximity: {} {share:.1} % of the variance", explain(leading, all));
    }
    if let Some(found) = &report.structure {
        let dimensions = found.dimensions.iter().zip(&found.explained).enumerate();
        let worth = dimensions.filter(|(_, (_, part))| **part >= WORTH).map(|(j, (dimension, part))| {
            let (number, percent) = (j + 1, 100.0 * part);
            match j {
                0 => format!("dimension 1 ({percent:.0} % of the variance) follows {}", followed(dimension)),
                _ => format!("{number} ({percent:.0} %) {}", followed(dimension)),
            }
        });
        let worth = worth.collect::<Vec<_>>().join("; ");
        if !worth.is_empty() {
            let attributes = found.motifs.iter().any(|entry| entry.motif == "attributes" && entry.share >= VISIBLE);
            let what = if attributes { "structure and attributes" } else { "structure" };
            let _ = writeln!(out, "{what}: {worth}");
        }
    }
    out
}

/// The features that a dimension follows: one, or one against another.
fn followed(Dimension { most, least }: &Dimension) -> String {
    match least.correlation <= -CONTRAST * most.correlation {
        true => format!("{} against {}", most.feature, least.feature),
        false => most.feature.clone(),
    }
}

/// The beginning of a sentence about the variance that dimensions explain.
fn explain(leading: usize, all: usize) -> String {
    match (leading, all) {
        (1, 1) => "1 dimension explains".to_owned(),
        (1, _) => format!("the first of {all} dimensions explains"),
        _ if leading == all => format!("{all} dimensions explain"),
        _ => format!("the first {leading} of {all} dimensions explain"),
    }
}

/// Dimensions with less of the variance are not described.
const WORTH: f64 = 0.01;

/// The smaller of two opposite correlations is named if it is more than this part of the larger.
const CONTRAST: f64 = 0.5;

/// Shares below this would be shown as 0.0 %.
const VISIBLE: f64 = 0.0005;

/// Shares are shown when the largest is more than this times the smallest: columns of equal length make even shares, which
/// say nothing of the graph.
const UNEVEN: f64 = 2.0;

/// Shares as a table with bars.
fn shares(title: &str, motifs: Vec<(String, f64)>) -> String {
    let mut out = format!("motif            {title}\n");
    for (motif, share) in motifs {
        let bar = "█".repeat((share * 40.0).round() as usize);
        let _ = writeln!(out, "{}", format!("{motif:15} {:5.1} %  {bar}", share * 100.0).trim_end());
    }
    out
}
