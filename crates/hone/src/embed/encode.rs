//! The global embedding as the code of an autoencoder, instead of a linear factor (sec. 2.4, 4.2).

use super::Hone;
use super::global::{Label, importance};
use super::local::locate;
use crate::dense::{Block, Columns, Norm};
use crate::error::Result;
use crate::factor::Task;
use crate::factor::autoencoder::{Autoencoder, Encoding, encode};
use crate::progress::Progress;
use crate::random::Key;
use crate::report::{GlobalFacts, Report};

impl Hone {
    /// Z = the code of each row of Y. A part of Y counts by its share in what the code is decoded to, which
    /// for a linear Z H is what it is for the SVD.
    pub(super) fn encode_global(
        &self,
        y: &Columns,
        options: &Autoencoder,
        labels: &[Label],
        report: &mut Report,
        progress: &dyn Progress,
    ) -> Result<Block> {
        let key = Key::new(self.config.seed).with("global", 0);
        let task = Task { rank: self.z_dim(), right: false, key, progress };
        let found = encode(y, options, &task).map_err(|e| locate(e, "global", "global embedding"))?;
        let Encoding { code, reconstructed, residual, fit } = found;
        report.importance = importance(labels, &reconstructed);
        let lengths = code.column_norms(Norm::L2);
        let rank = lengths.iter().filter(|&&length| length > 0.0).count();
        if !fit.converged {
            let remedy = "global.solver.epochs sets how many it may take";
            report.notes.push(format!("the autoencoder still improved after {} epochs; {remedy}", fit.epochs));
        }
        report.global = Some(GlobalFacts {
            columns: y.cols(),
            rank,
            singular_values: lengths,
            residual,
            loss: None,
            autoencoder: Some(fit),
        });
        Ok(code)
    }
}
