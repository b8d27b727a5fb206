//! Reads a framework description. It shares the lexer and the bodies of handlers with the policy language.

mod rules;
mod running;

use std::collections::BTreeSet;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::Source;
use crate::syntax::ast::Name;
use crate::syntax::lexer::{TokenKind, unescape};
use crate::syntax::parser::{Parse, Parser, Reported};
use crate::syntax::{Dialect, Feature};
use crate::vocabulary::At;

use super::judge;
use super::resolve::{self, NamedPattern};
use super::service::ServiceDraft;
use super::{
    Absent, Build, Condition, Event, Extent, Framework, FrameworkContainer, Hears, Move, Property, Query, QueryDefault,
    Rule, Running, Stage,
};
use crate::vocabulary::{Entity, StateClass, Type};

/// The framework that the text describes, or everything that is wrong with it.
pub fn read(source: &Source) -> Result<Framework, Diagnostics> {
    check(source).map(|(framework, _)| framework)
}

/// The same, with warnings. They are for the author of the description, not for its users.
pub fn check(source: &Source) -> Result<(Framework, Diagnostics), Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let draft = parse(source, &mut diagnostics);
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let framework = resolve::resolve(draft, &mut diagnostics);
    if let Some(framework) = framework.as_ref().filter(|_| !diagnostics.has_errors()) {
        judge::judge(framework, &mut diagnostics);
    }
    match framework {
        Some(framework) if !diagnostics.has_errors() => Ok((framework, diagnostics)),
        Some(_) | None => Err(diagnostics),
    }
}

/// Reports what cannot be read. Names are not resolved.
pub(crate) fn read_through(source: &Source, diagnostics: &mut Diagnostics) {
    parse(source, diagnostics);
}

/// The description as far as it can be read; everything else is reported.
fn parse(source: &Source, diagnostics: &mut Diagnostics) -> Draft {
    if let Some(too_long) = source.too_long(Source::LONGEST) {
        diagnostics.push(too_long);
        return Draft::default();
    }
    let parser = Parser::new(source, None, "E0201", diagnostics);
    Reader { parser, draft: Draft::default() }.framework()
}

/// A description as written, with names that are not resolved.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) name: Name,
    pub(super) abi: Option<u32>,
    pub(super) language: Option<(String, At)>,
    pub(super) int_bits: Option<u8>,
    pub(super) capacity: Option<u32>,
    pub(super) header: Option<(String, At)>,
    pub(super) features: BTreeSet<Feature>,
    pub(super) containers: Vec<FrameworkContainer>,
    pub(super) properties: Vec<Property>,
    pub(super) tells_any_property: bool,
    pub(super) events: Vec<(Name, Event)>,
    pub(super) timer: Option<(Name, Event)>,
    pub(super) unraised: Vec<(Name, Event)>,
    /// The place of the name in `default like NAME`, by index into `events`.
    pub(super) like: Vec<(usize, Name)>,
    pub(super) queries: Vec<(Name, Query)>,
    pub(super) sequences: Vec<(Name, NamedPattern)>,
    pub(super) hears: Option<Hears>,
    pub(super) preempts: Option<String>,
    pub(super) locks: Option<ServiceDraft>,
    pub(super) semaphores: Option<ServiceDraft>,
    pub(super) builds: Vec<Build>,
    pub(super) running: Running,
    /// Words that are given once, such as `command`.
    pub(super) run_by: Option<Vec<String>>,
    pub(super) command: Option<Vec<String>>,
}

impl Draft {
    pub(super) fn dialect(&self) -> Dialect {
        Dialect { framework: self.name.text.clone(), features: self.features.clone() }
    }
}

/// The words that start an item.
const ITEMS: [&str; 22] = [
    "abi",
    "language",
    "int",
    "capacity",
    "header",
    "dialect",
    "container",
    "node",
    "global",
    "optional",
    "event",
    "timer",
    "unraised",
    "query",
    "sequence",
    "cooperative",
    "preempts",
    "locks",
    "semaphores",
    "build",
    "run",
    "command",
];

pub(super) struct Reader<'a> {
    pub(super) parser: Parser<'a>,
    pub(super) draft: Draft,
}

impl Reader<'_> {
    // Production: framework.
    fn framework(mut self) -> Draft {
        let Ok(opened) = self.header() else {
            return self.draft;
        };
        while !self.parser.is_sign("}") && !self.parser.is_end() {
            if let Err(Reported) = self.item() {
                self.skip_item();
            }
        }
        if self.parser.expect_close(opened, "the framework description").is_ok() && !self.parser.is_end() {
            self.parser.expected("the end of the file");
        }
        self.draft
    }

    /// Skips the rest of an item, up to a line that starts another one, or to the end.
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

    fn header(&mut self) -> Parse<At> {
        self.parser.expect_word("framework")?;
        self.draft.name = self.parser.name("a name for the framework")?;
        self.parser.expect_sign("{")
    }

    // Production: item.
    fn item(&mut self) -> Parse<()> {
        let at = self.parser.token.at;
        match self.parser.word() {
            Some("abi") => {
                let value = self.number()?;
                let value = u32::try_from(value)
                    .map_err(|_| self.wrong(at, "an abi has at most 32 bits", "choose a smaller number"))?;
                Self::once(&mut self.parser, &mut self.draft.abi, value, at)
            }
            Some("language") => {
                self.parser.advance();
                let language = self.parser.name("the name of a language")?;
                self.parser.expect_semicolon()?;
                Self::once(&mut self.parser, &mut self.draft.language, (language.text, language.at), at)
            }
            Some("int") => match self.number()? {
                bits @ (16 | 32 | 64) => {
                    Self::once(&mut self.parser, &mut self.draft.int_bits, bits.to_le_bytes()[0], at)
                }
                _ => Err(self.wrong(at, "an `int` has 16, 32 or 64 bits", "write `int 16;`, `int 32;` or `int 64;`")),
            },
            Some("capacity") => {
                self.parser.advance();
                if !self.parser.is_word("threads") {
                    let unexpected = self.parser.unexpected("`threads`");
                    return Err(self.parser.report(unexpected.help("write `capacity threads NUMBER;`")));
                }
                match self.number().map(u32::try_from)? {
                    Ok(most) if most > 0 => Self::once(&mut self.parser, &mut self.draft.capacity, most, at),
                    Ok(_) | Err(_) => {
                        let title = "at least 1 thread can live at a time, and at most 4294967295";
                        Err(self.wrong(at, title, "leave the line out if there is no bound"))
                    }
                }
            }
            Some("header") => {
                self.parser.advance();
                let place = self.parser.token.at;
                let header = self.text("the name of a header, as a string")?;
                self.parser.expect_semicolon()?;
                Self::once(&mut self.parser, &mut self.draft.header, (header, place), at)
            }
            Some("dialect") => self.dialect(),
            Some("container") => self.container(),
            Some("optional") => {
                self.parser.advance();
                self.event(true)
            }
            Some("node") if !self.parser.follows_word("event") => self.property(),
            Some("node" | "global" | "event") => self.event(false),
            Some("timer") => self.timer_event(),
            Some("unraised") => self.unraised_event(),
            Some("query") => self.query(),
            Some("sequence") => self.sequence(),
            Some("cooperative") => {
                self.parser.advance();
                let polls = self.parser.eat_word("polling");
                self.parser.expect_semicolon()?;
                let hears = if polls { Hears::AfterThreadByPolling } else { Hears::AfterThread };
                Self::once(&mut self.parser, &mut self.draft.hears, hears, at)
            }
            Some("preempts") => {
                self.parser.advance();
                let variable = self.parser.name("a variable of threads")?;
                self.parser.expect_semicolon()?;
                Self::once(&mut self.parser, &mut self.draft.preempts, variable.text, at)
            }
            Some("locks" | "semaphores") => self.service(),
            Some("build") => self.build(),
            Some("run") => self.run(),
            Some("command") => self.command(),
            Some(_) | None => {
                let unexpected = self.parser.unexpected("a line of a framework description").note(
                    "these are `abi`, `language`, `int`, `capacity`, `header`, `dialect`, `container`, `node`, `event`, `optional event`, `node event`, `global event`, `timer event`, `unraised event`, `query`, `sequence`, `cooperative`, `preempts`, `locks`, `semaphores`, `build`, `run`, `command`",
                );
                Err(self.parser.report(unexpected))
            }
        }
    }

    pub(super) fn once<T>(parser: &mut Parser<'_>, slot: &mut Option<T>, value: T, at: At) -> Parse<()> {
        if slot.is_some() {
            let word = parser.written(at);
            parser.report(Diagnostic::error("E0203", format!("`{word}` is given twice"), at, "the second time"));
            return Ok(());
        }
        *slot = Some(value);
        Ok(())
    }

    pub(super) fn wrong(&mut self, at: At, title: &str, help: &str) -> Reported {
        self.parser.report(Diagnostic::error("E0205", title, at.to(self.parser.previous), "").help(help))
    }

    /// `WORD NUMBER ;`
    fn number(&mut self) -> Parse<u64> {
        self.parser.advance();
        let TokenKind::Number(value) = self.parser.token.kind else {
            return Err(self.parser.expected("a number"));
        };
        self.parser.advance();
        self.parser.expect_semicolon()?;
        Ok(value)
    }

    fn text(&mut self, what: &str) -> Parse<String> {
        if self.parser.token.kind != TokenKind::Text {
            return Err(self.parser.expected(what));
        }
        let at = self.parser.advance().at;
        Ok(unescape(self.parser.written(at)))
    }

    /// A string in which `{NAME}` is a placeholder, with a `known` name.
    fn pattern_text(&mut self, what: &str, known: &[&str]) -> Parse<String> {
        let at = self.parser.token.at;
        let text = self.text(what)?;
        let names = text.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name);
        let is_name = |name: &&str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
        if let Some(name) = names.filter(is_name).find(|name| !known.contains(name)) {
            let known: Vec<String> = known.iter().map(|name| format!("`{{{name}}}`")).collect();
            let title = format!("`{{{name}}}` stands for nothing here");
            let unknown = Diagnostic::error("E0202", title, at, "unknown name");
            return Err(self.parser.report(unknown.note(format!("what can stand here: {}", known.join(", ")))));
        }
        Ok(text)
    }

    // Production: feature.
    fn dialect(&mut self) -> Parse<()> {
        self.parser.advance();
        let opened = self.parser.expect_sign("{")?;
        while !self.parser.is_sign("}") && !self.parser.is_end() {
            let at = self.parser.token.at;
            let feature = self.feature()?;
            self.parser.expect_semicolon()?;
            if !self.draft.features.insert(feature) {
                self.parser.report(Diagnostic::error(
                    "E0203",
                    format!("`{}` is given twice", feature.word()),
                    at,
                    "the second time",
                ));
            }
        }
        self.parser.expect_close(opened, "the dialect")
    }

    fn feature(&mut self) -> Parse<Feature> {
        let word = self.parser.word();
        let Some(feature) = Feature::ALL.into_iter().find(|feature| Some(feature.word()) == word) else {
            let known = Feature::ALL.map(|feature| format!("`{}`", feature.word())).join(", ");
            let unknown = self
                .parser
                .unexpected("an optional part of the language")
                .note(format!("this version has these: {known}"));
            return Err(self.parser.report(unknown));
        };
        self.parser.advance();
        Ok(feature)
    }

    // Production: item.
    fn container(&mut self) -> Parse<()> {
        self.parser.advance();
        let name = self.parser.name("a name for the container")?;
        self.parser.expect_sign(":")?;
        let (class, _) = self.parser.class()?;
        self.parser.expect_semicolon()?;
        self.draft.containers.push(FrameworkContainer { name: name.text, class, at: name.at });
        Ok(())
    }

    // Production: item.
    fn property(&mut self) -> Parse<()> {
        let start = self.parser.advance().at;
        if self.parser.eat_sign("*") {
            self.draft.tells_any_property = true;
            return self.parser.expect_semicolon().map(|_| ());
        }
        let Some(word) = self.parser.word().map(str::to_owned) else {
            return Err(self.parser.expected("a name for the property, `*`, or `event`"));
        };
        let at = self.parser.advance().at;
        self.parser.expect_sign(":")?;
        let (ty, _) = self.parser.value_type()?;
        self.parser.expect_semicolon()?;
        if let Some(first) = self.draft.properties.iter().find(|property| property.name == word) {
            let title = format!("`{word}` is described twice");
            let twice = Diagnostic::error("E0203", title, at, "the second time");
            return Err(self.parser.report(twice.related(first.at, "the first time")));
        }
        self.draft.properties.push(Property { name: word, ty, at: start.to(at) });
        Ok(())
    }

    // Productions: entities, entity.
    fn entities(&mut self) -> Parse<(Vec<String>, Vec<Entity>)> {
        let (mut names, mut entities) = (Vec::new(), Vec::new());
        if !self.parser.eat_sign("(") || self.parser.eat_sign(")") {
            return Ok((names, entities));
        }
        loop {
            let entity = if self.parser.eat_word("node") { Entity::Node } else { Entity::Thread };
            names.push(self.parser.name("a name for the thread or node")?.text);
            entities.push(entity);
            if self.parser.eat_sign(")") {
                return Ok((names, entities));
            }
            if !self.parser.eat_sign(",") {
                return Err(self.parser.expected("`,` or `)`"));
            }
        }
    }

    // Productions: event, concerned, default.
    fn event(&mut self, optional: bool) -> Parse<()> {
        let first = self.parser.token.at;
        let extent = if self.parser.eat_word("global") {
            Extent::Global
        } else if self.parser.eat_word("node") {
            Extent::Node
        } else {
            Extent::Any
        };
        let event = self.parser.expect_word("event")?;
        let start = if extent == Extent::Any { event } else { first };
        let name = self.member_name("the name of an event")?;
        let (parameters, entities) = self.entities()?;
        let at = self.parser.since(start);
        let may_fail = self.parser.eat_word("may");
        if may_fail {
            self.parser.expect_word("fail")?;
        }
        let rules = if self.parser.is_sign("{") { self.rules(&parameters)? } else { Vec::new() };
        let mut absent = if optional { Absent::Optional } else { Absent::Required };
        let mut closed = !rules.is_empty();
        if self.parser.is_word("default") {
            if optional {
                let title = "an event is optional or has a default, not both";
                let at = self.parser.token.at;
                let both = Diagnostic::error("E0201", title, at, "").help("remove `optional`, or this default");
                return Err(self.parser.report(both));
            }
            self.parser.advance();
            closed = true;
            if self.parser.eat_word("like") {
                let like = self.member_name("the name of an event")?;
                self.parser.expect_semicolon()?;
                self.draft.like.push((self.draft.events.len(), like.clone()));
                absent = Absent::Like(like.text);
            } else {
                absent = Absent::Body(self.parser.default_body()?);
            }
        }
        if !closed {
            self.parser.expect_semicolon()?;
        }
        let text = name.text.clone();
        let event = Event { name: text, extent, parameters, entities, may_fail, absent, rules, timer: None, at };
        self.draft.events.push((name, event));
        Ok(())
    }

    // Production: timer_event.
    fn timer_event(&mut self) -> Parse<()> {
        self.parser.advance();
        self.event(false)?;
        // What was read is itself no event.
        let Some((name, event)) = self.draft.events.pop() else { return Ok(()) };
        self.draft.like.retain(|(index, _)| *index < self.draft.events.len());
        let plain = matches!(event.absent, Absent::Required) && !event.may_fail && event.names(0, Entity::Thread);
        if event.parameters.len() != 1 || !plain || name.text.contains('.') {
            let title = "a timer event has a plain name and one parameter, and neither fails nor has a default";
            let wrong = Diagnostic::error("E0201", title, event.at, "");
            return Err(self.parser.report(wrong.help("write `timer event timeout(t) { … }`")));
        }
        if event.dispatches() {
            let title = "a timer event dispatches no thread";
            let wrong = Diagnostic::error("E0205", title, event.at, "");
            return Err(self.parser.report(wrong.help("let it make the thread READY: `schedule` follows")));
        }
        if let Some((first, _)) = &self.draft.timer {
            let twice = Diagnostic::error("E0203", "the timer event is described twice", name.at, "the second time");
            return Err(self.parser.report(twice.related(first.at, "the first time")));
        }
        self.draft.timer = Some((name, event));
        Ok(())
    }

    // Production: unraised_event.
    fn unraised_event(&mut self) -> Parse<()> {
        self.parser.advance();
        self.event(false)?;
        // What was read is an event that never comes.
        let Some((name, event)) = self.draft.events.pop() else { return Ok(()) };
        self.draft.like.retain(|(index, _)| *index < self.draft.events.len());
        let plain = matches!(event.absent, Absent::Required) && !event.may_fail && event.extent == Extent::Any;
        if !plain || !event.rules.is_empty() {
            let title = "an event that is never raised has only a name and threads";
            let wrong = Diagnostic::error("E0201", title, event.at, "");
            return Err(self.parser.report(wrong.help(format!("write `unraised event {}(t);`", name.text))));
        }
        self.draft.unraised.push((name, event));
        Ok(())
    }

    // Production: member.
    /// The name of one event, not of a family.
    pub(super) fn member_name(&mut self, what: &str) -> Parse<Name> {
        let name = self.parser.event_name(what)?;
        if name.text.ends_with('*') {
            let family = Diagnostic::error("E0201", format!("`{}` is a family, not one event", name.text), name.at, "");
            return Err(self.parser.report(family.help("declare each of its members")));
        }
        Ok(name)
    }

    // Production: query.
    fn query(&mut self) -> Parse<()> {
        let start = self.parser.advance().at;
        let name = self.member_name("the name of a query")?;
        let parameters: Vec<String> = self.parser.parameters()?.into_iter().map(|parameter| parameter.text).collect();
        self.parser.expect_sign(":")?;
        let (returns, _) = self.parser.value_type()?;
        let at = self.parser.since(start);
        let default =
            if self.parser.eat_sign("=") { self.query_default(&parameters, returns)? } else { QueryDefault::Required };
        self.parser.expect_semicolon()?;
        let query = Query { name: name.text.clone(), parameters, returns, default, at };
        self.draft.queries.push((name, query));
        Ok(())
    }

    fn query_default(&mut self, parameters: &[String], returns: Type) -> Parse<QueryDefault> {
        let start = self.parser.token.at;
        let (default, ty) = if !self.parser.follows_word("in") && self.parser.eat_word("count") {
            (QueryDefault::Count(self.classes()?), Type::Int)
        } else {
            let name = self.parser.name("`count` or a parameter of the query")?;
            let Some(index) = parameters.iter().position(|parameter| *parameter == name.text) else {
                let unknown = no_parameter(&name, parameters, "query");
                return Err(self.parser.report(unknown));
            };
            self.parser.expect_word("in")?;
            (QueryDefault::In(index, self.classes()?), Type::Bool)
        };
        if ty != returns {
            let title = format!("the default is of type `{}`, the query of type `{}`", ty.word(), returns.word());
            return Err(self.parser.report(Diagnostic::error("E0205", title, self.parser.since(start), "")));
        }
        Ok(default)
    }

    fn classes(&mut self) -> Parse<Vec<StateClass>> {
        let mut classes = vec![self.parser.class()?.0];
        while self.parser.eat_sign(",") {
            classes.push(self.parser.class()?.0);
        }
        Ok(classes)
    }

    // Production: item.
    fn sequence(&mut self) -> Parse<()> {
        self.parser.advance();
        // A sequence may be called `thread`, which is a word of the policy language.
        let name = self.member_name("a name for the sequence")?;
        let opened = self.parser.expect_sign("{")?;
        let pattern = self.alternatives()?;
        self.parser.expect_close(opened, "the sequence")?;
        self.draft.sequences.push((name, pattern));
        Ok(())
    }

    // Production: alternatives.
    fn alternatives(&mut self) -> Parse<NamedPattern> {
        let mut alternatives = Vec::new();
        loop {
            let mut steps = Vec::new();
            while self.parser.is_sign("(") || self.parser.word().is_some() {
                steps.push(self.step()?);
            }
            alternatives.push(NamedPattern::Then(steps));
            if !self.parser.eat_sign("|") {
                break;
            }
        }
        Ok(match alternatives.pop() {
            Some(only) if alternatives.is_empty() => only,
            last => {
                alternatives.extend(last);
                NamedPattern::Either(alternatives)
            }
        })
    }

    // Production: step.
    fn step(&mut self) -> Parse<NamedPattern> {
        let step = if self.parser.eat_sign("(") {
            self.parser.depth += 1;
            self.parser.check_depth(self.parser.depth)?;
            let pattern = self.alternatives()?;
            self.parser.expect_sign(")")?;
            self.parser.depth -= 1;
            pattern
        } else {
            NamedPattern::Name(self.parser.event_name("an event or a sequence")?)
        };
        Ok(if self.parser.eat_sign("*") {
            NamedPattern::Many(Box::new(step))
        } else if self.parser.eat_sign("?") {
            NamedPattern::Maybe(Box::new(step))
        } else {
            step
        })
    }
}

fn no_parameter(name: &Name, parameters: &[String], of: &str) -> Diagnostic {
    let diagnostic =
        Diagnostic::error("E0202", format!("`{}` is no parameter of this {of}", name.text), name.at, "unknown name");
    match parameters {
        [] => diagnostic.note("it has none"),
        some => diagnostic.note(format!("it has `{}`", some.join("`, `"))),
    }
}
