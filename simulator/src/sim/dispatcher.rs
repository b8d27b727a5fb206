//! The dispatcher of the simulated host: one policy on any number of processors, with an instance for all or, if it keeps nodes,
//! one for each. What is raised when is what the native runtime does (`frameworks/native/dispatcher`).
//!
//! ```text
//! processor ── turn: whom the policy has RUNNING ──waits for──► … ──waits for──► current: who runs (donation; 1996, §3.4)
//! ```

use catapults_compiler::framework::Framework;
use catapults_compiler::interp::{Stop, ThreadId};
use catapults_compiler::policy::{Policy, StateClass};
use catapults_compiler::vocabulary::Value;

use super::policy::{EventId, Events, Runner};
use super::record::{Kind, Record, Sink};

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
pub(super) enum Admitted {
    Yes(ThreadId),
    /// With the reason that the policy gives.
    Refused(ThreadId, String),
}

type Done<T = ()> = Result<T, Out>;

pub(super) struct Dispatcher<'s, R> {
    runner: R,
    pub(super) events: Events,
    sink: &'s mut dyn Sink,
    has_nodes: bool,
    /// By number; the first is that of thread 1.
    books: Vec<Book>,
    vacant: Vec<u32>,
    processors: Vec<Processor>,
    /// RUNNABLE or LENDING threads that nobody has dispatched.
    ready: usize,
    now: i64,
    /// When running threads were charged last.
    charged: i64,
}

#[derive(Clone, Debug)]
struct Book {
    state: State,
    /// Of its node, or the last that ran it.
    home: usize,
    /// On which processor it is RUNNING to the policy.
    turn_on: Option<usize>,
    /// On which processor it runs.
    runs_on: Option<usize>,
    waits_for: Option<ThreadId>,
    /// The end of its chain, which cannot run on its turn.
    stalled_on: Option<ThreadId>,
    stalled: Vec<ThreadId>,
    to_be_suspended: bool,
    /// Its policy was told `suspend_thread` when it blocked.
    set_aside: bool,
    /// It is on no node: its own has gone.
    homeless: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    None,
    Runnable,
    /// It waits, and is READY or RUNNING to the policy: another thread runs on its turns.
    Lending,
    Blocked,
    Suspended,
}

#[derive(Clone, Debug, Default)]
struct Processor {
    turn: Option<ThreadId>,
    current: Option<ThreadId>,
    /// The policy dispatched nothing: it is asked again when something has happened.
    refused: bool,
    told_idle: bool,
    /// Of a policy with nodes: how many threads are ready there, and how many there are.
    ready: usize,
    load: i64,
}

impl<'s, R: Runner> Dispatcher<'s, R> {
    pub(super) fn new(
        runner: R,
        framework: &Framework,
        policy: &Policy,
        processors: usize,
        sink: &'s mut dyn Sink,
    ) -> Result<Self, String> {
        let events = Events::new(framework, policy)?;
        Ok(Dispatcher {
            runner,
            events,
            sink,
            has_nodes: policy.has_nodes(),
            books: Vec::new(),
            vacant: Vec::new(),
            processors: vec![Processor::default(); processors],
            ready: 0,
            now: 0,
            charged: 0,
        })
    }

    /// Before any thread.
    pub(super) fn start(&mut self) -> Done {
        if self.has_nodes {
            for processor in 0..self.processors.len() {
                self.arrives(processor)?;
            }
        }
        let Some(init) = self.events.init.filter(|event| self.runner.handles(*event)) else { return Ok(()) };
        for processor in 0..if self.has_nodes { self.processors.len() } else { 1 } {
            self.raise(processor, init, &[])?;
        }
        Ok(())
    }

    pub(super) fn set_now(&mut self, now: i64) {
        self.now = now;
        self.runner.set_now(now);
    }

    pub(super) fn current(&self, processor: usize) -> Option<ThreadId> {
        self.processors.get(processor)?.current
    }

    pub(super) fn processors(&self) -> usize {
        self.processors.len()
    }

    /// Whether somebody waits for a processor that `processor` could give.
    pub(super) fn someone_waits(&self, processor: usize) -> bool {
        if self.has_nodes { self.processors[processor].ready > 0 } else { self.ready > 0 }
    }

    pub(super) fn hears_ticks(&self) -> bool {
        self.events.tick.is_some_and(|tick| self.runner.handles(tick))
    }

    pub(super) fn set(&mut self, name: &str, value: Value) {
        self.runner.set(name, value);
    }

    pub(super) fn set_of(&mut self, thread: ThreadId, name: &str, value: Value) {
        self.runner.set_of(thread, name, value);
    }

    // ---- What happens

    /// A thread comes, created on `processor`.
    pub(super) fn create(&mut self, processor: usize, values: &[(&str, Value)]) -> Done<Admitted> {
        let number = match self.vacant.pop() {
            Some(number) => number,
            None => {
                self.books.push(Book::new());
                u32::try_from(self.books.len()).unwrap_or(u32::MAX)
            }
        };
        let thread = ThreadId(number);
        *self.book(thread) = Book { state: State::Runnable, ..Book::new() };
        self.runner.spawn(thread).map_err(|stop| self.out(self.events.newthread, stop))?;
        for (name, value) in values {
            self.runner.set_of(thread, name, *value);
        }
        let on = if self.has_nodes { self.place(thread, processor)? } else { processor };
        self.book(thread).home = on;
        match self.raised(on, self.events.newthread, &[thread]) {
            Err(Stop::Fail { reason, line }) => {
                self.runner.discard(thread);
                self.book(thread).state = State::None;
                self.vacant.push(number);
                self.note(on, thread, Kind::Refused, self.events.newthread, line);
                return Ok(Admitted::Refused(thread, reason));
            }
            Err(stop) => return Err(self.out(self.events.newthread, stop)),
            Ok(_) => {}
        }
        self.gained(thread);
        self.note_moved(on, thread, Kind::New, self.events.newthread);
        self.preempted(on, self.events.newthread)?;
        Ok(Admitted::Yes(thread))
    }

    /// Who runs gives the processor up: its turn ends.
    pub(super) fn yields(&mut self, processor: usize) -> Done {
        let Some(turn) = self.processors[processor].turn else { return Ok(()) };
        self.raise(processor, self.events.switch_out, &[turn])?;
        self.note_moved(processor, turn, Kind::SwitchedOut, self.events.switch_out);
        self.vacate(processor, true)
    }

    /// Who runs asks that a thread be next, and gives the processor up.
    pub(super) fn yields_to(&mut self, processor: usize, thread: ThreadId) -> Done {
        let book = &self.books[thread.0 as usize - 1];
        let ready = matches!(book.state, State::Runnable | State::Lending) && book.turn_on.is_none();
        let here = !self.has_nodes || book.home == processor;
        if let Some(event) = self.events.set_next.filter(|event| ready && here && self.runner.handles(*event)) {
            self.raise(processor, event, &[thread])?;
        }
        if self.processors[processor].turn.is_some() { self.yields(processor) } else { Ok(()) }
    }

    /// Who runs waits for something, in this event.
    pub(super) fn blocks(&mut self, processor: usize, event: EventId) -> Done {
        let Processor { turn: Some(turn), current: Some(current), .. } = self.processors[processor] else {
            return Ok(());
        };
        if turn != current {
            // To the policy it is READY.
            if let Some(suspend) = self.events.suspend.filter(|event| self.runner.handles(*event)) {
                self.raise(processor, suspend, &[current])?;
                self.lost(current);
                self.book(current).set_aside = true;
                self.book(current).state = State::Blocked;
                self.note_moved(processor, current, Kind::Blocked, suspend);
                self.stops_running(current)?;
                return self.borrow(processor);
            }
        }
        self.raise(processor, event, &[turn])?;
        self.note_moved(processor, turn, Kind::Blocked, event);
        self.book(turn).state = State::Blocked;
        self.vacate(processor, false)
    }

    /// What a thread waits for has happened.
    pub(super) fn unblocks(&mut self, thread: ThreadId) -> Done {
        if self.books[thread.0 as usize - 1].state != State::Blocked {
            return Ok(());
        }
        let set_aside = std::mem::take(&mut self.book(thread).set_aside);
        let event = self.events.resume.filter(|_| set_aside).unwrap_or(self.events.event_raised);
        self.becomes_ready(thread, event, State::Runnable, Kind::Raised)?;
        self.rouse_all(thread)?;
        if std::mem::take(&mut self.book(thread).to_be_suspended) { self.suspends(thread) } else { Ok(()) }
    }

    /// Who runs ends.
    pub(super) fn exits(&mut self, processor: usize) -> Done {
        let Some(turn) = self.processors[processor].turn else { return Ok(()) };
        self.raise(processor, self.events.exit, &[turn])?;
        self.note_moved(processor, turn, Kind::Exited, self.events.exit);
        let thread = turn;
        self.processors[processor].load -= 1;
        self.vacate(processor, false)?;
        self.rouse_all(thread)?;
        self.runner.discard(thread);
        self.book(thread).state = State::None;
        self.vacant.push(thread.0);
        Ok(())
    }

    /// A thread waits for another one, and lends it its turns. It is the one that runs.
    pub(super) fn waits(&mut self, processor: usize, owner: ThreadId) -> Done {
        let Some(current) = self.processors[processor].current else { return Ok(()) };
        self.book(current).waits_for = Some(owner);
        self.book(current).state = State::Lending;
        self.book(current).runs_on = None;
        self.processors[processor].current = None;
        self.borrow(processor)
    }

    /// A thread does not wait any more: it has what it waited for.
    pub(super) fn has(&mut self, heir: ThreadId) -> Done {
        self.book(heir).waits_for = None;
        match self.books[heir.0 as usize - 1].state {
            State::Lending => {
                self.book(heir).state = State::Runnable;
                Ok(())
            }
            State::Blocked => {
                self.strike_off(heir);
                self.becomes_ready(heir, self.events.event_raised, State::Runnable, Kind::Raised)?;
                self.rouse_all(heir)
            }
            State::None | State::Runnable | State::Suspended => Ok(()),
        }
    }

    /// Those that wait for `old` wait for another thread from now on.
    pub(super) fn redirects(&mut self, waiters: impl Iterator<Item = ThreadId>, owner: ThreadId) -> Done {
        for waiter in waiters {
            self.book(waiter).waits_for = Some(owner);
            if self.books[waiter.0 as usize - 1].stalled_on.is_some() {
                self.rouse(waiter)?;
            }
        }
        Ok(())
    }

    /// The chain of the turn may end in another thread than runs.
    pub(super) fn regains(&mut self, processor: usize) -> Done {
        let Some(turn) = self.processors[processor].turn else { return Ok(()) };
        if self.processors[processor].current == Some(self.end_of(turn)) {
            return Ok(());
        }
        if let Some(current) = self.processors[processor].current.take() {
            self.stops_running(current)?;
        }
        self.borrow(processor)
    }

    /// Somebody suspends a thread. One that waits is suspended as soon as it no longer does.
    pub(super) fn suspends(&mut self, thread: ThreadId) -> Done {
        let book = self.books[thread.0 as usize - 1].clone();
        let Some(event) = self.events.suspend.filter(|event| self.runner.handles(*event)) else { return Ok(()) };
        match book.state {
            State::Blocked | State::Lending => self.book(thread).to_be_suspended = true,
            State::None | State::Suspended => {}
            State::Runnable => {
                let processor = book.turn_on.unwrap_or(if self.has_nodes { book.home } else { self.anywhere(thread) });
                self.raise(processor, event, &[thread])?;
                self.note_moved(processor, thread, Kind::Suspended, event);
                if book.turn_on.is_none() {
                    self.lost(thread);
                }
                self.book(thread).state = State::Suspended;
                match book.turn_on {
                    Some(processor) => self.vacate(processor, false)?,
                    None => {
                        if let Some(processor) = book.runs_on {
                            self.processors[processor].current = None;
                            self.stops_running(thread)?;
                            self.borrow(processor)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Not any more.
    pub(super) fn resumes(&mut self, thread: ThreadId) -> Done {
        self.book(thread).to_be_suspended = false;
        if self.books[thread.0 as usize - 1].state != State::Suspended {
            return Ok(());
        }
        let event = self.events.resume.unwrap_or(self.events.event_raised);
        self.becomes_ready(thread, event, State::Runnable, Kind::Resumed)?;
        self.rouse_all(thread)
    }

    /// Who runs has done so for a while, and others wait.
    pub(super) fn ticks(&mut self, processor: usize) -> Done {
        let Some(tick) = self.events.tick else { return Ok(()) };
        let Some(turn) = self.processors[processor].turn else { return Ok(()) };
        self.raise(processor, tick, &[turn])?;
        self.preempted(processor, tick)
    }

    /// The instant at which a timer of the policy expires next.
    pub(super) fn next_timeout(&mut self) -> Option<i64> {
        if !self.has_nodes {
            return self.runner.next_timeout().map(|(instant, ..)| instant);
        }
        let mut next = None;
        for processor in 0..self.processors.len() {
            self.runner.enter(processor);
            if let Some((instant, ..)) = self.runner.next_timeout() {
                next = Some(next.map_or(instant, |next: i64| next.min(instant)));
            }
        }
        next
    }

    /// Raises the events of timers whose instant has come.
    pub(super) fn expire(&mut self) -> Done {
        /// One that is armed anew for an instant that is past shall let the threads run.
        const MOST: usize = 64;
        for place in 0..if self.has_nodes { self.processors.len() } else { 1 } {
            for _ in 0..MOST {
                if self.has_nodes {
                    self.runner.enter(place);
                }
                let due = self.runner.next_timeout().filter(|(instant, ..)| *instant <= self.now);
                let Some((_, thread, event)) = due else { break };
                let turn_on = self.books[thread.0 as usize - 1].turn_on;
                let processor = turn_on.unwrap_or(if self.has_nodes { place } else { self.anywhere(thread) });
                self.raise(processor, event, &[thread])?;
                self.preempted(processor, event)?;
            }
        }
        Ok(())
    }

    /// Every processor that has nothing to run gets something, if anything is ready.
    pub(super) fn settle(&mut self) -> Done {
        for processor in 0..self.processors.len() {
            while self.processors[processor].turn.is_none() {
                if self.has_nodes && self.processors[processor].ready == 0 && self.ready > 0 {
                    self.steal(processor)?;
                }
                let ready = if self.has_nodes { self.processors[processor].ready } else { self.ready };
                if ready == 0 || self.processors[processor].refused || !self.decide(processor)? {
                    break;
                }
            }
            let idle = &mut self.processors[processor];
            if idle.turn.is_none() && !std::mem::replace(&mut idle.told_idle, true) {
                self.note(processor, ThreadId(0), Kind::Idle, self.events.schedule, 0);
            }
        }
        Ok(())
    }

    /// So many processors there are from now on.
    pub(super) fn set_processors(&mut self, count: usize) -> Done {
        while self.processors.len() < count {
            self.processors.push(Processor::default());
            if self.has_nodes {
                let new = self.processors.len() - 1;
                self.arrives(new)?;
                if let Some(init) = self.events.init.filter(|event| self.runner.handles(*event)) {
                    self.raise(new, init, &[])?;
                }
            }
        }
        while self.processors.len() > count.max(1) {
            self.departs()?;
        }
        Ok(())
    }

    // ---- Decisions

    /// Whether something runs now.
    fn decide(&mut self, processor: usize) -> Done<bool> {
        let dispatched = self.raise(processor, self.events.schedule, &[])?;
        let Some(thread) = dispatched else {
            self.processors[processor].refused = true;
            return Ok(false);
        };
        let known = self.books.get(thread.0 as usize - 1);
        if known.is_none_or(|book| !matches!(book.state, State::Runnable | State::Lending) || book.turn_on.is_some()) {
            let why = "it dispatched a thread that is not ready".to_owned();
            return Err(self.out(self.events.schedule, Stop::Misuse(why)));
        }
        self.lost(thread);
        self.book(thread).turn_on = Some(processor);
        self.book(thread).home = processor;
        self.processors[processor].turn = Some(thread);
        self.processors[processor].told_idle = false;
        self.note_moved(processor, thread, Kind::Dispatched, self.events.schedule);
        self.borrow(processor)?;
        Ok(true)
    }

    /// Who waits at the end of the chain runs on the turn; if it cannot, the turn ends.
    fn borrow(&mut self, processor: usize) -> Done {
        let Some(turn) = self.processors[processor].turn else { return Ok(()) };
        let end = self.end_of(turn);
        let book = &self.books[end.0 as usize - 1];
        if book.state == State::Runnable && book.runs_on.is_none_or(|other| other == processor) {
            self.book(end).runs_on = Some(processor);
            self.processors[processor].current = Some(end);
            if end != turn {
                self.note(processor, end, Kind::Lent, self.events.schedule, 0);
            }
            return Ok(());
        }
        let event = self.events.lock.unwrap_or(self.events.switch_out);
        self.raise(processor, event, &[turn])?;
        self.note_moved(processor, turn, Kind::Blocked, event);
        self.book(turn).state = State::Blocked;
        self.book(turn).stalled_on = Some(end);
        self.book(end).stalled.push(turn);
        self.vacate(processor, false)
    }

    /// The turn is over. `ready`: whose turn it was is READY.
    fn vacate(&mut self, processor: usize, ready: bool) -> Done {
        let Processor { turn: Some(turn), current, .. } = self.processors[processor] else { return Ok(()) };
        self.processors[processor].turn = None;
        self.processors[processor].current = None;
        self.book(turn).turn_on = None;
        if ready {
            self.gained_ready(turn);
        }
        match current {
            Some(current) => self.stops_running(current),
            None => Ok(()),
        }
    }

    /// Who ran does not any more: those that are stalled behind it can lend their turns to it again.
    fn stops_running(&mut self, thread: ThreadId) -> Done {
        self.book(thread).runs_on = None;
        if self.books[thread.0 as usize - 1].state == State::Runnable { self.rouse_all(thread) } else { Ok(()) }
    }

    /// The policy may have taken the processor from who is RUNNING.
    fn preempted(&mut self, processor: usize, event: EventId) -> Done {
        let Some(turn) = self.processors[processor].turn else { return Ok(()) };
        if self.runner.class(turn) == Some(StateClass::Ready) {
            self.note_moved(processor, turn, Kind::Preempted, event);
            self.vacate(processor, true)?;
        }
        Ok(())
    }

    fn becomes_ready(&mut self, thread: ThreadId, event: EventId, state: State, kind: Kind) -> Done {
        if std::mem::take(&mut self.book(thread).homeless) {
            return self.comes_back(thread, state, kind);
        }
        let processor = if self.has_nodes { self.books[thread.0 as usize - 1].home } else { self.anywhere(thread) };
        self.book(thread).state = state;
        self.raise(processor, event, &[thread])?;
        self.gained_ready(thread);
        self.note_moved(processor, thread, kind, event);
        self.preempted(processor, event)
    }

    /// Where something is told that no processor did: at one that has nothing to do, or where the thread ran last.
    fn anywhere(&self, thread: ThreadId) -> usize {
        let home = self.books[thread.0 as usize - 1].home.min(self.processors.len() - 1);
        if self.processors[home].turn.is_none() {
            return home;
        }
        self.processors.iter().position(|processor| processor.turn.is_none()).unwrap_or(home)
    }

    // ---- Chains

    fn end_of(&self, thread: ThreadId) -> ThreadId {
        let mut end = thread;
        while let Some(next) = self.books[end.0 as usize - 1].waits_for {
            end = next;
        }
        end
    }

    fn strike_off(&mut self, thread: ThreadId) {
        if let Some(end) = self.book(thread).stalled_on.take() {
            self.book(end).stalled.retain(|one| *one != thread);
        }
    }

    fn rouse(&mut self, thread: ThreadId) -> Done {
        self.strike_off(thread);
        self.becomes_ready(thread, self.events.event_raised, State::Lending, Kind::Raised)
    }

    fn rouse_all(&mut self, end: ThreadId) -> Done {
        while let Some(last) = self.books[end.0 as usize - 1].stalled.last().copied() {
            self.rouse(last)?;
        }
        Ok(())
    }

    // ---- Nodes

    fn arrives(&mut self, processor: usize) -> Done {
        let arrival = self.events.arrival.ok_or_else(|| self.misuse("there is no event `arrival`"))?;
        self.runner.add_node(processor).map_err(|stop| self.out(arrival, stop))?;
        self.runner.set_load(processor, 0);
        self.runner.raise_of_node(arrival, processor).map_err(|stop| self.out(arrival, stop))
    }

    /// The last processor goes.
    fn departs(&mut self) -> Done {
        let last = self.processors.len() - 1;
        if let Some(turn) = self.processors[last].turn {
            self.raise(last, self.events.switch_out, &[turn])?;
            self.note_moved(last, turn, Kind::SwitchedOut, self.events.switch_out);
            self.vacate(last, true)?;
        }
        if !self.has_nodes {
            self.runner.enter(0);
            self.processors.pop();
            return Ok(());
        }
        let departure = self.events.departure.ok_or_else(|| self.misuse("there is no event `departure`"))?;
        self.runner.raise_of_node(departure, last).map_err(|stop| self.out(departure, stop))?;
        self.ready -= self.processors[last].ready;
        self.processors.pop();
        let there = |(_, book): &(usize, &Book)| book.home == last && book.state != State::None;
        let numbers: Vec<usize> = self.books.iter().enumerate().filter(there).map(|(index, _)| index).collect();
        for index in numbers {
            let thread = ThreadId(u32::try_from(index + 1).unwrap_or(0));
            let state = self.books[index].state;
            match state {
                State::Runnable | State::Lending => self.comes_back(thread, state, Kind::Resumed)?,
                State::Blocked | State::Suspended => self.books[index].homeless = true,
                State::None => {}
            }
        }
        Ok(())
    }

    /// Whose processor has gone is placed anew.
    fn comes_back(&mut self, thread: ThreadId, state: State, kind: Kind) -> Done {
        let on = self.place(thread, 0)?;
        self.book(thread).home = on;
        self.book(thread).state = state;
        let event = self.events.migrate.unwrap_or(self.events.newthread);
        self.raise(on, event, &[thread])?;
        self.gained(thread);
        self.note_moved(on, thread, kind, event);
        self.preempted(on, event)
    }

    /// The processor on which a thread is to be.
    fn place(&mut self, thread: ThreadId, creator: usize) -> Done<usize> {
        if let Some(dispatch) = self.events.dispatch.filter(|event| self.runner.handles(*event)) {
            self.runner.raise(dispatch, &[thread]).map_err(|stop| self.out(dispatch, stop))?;
            if let Some((_, processor)) = self.runner.take_sent().into_iter().find(|(sent, _)| *sent == thread) {
                return Ok(processor);
            }
        }
        let least = (0..self.processors.len()).min_by_key(|processor| self.processors[*processor].load);
        Ok(least.unwrap_or(creator))
    }

    /// Takes work from where there is the most.
    fn steal(&mut self, processor: usize) -> Done {
        let Some(steal) = self.events.steal.filter(|event| self.runner.handles(*event)) else { return Ok(()) };
        let mut others: Vec<usize> =
            (0..self.processors.len()).filter(|other| self.processors[*other].ready > 0).collect();
        others.sort_by_key(|other| std::cmp::Reverse(self.processors[*other].load));
        for other in others {
            self.runner.enter(other);
            self.charge();
            self.runner.raise_steal(steal, processor).map_err(|stop| self.out(steal, stop))?;
            let sent = self.runner.take_sent();
            for (thread, to) in &sent {
                self.lost(*thread);
                self.processors[other].load -= 1;
                self.runner.set_load(other, self.processors[other].load);
                self.book(*thread).home = *to;
                let event = self.events.migrate.unwrap_or(self.events.newthread);
                self.raise(*to, event, &[*thread])?;
                self.gained(*thread);
            }
            if !sent.is_empty() {
                return Ok(());
            }
        }
        Ok(())
    }

    // ---- The books

    /// It is READY, on a processor where it was not.
    fn gained(&mut self, thread: ThreadId) {
        let home = self.books[thread.0 as usize - 1].home;
        if self.has_nodes {
            self.processors[home].load += 1;
            let load = self.processors[home].load;
            self.runner.set_load(home, load);
        }
        self.gained_ready(thread);
    }

    fn gained_ready(&mut self, thread: ThreadId) {
        let home = self.books[thread.0 as usize - 1].home;
        self.ready += 1;
        if self.has_nodes {
            self.processors[home].ready += 1;
        }
        self.processors.iter_mut().for_each(|processor| processor.refused = false);
    }

    /// It is not READY any more.
    fn lost(&mut self, thread: ThreadId) {
        let home = self.books[thread.0 as usize - 1].home;
        self.ready -= 1;
        if self.has_nodes {
            self.processors[home].ready -= 1;
        }
    }

    fn book(&mut self, thread: ThreadId) -> &mut Book {
        &mut self.books[thread.0 as usize - 1]
    }

    // ---- Events

    fn raise(&mut self, processor: usize, event: EventId, threads: &[ThreadId]) -> Done<Option<ThreadId>> {
        self.raised(processor, event, threads).map_err(|stop| self.out(event, stop))
    }

    fn raised(&mut self, processor: usize, event: EventId, threads: &[ThreadId]) -> Result<Option<ThreadId>, Stop> {
        self.runner.enter(processor);
        self.charge();
        self.runner.raise(event, threads)
    }

    /// Whose turn it is has run until now.
    fn charge(&mut self) {
        let passed = self.now - std::mem::replace(&mut self.charged, self.now);
        if passed == 0 {
            return;
        }
        for processor in &self.processors {
            if let Some(turn) = processor.turn {
                self.runner.charge(turn, passed);
            }
        }
    }

    fn note_moved(&mut self, processor: usize, thread: ThreadId, kind: Kind, event: EventId) {
        let line = self.runner.moved_by();
        self.note(processor, thread, kind, event, line);
    }

    fn note(&mut self, processor: usize, thread: ThreadId, kind: Kind, event: EventId, line: u32) {
        let processor = u32::try_from(processor).unwrap_or(u32::MAX);
        self.sink.record(&Record { time: self.now, processor, thread, kind, event, line });
    }

    fn misuse(&self, why: &str) -> Out {
        Out { time: self.now, event: String::new(), line: 0, why: why.to_owned() }
    }

    fn out(&self, event: EventId, stop: Stop) -> Out {
        let (line, why) = match stop {
            Stop::Guard { line, text } => (line, format!("a guard fails: {text}")),
            Stop::Unproved { line, text } => (line, format!("what was proved is not so: {text}")),
            Stop::Overrun { line } => (line, "a loop does not end".to_owned()),
            Stop::Fail { line, reason } => (line, format!("it refuses a thread: {reason}")),
            Stop::Misuse(why) => (0, why),
        };
        Out { time: self.now, event: self.events.name(event).to_owned(), line, why }
    }
}

impl Book {
    fn new() -> Book {
        Book {
            state: State::None,
            home: 0,
            turn_on: None,
            runs_on: None,
            waits_for: None,
            stalled_on: None,
            stalled: Vec::new(),
            to_be_suspended: false,
            set_aside: false,
            homeless: false,
        }
    }
}
