//! A policy at work, as the simulated host sees it. Only implementations of [`Runner`] know how it is executed.

use std::cmp::Ordering;

use catapults_compiler::framework::{Event, Framework, Move, Stage};
use catapults_compiler::interp::{Application, Machine, Position, RunningSet, Stop, ThreadId, Variables};
use catapults_compiler::policy::{AttributeId, Entity, Handler, ImportId, Policy, StateClass, ThreadImportId, Type};
use catapults_compiler::scenario::Nodes;
use catapults_compiler::verify::Verified;
use catapults_compiler::vocabulary::Value;

/// What a host does with a policy. The number of a thread is unique while it lives. Processors are numbered from 0.
pub trait Runner {
    /// Whether the policy handles the event.
    fn handles(&self, event: EventId) -> bool;

    /// From here on, events happen on this processor: in its node's instance, or with what is RUNNING there.
    fn enter(&mut self, processor: usize);

    /// Exchanges what is RUNNING on two processors. Not for a policy with nodes.
    fn exchange(&mut self, one: usize, other: usize);

    /// Sets the time.
    fn set_now(&mut self, now: i64);

    /// Seeds what the policy draws.
    fn seed(&mut self, seed: u64);

    /// Raises an event. Returns the thread that is dispatched.
    fn raise(&mut self, event: EventId, threads: &[ThreadId]) -> Result<Option<ThreadId>, Stop>;

    /// Asks the policy whether it could dispatch a READY thread next. Without such a query in the framework, it can.
    fn can_switch_to(&mut self, thread: ThreadId) -> Result<bool, Stop>;

    /// A new thread, in hand.
    fn spawn(&mut self, thread: ThreadId) -> Result<(), Stop>;

    /// Forgets a thread that was refused or has ended.
    fn discard(&mut self, thread: ThreadId);

    /// Takes a thread in hand again, because its node has gone.
    fn take(&mut self, thread: ThreadId);

    /// Assigns an imported variable; does nothing if the policy does not import it.
    fn set(&mut self, name: &str, value: Value);

    /// Assigns a thread's imported variable. Whether its value has changed.
    fn set_of(&mut self, thread: ThreadId, name: &str, value: Value) -> bool;

    /// The value of a thread's imported variable; `None`: the policy does not import it.
    fn value_of(&self, thread: ThreadId, name: &str) -> Option<Value>;

    /// Adds to how long a thread has run, if the policy imports that from the host.
    fn charge(&mut self, thread: ThreadId, nanoseconds: i64);

    /// The class of the container that holds a thread; `None`: it is in hand, or does not exist.
    fn class(&self, thread: ThreadId) -> Option<StateClass>;

    /// Which of two threads the policy would dispatch first if both were READY; `None`: it does not tell.
    fn ready_order(&self, one: ThreadId, other: ThreadId) -> Option<Ordering>;

    /// The timer that expires next: its instant, thread and event. With nodes, in the entered instance.
    fn next_timeout(&self) -> Option<(i64, ThreadId, EventId)>;

    /// The line of the policy that last moved a thread; 0: no line of its own.
    fn moved_by(&self) -> u32;

    /// Takes the threads that were sent to nodes since the last call, each with its processor.
    fn take_sent(&mut self) -> Vec<(ThreadId, usize)>;

    /// Says of which families the nodes are that will come, in order. Those that come later are of the last one.
    fn expect_nodes(&mut self, nodes: &[Nodes]);

    /// Adds a processor as a node, with its properties, before its `arrival` is raised.
    fn add_node(&mut self, processor: usize) -> Result<(), Stop>;

    /// Sets the node property `load`, if the policy has it.
    fn set_load(&mut self, processor: usize, load: i64);

    /// Raises an event about a node, in no instance.
    fn raise_of_node(&mut self, event: EventId, processor: usize) -> Result<(), Stop>;

    /// Raises an event in the instance of the entered processor about another node.
    fn raise_steal(&mut self, event: EventId, for_processor: usize) -> Result<(), Stop>;
}

/// The query whether a thread can be next.
pub(super) const CAN_SWITCH_TO: &str = "can_switch_to";

/// An index of [`Events::names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(pub(super) u16);

impl EventId {
    /// An index of what [`super::event_names`] returns.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// The events of a framework as policies meet them, and by name those that the simulated host raises itself.
#[derive(Clone, Debug)]
pub(super) struct Events {
    pub(super) names: Vec<String>,
    pub(super) newthread: EventId,
    pub(super) schedule: EventId,
    pub(super) switch_out: EventId,
    pub(super) event_raised: EventId,
    pub(super) exit: EventId,
    pub(super) init: Option<EventId>,
    pub(super) tick: Option<EventId>,
    pub(super) suspend: Option<EventId>,
    /// Whether `suspend_thread` can be raised of a RUNNING thread.
    pub(super) suspends_running: bool,
    pub(super) resume: Option<EventId>,
    pub(super) set_next: Option<EventId>,
    pub(super) release: Option<EventId>,
    pub(super) changed: Option<EventId>,
    /// Whether policies can be asked. The framework may have no such query, or another one of that name.
    pub(super) can_switch_to: bool,
    pub(super) lock: Option<EventId>,
    pub(super) scheduler: Option<EventId>,
    pub(super) arrival: Option<EventId>,
    pub(super) departure: Option<EventId>,
    pub(super) dispatch: Option<EventId>,
    pub(super) migrate: Option<EventId>,
    pub(super) steal: Option<EventId>,
}

impl Events {
    /// The framework's events for these policies. `Err`: an event that every simulation needs is missing.
    pub(super) fn new(framework: &Framework, policies: &[&Policy]) -> Result<Events, String> {
        let timers = policies.iter().flat_map(|policy| policy.timers());
        let met = framework.as_met(timers, policies.iter().any(|policy| policy.has_nodes()));
        // A host that takes no processor from a thread, and whose threads never wait, raises neither of these.
        let unraised = met.unraised.iter().filter(|event| ["switch_out", "event_raised"].contains(&&*event.name));
        let names: Vec<String> = met.events.iter().chain(unraised).map(|event: &Event| event.name.clone()).collect();
        let find = |name: &str| {
            let place = names.iter().position(|one| one == name)?;
            u16::try_from(place).ok().map(EventId)
        };
        let need =
            |name: &str| find(name).ok_or_else(|| format!("the framework `{}` has no event `{name}`", framework.name));
        let lock = framework.locks.as_ref().map(|locks| locks.service.event.clone());
        Ok(Events {
            newthread: need("newthread")?,
            schedule: need("schedule")?,
            switch_out: need("switch_out")?,
            event_raised: need("event_raised")?,
            exit: need("exit")?,
            init: find("init"),
            tick: find("tick"),
            suspend: find("suspend_thread"),
            suspends_running: met.events.iter().any(|event| event.name == "suspend_thread" && takes_running(event)),
            resume: find("resume_thread"),
            set_next: find("set_next_thread"),
            release: find("release"),
            changed: find("changed"),
            can_switch_to: framework
                .queries
                .iter()
                .any(|query| query.name == CAN_SWITCH_TO && query.parameters.len() == 1 && query.returns == Type::Bool),
            lock: lock.and_then(|name| find(&name)),
            scheduler: find("block.scheduler"),
            arrival: find("arrival"),
            departure: find("departure"),
            dispatch: find("dispatch"),
            migrate: find("migrate"),
            steal: find("steal"),
            names,
        })
    }

    pub(super) fn find(&self, name: &str) -> Option<EventId> {
        let place = self.names.iter().position(|one| one == name)?;
        u16::try_from(place).ok().map(EventId)
    }

    pub(super) fn name(&self, event: EventId) -> &str {
        self.names.get(usize::from(event.0)).map_or("", String::as_str)
    }
}

/// Where a processor is after two have been exchanged.
pub(super) fn exchanged(processor: usize, one: usize, other: usize) -> usize {
    match processor {
        _ if processor == one => other,
        _ if processor == other => one,
        _ => processor,
    }
}

/// Whether the event can be raised of a RUNNING thread.
fn takes_running(event: &Event) -> bool {
    let running = |step: &Move| matches!(step, Move::Parameter(_, Stage::In(StateClass::Running), _));
    event.rules.iter().any(|rule| rule.moves.iter().any(running))
}

/// An interpreted policy.
pub struct Interpreted<'a> {
    machine: Machine<'a>,
    policy: &'a Policy,
    application: Variables,
    /// Indexed by event.
    handlers: Vec<Option<&'a Handler>>,
    names: Vec<String>,
    /// What each processor has in RUNNING containers. The entered processor's is in the machine.
    running: Vec<RunningSet>,
    here: usize,
    /// Variables that the host keeps.
    consumed: Option<ThreadImportId>,
    consumed_by_all: Option<ImportId>,
    total: i64,
    load: Option<AttributeId>,
    number: Option<AttributeId>,
    /// See [`Runner::expect_nodes`].
    nodes: Vec<Nodes>,
    has_timers: bool,
    /// See [`Events::can_switch_to`].
    can_be_asked: bool,
}

impl<'a> Interpreted<'a> {
    pub(super) fn new(verified: &'a Verified<Policy>, events: &Events) -> Self {
        let policy = verified.policy();
        let machine = Machine::new(verified);
        let handlers = events.names.iter().map(|name| machine.handler(name)).collect();
        let consumed = |name: &str, ty: Type| name == "consumed" && ty == Type::Time;
        let of_threads = policy.thread_imports.iter().position(|import| consumed(&import.name, import.ty));
        let of_all = policy.imports.iter().position(|import| consumed(&import.name, import.ty));
        let property = |name: &str| {
            let such = |attribute: &catapults_compiler::policy::Attribute| {
                attribute.of == Entity::Node && attribute.name == name && attribute.initial.ty() == Type::Int
            };
            policy.attributes.iter().position(such).map(AttributeId)
        };
        let mut application = Variables::default();
        if let Some(import) = of_all {
            application.set_import(ImportId(import), Value::Time(0));
        }
        Interpreted {
            machine,
            policy,
            application,
            handlers,
            names: events.names.clone(),
            running: Vec::new(),
            here: 0,
            consumed: of_threads.map(ThreadImportId),
            consumed_by_all: of_all.map(ImportId),
            total: 0,
            load: property("load"),
            number: property("number"),
            nodes: Vec::new(),
            has_timers: policy.timers().next().is_some(),
            can_be_asked: events.can_switch_to,
        }
    }

    /// Gives a thread in hand what another policy kept of it: attributes and variables of the same name and type.
    pub(super) fn inherit(&mut self, thread: ThreadId, before: &Interpreted<'_>) {
        self.machine.inherit(thread, &before.machine);
        for import in &self.policy.thread_imports {
            let mut imports = before.policy.thread_imports.iter();
            let Some(from) = imports.position(|old| old.name == import.name && old.ty == import.ty) else { continue };
            let default = before.policy.thread_imports[from].default;
            let value = before.application.thread_import(thread, ThreadImportId(from));
            if let Some(value) = value.filter(|value| *value != default) {
                let _ = self.application.set_of_thread(self.policy, thread, &import.name, value);
            }
        }
    }

    /// Makes room for what is RUNNING on this processor and on the entered one.
    fn keep_for(&mut self, processor: usize) {
        let most = processor.max(self.here);
        if self.running.len() <= most {
            self.running.resize_with(most + 1, RunningSet::default);
        }
    }

    fn node(processor: usize) -> ThreadId {
        ThreadId::of_node(u32::try_from(processor).unwrap_or(0))
    }

    fn handler(&self, event: EventId) -> Result<&'a Handler, Stop> {
        let handler = self.handlers.get(usize::from(event.0)).copied().flatten();
        handler.ok_or_else(|| Stop::Misuse(format!("there is no handler for `{}`", self.names[usize::from(event.0)])))
    }
}

impl Runner for Interpreted<'_> {
    fn handles(&self, event: EventId) -> bool {
        self.handlers.get(usize::from(event.0)).is_some_and(Option::is_some)
    }

    fn enter(&mut self, processor: usize) {
        if self.policy.has_nodes() {
            // The node has been added.
            let _ = self.machine.enter(Self::node(processor));
            return;
        }
        if processor == self.here {
            return;
        }
        self.keep_for(processor);
        let mut other = std::mem::take(&mut self.running[processor]);
        self.machine.exchange_running(&mut other);
        self.running[self.here] = other;
        self.here = processor;
    }

    fn exchange(&mut self, one: usize, other: usize) {
        self.keep_for(one.max(other));
        self.running.swap(one, other);
        self.here = exchanged(self.here, one, other);
    }

    fn set_now(&mut self, now: i64) {
        self.machine.set_now(now);
    }

    fn seed(&mut self, seed: u64) {
        self.machine.seed(seed);
    }

    fn raise(&mut self, event: EventId, threads: &[ThreadId]) -> Result<Option<ThreadId>, Stop> {
        let handler = self.handler(event)?;
        self.machine.run(handler, threads, &mut self.application)
    }

    fn can_switch_to(&mut self, thread: ThreadId) -> Result<bool, Stop> {
        if !self.can_be_asked {
            return Ok(true);
        }
        let answer = self.machine.ask(CAN_SWITCH_TO, &[thread], &mut self.application)?;
        Ok(answer == Value::Bool(true))
    }

    fn spawn(&mut self, thread: ThreadId) -> Result<(), Stop> {
        self.machine.spawn(thread)?;
        if let Some(import) = self.consumed {
            self.application.set_thread_import(thread, import, Value::Time(0));
        }
        Ok(())
    }

    fn discard(&mut self, thread: ThreadId) {
        self.machine.discard(thread);
        if !self.policy.thread_imports.is_empty() {
            self.application.forget(thread);
        }
    }

    fn take(&mut self, _: ThreadId) {
        // The machine has already done so.
    }

    fn set(&mut self, name: &str, value: Value) {
        // The check of the scenario has reported names that the policy does not import.
        let _ = self.application.set(self.policy, name, value);
    }

    fn set_of(&mut self, thread: ThreadId, name: &str, value: Value) -> bool {
        let Some(place) = self.policy.thread_imports.iter().position(|import| import.name == name) else {
            return false;
        };
        let before = self.application.thread_import(thread, ThreadImportId(place));
        let before = before.unwrap_or(self.policy.thread_imports[place].default);
        self.application.set_of_thread(self.policy, thread, name, value).is_ok() && before != value
    }

    fn value_of(&self, thread: ThreadId, name: &str) -> Option<Value> {
        let place = self.policy.thread_imports.iter().position(|import| import.name == name)?;
        let assigned = self.application.thread_import(thread, ThreadImportId(place));
        Some(assigned.unwrap_or(self.policy.thread_imports[place].default))
    }

    fn charge(&mut self, thread: ThreadId, nanoseconds: i64) {
        if let Some(import) = self.consumed
            && let Some(Value::Time(before)) = self.application.thread_import(thread, import)
        {
            let after = Value::Time(before.wrapping_add(nanoseconds));
            self.application.set_thread_import(thread, import, after);
        }
        if let Some(import) = self.consumed_by_all {
            self.total = self.total.wrapping_add(nanoseconds);
            self.application.set_import(import, Value::Time(self.total));
        }
    }

    fn class(&self, thread: ThreadId) -> Option<StateClass> {
        match self.machine.position(thread)? {
            Position::In(container) => Some(self.policy.containers[container.0].class),
            Position::Hand => None,
        }
    }

    fn ready_order(&self, one: ThreadId, other: ThreadId) -> Option<Ordering> {
        self.machine.ready_order(one, other)
    }

    fn next_timeout(&self) -> Option<(i64, ThreadId, EventId)> {
        if !self.has_timers {
            return None;
        }
        let next = self.machine.next_timeout()?;
        let place = self.names.iter().position(|name| name == next.event)?;
        Some((next.instant, next.thread, EventId(u16::try_from(place).ok()?)))
    }

    fn moved_by(&self) -> u32 {
        self.machine.moved_by()
    }

    fn take_sent(&mut self) -> Vec<(ThreadId, usize)> {
        let sent = self.machine.take_sent().into_iter();
        sent.filter_map(|(thread, node)| Some((thread, node.node()? as usize))).collect()
    }

    fn expect_nodes(&mut self, nodes: &[Nodes]) {
        self.nodes = nodes.to_vec();
    }

    fn add_node(&mut self, processor: usize) -> Result<(), Stop> {
        let node = Self::node(processor);
        self.machine.spawn(node)?;
        let mut before = 0;
        let of = self.nodes.iter().find(|nodes| {
            before += nodes.count as usize;
            processor < before
        });
        if let (Some(nodes), Some(families)) = (of.or(self.nodes.last()), &self.policy.families) {
            self.machine.set_property(node, families.of_node, Value::Int(nodes.family as i64))?;
            for (property, value) in &nodes.properties {
                self.machine.set_property(node, *property, *value)?;
            }
        }
        if let Some(number) = self.number {
            self.machine.set_property(node, number, Value::Int(processor as i64))?;
        }
        Ok(())
    }

    fn set_load(&mut self, processor: usize, load: i64) {
        if let Some(property) = self.load {
            let _ = self.machine.set_property(Self::node(processor), property, Value::Int(load));
        }
    }

    fn raise_of_node(&mut self, event: EventId, processor: usize) -> Result<(), Stop> {
        let handler = self.handler(event)?;
        self.machine.run(handler, &[Self::node(processor)], &mut self.application).map(|_| ())
    }

    fn raise_steal(&mut self, event: EventId, for_processor: usize) -> Result<(), Stop> {
        let handler = self.handler(event)?;
        self.machine.run(handler, &[Self::node(for_processor)], &mut self.application).map(|_| ())
    }
}
