//! [`Config::check`]: values out of range, and choices that exclude each other, refused before any work.

use hone_base::settings::check_range;

use super::{
    Auto, Combine, Config, Direction, FirstStep, Form, LARGEST, MAX_STEPS, Model, Output, SMALLEST,
};
use crate::error::{Error, Result};
use crate::factor::Solver;
use crate::matrix::Accumulate;
use crate::message::{Message, message, set, setting};
use crate::motif::triad::Occurrence;
use crate::motif::{MotifSet, Pairs, Sample, pairs};

fn refuse(field: &str, message: impl Into<Message>) -> Result<()> {
    Err(Error::config(field, message))
}

/// Features cannot be columns of Y, which does not exist here.
pub(crate) fn combine_before() -> Error {
    let message = "before makes features columns of the local embeddings, which a joint model does not have; use after";
    Error::config("features.combine", message)
}

impl Config {
    /// Refuses values out of range and contradictions, naming the field.
    pub fn check(&self) -> Result<()> {
        self.check_ranges("")?;
        self.local.check_ranges("local.")?;
        self.local.log_window.check_ranges("local.log-window.")?;
        self.global.check_ranges("global.")?;
        self.joint.check_ranges("joint.")?;
        self.attributes.check_ranges("attributes.")?;
        self.features.check_ranges("features.")?;
        if let Form::Components(components) = self.features.form {
            components.check_ranges("features.form.components.")?;
        }
        if let Accumulate::Decay(alpha) = self.accumulate {
            check_range("accumulate.decay", &alpha, SMALLEST..=LARGEST)?;
        }
        let steps = self.steps.or(MAX_STEPS);
        if let FirstStep::Fixed(first) = self.first_step
            && first > steps
        {
            let message = format!("{first} is neither between 1 and steps ({steps}) nor \"last\"");
            return refuse("first-step", message);
        }
        self.structure.check("structure")?;
        self.attributes.table.check("attributes.table")?;
        self.features.diffusion.check("features.diffusion")?;
        self.check_room()?;
        self.check_motifs()?;
        self.sample.check()?;
        self.local.solver.check("local.solver")?;
        self.global.solver.check("global.solver")?;
        match self.model {
            Model::Separate => self.check_losses(),
            _ => self.check_joint(),
        }
    }

    /// Refuses structure that leaves no column for motifs.
    fn check_room(&self) -> Result<()> {
        if self.z_dim() > 0 {
            return Ok(());
        }
        let (dim, components) = (self.global.dim, self.components_dim());
        let message = message![
            format!(
                "{dim} leaves no column next to {components} components of node features; raise it, or use "
            ),
            set("features.form.components.dim", "auto"),
            ", or less"
        ];
        refuse("global.dim", message)
    }

    /// Refuses motifs that cannot be counted in the way that other settings want.
    fn check_motifs(&self) -> Result<()> {
        if self.motifs == MotifSet::Auto {
            let message = message![
                "`auto` is for ",
                setting("structure.motifs"),
                "; name motifs, or a set such as `all`"
            ];
            return refuse("motifs", message);
        }
        self.motifs.check()?;
        self.delta.check(&self.motifs)?;
        let motifs = self.motifs.motifs();
        if self.pairs == Pairs::Occurrences {
            if self.sample != Sample::Exact {
                return Err(pairs::estimated());
            }
            if self.weights == Auto::Given(true) {
                let message = message![
                    "occurrences include pairs without an edge, which have no edge weight to multiply with; use ",
                    set("weights", false)
                ];
                return refuse("pairs", message);
            }
            motifs
                .iter()
                .try_for_each(|motif| pairs::check_motif(*motif))?;
        }
        let counted = self.counted_motifs();
        if let Some(motif) = counted.iter().find(|motif| motif.is_directed())
            && self.direction == Direction::Ignore
        {
            let message = format!(
                "`ignore` leaves no directions, and {motif} is a directed motif; use \"keep\", or other motifs"
            );
            return refuse("direction", message);
        }
        match motifs.iter().find(|motif| !motif.is_directed()) {
            Some(motif) if self.occurrence == Occurrence::Subgraph => {
                let message = message![
                    format!(
                        "subgraph counts are for graphs of directed motifs, and {motif} is not one; use "
                    ),
                    set("motifs", "triads"),
                    " (features of structure count induced occurrences)"
                ];
                refuse("occurrence", message)
            }
            _ => Ok(()),
        }
    }

    /// Refuses what a joint model cannot do.
    fn check_joint(&self) -> Result<()> {
        if self.steps == Auto::Auto {
            let message =
                "auto compares local embeddings, which a joint model does not have; give a number";
            return refuse("steps", message);
        }
        if self.global.output == Output::Local {
            return refuse(
                "global.output",
                "a joint model has no local embeddings; use global",
            );
        }
        if self.has_features() && self.features.combine == Combine::Before {
            return Err(combine_before());
        }
        Ok(())
    }

    /// Refuses Laplacians, which have negative entries wherever there is an edge, for losses that have no place for
    /// them, and Y of solvers whose factors have both signs.
    fn check_losses(&self) -> Result<()> {
        let (local, global) = (self.local.solver.loss(), self.global.solver.loss());
        let signed =
            !matches!(self.local.solver, Solver::Nmf(_)) && self.global.output == Output::Global;
        if signed && global.refuses_negative() {
            let message = global.negative("Y", message!["use ", set("local.solver.method", "nmf")]);
            return refuse("global.solver.loss", message);
        }
        match self.psi.laplacian() {
            Some(matrix) if local.refuses_negative() => {
                let others = message!["use ", set("psi", "w"), " or ", set("psi", "p")];
                refuse("local.solver.loss", local.negative(matrix, others))
            }
            _ => Ok(()),
        }
    }
}
