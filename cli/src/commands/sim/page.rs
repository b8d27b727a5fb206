//! Simulations as a page: they are recorded as by a host, and then shown as any recording.

use crate::commands::page::text_of;
use crate::failure::Failure;
use crate::files::{scratch, unwritable};
use crate::scenarios::Case;
use catapults_simulator::page::{Asked, MOST, Recording, recording};
use catapults_simulator::sim::Keep;
use catapults_simulator::trace::Reader;
use std::fs::File;
use std::io::{self, BufWriter, IntoInnerError};
use std::path::Path;

/// Where a simulation is recorded until it is shown.
pub fn room() -> Result<BufWriter<File>, Failure> {
    scratch().map(BufWriter::new)
}

/// What a page shows of a simulation.
pub fn shown(recorded: BufWriter<File>, case: &Case, keep: Keep) -> Result<Recording, Failure> {
    let file = recorded.into_inner().map_err(|error| unkept(&IntoInnerError::into_error(error)))?;
    let unread = |wrong: String| unkept(&io::Error::other(wrong));
    let mut trace = Reader::new(file).map_err(|wrong| unread(wrong.to_string()))?;
    let (from, to) = match keep {
        Keep::Between(from, to) => (from, to),
        Keep::Beginning | Keep::AroundDivergence => (0, i64::MAX),
    };
    let folder = case.policy_file.parent().unwrap_or(Path::new(""));
    let source = |named: &str| text_of(named, folder);
    let asked = Asked { from, to, most: MOST };
    let shown = recording(&mut trace, &case.scenario.name, asked, &source, &mut || {});
    shown.map_err(|wrong| unread(wrong.to_string()))
}

/// The room is too small, or broken.
pub fn unkept(error: &io::Error) -> Failure {
    unwritable("TMPDIR", &std::env::temp_dir(), error)
}
