//! Settings that have another name than they once had.

/// Names of settings and groups of settings, before and now.
const MOVED: [(&str, &str); 6] = [
    ("attributes.structure", "structure.enabled"),
    ("attributes.features", "structure"),
    ("attributes.form", "features.form"),
    ("attributes.combine", "features.combine"),
    ("attributes.weight", "features.weight"),
    ("attributes.diffusion", "features.diffusion"),
];

/// The present name of a setting, if it had another.
pub(super) fn to(key: &str) -> Option<String> {
    MOVED.iter().find_map(|(old, new)| {
        let rest = key.strip_prefix(old)?;
        (rest.is_empty() || rest.starts_with('.')).then(|| format!("{new}{rest}"))
    })
}
