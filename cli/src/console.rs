//! What is said, and where: results on standard output, everything else on standard error.

use crate::failure::Failure;
use crate::messages::{self, MessageFormat};
use catapults_compiler::diagnostics::{Diagnostics, Severity};
use catapults_compiler::source::Source;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

pub struct Console {
    color: bool,
    format: MessageFormat,
    /// What was said of errors, for a report, while somebody wants to know.
    heard: RefCell<Option<Heard>>,
}

/// Errors, as a report has them.
#[derive(Default)]
pub struct Heard {
    /// Of the first one.
    pub code: &'static str,
    /// A line each.
    pub text: String,
}

impl Console {
    pub fn new(format: MessageFormat) -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        Console { color: wanted && io::stderr().is_terminal(), format, heard: RefCell::new(None) }
    }

    /// The command's result.
    pub fn result(&self, text: &str) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| Failure::of_output(&error))
    }

    /// What the command is doing. Nothing can be done about a closed standard error.
    pub fn note(&self, text: &str) {
        if self.is_json() {
            return self.record(&json!({ "type": "message", "severity": "note", "text": text }));
        }
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    /// Says that it goes on, and for how long it has. It draws nothing unless standard error is a terminal.
    pub fn spinner(&self, text: String) -> ProgressBar {
        let bar = if self.is_json() { ProgressBar::hidden() } else { ProgressBar::new_spinner() };
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
            bar.set_style(style);
        }
        bar.set_message(text);
        bar.enable_steady_tick(Duration::from_millis(100));
        bar
    }

    /// Whether all that is on standard error are objects. Then what a program wants to know is one, too.
    pub fn is_json(&self) -> bool {
        self.format == MessageFormat::Json
    }

    /// An object for a program that reads standard error.
    pub fn record(&self, object: &Value) {
        let _ = writeln!(io::stderr().lock(), "{object}");
    }

    /// What is said of errors from now on is wanted.
    pub fn listen(&self) {
        self.heard.replace(Some(Heard::default()));
    }

    /// What was said since.
    pub fn heard(&self) -> Heard {
        self.heard.take().unwrap_or_default()
    }

    /// What is said of errors meanwhile.
    pub fn hearing<T>(&self, says: impl FnOnce() -> T) -> (T, Heard) {
        let before = self.heard.replace(Some(Heard::default()));
        let result = says();
        (result, self.heard.replace(before).unwrap_or_default())
    }

    /// What was said before is of what is reported now, too.
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
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }

    /// Diagnostics that were asked for: a result, unless it goes where a program reads.
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
            Failure::Diagnostics(place) => self.diagnostics(&place.0, &place.1),
            Failure::Said | Failure::Bounded | Failure::Unheard => {}
        }
    }

    /// `error: …` without a code: the last line, which sums up.
    pub fn summary(&self, text: &str) {
        if self.is_json() {
            return self.record(&json!({ "type": "message", "severity": "error", "text": text }));
        }
        let (bold, plain) = if self.color { ("\x1b[1m\x1b[91merror\x1b[0m\x1b[1m", "\x1b[0m") } else { ("error", "") };
        self.note(&format!("{bold}: {text}{plain}"));
    }
}
