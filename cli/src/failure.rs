//! Why a command came to nothing.

use catapults_compiler::diagnostics::{Diagnostic, Diagnostics};
use catapults_compiler::source::Source;
use catapults_compiler::vocabulary::At;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// What is shown before the command ends.
#[derive(Debug)]
pub enum Failure {
    /// Errors in a file, or of a file.
    Diagnostics(Box<(Source, Diagnostics)>),
    /// All has been said already.
    Said,
    /// Nothing was found, and not everything was looked at.
    Bounded,
    /// Nobody reads our output any more: the end of `catapults ir x.sched | head`.
    Unheard,
}

impl Failure {
    /// An error about a whole file, with one thing to do about it.
    pub fn of_file(code: &'static str, file: &Path, title: impl Into<String>, help: impl Into<String>) -> Self {
        Failure::of(&file.display().to_string(), Diagnostic::error(code, title, At::default(), "").help(help))
    }

    /// What the system refused to do with a file, with what to do about the usual reasons.
    pub fn of_system(
        code: &'static str,
        file: &Path,
        what: &str,
        error: &io::Error,
        advice: &[(io::ErrorKind, &str)],
    ) -> Self {
        let diagnostic = Diagnostic::error(code, format!("{what}: {}", plain(error)), At::default(), "");
        let help = advice.iter().find(|(kind, _)| *kind == error.kind()).map(|(_, help)| *help);
        let diagnostic = if let Some(help) = help { diagnostic.help(help) } else { diagnostic };
        Failure::of(&file.display().to_string(), diagnostic)
    }

    /// An error about something that has a name.
    pub fn of(name: &str, diagnostic: Diagnostic) -> Self {
        let mut diagnostics = Diagnostics::new();
        diagnostics.push(diagnostic);
        Failure::Diagnostics(Box::new((Source::new(name, ""), diagnostics)))
    }

    /// Output could not be written to the console.
    pub fn of_output(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Failure::Unheard;
        }
        Failure::of(
            "<stdout>",
            Diagnostic::error("E0503", format!("output cannot be written: {}", plain(error)), At::default(), ""),
        )
    }

    /// How many errors it stands for.
    pub fn errors(&self) -> usize {
        match self {
            Failure::Diagnostics(place) => place.1.errors(),
            Failure::Said | Failure::Bounded | Failure::Unheard => 1,
        }
    }

    pub fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Diagnostics(_) | Failure::Said => ExitCode::FAILURE,
            Failure::Bounded => ExitCode::from(3),
            // As a shell reports a program that SIGPIPE ended.
            Failure::Unheard => ExitCode::from(141),
        }
    }
}

/// What the system says, without its number.
pub fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}
