//! Locks: who owns one, and what its protocol does for the owner while others wait.

use catapults_compiler::framework::{self, Framework, Inheritance};
use catapults_compiler::scenario::{Lock as Said, Protocol};
use catapults_compiler::vocabulary::Value;

use super::super::dispatch::Dispatch;
use super::super::policy::EventId;
use super::effects::Effect;
use super::lines::{Line, Thing};
use super::{Done, ThreadId, World};

pub(super) struct Lock {
    pub(super) owner: Option<ThreadId>,
    pub(super) line: Line,
    acts: Acts,
}

/// What a lock does for its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Acts {
    Not,
    /// Waiting threads lend it their turns.
    Lends,
    /// The host raises its variable to the waiting thread's.
    Raises,
    Ceiling(i64),
}

/// The variables of threads that the host keeps because of locks.
#[derive(Default)]
pub(super) struct Kept {
    /// Orders waiting threads, and may be raised.
    pub(super) urgency: Option<String>,
    /// A thread that becomes ready and is more urgent preempts the running one.
    pub(super) preempts: bool,
    /// The event that tells of each change of `urgency`.
    pub(super) told: Option<EventId>,
    ceiling: Option<String>,
}

impl Kept {
    pub(super) fn new(framework: &Framework, dispatcher: &impl Dispatch) -> Self {
        let locks = framework.locks.as_ref();
        let urgency = framework.urgency().map(str::to_owned);
        let mut kept = Kept { urgency, preempts: framework.preempts.is_some(), ..Kept::default() };
        for protocol in locks.into_iter().flat_map(|locks| &locks.protocols) {
            match protocol {
                framework::Protocol::Inheritance(Inheritance::Raises { event: Some(event), .. }) => {
                    kept.told = dispatcher.event(event);
                }
                framework::Protocol::Ceiling(variable) => kept.ceiling = Some(variable.clone()),
                framework::Protocol::None | framework::Protocol::Inheritance(_) => {}
            }
        }
        kept
    }
}

impl Lock {
    pub(super) fn new(said: &Said, framework: &Framework) -> Self {
        let mut protocols = framework.locks.iter().flat_map(|locks| &locks.protocols);
        let acts = match said.protocol {
            Protocol::None => Acts::Not,
            Protocol::Ceiling(ceiling) => Acts::Ceiling(ceiling),
            Protocol::Inheritance => {
                let raises = |protocol: &framework::Protocol| {
                    matches!(protocol, framework::Protocol::Inheritance(Inheritance::Raises { .. }))
                };
                if protocols.any(raises) { Acts::Raises } else { Acts::Lends }
            }
        };
        Lock { owner: None, line: Line::default(), acts }
    }
}

impl<D: Dispatch> World<'_, D> {
    /// Whether the thread has the lock now.
    pub(super) fn locks(&mut self, processor: usize, thread: ThreadId, lock: usize) -> Done<bool> {
        if self.locks[lock].owner.is_none() && self.is_behind(Thing::Lock(lock), thread) {
            self.goes_to_the_next(lock, None, true);
        }
        let Some(owner) = self.locks[lock].owner.filter(|owner| *owner != thread) else {
            self.takes(thread, lock);
            return Ok(true);
        };
        if let Some(ring) = self.ring(owner, thread, lock) {
            return Err(self.impossible(&format!("{}: a deadlock", ring.join("; "))));
        }
        let lends = match self.locks[lock].acts {
            Acts::Lends => true,
            // The ceiling makes its owner urgent enough, unless the owner's policy does not import ceilings.
            Acts::Ceiling(_) => !self.knows_ceilings(owner),
            Acts::Raises => {
                self.inherits(owner, thread)?;
                false
            }
            Acts::Not => false,
        };
        self.stands_in_line(Thing::Lock(lock), thread, lends);
        self.stops(processor);
        if lends {
            self.dispatcher.waits(processor, owner)?;
        } else {
            self.blocks_in(processor, self.lock_event)?;
        }
        Ok(false)
    }

    fn takes(&mut self, thread: ThreadId, lock: usize) {
        if !self.locks[lock].line.has(thread) {
            self.passes_over(Thing::Lock(lock));
        }
        self.locks[lock].owner = Some(thread);
        self.locks[lock].line.leaves(thread);
        let lenders = self.locks[lock].line.lenders();
        self.dispatcher.redirects(&lenders, Some(thread));
        if let Some(live) = self.live_mut(thread) {
            live.wants = None;
            live.held.push(lock);
        }
        if matches!(self.locks[lock].acts, Acts::Ceiling(_)) {
            self.has_ceiling(thread);
        }
    }

    /// The ring of waits, if the lock's owner waits, perhaps through others, for the thread that wants the lock.
    fn ring(&self, owner: ThreadId, thread: ThreadId, lock: usize) -> Option<Vec<String>> {
        let mut ring = vec![self.waiting(thread, lock)];
        let mut next = owner;
        while next != thread {
            let lock = self.locks.iter().position(|lock| lock.line.holds_up(next))?;
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

    pub(super) fn unlocks(&mut self, processor: usize, thread: ThreadId, lock: usize) {
        assert_eq!(self.locks[lock].owner, Some(thread), "as the scenario was checked for");
        self.locks[lock].owner = None;
        if let Some(live) = self.live_mut(thread) {
            live.held.retain(|held| *held != lock);
        }
        let mut falls = false;
        match self.locks[lock].acts {
            Acts::Not | Acts::Lends => {}
            Acts::Raises => falls = self.disinherits(thread),
            Acts::Ceiling(ceiling) => {
                self.has_ceiling(thread);
                if self.ceiling_of(thread).is_none_or(|left| left < ceiling)
                    && let Some(live) = self.live_mut(thread)
                {
                    live.gives_up = true;
                }
            }
        }
        let lent = self.dispatcher.turn(processor).is_some_and(|turn| self.locks[lock].line.lends(turn));
        // The turn's thread may lend through others that wait for the lock, and none of them may be there to be told.
        let through = !self.dispatcher.is_on_own_turn(processor) && !self.locks[lock].line.lenders().is_empty();
        let told = self.goes_to_the_next(lock, None, lent);
        if falls && !told {
            self.fell.push(thread);
        }
        if told || lent || through {
            self.causes(Effect::Left(processor));
        }
    }

    /// The lock is free. Whether a thread is told. `at_once`: see `serves`; set if the turn's thread, too, waits for
    /// the lock and lends to the first in line.
    pub(super) fn goes_to_the_next(&mut self, lock: usize, but: Option<ThreadId>, at_once: bool) -> bool {
        let served = self.serves(Thing::Lock(lock), but, at_once);
        let owner = served.filter(|(_, given)| *given).map(|(thread, _)| thread);
        let mut others = self.locks[lock].line.lenders();
        others.retain(|thread| Some(*thread) != served.map(|(thread, _)| thread));
        self.dispatcher.redirects(&others, owner);
        served.is_some()
    }

    // ---- Ceilings

    fn knows_ceilings(&self, thread: ThreadId) -> bool {
        let variable = self.kept.ceiling.as_deref();
        variable.is_some_and(|variable| self.dispatcher.value_of(thread, variable).is_some())
    }

    /// The greatest ceiling of the locks that it holds.
    fn ceiling_of(&self, thread: ThreadId) -> Option<i64> {
        let held = self.live(thread).into_iter().flat_map(|live| &live.held);
        let ceilings = held.filter_map(|lock| match self.locks[*lock].acts {
            Acts::Ceiling(ceiling) => Some(ceiling),
            Acts::Not | Acts::Lends | Acts::Raises => None,
        });
        ceilings.max()
    }

    /// Changes take effect at once, without an event.
    fn has_ceiling(&mut self, thread: ThreadId) {
        let Some(variable) = self.kept.ceiling.clone() else { return };
        let own = self.live(thread).and_then(|live| live.own_ceiling);
        let Some(own) = own else { return };
        let ceiling = self.ceiling_of(thread).map_or(own, Value::Int);
        if self.dispatcher.value_of(thread, &variable) != Some(ceiling) {
            self.dispatcher.assign(thread, &variable, ceiling);
        }
    }

    /// The ceiling with which a thread begins.
    pub(super) fn own_ceiling(&self, thread: ThreadId) -> Option<Value> {
        self.dispatcher.value_of(thread, self.kept.ceiling.as_deref()?)
    }
}
