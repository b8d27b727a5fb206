//! A counterexample to read and replay. Its steps have real thread numbers and were run again in the interpreter; each
//! says what the containers hold after it.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;

use catapults_compiler::interp::{Machine, Stop, ThreadId, Variables};
use catapults_compiler::policy::{ContainerId, Policy, Value};
use catapults_compiler::verify::Verified;
use indexmap::IndexSet;

use super::Kind;
use super::instants::NOW;
use super::oracle::{Imported, Read};
use super::shown;
use super::situation::Situation;
use super::starvation::{Edge, Lasso};
use super::system::{Outcome, System, Transition};
use crate::script::{Step, perform};

/// The steps of a counterexample or lasso.
#[derive(Debug)]
pub struct Scenario {
    /// The policy's file, as it was named.
    pub policy: String,
    /// The steps.
    pub moments: Vec<Moment>,
    /// For a lasso: the moments of further rounds.
    pub again: Vec<Moment>,
    /// For a lasso: how many of the moments come before the round that repeats for ever.
    pub stem: Option<usize>,
    /// For a lasso: the thread that starves.
    pub starved: Option<ThreadId>,
}

/// How many further rounds of a lasso are run.
const ROUNDS: usize = 20;

/// A step, and the state after it.
#[derive(Debug)]
pub struct Moment {
    /// What the host or the application does.
    pub step: Step,
    /// What the policy decides, as in a script: `schedule -> 1`.
    pub decision: Option<String>,
    /// The containers that are not empty. Their threads are in the order in which they would leave.
    pub contents: Vec<(String, Vec<ThreadId>)>,
    /// The policy's own variables that this step changed.
    pub variables: Vec<(String, Value)>,
}

/// The known situations, for following a trail through them.
pub(super) struct Trail<'s, 'a> {
    pub system: &'s System<'a>,
    pub known: &'s IndexSet<Box<[u8]>>,
}

/// One step of a trail.
pub(super) struct Arrow {
    pub to: usize,
    /// The edge, if it must be this one.
    pub edge: Option<Edge>,
}

impl<'a> Trail<'_, 'a> {
    /// The scenario along a path from the start, and then a round or what goes wrong.
    pub fn scenario(
        &self,
        verified: &'a Verified<Policy>,
        path: &[Arrow],
        lasso: Option<&Lasso>,
        ends_wrong: bool,
    ) -> Result<Scenario, String> {
        let start = self.system.values.clock.start;
        if self.system.values.instants.is_none() {
            return self.from(verified, start, path, lasso, ends_wrong);
        }
        // Short numbers are easier to read. But some things happen only if 0 is long ago.
        let early = self.from(verified, 0, path, lasso, ends_wrong);
        early.or_else(|_| self.from(verified, start, path, lasso, ends_wrong))
    }

    /// The scenario that starts at this instant.
    fn from(
        &self,
        verified: &'a Verified<Policy>,
        start: i64,
        path: &[Arrow],
        lasso: Option<&Lasso>,
        ends_wrong: bool,
    ) -> Result<Scenario, String> {
        let mut walk = Walk {
            trail: self,
            policy: verified.policy(),
            machine: Machine::new(verified),
            application: Variables::default(),
            now: start,
            registered: BTreeMap::new(),
            numbers: Vec::new(),
            last: 0,
            at: 0,
            moments: Vec::new(),
        };
        if start != 0 {
            walk.perform(Step::At(start))?;
        }
        path.iter().try_for_each(|arrow| walk.follow(arrow))?;
        let stem = walk.moments.len();
        let mut again = Vec::new();
        let starved = lasso.and_then(|lasso| walk.numbers.get(lasso.place).copied());
        if let Some(lasso) = lasso {
            walk.round(lasso)?;
            let once = walk.moments.len();
            // The round must come again, though that is not shown.
            (0..ROUNDS).try_for_each(|_| walk.round(lasso))?;
            again = walk.moments.split_off(once);
        }
        if ends_wrong {
            walk.go_wrong()?;
        }
        Ok(Scenario {
            policy: verified.policy().source.clone(),
            moments: walk.moments,
            again,
            stem: lasso.map(|_| stem),
            starved,
        })
    }
}

struct Walk<'t, 's, 'a> {
    trail: &'t Trail<'s, 'a>,
    policy: &'a Policy,
    machine: Machine<'a>,
    application: Variables,
    now: i64,
    /// The values of imported variables, by name. The thread is 0 for those of the application.
    registered: BTreeMap<(u32, String), Value>,
    /// The real numbers of the situation's threads.
    numbers: Vec<ThreadId>,
    /// The last real number given to a thread.
    last: u32,
    /// The number of the situation.
    at: usize,
    moments: Vec<Moment>,
}

impl Walk<'_, '_, '_> {
    fn follow(&mut self, arrow: &Arrow) -> Result<(), String> {
        let found = self.find(|outcome, known| match outcome {
            Outcome::Next(next) => {
                let there = known.get_index_of(&next.situation.encode()) == Some(arrow.to);
                let same = |edge: Edge| edge == Edge::new(edge.to, next);
                there && arrow.edge.is_none_or(same)
            }
            Outcome::Same | Outcome::Beyond(_) | Outcome::Wrong(..) => false,
        })?;
        let before = self.take(&found)?;
        if let Outcome::Next(next) = found.outcome {
            let mut numbers = vec![ThreadId(0); next.situation.threads()];
            for (old, new) in next.moved.iter().enumerate() {
                if let Some(place) = new.checked_sub(1) {
                    numbers[place] = before[old];
                }
            }
            self.numbers = numbers;
            self.is_there(&next.situation)?;
        }
        self.at = arrow.to;
        Ok(())
    }

    fn round(&mut self, lasso: &Lasso) -> Result<(), String> {
        let mut edges = lasso.round.iter();
        edges.try_for_each(|edge| self.follow(&Arrow { to: edge.to as usize, edge: Some(*edge) }))
    }

    fn go_wrong(&mut self) -> Result<(), String> {
        let found = self.find(|outcome, _| matches!(outcome, Outcome::Wrong(..)))?;
        self.take(&found)?;
        let decision = self.moments.last().and_then(|moment| moment.decision.as_deref()).unwrap_or_default();
        let is_so = match found.outcome {
            Outcome::Wrong(Kind::Guard, _) => decision.contains(" -> guard "),
            Outcome::Wrong(Kind::Unproved, _) => decision.contains(" -> unproved "),
            Outcome::Wrong(Kind::Overrun, _) => decision.contains(" -> overrun "),
            Outcome::Wrong(Kind::Idle, _) => decision.is_empty(),
            Outcome::Wrong(Kind::Lost | Kind::Duplicated | Kind::EventType | Kind::Starvation, _)
            | Outcome::Next(_)
            | Outcome::Same
            | Outcome::Beyond(_) => true,
        };
        if is_so { Ok(()) } else { Err("the last step does what it should".to_owned()) }
    }

    /// Whether the machine's containers hold the same threads as the situation's.
    fn is_there(&self, situation: &Situation) -> Result<(), String> {
        for (index, container) in situation.saved.containers.iter().enumerate() {
            let expected = container.iter().filter_map(|thread| self.numbers.get(thread.id.0 as usize - 1).copied());
            if !expected.eq(self.machine.contents(ContainerId(index)).iter().copied()) {
                return Err(format!("{} holds other threads", self.policy.containers[index].name));
            }
        }
        Ok(())
    }

    /// A transition from here with such an outcome.
    fn find(&self, wanted: impl Fn(&Outcome, &IndexSet<Box<[u8]>>) -> bool) -> Result<Transition, String> {
        let Trail { system, known } = self.trail;
        let bytes = known.get_index(self.at).ok_or("there is no such situation")?;
        let situation = Situation::decode(system.policy, bytes);
        let mut found = None;
        let _ = system.each(&mut system.machine(), &situation, &mut |transition| {
            if !wanted(&transition.outcome, known) {
                return ControlFlow::Continue(());
            }
            found = Some(transition);
            ControlFlow::Break(())
        });
        found.ok_or_else(|| "the trail is lost".to_owned())
    }

    /// Takes the transition with real numbers. Returns the real numbers of the threads before it, and of a new one.
    fn take(&mut self, transition: &Transition) -> Result<Vec<ThreadId>, String> {
        let mut numbers = self.numbers.clone();
        let (Step::Raise(_, threads) | Step::Ask(_, threads)) = &transition.step else {
            return Err("a step of the trail is an assignment".to_owned());
        };
        if threads.iter().any(|thread| thread.0 as usize > numbers.len()) {
            self.last += 1;
            numbers.push(ThreadId(self.last));
        }
        let instants = self.trail.system.values.instants.as_ref();
        let now = self.now;
        // The application's instants are relative to now.
        let absolute = |variable: &Imported, value: Value| {
            let is_instant = instants.is_some_and(|instants| match variable {
                Imported::Global(import) => instants.imports[import.0],
                Imported::Of(_, import) => instants.thread_imports[import.0],
            });
            if let Value::Time(instant) = value
                && is_instant
                && instant != 0
            {
                Value::Time(instant - NOW + now)
            } else {
                value
            }
        };
        let real = |thread: &ThreadId| numbers.get(thread.0 as usize - 1).copied().unwrap_or(*thread);
        for Read { variable, values, at_once } in &transition.read {
            let values: Vec<Value> = values.iter().map(|value| absolute(variable, *value)).collect();
            let (thread, import) = match variable {
                Imported::Global(import) => (None, &self.policy.imports[import.0]),
                Imported::Of(thread, import) => (Some(real(thread)), &self.policy.thread_imports[import.0]),
            };
            let name = import.name.clone();
            let key = (thread.map_or(0, |thread| thread.0), name.clone());
            let known = self.registered.get(&key).copied().unwrap_or(import.default);
            let step = match (values.as_slice(), thread) {
                ([one], _) if *at_once && *one == known => continue,
                ([one], None) if *at_once => Step::SetImport(name, *one),
                ([one], Some(thread)) if *at_once => Step::SetThreadImport(thread, name, *one),
                (_, _) => Step::LetRead(thread, name, values.clone()),
            };
            if let Some(last) = values.last() {
                self.registered.insert(key, *last);
            }
            self.perform(step)?;
        }
        if !transition.draws.is_empty() {
            self.perform(Step::LetDraw(transition.draws.clone()))?;
        }
        for (variable, value) in &transition.written {
            let key = match variable {
                Imported::Global(import) => (0, self.policy.imports[import.0].name.clone()),
                Imported::Of(thread, import) => (real(thread).0, self.policy.thread_imports[import.0].name.clone()),
            };
            self.registered.insert(key, absolute(variable, *value));
        }
        let step = match &transition.step {
            Step::Raise(event, threads) => Step::Raise(event.clone(), threads.iter().map(real).collect()),
            Step::Ask(query, threads) => Step::Ask(query.clone(), threads.iter().map(real).collect()),
            other @ (Step::At(_)
            | Step::Expire
            | Step::Enter(_)
            | Step::SetProperty(..)
            | Step::SetImport(..)
            | Step::SetThreadImport(..)
            | Step::LetRead(..)
            | Step::Show(_)
            | Step::Take(_)
            | Step::LetDraw(_)) => other.clone(),
        };
        if transition.elapsed != 0 {
            self.now += transition.elapsed;
            self.perform(Step::At(self.now))?;
        }
        self.perform(step)?;
        Ok(numbers)
    }

    fn perform(&mut self, step: Step) -> Result<(), String> {
        let before = self.machine.variables().to_vec();
        let decision = match perform(&mut self.machine, &mut self.application, self.policy, &step) {
            Ok(decision) => decision,
            Err(Stop::Fail { reason, .. }) => Some(format!("{step} -> fail {reason}")),
            Err(Stop::Guard { line, text }) => Some(format!("{step} -> guard {line} {text}")),
            Err(Stop::Unproved { line, text }) => Some(format!("{step} -> unproved {line} {text}")),
            Err(Stop::Overrun { line }) => Some(format!("{step} -> overrun {line}")),
            Err(Stop::Misuse(text)) => return Err(format!("{step}: {text}")),
        };
        let containers = self.policy.containers.iter().enumerate();
        let contents = containers.map(|(index, one)| (one.name.clone(), self.machine.contents(ContainerId(index))));
        let variables = self.policy.variables.iter().zip(before).zip(self.machine.variables());
        let changed = variables.filter(|((_, before), now)| before != *now);
        self.moments.push(Moment {
            step,
            decision,
            contents: contents.filter(|(_, threads)| !threads.is_empty()).collect(),
            variables: changed.map(|((variable, _), now)| (variable.name.clone(), *now)).collect(),
        });
        Ok(())
    }
}

impl Scenario {
    /// A script that replays it, with the policy's decisions; of a lasso, with one round.
    pub fn script(&self, title: &str) -> String {
        let mut text = format!("policy {}\n// {title}\n", self.policy);
        let line = |moment: &Moment| format!("{}\n", moment.decision.clone().unwrap_or(moment.step.to_string()));
        let stem = self.stem.unwrap_or(self.moments.len());
        self.moments[..stem].iter().for_each(|moment| text.push_str(&line(moment)));
        if self.stem.is_some() {
            text.push_str("// From here on, what follows repeats for ever.\n");
            self.moments[stem..].iter().for_each(|moment| text.push_str(&line(moment)));
        }
        text
    }
}

impl Moment {
    /// The step for people. Scripts say otherwise that a handler reads a variable several times.
    fn shown(&self) -> String {
        let Step::LetRead(thread, name, values) = &self.step else {
            return self.decision.clone().unwrap_or(self.step.to_string());
        };
        let of = thread.map_or(String::new(), |thread| format!(" of thread {}", thread.0));
        let values: Vec<String> = values.iter().map(|value| shown(*value)).collect();
        format!("`{name}`{of} is changed while it is read: {}", values.join(", then "))
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heads: Vec<String> = self.moments.iter().map(Moment::shown).collect();
        let width = heads.iter().map(|head| head.chars().count()).filter(|width| *width <= 44).max().unwrap_or(0);
        for (index, (moment, head)) in self.moments.iter().zip(&heads).enumerate() {
            if self.stem == Some(index) {
                writeln!(out, "  then, again and again:")?;
            }
            let contents = moment.contents.iter().map(|(name, threads)| {
                let threads = threads.iter().map(|thread| thread.node().unwrap_or(thread.0).to_string());
                let threads: Vec<String> = threads.collect();
                format!("{name}: {}", threads.join(" "))
            });
            let variables = moment.variables.iter().map(|(name, value)| format!("{name} = {}", shown(*value)));
            let after: Vec<String> = contents.chain(variables).collect();
            let line = format!("{:>4}. {head:<width$}   {}", index + 1, after.join("; "));
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}
