//! What can happen next: every legal event, with every choice of the imported variables.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use catapults_compiler::framework::automaton::Order;
use catapults_compiler::framework::life::{Lives, UNTOLD};
use catapults_compiler::framework::{Event, Framework};
use catapults_compiler::interp::{Machine, Saved, Stop, ThreadId};
use catapults_compiler::policy::text::Heads;
use catapults_compiler::policy::{Handler, Owner, Policy, StateClass, Statement, StatementKind, Value};
use catapults_compiler::verify::Verified;

use super::Kind;
use super::clock::Reckoning;
use super::idle::forgotten;
use super::keep::Keep;
use super::oracle::{Imported, Oracle, Read};
use super::situation::{Situation, number};
use super::values::Values;
use crate::event_types::{Classes, EventTypes, Legal, Violation};
use crate::script::Step;

/// A policy under its framework.
pub(super) struct System<'a> {
    pub policy: &'a Policy,
    pub values: Values,
    verified: &'a Verified<Policy>,
    types: EventTypes<'a>,
    lives: Lives,
    order: Order,
    /// The events that come before all others.
    first: Vec<&'a Event>,
    /// Events that do the same as an earlier one, and can come whenever that can.
    alike: BTreeSet<&'a str>,
    threads: usize,
    bound: i64,
    /// Counters are not followed: at each event, they have any value. So more can happen than in reality.
    loose: bool,
    /// For each variable, whether its value does not matter while nothing runs.
    forgotten: Vec<bool>,
}

/// A transition.
pub(super) struct Transition {
    /// With the numbers of the situation before it.
    pub step: Step,
    /// How much time has passed before it.
    pub elapsed: i64,
    /// The imported variables that were read, with what each read found; and those that the policy assigned.
    pub read: Vec<Read>,
    pub written: Vec<(Imported, Value)>,
    /// The numbers that were drawn.
    pub draws: Vec<i64>,
    pub outcome: Outcome,
    /// The variables could have changed more often than was tried.
    pub bounded: bool,
}

/// What a transition leads to.
pub(super) enum Outcome {
    /// Another situation.
    Next(Next),
    /// A request was refused, or a query answered: nothing has changed.
    Same,
    /// To a value beyond the bound, in words.
    Beyond(String),
    /// An invariant is broken.
    Wrong(Kind, String),
}

pub(super) struct Next {
    pub situation: Situation,
    /// For each number before (from 1; a new thread's is the last), the number after, or 0 if the thread is gone.
    pub moved: Vec<usize>,
    /// Whether a thread was dispatched.
    pub dispatches: bool,
    /// Whether time passes while a thread runs, or the policy does not read the clock.
    pub passes: bool,
    /// What to say of a value that was brought within its bound. If there was one, the situation may not be a real one.
    pub strayed: Option<String>,
    /// Whether a number was drawn that could have been another one.
    pub drawn: bool,
}

impl<'a> System<'a> {
    pub fn new(
        verified: &'a Verified<Policy>,
        framework: &'a Framework,
        threads: usize,
        bound: i64,
        loose: bool,
        reckoning: Reckoning,
    ) -> Self {
        let policy = verified.policy();
        let types = EventTypes::new(framework, policy);
        let (lives, order) = (Lives::of(framework), Order::of(framework));
        System {
            policy,
            alike: alike(policy, framework, &lives, &order),
            values: Values::of(policy, reckoning),
            verified,
            first: types.first(&Machine::new(verified)),
            types,
            lives,
            order,
            threads,
            bound,
            loose,
            forgotten: match reckoning {
                Reckoning::Relative => forgotten(policy, framework),
                Reckoning::Absolute { .. } => vec![false; policy.variables.len()],
            },
        }
    }

    /// A new machine.
    pub fn machine(&self) -> Machine<'a> {
        Machine::new(self.verified)
    }

    /// The situation before anything has happened.
    pub fn start(&self) -> Situation {
        let mut saved = self.machine().save();
        saved.now = self.values.clock.start;
        let _ = self.keep().apply(&mut saved);
        Situation { begun: 0, order: self.order.first(), saved, lives: Vec::new() }
    }

    fn keep(&self) -> Keep<'_> {
        Keep {
            policy: self.policy,
            values: &self.values,
            forgotten: &self.forgotten,
            bound: self.bound,
            loose: self.loose,
        }
    }

    /// How many threads live at once.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Whether there are counters that may not be followed.
    pub fn has_counters(&self) -> bool {
        self.values.counters.iter().any(|counters| !counters.is_empty())
    }

    /// The READY threads. The lowest bit is that of thread 1.
    pub fn ready(&self, situation: &Situation) -> u8 {
        let places = self.policy.containers.iter().zip(&situation.saved.containers);
        let classes = places.flat_map(|(container, threads)| threads.iter().map(|_| container.class));
        classes.enumerate().fold(0, |set, (place, class)| set | u8::from(class == StateClass::Ready) << place)
    }

    /// Visits all transitions from a situation.
    pub fn each(
        &self,
        machine: &mut Machine<'a>,
        situation: &Situation,
        visit: &mut dyn FnMut(Transition) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        machine.restore(&situation.saved);
        let before = match self.types.classes(machine) {
            Ok(classes) => classes,
            // The transition to here has been judged.
            Err(_) => return ControlFlow::Continue(()),
        };
        if let Some(event) = self.first.get(situation.begun) {
            return self.loosely(machine, situation, &before, (event, i64::MIN), &[], visit);
        }
        let new = (situation.threads() < self.threads).then(|| number(situation.threads() + 1));
        let mut done = BTreeSet::new();
        let legal = self.types.legal(machine, &before, new);
        let timeouts = self.types.timeouts(machine);
        let new_one = |legal: &&Legal| !self.alike.contains(legal.event.name.as_str());
        let in_order = |legal: &&Legal| self.order.after(&situation.order, &legal.event.name).is_some();
        let others = legal.iter().filter(|legal| legal.event.timer.is_none());
        for legal in others.filter(new_one).filter(in_order) {
            for threads in combinations(&legal.candidates) {
                let possible = threads.iter().all(|thread| self.life(situation, *thread, &legal.event.name).is_some());
                if possible && done.insert((legal.event.name.as_str(), threads.clone())) {
                    self.loosely(machine, situation, &before, (legal.event, i64::MIN), &threads, visit)?;
                }
            }
        }
        let in_order = |event: &Event| self.order.after(&situation.order, &event.name).is_some();
        for (event, timeout) in timeouts.into_iter().filter(|(event, _)| in_order(event)) {
            self.loosely(machine, situation, &before, (event, timeout.instant), &[timeout.thread], visit)?;
        }
        for query in self.policy.queries.iter().filter(|query| query.owner == Owner::Policy) {
            let all: Vec<ThreadId> = before.keys().copied().collect();
            for threads in combinations(&vec![all; query.parameters]) {
                self.query(machine, situation, query, &threads, visit)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// An event, at every instant from `earliest` on at which it can come, with every value of the counters that it
    /// reads.
    fn loosely(
        &self,
        machine: &mut Machine<'a>,
        situation: &Situation,
        before: &Classes,
        (event, earliest): (&Event, i64),
        threads: &[ThreadId],
        visit: &mut dyn FnMut(Transition) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let handler = self.policy.events.iter().position(|handler| handler.name == event.name);
        let counters = match handler {
            Some(handler) if self.loose => self.values.counters[handler].as_slice(),
            Some(_) | None => &[],
        };
        let mut instants = self.values.clock.not_before(situation.saved.now, earliest);
        instants.retain(|instant| *instant <= self.latest(&situation.saved));
        if counters.is_empty() && instants == [situation.saved.now] {
            return self.event(machine, (situation, situation.saved.now), before, event, threads, visit);
        }
        let at = |now: i64| Situation { saved: Saved { now, ..situation.saved.clone() }, ..situation.clone() };
        let mut situations: Vec<Situation> = instants.into_iter().map(at).collect();
        for (variable, values) in counters {
            let with = |situation: &Situation, value: Value| {
                let mut situation = situation.clone();
                situation.saved.variables[*variable] = value;
                situation
            };
            situations = situations.iter().flat_map(|one| values.iter().map(move |value| with(one, *value))).collect();
        }
        let since = situation.saved.now;
        situations.iter().try_for_each(|one| self.event(machine, (one, since), before, event, threads, visit))
    }

    /// The latest instant of an event: armed timers expire before.
    fn latest(&self, saved: &Saved) -> i64 {
        let timers = || self.policy.attributes.iter().map(|attribute| attribute.timer.is_some());
        let armed = saved.containers.iter().flatten().flat_map(|thread| thread.attributes.iter().zip(timers()));
        let instants = armed.filter_map(|(value, timer)| match value {
            Value::Time(instant) if timer && *instant != 0 => Some(*instant),
            Value::Time(_) | Value::Int(_) | Value::Bool(_) | Value::Float(_) => None,
        });
        let latest = instants.min().map(|earliest| earliest.saturating_add(self.values.clock.longest()));
        latest.map_or(i64::MAX, |latest| latest.max(saved.now))
    }

    fn event(
        &self,
        machine: &mut Machine<'a>,
        (situation, since): (&Situation, i64),
        before: &Classes,
        event: &Event,
        threads: &[ThreadId],
        visit: &mut dyn FnMut(Transition) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let elapsed = situation.saved.now - since;
        let mut oracle = Oracle::new(&self.values);
        loop {
            machine.restore(&situation.saved);
            let new = threads.iter().find(|thread| thread.0 as usize > situation.threads());
            let spawned = new.map_or(Ok(()), |thread| machine.spawn(*thread));
            let raised = spawned.and_then(|()| machine.raise(&event.name, threads, &mut oracle));
            let outcome = match raised {
                Ok(dispatched) => match self.judge(machine, (situation, since), before, event, threads, dispatched) {
                    Outcome::Next(next) => Outcome::Next(Next { drawn: oracle.has_drawn(), ..next }),
                    other @ (Outcome::Same | Outcome::Beyond(_) | Outcome::Wrong(..)) => other,
                },
                Err(Stop::Fail { .. }) => {
                    new.into_iter().for_each(|thread| machine.discard(*thread));
                    match self.types.classes(machine) {
                        Ok(after) if after == *before => Outcome::Same,
                        Ok(_) | Err(_) => {
                            Outcome::Wrong(Kind::EventType, "it failed, and changed something".to_owned())
                        }
                    }
                }
                Err(stop) => stopped(stop),
            };
            let step = Step::Raise(event.name.clone(), threads.to_vec());
            let (read, written, bounded) = (oracle.read(), oracle.written(), oracle.is_bounded());
            visit(Transition { step, elapsed, read, written, draws: oracle.draws(), outcome, bounded })?;
            if !oracle.turn() {
                return ControlFlow::Continue(());
            }
        }
    }

    fn query(
        &self,
        machine: &mut Machine<'a>,
        situation: &Situation,
        query: &Handler,
        threads: &[ThreadId],
        visit: &mut dyn FnMut(Transition) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let elapsed = 0;
        let mut oracle = Oracle::new(&self.values);
        machine.restore(&situation.saved);
        loop {
            let outcome = match machine.ask(&query.name, threads, &mut oracle) {
                Ok(_) => Outcome::Same,
                Err(stop) => stopped(stop),
            };
            let step = Step::Ask(query.name.clone(), threads.to_vec());
            let (read, written, bounded) = (oracle.read(), oracle.written(), oracle.is_bounded());
            visit(Transition { step, elapsed, read, written, draws: oracle.draws(), outcome, bounded })?;
            if !oracle.turn() {
                return ControlFlow::Continue(());
            }
        }
    }

    fn judge(
        &self,
        machine: &Machine,
        (situation, since): (&Situation, i64),
        before: &Classes,
        event: &Event,
        threads: &[ThreadId],
        dispatched: Option<ThreadId>,
    ) -> Outcome {
        let judged =
            self.types.classes(machine).and_then(|after| self.types.judge(event, threads, before, &after, dispatched));
        if let Err(violation) = judged {
            return wrong(&violation);
        }
        let mut saved = machine.save();
        let runs = before.values().any(|class| *class == StateClass::Running);
        let passes = !self.values.clock.ticks || situation.saved.now > since && runs;
        let strayed = self.keep().apply(&mut saved);
        if let Some(said) = strayed.as_ref().filter(|_| !self.loose) {
            return Outcome::Beyond(said.clone());
        }
        let mut moved = vec![0; situation.threads().max(threads.iter().map(|one| one.0 as usize).max().unwrap_or(0))];
        let order = self.order.after(&situation.order, &event.name).unwrap_or_else(|| situation.order.clone());
        let mut lives = Vec::with_capacity(moved.len());
        for thread in saved.containers.iter_mut().flatten() {
            let life = if threads.contains(&thread.id) || dispatched == Some(thread.id) {
                self.life(situation, thread.id, &event.name)
            } else {
                None
            };
            let unchanged = situation.lives.get(thread.id.0 as usize - 1).copied();
            lives.push(life.or(unchanged).unwrap_or(UNTOLD));
            moved[thread.id.0 as usize - 1] = lives.len();
            thread.id = number(lives.len());
        }
        for to in saved.containers.iter_mut().flatten().flat_map(|thread| &mut thread.links) {
            *to = to.map(|to| number(moved[to.0 as usize - 1]));
        }
        let begun = situation.begun + usize::from(situation.begun < self.first.len());
        Outcome::Next(Next {
            situation: Situation { begun, order, saved, lives },
            moved,
            dispatches: dispatched.is_some(),
            passes,
            strayed,
            drawn: false,
        })
    }

    /// The life of a thread after an event; `None`: the event cannot come now.
    fn life(&self, situation: &Situation, thread: ThreadId, event: &str) -> Option<u64> {
        self.lives.after(situation.lives.get(thread.0 as usize - 1).copied(), event)
    }
}

/// Events with the same type, place in a life and handler as an earlier one.
fn alike<'a>(policy: &'a Policy, framework: &'a Framework, lives: &Lives, order: &Order) -> BTreeSet<&'a str> {
    let handled = |event: &&Event| policy.events.iter().any(|handler| handler.name == event.name);
    let events: Vec<&Event> = framework.events.iter().filter(handled).collect();
    let text = |event: &Event| {
        let handler = policy.events.iter().find(|handler| handler.name == event.name)?;
        let heads = Heads::numbered(policy, handler);
        let simple = |statement: &Statement| {
            let transfer = matches!(statement.kind, StatementKind::Transfer { .. } | StatementKind::Destroy { .. });
            transfer.then(|| heads.head(statement))
        };
        let written = (handler.owner == Owner::Policy).then_some((handler.at.start, handler.at.end));
        match (written, handler.body.iter().map(simple).collect::<Option<Vec<String>>>()) {
            // One handler for several events.
            (Some(at), _) => Some((Some(at), Vec::new())),
            (None, Some(heads)) => Some((None, heads)),
            (None, None) => None,
        }
    };
    let same = |one: &Event, other: &Event| {
        one.timer == other.timer
            && one.rules == other.rules
            && one.may_fail == other.may_fail
            && lives.alike(&one.name, &other.name)
            && order.alike(&one.name, &other.name)
            && text(one).is_some_and(|text_of_one| Some(text_of_one) == text(other))
    };
    let later = events.iter().enumerate().filter(|(index, event)| events[..*index].iter().any(|one| same(one, event)));
    later.map(|(_, event)| event.name.as_str()).collect()
}

fn stopped(stop: Stop) -> Outcome {
    match stop {
        Stop::Guard { line, text } => Outcome::Wrong(Kind::Guard, format!("line {line}: {text}")),
        Stop::Overrun { line } => Outcome::Wrong(
            Kind::Overrun,
            format!("line {line}: the loop takes more than {} turns", Machine::MOST_TURNS),
        ),
        Stop::Unproved { line, text } => {
            Outcome::Wrong(Kind::Unproved, format!("line {line}: it was taken for proved that {text}"))
        }
        Stop::Misuse(text) => Outcome::Wrong(Kind::Unproved, text),
        Stop::Fail { line, reason } => Outcome::Wrong(Kind::EventType, format!("line {line}: a query fails: {reason}")),
    }
}

/// Without numbers: the scenario, whose last step shows them, has other ones than a situation.
fn wrong(violation: &Violation) -> Outcome {
    let (kind, what) = match violation {
        Violation::Lost(_) => (Kind::Lost, "after the last step a thread is in no container"),
        Violation::Duplicated(_) => (Kind::Duplicated, "after the last step a thread is in two containers"),
        Violation::Idle => (Kind::Idle, "the last step dispatches nothing"),
        Violation::Running(_) => (Kind::EventType, "after the last step several threads run"),
        Violation::Changed(..) => (Kind::EventType, "the last step moves a thread that its event does not concern"),
        Violation::Type(_) => (Kind::EventType, "the last step does not do what its event demands"),
    };
    Outcome::Wrong(kind, what.to_owned())
}

/// All ways to take one of each.
fn combinations(candidates: &[Vec<ThreadId>]) -> Vec<Vec<ThreadId>> {
    candidates.iter().fold(vec![Vec::new()], |ways, candidates| {
        let extended =
            |way: Vec<ThreadId>| candidates.iter().map(move |thread| way.iter().copied().chain([*thread]).collect());
        ways.into_iter().flat_map(extended).collect()
    })
}
