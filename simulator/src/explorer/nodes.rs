//! Explores policies with nodes, breadth first, for a host with two nodes: they come and go, get threads, and steal
//! them.
//!
//! This does less than the exploration of a single instance. Situations that differ only in numbers stay apart,
//! imported variables keep their defaults, and starvation is not looked for. So there is always a limit to report, and
//! never a proof.

use std::collections::{HashSet, VecDeque};

use catapults_compiler::framework::Framework;
use catapults_compiler::interp::{Machine, SavedNodes, Stop, Variables};
use catapults_compiler::policy::{Attribute, ContainerId, Entity, Policy, Type, Value};
use catapults_compiler::verify::Verified;

use super::budget::Budget;
use super::{BETWEEN_LOOKS, Finding, Kind, Moment, Options, Report, STRIDE, Scenario};
use crate::event_types::{EventTypes, Violation};
use crate::places::{Hosts, Places};
use crate::script::{Step, perform, sent};

/// How many nodes there are at most.
const NODES: usize = 2;
/// How many situations are kept at most. Each takes a kilobyte or more.
const MOST_STATES: usize = 200_000;
/// Until when time is followed, in nanoseconds. Timers make it pass.
const LONGEST: i64 = 1_000_000_000;

/// The situation before, and the steps from it.
struct Origin {
    before: usize,
    steps: Vec<Step>,
}

/// The result of steps.
enum Outcome {
    Went,
    /// A request was refused.
    Refused,
    Wrong(Kind, String),
}

struct Search<'a> {
    policy: &'a Policy,
    framework: &'a Framework,
    hosts: Hosts<'a>,
    types: EventTypes<'a>,
}

/// Explores a policy with nodes. `framework` includes the events of the policy's timers.
pub(super) fn explore(
    verified: &Verified<Policy>,
    framework: &Framework,
    options: &Options,
    budget: &Budget,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Report, String> {
    let policy = verified.policy();
    let threads =
        options.threads.clamp(1, Options::MOST_THREADS.min(policy.capacity.map_or(usize::MAX, |most| most as usize)));
    let hosts = Hosts::new(framework, policy, NODES, threads);
    let search = Search { policy, framework, hosts, types: EventTypes::new(framework, policy) };
    let mut known: HashSet<(SavedNodes, Places)> = HashSet::new();
    let mut origins = vec![Origin { before: 0, steps: Vec::new() }];
    let start = (Machine::new(verified), Places::default());
    known.insert((start.0.save_nodes(), start.1.clone()));
    let mut open = VecDeque::from([(0, start)]);
    let mut report = Report {
        states: 1,
        transitions: 0,
        counterexample: None,
        starvation: None,
        assumptions: Vec::new(),
        limits: search.limits(),
    };
    let (mut looked, mut full, mut beyond) = (0, false, false);
    while let Some((index, (mut machine, places))) = open.pop_front() {
        looked += 1;
        if looked % STRIDE == 0 {
            progress(looked, known.len());
        }
        if looked % BETWEEN_LOOKS == 0 && budget.is_spent() {
            report.limits.push(format!("{} situations are known {}", known.len(), budget.why()));
            break;
        }
        for steps in search.possible(&mut machine, &places) {
            let (mut machine, mut places) = (machine.clone(), places.clone());
            report.transitions += 1;
            match search.take(&mut machine, &mut places, &steps) {
                Outcome::Went => {}
                Outcome::Refused => continue,
                Outcome::Wrong(kind, what) => {
                    let mut path = steps;
                    let mut at = index;
                    while at != 0 {
                        path = [origins[at].steps.as_slice(), &path].concat();
                        at = origins[at].before;
                    }
                    let scenario = search.scenario(verified, &path)?;
                    report.states = known.len();
                    report.counterexample = Some(Finding { kind, what, scenario });
                    return Ok(report);
                }
            }
            let saved = machine.save_nodes();
            if saved.values().any(|value| is_beyond(value, options.bound)) || machine.now() > LONGEST {
                beyond = true;
                continue;
            }
            if known.len() >= options.states.min(MOST_STATES) {
                full = true;
                continue;
            }
            if known.insert((saved, places.clone())) {
                origins.push(Origin { before: index, steps });
                open.push_back((origins.len() - 1, (machine, places)));
            }
        }
    }
    if full {
        report.limits.push(format!("{} situations are kept (--states)", known.len()));
    }
    if beyond {
        let bound = options.bound;
        report.limits.push(format!("numbers are followed from -{bound} to {bound} only (--bound), time up to 1s"));
    }
    report.states = known.len();
    Ok(report)
}

impl Search<'_> {
    /// What is not explored.
    fn limits(&self) -> Vec<String> {
        let mut limits = vec![format!("{NODES} nodes"), "starvation was not looked for".to_owned()];
        if self.policy.attributes.iter().any(|attribute| attribute.of == Entity::Node) {
            limits.push("the properties of a node are its number, and do not change".to_owned());
        }
        if self.policy.families.as_ref().is_some_and(|families| families.all.len() > NODES) {
            limits.push(format!("nodes of the first {NODES} families"));
        }
        if !self.policy.imports.is_empty() || !self.policy.thread_imports.is_empty() {
            limits.push("imported variables keep their defaults".to_owned());
        }
        if self.policy.uses_now() || self.policy.timers().next().is_some() {
            limits.push("time passes only until a timer expires".to_owned());
        }
        limits
    }

    /// All that can happen.
    fn possible(&self, machine: &mut Machine, places: &Places) -> Vec<Vec<Step>> {
        let mut all = self.hosts.legal(machine, places);
        for steps in &mut all {
            let [Step::Raise(name, nodes)] = steps.as_slice() else { continue };
            let arrives = self.framework.events.iter().any(|event| event.name == *name && event.names(0, Entity::Node));
            let Some(node) = nodes.first().filter(|_| arrives) else { continue };
            let known = self.hosts.nodes(places).iter().any(|known| known.node() == Some(node.0));
            if !known {
                let said = self.properties(node.0);
                *steps = said.into_iter().chain(steps.clone()).collect();
            }
        }
        for node in self.hosts.nodes(places) {
            let Some(number) = node.node() else { continue };
            if machine.enter(node).is_ok()
                && let Some(next) = machine.next_timeout().filter(|next| next.instant > machine.now())
            {
                all.push(vec![Step::At(next.instant), Step::Enter(number), Step::Expire]);
            }
        }
        all
    }

    /// The properties of a new node, as the host sets them.
    fn properties(&self, node: u32) -> Vec<Step> {
        let families = self.policy.families.as_ref();
        let value = |index: usize| match families {
            // One node is of the first family, the other one of the second.
            Some(families) if families.of_node.0 == index => i64::from(node) % families.all.len() as i64,
            Some(_) | None => i64::from(node),
        };
        let properties = self.policy.attributes.iter().enumerate();
        let ints = properties.filter(|(_, property)| property.of == Entity::Node && property.ty == Type::Int);
        let set = |(index, property): (usize, &Attribute)| {
            Step::SetProperty(node, property.name.clone(), Value::Int(value(index)))
        };
        ints.map(set).collect()
    }

    fn take(&self, machine: &mut Machine, places: &mut Places, steps: &[Step]) -> Outcome {
        for step in steps {
            let due = machine.next_timeout().filter(|due| *step == Step::Expire && due.instant <= machine.now());
            let raised = match step {
                Step::Raise(name, threads) => Some((name.clone(), threads.clone())),
                Step::Ask(..)
                | Step::At(_)
                | Step::Expire
                | Step::Enter(_)
                | Step::SetProperty(..)
                | Step::SetImport(..)
                | Step::SetThreadImport(..)
                | Step::LetRead(..)
                | Step::Show(_)
                | Step::Take(_)
                | Step::LetDraw(_) => due.map(|due| (due.event.to_owned(), vec![due.thread])),
            };
            let before = match self.hosts.before(machine) {
                Ok(before) => before,
                Err(violation) => return wrong(&violation),
            };
            let decision = match perform(machine, &mut Variables::default(), self.policy, step) {
                Ok(decision) => decision,
                Err(Stop::Fail { .. }) => {
                    if let Some((_, threads)) = raised {
                        self.hosts.refused(places, &threads);
                    }
                    return Outcome::Refused;
                }
                Err(Stop::Guard { line, text }) => return Outcome::Wrong(Kind::Guard, format!("line {line}: {text}")),
                Err(Stop::Overrun { line }) => {
                    return Outcome::Wrong(Kind::Overrun, format!("the loop of line {line} does not end"));
                }
                Err(Stop::Unproved { line, text }) => {
                    return Outcome::Wrong(Kind::Unproved, format!("line {line}: {text}"));
                }
                Err(Stop::Misuse(text)) => return Outcome::Wrong(Kind::Unproved, text),
            };
            if let Some((name, threads)) = raised {
                let dispatches = self.framework.events.iter().any(|event| event.name == name && event.dispatches());
                let dispatched = decision.as_deref().filter(|_| dispatches).and_then(|decision| {
                    decision.rsplit(' ').next()?.parse().ok().map(catapults_compiler::interp::ThreadId)
                });
                let sent = decision.as_deref().map(sent).unwrap_or_default();
                let event = (name.as_str(), threads.as_slice());
                if let Err(violation) = self.hosts.after(machine, places, &before, event, dispatched, &sent) {
                    return wrong(&violation);
                }
            }
        }
        match self.types.classes(machine) {
            Ok(_) => Outcome::Went,
            Err(violation) => wrong(&violation),
        }
    }

    /// The steps, each with what the containers hold after it.
    fn scenario(&self, verified: &Verified<Policy>, steps: &[Step]) -> Result<Scenario, String> {
        let (mut machine, mut application) = (Machine::new(verified), Variables::default());
        let mut moments = Vec::new();
        for step in steps {
            let before = machine.variables().to_vec();
            let decision = match perform(&mut machine, &mut application, self.policy, step) {
                Ok(decision) => decision,
                Err(Stop::Fail { reason, .. }) => Some(format!("{step} -> fail {reason}")),
                Err(Stop::Guard { line, text }) => Some(format!("{step} -> guard {line} {text}")),
                Err(Stop::Unproved { line, text }) => Some(format!("{step} -> unproved {line} {text}")),
                Err(Stop::Overrun { line }) => Some(format!("{step} -> overrun {line}")),
                Err(Stop::Misuse(text)) => return Err(format!("{step}: {text}")),
            };
            let contents = self.policy.containers.iter().enumerate();
            let contents = contents.map(|(index, one)| (one.name.clone(), machine.contents(ContainerId(index))));
            let changed = self.policy.variables.iter().zip(before).zip(machine.variables());
            let entered = matches!(step, Step::Enter(_));
            moments.push(Moment {
                step: step.clone(),
                decision,
                contents: contents.filter(|(_, held)| !held.is_empty()).collect(),
                variables: changed
                    .filter(|((_, before), now)| before != *now && !entered)
                    .map(|((variable, _), now)| (variable.name.clone(), *now))
                    .collect(),
            });
        }
        Ok(Scenario { policy: self.policy.source.clone(), moments, again: Vec::new(), stem: None, starved: None })
    }
}

fn wrong(violation: &Violation) -> Outcome {
    let kind = match violation {
        Violation::Lost(_) => Kind::Lost,
        Violation::Duplicated(_) => Kind::Duplicated,
        Violation::Idle => Kind::Idle,
        Violation::Running(_) | Violation::Changed(..) | Violation::Type(_) => Kind::EventType,
    };
    Outcome::Wrong(kind, violation.to_string())
}

fn is_beyond(value: Value, bound: i64) -> bool {
    match value {
        Value::Int(value) => value.unsigned_abs() > bound.unsigned_abs(),
        Value::Float(value) => value.get().abs() > bound as f64,
        Value::Time(_) | Value::Bool(_) => false,
    }
}
