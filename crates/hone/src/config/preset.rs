//! Presets: the paper's variants by name, and the default.

use toml::Table;

use crate::error::{Error, Result};
use crate::spelling;

/// The preset that [`Config::default`](super::Config::default) is, and every front end starts from.
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

/// Settings of the preset `hone`; docs/quality.md says how they were chosen and how well they perform.
const HONE: &str = r#"
motifs = ["edge"]
psi = "a-norm"
regularize = 0.5
steps = 3
laziness = "auto"
first-step = "last"
direction = "auto"
reverse = "auto"
degree = "auto"
[local]
dim = "auto"
scale = "spectral"
row-power = 0.5
[local.log-window]
steps = 2
[local.solver]
method = "svd"
oversampling = 16
filter = 8
[structure]
enabled = true
motifs = "auto"
[features]
combine = "after"
weight = 20.0
form = { components = { dim = "auto", size-decay = 3.0, level-decay = 2.0, offset = 3.0, extremes = 1.0 } }
[features.diffusion]
steps = 0
"#;

/// The settings a preset lays on top of the defaults.
pub(super) fn settings(name: &str) -> Result<Table> {
    if !PRESETS.iter().any(|(known, _)| *known == name) {
        let hint = spelling::hint(name, PRESETS.iter().map(|(known, _)| *known));
        return Err(Error::config(
            "preset",
            format!("`{name}` is not a preset of HONE{hint}"),
        ));
    }
    let Some(variant) = name.strip_prefix("hone-") else {
        return Ok(HONE.parse().expect("the settings above are TOML"));
    };
    let psi = variant.trim_end_matches("+x");
    let mut settings = format!("psi = \"{psi}\"\n");
    if variant.ends_with("+x") {
        settings.push_str("structure = { enabled = true }\nfeatures = { weight = \"unit\" }\n");
    }
    Ok(settings.parse().expect("the settings above are TOML"))
}
