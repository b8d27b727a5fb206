//! The priority of a thread where the host itself goes by it: a variable of threads that the host keeps, and raises for the owner of a
//! lock, as FreeRTOS does (`xTaskPriorityInherit`, `xTaskPriorityDisinherit`, `vTaskPrioritySet`).

use std::cmp::Ordering;

use catapults_compiler::vocabulary::Value;

use super::super::policy::Runner;
use super::effects::Effect;
use super::{Done, Live, ThreadId, World};

impl<R: Runner> World<'_, '_, R> {
    pub(super) fn urgency(&self, thread: ThreadId) -> i64 {
        self.live(thread).map_or(0, |live| live.urgency)
    }

    /// What a thread begins with: whatever it is given, or else the default of its policy.
    pub(super) fn first_urgency(&self, thread: ThreadId, values: &[(&str, Value)]) -> i64 {
        let Some(variable) = self.kept.urgency.as_deref() else { return 0 };
        let given = values.iter().find(|(name, _)| *name == variable).map(|(_, value)| *value);
        match given.or_else(|| self.dispatcher.value_of(thread, variable)) {
            Some(Value::Int(urgency)) => urgency,
            Some(Value::Bool(_) | Value::Time(_) | Value::Float(_)) | None => 0,
        }
    }

    /// Somebody assigns a variable of a thread; whether its policy is to hear of it. While the owner of a lock has another priority because of that, it keeps the greater.
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
            // Also one that waits still: the kernel does not look.
            Ordering::Greater => self.is_ready(thread),
        }
        changed
    }

    fn of_urgency(&mut self, thread: ThreadId, name: &str, value: Value) -> Option<(&mut Live, i64)> {
        let Value::Int(urgency) = value else { return None };
        let is_it = self.kept.urgency.as_deref() == Some(name);
        self.live_mut(thread).filter(|_| is_it).map(|live| (live, urgency))
    }

    /// The owner of a lock is as urgent as who is about to wait for it. Whoever the owner waits for is not.
    pub(super) fn inherits(&mut self, owner: ThreadId, waiter: ThreadId) -> Done {
        let urgency = self.urgency(waiter);
        if self.urgency(owner) >= urgency {
            return Ok(());
        }
        self.has_urgency(owner, urgency);
        self.says(owner)
    }

    /// It has given a lock back. It is as urgent as before once it has none. Whether it is less so now.
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

    /// The policy hears that the host has changed it.
    pub(super) fn says(&mut self, thread: ThreadId) -> Done {
        if self.live(thread).is_some() { self.dispatcher.tells(thread, self.kept.told) } else { Ok(()) }
    }

    /// It could run from now on: the host may look whether it is more urgent than who does.
    pub(super) fn is_ready(&mut self, thread: ThreadId) {
        if self.kept.preempts {
            self.became_ready.push(thread);
        }
    }

    /// Whom the policy leaves the processor gives it up to who has become ready and is more urgent, or if it is less urgent itself than
    /// it was, as far as the host goes by that. Of one that the policy has taken it from the host says nothing more: it is READY by then.
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
