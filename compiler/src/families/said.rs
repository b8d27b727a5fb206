//! What was found when a scheduler was judged with each of its families.

use crate::diagnostics::{Diagnostic, Diagnostics, Severity};
use crate::source::Source;

/// The findings, by family.
#[derive(Default)]
pub(super) struct Said {
    all: Vec<Vec<Found>>,
    omitted: Diagnostics,
}

struct Found {
    one: Diagnostic,
    /// It stands in the file of the scheduler, which all families share.
    shared: bool,
}

impl Said {
    /// Adds what was found with one family.
    pub(super) fn add(&mut self, source: &Source, diagnostics: Diagnostics) {
        let shared = |one: &Diagnostic| source.used_at(one.primary.0.start).is_none();
        self.all.push(diagnostics.iter().map(|one| Found { shared: shared(one), one: one.clone() }).collect());
        if diagnostics.omitted() > 0 {
            self.omitted.append(diagnostics);
        }
    }

    /// Each once. A warning of what all families share holds only if it holds with each: what one of them does not use
    /// can be used by another.
    pub(super) fn together(self) -> Diagnostics {
        let mut together = self.omitted;
        for found in self.all.iter().flatten() {
            let everywhere = || self.all.iter().all(|family| family.iter().any(|other| other.one == found.one));
            if !found.shared || found.one.severity == Severity::Error || everywhere() {
                together.push(found.one.clone());
            }
        }
        together
    }
}
