//! What is said, and where: results on standard output, everything else on standard error.

use crate::failure::Failure;
use catapults_compiler::diagnostics::Diagnostics;
use catapults_compiler::source::Source;
use std::io::{self, IsTerminal, Write};

pub struct Console {
    color: bool,
}

impl Console {
    pub fn new() -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        Console { color: wanted && io::stderr().is_terminal() }
    }

    /// The command's result.
    pub fn result(&self, text: &str) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| Failure::of_output(&error))
    }

    /// What the command is doing. Nothing can be done about a closed standard error.
    pub fn note(&self, text: &str) {
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    pub fn diagnostics(&self, source: &Source, diagnostics: &Diagnostics) {
        let _ = io::stderr().lock().write_all(diagnostics.render(source, self.color).as_bytes());
    }

    pub fn failure(&self, failure: &Failure) {
        match failure {
            Failure::Diagnostics(place) => self.diagnostics(&place.0, &place.1),
            Failure::Said | Failure::Bounded | Failure::Unheard => {}
        }
    }

    /// `error: …` without a code: the last line, which sums up.
    pub fn summary(&self, text: &str) {
        let (bold, plain) = if self.color { ("\x1b[1m\x1b[91merror\x1b[0m\x1b[1m", "\x1b[0m") } else { ("error", "") };
        self.note(&format!("{bold}: {text}{plain}"));
    }
}
