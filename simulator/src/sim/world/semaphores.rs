//! Semaphores.

use super::super::dispatch::Dispatch;
use super::lines::{Line, Thing};
use super::{Done, ThreadId, World};

pub(super) struct Semaphore {
    pub(super) value: u64,
    pub(super) line: Line,
}

impl<D: Dispatch> World<'_, D> {
    /// Whether the thread goes on.
    pub(super) fn waits_for(&mut self, processor: usize, thread: ThreadId, semaphore: usize) -> Done<bool> {
        let of = &mut self.semaphores[semaphore];
        let given = of.line.is_given(thread);
        if given || of.value > 0 {
            of.line.leaves(thread);
            of.value -= u64::from(!given);
            if let Some(live) = self.live_mut(thread) {
                live.wants = None;
            }
            return Ok(true);
        }
        self.stands_in_line(Thing::Semaphore(semaphore), thread, false);
        self.stops(processor);
        self.blocks_in(processor, self.semaphore_event)?;
        Ok(false)
    }

    pub(super) fn posts(&mut self, semaphore: usize) {
        self.semaphores[semaphore].value += 1;
        let served = self.serves(Thing::Semaphore(semaphore), None, false);
        self.semaphores[semaphore].value -= u64::from(served.is_some_and(|(_, given)| given));
    }
}
