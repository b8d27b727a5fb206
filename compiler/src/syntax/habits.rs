//! Habits from other languages, and what to write instead. For messages only: the parser accepts none of them.

use crate::diagnostics::Diagnostic;
use crate::vocabulary::At;

use super::ast::{Name, Reference};
use super::lexer::TokenKind;
use super::parser::{Parser, Reported};
use super::words::another_name;

/// How to visit all threads of a container.
pub(super) const VISIT: &str = "the threads of a container are visited with `foreach t in c`";

impl Parser<'_> {
    /// Advice for the current token, where something else was expected.
    pub(super) fn habit(&self) -> Option<&'static str> {
        if !self.reads_policy() {
            return None;
        }
        match self.token.kind {
            TokenKind::Sign("->") => Some("a thread is moved with `=>`, its attributes follow a `.`"),
            TokenKind::Sign("+") => Some("`+=` adds to a variable, and a number has no sign `+`"),
            TokenKind::Text => Some("a string can only follow `fail`"),
            TokenKind::Word => match self.word()? {
                "and" => Some("write `&&` for \"and\""),
                "or" => Some("write `||` for \"or\""),
                _ => None,
            },
            TokenKind::Number(_)
            | TokenKind::Duration(_)
            | TokenKind::Float(_)
            | TokenKind::Sign(_)
            | TokenKind::Bad(_)
            | TokenKind::End => None,
        }
    }

    /// Reports a call such as `ready.push(t)`.
    pub(super) fn no_method(&mut self, of: &Reference, method: &Name) -> Reported {
        let (owner, name) = (&of.name.text, &method.text);
        let help = match name.as_str() {
            "push" | "push_back" | "push_front" | "add" | "append" | "insert" | "put" | "enqueue" => {
                format!("a thread is moved with `=>`: `t => {owner};`")
            }
            "pop" | "pop_front" | "pop_back" | "remove" | "dequeue" | "poll" | "take" | "shift" => {
                format!("the next thread of a container is moved with `=>`: `{owner} => current;`")
            }
            "size" | "length" | "len" | "count" => format!("`|{owner}|` is the number of threads in it"),
            "empty" | "is_empty" | "isEmpty" => format!("`empty({owner})` says whether it holds none"),
            "contains" | "has" | "includes" => format!("`t in {owner}` says whether a thread is in it"),
            "front" | "first" | "head" | "top" | "peek" => format!("threads are visited with `foreach t in {owner}`"),
            _ => format!("a function is called by its name alone: `{name}(…)`"),
        };
        let title = format!("`{owner}` has no functions of its own");
        self.report(Diagnostic::error("E0101", title, method.at, "cannot be called").help(help))
    }

    /// Reports the second `.` of `t.owner.age`.
    pub(super) fn no_name(&mut self, of: &Reference, member: &Name) -> Reported {
        let (link, name) = (format!("{}.{}", of.name.text, member.text), another_name(&of.name.text));
        let further = self.following_word().unwrap_or("ATTRIBUTE");
        let title = format!("`{link}` is not the name of a thread");
        let nameless = Diagnostic::error("E0101", title, self.token.at, "follows only a name");
        let help =
            format!("if it is a threadref, visit its thread: `foreach {name} in {link} {{ … {name}.{further} … }}`");
        self.report(nameless.help(help))
    }

    /// Reports the `.` of `u.owner` where a container is expected. `instead` makes the advice, of `u.owner` and of a name
    /// for its thread.
    pub(super) fn no_container(&mut self, of: &Reference, instead: impl Fn(&str, &str) -> String) -> Reported {
        let link = format!("{}.{}", of.name.text, self.following_word().unwrap_or("THREADREF"));
        let nameless = Diagnostic::error("E0101", format!("`{link}` is not a container"), self.token.at, "");
        let nameless = nameless.note("a threadref of a thread names another thread, and holds none");
        self.report(nameless.help(instead(&link, another_name(&of.name.text))))
    }

    fn following_word(&self) -> Option<&str> {
        (self.following.kind == TokenKind::Word).then(|| self.written(self.following.at))
    }

    /// Reports the first word of a part of the scheduler, if other languages start functions with that word.
    pub(super) fn function_of_other_languages(&mut self, at: At) -> Option<Reported> {
        let word = self.word()?;
        if !["void", "fn", "func", "fun", "def", "proc", "procedure", "sub", "static", "inline"].contains(&word) {
            return None;
        }
        let title = format!("`{word}` starts no part of a scheduler");
        let help = "a function is `function NAME(t) { … }`, or `function int NAME(t) { … }` if it returns a value";
        Some(self.report(Diagnostic::error("E0101", title, at, "not a section or a handler").help(help)))
    }
}

/// What to write instead of a word that starts a statement in other languages.
pub(super) fn statement(word: &str) -> Option<&'static str> {
    Some(match word {
        "switch" | "match" | "case" => "write `if (…) … else if (…) …`",
        "elif" | "elsif" | "elseif" => "write `else if (…)`",
        "goto" => "write a loop or a function",
        "let" | "var" | "auto" => "a variable is declared by its type: `int n = 1;`",
        _ => return ty(word),
    })
}

/// What to write instead of a type of other languages.
pub(super) fn ty(word: &str) -> Option<&'static str> {
    Some(match word {
        "unsigned" | "signed" | "long" | "short" | "char" | "uint" | "int8_t" | "int16_t" | "int32_t" | "int64_t"
        | "uint8_t" | "uint16_t" | "uint32_t" | "uint64_t" | "size_t" | "integer" | "Int" => {
            "whole numbers are of type `int`"
        }
        "double" | "real" => "fractions are of type `float`",
        "boolean" | "_Bool" => "truth values are of type `bool`",
        "string" | "str" | "String" => "there are no strings: use a number for each",
        "duration" | "timespec" | "instant" => "instants and durations are of type `time`",
        _ => return None,
    })
}
