//! What an embedding shows about its graph, in a few lines.

use std::fmt::Write;

use hone::report::Report;

/// Which motifs count in Z, how concentrated it is, and which motifs the node features consist of.
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
    if let Some(found) = report.structure.as_ref().filter(|found| found.components > 0) {
        let (leading, all) = (found.components.min(SHOWN), found.components);
        let held = 100.0 * found.explained.iter().take(leading).sum::<f64>();
        let visible: Vec<_> = found.motifs.iter().filter(|entry| entry.share >= VISIBLE).collect();
        let motifs = visible.iter().take(SHOWN + 2);
        let motifs: Vec<_> = motifs.map(|entry| format!("{} {:.1} %", entry.motif, 100.0 * entry.share)).collect();
        let more = if visible.len() > motifs.len() { ", …" } else { "" };
        let motifs = motifs.join(", ");
        let explain = explain(leading, all);
        let (what, by) = match visible.iter().any(|entry| entry.motif == "attributes") {
            true => ("structure and attributes", "by source"),
            false => ("structure", "by motif"),
        };
        let _ = writeln!(out, "{what}: {explain} {held:.1} % of the variance; {by}: {motifs}{more}");
    }
    out
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

/// Components of node features that a summary adds up.
const SHOWN: usize = 3;

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
