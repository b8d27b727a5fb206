//! What has no bound.

use super::formula::Formula;
use crate::diagnostics::Diagnostic;
use crate::policy::{Expression, Handler, Statement, StatementKind};

/// A statement of which nobody knows how long it takes.
#[derive(Clone, Debug)]
pub(super) struct Refused {
    why: Diagnostic,
}

impl Refused {
    /// A loop.
    pub fn endless(statement: &Statement) -> Refused {
        let title = "the number of turns of this loop has no bound";
        let why = Diagnostic::error("E0550", title, statement.at, "no number of turns is known")
            .note("a bound needs a number, or a number of threads, at which a counter of the loop arrives")
            .note("with more than a million turns, a loop counts as one that does not end")
            .help("count the turns as well, up to a constant: `for (int i = 0; i < 10 && …; i++)`");
        Refused::at(statement, why)
    }

    /// Text in another language.
    pub fn verbatim(statement: &Statement) -> Refused {
        let title = "the steps of verbatim text cannot be counted";
        let why = Diagnostic::error("E0551", title, statement.at, "text in another language")
            .note("the compiler copies such text, and does not know what it does")
            .help("write it in the language of policies; or let the application do it, and import the result");
        Refused::at(statement, why)
    }

    fn at(statement: &Statement, why: Diagnostic) -> Refused {
        Refused { why: statement.called.map_or(why.clone(), |call| why.related(call, "called here")) }
    }

    /// In this handler.
    pub fn diagnostic(self, handler: &Handler) -> Diagnostic {
        let name = if handler.written.is_empty() { &handler.name } else { &handler.written };
        self.why.note(format!("so `{name}` has no bound"))
    }
}

/// A bound that does not fit in 64 bits.
pub(super) fn too_large(handler: &Handler, formula: &Formula) -> Diagnostic {
    let title = format!("the bound of `{}` is too large a number", handler.name);
    Diagnostic::error("E0553", title, handler.at, format!("{formula} steps"))
        .help("ask for fewer threads, or take out a loop within a loop")
}

/// Whether a statement is verbatim text, or has some in its expressions.
pub(super) fn is_verbatim(statement: &Statement) -> bool {
    let is_text = |part: &Expression| matches!(part, Expression::Verbatim { .. });
    matches!(statement.kind, StatementKind::Verbatim { .. }) || statement.expressions().any(|own| own.any(&is_text))
}
