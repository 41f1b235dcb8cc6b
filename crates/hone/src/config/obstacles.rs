//! What prevents the log-window view: settings that need another matrix or solver.

use super::Config;
use super::choice::Direction;
use super::joint::Model;
use super::steps::Steps;
use crate::factor::Solver;
use crate::matrix::{Accumulate, Order, Psi};

impl Config {
    /// Why the log-window view, if requested, cannot be computed. There is none if arcs keep their direction.
    pub(crate) fn without_log_window(&self, directed: bool) -> Option<&'static str> {
        let obstacles = [
            (self.psi != Psi::ANorm, "psi is not a-norm"),
            (self.order == Order::PsiOfPower, "order is psi-of-power"),
            (self.accumulate != Accumulate::None, "steps are accumulated"),
            (self.steps == Steps::Auto, "steps are automatic"),
            (self.model != Model::Separate, "the model is a joint one"),
            (
                !matches!(self.local.solver, Solver::Svd(_)),
                "the solver of local embeddings is not svd",
            ),
            (
                directed && self.direction != Direction::Ignore,
                "the directions of arcs are kept",
            ),
        ];
        let found = obstacles
            .into_iter()
            .find(|(is, _)| *is)
            .map(|(_, why)| why);
        found.filter(|_| self.local.log_window.steps > 0)
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Layers;

    #[test]
    fn the_view_stands_aside_for_other_matrices_and_refuses_nonsense() {
        let with = |settings: &[(&'static str, &'static str)]| {
            let layers = Layers::new()
                .preset("hone")
                .expect("known")
                .set("local.log-window.steps", "2")
                .expect("set");
            settings
                .iter()
                .fold(layers, |layers, (key, value)| {
                    layers.set(key, value).expect("set")
                })
                .build()
        };
        let plain = with(&[]).expect("in range");
        assert_eq!(
            (
                plain.log_window_columns(false),
                plain.without_log_window(false)
            ),
            (56, None)
        );
        assert!(plain.without_log_window(true).is_some());
        for (key, value) in [
            ("psi", "p"),
            ("steps", "auto"),
            ("accumulate", "mean"),
            ("order", "psi-of-power"),
        ] {
            let config = with(&[(key, value)]).expect("in range");
            assert!(
                config.log_window_columns(false) == 0 && config.without_log_window(false).is_some(),
                "{key}"
            );
        }
        for (key, value) in [
            ("weight", "0"),
            ("weight", "nan"),
            ("dim", "0"),
            ("steps", "17"),
        ] {
            let key = [
                "local.log-window.weight",
                "local.log-window.dim",
                "local.log-window.steps",
            ]
            .into_iter()
            .find(|name| name.ends_with(key))
            .expect("one of them");
            assert!(
                with(&[(key, value)])
                    .expect_err("out of range")
                    .to_string()
                    .contains(key)
            );
        }
    }
}
