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

    /// The link of a thread names this one from now on, or none.
    pub(super) fn set_link(&mut self, slot: Slot, link: usize, to: Option<Slot>) {
        let before = std::mem::replace(&mut self.threads[slot].links[link], to);
        if let Some(before) = before {
            self.links.remove(&(before, slot, link));
        }
        if let Some(to) = to {
            self.links.insert((to, slot, link));
        }
    }

    /// How many links a thread has, and how many name it.
    pub(super) fn links_of(&self, slot: Slot) -> u64 {
        let naming = self.links.range((slot, 0, 0)..).take_while(|(to, ..)| *to == slot).count();
        (self.threads[slot].links.len() + naming) as u64
    }

    /// A thread ends: its links name nobody, and no link names it.
    pub(super) fn unlink(&mut self, slot: Slot) {
        for link in 0..self.threads[slot].links.len() {
            self.set_link(slot, link, None);
        }
        while let Some((_, owner, link)) =
            self.links.range((slot, 0, 0)..).next().copied().filter(|(to, ..)| *to == slot)
        {
            self.set_link(owner, link, None);
        }
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
