//! Holds a policy in the interpreter against its framework description: which events a host can raise now, and whether
//! the policy did what the event types promise (Bossa 2005, §4).

use std::collections::BTreeMap;
use std::fmt;

use catapults_compiler::framework::{Condition, Event, Framework, Move, Rule, Stage};
use catapults_compiler::interp::{Machine, Position, ThreadId, Timeout};
use catapults_compiler::policy::{Entity, Policy, StateClass};

/// The living threads, each with the class of the container that holds it.
pub type Classes = BTreeMap<ThreadId, StateClass>;

/// A framework's event types, for one policy.
#[derive(Clone, Copy)]
pub struct EventTypes<'a> {
    framework: &'a Framework,
    policy: &'a Policy,
}

/// An event that a host can raise now.
#[derive(Clone, Debug)]
pub struct Legal<'a> {
    /// The event.
    pub event: &'a Event,
    /// For each parameter of the event, the threads that it can name.
    pub candidates: Vec<Vec<ThreadId>>,
}

/// An invariant that a policy has broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// A thread is in no container any more.
    Lost(ThreadId),
    /// A thread is in two containers, or not where it says it is.
    Duplicated(ThreadId),
    /// This many threads run.
    Running(usize),
    /// A thread is READY, and none was dispatched.
    Idle,
    /// A thread that the event does not name has changed its state.
    Changed(ThreadId, StateClass, StateClass),
    /// The event type allows none of this.
    Type(String),
}

impl<'a> EventTypes<'a> {
    /// The event types of this framework, for this policy.
    pub fn new(framework: &'a Framework, policy: &'a Policy) -> Self {
        EventTypes { framework, policy }
    }

    /// The events that come once, before all others.
    pub fn first(&self, machine: &Machine) -> Vec<&'a Event> {
        let first = |event: &&Event| event.rules.is_empty() && event.parameters.is_empty();
        self.framework.events.iter().filter(first).filter(|event| machine.handles(&event.name)).collect()
    }

    /// The classes of all threads; with nodes, of those on the entered node.
    ///
    /// # Errors
    /// A thread is in two containers.
    pub fn classes(&self, machine: &Machine) -> Result<Classes, Violation> {
        let mut classes = BTreeMap::new();
        for id in self.policy.holding(Entity::Thread) {
            let container = &self.policy.containers[id.0];
            for thread in machine.contents(id) {
                let elsewhere = classes.insert(thread, container.class).is_some();
                if elsewhere || machine.position(thread) != Some(Position::In(id)) {
                    return Err(Violation::Duplicated(thread));
                }
            }
        }
        Ok(classes)
    }

    /// The events that can be raised now, once for each rule that begins like this. `new` is the number of a new
    /// thread, if there may be one.
    pub fn legal(&self, machine: &Machine, classes: &Classes, new: Option<ThreadId>) -> Vec<Legal<'a>> {
        let mut legal = Vec::new();
        let due = machine.next_timeout().filter(|timeout| timeout.instant <= machine.now());
        for event in self.framework.events.iter().filter(|event| machine.handles(&event.name)) {
            // Only the timer that is due next expires, for its own thread.
            let expires = |thread: &ThreadId| {
                event.timer.is_none() || due.is_some_and(|due| due.event == event.name && due.thread == *thread)
            };
            for rule in &event.rules {
                let Some(mut candidates) = candidates(event, rule, classes, new) else { continue };
                candidates.iter_mut().for_each(|threads| threads.retain(expires));
                if candidates.iter().all(|threads| !threads.is_empty()) {
                    legal.push(Legal { event, candidates });
                }
            }
        }
        legal
    }

    /// The timers that can expire next, once their instant has come, each with its event. Of several with the same
    /// instant, any one can, because it depends on the threads' numbers.
    pub fn timeouts<'m>(&self, machine: &Machine<'m>) -> Vec<(&'a Event, Timeout<'m>)> {
        let armed = machine.armed();
        let earliest = armed.first().map(|timeout| timeout.instant);
        let next = armed.into_iter().take_while(|timeout| Some(timeout.instant) == earliest);
        let with_event = |timeout: Timeout<'m>| {
            let event = self.framework.events.iter().find(|event| event.name == timeout.event)?;
            Some((event, timeout))
        };
        next.filter_map(with_event).collect()
    }

    /// Judges what an event has done.
    ///
    /// # Errors
    /// It did what it must not do.
    pub fn judge(
        &self,
        event: &Event,
        threads: &[ThreadId],
        before: &Classes,
        after: &Classes,
        dispatched: Option<ThreadId>,
    ) -> Result<(), Violation> {
        for (thread, class) in before.iter().filter(|(thread, _)| !threads.contains(thread)) {
            match (class, after.get(thread)) {
                (StateClass::Terminated, None) | (StateClass::Running, Some(StateClass::Ready)) => {}
                (_, None) => return Err(Violation::Lost(*thread)),
                (StateClass::Ready, Some(StateClass::Running)) if event.dispatches() && dispatched.is_some() => {}
                (class, Some(now)) if *class != *now => return Err(Violation::Changed(*thread, *class, *now)),
                (_, Some(_)) => {}
            }
        }
        let running = after.values().filter(|class| **class == StateClass::Running).count();
        if running > 1 {
            return Err(Violation::Running(running));
        }
        let fits = |rule: &Rule| is_satisfied(rule, event, threads, before, after, dispatched);
        if event.rules.is_empty() || event.rules.iter().any(fits) {
            return Ok(());
        }
        let lost = |thread: &&ThreadId| !after.contains_key(thread) && !may_end(event);
        if let Some(lost) = threads.iter().find(lost) {
            return Err(Violation::Lost(*lost));
        }
        let ready = before.values().any(|class| *class == StateClass::Ready);
        Err(if event.dispatches() && dispatched.is_none() && ready {
            Violation::Idle
        } else {
            Violation::Type(changes(threads, before, after))
        })
    }
}

/// For each parameter, the threads that it can name; `None`: the rule does not begin like this.
fn candidates(event: &Event, rule: &Rule, classes: &Classes, new: Option<ThreadId>) -> Option<Vec<Vec<ThreadId>>> {
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
            // No event begins with a placed thread.
            Some(Stage::New | Stage::Placed) => new.into_iter().collect(),
            Some(Stage::In(class)) => of(class).collect(),
            None => classes.keys().copied().collect(),
        }
    });
    let candidates: Vec<Vec<ThreadId>> = parameters.collect();
    (holds && candidates.iter().all(|threads| !threads.is_empty())).then_some(candidates)
}

/// Whether the classes before and after are as a rule demands.
fn is_satisfied(
    rule: &Rule,
    event: &Event,
    threads: &[ThreadId],
    before: &Classes,
    after: &Classes,
    dispatched: Option<ThreadId>,
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
                before.keys().filter(|thread| went(thread)).count() == 1
                    && (!event.dispatches() || dispatched.is_some())
            }
        })
}

fn is_at(stage: Stage, class: Option<&StateClass>) -> bool {
    match stage {
        Stage::New => class.is_none(),
        // An ended thread is in no container: the host may reuse its record. One that was sent to a node is in none
        // here.
        Stage::Placed | Stage::In(StateClass::Terminated) => class.is_none(),
        Stage::In(expected) => class == Some(&expected),
    }
}

/// Whether a thread that the event names may be gone afterwards.
fn may_end(event: &Event) -> bool {
    event.rules.iter().flat_map(|rule| &rule.moves).any(|step| match step {
        Move::Parameter(_, _, to) | Move::One(_, to) => {
            matches!(to, Stage::Placed | Stage::In(StateClass::Terminated))
        }
    })
}

/// What happened to the threads that an event named.
fn changes(threads: &[ThreadId], before: &Classes, after: &Classes) -> String {
    let class = |class: Option<&StateClass>, none: &str| class.map_or(none.to_owned(), |class| class.word().to_owned());
    let one = |thread: &ThreadId| {
        let (from, to) = (class(before.get(thread), "NEW"), class(after.get(thread), "no container"));
        format!("thread {} went from {from} to {to}", thread.0)
    };
    if threads.is_empty() {
        return "no thread went where it must".to_owned();
    }
    threads.iter().map(one).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Violation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Violation::Lost(thread) => write!(out, "{thread} is lost: it is in no container"),
            Violation::Duplicated(thread) => write!(out, "{thread} is in two containers"),
            Violation::Running(count) => write!(out, "{count} threads run at once"),
            Violation::Idle => write!(out, "nothing is dispatched although a thread is ready"),
            Violation::Changed(thread, from, to) => {
                let (from, to) = (from.word(), to.word());
                write!(out, "thread {} went from {from} to {to}, and the event does not concern it", thread.0)
            }
            Violation::Type(changes) => write!(out, "the event type does not allow this: {changes}"),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

    use super::*;
    use catapults_compiler::compile;
    use catapults_compiler::framework::read;
    use catapults_compiler::source::Source;
    use catapults_compiler::verify::Verified;

    fn example() -> (Framework, Verified<Policy>) {
        let description = include_str!("../../frameworks/native/native.framework");
        let framework = read(&Source::new("native.framework", description)).unwrap();
        let policy = include_str!("../../policies/fifo.sched");
        let (verified, _) = compile(&Source::new("fifo.sched", policy), &framework).unwrap();
        (framework, verified)
    }

    /// The judgement on an event that turns the classes of threads 1, 2, ... into other ones.
    fn judged(
        event: &str,
        threads: &[u32],
        before: &[StateClass],
        after: &[Option<StateClass>],
        dispatched: Option<u32>,
    ) -> Result<(), Violation> {
        let (framework, verified) = example();
        let event = framework.events.iter().find(|one| one.name == event).unwrap();
        let threads: Vec<ThreadId> = threads.iter().copied().map(ThreadId).collect();
        let before: Classes = (1..).map(ThreadId).zip(before.iter().copied()).collect();
        let after = (1..).map(ThreadId).zip(after).filter_map(|(thread, class)| Some((thread, (*class)?))).collect();
        let types = EventTypes::new(&framework, verified.policy());
        types.judge(event, &threads, &before, &after, dispatched.map(ThreadId))
    }

    #[test]
    fn every_violation_is_seen() {
        use StateClass::{Blocked, Ready, Running};
        let (run, ready) = (Some(Running), Some(Ready));
        assert_eq!(judged("schedule", &[], &[Ready, Ready], &[run, ready], Some(1)), Ok(()));
        assert_eq!(judged("schedule", &[], &[Ready, Ready], &[ready, ready], None), Err(Violation::Idle));
        assert_eq!(judged("schedule", &[], &[Ready, Ready], &[run, None], Some(1)), Err(Violation::Lost(ThreadId(2))));
        assert_eq!(judged("schedule", &[], &[Ready, Ready], &[run, run], Some(1)), Err(Violation::Running(2)));
        let woken = judged("schedule", &[], &[Ready, Blocked], &[run, ready], Some(1));
        assert_eq!(woken, Err(Violation::Changed(ThreadId(2), Blocked, Ready)));
        assert_eq!(judged("event_raised", &[1], &[Blocked], &[ready], None), Ok(()));
        assert_eq!(judged("event_raised", &[1], &[Blocked], &[None], None), Err(Violation::Lost(ThreadId(1))));
        assert!(matches!(judged("event_raised", &[1], &[Blocked], &[Some(Blocked)], None), Err(Violation::Type(_))));
        assert_eq!(judged("exit", &[1], &[Running], &[None], None), Ok(()));
        assert!(matches!(judged("exit", &[1], &[Running], &[ready], None), Err(Violation::Type(_))));
        // The running thread may be preempted.
        assert_eq!(judged("newthread", &[2], &[Running], &[ready, ready], None), Ok(()));
    }
}
