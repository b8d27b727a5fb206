//! A decision goes down from the root, to a thread.

use catapults_compiler::interp::ThreadId;

use super::members::State;
use super::{Done, Kind, Later, Tree, Waiting};

impl Tree<'_> {
    pub(super) fn wait_to_choose(&mut self) -> Done {
        if self.schedulers[0].runnable == 0 {
            self.waiting = Waiting::ToChoose;
            return Ok(());
        }
        self.choose()
    }

    /// Decides who is next. Something is RUNNABLE, nothing is RUNNING.
    pub(super) fn choose(&mut self) -> Done {
        self.polling = true;
        self.expire_all()?;
        self.polling = false;
        self.descend(0)
    }

    /// Asks a scheduler, and whatever it dispatches, down to a thread.
    pub(super) fn descend(&mut self, from: usize) -> Done {
        let mut scheduler = from;
        loop {
            let dispatched = self.raise(scheduler, "schedule", &[])?;
            let member = dispatched.and_then(|thread| Some((thread, self.members.get(&thread)?)));
            match member.map(|(thread, member)| (thread, member.state, member.scheduler)) {
                Some((record, State::Runnable, Some(below))) if !self.schedulers[below].leaving => {
                    self.note(Kind::Dispatched, record);
                    scheduler = below;
                    continue;
                }
                Some((_, State::Runnable, Some(leaving))) => scheduler = self.give_back(leaving)?,
                Some((thread, State::Runnable | State::Lending, None)) => {
                    self.turn = Some(thread);
                    if let Some(end) = self.borrow_turn()? {
                        return self.run(end);
                    }
                    // All have given the processor up with it.
                    scheduler = 0;
                }
                Some(_) => return Err(Self::broken(scheduler, "it dispatched a thread that is not ready")),
                None if self.schedulers[scheduler].parent.is_none() => {
                    self.waiting = Waiting::Once;
                    return Ok(());
                }
                None => {
                    self.schedulers[scheduler].idle = true;
                    scheduler = self.give_back(scheduler)?;
                }
            }
            if self.schedulers[scheduler].runnable == 0 {
                self.waiting = Waiting::ToAsk;
                return Ok(());
            }
        }
    }

    /// The thread has the processor, on whose turn ever. What it left to be done is done first.
    pub(super) fn run(&mut self, thread: ThreadId) -> Done {
        self.note(Kind::Dispatched, thread);
        self.current = Some(thread);
        let (turn, current) = (self.turn, self.current);
        self.members
            .retain(|number, member| member.state != State::Ended || Some(*number) == turn || Some(*number) == current);
        match self.later.remove(&thread) {
            None => Ok(()),
            Some(Later::Waited) => self.has_waited(thread),
            Some(Later::Exit) => self.exits(),
            Some(Later::Attach(to)) => self.attaches(to, &[]),
        }
    }

    /// `None`: whoever is chosen.
    pub(super) fn go_on_with(&mut self, next: Option<ThreadId>) -> Done {
        match next {
            Some(next) => self.run(next),
            None => self.wait_to_choose(),
        }
    }

    /// Who ran on the turn of another stops: somebody else does, unless that has lost the processor.
    pub(super) fn turn_goes_on(&mut self) -> Done {
        let next = if self.preempted()? { None } else { self.borrow_turn()? };
        self.go_on_with(next)
    }

    /// For an event of the running thread: who lends to it is stalled, and roused afterwards.
    pub(super) fn awaits_own_turn(&mut self, thread: ThreadId, later: Later) -> Done {
        self.later.insert(thread, later);
        if let Some(member) = self.members.get_mut(&thread) {
            member.waits.own_turn = true;
        }
        let next = self.borrow_turn()?;
        self.go_on_with(next)
    }

    pub(super) fn has_own_turn(&mut self, thread: ThreadId) {
        if let Some(member) = self.members.get_mut(&thread) {
            member.waits.own_turn = false;
        }
    }

    /// A scheduler that was dispatched ends, or has nothing to run. The nearest one above that has something else, or the root.
    pub(super) fn give_back(&mut self, mut scheduler: usize) -> Done<usize> {
        while let Some(parent) = self.schedulers[scheduler].parent {
            if self.schedulers[scheduler].leaving {
                self.end(scheduler)?;
            } else {
                self.raise_at_parent(scheduler, State::Blocked)?;
            }
            scheduler = parent;
            if self.schedulers[scheduler].runnable > 0 {
                break;
            }
        }
        Ok(scheduler)
    }

    /// Schedulers that dispatched nothing are asked again when something has happened.
    pub(super) fn wake_idle(&mut self) -> Done {
        for scheduler in self.order.clone() {
            if self.schedulers[scheduler].idle && self.schedulers[scheduler].runnable > 0 {
                self.gained(scheduler)?;
            }
        }
        Ok(())
    }

    /// Raises the events of the timers whose instant has come.
    pub(super) fn expire_all(&mut self) -> Done {
        /// One that is armed anew for an instant that is past shall let the threads run.
        const MOST: usize = 64;
        for scheduler in self.order.clone() {
            for _ in 0..MOST {
                let due = self.schedulers[scheduler].machine.next_timeout();
                let Some(due) = due.filter(|due| due.instant <= self.now) else { break };
                self.raise(scheduler, due.event, &[due.thread])?;
                if self.schedulers[scheduler].idle {
                    self.gained(scheduler)?;
                }
            }
        }
        Ok(())
    }
}
