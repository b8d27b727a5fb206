//! Donation: a thread that waits for a lock lends its turns to the owner, as in `frameworks/native/core/donation.c`.
//!
//! ```text
//! turn ──waits for──► a thread ──waits for──► current        the chain of a turn: its end runs
//! RUNNING             READY                   READY          what their policies see
//! ```
//!
//! If the end cannot run, or runs on another turn, the turn's thread is a blocked donor: BLOCKED until it can lend.

use catapults_compiler::interp::ThreadId;

use super::super::policy::Runner;
use super::super::record::Kind;
use super::books::State;
use super::{Dispatcher, Done, Processor};

impl<R: Runner> Dispatcher<'_, R> {
    /// The running thread waits for `owner` and lends it its turns. The end of the chain runs.
    pub fn waits(&mut self, processor: usize, owner: ThreadId) -> Done {
        let Some(current) = self.processors[processor].current else { return Ok(()) };
        self.book(current).waits_for = Some(owner);
        self.book(current).state = State::Lending;
        self.book(current).runs_on = None;
        self.processors[processor].current = None;
        self.chains_changed = true;
        self.borrow(processor)
    }

    /// The running thread needs its own turn for what comes next. Whether it has it; else it gives the lent one back.
    pub fn needs_own_turn(&mut self, processor: usize) -> Done<bool> {
        let Processor { turn, current: Some(current), .. } = self.processors[processor] else { return Ok(false) };
        let has = turn == Some(current);
        self.book(current).own_turn = !has;
        if !has {
            self.processors[processor].current = None;
            self.stops_running(current)?;
            self.borrow(processor)?;
        }
        Ok(has)
    }

    /// A thread has what it waited for, and goes on.
    pub fn has(&mut self, heir: ThreadId) -> Done {
        self.owns(heir);
        self.unblock_heir(heir)
    }

    /// With one processor, blocked donors whose chains end elsewhere now become READY at once, the oldest first.
    fn rouse_behind(&mut self) -> Done {
        if self.processors.len() > 1 {
            return Ok(());
        }
        let mut behind = self.blocked_donors.clone();
        behind.retain(|donor| self.books[donor.0 as usize - 1].stalled_on != Some(self.end_of(*donor)));
        behind.sort_by_key(|donor| self.books[donor.0 as usize - 1].came);
        behind.into_iter().try_for_each(|donor| self.rouse(donor))
    }

    /// A thread has what it waited for, but is not told yet.
    pub(in super::super) fn owns(&mut self, heir: ThreadId) {
        self.chains_changed = true;
        let book = self.book(heir);
        book.waits_for = None;
        if book.state == State::Lending {
            // Even if it was suspended meanwhile, it is READY or RUNNING to its policy until it runs.
            book.state = State::Runnable;
            // Its own turn, which it had lent, comes back to it. A new donor cannot run it on another turn.
            book.runs_on = book.turn_on;
        }
        self.strike_off(heir);
    }

    /// Tells the thread for which `owns` was called, after those that wait behind it.
    pub(in super::super) fn unblock_heir(&mut self, heir: ThreadId) -> Done {
        self.rouse_behind()?;
        if self.book(heir).state != State::Blocked {
            return Ok(());
        }
        self.becomes_ready(heir, self.events.event_raised, State::Runnable, Kind::Raised)?;
        self.rouse_all(heir)?;
        self.suspends_at_last(heir)
    }

    /// Whether the thread that runs there has its own turn.
    pub(in super::super) fn is_on_own_turn(&self, processor: usize) -> bool {
        self.processors.get(processor).is_some_and(|on| on.turn == on.current)
    }

    /// Makes these threads wait for another thread, or for none. Blocked donors among them are not told, unless they
    /// can lend again once the current event is over. Otherwise all would be told whenever a lock changes hands.
    pub fn redirects(&mut self, waiters: impl Iterator<Item = ThreadId>, owner: Option<ThreadId>) {
        for waiter in waiters {
            let book = self.book(waiter);
            // It has just got a turn of its own, or was suspended then. It looks again when it runs.
            if matches!(book.state, State::Runnable | State::Suspended) {
                continue;
            }
            book.waits_for = owner;
            self.chains_changed = true;
        }
    }

    /// With one processor: `waiter` waits for another thread now, and lends it its turns; `None`: it lends them to
    /// nobody. Donors that stalled on it become READY at once.
    pub fn redirected(&mut self, waiter: ThreadId, owner: Option<ThreadId>) -> Done {
        let was_stalled = self.book(waiter).state == State::Blocked;
        self.book(waiter).waits_for = None;
        self.strike_off(waiter);
        self.chains_changed = true;
        self.rouse_behind()?;
        self.book(waiter).waits_for = owner;
        if !was_stalled || owner.is_none() {
            return Ok(());
        }
        let end = self.end_of(waiter);
        if self.can_run(end, waiter) {
            self.rouse(waiter)?;
        } else {
            self.stall(waiter, end);
        }
        self.rouse_all(waiter)
    }

    /// To be called when the chain of the turn may have another end, which then runs on the turn.
    pub fn regains(&mut self, processor: usize) -> Done {
        self.preempted_at_last()?;
        let Some(turn) = self.processors[processor].turn else { return Ok(()) };
        if self.processors[processor].current == Some(self.end_of(turn)) {
            return Ok(());
        }
        if let Some(current) = self.processors[processor].current.take() {
            self.stops_running(current)?;
        }
        self.borrow(processor)
    }

    /// The end of the chain runs on the turn. If it cannot, the turn ends.
    pub(super) fn borrow(&mut self, processor: usize) -> Done {
        self.lends(processor, false)
    }

    /// `new`: the turn has just begun.
    pub(super) fn lends(&mut self, processor: usize, new: bool) -> Done {
        let Some(turn) = self.processors[processor].turn else { return Ok(()) };
        let end = self.end_of(turn);
        let can_run = self.can_run(end, turn);
        let book = self.book(end);
        if can_run && book.runs_on.is_none_or(|other| other == processor) {
            (book.state, book.runs_on) = (State::Runnable, Some(processor));
            self.processors[processor].current = Some(end);
            if end != turn || !new {
                self.note(processor, end, Kind::Lent, self.events.schedule, 0);
            }
            if self.book(end).to_be_suspended {
                self.suspended.push(end);
                return self.suspends_at_last(end);
            }
            return Ok(());
        }
        let event = self.events.lock.unwrap_or(self.events.switch_out);
        self.raise(self.under(turn), processor, event, &[turn])?;
        self.note_moved(processor, turn, Kind::Blocked, event);
        self.book(turn).state = State::Blocked;
        self.stall(turn, end);
        self.vacate(processor, false)
    }

    /// The policy has given this processor's turn to a thread that runs on a donor's turn elsewhere. The thread goes on
    /// there on its own turn, and what is RUNNING there moves here, for the donor cannot hasten it. A node's instance
    /// cannot move; then the thread comes here. Returns where the thread is to run, and where the donor's turn then is,
    /// if there is one.
    pub(super) fn takes_over(&mut self, thread: ThreadId, processor: usize) -> (usize, Option<usize>) {
        let Some(lent) = self.book(thread).runs_on.filter(|lent| *lent != processor) else { return (processor, None) };
        if self.has_nodes {
            self.note(lent, thread, Kind::Preempted, self.events.schedule, 0);
            self.book(thread).runs_on = None;
            self.processors[lent].current = None;
            return (processor, Some(lent));
        }
        let here = std::mem::take(&mut self.processors[processor].way);
        let there = std::mem::replace(&mut self.processors[lent].way, here);
        self.processors[processor].way = there;
        self.processors[processor].turn = self.processors[lent].turn.replace(thread);
        self.processors[processor].told_idle = false;
        for on in [processor, lent] {
            for member in self.way_up(on) {
                let book = self.book(member);
                (book.turn_on, book.home) = (Some(on), on);
            }
        }
        self.schedulers.iter_mut().for_each(|scheduler| scheduler.runner.exchange(processor, lent));
        (lent, Some(processor))
    }

    /// Blocked donors that can lend their turns again become READY.
    pub(super) fn rouse_who_can_lend(&mut self) -> Done {
        while std::mem::take(&mut self.chains_changed) {
            for thread in self.blocked_donors.clone() {
                if self.book(thread).stalled_on.is_none() {
                    continue;
                }
                let end = self.end_of(thread);
                let book = &self.books[end.0 as usize - 1];
                if end == thread && book.state == State::Blocked {
                    if self.more_are_ready_than_idle() {
                        self.rouse(thread)?;
                    } else if self.book(thread).stalled_on != Some(thread) {
                        self.strike_off(thread);
                        self.stall(thread, thread);
                    }
                } else if book.state == State::Runnable
                    && book.runs_on.is_none()
                    && (end == thread || !book.own_turn)
                    && (end == thread || book.turn_on.is_none())
                {
                    self.rouse(thread)?;
                } else if self.book(thread).stalled_on != Some(end) {
                    self.strike_off(thread);
                    self.stall(thread, end);
                }
            }
        }
        Ok(())
    }

    /// Whether more threads are READY than idle processors will take.
    fn more_are_ready_than_idle(&self) -> bool {
        let idle = self.processors.iter().filter(|processor| processor.turn.is_none()).count();
        self.has_nodes || self.order.len() > 1 || self.schedulers[0].ready > idle
    }

    fn stall(&mut self, thread: ThreadId, end: ThreadId) {
        self.book(thread).stalled_on = Some(end);
        self.book(end).blocked_donors.push(thread);
        self.blocked_donors.push(thread);
    }

    /// Whether the end of a chain can run on that turn. One that lends to nobody can: its wait may be over.
    fn can_run(&self, end: ThreadId, turn: ThreadId) -> bool {
        let book = &self.books[end.0 as usize - 1];
        match book.state {
            State::Lending => true,
            State::Runnable => !book.own_turn || end == turn,
            State::None | State::Blocked | State::Suspended => false,
        }
    }

    fn end_of(&self, thread: ThreadId) -> ThreadId {
        let mut end = thread;
        while let Some(next) = self.books[end.0 as usize - 1].waits_for {
            end = next;
        }
        end
    }

    fn strike_off(&mut self, thread: ThreadId) {
        if let Some(end) = self.book(thread).stalled_on.take() {
            self.book(end).blocked_donors.retain(|one| *one != thread);
            self.blocked_donors.retain(|one| *one != thread);
        }
    }

    fn rouse(&mut self, thread: ThreadId) -> Done {
        self.strike_off(thread);
        self.becomes_ready(thread, self.events.event_raised, State::Lending, Kind::Raised)
    }

    pub(super) fn rouse_all(&mut self, end: ThreadId) -> Done {
        while let Some(first) = self.books[end.0 as usize - 1].blocked_donors.first().copied() {
            self.rouse(first)?;
        }
        Ok(())
    }
}
