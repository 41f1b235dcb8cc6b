//! Options without effect, in one note.

use hone::config::Idle;

use crate::context::Context;
use crate::options::Known;
use crate::settings::{Flag, pair};

/// Notes options without effect, each with the reason.
pub(crate) fn note(idle: &[(String, String)], context: &Context) {
    if !idle.is_empty() {
        let listed: Vec<String> = idle
            .iter()
            .map(|(option, why)| format!("{option} ({why})"))
            .collect();
        let what = if idle.len() == 1 {
            "this option has"
        } else {
            "these options have"
        };
        context.note(format_args!(
            "note: {what} no effect here: {}",
            listed.join(", ")
        ));
    }
}

/// Those of the options and single settings that were given which `idle` lists. An option of several settings has an
/// effect if one of them has.
pub(crate) fn given(
    flags: &[Flag],
    set: &[String],
    options: &[Known],
    idle: &[Idle],
) -> Vec<(String, String)> {
    let why = |key: &str| {
        let is_member = |group: &str| {
            key == group
                || key
                    .strip_prefix(group)
                    .is_some_and(|rest| rest.starts_with('.'))
        };
        idle.iter()
            .find(|(group, _)| is_member(group))
            .map(|(_, why)| why.clone())
    };
    let mut found: Vec<(String, Option<String>)> = Vec::new();
    for (key, _) in flags.iter().filter(|(_, value)| value.is_some()) {
        let Some((_, option)) = options.iter().find(|(setting, _)| setting == key) else {
            continue;
        };
        match found.iter_mut().find(|(seen, _)| seen == option) {
            Some((_, before)) if before.is_some() => *before = why(key),
            Some(_) => {}
            None => found.push(((*option).to_owned(), why(key))),
        }
    }
    let single = set.iter().filter_map(|setting| pair(setting).ok());
    found.extend(single.map(|(key, value)| (format!("--set {key}={value}"), why(&key))));
    found
        .into_iter()
        .filter_map(|(option, why)| Some((option, why?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_of_several_settings_has_an_effect_if_one_has() {
        let options: &[Known] = &[
            ("local.solver.method", "--solver"),
            ("global.solver.method", "--solver"),
            ("pairs", "--pairs"),
        ];
        let flag = |key| (key, Some("als".to_owned()));
        let idle: &[Idle] = &[
            ("global.solver", "why".into()),
            ("pairs", "so".into()),
            ("joint", "not".into()),
        ];
        let flags = [
            flag("local.solver.method"),
            flag("global.solver.method"),
            flag("pairs"),
            ("steps", None),
        ];
        let set = ["joint.tolerance=1".to_owned(), "jointly=1".to_owned()];
        let expected = [("--pairs", "so"), ("--set joint.tolerance=1", "not")]
            .map(|(a, b)| (a.into(), b.into()));
        assert_eq!(given(&flags, &set, options, idle), expected);
        let alone = given(&flags[1..2], &[], options, idle);
        assert_eq!(alone, [("--solver".to_owned(), "why".to_owned())]);
    }
}
