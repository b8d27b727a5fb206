//! Donation: who waits for another thread lends it its turns, as `frameworks/native/core/donation.c` has it. Whom a thread waits
//! for is named by a word, as the owner of a lock is.
//!
//! ```text
//! turn ──waits for──► a thread ──waits for──► the one that runs        the chain of a turn: its end runs
//! ```

use catapults_compiler::interp::ThreadId;

use super::members::{State, Waits};
use super::{Done, Kind, Later, Tree};

/// What is raised when whom a thread waits for cannot run.
const LOCK: &str = "block.lock";

impl Tree<'_> {
    /// Whom a word names.
    pub fn word(&self, word: usize) -> Option<ThreadId> {
        self.words.get(word).copied().flatten()
    }

    /// Whether any word names the thread.
    pub fn is_named(&self, thread: ThreadId) -> bool {
        self.words.contains(&Some(thread))
    }

    /// Who waits by a word.
    pub fn waiting_by(&self, word: usize) -> Vec<ThreadId> {
        let waits = |thread: &ThreadId| self.members[thread].waits.by == Some(word);
        self.members.keys().copied().filter(waits).collect()
    }

    /// Whether a thread waits for one that a word names.
    pub fn waits(&self, thread: ThreadId) -> bool {
        self.waits_of(thread).is_some_and(|waits| waits.by.is_some())
    }

    // ---- What the thread that runs does

    /// The word names it from now on, if it named nobody. Else it waits for whom it names, and lends its turns to it, unless that
    /// waits for the caller.
    ///
    /// # Errors
    /// A policy is out.
    pub fn locks(&mut self, word: usize) -> Done {
        let Some(current) = self.running() else { return Ok(()) };
        if self.words.len() <= word {
            self.words.resize(word + 1, None);
        }
        match self.words[word] {
            None => {
                self.words[word] = Some(current);
                Ok(())
            }
            Some(owner) if self.leads_to(owner, current) => Ok(()),
            Some(_) => self.waits_by(current, word),
        }
    }

    /// The word, which names the caller, names somebody who waits by it from now on, or nobody.
    ///
    /// # Errors
    /// A policy is out.
    pub fn unlocks(&mut self, word: usize, heir: Option<ThreadId>) -> Done {
        let Some(current) = self.running() else { return Ok(()) };
        if self.word(word) != Some(current) {
            return Ok(());
        }
        self.words[word] = heir;
        if let Some(heir) = heir.filter(|heir| self.is_blocked(*heir)) {
            self.raise_unblock(heir)?;
        }
        self.preempt()
    }

    /// A thread that waits by a word waits by another one from now on, which names somebody.
    ///
    /// # Errors
    /// A policy is out.
    pub fn redirects(&mut self, thread: ThreadId, word: usize) -> Done {
        let Some(named) = self.word(word) else { return Ok(()) };
        if !self.waits(thread) {
            return Ok(());
        }
        let lending = self.stop_waiting(thread)?;
        let lends = !self.leads_to(named, thread);
        self.change(thread, |waits| (waits.by, waits.lends) = (Some(word), lends));
        if !lending && lends {
            if self.can_run(self.end_of(thread), thread) {
                self.rouse(thread)?;
            } else {
                self.enlist(thread, self.end_of(thread));
            }
            self.rouse_all(thread)?;
        }
        self.preempt()
    }

    fn waits_by(&mut self, current: ThreadId, word: usize) -> Done {
        self.change(current, |waits| (waits.by, waits.lends) = (Some(word), true));
        self.later.insert(current, Later::Waited);
        self.set_state(current, State::Lending);
        let next = self.borrow_turn()?;
        self.note(Kind::SwitchedOut, current);
        self.go_on_with(next)
    }

    /// It waited, and runs again.
    pub(super) fn has_waited(&mut self, thread: ThreadId) -> Done {
        self.change(thread, |waits| (waits.by, waits.lends) = (None, false));
        let Some(member) = self.members.get_mut(&thread) else { return Ok(()) };
        if std::mem::take(&mut member.to_be_suspended) { self.suspends(thread) } else { Ok(()) }
    }

    // ---- Chains

    /// Who is to run on the turn, which is RUNNING. `None`: nobody can; it has been blocked.
    pub(super) fn borrow_turn(&mut self) -> Done<Option<ThreadId>> {
        let Some(turn) = self.turn else { return Ok(None) };
        let end = self.end_of(turn);
        if self.can_run(end, turn) {
            self.set_state(end, State::Runnable);
            return Ok(Some(end));
        }
        self.enlist(turn, end);
        self.stop_running(turn, LOCK)?;
        Ok(None)
    }

    /// The chain of the turn may end in another than who runs.
    pub(super) fn regain(&mut self) -> Done {
        let next = self.borrow_turn()?;
        let Some(current) = self.current.filter(|current| next != Some(*current)) else { return Ok(()) };
        self.note(Kind::SwitchedOut, current);
        self.go_on_with(next)
    }

    fn waits_of(&self, thread: ThreadId) -> Option<&Waits> {
        self.members.get(&thread).map(|member| &member.waits)
    }

    fn change(&mut self, thread: ThreadId, change: impl FnOnce(&mut Waits)) {
        if let Some(member) = self.members.get_mut(&thread) {
            change(&mut member.waits);
        }
    }

    fn waited_for(&self, thread: ThreadId) -> Option<ThreadId> {
        self.word(self.waits_of(thread)?.by?)
    }

    /// Whom the thread lends its turns to.
    fn borrower_of(&self, thread: ThreadId) -> Option<ThreadId> {
        self.waited_for(thread).filter(|borrower| *borrower != thread && self.waits_of(thread).is_some_and(|w| w.lends))
    }

    fn end_of(&self, thread: ThreadId) -> ThreadId {
        let mut end = thread;
        while let Some(next) = self.borrower_of(end) {
            end = next;
        }
        end
    }

    /// One that is LENDING, but to nobody, goes on: what it waited for has happened.
    fn can_run(&self, end: ThreadId, turn: ThreadId) -> bool {
        match self.state(end) {
            Some(State::Lending) => true,
            Some(State::Runnable) => end == turn || self.waits_of(end).is_some_and(|waits| !waits.own_turn),
            Some(State::Blocked | State::Suspended | State::Ended) | None => false,
        }
    }

    /// Whether who waits for the thread would wait for `waiter`.
    fn leads_to(&self, thread: ThreadId, waiter: ThreadId) -> bool {
        let (mut next, mut met) = (Some(thread), Vec::new());
        while let Some(thread) = next.filter(|thread| !met.contains(thread)) {
            if thread == waiter {
                return true;
            }
            met.push(thread);
            next = self.waited_for(thread);
        }
        false
    }

    // ---- Threads that are stalled

    fn enlist(&mut self, thread: ThreadId, end: ThreadId) {
        let mut at = thread;
        while at != end {
            let Some(next) = self.borrower_of(at) else { break };
            self.change(next, |waits| waits.relays = next != end);
            at = next;
        }
        if self.state(end) != Some(State::Ended) {
            self.change(thread, |waits| waits.stalled_on = Some(end));
            self.change(end, |waits| waits.blocked_donors.push(thread));
        }
    }

    fn strike_off(&mut self, thread: ThreadId) {
        if let Some(end) = self.waits_of(thread).and_then(|waits| waits.stalled_on) {
            self.change(end, |waits| waits.blocked_donors.retain(|one| *one != thread));
            self.change(thread, |waits| waits.stalled_on = None);
        }
    }

    fn rouse(&mut self, thread: ThreadId) -> Done {
        self.strike_off(thread);
        self.raise_event(thread, State::Lending)
    }

    /// The thread can run again, or has ended: so can those that are stalled behind it.
    pub(super) fn rouse_all(&mut self, end: ThreadId) -> Done {
        while let Some(first) = self.waits_of(end).and_then(|waits| waits.blocked_donors.first().copied()) {
            let mut at = self.borrower_of(first);
            while let Some(thread) = at.filter(|thread| *thread != end) {
                self.change(thread, |waits| waits.relays = false);
                at = self.borrower_of(thread);
            }
            self.rouse(first)?;
        }
        Ok(())
    }

    /// The thread waits no longer. Whether it was READY or RUNNING to its policy all the time.
    pub(super) fn stop_waiting(&mut self, thread: ThreadId) -> Done<bool> {
        if self.waits_of(thread).is_none_or(|waits| waits.by.is_none()) {
            return Ok(false);
        }
        let lending = self.state(thread) == Some(State::Lending);
        self.change(thread, |waits| (waits.by, waits.lends) = (None, false));
        self.strike_off(thread);
        // Chains through it have changed.
        let mut relayed = false;
        self.change(thread, |waits| relayed = std::mem::take(&mut waits.relays));
        let all: Vec<ThreadId> = if relayed { self.members.keys().copied().collect() } else { Vec::new() };
        for other in all {
            let stalled_on = self.waits_of(other).and_then(|waits| waits.stalled_on);
            if stalled_on.is_some_and(|end| self.end_of(other) != end) {
                self.rouse(other)?;
            }
        }
        Ok(lending)
    }
}
