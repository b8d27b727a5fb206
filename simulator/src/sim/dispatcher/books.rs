//! What the dispatcher knows of threads and of proxies, the threads that schedulers are to their parents; and how
//! events are raised.

use std::cmp::Ordering;

use catapults_compiler::interp::{Stop, ThreadId};
use catapults_compiler::policy::StateClass;

use super::super::policy::{EventId, Runner};
use super::super::record::{Kind, Record};
use super::{Dispatcher, Done, Out};

#[derive(Clone, Debug)]
pub(super) struct Book {
    pub(super) state: State,
    /// The scheduler that it is under.
    pub(super) under: usize,
    /// The scheduler that it is a proxy of.
    pub(super) scheduler: Option<usize>,
    /// How many threads and proxies came before it.
    pub(super) came: u32,
    /// The processor whose instance it is in; without nodes, the processor that ran it last.
    pub(super) home: usize,
    /// The processor on which it is RUNNING to its policy.
    pub(super) turn_on: Option<usize>,
    /// The processor on which it runs.
    pub(super) runs_on: Option<usize>,
    pub(super) waits_for: Option<ThreadId>,
    /// The end of its chain, which cannot run on its turn.
    pub(super) stalled_on: Option<ThreadId>,
    pub(super) blocked_donors: Vec<ThreadId>,
    pub(super) to_be_suspended: bool,
    /// Its policy was told `suspend_thread` when it blocked.
    pub(super) set_aside: bool,
    /// It is in no instance, because its processor has gone.
    pub(super) homeless: bool,
    /// It must run on its own turn.
    pub(super) own_turn: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// No such thread.
    None,
    Runnable,
    /// It waits, but its policy has it READY or RUNNING: another thread runs on its turns.
    Lending,
    Blocked,
    Suspended,
}

impl Book {
    fn new(under: usize, scheduler: Option<usize>, came: u32) -> Book {
        Book {
            state: State::Runnable,
            under,
            scheduler,
            came,
            home: 0,
            turn_on: None,
            runs_on: None,
            waits_for: None,
            stalled_on: None,
            blocked_donors: Vec::new(),
            to_be_suspended: false,
            set_aside: false,
            homeless: false,
            own_turn: false,
        }
    }

    /// Whether its policy has it READY.
    pub(super) fn is_ready(&self) -> bool {
        matches!(self.state, State::Runnable | State::Lending) && self.turn_on.is_none()
    }
}

impl<R: Runner> Dispatcher<'_, R> {
    /// Creates a thread in hand. No event has told the policy of it yet.
    pub(super) fn enrol(&mut self, under: usize, scheduler: Option<usize>) -> Done<ThreadId> {
        let book = Book::new(under, scheduler, self.came);
        self.came += 1;
        let number = match self.vacant.pop() {
            Some(number) => {
                self.books[number as usize - 1] = book;
                number
            }
            None => {
                self.books.push(book);
                u32::try_from(self.books.len()).unwrap_or(u32::MAX)
            }
        };
        let thread = ThreadId(number);
        let spawned = self.schedulers[under].runner.spawn(thread);
        spawned.map_err(|stop| self.out(self.events.newthread, stop))?;
        Ok(thread)
    }

    /// Forgets a thread that was refused or has ended.
    pub(super) fn forget(&mut self, thread: ThreadId) {
        let under = self.under(thread);
        self.schedulers[under].runner.discard(thread);
        self.book(thread).state = State::None;
        self.vacant.push(thread.0);
    }

    pub(super) fn book(&mut self, thread: ThreadId) -> &mut Book {
        &mut self.books[thread.0 as usize - 1]
    }

    pub(super) fn under(&self, thread: ThreadId) -> usize {
        self.books[thread.0 as usize - 1].under
    }

    pub(super) fn gained_ready(&mut self, thread: ThreadId) {
        let (home, under) = (self.book(thread).home, self.under(thread));
        self.schedulers[under].ready += 1;
        if self.is_of_nodes(under) {
            self.processors[home].ready += 1;
        }
        self.processors.iter_mut().for_each(|processor| processor.refused = false);
    }

    pub(super) fn lost_ready(&mut self, thread: ThreadId) {
        let (home, under) = (self.book(thread).home, self.under(thread));
        self.schedulers[under].ready -= 1;
        if self.is_of_nodes(under) {
            self.processors[home].ready -= 1;
        }
    }

    /// Whether the policy has taken the processor from this RUNNING member.
    pub(super) fn is_taken(&self, member: ThreadId) -> bool {
        self.schedulers[self.under(member)].runner.class(member) == Some(StateClass::Ready)
    }

    /// Whether the turn or a scheduler above it has yet to give up the processor that a policy took from it.
    pub(in super::super) fn has_lost(&self, processor: usize) -> bool {
        let on = &self.processors[processor];
        on.turn.iter().chain(&on.way).any(|member| self.is_taken(*member))
    }

    /// Where to raise an event that no processor caused: the thread's instance, or near the processor that ran it.
    pub(super) fn where_told(&self, thread: ThreadId) -> usize {
        let home = self.books[thread.0 as usize - 1].home;
        if self.is_of_nodes(self.under(thread)) {
            return home;
        }
        self.where_told_near(home.min(self.processors.len() - 1))
    }

    /// `home` if it is idle, or else the first idle processor, if more processors are idle than threads are READY.
    /// Otherwise the processor whose turn comes last in the order of the policies; `home`, if they do not tell.
    pub(super) fn where_told_near(&self, home: usize) -> usize {
        let idle = || (0..self.processors.len()).filter(|processor| self.processors[*processor].turn.is_none());
        if let Some(first) = idle().next()
            && idle().count() > self.schedulers[0].ready
        {
            return if self.processors[home].turn.is_none() { home } else { first };
        }
        let running = (0..self.processors.len()).filter(|processor| self.processors[*processor].turn.is_some());
        let before =
            |one: &usize, other: &usize| self.order(*one, *other).then_with(|| (*one == home).cmp(&(*other == home)));
        running.max_by(before).unwrap_or(home)
    }

    /// Which of two processors has the turn that the policies would dispatch first. The scheduler is asked where their
    /// ways from the root part.
    fn order(&self, one: usize, other: usize) -> Ordering {
        let members = |of: usize| self.processors[of].way.iter().chain(&self.processors[of].turn).copied();
        for (one, other) in members(one).zip(members(other)) {
            let (book, with) = (&self.books[one.0 as usize - 1], &self.books[other.0 as usize - 1]);
            if book.scheduler.is_none() || book.scheduler != with.scheduler {
                return self.schedulers[book.under].runner.ready_order(one, other).unwrap_or(Ordering::Equal);
            }
        }
        Ordering::Equal
    }

    // ---- Events

    pub(super) fn init(&mut self, scheduler: usize, processor: usize) -> Done {
        let init = self.events.init.filter(|event| self.schedulers[scheduler].runner.handles(*event));
        init.map_or(Ok(()), |init| self.raise(scheduler, processor, init, &[]).map(|_| ()))
    }

    pub(super) fn raise(
        &mut self,
        scheduler: usize,
        processor: usize,
        event: EventId,
        threads: &[ThreadId],
    ) -> Done<Option<ThreadId>> {
        self.raised(scheduler, processor, event, threads).map_err(|stop| self.out(event, stop))
    }

    pub(super) fn raised(
        &mut self,
        scheduler: usize,
        processor: usize,
        event: EventId,
        threads: &[ThreadId],
    ) -> Result<Option<ThreadId>, Stop> {
        self.charge();
        let runner = &mut self.schedulers[scheduler].runner;
        runner.enter(processor);
        let raised = runner.raise(event, threads);
        self.told = scheduler;
        raised
    }

    /// Charges the time that has passed to what is RUNNING.
    pub(super) fn charge(&mut self) {
        let passed = self.now - std::mem::replace(&mut self.charged, self.now);
        if passed == 0 {
            return;
        }
        for processor in &self.processors {
            for member in processor.way.iter().chain(&processor.turn) {
                let under = self.books[member.0 as usize - 1].under;
                self.schedulers[under].runner.charge(*member, passed);
            }
        }
    }

    /// Notes the line at which the last handler moved the thread.
    pub(super) fn note_moved(&mut self, processor: usize, thread: ThreadId, kind: Kind, event: EventId) {
        let line = self.schedulers[self.told].runner.moved_by();
        self.note(processor, thread, kind, event, line);
    }

    pub(super) fn note(&mut self, processor: usize, thread: ThreadId, kind: Kind, event: EventId, line: u32) {
        // The thread is READY, but is counted only once its turn is over.
        let leaves = usize::from(matches!(kind, Kind::SwitchedOut | Kind::Preempted));
        let ready = match self.schedulers.as_slice() {
            [_] if self.has_nodes => Some(self.processors[processor].ready + leaves),
            [only] => Some(only.ready + leaves),
            _ => None,
        };
        let donor = self.processors[processor].turn.unwrap_or(thread);
        let processor = u32::try_from(processor).unwrap_or(u32::MAX);
        let scheduler = self.told;
        let record = Record { time: self.now, processor, thread, kind, event, line, scheduler, donor, ready };
        let of_scheduler =
            self.books.get(thread.0.wrapping_sub(1) as usize).is_some_and(|book| book.scheduler.is_some());
        if of_scheduler { self.sink.of_scheduler(&record) } else { self.sink.record(&record) }
    }

    pub(super) fn misuse(&self, why: &str) -> Out {
        Out { time: self.now, event: String::new(), line: 0, why: why.to_owned() }
    }

    pub(super) fn out(&self, event: EventId, stop: Stop) -> Out {
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
