//! What threads do: turns the tree as written into a list with jumps.

use std::collections::BTreeMap;

use crate::diagnostics::Diagnostic;
use crate::framework::{Framework, Move, Stage};
use crate::syntax::ast::Name;
use crate::syntax::words::nearest;
use crate::vocabulary::{At, StateClass, Type};

use super::check::Checker;
use super::reader::{PhaseDraft, ThreadDraft};
use super::{Amount, Phase, Timer};

impl<'a> Checker<'a, '_> {
    /// All phases of a thread, with the end, and the place of each.
    pub(super) fn phases(&mut self, draft: &'a ThreadDraft) -> (Vec<Phase>, Vec<At>) {
        let mut phases = Vec::new();
        self.add(&draft.phases, &mut phases);
        phases.push(Phase::End);
        let mut places = std::mem::take(&mut self.places);
        places.resize(phases.len(), draft.name.at);
        (phases, places)
    }

    fn add(&mut self, drafts: &'a [PhaseDraft], phases: &mut Vec<Phase>) {
        for draft in drafts {
            self.add_one(draft, phases);
            self.places.resize(phases.len(), at_of(draft));
        }
    }

    fn add_one(&mut self, draft: &'a PhaseDraft, phases: &mut Vec<Phase>) {
        match draft {
            PhaseDraft::Time(word, amount) => {
                let Some(amount) = self.duration(amount) else { return };
                phases.push(if word.text == "run" { Phase::Run(amount) } else { self.sleep(word, amount) });
            }
            PhaseDraft::Block(event, amount) => {
                let event = self.blocking(event);
                if let (Some(event), Some(amount)) = (event, self.duration(amount)) {
                    phases.push(Phase::Block(event, amount));
                }
            }
            PhaseDraft::Timer(draft) => {
                let event = self.blocking_for(SLEEP, &draft.name);
                let timers = if draft.shared { &mut self.shared_timers } else { &mut self.timers };
                let number = Self::place(timers, &draft.name.text);
                if let (Some(_), Some(amount)) = (event, self.duration(&draft.amount)) {
                    let timer = Timer { number, shared: draft.shared, absolute: draft.absolute };
                    phases.push(Phase::Timer(timer, amount));
                }
            }
            PhaseDraft::Plain(word) if word.text == "yield" => {
                self.can_yield(word);
                phases.push(Phase::Yield);
            }
            PhaseDraft::Plain(_) => phases.push(Phase::Exit),
            PhaseDraft::Of(word, of) => phases.extend(self.of(word, of)),
            PhaseDraft::Set(given) => phases.extend(self.of_thread(given).map(Phase::Set)),
            PhaseDraft::Repeat(at, times, inner) => {
                if inner.is_empty() {
                    let nothing = Diagnostic::error("E0704", "nothing is repeated", *at, "");
                    self.diagnostics.push(nothing.help("say what: `repeat { run 1ms; yield; }`"));
                    return;
                }
                let times = match times {
                    Some(times) => match self.count(times, 1, i64::MAX) {
                        Some(times) => Some(times),
                        None => return,
                    },
                    None => None,
                };
                let start = phases.len();
                if times.is_some() {
                    phases.push(Phase::Again(start));
                    self.places.resize(phases.len(), *at);
                }
                let before = phases.len();
                self.add(inner, phases);
                if times.is_none() && phases[before..].iter().all(takes_no_time) {
                    let title = "this is repeated for ever, and takes no time";
                    let endless = Diagnostic::error("E0704", title, *at, "");
                    self.diagnostics.push(endless.help("put a `run`, a `sleep` or a `block` into it"));
                    return;
                }
                match times {
                    Some(times) => {
                        phases.push(Phase::Again(start));
                        phases[start] = Phase::Repeat { times: times.unsigned_abs(), end: phases.len() };
                    }
                    None => phases.push(Phase::Jump(start)),
                }
            }
        }
    }

    fn of(&mut self, word: &Name, of: &'a Name) -> Option<Phase> {
        Some(match word.text.as_str() {
            "lock" => {
                if !self.has_locks(word) {
                    return None;
                }
                Phase::Lock(Self::place(&mut self.locks, &of.text))
            }
            "unlock" => {
                if !self.locked.contains(of.text.as_str()) {
                    let title = format!("no thread locks `{}`", of.text);
                    let unknown = Diagnostic::error("E0702", title, of.at, "unknown lock");
                    let near = nearest(&of.text, self.locked.iter().copied());
                    self.diagnostics.push(match near {
                        Some(near) => unknown.help(format!("did you mean `{near}`?")).suggest(of.at, near),
                        None => unknown.help(format!("write `lock {};` before it", of.text)),
                    });
                    return None;
                }
                Phase::Unlock(Self::place(&mut self.locks, &of.text))
            }
            "wait" => Phase::Wait(self.semaphore_called(of)?),
            "post" => Phase::Post(self.semaphore_called(of)?),
            "send" => Phase::Send(Self::place(&mut self.ports, &of.text)),
            "receive" => {
                self.blocking_for(PORT, word)?;
                Phase::Receive(Self::place(&mut self.ports, &of.text))
            }
            "signal" => Phase::Signal(Self::place(&mut self.ports, &of.text)),
            "broadcast" => Phase::Broadcast(Self::place(&mut self.ports, &of.text)),
            "barrier" => {
                self.blocking_for(BARRIER, word)?;
                Phase::Barrier(Self::place(&mut self.barriers, &of.text))
            }
            "spawn" => {
                let thread = self.thread(of)?;
                self.is_spawned(thread);
                Phase::Spawn(thread)
            }
            "join" => {
                self.blocking_for(JOIN, word)?;
                Phase::Join(self.thread(of)?)
            }
            "suspend" => Phase::Suspend(self.thread(of)?),
            "resume" => Phase::Resume(self.thread(of)?),
            _ => {
                self.can_yield(word);
                Phase::YieldTo(self.thread(of)?)
            }
        })
    }

    fn place(names: &mut BTreeMap<&'a str, usize>, name: &'a str) -> usize {
        let next = names.len();
        *names.entry(name).or_insert(next)
    }

    fn sleep(&mut self, word: &Name, amount: Amount) -> Phase {
        Phase::Block(self.blocking_for(SLEEP, word).unwrap_or_default(), amount)
    }

    /// The event in which a thread blocks for this. If the framework has none, that is reported.
    pub(super) fn blocking_for(&mut self, words: &[&str], at: &Name) -> Option<String> {
        let found = event_for(self.framework, words);
        if found.is_none() {
            let title = format!("no event of the framework `{}` blocks a thread", self.framework.name);
            self.diagnostics.push(Diagnostic::error("E0705", title, at.at, "cannot be simulated"));
        }
        found
    }

    /// Reports a thread that gives the processor up, where none can.
    fn can_yield(&mut self, word: &Name) {
        if self.framework.events.iter().all(|event| event.name != "switch_out") {
            let title = format!("a thread of the framework `{}` does not give the processor up", self.framework.name);
            let never = Diagnostic::error("E0705", title, word.at, "cannot be simulated");
            self.diagnostics
                .push(never.note("it has no event `switch_out`").help("leave it out: a thread runs to its end"));
        }
    }

    /// `io.read`: the event `block.io.read`.
    fn blocking(&mut self, event: &Name) -> Option<String> {
        let name = format!("block.{}", event.text);
        let known = blocking(self.framework);
        if known.contains(&name.as_str()) {
            return Some(name);
        }
        let title = format!("the framework `{}` has no event `{name}`", self.framework.name);
        let unknown = Diagnostic::error("E0705", title, event.at, "unknown event");
        let names: Vec<&str> = known.iter().filter_map(|name| name.strip_prefix("block.")).collect();
        let listed: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let unknown = unknown.note(format!("a thread can block in {}", listed.join(", ")));
        self.diagnostics.push(match nearest(&event.text, names) {
            Some(near) => unknown.help(format!("did you mean `{near}`?")).suggest(event.at, near),
            None if event.text.parse::<i64>().is_err() => unknown.help("write the time after it: `block io.read 5ms;`"),
            None => unknown,
        });
        None
    }

    /// Nanoseconds, and not negative.
    pub(super) fn duration(&mut self, amount: &'a super::reader::AmountDraft) -> Option<Amount> {
        self.amount(amount, Type::Time, true)
    }
}

fn at_of(draft: &PhaseDraft) -> At {
    match draft {
        PhaseDraft::Time(word, _) | PhaseDraft::Block(word, _) | PhaseDraft::Plain(word) => word.at,
        PhaseDraft::Of(word, of) => At { end: of.at.end, ..word.at },
        PhaseDraft::Timer(timer) => timer.name.at,
        PhaseDraft::Set(given) => given.name.at,
        PhaseDraft::Repeat(at, ..) => *at,
    }
}

/// The names that such an event can have, the likeliest first.
pub(super) const PORT: &[&str] = &["port", "message", "queue.receive"];
pub(super) const BARRIER: &[&str] = &["barrier", "condition"];
pub(super) const JOIN: &[&str] = &["join"];
pub(super) const SLEEP: &[&str] = &["sleep"];

/// The event by which a thread blocks for one of these; if there is none, for anything.
pub fn event_for(framework: &Framework, words: &[&str]) -> Option<String> {
    let known = blocking(framework);
    let named = words.iter().find_map(|word| known.iter().find(|name| **name == format!("block.{word}")));
    named.or(known.iter().find(|name| **name == "block.wait")).or(known.first()).map(|name| (*name).to_owned())
}

/// The events that take the processor from the running thread until something happens.
fn blocking(framework: &Framework) -> Vec<&str> {
    let blocks =
        |step: &Move| *step == Move::Parameter(0, Stage::In(StateClass::Running), Stage::In(StateClass::Blocked));
    let events = framework.events.iter().filter(|event| {
        event.parameters.len() == 1 && event.rules.len() == 1 && event.rules[0].moves.iter().any(blocks)
    });
    events.map(|event| event.name.as_str()).collect()
}

/// Whether a thread that repeats only this would do it for ever at one instant.
pub(super) fn takes_no_time(phase: &Phase) -> bool {
    let nothing = |amount: &Amount| matches!(amount, Amount::Fixed(crate::vocabulary::Value::Time(0)));
    match phase {
        Phase::Run(amount) | Phase::Block(_, amount) | Phase::Timer(_, amount) => nothing(amount),
        Phase::Wait(_) | Phase::Receive(_) | Phase::Barrier(_) | Phase::Join(_) | Phase::Exit | Phase::End => false,
        Phase::Yield
        | Phase::YieldTo(_)
        | Phase::Lock(_)
        | Phase::Unlock(_)
        | Phase::Post(_)
        | Phase::Send(_)
        | Phase::Signal(_)
        | Phase::Broadcast(_)
        | Phase::Spawn(_)
        | Phase::Suspend(_)
        | Phase::Resume(_)
        | Phase::Set(_)
        | Phase::Jump(_)
        | Phase::Repeat { .. }
        | Phase::Again(_) => true,
    }
}

/// Visits each name behind this word, in order, also in what is repeated.
pub(super) fn each_of<'a>(phases: &'a [PhaseDraft], wanted: &str, each: &mut dyn FnMut(&'a Name)) {
    for phase in phases {
        match phase {
            PhaseDraft::Of(word, of) if word.text == wanted => each(of),
            PhaseDraft::Repeat(_, _, inner) => each_of(inner, wanted, each),
            PhaseDraft::Time(..)
            | PhaseDraft::Timer(..)
            | PhaseDraft::Block(..)
            | PhaseDraft::Plain(_)
            | PhaseDraft::Of(..)
            | PhaseDraft::Set(_) => {}
        }
    }
}
