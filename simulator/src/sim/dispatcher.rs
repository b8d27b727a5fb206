//! The dispatcher of the simulated host: a policy, or a hierarchy of policies, on any number of processors. It raises
//! the same events at the same moments as the native runtime (`frameworks/native/core`).
//!
//! ```text
//! processor ── way: the proxies of schedulers from the root down ── turn: the thread that the last one has RUNNING
//!                  turn ──waits for──► … ──waits for──► current: the thread that runs (donation; 1996, §3.4)
//! ```
//!
//! To its parent, a scheduler is one thread per processor: its proxies. As many are READY as it could use processors.
//! A root with nodes has an instance per processor. A member, thread or proxy, is in the instance of its `home`.

mod books;
mod chains;
mod changes;
mod decisions;
mod nodes;
mod schedulers;

use catapults_compiler::interp::{Stop, ThreadId};
use catapults_compiler::vocabulary::Value;

use super::policy::{EventId, Events, Runner};
use super::record::{Kind, Sink};

use books::{Book, State};
pub(super) use schedulers::{Plan, Scheduler};

/// The thread import by which policies learn when a job was released, as a time.
pub(super) const RELEASE: &str = "release";

/// Why a simulation cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Out {
    /// In virtual time.
    pub time: i64,
    /// The event that was raised.
    pub event: String,
    /// Of the policy; 0: none of its own.
    pub line: u32,
    /// What happened.
    pub why: String,
}

/// What became of a new thread.
pub enum Admitted {
    /// The thread is READY.
    Yes(ThreadId),
    /// The policy refused it, for this reason.
    Refused(ThreadId, String),
}

type Done<T = ()> = Result<T, Out>;

/// The schedulers at work. A host raises here what happens, and then calls [`settle`](Dispatcher::settle).
pub struct Dispatcher<'s, R> {
    /// The root first, each parent before its children; for a single policy, just one.
    schedulers: Vec<Scheduler<R>>,
    /// The schedulers that exist, in the order in which they came.
    order: Vec<usize>,
    /// The scheduler of threads for which none is named.
    default: usize,
    events: Events,
    sink: &'s mut dyn Sink,
    /// Whether the root's policy has nodes.
    has_nodes: bool,
    /// One book per thread or proxy; the book of number 1 is the first.
    books: Vec<Book>,
    vacant: Vec<u32>,
    /// How many threads and proxies have ever come.
    came: u32,
    /// How many schedulers have ever come, without the root.
    added: u64,
    seed: u64,
    processors: Vec<Processor>,
    now: i64,
    /// When the RUNNING threads and proxies were last charged.
    charged: i64,
    /// The scheduler whose handler ran last.
    told: usize,
    /// The event by which the only processor was taken. It is yet to be given up.
    taken_by: Option<EventId>,
    /// The threads that were suspended as soon as they ran again.
    suspended: Vec<ThreadId>,
    /// The threads that cannot lend their turns, and are BLOCKED until they can, in the order in which they stalled.
    blocked_donors: Vec<ThreadId>,
    /// Some of these may be able to lend now: a chain has changed, or a thread has stopped running.
    chains_changed: bool,
}

#[derive(Clone, Debug, Default)]
struct Processor {
    /// The RUNNING proxies, the root's member first.
    way: Vec<ThreadId>,
    turn: Option<ThreadId>,
    current: Option<ThreadId>,
    /// The root dispatched nothing. It is asked again once something has happened.
    refused: bool,
    told_idle: bool,
    /// With nodes: how many threads are READY on this node.
    ready: usize,
}

impl<'s, R: Runner> Dispatcher<'s, R> {
    pub(super) fn new(
        plan: Plan<R>,
        events: Events,
        has_nodes: bool,
        processors: usize,
        sink: &'s mut dyn Sink,
    ) -> Self {
        let mut dispatcher = Dispatcher {
            order: (0..plan.schedulers.len()).collect(),
            schedulers: plan.schedulers,
            default: plan.default,
            events,
            sink,
            has_nodes,
            books: Vec::new(),
            vacant: Vec::new(),
            came: 0,
            added: 0,
            seed: 1,
            processors: vec![Processor::default(); processors],
            now: 0,
            charged: 0,
            told: 0,
            taken_by: None,
            suspended: Vec::new(),
            blocked_donors: Vec::new(),
            chains_changed: false,
        };
        for (before, scheduler) in (0..).zip(&mut dispatcher.schedulers) {
            (scheduler.before, dispatcher.added) = (before, before);
        }
        dispatcher.seed(1);
        dispatcher
    }

    /// Must be called before any thread comes.
    pub fn start(&mut self) -> Done {
        if self.has_nodes {
            for processor in 0..self.processors.len() {
                self.arrives(processor)?;
                self.init(0, processor)?;
            }
        }
        for scheduler in 0..self.schedulers.len() {
            let in_nodes = self.schedulers[scheduler].parent.is_some_and(|parent| self.is_of_nodes(parent));
            // `adjust` introduces more when they are needed.
            let proxies = if in_nodes { 1 } else { self.processors.len() };
            for _ in 0..proxies {
                self.add_record(scheduler)?;
            }
            if !self.is_of_nodes(scheduler) {
                self.init(scheduler, 0)?;
            }
        }
        Ok(())
    }

    /// Whether the scheduler has an instance for each processor.
    fn is_of_nodes(&self, scheduler: usize) -> bool {
        self.has_nodes && scheduler == 0
    }

    /// The event of this name.
    pub fn event(&self, name: &str) -> Option<EventId> {
        self.events.find(name)
    }

    /// Sets the time.
    pub fn set_now(&mut self, now: i64) {
        self.now = now;
        self.schedulers.iter_mut().for_each(|scheduler| scheduler.runner.set_now(now));
    }

    /// Seeds what policies draw. Each scheduler adds how many schedulers came before it.
    pub fn seed(&mut self, seed: u64) {
        self.seed = seed;
        self.schedulers.iter_mut().for_each(|scheduler| scheduler.seeds(seed));
    }

    /// The thread that runs.
    pub fn current(&self, processor: usize) -> Option<ThreadId> {
        self.processors.get(processor)?.current
    }

    /// The thread whose turn it is.
    pub fn turn(&self, processor: usize) -> Option<ThreadId> {
        self.processors.get(processor)?.turn
    }

    /// The scheduler that a thread is under; `None`: no such thread.
    pub fn scheduler_of(&self, thread: ThreadId) -> Option<usize> {
        let book = self.books.get(thread.0.checked_sub(1)? as usize)?;
        Some(book.under).filter(|_| book.state != State::None && book.scheduler.is_none())
    }

    /// Whether a thread waits for something.
    pub fn is_blocked(&self, thread: ThreadId) -> bool {
        let state = self.books.get(thread.0.wrapping_sub(1) as usize).map(|book| book.state);
        matches!(state, Some(State::Blocked | State::Lending))
    }

    pub(super) fn processors(&self) -> usize {
        self.processors.len()
    }

    /// Whether any thread waits for the processor.
    pub(super) fn someone_waits(&self, processor: usize) -> bool {
        // Under the running thread's scheduler, or one above it.
        let others = usize::from(self.has_nodes);
        let at_node = self.has_nodes && self.processors[processor].ready > 0;
        at_node || self.schedulers.iter().skip(others).any(|scheduler| scheduler.ready > 0)
    }

    pub(super) fn hears_ticks(&self) -> bool {
        let tick = self.events.tick;
        tick.is_some_and(|tick| self.schedulers.iter().any(|scheduler| scheduler.runner.handles(tick)))
    }

    /// Assigns a variable that the policy, or the root's policy, imports.
    pub(super) fn set(&mut self, name: &str, value: Value) {
        self.sink.value(self.now, None, name, value);
        if let Some(root) = self.schedulers.first_mut() {
            root.runner.set(name, value);
        }
    }

    /// Assigns a variable of a thread. If that changes it, the thread's scheduler is told.
    pub fn set_of(&mut self, thread: ThreadId, name: &str, value: Value) -> Done {
        if self.assign(thread, name, value) { self.changes(thread) } else { Ok(()) }
    }

    /// Assigns a variable of a thread without telling its scheduler. Whether the scheduler must be told.
    pub(super) fn assign(&mut self, thread: ThreadId, name: &str, value: Value) -> bool {
        if self.value_of(thread, name).is_none() {
            return false; // only the host uses it
        }
        self.sink.value(self.now, Some(thread), name, value);
        let under = self.book(thread).under;
        self.schedulers[under].runner.set_of(thread, name, value)
    }

    /// Whether the thread's scheduler handles the event for changed variables.
    pub(super) fn hears_changes(&self, thread: ThreadId) -> bool {
        self.events.changed.is_some_and(|changed| self.schedulers[self.under(thread)].runner.handles(changed))
    }

    /// Tells the scheduler that variables of the thread have changed.
    pub(super) fn changes(&mut self, thread: ThreadId) -> Done {
        self.tells(thread, self.events.changed)
    }

    /// Sets the policy's import `release`: the instant at which a job of the thread was, or will be, released.
    pub fn set_release(&mut self, thread: ThreadId, instant: i64) {
        let under = self.book(thread).under;
        self.schedulers[under].runner.set_of(thread, RELEASE, Value::Time(instant));
    }

    /// The thread begins its job. A thread that waits for the release is still BLOCKED, and is unblocked next.
    pub fn releases(&mut self, thread: ThreadId) -> Done {
        self.tells(thread, self.events.release)
    }

    /// Raises an event about a thread, which may be on any processor or none.
    pub(super) fn tells(&mut self, thread: ThreadId, event: Option<EventId>) -> Done {
        let book = self.book(thread).clone();
        let event = event.filter(|event| self.schedulers[book.under].runner.handles(*event));
        let Some(event) = event.filter(|_| book.state != State::None && !book.homeless) else { return Ok(()) };
        let processor = book.turn_on.unwrap_or_else(|| self.where_told(thread));
        self.raise(book.under, processor, event, &[thread])?;
        self.asks_again(book.under, processor)?;
        self.may_be_taken(processor, event)
    }

    /// Something has happened to a scheduler: if it dispatched nothing although threads are READY, it is asked again.
    fn asks_again(&mut self, scheduler: usize, processor: usize) -> Done {
        if self.schedulers[scheduler].refused { self.adjust(scheduler, processor) } else { Ok(()) }
    }

    /// Records the name and the initial values of a new thread.
    pub(super) fn introduce(&mut self, thread: ThreadId, name: &str, values: &[(&str, Value)]) {
        self.sink.named(self.now, thread, name);
        for (name, value) in values {
            if self.value_of(thread, name).is_some() {
                self.sink.value(self.now, Some(thread), name, *value);
            }
        }
    }

    /// Records that a job is done. No policy is told.
    pub(super) fn job_done(&mut self, thread: ThreadId, released: i64) {
        self.sink.job_done(self.now, thread, released);
    }

    // ---- What happens

    /// A thread comes, created on `processor`. If it has jobs, its first one is released at `released`.
    pub fn create(
        &mut self,
        processor: usize,
        under: Option<usize>,
        values: &[(&str, Value)],
        released: Option<i64>,
    ) -> Done<Admitted> {
        let under = under.unwrap_or(self.default);
        let thread = self.enrol(under, None)?;
        if let Some(instant) = released {
            self.set_release(thread, instant);
        }
        for (name, value) in values {
            self.schedulers[under].runner.set_of(thread, name, *value);
        }
        let in_nodes = self.is_of_nodes(under);
        let on = if in_nodes { self.place(thread, Some(processor))? } else { self.where_told_near(processor) };
        self.book(thread).home = on;
        match self.raised(under, on, self.events.newthread, &[thread]) {
            Err(Stop::Fail { reason, line }) => {
                self.forget(thread);
                self.note(on, thread, Kind::Refused, self.events.newthread, line);
                return Ok(Admitted::Refused(thread, reason));
            }
            Err(stop) => return Err(self.out(self.events.newthread, stop)),
            Ok(_) => {}
        }
        self.gained_ready(thread);
        self.note_moved(on, thread, Kind::New, self.events.newthread);
        self.adjust(under, on)?;
        self.preempted(on, self.events.newthread)?;
        Ok(Admitted::Yes(thread))
    }

    /// The running thread gives the processor up: the turn ends.
    pub fn yields(&mut self, processor: usize) -> Done {
        let Some(turn) = self.processors[processor].turn else { return Ok(()) };
        if self.has_lost(processor) {
            return self.preempted(processor, self.taken_by.unwrap_or(self.events.switch_out));
        }
        self.raise(self.under(turn), processor, self.events.switch_out, &[turn])?;
        self.note_moved(processor, turn, Kind::SwitchedOut, self.events.switch_out);
        self.vacate(processor, true)
    }

    /// The running thread asks that another one be next, and gives the processor up.
    pub fn yields_to(&mut self, processor: usize, thread: ThreadId) -> Done {
        if let Some(event) = self.events.set_next {
            self.asks_for(processor, thread, event)?;
            self.preempted(processor, event)?;
        }
        if self.processors[processor].turn.is_some() { self.yields(processor) } else { Ok(()) }
    }

    /// The running thread blocks by this event.
    pub fn blocks(&mut self, processor: usize, event: EventId) -> Done {
        let Processor { turn: Some(turn), current: Some(current), .. } = self.processors[processor] else {
            return Ok(());
        };
        if turn == current && self.is_taken(turn) {
            return self.blocks_though_taken(processor, turn, event);
        }
        if turn != current {
            // The policy takes it to be READY.
            let under = self.under(current);
            if let Some(suspend) = self.events.suspend.filter(|event| self.schedulers[under].runner.handles(*event)) {
                let told = self.home_of(under, current, processor);
                self.raise(under, told, suspend, &[current])?;
                self.lost_ready(current);
                let book = self.book(current);
                (book.set_aside, book.state) = (true, State::Blocked);
                self.note_moved(processor, current, Kind::Blocked, suspend);
                self.adjust(under, processor)?;
                self.stops_running(current)?;
                if told != processor {
                    self.preempted(told, suspend)?;
                }
                self.preempted(processor, suspend)?;
                return self.borrow(processor);
            }
        }
        self.raise(self.under(turn), processor, event, &[turn])?;
        self.note_moved(processor, turn, Kind::Blocked, event);
        self.book(turn).state = State::Blocked;
        self.vacate(processor, false)
    }

    /// A thread blocks from which the policy has just taken the processor: it is READY to the policy.
    fn blocks_though_taken(&mut self, processor: usize, thread: ThreadId, event: EventId) -> Done {
        self.preempted(processor, event)?;
        let under = self.under(thread);
        let Some(suspend) = self.events.suspend.filter(|event| self.schedulers[under].runner.handles(*event)) else {
            return Err(self.misuse("a thread that is READY waits, and the framework has no event for that"));
        };
        self.raise(under, processor, suspend, &[thread])?;
        self.lost_ready(thread);
        let book = self.book(thread);
        (book.set_aside, book.state) = (true, State::Blocked);
        self.note_moved(processor, thread, Kind::Blocked, suspend);
        self.adjust(under, processor)
    }

    /// The value of an imported variable of a thread; `None`: its policy imports no such variable.
    pub(super) fn value_of(&self, thread: ThreadId, name: &str) -> Option<Value> {
        let under = self.under(thread);
        self.schedulers[under].runner.value_of(thread, name)
    }

    /// These threads' waits are over. All policies are told of all of them before the only processor is preempted.
    pub fn unblocks(&mut self, threads: &[ThreadId]) -> Done {
        threads.iter().try_for_each(|thread| self.unblocks_one(*thread))?;
        self.preempted_at_last()
    }

    fn unblocks_one(&mut self, thread: ThreadId) -> Done {
        if self.book(thread).state != State::Blocked {
            return Ok(());
        }
        self.becomes_ready(thread, self.events.event_raised, State::Runnable, Kind::Raised)?;
        self.rouse_all(thread)?;
        self.suspends_at_last(thread)
    }

    /// Suspends a thread that was to be suspended as soon as its wait is over.
    pub(super) fn suspends_at_last(&mut self, thread: ThreadId) -> Done {
        if std::mem::take(&mut self.book(thread).to_be_suspended) { self.suspends(thread) } else { Ok(()) }
    }

    /// The running thread ends. No thread waits for it.
    pub fn exits(&mut self, processor: usize) -> Done {
        let Some(turn) = self.processors[processor].turn else { return Ok(()) };
        self.raise(self.under(turn), processor, self.events.exit, &[turn])?;
        self.note_moved(processor, turn, Kind::Exited, self.events.exit);
        self.vacate(processor, false)?;
        self.rouse_all(turn)?;
        self.forget(turn);
        Ok(())
    }

    /// Suspends a thread. A thread that waits is suspended as soon as its wait is over.
    pub fn suspends(&mut self, thread: ThreadId) -> Done {
        let book = self.book(thread).clone();
        let handles = |event: &EventId| self.schedulers[book.under].runner.handles(*event);
        let Some(event) = self.events.suspend.filter(handles) else { return Ok(()) };
        match book.state {
            State::Blocked | State::Lending => self.book(thread).to_be_suspended = true,
            State::None | State::Suspended => {}
            State::Runnable => {
                let processor = book.turn_on.unwrap_or_else(|| self.where_told(thread));
                if book.turn_on.is_some() && !self.events.suspends_running && !self.is_taken(thread) {
                    self.raise(book.under, processor, self.events.switch_out, &[thread])?;
                    self.note_moved(processor, thread, Kind::SwitchedOut, self.events.switch_out);
                }
                self.raise(book.under, processor, event, &[thread])?;
                self.note_moved(processor, thread, Kind::Suspended, event);
                if book.turn_on.is_none() {
                    self.lost_ready(thread);
                }
                self.book(thread).state = State::Suspended;
                match (book.turn_on, book.runs_on) {
                    (Some(processor), _) => {
                        self.suspend_way(processor)?;
                        self.vacate(processor, false)?;
                    }
                    (None, Some(processor)) => {
                        self.adjust(book.under, processor)?;
                        self.processors[processor].current = None;
                        self.stops_running(thread)?;
                        self.preempted(processor, event)?;
                        self.borrow(processor)?;
                    }
                    (None, None) => self.adjust(book.under, processor)?,
                }
            }
        }
        Ok(())
    }

    /// Ends a suspension, or takes back one that has not begun.
    pub fn resumes(&mut self, thread: ThreadId) -> Done {
        self.book(thread).to_be_suspended = false;
        if self.book(thread).state != State::Suspended {
            return Ok(());
        }
        let event = self.events.resume.unwrap_or(self.events.event_raised);
        self.becomes_ready(thread, event, State::Runnable, Kind::Resumed)?;
        self.rouse_all(thread)?;
        self.preempted_at_last()
    }

    /// Takes the threads that were suspended since the last call only because they ran again.
    pub fn take_suspended(&mut self) -> Vec<ThreadId> {
        std::mem::take(&mut self.suspended)
    }

    pub(super) fn is_suspended(&self, thread: ThreadId) -> bool {
        self.books[thread.0 as usize - 1].state == State::Suspended
    }

    /// Whether it is suspended, or will be as soon as its wait is over.
    pub(super) fn is_set_aside(&self, thread: ThreadId) -> bool {
        let book = &self.books[thread.0 as usize - 1];
        book.state == State::Suspended || book.to_be_suspended
    }

    /// The running thread has run for a tick while others wait. Its scheduler and those above it are told.
    pub fn ticks(&mut self, processor: usize) -> Done {
        let Some(tick) = self.events.tick else { return Ok(()) };
        for member in self.way_up(processor) {
            let under = self.under(member);
            let ready =
                if self.is_of_nodes(under) { self.processors[processor].ready } else { self.schedulers[under].ready };
            if ready > 0 && self.schedulers[under].runner.handles(tick) && !self.is_taken(member) {
                self.raise(under, processor, tick, &[member])?;
            }
        }
        self.preempted(processor, tick)
    }

    /// The instant at which the policies' next timer expires.
    pub fn next_timeout(&mut self) -> Option<i64> {
        let mut first: Option<i64> = None;
        for place in 0..self.order.len() {
            let scheduler = self.order[place];
            for place in self.places(scheduler) {
                let next = self.next_timeout_of(scheduler, place).map(|(instant, ..)| instant);
                first = first.min(next).or(first).or(next);
            }
        }
        first
    }

    fn next_timeout_of(&mut self, scheduler: usize, place: usize) -> Option<(i64, ThreadId, EventId)> {
        let of_nodes = self.is_of_nodes(scheduler);
        let runner = &mut self.schedulers[scheduler].runner;
        if of_nodes {
            runner.enter(place);
        }
        runner.next_timeout()
    }

    /// A scheduler's instances: one per processor with nodes, otherwise one.
    fn places(&self, scheduler: usize) -> std::ops::Range<usize> {
        0..if self.is_of_nodes(scheduler) { self.processors.len() } else { 1 }
    }

    /// Raises the events of expired timers. Whether some are left, because they are armed for now again and again.
    pub fn expire(&mut self) -> Done<bool> {
        let left = self.expire_all()?;
        self.preempted_at_last()?;
        Ok(left)
    }

    /// A tick is due: timers expire, and the running thread's tick is raised, before the processor is taken from it.
    pub fn interrupts(&mut self, processor: usize) -> Done {
        self.expire_all()?;
        self.ticks(processor)
    }

    fn expire_all(&mut self) -> Done<bool> {
        let mut left = false;
        for place in 0..self.order.len() {
            let scheduler = self.order[place];
            for place in self.places(scheduler) {
                left |= self.expire_in(scheduler, place)?;
            }
        }
        Ok(left)
    }

    fn expire_in(&mut self, scheduler: usize, place: usize) -> Done<bool> {
        /// A timer that is armed for the past again and again must not keep threads from running.
        const MOST: usize = 64;
        for expired in 0..=MOST {
            let next = self.next_timeout_of(scheduler, place);
            let Some((_, member, event)) = next.filter(|(instant, ..)| *instant <= self.now) else { break };
            if expired == MOST {
                return Ok(true);
            }
            let on = self.book(member).turn_on;
            let processor = on.unwrap_or_else(|| self.where_told(member));
            self.raise(scheduler, processor, event, &[member])?;
            self.asks_again(scheduler, processor)?;
            self.may_be_taken(processor, event)?;
        }
        Ok(false)
    }

    /// Changes the number of processors.
    pub(super) fn set_processors(&mut self, count: usize) -> Done {
        while self.processors.len() < count {
            self.processors.push(Processor::default());
            let new = self.processors.len() - 1;
            if self.has_nodes {
                self.arrives(new)?;
                self.init(0, new)?;
            }
            for scheduler in self.order.clone().into_iter().skip(1) {
                if !self.schedulers[scheduler].parent.is_some_and(|parent| self.is_of_nodes(parent)) {
                    self.add_record(scheduler)?;
                }
                self.adjust(scheduler, 0)?;
            }
            self.preempted(0, self.events.newthread)?;
        }
        while self.processors.len() > count.max(1) {
            self.departs()?;
        }
        Ok(())
    }
}
