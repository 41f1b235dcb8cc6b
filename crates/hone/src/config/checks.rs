//! [`Config::check`]: values out of range, and choices that exclude each other, refused before any work.

use super::choice::{Dim, FirstStep};
use super::features::Combine;
use super::joint::{Model, combine_before};
use super::limits::{LARGEST, MAX_POWER, MAX_STEPS, check_dim};
use super::steps::Steps;
use super::{Config, Output, directed, domain, pairs};
use crate::error::{Error, Result};
use crate::matrix::Accumulate;
use crate::motif::MotifSet;

impl Config {
    /// Refuses values out of range, naming the field.
    pub fn check(&self) -> Result<()> {
        for (field, dim) in [
            ("local.dim", self.local.dim),
            ("global.dim", Dim::Fixed(self.global.dim)),
        ] {
            if dim == Dim::Fixed(0) {
                return Err(Error::config(field, "must be at least 1"));
            }
            check_dim(field, dim)?;
        }
        self.check_steps()?;
        let ranges = [
            ("regularize", self.regularize, LARGEST),
            ("local.row-power", self.local.row_power, MAX_POWER),
        ];
        for (field, value, most) in ranges {
            if !(0.0..=most).contains(&value) {
                return Err(Error::config(
                    field,
                    format!("{value} is not between 0 and {most}"),
                ));
            }
        }
        self.laziness.check()?;
        self.structure.check("structure")?;
        self.attributes.table.check("attributes.table")?;
        self.features.check()?;
        self.local.log_window.check()?;
        self.check_models()?;
        self.check_room()?;
        if self.motifs == MotifSet::Auto {
            let message = "`auto` is for structure.motifs; name motifs, or a set such as `all`";
            return Err(Error::config("motifs", message));
        }
        self.motifs.check()?;
        self.delta.check(&self.motifs)?;
        pairs::check(self)?;
        directed::check(self)?;
        self.sample.check()?;
        self.local.solver.check("local.solver")?;
        self.global.solver.check("global.solver")?;
        if self.model == Model::Separate {
            domain::check(self)
        } else {
            Ok(())
        }
    }

    /// Refuses what a joint model cannot do.
    fn check_models(&self) -> Result<()> {
        let refuse = |field: &str, message: String| Err(Error::config(field, message));
        if self.joint.motif_rank == 0 {
            return refuse("joint.motif-rank", "must be at least 1".into());
        }
        check_dim("joint.motif-rank", Dim::Fixed(self.joint.motif_rank))?;
        let numbers = [
            ("joint.tolerance", self.joint.tolerance),
            ("joint.regularization", self.joint.regularization),
        ];
        for (field, value) in numbers {
            if !(value.is_finite() && value >= 0.0) {
                return refuse(field, format!("{value} is not a number ≥ 0"));
            }
        }
        if self.model == Model::Separate {
            return Ok(());
        }
        if self.steps == Steps::Auto {
            return refuse(
                "steps",
                "auto compares local embeddings, which a joint model does not have; give a number"
                    .into(),
            );
        }
        if self.global.output == Output::Local {
            return refuse(
                "global.output",
                "a joint model has no local embeddings; use global".into(),
            );
        }
        if self.has_features() && self.features.combine == Combine::Before {
            return Err(combine_before());
        }
        Ok(())
    }

    /// Refuses numbers of steps, and weights of them, that are out of range.
    fn check_steps(&self) -> Result<()> {
        let refuse = |field: &str, message: String| Err(Error::config(field, message));
        if let Steps::Fixed(k) = self.steps
            && !(1..=MAX_STEPS).contains(&k)
        {
            return refuse(
                "steps",
                format!("{k} is neither between 1 and {MAX_STEPS} nor \"auto\""),
            );
        }
        if let Accumulate::Decay(alpha) = self.accumulate
            && !(alpha > 0.0 && alpha <= LARGEST)
        {
            return refuse(
                "accumulate.decay",
                format!("{alpha} is not above 0 and at most {LARGEST}"),
            );
        }
        let steps = if let Steps::Fixed(k) = self.steps {
            k
        } else {
            MAX_STEPS
        };
        if let FirstStep::Fixed(first) = self.first_step
            && !(1..=steps).contains(&first)
        {
            return refuse(
                "first-step",
                format!("{first} is neither between 1 and steps ({steps}) nor \"last\""),
            );
        }
        Ok(())
    }

    /// Refuses node features that leave no column for motifs.
    fn check_room(&self) -> Result<()> {
        if self.z_dim() > 0 {
            return Ok(());
        }
        let (dim, components) = (self.global.dim, self.components_dim());
        let message = format!(
            "{dim} leaves no column next to {components} components of node features; raise it, or set \
             features.form.components.dim to less or to \"auto\""
        );
        Err(Error::config("global.dim", message))
    }
}
