//! What a policy takes over of a thread when it replaces another policy.

use super::{Machine, ThreadId};
use crate::policy::{Attribute, Entity};

impl Machine<'_> {
    /// Gives a thread in hand what another policy has kept for it: the attributes with the same name and type. Timers
    /// are left out; their instants mean nothing here.
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
