//! The core of the native runtime as a dispatcher: what a compiled simulation shows is decided by what decides in a
//! process, the compiled policies and `frameworks/native/core`. For one processor, and policies without nodes.
//!
//! ```text
//! world ── what happens ──► Native ──► simulator/core/simulated.c ──► core ── events ──► policies
//!                             ◄── records ──┘
//! ```
#![allow(unsafe_code, reason = "the core and the policies are C, and their memory is ours")]

pub(super) mod calls;
mod records;
mod variables;

use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr::null_mut;

use catapults_compiler::framework::Framework;
use catapults_compiler::hierarchy::Node;
use catapults_compiler::interp::ThreadId;
use catapults_compiler::vocabulary::Value;

use super::Deciding;
use super::compiled::layout::{CImport, CPolicy, read, text, type_of, write};
use super::compiled::{Block, Object, members};
use super::dispatch::Dispatch;
use super::dispatcher::{Admitted, Out, RELEASE};
use super::policy::{EventId, Events};
use super::record::Sink;
use calls::{CRecord, CState, Simulated, SimulatedScheduler, SimulatedThread};
use records::on_record;
use variables::{all, of_instance, of_thread};

type Done<T = ()> = Result<T, Out>;

/// The schedulers at work.
pub(super) struct Native<'s, 'o> {
    sink: &'s mut dyn Sink,
    events: Events,
    /// The handlers in the table of `native_policy.h`, in its order, as events.
    handlers: Vec<Option<EventId>>,
    /// The first of those by which threads block.
    first_block: usize,
    core: Block,
    schedulers: Vec<Scheduler<'o>>,
    /// The scheduler of threads for which none is named.
    default: usize,
    threads: Vec<Option<Thread>>,
    vacant: Vec<u32>,
    /// Variables of the root that are assigned before the start; `None`: it has started.
    values: Option<Vec<(String, Value)>>,
    seed: u64,
    now: i64,
    /// What the core has recorded since the last call; `None`: nobody wants that.
    records: Option<Box<RefCell<Vec<CRecord>>>>,
}

struct Scheduler<'o> {
    parent: Option<usize>,
    object: &'o Object,
    /// As the core is to have it.
    policy: Box<CPolicy>,
    instance: Block,
    /// Its record; the root's is the core's own.
    memory: Option<Block>,
    at_parent: Vec<(String, Value)>,
    own: Vec<(String, Value)>,
}

struct Thread {
    under: usize,
    memory: Block,
}

impl<'s, 'o> Native<'s, 'o> {
    /// `objects`: by [`Deciding::policies`].
    pub(super) fn new(
        deciding: Deciding<'_>,
        objects: &'o [Object],
        framework: &Framework,
        events: Events,
        sink: &'s mut dyn Sink,
    ) -> Self {
        let names = members(framework);
        let (schedulers, default) = match deciding {
            Deciding::Policy(_) => (vec![Scheduler::new(&objects[0], None)], 0),
            Deciding::Hierarchy(hierarchy) => {
                let scheduler = |node: &Node| Scheduler::new(&objects[node.policy], Some(node));
                (hierarchy.nodes().iter().map(scheduler).collect(), hierarchy.default())
            }
        };
        let recorded = objects.iter().any(|object| object.recorded);
        Native {
            sink,
            handlers: names.iter().map(|name| events.find(name)).collect(),
            first_block: names.iter().position(|name| name.starts_with("block.")).unwrap_or(0),
            events,
            // SAFETY: it only says a size.
            core: Block::new(bytes(unsafe { calls::simulated_size() })),
            schedulers,
            default,
            threads: Vec::new(),
            vacant: Vec::new(),
            values: Some(Vec::new()),
            seed: 1,
            now: 0,
            records: recorded.then(Box::default),
        }
    }

    fn core(&self) -> *mut Simulated {
        self.core.at(0)
    }

    fn state(&mut self) -> &mut CState {
        // SAFETY: it is part of the instance, which nothing else touches between two calls.
        unsafe { &mut *calls::simulated_state(self.core()) }
    }

    /// The thread as the core knows it. It is there: the world names only threads that live.
    fn thread(&self, thread: ThreadId) -> *mut SimulatedThread {
        self.of(thread).map_or(null_mut(), |of| of.memory.at(0))
    }

    fn of(&self, thread: ThreadId) -> Option<&Thread> {
        self.threads.get((thread.0 as usize).checked_sub(1)?)?.as_ref()
    }

    fn scheduler(&self, scheduler: usize) -> *mut SimulatedScheduler {
        self.schedulers[scheduler].memory.as_ref().map_or(null_mut(), |memory| memory.at(0))
    }

    /// A number for a new thread, as the dispatcher of interpreted policies gives it.
    fn numbered(&mut self, thread: Option<Thread>) -> ThreadId {
        if let Some(number) = self.vacant.pop() {
            self.threads[number as usize - 1] = thread;
            return ThreadId(number);
        }
        self.threads.push(thread);
        ThreadId(u32::try_from(self.threads.len()).unwrap_or(u32::MAX))
    }

    /// Raises something by a call of the core, and passes on what it recorded.
    ///
    /// # Safety
    /// `call` keeps to the conditions of `simulated.h`.
    unsafe fn call<T>(&mut self, call: impl FnOnce(*mut Simulated) -> T) -> Done<T> {
        let result = call(self.core());
        let records = self.records.as_ref().map(|records| records.take()).unwrap_or_default();
        for record in &records {
            self.passes_on(record);
        }
        if self.state().failure.failed { Err(self.out()) } else { Ok(result) }
    }

    fn impossible(&self, why: &str) -> Out {
        Out { time: self.now, event: String::new(), line: 0, why: why.to_owned() }
    }

    fn number(event: Option<EventId>) -> u32 {
        event.map_or(0, |event| u32::from(event.0))
    }
}

impl Dispatch for Native<'_, '_> {
    fn start(&mut self) -> Done {
        let seed = self.seed;
        let (suspend, resume) = (Self::number(self.events.suspend), Self::number(self.events.resume));
        let raised = Self::number(Some(self.events.event_raised));
        let state = self.state();
        (state.event_raised, state.suspend_thread, state.resume_thread) = (raised, suspend, resume);
        let root = &self.schedulers[0];
        let mut values = root.own.clone();
        values.extend(self.values.take().into_iter().flatten());
        let own = of_instance(&root.policy, &values);
        let (policy, instance) = (&raw const *root.policy, root.instance.at::<c_void>(0));
        let to = self.records.as_ref().map_or(null_mut(), |records| (&raw const **records).cast_mut().cast());
        let record = self.records.is_some().then_some(on_record as calls::OnRecord);
        // SAFETY: the instance and the policy live as long as the core.
        unsafe {
            self.call(|core| calls::simulated_begin(core, policy, instance, seed, all(&own), record, to))?;
        }
        for place in 1..self.schedulers.len() {
            self.adds(place)?;
        }
        Ok(())
    }

    fn event(&self, name: &str) -> Option<EventId> {
        self.events.find(name)
    }

    fn set_now(&mut self, now: i64) {
        self.now = now;
        self.state().now = now;
    }

    fn seed(&mut self, seed: u64) {
        self.seed = seed;
    }

    fn processors(&self) -> usize {
        1
    }

    fn set_processors(&mut self, _: usize) -> Done {
        Err(self.impossible("the native runtime's core is simulated on one processor"))
    }

    fn current(&self, _: usize) -> Option<ThreadId> {
        // SAFETY: it only looks.
        somebody(unsafe { calls::simulated_current(self.core()) })
    }

    fn turn(&self, _: usize) -> Option<ThreadId> {
        // SAFETY: it only looks.
        somebody(unsafe { calls::simulated_turn(self.core()) })
    }

    fn is_on_own_turn(&self, processor: usize) -> bool {
        self.turn(processor) == self.current(processor)
    }

    fn has_lost(&self, _: usize) -> bool {
        // SAFETY: it only looks.
        unsafe { calls::simulated_has_lost(self.core()) }
    }

    fn someone_waits(&self, _: usize) -> bool {
        // SAFETY: it only looks.
        unsafe { calls::simulated_someone_waits(self.core()) }
    }

    fn settle(&mut self) -> Done {
        // SAFETY: it has no other conditions.
        unsafe { self.call(|core| calls::simulated_decide(core)) }
    }

    fn asks_all_again(&mut self) -> Done {
        // SAFETY: it has no other conditions.
        unsafe { self.call(|core| calls::simulated_wake_idle(core)) }
    }

    fn preempted_at_last(&mut self) -> Done {
        // SAFETY: it has no other conditions.
        unsafe { self.call(|core| calls::simulated_preempt(core)) }
    }

    fn is_suspended(&self, thread: ThreadId) -> bool {
        // SAFETY: the thread is there.
        self.of(thread).is_some_and(|of| unsafe { calls::simulated_is_suspended(of.memory.at(0)) })
    }

    fn is_set_aside(&self, thread: ThreadId) -> bool {
        // SAFETY: the thread is there.
        let will_be = |of: &Thread| unsafe { calls::simulated_is_to_be_suspended(of.memory.at(0)) };
        self.is_suspended(thread) || self.of(thread).is_some_and(will_be)
    }

    fn take_suspended(&mut self) -> Vec<ThreadId> {
        let core = self.core();
        // SAFETY: it has no conditions.
        std::iter::from_fn(|| somebody(unsafe { calls::simulated_take_suspended(core) })).collect()
    }

    fn set(&mut self, name: &str, value: Value) {
        self.sink.value(self.now, None, name, value);
        let named = (name.to_owned(), value);
        if let Some(values) = &mut self.values {
            values.push(named);
            return;
        }
        let root = &self.schedulers[0];
        for one in of_instance(&root.policy, &[named]) {
            let _ = write(root.instance.at(one.offset), value);
        }
    }

    fn value_of(&self, thread: ThreadId, name: &str) -> Option<Value> {
        let (place, ty) = self.import(thread, |import| text(import.name) == name)?;
        read(place, ty)
    }

    fn assign(&mut self, thread: ThreadId, name: &str, value: Value) -> bool {
        if self.value_of(thread, name).is_none() {
            return false; // only the host uses it
        }
        self.sink.value(self.now, Some(thread), name, value);
        let such = |import: &CImport| text(import.name) == name && import.ty == type_of(value);
        self.import(thread, such).is_some_and(|(place, _)| write(place, value))
    }

    fn set_release(&mut self, thread: ThreadId, instant: i64) {
        let value = Value::Time(instant);
        let such = |import: &CImport| text(import.name) == RELEASE && import.ty == type_of(value);
        if let Some((place, _)) = self.import(thread, such) {
            let _ = write(place, value);
        }
    }

    fn introduce(&mut self, thread: ThreadId, name: &str, values: &[(&str, Value)]) {
        self.sink.named(self.now, thread, name);
        for (name, value) in values {
            if self.value_of(thread, name).is_some() {
                self.sink.value(self.now, Some(thread), name, *value);
            }
        }
    }

    fn job_done(&mut self, thread: ThreadId, released: i64) {
        self.sink.job_done(self.now, thread, released);
    }

    fn hears_changes(&self, thread: ThreadId) -> bool {
        self.of(thread).is_some_and(|of| self.handles(of.under, self.events.changed))
    }

    fn hears_ticks(&self) -> bool {
        (0..self.schedulers.len()).any(|scheduler| self.handles(scheduler, self.events.tick))
    }

    fn create(
        &mut self,
        _: usize,
        under: Option<usize>,
        values: &[(&str, Value)],
        released: Option<i64>,
    ) -> Done<Admitted> {
        let under = under.unwrap_or(self.default);
        let policy = &self.schedulers[under].policy;
        let mut given: Vec<(String, Value)> = values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        given.extend(released.map(|instant| (RELEASE.to_owned(), Value::Time(instant))));
        let values = of_thread(policy, &given);
        // SAFETY: it only says a size.
        let memory = Block::new(bytes(unsafe { calls::simulated_thread_size(&raw const **policy) }));
        let (record, scheduler) = (memory.at(0), self.scheduler(under));
        let thread = self.numbered(Some(Thread { under, memory }));
        let newthread = Self::number(Some(self.events.newthread));
        // SAFETY: the record lives until the thread has ended, and nobody knows of it yet.
        let stop = unsafe {
            self.call(|core| calls::simulated_create(core, record, thread.0, scheduler, all(&values), newthread))?
        };
        // SAFETY: a stop is constant data of a policy.
        let Some(stop) = (unsafe { stop.as_ref() }) else { return Ok(Admitted::Yes(thread)) };
        self.forgets(thread);
        Ok(Admitted::Refused(thread, text(stop.text).to_owned()))
    }

    fn exits(&mut self, processor: usize) -> Done {
        let Some(thread) = self.current(processor) else { return Ok(()) };
        // SAFETY: the thread runs on its own turn.
        unsafe { self.call(|core| calls::simulated_exit(core))? };
        self.forgets(thread);
        Ok(())
    }

    fn yields(&mut self, _: usize) -> Done {
        let switch_out = Self::number(Some(self.events.switch_out));
        // SAFETY: it has no other conditions.
        unsafe { self.call(|core| calls::simulated_yield(core, switch_out)) }
    }

    fn yields_to(&mut self, _: usize, thread: ThreadId) -> Done {
        let (set_next, switch_out) = (self.events.set_next, Some(self.events.switch_out));
        let (thread, set_next, switch_out) = (self.thread(thread), Self::number(set_next), Self::number(switch_out));
        // SAFETY: the thread lives.
        unsafe { self.call(|core| calls::simulated_yield_to(core, thread, set_next, switch_out)) }
    }

    fn blocks(&mut self, _: usize, event: EventId) -> Done {
        let (reason, event) = (self.reason(event)?, Self::number(Some(event)));
        // SAFETY: it has no other conditions.
        unsafe { self.call(|core| calls::simulated_block(core, reason, event)) }
    }

    fn unblocks(&mut self, threads: &[ThreadId]) -> Done {
        for thread in threads {
            let thread = self.thread(*thread);
            // SAFETY: the thread lives.
            unsafe { self.call(|core| calls::simulated_unblock(core, thread))? };
        }
        self.preempted_at_last()
    }

    fn suspends(&mut self, thread: ThreadId) -> Done {
        let thread = self.thread(thread);
        // SAFETY: the thread lives.
        unsafe { self.call(|core| calls::simulated_suspend(core, thread)) }
    }

    fn resumes(&mut self, thread: ThreadId) -> Done {
        let thread = self.thread(thread);
        // SAFETY: the thread lives.
        unsafe { self.call(|core| calls::simulated_resume(core, thread)) }
    }

    fn releases(&mut self, thread: ThreadId) -> Done {
        let (thread, event) = (self.thread(thread), Self::number(self.events.release));
        // SAFETY: the thread lives.
        unsafe { self.call(|core| calls::simulated_release(core, thread, event)) }
    }

    fn changes(&mut self, thread: ThreadId) -> Done {
        let (thread, event) = (self.thread(thread), Self::number(self.events.changed));
        // SAFETY: the thread lives.
        unsafe { self.call(|core| calls::simulated_change(core, thread, event)) }
    }

    fn tells(&mut self, _: ThreadId, event: Option<EventId>) -> Done {
        // The native runtime changes no variable of a thread by itself.
        event.map_or(Ok(()), |_| Err(self.impossible("the native runtime has no such event")))
    }

    fn waits(&mut self, _: usize, owner: ThreadId) -> Done {
        let lock = self.events.lock.map_or(Ok(0), |lock| self.reason(lock))?;
        let owner = self.thread(owner);
        // SAFETY: the owner lives until it has unlocked.
        unsafe { self.call(|core| calls::simulated_lend(core, owner, lock)) }
    }

    fn owns(&mut self, heir: ThreadId) {
        self.redirects(&[heir], None);
    }

    fn unblock_heir(&mut self, heir: ThreadId) -> Done {
        let thread = self.thread(heir);
        // SAFETY: the thread lives.
        unsafe { self.call(|core| calls::simulated_unblock_lender(core, thread)) }
    }

    fn redirects(&mut self, waiters: &[ThreadId], owner: Option<ThreadId>) {
        let owner = owner.map_or(null_mut(), |owner| self.thread(owner));
        for waiter in waiters {
            // SAFETY: both live; the owner until it has unlocked.
            unsafe { calls::simulated_redirect(self.thread(*waiter), owner) };
        }
    }

    fn regains(&mut self, _: usize) -> Done {
        // SAFETY: it has no other conditions.
        unsafe { self.call(|core| calls::simulated_regain(core)) }
    }

    fn ticks(&mut self, _: usize) -> Done {
        let Some(tick) = self.events.tick else { return Ok(()) };
        // SAFETY: it has no other conditions.
        unsafe { self.call(|core| calls::simulated_tick(core, u32::from(tick.0))) }
    }

    fn next_timeout(&mut self) -> Option<i64> {
        // SAFETY: it only looks.
        let instant = unsafe { calls::simulated_next_timeout(self.core()) };
        (instant < i64::MAX).then_some(instant)
    }

    fn expire(&mut self) -> Done<bool> {
        // SAFETY: it has no other conditions.
        unsafe { self.call(|core| calls::simulated_expire(core)) }
    }
}

impl Native<'_, '_> {
    /// A scheduler of the hierarchy begins, after its parent.
    fn adds(&mut self, place: usize) -> Done {
        let Some(parent) = self.schedulers[place].parent else { return Ok(()) };
        let number = self.numbered(None);
        let above = &self.schedulers[parent].policy;
        let at_parent = of_thread(above, &self.schedulers[place].at_parent);
        let own = of_instance(&self.schedulers[place].policy, &self.schedulers[place].own);
        // SAFETY: it only says a size.
        let size = bytes(unsafe { calls::simulated_scheduler_size(&raw const **above) });
        self.schedulers[place].memory = Some(Block::new(size));
        let (scheduler, parent) = (self.scheduler(place), self.scheduler(parent));
        let of = &self.schedulers[place];
        let (policy, instance) = (&raw const *of.policy, of.instance.at::<c_void>(0));
        // SAFETY: all of it lives as long as the core.
        let added = unsafe {
            self.call(|core| {
                let (at_parent, own) = (all(&at_parent), all(&own));
                calls::simulated_add(core, scheduler, parent, number.0, policy, instance, at_parent, own)
            })?
        };
        if added { Ok(()) } else { Err(self.impossible("a scheduler is refused by its parent")) }
    }

    fn handles(&self, scheduler: usize, event: Option<EventId>) -> bool {
        let place = event.and_then(|event| self.handlers.iter().position(|handler| *handler == Some(event)));
        // SAFETY: the table holds all handlers of the framework.
        place.is_some_and(|place| unsafe { !(*self.schedulers[scheduler].policy.handlers.add(place)).is_null() })
    }

    /// The place of an event among those by which threads block.
    fn reason(&self, event: EventId) -> Done<u32> {
        let place = self.handlers.iter().skip(self.first_block).position(|handler| *handler == Some(event));
        let place = place.and_then(|place| u32::try_from(place).ok());
        place.ok_or_else(|| self.impossible("no event of the framework blocks a thread"))
    }

    fn forgets(&mut self, thread: ThreadId) {
        self.threads[thread.0 as usize - 1] = None;
        self.vacant.push(thread.0);
    }
}

impl<'o> Scheduler<'o> {
    fn new(object: &'o Object, node: Option<&Node>) -> Self {
        // SAFETY: a policy is plain data.
        let mut policy = Box::new(unsafe { std::ptr::read(object.policy()) });
        if object.recorded {
            // Its handlers are called by way of what notes them.
            policy.unbounded = 1;
        }
        // SAFETY: it only says a size.
        let instance = Block::new(bytes(unsafe { calls::simulated_instance_size(&raw const *policy) }));
        let parameters = node.into_iter().flat_map(|node| &node.parameters);
        let (at_parent, own): (Vec<_>, Vec<_>) = parameters.partition(|one| one.at_parent);
        let named = |parameters: Vec<&catapults_compiler::hierarchy::Parameter>| {
            parameters.into_iter().map(|one| (one.name.clone(), one.value)).collect()
        };
        let parent = node.and_then(|node| node.parent);
        Scheduler { parent, object, policy, instance, memory: None, at_parent: named(at_parent), own: named(own) }
    }
}

fn somebody(number: u32) -> Option<ThreadId> {
    (number > 0).then_some(ThreadId(number))
}

fn bytes(size: u64) -> usize {
    usize::try_from(size).unwrap_or(usize::MAX)
}
