//! What threads cause for others in no time. It happens once all running threads compute, wait, or have ended their
//! jobs. So no thread that has nothing left to compute is interrupted.

use catapults_compiler::scenario::Phase;

use super::super::dispatch::Dispatch;
use super::lines::Told;
use super::{Done, ThreadId, World};

/// An effect on others. The dispatcher, and so the policy, hears of it after all that its cause does at this instant.
#[derive(Clone, Debug)]
pub(super) enum Effect {
    /// The waits of these threads are over.
    Wakes(Vec<ThreadId>),
    /// A lock was unlocked on this processor. Its turn may be lent by a thread that waits for the lock.
    Left(usize),
    /// What this thread waits for may be free, or was given to it.
    Told(Told),
    /// The host has changed a variable of the thread.
    Changed(ThreadId),
    /// A thread of this kind is created; see `Live` for its generation.
    Creates { kind: usize, processor: usize, generation: usize },
    /// All threads of a kind are suspended.
    Suspends(usize),
    /// All threads of a kind are resumed.
    Resumes(usize),
    /// The policy is told that this thread, which did not have to wait, begins a job.
    Releases(ThreadId),
    /// The policy is told that this thread, in the life of this number, has changed a variable of its own.
    Changes(ThreadId, u64),
}

impl<D: Dispatch> World<'_, D> {
    pub(super) fn causes(&mut self, effect: Effect) {
        match (self.effects.last_mut(), effect) {
            // All are woken at once.
            (Some(Effect::Wakes(threads)), Effect::Wakes(others)) => threads.extend(others),
            (_, effect) => self.effects.push(effect),
        }
    }

    /// Effects happen in the order in which they were caused. Then the threads go on that were held up by them.
    pub(super) fn effects_happen(&mut self) -> Done {
        while !self.effects.is_empty() || !self.held_up.is_empty() {
            for effect in std::mem::take(&mut self.effects) {
                self.happens_to_others(effect)?;
            }
            self.host_preempts()?;
            if !self.held_up.is_empty() {
                self.dispatcher.preempted_at_last()?;
            }
            for (processor, thread) in std::mem::take(&mut self.held_up) {
                // Otherwise it goes on when it runs again.
                if self.processors.get(processor).is_some_and(|cpu| cpu.running == Some(thread)) {
                    self.run_instantaneous(processor)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn happens_to_others(&mut self, effect: Effect) -> Done {
        match effect {
            Effect::Wakes(threads) => self.wakes(&threads),
            Effect::Left(processor) => self.dispatcher.regains(processor),
            Effect::Told(told) => self.hears(&told),
            Effect::Changed(thread) => self.says(thread),
            Effect::Creates { kind, processor, generation } => self.create(kind, processor, self.now, generation),
            Effect::Suspends(kind) => self.suspends(kind),
            Effect::Resumes(kind) => self.resumes(kind),
            Effect::Releases(thread) => self.dispatcher.releases(thread),
            // If it has ended, its changes do not matter.
            Effect::Changes(thread, life) if self.live(thread).is_some_and(|live| live.life == life) => {
                self.dispatcher.changes(thread)
            }
            Effect::Changes(..) => Ok(()),
        }
    }

    /// Takes out the changes of the thread's own variables of which its policy is yet to be told.
    pub(super) fn own_changes(&mut self, thread: ThreadId) -> Vec<Effect> {
        let effects = std::mem::take(&mut self.effects).into_iter();
        let (own, others) =
            effects.partition(|effect| matches!(effect, Effect::Changes(changed, _) if *changed == thread));
        self.effects = others;
        own
    }

    /// Whether the effects must happen before the thread begins this phase: it asks for what they change, or it runs on
    /// a turn that it must give back first.
    pub(super) fn is_held_up(&self, processor: usize, thread: ThreadId, phase: &Phase) -> bool {
        if self.effects.is_empty() {
            return false;
        }
        if self.live(thread).is_some_and(|live| live.gives_up && !self.has_nothing_left(live)) {
            return true;
        }
        let on_lent_turn = !self.dispatcher.is_on_own_turn(processor);
        match phase {
            Phase::Yield | Phase::YieldTo(_) => true,
            Phase::Suspend(other) => *other == self.kind_of(thread),
            Phase::Join(other) => {
                let creates = |effect: &Effect| matches!(effect, Effect::Creates { kind, .. } if kind == other);
                on_lent_turn || self.effects.iter().any(creates)
            }
            // The next thread that is told may want this, too: no thread waits twice for a less urgent one. And a
            // change of its own variable may have cost the thread the processor.
            Phase::Lock(_) | Phase::Wait(_) => {
                let before = |effect: &Effect| {
                    matches!(effect, Effect::Told(_))
                        || matches!(effect, Effect::Changes(changed, _) if *changed == thread)
                };
                on_lent_turn || self.effects.iter().any(before)
            }
            Phase::End | Phase::Exit | Phase::Block(..) | Phase::Timer(..) | Phase::Barrier(_) | Phase::Receive(_) => {
                on_lent_turn
            }
            Phase::Run(_)
            | Phase::Unlock(_)
            | Phase::Post(_)
            | Phase::Send(_)
            | Phase::Signal(_)
            | Phase::Broadcast(_)
            | Phase::Spawn(_)
            | Phase::Resume(_)
            | Phase::Set(_)
            | Phase::Jump(_)
            | Phase::Again(_)
            | Phase::Repeat { .. } => false,
        }
    }
}
