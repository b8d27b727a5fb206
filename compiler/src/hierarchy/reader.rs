//! Reads a hierarchy. It shares the lexer and the expressions of the policy language.

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::framework::Framework;
use crate::source::Source;
use crate::syntax::ast::{Expression, Name, Variable};
use crate::syntax::lexer::{TokenKind, unescape};
use crate::syntax::parser::{Parse, Parser, Reported};
use crate::syntax::{Dialect, Feature};
use crate::vocabulary::At;

/// A hierarchy as written, with names that are not resolved.
#[derive(Debug, Default)]
pub struct Draft {
    pub(super) name: Name,
    pub(super) constants: Vec<Variable>,
    pub(super) schedulers: Vec<Scheduler>,
    pub(super) defaults: Vec<Name>,
    /// Something could not be read, and what is missing may have stood there.
    pub(super) incomplete: bool,
}

/// `scheduler video : edf under root { share = 60; } with { most = 3; }`
#[derive(Debug)]
pub(super) struct Scheduler {
    pub(super) name: Name,
    pub(super) policy: PolicyName,
    pub(super) under: Option<Name>,
    /// After `under`.
    pub(super) at_parent: Vec<Given>,
    /// After `with`.
    pub(super) own: Vec<Given>,
}

/// A policy that a hierarchy names.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyName {
    /// Its file: as written in a string, which may be a path from the hierarchy's folder, or the name with `.sched`.
    pub path: String,
    /// As the author wrote it, without quotes.
    pub written: String,
    /// Whether it is written as a string.
    pub is_path: bool,
    /// Where it is named.
    pub at: At,
}

/// `share = 60;`
#[derive(Debug)]
pub(super) struct Given {
    pub(super) name: Name,
    pub(super) value: Expression,
}

impl Draft {
    /// The policies that it needs, each file once, in the order in which they are named.
    pub fn policies(&self) -> Vec<&PolicyName> {
        let mut names: Vec<&PolicyName> = Vec::new();
        for scheduler in &self.schedulers {
            if names.iter().all(|name| name.path != scheduler.policy.path) {
                names.push(&scheduler.policy);
            }
        }
        names
    }
}

/// The hierarchy as written, as far as it can be read; everything else is reported.
pub fn read(source: &Source, framework: &Framework, diagnostics: &mut Diagnostics) -> Draft {
    parse(source, Some(&framework.dialect), diagnostics)
}

/// Reports what cannot be read in any dialect. Names are not resolved.
pub(crate) fn read_through(source: &Source, diagnostics: &mut Diagnostics) {
    parse(source, None, diagnostics);
}

fn parse(source: &Source, dialect: Option<&Dialect>, diagnostics: &mut Diagnostics) -> Draft {
    if let Some(too_long) = source.too_long(Source::LONGEST) {
        diagnostics.push(too_long);
        return Draft { incomplete: true, ..Draft::default() };
    }
    let parser = Parser::new(source, dialect, "E0601", diagnostics);
    Reader { parser, draft: Draft::default() }.hierarchy()
}

/// How many schedulers a hierarchy has at most.
const MOST_SCHEDULERS: usize = 256;
/// The words that start a line.
const ITEMS: [&str; 3] = ["const", "scheduler", "default"];

struct Reader<'a> {
    parser: Parser<'a>,
    draft: Draft,
}

impl Reader<'_> {
    // Production: hierarchy.
    fn hierarchy(mut self) -> Draft {
        let Ok(opened) = self.header() else {
            return Draft { incomplete: true, ..self.draft };
        };
        while !self.parser.is_sign("}") && !self.parser.is_end() {
            if let Err(Reported) = self.item() {
                self.draft.incomplete = true;
                self.skip_item();
            }
        }
        match self.parser.expect_close(opened, "the hierarchy") {
            Ok(()) if self.parser.is_end() => {}
            Ok(()) => {
                self.parser.expected("the end of the file");
            }
            Err(Reported) => self.draft.incomplete = true,
        }
        self.draft
    }

    fn header(&mut self) -> Parse<At> {
        if !self.parser.is_word("hierarchy") {
            let unexpected = self.parser.unexpected("`hierarchy`");
            let help = match self.parser.word() {
                Some("scheduler") => "a file with a single policy has the ending `.sched`",
                _ => "a hierarchy is written `hierarchy NAME { scheduler root : POLICY; … }`",
            };
            return Err(self.parser.report(unexpected.help(help)));
        }
        let at = self.parser.advance().at;
        self.draft.name = self.parser.name("a name for the hierarchy")?;
        if self.parser.demand(Feature::Hierarchies, "hierarchies of schedulers", at) {
            // The framework has no hierarchies: nothing more is said.
            self.parser.give_up();
            return Err(Reported);
        }
        self.parser.expect_sign("{")
    }

    /// Skips the rest of a line, up to one that starts with the word of another, or to the end.
    fn skip_item(&mut self) {
        loop {
            let last = self.parser.is_sign("}") && self.parser.following.kind == TokenKind::End;
            let first_of_line = self.parser.token.at.line > self.parser.previous.line;
            let item = first_of_line && self.parser.word().is_some_and(|word| ITEMS.contains(&word));
            if self.parser.is_end() || last || item {
                return;
            }
            self.parser.advance();
        }
    }

    // Production: item.
    fn item(&mut self) -> Parse<()> {
        match self.parser.word() {
            Some("const") => self.constants(),
            Some("scheduler") => self.scheduler(),
            Some("default") => {
                self.parser.advance();
                let name = self.parser.name("the default scheduler")?;
                self.parser.expect_semicolon()?;
                self.draft.defaults.push(name);
                Ok(())
            }
            Some("under") => {
                let unexpected = self.parser.unexpected("a line of a hierarchy");
                Err(self.parser.report(
                    unexpected
                        .help("write `under` before `with`: `scheduler NAME : POLICY under PARENT { … } with { … }`"),
                ))
            }
            None if self.parser.is_sign(";") => {
                let unexpected = self.parser.unexpected("a line of a hierarchy");
                self.parser.report(unexpected.help("no `;` stands after a `}`"));
                self.parser.advance();
                Ok(())
            }
            Some(_) | None => {
                let unexpected = self.parser.unexpected("a line of a hierarchy");
                Err(self.parser.report(unexpected.note("these start with `const`, `scheduler` or `default`")))
            }
        }
    }

    // Production: constant.
    fn constants(&mut self) -> Parse<()> {
        let constants = self.parser.constants("a hierarchy")?;
        self.draft.constants.extend(constants);
        Ok(())
    }

    // Productions: item, own.
    fn scheduler(&mut self) -> Parse<()> {
        let start = self.parser.advance().at;
        let name = self.parser.name("a name for the scheduler")?;
        self.parser.expect_sign(":")?;
        let policy = self.policy()?;
        let mut closed = false;
        let (mut under, mut at_parent) = (None, Vec::new());
        if self.parser.eat_word("under") {
            under = Some(self.parser.name("the name of the scheduler above")?);
            if self.parser.is_sign("{") {
                at_parent = self.values()?;
                closed = true;
            }
        } else if self.parser.is_sign("{") {
            let unexpected = self.parser.unexpected("`under`, `with` or `;`");
            let help = "what the scheduler has at its parent follows `under PARENT`, what its own policy imports follows `with`";
            return Err(self.parser.report(unexpected.help(help)));
        }
        let mut own = Vec::new();
        if self.parser.eat_word("with") {
            own = self.values()?;
            closed = true;
        }
        if !closed {
            self.parser.expect_semicolon()?;
        }
        if self.draft.schedulers.len() == MOST_SCHEDULERS {
            let title = format!("a hierarchy has at most {MOST_SCHEDULERS} schedulers");
            let many = Diagnostic::error("E0604", title, self.parser.since(start), "the first that is too many");
            self.parser.report(many.help("let one policy schedule what several schedulers of one policy would"));
            self.parser.give_up();
            return Err(Reported);
        }
        self.draft.schedulers.push(Scheduler { name, policy, under, at_parent, own });
        Ok(())
    }

    fn policy(&mut self) -> Parse<PolicyName> {
        let what = "the name of a policy, or its file as a string";
        if self.parser.token.kind == TokenKind::Text {
            let at = self.parser.advance().at;
            let path = unescape(self.parser.written(at));
            return Ok(PolicyName { written: path.clone(), path, is_path: true, at });
        }
        let name = self.parser.name(what)?;
        if self.parser.is_sign(".") || self.parser.is_sign("/") {
            let unexpected = self.parser.unexpected("`under`, `with` or `;`");
            return Err(self.parser.report(unexpected.help("write a path as a string: `\"folder/policy.sched\"`")));
        }
        Ok(PolicyName { path: format!("{}.sched", name.text), written: name.text, is_path: false, at: name.at })
    }

    // Production: values.
    fn values(&mut self) -> Parse<Vec<Given>> {
        let opened = self.parser.expect_sign("{")?;
        let mut values = Vec::new();
        while !self.parser.is_sign("}") && !self.parser.is_end() {
            let name = self.parser.name("the name of a variable that the policy imports")?;
            self.parser.expect_sign("=")?;
            let value = self.parser.expression()?;
            self.parser.expect_semicolon()?;
            values.push(Given { name, value });
        }
        self.parser.expect_close(opened, "the list of values")?;
        Ok(values)
    }
}
