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
                if self.leads_to(owner, thread) {
                    let name = &self.scenario.threads[self.kind_of(thread)].name;
                    return Err(self.impossible(&format!(
                        "`{name}` waits for a lock, and whoever has it waits for `{name}`: a deadlock"
                    )));
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

    fn leads_to(&self, from: ThreadId, thread: ThreadId) -> bool {
        let mut next = Some(from);
        while let Some(one) = next {
            if one == thread {
                return true;
            }
            next = self.locks.iter().find(|lock| lock.waiting.contains(&one)).and_then(|lock| lock.owner);
        }
        false
    }

    pub(super) fn unlocks(&mut self, processor: usize, thread: ThreadId, lock: usize) -> Done {
        if self.locks[lock].owner != Some(thread) {
            let name = &self.scenario.threads[self.kind_of(thread)].name;
            return Err(self.impossible(&format!("`{name}` unlocks what it has not locked")));
        }
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
