//! Locks and semaphores: what a scenario says about them, and whether the framework has them.

use std::collections::BTreeMap;

use crate::diagnostics::Diagnostic;
use crate::framework;
use crate::policy::Policy;
use crate::syntax::ast::{Expression, Name};
use crate::syntax::parser::Parse;
use crate::syntax::words::nearest;
use crate::vocabulary::Type;

use super::check::Checker;
use super::phases::each_of;
use super::reader::{PhaseDraft, Reader};
use super::{Lock, Protocol, Semaphore};

/// The highest first value of a semaphore, as in the native runtime.
const MOST: i64 = i32::MAX as i64;

/// `lock L protocol ceiling 9;`
#[derive(Debug)]
pub(super) struct LockDraft {
    name: Name,
    /// The protocol's name.
    protocol: Name,
    ceiling: Option<Expression>,
}

/// `semaphore S = 2;`
#[derive(Debug)]
pub(super) struct SemaphoreDraft {
    name: Name,
    value: Expression,
}

impl Reader<'_> {
    // Productions: item, protocol.
    pub(super) fn lock(&mut self) -> Parse<()> {
        self.parser.advance();
        let name = self.parser.name("the name of a lock")?;
        if !self.parser.eat_word("protocol") {
            let unexpected = self.parser.unexpected("`protocol`");
            return Err(self.parser.report(unexpected.help("write `lock NAME protocol inheritance;`")));
        }
        if !matches!(self.parser.word(), Some("none" | "inheritance" | "ceiling")) {
            return Err(self.parser.expected("`none`, `inheritance` or `ceiling`"));
        }
        let protocol = self.any_word();
        let ceiling = if protocol.text == "ceiling" { Some(self.parser.expression()?) } else { None };
        self.parser.expect_semicolon()?;
        self.draft.locks.push(LockDraft { name, protocol, ceiling });
        Ok(())
    }

    pub(super) fn semaphore(&mut self) -> Parse<()> {
        self.parser.advance();
        let name = self.parser.name("a name for the semaphore")?;
        self.parser.expect_sign("=")?;
        let value = self.parser.expression()?;
        self.parser.expect_semicolon()?;
        self.draft.semaphores.push(SemaphoreDraft { name, value });
        Ok(())
    }
}

impl<'a> Checker<'a, '_> {
    /// The semaphores with their first values.
    pub(super) fn declare_semaphores(&mut self) {
        let mut seen: BTreeMap<&str, &Name> = BTreeMap::new();
        for SemaphoreDraft { name, value } in &self.draft.semaphores {
            self.said_twice(&mut seen, name, "the semaphore");
            let value = self.count(value, 0, MOST).unwrap_or(0).unsigned_abs();
            self.semaphores.push(Semaphore { name: name.text.clone(), value });
        }
        if let Some(first) = self.draft.semaphores.first()
            && self.framework.semaphores.is_none()
        {
            self.framework_has_no("semaphores", &first.name, "let threads `send` and `receive` instead");
        }
    }

    pub(super) fn semaphore_called(&mut self, name: &Name) -> Option<usize> {
        let found = self.semaphores.iter().position(|semaphore| semaphore.name == name.text);
        if found.is_none() {
            let title = format!("there is no semaphore `{}`", name.text);
            let unknown = Diagnostic::error("E0702", title, name.at, "unknown name");
            let near = nearest(&name.text, self.semaphores.iter().map(|semaphore| semaphore.name.as_str()));
            self.diagnostics.push(match near {
                Some(near) => unknown.help(format!("did you mean `{near}`?")).suggest(name.at, near),
                None => unknown.help(format!("say what it begins with: `semaphore {} = 1;`", name.text)),
            });
        }
        found
    }

    /// Whether threads can lock at all; reported once.
    pub(super) fn has_locks(&mut self, at: &Name) -> bool {
        if self.framework.locks.is_some() {
            return true;
        }
        if !std::mem::replace(&mut self.lacks_locks, true) {
            self.framework_has_no("locks", at, "let threads `send` and `receive` instead");
        }
        false
    }

    /// All locks that threads take, by their numbers, with what the scenario says about them.
    pub(super) fn locks(&mut self) -> Vec<Lock> {
        let Some(known) = &self.framework.locks else { return Vec::new() };
        let usual = match known.protocols.first() {
            Some(framework::Protocol::Inheritance(_)) => Protocol::Inheritance,
            Some(framework::Protocol::None | framework::Protocol::Ceiling(_)) | None => Protocol::None,
        };
        let mut locks: Vec<Lock> = self.lock_names().into_iter().map(|name| Lock { name, protocol: usual }).collect();
        let mut seen: BTreeMap<&str, &Name> = BTreeMap::new();
        for said in &self.draft.locks {
            self.said_twice(&mut seen, &said.name, "the lock");
            let protocol = self.protocol(said);
            match locks.iter_mut().find(|lock| lock.name == said.name.text) {
                Some(lock) => lock.protocol = protocol.unwrap_or(usual),
                None => {
                    let title = format!("no thread locks `{}`", said.name.text);
                    let unknown = Diagnostic::error("E0702", title, said.name.at, "unknown lock");
                    let near = nearest(&said.name.text, locks.iter().map(|lock| lock.name.as_str()));
                    self.diagnostics.push(match near {
                        Some(near) => unknown.help(format!("did you mean `{near}`?")).suggest(said.name.at, near),
                        None => unknown.help(format!("let one do so, `lock {};`, or leave this out", said.name.text)),
                    });
                }
            }
        }
        locks
    }

    fn protocol(&mut self, said: &'a LockDraft) -> Option<Protocol> {
        let known = &self.framework.locks.as_ref()?.protocols;
        let Some(protocol) = known.iter().find(|protocol| protocol.word() == said.protocol.text) else {
            let title = format!("the framework `{}` has no protocol `{}`", self.framework.name, said.protocol.text);
            let words: Vec<String> = known.iter().map(|protocol| format!("`{}`", protocol.word())).collect();
            let unknown = Diagnostic::error("E0708", title, said.protocol.at, "cannot be simulated");
            let unknown = unknown.note(format!("locks have {} there", words.join(", ")));
            self.diagnostics.push(match (said.protocol.text.as_str(), &self.framework.semaphores) {
                ("none", Some(_)) => unknown.help(format!(
                    "a semaphore is a lock without a protocol: `semaphore {} = 1;`, and `wait` and `post`",
                    said.name.text
                )),
                (_, _) => unknown.help("leave the line out, or name one of these"),
            });
            return None;
        };
        Some(match protocol {
            framework::Protocol::None => Protocol::None,
            framework::Protocol::Inheritance(_) => Protocol::Inheritance,
            framework::Protocol::Ceiling(variable) => {
                let ceiling = self.count(said.ceiling.as_ref()?, i64::MIN, i64::MAX)?;
                self.knows_ceilings(variable, said);
                Protocol::Ceiling(ceiling)
            }
        })
    }

    /// The host refuses such a lock if the policy does not know ceilings.
    fn knows_ceilings(&mut self, variable: &str, said: &LockDraft) {
        let imports = |policy: &&Policy| {
            policy.thread_imports.iter().any(|import| import.name == variable && import.ty == Type::Int)
        };
        let policies = &self.subject.policies;
        let Some(first) = policies.first().filter(|_| !policies.iter().any(imports)) else { return };
        let title = format!("the policy `{}` imports no `int {variable}` of threads", first.name);
        let unknown = Diagnostic::error("E0708", title, said.protocol.at, "this ceiling has no effect");
        let unknown = unknown.note("the priority of the lock's owner would not change");
        self.has_not(unknown.help(format!(
            "`threadimports {{ int {variable} default 0; }}`, and dispatch by the greater of it and the priority"
        )));
    }

    fn framework_has_no(&mut self, what: &str, at: &Name, help: &str) {
        let title = format!("the framework `{}` has no {what}", self.framework.name);
        self.diagnostics.push(Diagnostic::error("E0708", title, at.at, "cannot be simulated").help(help));
    }

    fn said_twice(&mut self, seen: &mut BTreeMap<&'a str, &'a Name>, name: &'a Name, what: &str) {
        if let Some(first) = seen.insert(name.text.as_str(), name) {
            let title = format!("{what} `{}` is declared twice", name.text);
            let twice = Diagnostic::error("E0703", title, name.at, "the second time");
            self.diagnostics.push(twice.related(first.at, "the first time"));
        }
    }
}

/// The names of the locks that some thread takes.
pub(super) fn locks_of<'a>(phases: &'a [PhaseDraft], names: &mut std::collections::BTreeSet<&'a str>) {
    each_of(phases, "lock", &mut |of| {
        names.insert(&of.text);
    });
}
