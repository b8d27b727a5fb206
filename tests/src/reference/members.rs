//! Threads, and schedulers as the threads that they are to their parents: the host's book on each.

use catapults_compiler::interp::{Position, Stop, ThreadId};
use catapults_compiler::policy::StateClass;
use catapults_compiler::vocabulary::Value;

use super::{Done, Kind, Out, Tree};

/// A thread, or a scheduler to its parent.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) under: usize,
    pub(super) state: State,
    /// The scheduler that it is.
    pub(super) scheduler: Option<usize>,
    /// As soon as it is blocked no longer.
    pub(super) to_be_suspended: bool,
    /// Its policy was told `suspend_thread` when it blocked, and is to be told `resume_thread`.
    pub(super) set_aside: bool,
    pub(super) waits: Waits,
}

/// For whom a thread waits, and who is blocked until it can go on: see `donation.rs`.
#[derive(Clone, Debug, Default)]
pub(super) struct Waits {
    /// The word that names whom it waits for.
    pub(super) by: Option<usize>,
    /// Whom it waits for is to run on its turns.
    pub(super) lends: bool,
    /// It is to run on a turn of its own only.
    pub(super) own_turn: bool,
    /// A thread that is stalled may be so behind this one.
    pub(super) relays: bool,
    /// The end of its chain, which cannot run.
    pub(super) stalled_on: Option<ThreadId>,
    /// Those whose end it is; who came first leaves first.
    pub(super) blocked_donors: Vec<ThreadId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Runnable,
    /// It waits, and is READY or RUNNING to its policy: another runs on its turns.
    Lending,
    Blocked,
    Suspended,
    /// It is remembered until somebody else runs.
    Ended,
}

impl State {
    /// Whether it is READY or RUNNING to its policy.
    pub(super) fn is_runnable(self) -> bool {
        match self {
            State::Runnable | State::Lending => true,
            State::Blocked | State::Suspended | State::Ended => false,
        }
    }
}

impl Tree<'_> {
    /// A new number, known to the policy by no event yet.
    pub(super) fn enrol(&mut self, under: usize, scheduler: Option<usize>) -> Done<ThreadId> {
        self.numbers += 1;
        let number = ThreadId(self.numbers);
        self.schedulers[under].runnable += 1;
        self.members.insert(
            number,
            Member {
                under,
                state: State::Runnable,
                scheduler,
                to_be_suspended: false,
                set_aside: false,
                waits: Waits::default(),
            },
        );
        self.spawn(under, number).map_err(|stop| Self::stopped(under, "newthread", stop))?;
        Ok(number)
    }

    /// In the policy's hands.
    pub(super) fn spawn(&mut self, under: usize, number: ThreadId) -> Result<(), Stop> {
        let scheduler = &mut self.schedulers[under];
        scheduler.application.forget(number);
        scheduler.machine.spawn(number)?;
        scheduler.charge_from_now(number);
        Ok(())
    }

    /// With values for those variables of threads that the policy there imports.
    pub(super) fn give(&mut self, scheduler: usize, thread: ThreadId, values: &[(&str, Value)]) -> Done {
        for (name, value) in values {
            let of = &mut self.schedulers[scheduler];
            if of.policy().thread_imports.iter().any(|import| import.name == *name) {
                let set = of.application.set_of_thread(of.verified.policy(), thread, name, *value);
                set.map_err(|why| Out { scheduler, event: "newthread".to_owned(), why })?;
            }
        }
        Ok(())
    }

    pub(super) fn admit(&mut self, scheduler: usize, values: &[(&str, Value)]) -> Done<ThreadId> {
        let thread = self.enrol(scheduler, None)?;
        self.give(scheduler, thread, values)?;
        match self.raised(scheduler, "newthread", &[thread]) {
            Err(Stop::Fail { .. }) => {
                self.schedulers[scheduler].machine.discard(thread);
                self.schedulers[scheduler].runnable -= 1;
                self.members.remove(&thread);
                return Ok(thread);
            }
            Err(stop) => return Err(Self::stopped(scheduler, "newthread", stop)),
            Ok(_) => {}
        }
        self.note(Kind::New, thread);
        self.gained(scheduler)?;
        Ok(thread)
    }

    pub(super) fn raise_suspend(&mut self, thread: ThreadId) -> Done {
        let Some(under) = self.under(thread) else { return Ok(()) };
        self.set_state(thread, State::Suspended);
        self.raise(under, "suspend_thread", &[thread])?;
        self.note(Kind::Suspended, thread);
        self.lost(under)
    }

    /// The thread is READY to its policy again, which knew it as blocked.
    pub(super) fn raise_event(&mut self, thread: ThreadId, state: State) -> Done {
        let Some(member) = self.members.get_mut(&thread) else { return Ok(()) };
        let (under, set_aside) = (member.under, std::mem::take(&mut member.set_aside));
        self.set_state(thread, state);
        self.raise(under, if set_aside { "resume_thread" } else { "event_raised" }, &[thread])?;
        self.note(Kind::Raised, thread);
        self.gained(under)
    }

    pub(super) fn raise_unblock(&mut self, thread: ThreadId) -> Done {
        if self.stop_waiting(thread)? {
            self.set_state(thread, State::Runnable);
            return Ok(());
        }
        self.raise_event(thread, State::Runnable)?;
        self.rouse_all(thread)?;
        let Some(member) = self.members.get_mut(&thread) else { return Ok(()) };
        if std::mem::take(&mut member.to_be_suspended) {
            self.raise_suspend(thread)?;
        }
        Ok(())
    }

    pub(super) fn switch_out(&mut self, member: ThreadId) -> Done {
        let Some(under) = self.under(member) else { return Ok(()) };
        self.raise(under, "switch_out", &[member])?;
        self.note(Kind::SwitchedOut, member);
        Ok(())
    }

    /// Whether the policy has taken the processor from what was RUNNING, by moving it to a READY container.
    pub(super) fn taken_from(&self, member: ThreadId) -> bool {
        let Some(under) = self.under(member) else { return false };
        let scheduler = &self.schedulers[under];
        match scheduler.machine.position(member) {
            Some(Position::In(container)) => scheduler.policy().containers[container.0].class == StateClass::Ready,
            Some(Position::Hand) | None => false,
        }
    }

    /// A thread, the scheduler that it is under as a member of the one above, and so on, but for the root.
    pub(super) fn way_up(&self, thread: ThreadId) -> Vec<ThreadId> {
        let mut way = vec![thread];
        let mut scheduler = self.under(thread);
        while let Some(index) = scheduler.filter(|index| self.schedulers[*index].parent.is_some()) {
            way.push(self.schedulers[index].record);
            scheduler = self.schedulers[index].parent;
        }
        way
    }

    pub(super) fn under(&self, number: ThreadId) -> Option<usize> {
        self.members.get(&number).map(|member| member.under)
    }

    /// What a member is; `None` for a thread that there is not.
    pub(super) fn state(&self, number: ThreadId) -> Option<State> {
        self.members.get(&number).map(|member| member.state)
    }

    /// The same of a thread that has not ended; `None` for a scheduler.
    pub(super) fn state_of_thread(&self, number: ThreadId) -> Option<State> {
        let member = self.members.get(&number).filter(|member| member.scheduler.is_none())?;
        Some(member.state).filter(|state| *state != State::Ended)
    }

    pub(super) fn state_of(&self, scheduler: usize) -> Option<State> {
        self.state(self.schedulers[scheduler].record)
    }

    pub(super) fn set_state(&mut self, number: ThreadId, state: State) {
        let Some(member) = self.members.get_mut(&number) else { return };
        let runnable = &mut self.schedulers[member.under].runnable;
        *runnable -= usize::from(member.state.is_runnable());
        *runnable += usize::from(state.is_runnable());
        member.state = state;
    }
}
