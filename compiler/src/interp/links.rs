//! Links from thread to thread.

use super::step::Step;
use super::{Machine, Slot, Stop, ThreadId};
use crate::policy::{ContainerRef, LinkId, Referent, Thread};

impl Machine<'_> {
    /// The thread that a link of a thread names.
    pub fn linked(&self, thread: ThreadId, link: LinkId) -> Option<ThreadId> {
        let slot = *self.numbers.get(&thread)?;
        self.threads[slot].links[link.0].map(|to| self.threads[to].id)
    }

    /// When a thread ends: no link names it any more.
    pub(super) fn unlink(&mut self, slot: Slot) {
        if self.verified.policy().links.is_empty() {
            return;
        }
        let links = self.threads.iter_mut().flat_map(|thread| &mut thread.links);
        links.filter(|to| **to == Some(slot)).for_each(|to| *to = None);
        self.threads[slot].links.fill(None);
    }
}

impl Step<'_, '_, '_> {
    /// The thread that a link names now.
    pub(super) fn followed(&mut self, thread: Thread, link: LinkId, line: u32) -> Result<Option<Slot>, Stop> {
        let slot = self.thread(thread, line)?;
        Ok(self.machine.threads[slot].links[link.0])
    }

    /// The thread that a link is set to, or compared with.
    pub(super) fn referent(&mut self, to: &Referent, line: u32) -> Result<Option<Slot>, Stop> {
        match to {
            Referent::None => Ok(None),
            Referent::Thread(local) => self.thread(Thread::Local(*local), line).map(Some),
            Referent::Held(slot) => self.held(slot, line),
            Referent::Linked(thread, link) => self.followed(*thread, *link, line),
        }
    }

    fn held(&mut self, slot: &ContainerRef, line: u32) -> Result<Option<Slot>, Stop> {
        let slot = self.container(slot, line)?;
        Ok(self.machine.first(slot))
    }
}
