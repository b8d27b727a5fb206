//! A host as a framework description describes it: raises events that are legal, in any order, and holds the policy to
//! what the event types promise.

use std::collections::BTreeMap;

use catapults_compiler::framework::{Condition, Event, Framework, Move, Rule, Stage};
use catapults_compiler::interp::{Machine, Position, Stop, ThreadId, Variables};
use catapults_compiler::policy::{ContainerId, Policy, StateClass, Type, Value};
use catapults_compiler::verify::Verified;

use crate::choices::Choices;
use crate::replay::{Step, perform};

/// A policy in the interpreter, and all that a host knows of its threads.
pub struct Host<'a> {
    framework: &'a Framework,
    policy: &'a Policy,
    machine: Machine<'a>,
    application: Variables,
    next: ThreadId,
    /// Everything done so far, to be replayed elsewhere.
    pub script: Vec<Step>,
    /// What came of it, as [`crate::replay::replay`] would return it.
    pub decisions: Vec<String>,
    /// Guards that failed: the policy is out.
    pub out: bool,
}

/// More threads than this are not created: few suffice to find every mistake that many do.
const MOST_THREADS: usize = 6;

impl<'a> Host<'a> {
    /// A host that has just loaded a policy. It has raised the events that come before all others.
    ///
    /// # Errors
    /// What the policy did that it must not.
    pub fn new(verified: &'a Verified<Policy>, framework: &'a Framework) -> Result<Self, String> {
        let mut host = Host {
            framework,
            policy: verified.policy(),
            machine: Machine::new(verified),
            application: Variables::default(),
            next: ThreadId(1),
            script: Vec::new(),
            decisions: Vec::new(),
            out: false,
        };
        for event in framework.events.iter().filter(|event| event.rules.is_empty() && event.parameters.is_empty()) {
            if host.machine.handles(&event.name) {
                host.step(Step::Raise(event.name.clone(), Vec::new()))?;
            }
        }
        Ok(host)
    }

    /// Does something that a host or an application can do now.
    ///
    /// # Errors
    /// What the policy did that it must not.
    pub fn anything(&mut self, choices: &mut Choices) -> Result<(), String> {
        let step = match choices.below(8) {
            0 => self.assignment(choices),
            1 => self.question(choices),
            _ => self.event(choices),
        };
        match step {
            Some(step) => self.step(step),
            None => Ok(()),
        }
    }

    /// Does one step.
    ///
    /// # Errors
    /// What the policy did that it must not.
    pub fn step(&mut self, step: Step) -> Result<(), String> {
        let before = self.classes();
        self.script.push(step.clone());
        match perform(&mut self.machine, &mut self.application, self.policy, &step) {
            Ok(decision) => {
                self.judge(&step, &before, decision.as_deref()).map_err(|wrong| format!("{step}: {wrong}"))?;
                self.decisions.extend(decision);
                Ok(())
            }
            Err(Stop::Fail { reason, .. }) => {
                self.decisions.push(format!("{step} -> fail {reason}"));
                if self.classes() == before { Ok(()) } else { Err(format!("{step}: failed, and changed something")) }
            }
            Err(Stop::Guard { line, text }) => {
                self.decisions.push(format!("{step} -> guard {line} {text}"));
                self.out = true;
                Ok(())
            }
            // Compiled, it would take as long as it takes: no script has it.
            Err(Stop::Overrun { .. }) => {
                self.script.pop();
                self.out = true;
                Ok(())
            }
            Err(stop @ (Stop::Unproved { .. } | Stop::Misuse(_))) => Err(format!("{step}: {stop:?}")),
        }
    }

    /// The living threads, each with the class of the container that holds it. A thread is in one container, once.
    fn classes(&self) -> BTreeMap<ThreadId, StateClass> {
        let mut classes = BTreeMap::new();
        for (index, container) in self.policy.containers.iter().enumerate() {
            for thread in self.machine.contents(ContainerId(index)) {
                assert!(classes.insert(thread, container.class).is_none(), "thread {} is in two containers", thread.0);
                assert_eq!(self.machine.position(thread), Some(Position::In(ContainerId(index))));
            }
        }
        classes
    }

    /// Whether every thread is where the event type lets it be.
    fn judge(
        &self,
        step: &Step,
        before: &BTreeMap<ThreadId, StateClass>,
        decision: Option<&str>,
    ) -> Result<(), String> {
        let after = self.classes();
        let Step::Raise(name, threads) = step else {
            return if after == *before { Ok(()) } else { Err("this changed something".to_owned()) };
        };
        let Some(event) = self.framework.events.iter().find(|event| event.name == *name) else {
            return Err("there is no such event".to_owned());
        };
        let fits = |rule: &&Rule| is_satisfied(rule, event, threads, before, &after, decision);
        if !event.rules.is_empty() && !event.rules.iter().any(|rule| fits(&rule)) {
            return Err(format!("no rule is satisfied: {before:?} became {after:?}"));
        }
        // All others stay what they were, or make way.
        for (thread, class) in before.iter().filter(|(thread, _)| !threads.contains(thread)) {
            match (class, after.get(thread)) {
                (_, None) if *class != StateClass::Terminated => return Err(format!("thread {} is lost", thread.0)),
                (StateClass::Running, Some(StateClass::Ready)) => {}
                (StateClass::Ready, Some(StateClass::Running)) if event.dispatches() && decision.is_some() => {}
                (class, Some(now)) if *class != *now => {
                    return Err(format!("thread {} went from {} to {}", thread.0, class.word(), now.word()));
                }
                (_, _) => {}
            }
        }
        let running = after.values().filter(|class| **class == StateClass::Running).count();
        if running > 1 { Err(format!("{running} threads run")) } else { Ok(()) }
    }

    /// A legal event: one whose rule's start is as things are.
    fn event(&mut self, choices: &mut Choices) -> Option<Step> {
        let classes = self.classes();
        let mut legal = Vec::new();
        for event in self.framework.events.iter().filter(|event| self.machine.handles(&event.name)) {
            for rule in &event.rules {
                if let Some(candidates) = self.candidates(event, rule, &classes) {
                    legal.push((event, candidates));
                }
            }
        }
        if legal.is_empty() {
            return None;
        }
        // The rare events are as many as the others together: what dispatches comes half of the time that it can.
        let dispatching = legal.iter().find(|(event, _)| event.dispatches()).cloned();
        let (event, candidates) = match dispatching {
            Some(dispatching) if choices.chance(50) => dispatching,
            Some(_) | None => choices.one_of(&legal),
        };
        let threads: Vec<ThreadId> = candidates.iter().map(|candidates| choices.one_of(candidates)).collect();
        if threads.contains(&self.next) {
            self.next.0 += 1;
        }
        Some(Step::Raise(event.name.clone(), threads))
    }

    /// For each parameter the threads that it can name; `None` if the rule does not start like this.
    fn candidates(
        &self,
        event: &Event,
        rule: &Rule,
        classes: &BTreeMap<ThreadId, StateClass>,
    ) -> Option<Vec<Vec<ThreadId>>> {
        let of = |class: StateClass| classes.iter().filter(move |(_, now)| **now == class).map(|(thread, _)| *thread);
        let holds = rule.given.iter().all(|condition| match condition {
            Condition::Some(class) => of(*class).next().is_some(),
            Condition::None(class) => of(*class).next().is_none(),
        });
        let parameters = (0..event.parameters.len()).map(|index| {
            let from = rule.moves.iter().find_map(|step| match step {
                Move::Parameter(parameter, from, _) if *parameter == index => Some(*from),
                Move::Parameter(..) | Move::One(..) => None,
            });
            match from {
                Some(Stage::New) if classes.len() < MOST_THREADS => vec![self.next],
                Some(Stage::New) => Vec::new(),
                Some(Stage::In(class)) => of(class).collect(),
                None => classes.keys().copied().collect(),
            }
        });
        let candidates: Vec<Vec<ThreadId>> = parameters.collect();
        (holds && candidates.iter().all(|threads| !threads.is_empty())).then_some(candidates)
    }

    fn assignment(&self, choices: &mut Choices) -> Option<Step> {
        let mut names: Vec<(bool, &str, Type)> = Vec::new();
        names.extend(self.policy.imports.iter().map(|import| (false, import.name.as_str(), import.ty)));
        names.extend(self.policy.thread_imports.iter().map(|import| (true, import.name.as_str(), import.ty)));
        let threads: Vec<ThreadId> = self.classes().into_keys().collect();
        if names.is_empty() {
            return None;
        }
        let (of_thread, name, ty) = choices.one_of(&names);
        let value = match ty {
            Type::Int => Value::Int(choices.one_of(&[0, 1, 2, 3, 4, 5, 100, 1000, -1, i64::MAX, i64::MIN])),
            Type::Bool => Value::Bool(choices.chance(50)),
        };
        match (of_thread, threads.is_empty()) {
            (false, _) => Some(Step::SetImport(name.to_owned(), value)),
            (true, false) => Some(Step::SetThreadImport(choices.one_of(&threads), name.to_owned(), value)),
            (true, true) => None,
        }
    }

    fn question(&self, choices: &mut Choices) -> Option<Step> {
        let threads: Vec<ThreadId> = self.classes().into_keys().collect();
        let askable = |parameters: usize| parameters == 0 || !threads.is_empty();
        let queries: Vec<_> = self.policy.queries.iter().filter(|query| askable(query.parameters)).collect();
        if queries.is_empty() {
            return None;
        }
        let query = choices.one_of(&queries);
        let named = (0..query.parameters).map(|_| choices.one_of(&threads)).collect();
        Some(Step::Ask(query.name.clone(), named))
    }
}

/// Whether what was and what is now are as a rule says.
fn is_satisfied(
    rule: &Rule,
    event: &Event,
    threads: &[ThreadId],
    before: &BTreeMap<ThreadId, StateClass>,
    after: &BTreeMap<ThreadId, StateClass>,
    decision: Option<&str>,
) -> bool {
    let given = rule.given.iter().all(|condition| match condition {
        Condition::Some(class) => before.values().any(|now| now == class),
        Condition::None(class) => before.values().all(|now| now != class),
    });
    given
        && rule.moves.iter().all(|step| match step {
            Move::Parameter(index, from, to) => {
                is_at(*from, before.get(&threads[*index])) && is_at(*to, after.get(&threads[*index]))
            }
            Move::One(from, to) => {
                let went = |thread: &ThreadId| is_at(*from, before.get(thread)) && is_at(*to, after.get(thread));
                before.keys().filter(|thread| went(thread)).count() == 1 && (!event.dispatches() || decision.is_some())
            }
        })
}

fn is_at(stage: Stage, class: Option<&StateClass>) -> bool {
    match stage {
        Stage::New => class.is_none(),
        // A thread that has ended is in no container: the host uses its record anew.
        Stage::In(StateClass::Terminated) => class.is_none(),
        Stage::In(expected) => class == Some(&expected),
    }
}
