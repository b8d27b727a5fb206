//! Messages and results: results go to standard output, everything else to standard error.

use crate::failure::Failure;
use crate::messages::{self, MessageFormat};
use crate::streams::Stream;
use catapults_compiler::diagnostics::{Diagnostics, Severity};
use catapults_compiler::source::Source;
use catapults_simulator::picture::visible;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

pub struct Console {
    color: bool,
    format: MessageFormat,
    /// The errors that were reported, while they are collected for a report.
    heard: RefCell<Option<Heard>>,
    /// Why something could not be written to standard error.
    unsaid: Cell<Option<io::Error>>,
}

/// Errors for a report.
#[derive(Default)]
pub struct Heard {
    /// The code of the first one.
    pub code: &'static str,
    /// One line per error.
    pub text: String,
}

impl Console {
    pub fn new(format: MessageFormat) -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        Console {
            color: wanted && io::stderr().is_terminal(),
            format,
            heard: RefCell::new(None),
            unsaid: Cell::new(None),
        }
    }

    /// Writes the command's result. Names in it may be anything, but must not control the terminal.
    pub fn result(&self, text: &str) -> Result<(), Failure> {
        self.data(&harmless(text, false))
    }

    /// Writes a result as it is.
    pub fn data(&self, text: &str) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| Failure::of_output(&error))
    }

    /// Says what the command is doing.
    pub fn note(&self, text: &str) {
        if self.is_json() {
            return self.record(&json!({ "type": "message", "severity": "note", "text": text }));
        }
        self.say(&format!("{}\n", harmless(text, self.color)));
    }

    /// A failure is remembered: a command whose messages are lost has not done its job.
    fn say(&self, text: &str) {
        let said = match Stream::Error.is_closed() {
            true => Err(io::Error::from_raw_os_error(libc::EBADF)),
            false => io::stderr().lock().write_all(text.as_bytes()),
        };
        if let Err(error) = said {
            self.unsaid.set(Some(error));
        }
    }

    /// Why something could not be written to standard error.
    pub fn unsaid(&self) -> Option<Failure> {
        self.unsaid.take().map(|error| Failure::of_output(&error))
    }

    /// Shows that the command is working, and for how long. Only on a terminal.
    pub fn spinner(&self, text: String) -> ProgressBar {
        let bar = if self.is_json() { ProgressBar::hidden() } else { ProgressBar::new_spinner() };
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
            bar.set_style(style);
        }
        bar.set_message(visible(&text).into_owned());
        bar.enable_steady_tick(Duration::from_millis(100));
        bar
    }

    /// Whether all messages are objects. Then what a program wants to know is one, too.
    pub fn is_json(&self) -> bool {
        self.format == MessageFormat::Json
    }

    /// Writes an object for a program that reads standard error.
    pub fn record(&self, object: &Value) {
        self.say(&format!("{object}\n"));
    }

    /// Starts to collect errors.
    pub fn listen(&self) {
        self.heard.replace(Some(Heard::default()));
    }

    /// Returns the collected errors.
    pub fn heard(&self) -> Heard {
        self.heard.take().unwrap_or_default()
    }

    /// Collects the errors of `says` separately.
    pub fn hearing<T>(&self, says: impl FnOnce() -> T) -> (T, Heard) {
        let before = self.heard.replace(Some(Heard::default()));
        let result = says();
        (result, self.heard.replace(before).unwrap_or_default())
    }

    /// Collects errors again that were reported before.
    pub fn holds_again(&self, said: &Heard) {
        if let Some(heard) = self.heard.borrow_mut().as_mut() {
            if heard.code.is_empty() {
                heard.code = said.code;
            }
            heard.text.push_str(&said.text);
        }
    }

    pub fn diagnostics(&self, source: &Source, diagnostics: &Diagnostics) {
        if let Some(heard) = self.heard.borrow_mut().as_mut().filter(|_| diagnostics.has_errors()) {
            let first = diagnostics.in_order().into_iter().find(|one| one.severity == Severity::Error);
            if heard.code.is_empty() {
                heard.code = first.map_or("", |first| first.code);
            }
            heard.text.push_str(&messages::short(source, diagnostics));
        }
        let text = match self.format {
            MessageFormat::Human => diagnostics.render(source, self.color),
            MessageFormat::Short => messages::short(source, diagnostics),
            MessageFormat::Json => {
                return messages::objects(source, diagnostics).iter().for_each(|object| self.record(object));
            }
        };
        self.say(&harmless(&text, self.color));
    }

    /// Diagnostics that were asked for. They are a result, except as objects.
    pub fn answer(&self, source: &Source, diagnostics: &Diagnostics) -> Result<(), Failure> {
        match self.format {
            MessageFormat::Human => self.result(&diagnostics.render(source, false)),
            MessageFormat::Short => self.result(&messages::short(source, diagnostics)),
            MessageFormat::Json => {
                self.diagnostics(source, diagnostics);
                Ok(())
            }
        }
    }

    pub fn failure(&self, failure: &Failure) {
        match failure {
            Failure::Diagnostics(place) | Failure::Usage(place) | Failure::Unwritten(place) => {
                self.diagnostics(&place.0, &place.1);
            }
            Failure::Said | Failure::Bounded | Failure::Refused | Failure::Unheard | Failure::Interrupted(_) => {}
        }
    }

    /// `error: …` without a code: the last line, a summary.
    pub fn summary(&self, text: &str) {
        if self.is_json() {
            return self.record(&json!({ "type": "message", "severity": "error", "text": text }));
        }
        let (bold, plain) = if self.color { ("\x1b[1m\x1b[91merror\x1b[0m\x1b[1m", "\x1b[0m") } else { ("error", "") };
        self.note(&format!("{bold}: {text}{plain}"));
    }
}

/// A text in which nothing controls the terminal, except colours if they are used.
fn harmless(text: &str, color: bool) -> Cow<'_, str> {
    let is_laid_out = |letter: char| letter == '\n' || letter == '\t';
    if text.split(is_laid_out).all(|part| matches!(visible(part), Cow::Borrowed(_))) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let length = if color { colour(rest) } else { 0 };
        if length > 0 {
            safe.push_str(&rest[..length]);
            rest = &rest[length..];
            continue;
        }
        if is_laid_out(letter) {
            safe.push(letter);
        } else {
            safe.push_str(&visible(letter.encode_utf8(&mut [0; 4])));
        }
        rest = &rest[letter.len_utf8()..];
    }
    Cow::Owned(safe)
}

/// The length of the escape sequence for a colour with which a text begins, or 0.
fn colour(text: &str) -> usize {
    let Some(after) = text.strip_prefix("\u{1b}[") else { return 0 };
    let end = after.find(|letter: char| !letter.is_ascii_digit() && letter != ';').unwrap_or(after.len());
    if after[end..].starts_with('m') { 2 + end + 1 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_steer_no_terminal() {
        let name = "a\u{1b}[31mb\u{1b}]0;title\u{7}\u{202e}c\td\r\n";
        let safe = "a\\u{1b}[31mb\\u{1b}]0;title\\u{7}\\u{202e}c\td\\u{d}\n";
        assert_eq!(harmless(name, false), safe);
        assert_eq!(harmless(name, true), safe.replace("\\u{1b}[31m", "\u{1b}[31m"));
        assert_eq!(harmless("é – █\n", false), "é – █\n");
        assert_eq!(harmless("\u{1b}[", true), "\\u{1b}[");
    }
}
