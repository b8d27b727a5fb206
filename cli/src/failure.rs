//! Why a command failed.

use catapults_compiler::diagnostics::{Diagnostic, Diagnostics};
use catapults_compiler::source::Source;
use catapults_compiler::vocabulary::At;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// What to show before the command ends.
#[derive(Debug)]
pub enum Failure {
    /// Errors in a file, or of a file.
    Diagnostics(Box<(Source, Diagnostics)>),
    /// The command line is wrong, whatever the files contain.
    Usage(Box<(Source, Diagnostics)>),
    /// All was reported already.
    Said,
    /// This signal interrupted the command. Its results so far were reported.
    Interrupted(i32),
    /// Nothing was found, but a bound was reached.
    Bounded,
    /// A set of tasks is not admitted. Why was told.
    Refused,
    /// Nothing reads our output any more, as in `catapults ir x.sched | head`.
    Unheard,
    /// Our output cannot be written. Anything else that the command does would be lost, too.
    Unwritten(Box<(Source, Diagnostics)>),
}

impl Failure {
    /// An error about a whole file, with a remedy.
    pub fn of_file(code: &'static str, file: &Path, title: impl Into<String>, help: impl Into<String>) -> Self {
        Failure::of(&file.display().to_string(), Diagnostic::error(code, title, At::default(), "").help(help))
    }

    /// What the system refused to do with a file, with advice for the usual reasons.
    pub fn of_system(
        code: &'static str,
        file: &Path,
        what: &str,
        error: &io::Error,
        advice: &[(io::ErrorKind, &str)],
    ) -> Self {
        let diagnostic = Diagnostic::error(code, format!("{what}: {}", plain(error)), At::default(), "");
        let help = advice.iter().find(|(kind, _)| *kind == error.kind()).map_or(USUAL, |(_, help)| *help);
        Failure::of(&file.display().to_string(), diagnostic.help(help))
    }

    /// The command line is wrong, whatever the files contain. `name`: the option.
    pub fn of_usage(name: &str, diagnostic: Diagnostic) -> Self {
        Failure::Usage(alone(name, diagnostic))
    }

    /// An error about something that has a name.
    pub fn of(name: &str, diagnostic: Diagnostic) -> Self {
        Failure::Diagnostics(alone(name, diagnostic))
    }

    /// Output could not be written to the console.
    pub fn of_output(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Failure::Unheard;
        }
        let title = format!("output cannot be written: {}", plain(error));
        Failure::unwritten(Diagnostic::error("E0503", title, At::default(), ""))
    }

    pub fn unwritten(diagnostic: Diagnostic) -> Self {
        Failure::Unwritten(alone("<stdout>", diagnostic))
    }

    /// Anything else that the command does would be lost.
    pub fn ends_all(&self) -> bool {
        matches!(self, Failure::Unheard | Failure::Unwritten(_))
    }

    /// How many errors it counts for.
    pub fn errors(&self) -> usize {
        match self {
            Failure::Diagnostics(place) | Failure::Usage(place) | Failure::Unwritten(place) => place.1.errors(),
            Failure::Said | Failure::Bounded | Failure::Refused | Failure::Unheard | Failure::Interrupted(_) => 1,
        }
    }

    pub fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Diagnostics(_) | Failure::Unwritten(_) | Failure::Said => ExitCode::FAILURE,
            Failure::Usage(_) => ExitCode::from(2),
            Failure::Bounded => ExitCode::from(3),
            Failure::Refused => ExitCode::from(4),
            // As a shell reports a program that was ended by the signal.
            Failure::Interrupted(signal) => ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX)),
            // As a shell reports a program that was ended by SIGPIPE.
            Failure::Unheard => ExitCode::from(141),
        }
    }
}

/// Advice for unusual reasons.
const USUAL: &str =
    "choose another place, or correct this one: `ls -ld` shows what is there, `df` how full the disk is";

fn alone(name: &str, diagnostic: Diagnostic) -> Box<(Source, Diagnostics)> {
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(diagnostic);
    Box::new((Source::new(name, ""), diagnostics))
}

/// The system's words, without the number; and our words for what Rust's library says.
pub fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    if error.kind() == io::ErrorKind::InvalidData && text.contains("UTF-8") {
        return "it is no text in UTF-8".to_owned();
    }
    // The system's words for errors that were found without it.
    let known = [
        (io::ErrorKind::UnexpectedEof, "it ends too soon"),
        (io::ErrorKind::IsADirectory, "Is a directory"),
        (io::ErrorKind::NotADirectory, "Not a directory"),
    ];
    let known = known.into_iter().find(|(kind, _)| *kind == error.kind() && error.raw_os_error().is_none());
    if let Some((_, said)) = known {
        return said.to_owned();
    }
    match text.find(" (os error") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}
