//! Says which threads are left when nothing happens any more, and what each waits for.

use catapults_compiler::scenario::Phase;

use super::super::dispatch::Dispatch;
use super::{Ending, Live, ThreadId, World};

impl<D: Dispatch> World<'_, D> {
    /// Nothing happens any more.
    pub(super) fn left(&self) -> Ending {
        match (self.living, self.scenario.duration) {
            (0, _) => Ending::AllEnded,
            (_, Some(_)) => Ending::Duration,
            (_, None) => Ending::Stuck(self.who_is_left()),
        }
    }

    /// `low (for the lock `m`, which `high` has; line 4)`
    fn who_is_left(&self) -> Vec<String> {
        let living = (1_u32..).zip(&self.lives).filter_map(|(number, live)| Some((ThreadId(number), live.as_ref()?)));
        living
            .map(|(thread, live)| format!("{} ({})", self.scenario.threads[live.kind].name, self.why(thread, live)))
            .collect()
    }

    fn why(&self, thread: ThreadId, live: &Live) -> String {
        if self.dispatcher.is_suspended(thread) {
            return "suspended".to_owned();
        }
        let scenario = self.scenario;
        let waits = match self.waits_in_phase(live) {
            Some(Phase::Lock(lock)) => self.for_lock(*lock),
            Some(Phase::Wait(semaphore)) => format!("for the semaphore `{}`", scenario.semaphores[*semaphore].name),
            Some(Phase::Receive(port)) => format!("for a message at `{}`", scenario.ports[*port]),
            Some(Phase::Barrier(barrier)) => format!("at the barrier `{}`", scenario.barriers[*barrier].name),
            Some(Phase::Join(other)) => format!("for the end of `{}`", scenario.threads[*other].name),
            Some(_) | None => return "ready, and not dispatched".to_owned(),
        };
        format!("{waits}; line {}", self.line(live))
    }

    pub(super) fn for_lock(&self, lock: usize) -> String {
        let name = &self.scenario.locks[lock].name;
        match self.locks[lock].owner {
            Some(owner) => {
                let owner = &self.scenario.threads[self.kind_of(owner)].name;
                format!("for the lock `{name}`, which `{owner}` has")
            }
            None => format!("for the lock `{name}`"),
        }
    }

    /// The phase in which the thread waits.
    fn waits_in_phase(&self, live: &Live) -> Option<&Phase> {
        let place = live.phase.checked_sub(1).filter(|_| live.waits)?;
        self.scenario.threads[live.kind].phases.get(place)
    }

    /// The scenario's line of the phase that the thread began last.
    pub(super) fn line(&self, live: &Live) -> u32 {
        let places = &self.scenario.threads[live.kind].places;
        places.get(live.phase.saturating_sub(1)).map_or(0, |at| at.line)
    }
}
