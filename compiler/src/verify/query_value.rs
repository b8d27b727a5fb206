//! A query has a value on every path (2005, §6.1).

use super::Handling;
use super::flow::EndKind;
use crate::diagnostics::{Diagnostic, Diagnostics};

pub(super) fn check(handling: &Handling, diagnostics: &mut Diagnostics) {
    let Some(ty) = handling.handler.returns else { return };
    for (situation, end) in handling.bad_ends(|_, end| end.kind == EndKind::Last) {
        let query = &handling.handler.written;
        let title = format!("the query `{query}` can end without a value");
        let label = format!("must return a value of type {}", ty.word());
        let diagnostic = Diagnostic::error("E0405", title, end.at, label);
        diagnostics.push(
            handling
                .explained(diagnostic, situation, &end, |end| end.kind == EndKind::Last)
                .help("end every path with `return` and a value"),
        );
    }
}
