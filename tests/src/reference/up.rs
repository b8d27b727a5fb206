//! Who gives the processor up takes it from all schedulers above; what becomes RUNNABLE, or stops being so, is told upwards.

use catapults_compiler::interp::ThreadId;
use catapults_compiler::vocabulary::Value;

use super::members::State;
use super::{Done, Kind, Tree};

impl Tree<'_> {
    /// What was RUNNING under a scheduler has given the processor up there: so do all schedulers above it.
    pub(super) fn give_up(&mut self, from: usize) -> Done {
        let mut scheduler = from;
        while let Some(parent) = self.schedulers[scheduler].parent {
            let record = self.schedulers[scheduler].record;
            if self.state(record) == Some(State::Runnable) {
                let taken = self.taken_from(record);
                if self.schedulers[scheduler].runnable == 0 {
                    self.raise_at_parent(scheduler, if taken { State::Suspended } else { State::Blocked })?;
                } else if !taken {
                    self.switch_out(record)?;
                }
            }
            scheduler = parent;
        }
        Ok(())
    }

    /// The thread is RUNNING, and cannot go on.
    pub(super) fn stop_running(&mut self, thread: ThreadId, event: &str) -> Done {
        let Some(under) = self.under(thread) else { return Ok(()) };
        self.set_state(thread, State::Blocked);
        self.raise(under, event, &[thread])?;
        self.note(Kind::Blocked, thread);
        self.give_up(under)
    }

    /// Something has happened while the thread whose turn it is was RUNNING: it may have lost the processor, or has it for another.
    pub(super) fn preempt(&mut self) -> Done {
        if self.polling {
            return Ok(());
        }
        if self.preempted()? {
            return self.choose();
        }
        if self.turn == self.current { Ok(()) } else { self.regain() }
    }

    /// Whether it, or a scheduler above it, has lost the processor. All of them have given it up then.
    pub(super) fn preempted(&mut self) -> Done<bool> {
        let way: Vec<ThreadId> = self.turn.into_iter().flat_map(|turn| self.way_up(turn)).collect();
        if !way.iter().any(|member| self.taken_from(*member)) {
            return Ok(false);
        }
        for member in way {
            if self.taken_from(member) {
                self.note(Kind::SwitchedOut, member);
            } else {
                self.switch_out(member)?;
            }
        }
        Ok(true)
    }

    /// Asks all schedulers between a thread and what is RUNNING that it be next, if all of them can be asked.
    pub(super) fn ask_for(&mut self, thread: ThreadId) -> Done {
        let ready = self.state_of_thread(thread).is_some_and(State::is_runnable);
        if !ready || self.turn == Some(thread) {
            return Ok(());
        }
        let running: Vec<ThreadId> = self.turn.into_iter().flat_map(|turn| self.way_up(turn)).collect();
        let asked: Vec<ThreadId> =
            self.way_up(thread).into_iter().take_while(|member| !running.contains(member)).collect();
        for member in &asked {
            let Some(under) = self.under(*member) else { return Ok(()) };
            let possible =
                self.schedulers[under].machine.handles("set_next_thread") && self.can_switch_to(under, *member)?;
            if !possible {
                return Ok(());
            }
        }
        for member in asked {
            if let Some(under) = self.under(member) {
                self.raise(under, "set_next_thread", &[member])?;
            }
        }
        Ok(())
    }

    pub(super) fn can_switch_to(&mut self, scheduler: usize, member: ThreadId) -> Done<bool> {
        self.tell(scheduler, true);
        let asked = &mut self.schedulers[scheduler];
        let answer = asked.machine.ask("can_switch_to", &[member], &mut asked.application);
        answer.map(|answer| answer == Value::Bool(true)).map_err(|stop| Self::stopped(scheduler, "can_switch_to", stop))
    }

    /// Something under a scheduler has become RUNNABLE.
    pub(super) fn gained(&mut self, mut scheduler: usize) -> Done {
        self.schedulers[scheduler].idle = false;
        while let Some(parent) = self.schedulers[scheduler].parent {
            if self.state_of(scheduler) == Some(State::Runnable) {
                break;
            }
            self.raise_at_parent(scheduler, State::Runnable)?;
            scheduler = parent;
        }
        Ok(())
    }

    /// Something under a scheduler has been suspended.
    pub(super) fn lost(&mut self, mut scheduler: usize) -> Done {
        while let Some(parent) = self.schedulers[scheduler].parent {
            if self.schedulers[scheduler].runnable > 0 || self.state_of(scheduler) != Some(State::Runnable) {
                break;
            }
            self.raise_at_parent(scheduler, State::Suspended)?;
            scheduler = parent;
        }
        Ok(())
    }

    /// The record of a scheduler goes over to another state. It wakes by the event that belongs to the one by which it went.
    pub(super) fn raise_at_parent(&mut self, scheduler: usize, state: State) -> Done {
        let Some(parent) = self.schedulers[scheduler].parent else { return Ok(()) };
        let record = self.schedulers[scheduler].record;
        let blocked = self.state(record) == Some(State::Blocked);
        let set_aside = self.members.get(&record).is_some_and(|member| member.set_aside);
        self.set_state(record, state);
        let (event, kind) = match state {
            State::Blocked => ("block.scheduler", Kind::Blocked),
            State::Suspended => ("suspend_thread", Kind::Suspended),
            State::Ended => ("exit", Kind::Exited),
            State::Runnable | State::Lending if blocked && !set_aside => ("event_raised", Kind::Raised),
            State::Runnable | State::Lending => ("resume_thread", Kind::Resumed),
        };
        if let Some(member) = self.members.get_mut(&record).filter(|_| kind == Kind::Resumed) {
            member.set_aside = false;
        }
        self.raise(parent, event, &[record])?;
        self.note(kind, record);
        Ok(())
    }
}
