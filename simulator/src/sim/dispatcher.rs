//! The dispatcher of the simulated host: a policy, or a hierarchy of them, on any number of processors. What is raised when is what
//! the native runtime does (`frameworks/native/core`).
//!
//! ```text
//! processor ── way: the proxies of schedulers from the root down ── turn: whom the last one has RUNNING
//!                  turn ──waits for──► … ──waits for──► current: who runs (donation; 1996, §3.4)
//! ```
//!
//! To its parent a scheduler is as many threads, its proxies, as there are processors: so many of them are READY as it could use.
//! A root with nodes has an instance for each processor: each of its members, be it a proxy, is in that of its `home`.

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

/// What policies import of a thread to know when its job was released, as a time.
pub(super) const RELEASE: &str = "release";

/// Why a simulation cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Out {
    /// When.
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
    /// It is READY.
    Yes(ThreadId),
    /// With the reason that the policy gives.
    Refused(ThreadId, String),
}

type Done<T = ()> = Result<T, Out>;

/// What decides, at work: whoever says what happens raises it here, and then lets it [`settle`](Dispatcher::settle).
pub struct Dispatcher<'s, R> {
    /// The root first, each parent before its children. One alone for a policy.
    schedulers: Vec<Scheduler<R>>,
    /// Those that are there, as they came.
    order: Vec<usize>,
    /// Where threads go of which nothing else is said.
    default: usize,
    events: Events,
    sink: &'s mut dyn Sink,
    /// The policy of the root has.
    has_nodes: bool,
    /// Of threads and proxies, by number; the first is that of number 1.
    books: Vec<Book>,
    vacant: Vec<u32>,
    /// Threads and proxies that there ever were.
    came: u32,
    /// Schedulers that there ever were, but for the root.
    added: u64,
    seed: u64,
    processors: Vec<Processor>,
    now: i64,
    /// When what is RUNNING was charged last.
    charged: i64,
    /// The scheduler whose handler ran last.
    told: usize,
    /// The event by which what is RUNNING on the only processor has lost it, which it has yet to give up.
    taken_by: Option<EventId>,
    /// Who was suspended as soon as it ran again.
    suspended: Vec<ThreadId>,
    /// Who cannot lend its turns, and is blocked until it can, in the order in which that came to be.
    blocked_donors: Vec<ThreadId>,
    /// Some of those may be able to: somebody waits for another thread, or for none, or runs no more.
    chains_changed: bool,
}

#[derive(Clone, Debug, Default)]
struct Processor {
    /// Records that are RUNNING, the root's member first.
    way: Vec<ThreadId>,
    turn: Option<ThreadId>,
    current: Option<ThreadId>,
    /// The root dispatched nothing: it is asked again when something has happened.
    refused: bool,
    told_idle: bool,
    /// Of a policy with nodes: how many threads are ready there.
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

    /// Before any thread.
    pub fn start(&mut self) -> Done {
        if self.has_nodes {
            for processor in 0..self.processors.len() {
                self.arrives(processor)?;
                self.init(0, processor)?;
            }
        }
        for scheduler in 0..self.schedulers.len() {
            let in_nodes = self.schedulers[scheduler].parent.is_some_and(|parent| self.is_of_nodes(parent));
            // Further ones are introduced when they are needed: see `adjust`.
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

    /// The event of this name, as policies meet it.
    pub fn event(&self, name: &str) -> Option<EventId> {
        self.events.find(name)
    }

    /// So late it is from here on.
    pub fn set_now(&mut self, now: i64) {
        self.now = now;
        self.schedulers.iter_mut().for_each(|scheduler| scheduler.runner.set_now(now));
    }

    /// What policies draw from here on: each scheduler by a seed of its own, this one and how many schedulers came before it.
    pub fn seed(&mut self, seed: u64) {
        self.seed = seed;
        self.schedulers.iter_mut().for_each(|scheduler| scheduler.seeds(seed));
    }

    /// Who runs.
    pub fn current(&self, processor: usize) -> Option<ThreadId> {
        self.processors.get(processor)?.current
    }

    /// Whose turn it is.
    pub fn turn(&self, processor: usize) -> Option<ThreadId> {
        self.processors.get(processor)?.turn
    }

    /// The scheduler that a thread is under; `None`: there is no such thread.
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

    /// Whether somebody waits for the processor.
    pub(super) fn someone_waits(&self, processor: usize) -> bool {
        // Under the scheduler of who runs, or of a scheduler above it.
        let others = usize::from(self.has_nodes);
        let at_node = self.has_nodes && self.processors[processor].ready > 0;
        at_node || self.schedulers.iter().skip(others).any(|scheduler| scheduler.ready > 0)
    }

    pub(super) fn hears_ticks(&self) -> bool {
        let tick = self.events.tick;
        tick.is_some_and(|tick| self.schedulers.iter().any(|scheduler| scheduler.runner.handles(tick)))
    }

    /// Assigns a variable that the policy, or that of the root, imports.
    pub(super) fn set(&mut self, name: &str, value: Value) {
        self.sink.value(self.now, None, name, value);
        if let Some(root) = self.schedulers.first_mut() {
            root.runner.set(name, value);
        }
    }

    /// The same of a thread, whose scheduler hears that it was changed, if it was.
    pub fn set_of(&mut self, thread: ThreadId, name: &str, value: Value) -> Done {
        if self.assign(thread, name, value) { self.changes(thread) } else { Ok(()) }
    }

    /// The same, but that it hears of it: whether it is to.
    pub(super) fn assign(&mut self, thread: ThreadId, name: &str, value: Value) -> bool {
        if self.value_of(thread, name).is_none() {
            return false; // the host alone goes by it
        }
        self.sink.value(self.now, Some(thread), name, value);
        let under = self.book(thread).under;
        self.schedulers[under].runner.set_of(thread, name, value)
    }

    /// Whether its scheduler goes by that.
    pub(super) fn hears_changes(&self, thread: ThreadId) -> bool {
        self.events.changed.is_some_and(|changed| self.schedulers[self.under(thread)].runner.handles(changed))
    }

    /// See above.
    pub(super) fn changes(&mut self, thread: ThreadId) -> Done {
        self.tells(thread, self.events.changed)
    }

    /// The job of a thread was released at this instant, or will be: what a policy finds in its import `release`.
    pub fn set_release(&mut self, thread: ThreadId, instant: i64) {
        let under = self.book(thread).under;
        self.schedulers[under].runner.set_of(thread, RELEASE, Value::Time(instant));
    }

    /// It begins its job. Who waits for that is BLOCKED still: it is unblocked next.
    pub fn releases(&mut self, thread: ThreadId) -> Done {
        self.tells(thread, self.events.release)
    }

    /// Its scheduler hears something of a thread, wherever that is.
    pub(super) fn tells(&mut self, thread: ThreadId, event: Option<EventId>) -> Done {
        let book = self.book(thread).clone();
        let event = event.filter(|event| self.schedulers[book.under].runner.handles(*event));
        let Some(event) = event.filter(|_| book.state != State::None && !book.homeless) else { return Ok(()) };
        let processor = book.turn_on.unwrap_or_else(|| self.where_told(thread));
        self.raise(book.under, processor, event, &[thread])?;
        self.asks_again(book.under, processor)?;
        self.may_be_taken(processor, event)
    }

    /// Something has happened to a scheduler that has dispatched nothing although something is READY.
    fn asks_again(&mut self, scheduler: usize, processor: usize) -> Done {
        if self.schedulers[scheduler].refused { self.adjust(scheduler, processor) } else { Ok(()) }
    }

    /// What a thread that was created is called, and the values that it came with.
    pub(super) fn introduce(&mut self, thread: ThreadId, name: &str, values: &[(&str, Value)]) {
        self.sink.named(self.now, thread, name);
        for (name, value) in values {
            if self.value_of(thread, name).is_some() {
                self.sink.value(self.now, Some(thread), name, *value);
            }
        }
    }

    /// A job is done, whatever the policy makes of it.
    pub(super) fn job_done(&mut self, thread: ThreadId, released: i64) {
        self.sink.job_done(self.now, thread, released);
    }

    // ---- What happens

    /// A thread comes, created on `processor`; with its first job, if it has jobs.
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

    /// Who runs gives the processor up: its turn ends.
    pub fn yields(&mut self, processor: usize) -> Done {
        let Some(turn) = self.processors[processor].turn else { return Ok(()) };
        if self.has_lost(processor) {
            return self.preempted(processor, self.taken_by.unwrap_or(self.events.switch_out));
        }
        self.raise(self.under(turn), processor, self.events.switch_out, &[turn])?;
        self.note_moved(processor, turn, Kind::SwitchedOut, self.events.switch_out);
        self.vacate(processor, true)
    }

    /// Who runs asks that a thread be next, and gives the processor up.
    pub fn yields_to(&mut self, processor: usize, thread: ThreadId) -> Done {
        if let Some(event) = self.events.set_next {
            self.asks_for(processor, thread, event)?;
            self.preempted(processor, event)?;
        }
        if self.processors[processor].turn.is_some() { self.yields(processor) } else { Ok(()) }
    }

    /// Who runs waits for something, in this event.
    pub fn blocks(&mut self, processor: usize, event: EventId) -> Done {
        let Processor { turn: Some(turn), current: Some(current), .. } = self.processors[processor] else {
            return Ok(());
        };
        if turn == current && self.is_taken(turn) {
            return self.blocks_though_taken(processor, turn, event);
        }
        if turn != current {
            // To the policy it is READY.
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

    /// The policy has just taken the processor from who waits from now on: it is READY there.
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

    /// What the policy of a thread reads in a variable that it imports; `None`: it imports no such.
    pub(super) fn value_of(&self, thread: ThreadId, name: &str) -> Option<Value> {
        let under = self.under(thread);
        self.schedulers[under].runner.value_of(thread, name)
    }

    /// What these threads wait for has happened. All policies hear of all of them before anybody loses the only processor for it.
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

    /// Who was to be suspended as soon as it waits no longer.
    pub(super) fn suspends_at_last(&mut self, thread: ThreadId) -> Done {
        if std::mem::take(&mut self.book(thread).to_be_suspended) { self.suspends(thread) } else { Ok(()) }
    }

    /// Who runs ends. Nobody waits for it.
    pub fn exits(&mut self, processor: usize) -> Done {
        let Some(turn) = self.processors[processor].turn else { return Ok(()) };
        self.raise(self.under(turn), processor, self.events.exit, &[turn])?;
        self.note_moved(processor, turn, Kind::Exited, self.events.exit);
        self.vacate(processor, false)?;
        self.rouse_all(turn)?;
        self.forget(turn);
        Ok(())
    }

    /// Somebody suspends a thread. One that waits is suspended as soon as it no longer does.
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

    /// Not any more.
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

    /// Those that were suspended since this was asked last without anybody's doing so just then.
    pub fn take_suspended(&mut self) -> Vec<ThreadId> {
        std::mem::take(&mut self.suspended)
    }

    pub(super) fn is_suspended(&self, thread: ThreadId) -> bool {
        self.books[thread.0 as usize - 1].state == State::Suspended
    }

    /// It is suspended, or will be as soon as it waits for nothing else.
    pub(super) fn is_set_aside(&self, thread: ThreadId) -> bool {
        let book = &self.books[thread.0 as usize - 1];
        book.state == State::Suspended || book.to_be_suspended
    }

    /// Who runs has done so for a while, and others wait: its scheduler hears of it, and those above it.
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

    /// The instant at which a timer of a policy expires next.
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

    /// The instances of a scheduler: of one with nodes, one for each processor.
    fn places(&self, scheduler: usize) -> std::ops::Range<usize> {
        0..if self.is_of_nodes(scheduler) { self.processors.len() } else { 1 }
    }

    /// Raises the events of timers whose instant has come. Whether some are left, which are armed anew for now again and again.
    pub fn expire(&mut self) -> Done<bool> {
        let left = self.expire_all()?;
        self.preempted_at_last()?;
        Ok(left)
    }

    /// The processor is interrupted when a tick is due: timers expire, and who runs hears of the tick before it loses the processor.
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
        /// One that is armed anew for an instant that is past shall let the threads run.
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

    /// So many processors there are from now on.
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
