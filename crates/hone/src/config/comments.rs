//! The configuration as a TOML file with a comment at every setting: what its field says. Options of solvers have none; they are
//! described in docs/solvers.md.

use std::fmt::Write;

use hone_base::manual::linked;
use hone_base::settings::Meanings;

use super::{Attributes, Components, Config, Features, Global, Joint, Local, LogWindow};
use crate::attributes::Table;
use crate::diffuse::Diffusion;
use crate::features::Structure;

/// All groups of settings, and what comes before the names of their members.
const GROUPS: [(&str, Meanings); 12] = [
    ("", Config::MEANINGS),
    ("local.", Local::MEANINGS),
    ("local.log-window.", LogWindow::MEANINGS),
    ("global.", Global::MEANINGS),
    ("joint.", Joint::MEANINGS),
    ("structure.", Structure::MEANINGS),
    ("attributes.", Attributes::MEANINGS),
    ("attributes.table.", Table::MEANINGS),
    ("features.", Features::MEANINGS),
    (
        "features.form.",
        &[(
            "components",
            "Columns are replaced by their principal components, unscaled.",
        )],
    ),
    ("features.form.components.", Components::MEANINGS),
    ("features.diffusion.", Diffusion::MEANINGS),
];

/// What a setting or a group of them means.
fn meaning(key: &str) -> Option<&'static str> {
    let (group, name) = key.split_at(key.rfind('.').map_or(0, |dot| dot + 1));
    let (_, members) = GROUPS.iter().find(|(known, _)| *known == group)?;
    let is = |field: &str| field.replace('_', "-") == name;
    Some(members.iter().find(|(field, _)| is(field))?.1)
}

impl Config {
    /// The configuration as TOML with comments; reads back as the same configuration.
    pub fn to_commented_toml(&self) -> String {
        let mut out = String::from("# Settings of hone. Read with: hone embed --config FILE\n");
        let mut group = String::new();
        for line in self.to_toml().lines() {
            let header = line
                .strip_prefix('[')
                .and_then(|line| line.strip_suffix(']'));
            let key = match (header, line.split_once(" = ")) {
                (Some(name), _) => {
                    group = format!("{name}.");
                    name.to_owned()
                }
                (None, Some((key, _))) => format!("{group}{key}"),
                (None, None) => String::new(),
            };
            if let Some(text) = meaning(&key) {
                let _ = writeln!(out, "# {}", linked(text));
            }
            let _ = writeln!(out, "{line}");
        }
        out
    }
}
