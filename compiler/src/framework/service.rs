//! What a host does with threads that wait for a lock or a semaphore: which it serves, and what it does for an owner.

use crate::diagnostics::Diagnostic;
use crate::syntax::ast::Name;
use crate::syntax::lexer::TokenKind;
use crate::syntax::parser::Parse;
use crate::vocabulary::{At, StateClass};

use super::reader::{Draft, Reader};
use super::resolve::unknown;
use super::{Event, Move, Stage};
use crate::diagnostics::Diagnostics;

/// `locks { … }`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locks {
    /// Which waiting thread gets a lock.
    pub service: Service,
    /// The protocols, each once. The first is the usual one; never empty.
    pub protocols: Vec<Protocol>,
}

/// How threads that wait for one thing are served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// `event block.lock;`: the event by which a waiting thread blocks.
    pub event: String,
    /// Which thread comes first.
    pub next: Next,
    /// `passed_over 1;`: how often a later thread can be faster than the first waiting one, which is told. After that,
    /// what is free is given to that one. Waiting threads do not pass over each other. `None`: any number of times, and
    /// a thread that is told loses its place.
    pub passed_over: Option<u32>,
}

/// Which thread comes first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// The one that has waited longest.
    Longest,
    /// The one with the greatest value of a variable when it began to wait, which the host keeps; of equals, the
    /// longest waiting.
    Greatest(String),
    /// All are told at the next decision, and the first to run is first.
    All,
}

/// What prevents that a thread waits for an owner that in turn waits for less urgent threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Nothing.
    None,
    /// The owner is as urgent as the waiting threads.
    Inheritance(Inheritance),
    /// The owner is as urgent as the lock says: in this variable of threads, the greatest of all locks that it has.
    Ceiling(String),
}

/// How an owner becomes urgent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inheritance {
    /// A waiting thread lends the owner its turns.
    Lends,
    /// The owner's variable is raised to the waiting thread's, until the owner has no lock; the event tells the policy.
    Raises {
        /// A variable of threads, which the host keeps.
        variable: String,
        /// The event, with the thread as its parameter.
        event: Option<String>,
    },
}

impl Protocol {
    /// The word that scenarios use.
    pub fn word(&self) -> &'static str {
        match self {
            Protocol::None => "none",
            Protocol::Inheritance(_) => "inheritance",
            Protocol::Ceiling(_) => "ceiling",
        }
    }
}

impl Locks {
    /// The variable of threads by which the host orders waiting threads, or which it raises.
    pub(super) fn variable(&self) -> Option<&str> {
        let raised = self.protocols.iter().find_map(|protocol| match protocol {
            Protocol::Inheritance(Inheritance::Raises { variable, .. }) => Some(variable.as_str()),
            Protocol::Inheritance(Inheritance::Lends) | Protocol::None | Protocol::Ceiling(_) => None,
        });
        self.service.variable().or(raised)
    }
}

impl Service {
    pub(super) fn variable(&self) -> Option<&str> {
        match &self.next {
            Next::Greatest(variable) => Some(variable),
            Next::Longest | Next::All => None,
        }
    }
}

/// What is written about locks or semaphores, with names that are not resolved.
pub(super) struct ServiceDraft {
    /// The word `locks` or `semaphores`.
    pub(super) at: At,
    event: Option<Name>,
    next: Option<Next>,
    passed_over: Option<u32>,
    protocols: Vec<Protocol>,
    /// The events that protocols name.
    told: Vec<Name>,
}

impl Reader<'_> {
    // Productions: service, next, protocol.
    pub(super) fn service(&mut self) -> Parse<()> {
        let at = self.parser.advance().at;
        let word = self.parser.written(at).to_owned();
        let opened = self.parser.expect_sign("{")?;
        let mut draft =
            ServiceDraft { at, event: None, next: None, passed_over: None, protocols: Vec::new(), told: Vec::new() };
        while !self.parser.is_sign("}") && !self.parser.is_end() {
            self.served(&word, &mut draft)?;
        }
        self.parser.expect_close(opened, &format!("what is said of {word}"))?;
        let slot = if word == "locks" { &mut self.draft.locks } else { &mut self.draft.semaphores };
        Self::once(&mut self.parser, slot, draft, at)
    }

    fn served(&mut self, word: &str, draft: &mut ServiceDraft) -> Parse<()> {
        let at = self.parser.token.at;
        match self.parser.word() {
            Some("event") => {
                self.parser.advance();
                let event = self.member_name("the name of an event")?;
                Self::once(&mut self.parser, &mut draft.event, event, at)?;
            }
            Some("next") => {
                self.parser.advance();
                let next = match self.parser.word() {
                    Some("longest") => Next::Longest,
                    Some("all") => Next::All,
                    Some("greatest") => Next::Greatest(String::new()),
                    Some(_) | None => return Err(self.parser.expected("`longest`, `greatest` or `all`")),
                };
                self.parser.advance();
                let next = match next {
                    Next::Greatest(_) => Next::Greatest(self.parser.name("a variable of threads")?.text),
                    Next::Longest | Next::All => next,
                };
                Self::once(&mut self.parser, &mut draft.next, next, at)?;
            }
            Some("passed_over") => {
                self.parser.advance();
                let TokenKind::Number(times) = self.parser.token.kind else {
                    return Err(self.parser.expected("a number"));
                };
                self.parser.advance();
                let Ok(times) = u32::try_from(times) else {
                    return Err(self.wrong(at, "nobody is passed over so often", "leave the line out: however often"));
                };
                Self::once(&mut self.parser, &mut draft.passed_over, times, at)?;
            }
            Some("protocol") => {
                self.parser.advance();
                let protocol = self.protocol(draft)?;
                if word == "semaphores" {
                    let title = "a semaphore has no owner whose priority could be raised";
                    return Err(self.wrong(at, title, "leave the protocol out"));
                }
                if draft.protocols.iter().any(|one| one.word() == protocol.word()) {
                    let title = format!("the protocol `{}` is given twice", protocol.word());
                    let twice = Diagnostic::error("E0203", title, at.to(self.parser.previous), "the second time");
                    return Err(self.parser.report(twice));
                }
                draft.protocols.push(protocol);
            }
            Some(_) | None => {
                let unexpected = self.parser.unexpected("who is served");
                let note = "these lines are `event`, `next`, `passed_over`, and, of locks, `protocol`";
                return Err(self.parser.report(unexpected.note(note)));
            }
        }
        self.parser.expect_semicolon().map(|_| ())
    }

    fn protocol(&mut self, draft: &mut ServiceDraft) -> Parse<Protocol> {
        if self.parser.eat_word("none") {
            return Ok(Protocol::None);
        }
        if self.parser.eat_word("ceiling") {
            return Ok(Protocol::Ceiling(self.parser.name("a variable of threads")?.text));
        }
        if !self.parser.eat_word("inheritance") {
            return Err(self.parser.expected("`none`, `inheritance` or `ceiling`"));
        }
        if self.parser.eat_word("lends") {
            return Ok(Protocol::Inheritance(Inheritance::Lends));
        }
        if !self.parser.eat_word("raises") {
            return Err(self.parser.expected("`lends` or `raises`"));
        }
        let variable = self.parser.name("a variable of threads")?.text;
        let mut event = None;
        if self.parser.eat_sign(",") {
            let name = self.member_name("the name of an event")?;
            event = Some(name.text.clone());
            draft.told.push(name);
        }
        Ok(Protocol::Inheritance(Inheritance::Raises { variable, event }))
    }
}

/// What is said of locks and of semaphores, with names that are resolved.
pub(super) fn resolve(draft: &Draft, diagnostics: &mut Diagnostics) -> (Option<Locks>, Option<Service>) {
    let locks = draft.locks.as_ref().and_then(|said| {
        let service = of(said, "locks", draft, diagnostics)?;
        if said.protocols.is_empty() {
            let title = "the description of locks lacks a protocol";
            let lacks = Diagnostic::error("E0204", title, said.at, "");
            diagnostics.push(lacks.help("write `protocol none;` if nothing is done for the owner of a lock"));
        }
        Some(Locks { service, protocols: said.protocols.clone() })
    });
    let semaphores = draft.semaphores.as_ref().and_then(|said| of(said, "semaphores", draft, diagnostics));
    (locks, semaphores)
}

fn of(said: &ServiceDraft, what: &str, draft: &Draft, diagnostics: &mut Diagnostics) -> Option<Service> {
    let blocks =
        |step: &Move| *step == Move::Parameter(0, Stage::In(StateClass::Running), Stage::In(StateClass::Blocked));
    let found = |name: &Name| draft.events.iter().map(|(_, event)| event).find(|event| event.name == name.text);
    let mut named = |name: &Name, fits: &dyn Fn(&Event) -> bool, help: &str| match found(name) {
        None => unknown(name, draft.events.iter().map(|(name, _)| name.text.as_str()), diagnostics),
        Some(event) if !fits(event) => {
            let title = format!("`{}` is another kind of event", event.name);
            let wrong = Diagnostic::error("E0205", title, name.at, "").related(event.at, "declared here");
            diagnostics.push(wrong.help(help));
        }
        Some(_) => {}
    };
    if let Some(event) = &said.event {
        let fits =
            |event: &Event| event.parameters.len() == 1 && event.rules.iter().any(|rule| rule.moves.iter().any(blocks));
        named(event, &fits, "name one by which the running thread blocks: `t: RUNNING -> BLOCKED`");
    }
    for event in &said.told {
        named(event, &|event| event.parameters.len() == 1, "name one of a single thread");
    }
    if said.next == Some(Next::All) && said.passed_over.is_some() {
        let title = "`passed_over` has no effect together with `next all`";
        let wrong = Diagnostic::error("E0205", title, said.at, "");
        diagnostics.push(wrong.help("leave `passed_over` out: with `next all` whoever runs first is first"));
    }
    let lines = [("`event NAME;`", said.event.is_none()), ("`next longest;` or another order", said.next.is_none())];
    for (line, _) in lines.iter().filter(|(_, missing)| *missing) {
        diagnostics.push(Diagnostic::error("E0204", format!("the description of {what} lacks {line}"), said.at, ""));
    }
    Some(Service { event: said.event.clone()?.text, next: said.next.clone()?, passed_over: said.passed_over })
}
