//! Another policy in the place of one: what it takes over of a thread.

use super::{Machine, ThreadId};
use crate::policy::{Attribute, Entity};

impl Machine<'_> {
    /// A thread that is in hand here has what another policy has kept of it: attributes of the same name and type. Timers are left
    /// out; their instants mean nothing here.
    pub fn inherit(&mut self, thread: ThreadId, before: &Machine) {
        let (Some(slot), Some(old)) = (self.numbers.get(&thread), before.numbers.get(&thread)) else { return };
        let kept = |attribute: &&Attribute| attribute.timer.is_none() && attribute.of == Entity::Thread;
        let attributes = &before.verified.policy().attributes;
        for (index, attribute) in self.verified.policy().attributes.iter().enumerate().filter(|(_, one)| kept(one)) {
            let same = |old: &Attribute| kept(&old) && old.name == attribute.name && old.ty == attribute.ty;
            if let Some(from) = attributes.iter().position(same) {
                self.threads[*slot].attributes[index] = before.threads[*old].attributes[from];
            }
        }
    }
}
