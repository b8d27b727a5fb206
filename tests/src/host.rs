//! A host that raises events that are legal, in any order, and holds the policy to what the event types promise.

use std::collections::BTreeMap;

use catapults_compiler::framework::automaton::Order;
use catapults_compiler::framework::life::Lives;
use catapults_compiler::framework::{Event, Framework};
use catapults_compiler::interp::{Machine, Stop, ThreadId, Variables};
use catapults_compiler::policy::{Entity, Float, Policy, Type, Value};
use catapults_compiler::verify::Verified;
use catapults_simulator::event_types::{Classes, EventTypes, Legal};

use catapults_simulator::places::{Hosts, Places};
use catapults_simulator::script::sent;

use crate::choices::Choices;
use crate::replay::{Step, parse, perform, replay};

/// Raises legal events in any order, at most so many; then does the same again, as a script.
///
/// # Errors
/// What the policy did that it must not, and after which steps.
pub fn drive(verified: &Verified<Policy>, framework: &Framework, steps: usize, events: &[u8]) -> Result<(), String> {
    let mut choices = Choices::new(events);
    let framework = framework.as_met(verified.policy().timers(), verified.policy().has_nodes());
    let mut host = Host::new(verified, &framework)?;
    for _ in 0..steps {
        if host.out || !choices.any_left() {
            break;
        }
        host.anything(&mut choices).map_err(|wrong| {
            let lines: Vec<String> = host.script.iter().map(ToString::to_string).collect();
            format!("{wrong}\nafter\n{}", lines.join("\n"))
        })?;
    }
    let text: Vec<String> = host.script.iter().map(ToString::to_string).collect();
    let read = parse(&text.join("\n"))?;
    if read != host.script {
        return Err(format!("the script reads back as {read:?}"));
    }
    let again = replay(verified, &read);
    if again == host.decisions { Ok(()) } else { Err(format!("decided {:?}, then {again:?}", host.decisions)) }
}

/// A policy in the interpreter, and all that a host knows of its threads.
pub struct Host<'a> {
    framework: &'a Framework,
    types: EventTypes<'a>,
    order: Order,
    /// How far the framework's sequences have come.
    come: Vec<u64>,
    lives: Lives,
    /// How far each thread has come in its life.
    lived: BTreeMap<ThreadId, u64>,
    policy: &'a Policy,
    machine: Machine<'a>,
    application: Variables,
    next: ThreadId,
    /// Of a policy with nodes.
    nodes: Option<(Hosts<'a>, Places)>,
    now: i64,
    /// Everything done so far, to be replayed elsewhere.
    pub script: Vec<Step>,
    /// What came of it, as [`crate::replay::replay`] would return it.
    pub decisions: Vec<String>,
    /// Guards that failed: the policy is out.
    pub out: bool,
    /// At most so many threads are created, where no policy has nodes.
    pub most: usize,
    /// What handlers took.
    pub observed: Observed,
}

/// By handler, and by how many threads and nodes there were: the most steps that it took.
pub type Observed = BTreeMap<(String, usize, usize), u64>;

/// More threads than this are not created: few suffice to find every mistake that many do.
const MOST_THREADS: usize = 6;
/// So many nodes there are at most, and threads on all of them.
const MOST_NODES: usize = 4;
const MOST_ON_NODES: usize = 9;

impl<'a> Host<'a> {
    /// A host that has just loaded a policy; the framework has the events of its timers. It has raised the events that come before all others.
    ///
    /// # Errors
    /// What the policy did that it must not.
    pub fn new(verified: &'a Verified<Policy>, framework: &'a Framework) -> Result<Self, String> {
        let order = Order::of(framework);
        let policy = verified.policy();
        let most = policy.capacity.map_or(MOST_ON_NODES, |most| MOST_ON_NODES.min(most as usize));
        let hosts = policy.has_nodes().then(|| Hosts::new(framework, policy, MOST_NODES, most));
        let mut host = Host {
            nodes: hosts.map(|hosts| (hosts, Places::default())),
            come: order.first(),
            order,
            lives: Lives::of(framework),
            lived: BTreeMap::new(),
            framework,
            types: EventTypes::new(framework, verified.policy()),
            policy: verified.policy(),
            machine: Machine::new(verified),
            application: Variables::default(),
            next: ThreadId(1),
            now: 0,
            script: Vec::new(),
            decisions: Vec::new(),
            out: false,
            most: MOST_THREADS,
            observed: Observed::new(),
        };
        // Of those with nodes each instance begins so, once there is one.
        let first = if host.nodes.is_some() { Vec::new() } else { host.types.first(&host.machine) };
        for event in first {
            host.step(Step::Raise(event.name.clone(), Vec::new()))?;
        }
        Ok(host)
    }

    /// Does something that a host or an application can do now.
    ///
    /// # Errors
    /// What the policy did that it must not.
    pub fn anything(&mut self, choices: &mut Choices) -> Result<(), String> {
        if self.nodes.is_some() {
            return self.anything_with_nodes(choices);
        }
        let classes = self.classes()?;
        let step = match choices.below(9) {
            8 => Some(self.later(choices)),
            0 => self.assignment(&classes, choices),
            1 => self.question(&classes, choices),
            _ => self.event(&classes, choices),
        };
        match step {
            Some(step) => self.step(step),
            None => Ok(()),
        }
    }

    /// The same with nodes.
    fn anything_with_nodes(&mut self, choices: &mut Choices) -> Result<(), String> {
        let Some((hosts, places)) = &self.nodes else { return Ok(()) };
        let (threads, nodes) = (hosts.threads(&self.machine, places), hosts.nodes(places));
        let numbers: Vec<u32> = nodes.iter().filter_map(|node| node.node()).collect();
        let steps = match choices.below(10) {
            9 => vec![self.later(choices)],
            0 => self.assignment_of(&threads, choices).into_iter().collect(),
            1 if !numbers.is_empty() => {
                let node = choices.one_of(&numbers);
                self.step(Step::Enter(node))?;
                let classes = self.classes()?;
                self.question(&classes, choices).into_iter().collect()
            }
            2 if !numbers.is_empty() => {
                let node = choices.one_of(&numbers);
                self.property(node, choices).into_iter().collect()
            }
            _ => self.event_of_nodes(choices),
        };
        steps.into_iter().try_for_each(|step| if self.out { Ok(()) } else { self.step(step) })
    }

    /// The host says something of a node.
    fn property(&self, node: u32, choices: &mut Choices) -> Option<Step> {
        let properties = self.policy.attributes.iter().filter(|attribute| attribute.of == Entity::Node);
        let properties: Vec<(String, Type)> = properties.map(|property| (property.name.clone(), property.ty)).collect();
        if properties.is_empty() {
            return None;
        }
        let (name, ty) = choices.one_of(&properties);
        Some(Step::SetProperty(node, name, self.value(ty, choices)))
    }

    fn event_of_nodes(&mut self, choices: &mut Choices) -> Vec<Step> {
        let Some((hosts, places)) = &self.nodes else { return Vec::new() };
        let legal = hosts.legal(&mut self.machine, places);
        // The machine has been everywhere: the script has not.
        let (global, local): (Vec<_>, Vec<_>) = legal.into_iter().partition(|steps| steps.len() == 1);
        let dispatches = |steps: &&Vec<Step>| {
            steps.iter().any(|step| matches!(step, Step::Raise(name, _) if self.dispatching(name)))
        };
        let dispatching: Vec<Vec<Step>> = local.iter().filter(dispatches).cloned().collect();
        let from = if !global.is_empty() && (local.is_empty() || choices.chance(30)) {
            global
        } else if !dispatching.is_empty() && choices.chance(40) {
            dispatching
        } else {
            local
        };
        if from.is_empty() {
            return Vec::new();
        }
        let chosen = choices.one_of(&from);
        // A node that comes has its properties before.
        let arriving = match chosen.as_slice() {
            [Step::Raise(name, nodes)] if self.names_node(name) && choices.chance(70) => nodes.first().copied(),
            _ => None,
        };
        let said = arriving.and_then(|node| self.property(node.0, choices));
        said.into_iter().chain(chosen).collect()
    }

    fn dispatching(&self, name: &str) -> bool {
        self.framework.events.iter().any(|event| event.name == name && event.dispatches())
    }

    fn names_node(&self, name: &str) -> bool {
        self.framework.events.iter().any(|event| event.name == name && event.names(0, Entity::Node))
    }

    /// Does one step of a policy with nodes.
    fn step_with_nodes(&mut self, step: Step) -> Result<(), String> {
        let wrong = |violation: catapults_simulator::event_types::Violation| format!("{step}: {violation}");
        let due = self.machine.next_timeout().filter(|due| step == Step::Expire && due.instant <= self.machine.now());
        let raised = due.map(|due| (due.event.to_owned(), vec![due.thread]));
        let raised = match &step {
            Step::Raise(name, threads) => Some((name.clone(), threads.clone())),
            Step::Enter(_)
            | Step::SetProperty(..)
            | Step::Ask(..)
            | Step::At(_)
            | Step::Expire
            | Step::SetImport(..)
            | Step::SetThreadImport(..)
            | Step::LetRead(..)
            | Step::Show(_)
            | Step::Take(_)
            | Step::LetDraw(_) => raised,
        };
        let alive = self.alive(&[]);
        let Some((hosts, places)) = &mut self.nodes else { return Ok(()) };
        let before = hosts.before(&self.machine).map_err(wrong)?;
        self.script.push(step.clone());
        let performed = perform(&mut self.machine, &mut self.application, self.policy, &step);
        // One that was refused has been there, too.
        let more = usize::from(matches!(performed, Err(Stop::Fail { .. })));
        let alive = (alive.0.max(self.machine.threads()) + more, alive.1.max(self.machine.nodes().len()) + more);
        observe(&mut self.observed, handler(&step, raised.as_ref().map(|(name, _)| name)), alive, &self.machine);
        match performed {
            Ok(decision) => {
                if let Some((name, threads)) = raised {
                    let event = self.framework.events.iter().find(|event| event.name == name);
                    let dispatched = event.and_then(|event| dispatched(event, decision.as_deref()));
                    let sent = decision.as_deref().map(sent).unwrap_or_default();
                    let event = (name.as_str(), threads.as_slice());
                    hosts.after(&self.machine, places, &before, event, dispatched, &sent).map_err(wrong)?;
                }
                self.decisions.extend(decision);
                Ok(())
            }
            Err(Stop::Fail { reason, .. }) => {
                self.decisions.push(format!("{step} -> fail {reason}"));
                if let Some((_, threads)) = raised {
                    hosts.refused(places, &threads);
                }
                Ok(())
            }
            Err(stop) => self.stopped(&step, stop),
        }
    }

    /// Does one step.
    ///
    /// # Errors
    /// What the policy did that it must not.
    pub fn step(&mut self, step: Step) -> Result<(), String> {
        if self.nodes.is_some() {
            return self.step_with_nodes(step);
        }
        let before = self.classes()?;
        let due = self.machine.next_timeout().filter(|due| step == Step::Expire && due.instant <= self.machine.now());
        // What is judged is the event that the timer raises.
        let raised = due.map_or_else(|| step.clone(), |due| Step::Raise(due.event.to_owned(), vec![due.thread]));
        self.script.push(step.clone());
        let (name, threads): (Option<&String>, &[ThreadId]) = match &raised {
            Step::Raise(name, threads) => (Some(name), threads),
            Step::Enter(_)
            | Step::SetProperty(..)
            | Step::Ask(..)
            | Step::At(_)
            | Step::Expire
            | Step::SetImport(..)
            | Step::SetThreadImport(..)
            | Step::LetRead(..)
            | Step::Show(_)
            | Step::Take(_)
            | Step::LetDraw(_) => (None, &[]),
        };
        let alive = self.alive(threads);
        let performed = perform(&mut self.machine, &mut self.application, self.policy, &step);
        observe(&mut self.observed, handler(&step, name), alive, &self.machine);
        match performed {
            Ok(decision) => {
                self.judge(&raised, &before, decision.as_deref()).map_err(|wrong| format!("{step}: {wrong}"))?;
                self.live(&raised, decision.as_deref());
                self.decisions.extend(decision);
                Ok(())
            }
            Err(Stop::Fail { reason, .. }) => {
                self.decisions.push(format!("{step} -> fail {reason}"));
                if self.classes()? == before { Ok(()) } else { Err(format!("{step}: failed, and changed something")) }
            }
            Err(stop) => self.stopped(&step, stop),
        }
    }

    /// How many threads and nodes there are in an event that names these.
    fn alive(&self, named: &[ThreadId]) -> (usize, usize) {
        let new = |node: bool| {
            let such = |id: &&ThreadId| id.node().is_some() == node && self.machine.position(**id).is_none();
            named.iter().filter(such).count()
        };
        (self.machine.threads() + new(false), self.machine.nodes().len() + new(true))
    }

    /// After anything but a refusal.
    fn stopped(&mut self, step: &Step, stop: Stop) -> Result<(), String> {
        match stop {
            Stop::Guard { line, text } => {
                self.decisions.push(format!("{step} -> guard {line} {text}"));
                self.out = true;
                Ok(())
            }
            // Compiled, it would take as long as it takes: no script has it.
            Stop::Overrun { .. } => {
                self.script.pop();
                self.out = true;
                Ok(())
            }
            stop @ (Stop::Fail { .. } | Stop::Unproved { .. } | Stop::Misuse(_)) => Err(format!("{step}: {stop:?}")),
        }
    }

    fn classes(&self) -> Result<Classes, String> {
        self.types.classes(&self.machine).map_err(|violation| violation.to_string())
    }

    /// Whether every thread is where the event type lets it be.
    fn judge(&self, step: &Step, before: &Classes, decision: Option<&str>) -> Result<(), String> {
        let after = self.classes()?;
        let Step::Raise(name, threads) = step else {
            return if after == *before { Ok(()) } else { Err("this changed something".to_owned()) };
        };
        let Some(event) = self.framework.events.iter().find(|event| event.name == *name) else {
            return Err("there is no such event".to_owned());
        };
        let dispatched = dispatched(event, decision);
        self.types.judge(event, threads, before, &after, dispatched).map_err(|violation| violation.to_string())
    }

    /// A legal event: one whose rule's start is as things are.
    fn event(&mut self, classes: &Classes, choices: &mut Choices) -> Option<Step> {
        let most = self.policy.capacity.map_or(self.most, |most| self.most.min(most as usize));
        let legal = self.types.legal(&self.machine, classes, (classes.len() < most).then_some(self.next));
        let legal: Vec<Legal> = legal.into_iter().filter_map(|legal| self.in_order(legal)).collect();
        if legal.is_empty() {
            return None;
        }
        // The rare events are as many as the others together: what dispatches comes half of the time that it can.
        let dispatching = legal.iter().find(|legal| legal.event.dispatches()).cloned();
        let chosen = match dispatching {
            Some(dispatching) if choices.chance(50) => dispatching,
            Some(_) | None => choices.one_of(&legal),
        };
        let threads: Vec<ThreadId> = chosen.candidates.iter().map(|candidates| choices.one_of(candidates)).collect();
        if let Some(come) = self.order.after(&self.come, &chosen.event.name) {
            self.come = come;
        }
        if threads.contains(&self.next) {
            self.next.0 += 1;
        }
        Some(match chosen.event.timer {
            Some(_) => Step::Expire,
            None => Step::Raise(chosen.event.name.clone(), threads),
        })
    }

    /// The same, of threads whose turn it is.
    fn in_order<'l>(&self, mut legal: Legal<'l>) -> Option<Legal<'l>> {
        self.order.after(&self.come, &legal.event.name)?;
        for threads in &mut legal.candidates {
            threads.retain(|thread| self.after(*thread, &legal.event.name).is_some());
        }
        legal.candidates.iter().all(|threads| !threads.is_empty()).then_some(legal)
    }

    /// The life of a thread after an event; `None` if the event cannot come now.
    fn after(&self, thread: ThreadId, event: &str) -> Option<u64> {
        self.lives.after(self.lived.get(&thread).copied(), event)
    }

    /// The threads that an event names have come further, and the one that runs.
    fn live(&mut self, step: &Step, decision: Option<&str>) {
        let Step::Raise(name, threads) = step else { return };
        let event = self.framework.events.iter().find(|event| event.name == *name);
        let dispatched = event.and_then(|event| dispatched(event, decision));
        for thread in threads.iter().copied().chain(dispatched) {
            if let Some(after) = self.after(thread, name) {
                self.lived.insert(thread, after);
            }
        }
    }

    fn assignment(&self, classes: &Classes, choices: &mut Choices) -> Option<Step> {
        let threads: Vec<ThreadId> = classes.keys().copied().collect();
        self.assignment_of(&threads, choices)
    }

    fn assignment_of(&self, threads: &[ThreadId], choices: &mut Choices) -> Option<Step> {
        let mut names: Vec<(bool, &str, Type)> = Vec::new();
        names.extend(self.policy.imports.iter().map(|import| (false, import.name.as_str(), import.ty)));
        names.extend(self.policy.thread_imports.iter().map(|import| (true, import.name.as_str(), import.ty)));
        if names.is_empty() {
            return None;
        }
        let (of_thread, name, ty) = choices.one_of(&names);
        let value = self.value(ty, choices);
        match (of_thread, threads.is_empty()) {
            (false, _) => Some(Step::SetImport(name.to_owned(), value)),
            (true, false) => Some(Step::SetThreadImport(choices.one_of(threads), name.to_owned(), value)),
            (true, true) => None,
        }
    }

    fn value(&self, ty: Type, choices: &mut Choices) -> Value {
        match ty {
            Type::Int => {
                let unused = 64 - self.policy.int_bits;
                let (highest, lowest) = (i64::MAX >> unused, i64::MIN >> unused);
                Value::Int(choices.one_of(&[0, 1, 2, 3, 4, 5, 100, 1000, -1, highest, lowest]))
            }
            Type::Bool => Value::Bool(choices.chance(50)),
            Type::Float => {
                let values = [0.0, -0.0, 0.5, 1.0, -2.75, 100.0, 1e18, 1e300, -1e300, f64::INFINITY, f64::NEG_INFINITY];
                Value::Float(Float::new(choices.one_of(&values)))
            }
            Type::Time => {
                Value::Time(choices.one_of(&[0, 1, 1_000_000, 5_000_000, 1_000_000_000, -1, i64::MAX, i64::MIN]))
            }
        }
    }

    /// Time passes.
    fn later(&mut self, choices: &mut Choices) -> Step {
        self.now = self.now.saturating_add(choices.one_of(&[1, 1_000_000, 5_000_000, 20_000_000]));
        Step::At(self.now)
    }

    fn question(&self, classes: &Classes, choices: &mut Choices) -> Option<Step> {
        let threads: Vec<ThreadId> = classes.keys().copied().collect();
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

/// The handler that runs in a step: that of the event that is raised, or of a query.
fn handler(step: &Step, raised: Option<&String>) -> Option<String> {
    match step {
        Step::Ask(name, _) => Some(name.clone()),
        Step::Raise(..)
        | Step::Expire
        | Step::Enter(_)
        | Step::SetProperty(..)
        | Step::At(_)
        | Step::SetImport(..)
        | Step::SetThreadImport(..)
        | Step::LetRead(..)
        | Step::Show(_)
        | Step::Take(_)
        | Step::LetDraw(_) => raised.cloned(),
    }
}

fn observe(observed: &mut Observed, handler: Option<String>, (threads, nodes): (usize, usize), machine: &Machine) {
    let Some(handler) = handler else { return };
    let most = observed.entry((handler, threads, nodes)).or_insert(0);
    *most = machine.steps().max(*most);
}

/// The thread that a decision lets run.
fn dispatched(event: &Event, decision: Option<&str>) -> Option<ThreadId> {
    let decision = decision.filter(|_| event.dispatches())?;
    decision.rsplit(' ').next()?.parse().ok().map(ThreadId)
}
