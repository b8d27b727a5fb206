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
    /// Something that no files can make right is wrong with the command line.
    Usage(Box<(Source, Diagnostics)>),
    /// All has been said already.
    Said,
    /// Somebody wanted it to end, by this signal. What there was has been said.
    Interrupted(i32),
    /// Nothing was found, and not everything was looked at.
    Bounded,
    /// Nobody reads our output any more: the end of `catapults ir x.sched | head`.
    Unheard,
    /// Our output cannot be written: whatever else there is to do would not be heard either.
    Unwritten(Box<(Source, Diagnostics)>),
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
        let help = advice.iter().find(|(kind, _)| *kind == error.kind()).map_or(USUAL, |(_, help)| *help);
        Failure::of(&file.display().to_string(), diagnostic.help(help))
    }

    /// The command line is wrong, whatever the files hold. `name`: of the option.
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

    /// Nothing that is left to do would be heard.
    pub fn ends_all(&self) -> bool {
        matches!(self, Failure::Unheard | Failure::Unwritten(_))
    }

    /// How many errors it stands for.
    pub fn errors(&self) -> usize {
        match self {
            Failure::Diagnostics(place) | Failure::Usage(place) | Failure::Unwritten(place) => place.1.errors(),
            Failure::Said | Failure::Bounded | Failure::Unheard | Failure::Interrupted(_) => 1,
        }
    }

    pub fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Diagnostics(_) | Failure::Unwritten(_) | Failure::Said => ExitCode::FAILURE,
            Failure::Usage(_) => ExitCode::from(2),
            Failure::Bounded => ExitCode::from(3),
            // As a shell reports a program that the signal ended.
            Failure::Interrupted(signal) => ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX)),
            // As a shell reports a program that SIGPIPE ended.
            Failure::Unheard => ExitCode::from(141),
        }
    }
}

/// What to do about what is not usual.
const USUAL: &str =
    "choose another place, or mend what is wrong with this one: `ls -ld` says what is there, `df` how full the disk is";

fn alone(name: &str, diagnostic: Diagnostic) -> Box<(Source, Diagnostics)> {
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(diagnostic);
    Box::new((Source::new(name, ""), diagnostics))
}

/// What the system says, without its number; and what Rust's library says, in words that are ours.
pub fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    if error.kind() == io::ErrorKind::InvalidData && text.contains("UTF-8") {
        return "it is no text in UTF-8".to_owned();
    }
    // As the system has it, where it was found out without it.
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
