//! Locks: who has one, and who waits for it and lends its turns to the owner.

use std::collections::VecDeque;

use super::super::policy::Runner;
use super::{Done, ThreadId, World};

#[derive(Default)]
pub(super) struct Lock {
    pub(super) owner: Option<ThreadId>,
    waiting: VecDeque<ThreadId>,
}

impl<R: Runner> World<'_, '_, R> {
    /// Whether it has it.
    pub(super) fn locks(&mut self, processor: usize, thread: ThreadId, lock: usize) -> Done<bool> {
        match self.locks[lock].owner {
            None => {
                self.locks[lock].owner = Some(thread);
                Ok(true)
            }
            Some(owner) => {
                if let Some(ring) = self.ring(owner, thread, lock) {
                    return Err(self.impossible(&format!("{}: a deadlock", ring.join("; "))));
                }
                self.locks[lock].waiting.push_back(thread);
                if let Some(live) = self.live_mut(thread) {
                    live.waits = true;
                }
                self.stops(processor);
                self.dispatcher.waits(processor, owner)?;
                Ok(false)
            }
        }
    }

    /// Who waits for whom, if the owner of the lock waits for the thread, which is about to wait for the lock.
    fn ring(&self, owner: ThreadId, thread: ThreadId, lock: usize) -> Option<Vec<String>> {
        let mut ring = vec![self.waiting(thread, lock)];
        let mut next = owner;
        while next != thread {
            let lock = self.locks.iter().position(|lock| lock.waiting.contains(&next))?;
            ring.push(self.waiting(next, lock));
            next = self.locks[lock].owner?;
        }
        Some(ring)
    }

    fn waiting(&self, thread: ThreadId, lock: usize) -> String {
        let (name, line) =
            self.live(thread).map_or(("", 0), |live| (self.scenario.threads[live.kind].name.as_str(), self.line(live)));
        format!("`{name}` waits {} (line {line})", self.for_lock(lock))
    }

    pub(super) fn unlocks(&mut self, processor: usize, thread: ThreadId, lock: usize) -> Done {
        debug_assert_eq!(self.locks[lock].owner, Some(thread), "as the scenario was checked for");
        let heir = self.locks[lock].waiting.pop_front();
        self.locks[lock].owner = heir;
        let Some(heir) = heir else { return Ok(()) };
        let waiting: Vec<ThreadId> = self.locks[lock].waiting.iter().copied().collect();
        self.measures.ready(heir, self.now);
        if let Some(live) = self.live_mut(heir) {
            live.waits = false;
        }
        self.dispatcher.has(heir)?;
        self.is_suspended(heir);
        self.dispatcher.redirects(waiting.into_iter(), heir);
        self.dispatcher.regains(processor)
    }
}
