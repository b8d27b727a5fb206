//! Reads a framework description.

use crate::diagnostics::Diagnostics;
use crate::source::Source;

use super::Framework;

/// The framework that the text describes, or everything that is wrong with it.
pub fn read(source: &Source) -> Result<Framework, Diagnostics> {
    let _ = source;
    Err(Diagnostics::new())
}
