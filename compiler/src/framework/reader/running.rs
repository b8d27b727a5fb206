//! How what is built becomes something that a host loads, and how programs and the host itself are run.

use super::Reader;
use crate::diagnostics::Diagnostic;
use crate::framework::{Argument, Build};
use crate::syntax::Feature;
use crate::syntax::parser::Parse;

impl Reader<'_> {
    // Production: item.
    pub(super) fn build(&mut self) -> Parse<()> {
        self.parser.advance();
        let name = self.parser.name("a name for what is built")?;
        let output = self.pattern_text("the name of the file built, as a string", &["policy"])?;
        let opened = self.parser.expect_sign("{")?;
        let known = ["source", "traced", "output", "framework", "shared"];
        let text = self.pattern_text("the command, as a string", &known)?;
        let mut command = vec![Argument { text, only: None }];
        while self.parser.eat_sign(",") {
            let text = self.pattern_text("an argument, as a string", &known)?;
            command.push(Argument { text, only: self.only()? });
        }
        self.parser.expect_close(opened, "the command")?;
        if self.draft.builds.iter().any(|build| build.name == name.text) {
            let twice = Diagnostic::error(
                "E0203",
                format!("build `{}` is described twice", name.text),
                name.at,
                "the second time",
            );
            return Err(self.parser.report(twice));
        }
        self.draft.builds.push(Build { name: name.text, output, command, at: name.at });
        Ok(())
    }

    /// Which policies an argument is for.
    fn only(&mut self) -> Parse<Option<(Feature, bool)>> {
        let with = self.parser.is_word("if");
        if !with && !self.parser.is_word("unless") {
            return Ok(None);
        }
        self.parser.advance();
        self.feature().map(|feature| Some((feature, with)))
    }

    // Production: item.
    pub(super) fn run(&mut self) -> Parse<()> {
        let at = self.parser.advance().at;
        if self.parser.eat_word("by") {
            let at = self.parser.since(at);
            let command = self.words(&["output", "framework", "built"])?;
            return Self::once(&mut self.parser, &mut self.draft.run_by, command, at);
        }
        let others = self.parser.is_word("other");
        if others {
            self.parser.advance();
            self.parser.expect_word("programs")?;
        } else if self.parser.is_word("programs") {
            self.parser.advance();
            self.parser.expect_word("with")?;
            let mark =
                self.text("what is written in every program that the host's library is linked to, as a string")?;
            self.draft.running.marks.push(mark);
        }
        let opened = self.parser.expect_sign("{")?;
        while !self.parser.is_sign("}") && !self.parser.is_end() {
            let name = self.parser.name("the name of a variable of the environment")?;
            self.parser.expect_sign("=")?;
            let known = ["output", "framework", "built", "sites"];
            let value = self.pattern_text("its value, as a string", &known[..if others { 4 } else { 3 }])?;
            self.parser.expect_semicolon()?;
            let running = &mut self.draft.running;
            let environment = if others { &mut running.others } else { &mut running.environment };
            environment.push((name.text, value));
        }
        self.parser.expect_close(opened, "`run`")
    }

    // Production: item.
    pub(super) fn command(&mut self) -> Parse<()> {
        let at = self.parser.advance().at;
        let command = self.words(&["framework", "built"])?;
        Self::once(&mut self.parser, &mut self.draft.command, command, at)
    }

    // Production: words.
    /// A program and its first arguments, in braces.
    fn words(&mut self, known: &[&str]) -> Parse<Vec<String>> {
        let opened = self.parser.expect_sign("{")?;
        let mut words = vec![self.pattern_text("the command, as a string", known)?];
        while self.parser.eat_sign(",") {
            words.push(self.pattern_text("an argument, as a string", known)?);
        }
        self.parser.expect_close(opened, "the command")?;
        Ok(words)
    }
}
