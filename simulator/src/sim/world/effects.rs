//! What threads cause for others, in no time: it happens when all that run have come to compute, to wait, or to the end of their jobs. So
//! nobody is interrupted who has nothing left to compute.

use catapults_compiler::scenario::Phase;

use super::super::policy::Runner;
use super::lines::Told;
use super::{Done, ThreadId, World};

/// What happens to others. The dispatcher, and so the policy, hears of it after whatever its cause does at this instant.
#[derive(Clone, Debug)]
pub(super) enum Effect {
    /// What these waited for has come.
    Wakes(Vec<ThreadId>),
    /// A lock was left on this processor, where whoever waits for it may have lent the turn.
    Left(usize),
    /// What these waited for may be free, or is theirs.
    Told(Told),
    /// The host has changed a variable of the thread.
    Changed(ThreadId),
    /// A thread of a kind is created, in this generation of those that were at this instant.
    Creates { kind: usize, processor: usize, generation: usize },
    /// All threads of a kind.
    Suspends(usize),
    /// See above.
    Resumes(usize),
    /// The policy hears of the beginning of a job of this thread, which does not wait for it.
    Releases(ThreadId),
    /// It hears that this thread, in its life of this number, has changed a variable of its own.
    Changes(ThreadId, u64),
}

impl<R: Runner> World<'_, '_, R> {
    pub(super) fn causes(&mut self, effect: Effect) {
        match (self.effects.last_mut(), effect) {
            // All at once.
            (Some(Effect::Wakes(threads)), Effect::Wakes(others)) => threads.extend(others),
            (_, effect) => self.effects.push(effect),
        }
    }

    /// In the order in which they were caused. Who waited for that goes on.
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
                // Else it goes on when it runs again.
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
            Effect::Creates { kind, processor, generation } => self.create(kind, processor, generation),
            Effect::Suspends(kind) => self.suspends(kind),
            Effect::Resumes(kind) => self.resumes(kind),
            Effect::Releases(thread) => self.dispatcher.releases(thread),
            // One that has ended meanwhile has changed nothing that matters.
            Effect::Changes(thread, life) if self.live(thread).is_some_and(|live| live.life == life) => {
                self.dispatcher.changes(thread)
            }
            Effect::Changes(..) => Ok(()),
        }
    }

    /// Takes out what its policy has yet to hear of variables that the thread itself has changed.
    pub(super) fn own_changes(&mut self, thread: ThreadId) -> Vec<Effect> {
        let effects = std::mem::take(&mut self.effects).into_iter();
        let (own, others) =
            effects.partition(|effect| matches!(effect, Effect::Changes(changed, _) if *changed == thread));
        self.effects = others;
        own
    }

    /// Whether what the thread has caused must happen before it does this: it asks for what the effects change, or it runs on
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
            // Who is told that something is free may want this one, too: nobody waits twice for whoever is less urgent. And one that
            // has changed a variable of its own may have lost the processor by it.
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
