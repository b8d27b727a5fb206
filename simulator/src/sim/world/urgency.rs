//! Priorities by which the host itself goes: a thread variable that it keeps, and raises for the owner of a lock, as
//! FreeRTOS does (`xTaskPriorityInherit`, `xTaskPriorityDisinherit`, `vTaskPrioritySet`).

use std::cmp::Ordering;

use catapults_compiler::vocabulary::Value;

use super::super::dispatch::Dispatch;
use super::effects::Effect;
use super::{Done, Live, ThreadId, World};

impl<D: Dispatch> World<'_, D> {
    pub(super) fn urgency(&self, thread: ThreadId) -> i64 {
        self.live(thread).map_or(0, |live| live.urgency)
    }

    /// The priority with which a thread begins: the given one, or its policy's default.
    pub(super) fn first_urgency(&self, thread: ThreadId, values: &[(&str, Value)]) -> i64 {
        let Some(variable) = self.kept.urgency.as_deref() else { return 0 };
        let given = values.iter().find(|(name, _)| *name == variable).map(|(_, value)| *value);
        match given.or_else(|| self.dispatcher.value_of(thread, variable)) {
            Some(Value::Int(urgency)) => urgency,
            Some(Value::Bool(_) | Value::Time(_) | Value::Float(_)) | None => 0,
        }
    }

    /// Assigns a thread's variable. Whether its policy must be told. An inherited priority is kept if it is greater.
    pub(super) fn assigns(&mut self, thread: ThreadId, name: &str, value: Value) -> bool {
        let Some((live, urgency)) = self.of_urgency(thread, name, value) else {
            return self.dispatcher.assign(thread, name, value);
        };
        let (inherits, before) = (live.urgency != live.own_urgency, live.own_urgency);
        live.own_urgency = urgency;
        let rises = !inherits || urgency > live.urgency;
        if rises {
            live.urgency = urgency;
        }
        let changed = rises && self.dispatcher.assign(thread, name, value);
        match urgency.cmp(&before) {
            Ordering::Less => self.fell.push(thread),
            Ordering::Equal => {}
            // Even if it still waits: the kernel does not check that.
            Ordering::Greater => self.is_ready(thread),
        }
        changed
    }

    fn of_urgency(&mut self, thread: ThreadId, name: &str, value: Value) -> Option<(&mut Live, i64)> {
        let Value::Int(urgency) = value else { return None };
        let is_it = self.kept.urgency.as_deref() == Some(name);
        self.live_mut(thread).filter(|_| is_it).map(|live| (live, urgency))
    }

    /// A lock's owner inherits the priority of a thread about to wait for it. Owners for which that owner waits do not.
    pub(super) fn inherits(&mut self, owner: ThreadId, waiter: ThreadId) -> Done {
        let urgency = self.urgency(waiter);
        if self.urgency(owner) >= urgency {
            return Ok(());
        }
        self.has_urgency(owner, urgency);
        self.says(owner)
    }

    /// The thread has released a lock. With its last lock, it loses what it has inherited. Whether it has.
    pub(super) fn disinherits(&mut self, thread: ThreadId) -> bool {
        let fallen = self.live(thread).filter(|live| live.held.is_empty() && live.urgency != live.own_urgency);
        let Some(own) = fallen.map(|live| live.own_urgency) else { return false };
        self.has_urgency(thread, own);
        self.causes(Effect::Changed(thread));
        true
    }

    fn has_urgency(&mut self, thread: ThreadId, urgency: i64) {
        if let Some(live) = self.live_mut(thread) {
            live.urgency = urgency;
        }
        if let Some(variable) = self.kept.urgency.clone() {
            self.dispatcher.assign(thread, &variable, Value::Int(urgency));
        }
    }

    /// Tells the policy that the host has changed the variable.
    pub(super) fn says(&mut self, thread: ThreadId) -> Done {
        if self.live(thread).is_some() { self.dispatcher.tells(thread, self.kept.told) } else { Ok(()) }
    }

    /// The thread could run from now on. The host will look whether it is more urgent than a running one.
    pub(super) fn is_ready(&mut self, thread: ThreadId) {
        if self.kept.preempts {
            self.became_ready.push(thread);
        }
    }

    /// A running thread that the policy leaves the processor loses it to a more urgent thread that has become ready, or
    /// if it became less urgent itself, if the host preempts. A thread that the policy has preempted is READY; the host
    /// does nothing more.
    pub(super) fn host_preempts(&mut self) -> Done {
        let (ready, fell) = (std::mem::take(&mut self.became_ready), std::mem::take(&mut self.fell));
        if !self.kept.preempts {
            return Ok(());
        }
        for processor in 0..self.processors.len() {
            let Some(current) = self.dispatcher.current(processor) else { continue };
            if self.dispatcher.has_lost(processor) {
                continue;
            }
            let mine = self.urgency(current);
            if fell.contains(&current) || ready.iter().any(|thread| self.urgency(*thread) > mine) {
                self.gives_up(processor);
                self.dispatcher.yields(processor)?;
            }
        }
        Ok(())
    }
}
