//! The lines of threads that wait for locks and semaphores, served as `compiler/src/framework/service.rs` describes.
//!
//! ```text
//! waits ──told that it may be free──► awake ──runs──► has it
//!   ▲                                         │
//!   └───────────── another was faster ◄───────┘
//! ```
//!
//! If a waiting thread can be passed over only so often (`passed_over`), it keeps its place in line until it has what
//! it waits for, and waiting threads do not pass over each other. Otherwise it leaves the line when told, and may join
//! its end again.

use catapults_compiler::framework::{Next, Service};

use super::super::dispatch::Dispatch;
use super::effects::Effect;
use super::{Done, ThreadId, World};

#[derive(Default)]
pub(super) struct Line {
    waiters: Vec<Waiter>,
}

struct Waiter {
    thread: ThreadId,
    /// How often a thread that came later was faster.
    passed: u32,
    /// It was told that it may go on, but has not looked yet.
    awake: bool,
    /// It lends its turns to the owner.
    lends: bool,
    /// It owns what it waits for, and takes it when it runs.
    given: bool,
    /// Unique: no other wait has this number.
    since: u64,
}

/// What threads wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thing {
    Lock(usize),
    Semaphore(usize),
}

/// A waiting thread that may go on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    pub(super) thing: Thing,
    thread: ThreadId,
    /// It has lent its turns.
    lends: bool,
}

impl Line {
    /// Whether the thread waits here and was not told to look again.
    pub(super) fn holds_up(&self, thread: ThreadId) -> bool {
        self.waiters.iter().any(|waiter| waiter.thread == thread && !waiter.awake)
    }

    fn waiter(&mut self, thread: ThreadId) -> Option<&mut Waiter> {
        self.waiters.iter_mut().find(|waiter| waiter.thread == thread)
    }

    /// The thread leaves the line, because it has what it waited for. Whether that was given to it.
    pub(super) fn leaves(&mut self, thread: ThreadId) -> bool {
        let Some(place) = self.waiters.iter().position(|waiter| waiter.thread == thread) else { return false };
        self.waiters.remove(place).given
    }

    /// Whether it waits, or was told and has not looked yet.
    pub(super) fn has(&self, thread: ThreadId) -> bool {
        self.waiters.iter().any(|waiter| waiter.thread == thread)
    }

    /// Whether it was given what it waits for.
    pub(super) fn is_given(&self, thread: ThreadId) -> bool {
        self.waiters.iter().any(|waiter| waiter.thread == thread && waiter.given)
    }

    pub(super) fn lends(&self, thread: ThreadId) -> bool {
        self.waiters.iter().any(|waiter| waiter.thread == thread && waiter.lends && !waiter.awake)
    }

    /// The threads that lend their turns to the owner.
    pub(super) fn lenders(&self) -> Vec<ThreadId> {
        self.waiters.iter().filter(|waiter| waiter.lends && !waiter.awake).map(|waiter| waiter.thread).collect()
    }
}

impl<D: Dispatch> World<'_, D> {
    fn those_at(&mut self, thing: Thing) -> &mut Line {
        match thing {
            Thing::Lock(lock) => &mut self.locks[lock].line,
            Thing::Semaphore(semaphore) => &mut self.semaphores[semaphore].line,
        }
    }

    fn line_of(&self, thing: Thing) -> &Line {
        match thing {
            Thing::Lock(lock) => &self.locks[lock].line,
            Thing::Semaphore(semaphore) => &self.semaphores[semaphore].line,
        }
    }

    /// Always there: the scenario was checked for it.
    fn service(&self, thing: Thing) -> Option<&Service> {
        match thing {
            Thing::Lock(_) => self.lock_service.as_ref(),
            Thing::Semaphore(_) => self.semaphore_service.as_ref(),
        }
    }

    fn is_free(&self, thing: Thing) -> bool {
        match thing {
            Thing::Lock(lock) => self.locks[lock].owner.is_none(),
            Thing::Semaphore(semaphore) => self.semaphores[semaphore].value > 0,
        }
    }

    /// A thread begins to wait, or goes on because another one was faster.
    pub(super) fn stands_in_line(&mut self, thing: Thing, thread: ThreadId, lends: bool) {
        if let Some(live) = self.live_mut(thread) {
            (live.waits, live.wants) = (true, Some(thing));
        }
        if let Some(waiter) = self.those_at(thing).waiter(thread) {
            (waiter.awake, waiter.lends) = (false, lends);
            return;
        }
        let since = self.begins_wait();
        let by_urgency = self.service(thing).is_some_and(|service| matches!(service.next, Next::Greatest(_)));
        let mine = self.urgency(thread);
        let less = |waiter: &Waiter| self.urgency(waiter.thread) < mine;
        let line = self.line_of(thing);
        let place = line.waiters.iter().position(less).filter(|_| by_urgency).unwrap_or(line.waiters.len());
        let waiter = Waiter { thread, passed: 0, awake: false, lends, given: false, since };
        self.those_at(thing).waiters.insert(place, waiter);
    }

    /// Gives what is free to the first thread in line, or tells it so. It hears of that with the other effects. Returns
    /// the thread, and whether it was given it. `but`: a thread that is about to be suspended. `at_once`: gives it,
    /// however seldom it was passed over.
    pub(super) fn serves(&mut self, thing: Thing, but: Option<ThreadId>, at_once: bool) -> Option<(ThreadId, bool)> {
        let (next, passed_over) = self.service(thing).map(|service| (service.next.clone(), service.passed_over))?;
        if next == Next::All {
            self.to_look = true;
            return None;
        }
        let place = self.first(thing, but)?;
        let waiters = &mut self.those_at(thing).waiters;
        let waiter = &mut waiters[place];
        let (thread, lends) = (waiter.thread, waiter.lends);
        let given = passed_over.is_some_and(|most| at_once || waiter.passed >= most);
        waiter.given = given;
        let knows = std::mem::replace(&mut waiter.awake, true);
        if passed_over.is_none() {
            waiters.remove(place);
        }
        if given && let Thing::Lock(lock) = thing {
            self.locks[lock].owner = Some(thread);
        }
        if !knows {
            if lends {
                self.dispatcher.owns(thread);
            }
            self.causes(Effect::Told(Told { thing, thread, lends }));
        }
        Some((thread, given))
    }

    /// Whether the thread must leave what is free to the first in line, which keeps its place.
    pub(super) fn is_behind(&self, thing: Thing, thread: ThreadId) -> bool {
        let keeps_place = self.service(thing).is_some_and(|service| service.passed_over.is_some());
        let line = self.line_of(thing);
        let first = self.first(thing, None).map(|place| line.waiters[place].thread);
        keeps_place
            && line.waiters.iter().any(|waiter| waiter.thread == thread)
            && first.is_some_and(|first| first != thread)
    }

    /// A thread that has not waited takes what is free.
    pub(super) fn passes_over(&mut self, thing: Thing) {
        for waiter in &mut self.those_at(thing).waiters {
            waiter.passed = waiter.passed.saturating_add(1);
        }
    }

    /// The first in line to be served. Suspended threads are skipped; at a semaphore, only in favour of another thread.
    fn first(&self, thing: Thing, but: Option<ThreadId>) -> Option<usize> {
        let line = self.line_of(thing);
        let stands = |waiter: &Waiter| !waiter.given;
        let can_be_served = |waiter: &Waiter| {
            stands(waiter) && Some(waiter.thread) != but && !self.dispatcher.is_set_aside(waiter.thread)
        };
        let found = line.waiters.iter().position(can_be_served);
        match thing {
            Thing::Lock(_) => found,
            Thing::Semaphore(_) => found.or_else(|| line.waiters.iter().position(stands)),
        }
    }

    /// Tells a waiting thread that it may go on. It looks again when it runs.
    pub(super) fn hears(&mut self, told: &Told) -> Done {
        let thread = told.thread;
        // On a turn of its own, it may have looked meanwhile.
        if self.live(thread).is_none_or(|live| !live.waits || live.wants != Some(told.thing)) {
            return Ok(());
        }
        self.looks_again(thread);
        if told.lends {
            self.dispatcher.unblock_heir(thread)?;
        } else {
            self.dispatcher.unblocks(&[thread])?;
        }
        self.is_suspended(thread);
        Ok(())
    }

    /// It begins its waiting phase anew.
    pub(super) fn looks_again(&mut self, thread: ThreadId) {
        if let Some(live) = self.live_mut(thread) {
            live.waits = false;
            live.phase -= 1;
        }
        self.measures.ready(thread, self.now);
        self.is_ready(thread);
    }

    /// A thread that does not lend its turns any more has got a turn of its own.
    pub(super) fn runs_for_itself(&mut self, thread: ThreadId) {
        let Some(thing) = self.live(thread).filter(|live| live.waits).and_then(|live| live.wants) else { return };
        if let Some(waiter) = self.those_at(thing).waiter(thread) {
            waiter.awake = true;
        }
        self.looks_again(thread);
    }

    /// As on a host that looks before it decides, if it is about to: tells all threads whose wait may be over, the one first that has waited
    /// longest.
    pub(super) fn looks_at_lines(&mut self) -> Done {
        if !self.to_look {
            return Ok(());
        }
        self.dispatcher.preempted_at_last()?;
        if !self.is_idle() {
            return Ok(());
        }
        self.to_look = false;
        let locks = (0..self.locks.len()).map(Thing::Lock);
        let things: Vec<Thing> = locks.chain((0..self.semaphores.len()).map(Thing::Semaphore)).collect();
        // Those who wait for a lock look again when they run.
        let mut told: Vec<(u64, ThreadId, bool)> = Vec::new();
        for thread in std::mem::take(&mut self.to_wake) {
            told.push((self.live(thread).map_or(0, |live| live.since), thread, false));
        }
        for thing in things {
            if !self.is_free(thing) {
                continue;
            }
            let waiters = std::mem::take(&mut self.those_at(thing).waiters).into_iter();
            let (kept, gone): (Vec<Waiter>, Vec<Waiter>) =
                waiters.partition(|waiter| self.dispatcher.is_set_aside(waiter.thread));
            self.those_at(thing).waiters = kept;
            told.extend(gone.into_iter().map(|waiter| (waiter.since, waiter.thread, true)));
        }
        told.sort_unstable_by_key(|(since, ..)| *since);
        for (_, thread, looks) in told {
            if looks {
                self.looks_again(thread);
                self.dispatcher.unblocks(&[thread])?;
                self.is_suspended(thread);
            } else {
                self.wakes(&[thread])?;
            }
        }
        Ok(())
    }

    /// The thread is about to be suspended. What was left to it, and it has not taken yet, goes to another thread, which
    /// hears of it at once.
    pub(super) fn passes_on(&mut self, thread: ThreadId) -> Done {
        let runs = (0..self.processors.len()).any(|processor| self.dispatcher.current(processor) == Some(thread));
        let Some(Thing::Lock(lock)) = self.live(thread).filter(|_| !runs).and_then(|live| live.wants) else {
            return Ok(());
        };
        if self.dispatcher.is_set_aside(thread) {
            return Ok(());
        }
        if self.locks[lock].owner == Some(thread) {
            self.locks[lock].owner = None;
            if let Some(waiter) = self.locks[lock].line.waiter(thread) {
                waiter.given = false;
            }
        }
        if self.locks[lock].owner.is_some() {
            return Ok(());
        }
        let before = self.effects.len();
        self.goes_to_the_next(lock, Some(thread), false);
        match self.effects.get(before) {
            Some(Effect::Told(_)) => {
                let told = self.effects.remove(before);
                self.happens_to_others(told)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// A suspension that had not begun was taken back. What the thread waits for may have been free for some time.
    pub(super) fn looks_after_all(&mut self, thread: ThreadId) -> Done {
        let Some(thing @ Thing::Lock(_)) = self.live(thread).filter(|live| live.waits).and_then(|live| live.wants)
        else {
            return Ok(());
        };
        let Some(service) = self.service(thing) else { return Ok(()) };
        let (all, keeps_place) = (service.next == Next::All, service.passed_over.is_some());
        if all {
            self.to_look = true;
            return Ok(());
        }
        let Some(waiter) = self.those_at(thing).waiter(thread).filter(|waiter| !waiter.awake) else { return Ok(()) };
        waiter.awake = true;
        let lends = waiter.lends;
        if !keeps_place {
            self.those_at(thing).leaves(thread);
        }
        if lends {
            self.dispatcher.owns(thread);
        }
        self.hears(&Told { thing, thread, lends })?;
        // Its turn, if it has one, is not lent any more.
        let processor = (0..self.processors.len()).find(|on| self.dispatcher.turn(*on) == Some(thread));
        processor.map_or(Ok(()), |processor| self.dispatcher.regains(processor))
    }

    /// The number of a wait that begins now.
    pub(super) fn begins_wait(&mut self) -> u64 {
        self.waits_begun += 1;
        self.waits_begun
    }
}
