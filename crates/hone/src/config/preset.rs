//! Presets: the paper's variants by name, and the default.

use toml::Table;

use crate::error::{Error, Result};
use crate::spelling;

/// The preset that [`Config::default`](super::Config::default) is.
pub const DEFAULT_PRESET: &str = "hone";

/// Preset names with what they stand for.
pub const PRESETS: [(&str, &str); 11] = [
    (
        "hone",
        "our default: proximity from the normalised edge matrix, structure from motif counts",
    ),
    ("hone-w", "the paper's HONE-W: weighted motif graphs W"),
    (
        "hone-p",
        "the paper's HONE-P: motif transition matrices P = D⁻¹W",
    ),
    ("hone-l", "the paper's HONE-L: motif Laplacians L = D − W"),
    (
        "hone-l-norm",
        "the paper's HONE-L̂: normalised motif Laplacians I − D^-½ W D^-½",
    ),
    (
        "hone-l-rw",
        "the paper's HONE-L̂rw: random-walk motif Laplacians I − D⁻¹W",
    ),
    ("hone-w+x", "hone-w with diffused motif features"),
    ("hone-p+x", "hone-p with diffused motif features"),
    ("hone-l+x", "hone-l with diffused motif features"),
    ("hone-l-norm+x", "hone-l-norm with diffused motif features"),
    ("hone-l-rw+x", "hone-l-rw with diffused motif features"),
];

/// The settings of the preset `hone-p` that differ from the default.
const PAPER: &str = r#"
motifs = "all"
psi = "p"
regularize = 0.0
steps = 2
laziness = 0.0
first-step = 1
direction = "keep"
reverse = 0.0
degree = "out"
[local]
scale = "unit"
row-power = 0.0
[local.log-window]
steps = 0
[local.solver]
method = "svd"
oversampling = 8
filter = 0
[structure]
enabled = false
motifs = "all"
[features]
combine = "before"
weight = 1.0
form = "columns"
[features.diffusion]
steps = 2
"#;

/// What the paper's presets share; none of it is as in the default.
pub(super) fn paper() -> Table {
    PAPER.parse().expect("the settings above are TOML")
}

/// What one of the paper's presets lays on top of that; nothing for the default.
pub(super) fn variant(name: &str) -> Result<Option<Table>> {
    if !PRESETS.iter().any(|(known, _)| *known == name) {
        let hint = spelling::hint(name, PRESETS.iter().map(|(known, _)| *known));
        return Err(Error::config(
            "preset",
            format!("`{name}` is not a preset of HONE{hint}"),
        ));
    }
    let Some(variant) = name.strip_prefix("hone-") else {
        return Ok(None);
    };
    let psi = variant.trim_end_matches("+x");
    let mut settings = format!("psi = \"{psi}\"\n");
    if variant.ends_with("+x") {
        settings.push_str("structure = { enabled = true }\nfeatures = { weight = \"unit\" }\n");
    }
    Ok(Some(settings.parse().expect("the settings above are TOML")))
}
