//! What threads do, phase by phase.

use catapults_compiler::framework::Hears;
use catapults_compiler::scenario::{Amount, MOST_AT_ONCE, Phase};

use super::super::amounts::{draw, nanoseconds};
use super::super::dispatch::Dispatch;
use super::super::measures::Leaving;
use super::effects::Effect;
use super::{Computed, Done, Live, ThreadId, World};

impl<D: Dispatch> World<'_, D> {
    pub(super) fn has_computed(&mut self, thread: ThreadId) {
        if let Some(live) = self.live_mut(thread) {
            live.left = None;
            live.phase += 1;
        }
    }

    /// The running thread does what takes no time, until it computes or does not run any more.
    pub(super) fn run_instantaneous(&mut self, processor: usize) -> Done {
        let Some(thread) = self.processors[processor].running else { return Ok(()) };
        loop {
            self.at_once += 1;
            if self.at_once > MOST_AT_ONCE {
                let name = self.scenario.threads[self.kind_of(thread)].name.clone();
                return Err(
                    self.impossible(&format!("time stands still: `{name}` goes on and on, and nothing takes time"))
                );
            }
            if self.dispatcher.current(processor) != Some(thread) {
                // Before it may get the processor again: that would look as if it had never left.
                self.stops(processor);
                return Ok(());
            }
            let scenario = self.scenario;
            let Some(live) = self.live(thread) else { return Ok(()) };
            let (kind, place) = (live.kind, live.phase);
            let phases = &scenario.threads[kind].phases;
            if self.is_held_up(processor, thread, &phases[place]) {
                // What the thread has done is done, even if it has yet to leave the processor.
                let is_periodic = scenario.threads[kind].period.is_some();
                if matches!(phases[place], Phase::End) || matches!(phases[place], Phase::Exit) && !is_periodic {
                    self.job_done(thread, kind);
                }
                self.held_up.push((processor, thread));
                return Ok(());
            }
            let to_give_up = live.gives_up && !self.has_nothing_left(live);
            let Some(live) = self.live_mut(thread) else { return Ok(()) };
            if to_give_up {
                live.gives_up = false;
                self.gives_up(processor);
                return self.dispatcher.yields(processor);
            }
            live.phase += 1;
            match &phases[place] {
                Phase::Run(amount) => {
                    let left = self.drawn(kind, amount);
                    if left == 0 {
                        continue;
                    }
                    let cpu = &mut self.processors[processor];
                    cpu.since = cpu.since.max(self.now);
                    let (since, turn) = (cpu.since, cpu.turn);
                    if let Some(live) = self.live_mut(thread) {
                        live.left = Some(left);
                        live.phase = place;
                    }
                    self.computes_until(since + left, Computed { processor, turn });
                    return Ok(());
                }
                Phase::Block(_, amount) => {
                    let wait = self.drawn(kind, amount);
                    let Some(event) = self.events[kind][place] else { continue };
                    self.waits_until(thread, self.now + wait);
                    let polled = self.scenario.poll > 0 && self.sleep_event != Some(event);
                    if let Some(live) = self.live_mut(thread) {
                        live.polled = polled;
                    }
                    return self.blocks_in(processor, Some(event));
                }
                Phase::Yield => {
                    self.gives_up(processor);
                    return self.dispatcher.yields(processor);
                }
                Phase::YieldTo(other) => {
                    let to = self.kinds[*other].living.iter().copied().find(|one| *one != thread);
                    self.gives_up(processor);
                    return match to {
                        Some(to) => self.dispatcher.yields_to(processor, to),
                        None => self.dispatcher.yields(processor),
                    };
                }
                Phase::Lock(lock) => {
                    if !self.locks(processor, thread, *lock)? {
                        return Ok(());
                    }
                }
                Phase::Unlock(lock) => self.unlocks(processor, thread, *lock),
                Phase::Wait(semaphore) => {
                    if !self.waits_for(processor, thread, *semaphore)? {
                        return Ok(());
                    }
                }
                Phase::Post(semaphore) => self.posts(*semaphore),
                Phase::Send(port) => match self.ports[*port].waiting.pop_front() {
                    Some(receiver) => self.ends_waits(vec![receiver]),
                    None => self.ports[*port].messages += 1,
                },
                Phase::Signal(port) => {
                    if let Some(receiver) = self.ports[*port].waiting.pop_front() {
                        self.ends_waits(vec![receiver]);
                    }
                }
                Phase::Broadcast(port) => {
                    let waiting = std::mem::take(&mut self.ports[*port].waiting);
                    self.ends_waits(Vec::from(waiting));
                }
                Phase::Barrier(barrier) => {
                    if self.barriers[*barrier].len() + 1 < scenario.barriers[*barrier].threads as usize {
                        self.barriers[*barrier].push(thread);
                        return self.waits_for_ever(processor, thread, self.barrier_event);
                    }
                    let waiting = std::mem::take(&mut self.barriers[*barrier]);
                    self.ends_waits(waiting);
                }
                Phase::Timer(timer, amount) => {
                    let period = self.drawn(kind, amount);
                    let now = self.now;
                    let Some(live) = self.lives[thread.0 as usize - 1].as_mut() else { return Ok(()) };
                    let timers = if timer.shared { &mut self.timers } else { &mut live.timers };
                    let expired = timers.entry(timer.number).or_insert(live.came);
                    let expires = expired.saturating_add(period);
                    // A late relative timer counts from now. An absolute one makes up for its rounds.
                    *expired = if timer.absolute { expires } else { expires.max(now) };
                    if expires > now {
                        self.waits_until(thread, expires);
                        return self.blocks_in(processor, self.sleep_event);
                    }
                }
                Phase::Receive(port) => {
                    let port = &mut self.ports[*port];
                    if port.messages > 0 {
                        port.messages -= 1;
                    } else {
                        port.waiting.push_back(thread);
                        return self.waits_for_ever(processor, thread, self.port_event);
                    }
                }
                Phase::Spawn(other) => {
                    let generation = self.next_generation(thread);
                    self.causes(Effect::Creates { kind: *other, processor, generation });
                }
                Phase::Join(other) => {
                    if !self.kinds[*other].living.is_empty() {
                        self.kinds[*other].joining.push(thread);
                        return self.waits_for_ever(processor, thread, self.join_event);
                    }
                }
                // A thread suspends itself at once.
                Phase::Suspend(other) if *other == kind => self.suspends(kind)?,
                Phase::Suspend(other) => self.causes(Effect::Suspends(*other)),
                Phase::Resume(other) => self.causes(Effect::Resumes(*other)),
                Phase::Set(assignment) => {
                    let value = draw(&assignment.value, &mut self.rng, &mut self.places[kind]);
                    if self.assigns(thread, &assignment.name, value) && self.dispatcher.hears_changes(thread) {
                        let life = self.live(thread).map_or(0, |live| live.life);
                        self.causes(Effect::Changes(thread, life));
                    }
                }
                Phase::Jump(to) | Phase::Again(to) => self.jumps(thread, *to),
                Phase::Repeat { times, end } => {
                    let Some(live) = self.live_mut(thread) else { return Ok(()) };
                    live.phase = next_round(&mut live.rounds, place, *times, *end);
                }
                Phase::End if self.scenario.threads[kind].period.is_some() => {
                    self.job_done(thread, kind);
                    if !self.next_period(processor, thread, kind)? {
                        return Ok(());
                    }
                }
                Phase::Exit | Phase::End => return self.exits(processor, thread, kind),
            }
        }
    }

    /// What these threads wait for has happened.
    pub(super) fn ends_waits(&mut self, threads: Vec<ThreadId>) {
        match self.hears {
            Hears::AtOnce | Hears::AfterThread => self.causes(Effect::Wakes(threads)),
            Hears::AfterThreadByPolling => {
                self.to_wake.extend(threads);
                self.to_look = true;
            }
        }
    }

    /// The policy is told of the running thread's next job before the thread does anything else, because the thread may
    /// lose the processor by it. On a lent turn, it is an effect, as if of another thread.
    fn begins_late(&mut self, processor: usize, thread: ThreadId) -> Done {
        if !self.dispatcher.is_on_own_turn(processor) {
            self.causes(Effect::Releases(thread));
            return Ok(());
        }
        // First, the policy is told what the thread changed in its last job.
        for effect in self.own_changes(thread) {
            self.happens_to_others(effect)?;
        }
        self.happens_to_others(Effect::Releases(thread))?;
        self.dispatcher.preempted_at_last()
    }

    /// Whether it will end its job or wait before it computes or needs anything that others may have.
    pub(super) fn has_nothing_left(&self, live: &Live) -> bool {
        /// How many phases are looked at.
        const MOST: usize = 1000;
        let phases = &self.scenario.threads[live.kind].phases;
        let (mut place, mut rounds) = (live.phase, live.rounds.clone());
        for _ in 0..MOST {
            place = match &phases[place] {
                Phase::End
                | Phase::Exit
                | Phase::Block(..)
                | Phase::Timer(..)
                | Phase::Barrier(_)
                | Phase::Receive(_)
                | Phase::Join(_) => return true,
                Phase::Run(Amount::Fixed(value)) if nanoseconds(*value) == 0 => place + 1,
                Phase::Run(_)
                | Phase::Lock(_)
                | Phase::Wait(_)
                | Phase::Yield
                | Phase::YieldTo(_)
                | Phase::Suspend(_) => return false,
                Phase::Unlock(_)
                | Phase::Post(_)
                | Phase::Send(_)
                | Phase::Signal(_)
                | Phase::Broadcast(_)
                | Phase::Spawn(_)
                | Phase::Resume(_)
                | Phase::Set(_) => place + 1,
                Phase::Jump(to) | Phase::Again(to) => *to,
                Phase::Repeat { times, end } => next_round(&mut rounds, place, *times, *end),
            }
        }
        false
    }

    fn jumps(&mut self, thread: ThreadId, to: usize) {
        if let Some(live) = self.live_mut(thread) {
            live.phase = to;
        }
    }

    /// Counts the job once, however often the thread comes here.
    fn job_done(&mut self, thread: ThreadId, kind: usize) {
        let Some(live) = self.live_mut(thread) else { return };
        if std::mem::replace(&mut live.job_done, true) {
            return;
        }
        let released = live.released;
        self.measures.job_done(kind, thread, released, self.now);
        self.dispatcher.job_done(thread, released);
    }

    /// Whether the thread goes on at once, because its next period has begun.
    fn next_period(&mut self, processor: usize, thread: ThreadId, kind: usize) -> Done<bool> {
        let of = &self.scenario.threads[kind];
        let (period, relative) = (of.period.unwrap_or(1), of.relative);
        let now = self.now;
        let Some(live) = self.live_mut(thread) else { return Ok(false) };
        (live.phase, live.job_done) = (0, false);
        live.released += period;
        if relative {
            live.released = live.released.max(now);
        }
        let released = live.released;
        live.between_jobs = released > now;
        self.dispatcher.set_release(thread, released);
        if released <= now {
            self.begins_late(processor, thread)?;
            return Ok(true);
        }
        self.waits_until(thread, released);
        self.blocks_in(processor, self.sleep_event)?;
        Ok(false)
    }

    fn exits(&mut self, processor: usize, thread: ThreadId, kind: usize) -> Done {
        // The scenario was checked: it holds no lock, so no thread waits for it, and it runs on its own turn.
        if self.scenario.threads[kind].period.is_none() {
            self.job_done(thread, kind);
        }
        self.leaves(processor, Leaving::Waits);
        // The next thread with its number is another one.
        self.processors.iter_mut().for_each(|cpu| cpu.last = cpu.last.filter(|last| *last != thread));
        self.measures.ended(kind, thread, self.now);
        let state = &mut self.kinds[kind];
        if let Some(ended) = self.lives[thread.0 as usize - 1].take() {
            state.living.swap_remove(ended.place);
            self.living -= 1;
            // Another thread was moved to its place.
            if let Some(moved) = state.living.get(ended.place)
                && let Some(moved) = &mut self.lives[moved.0 as usize - 1]
            {
                moved.place = ended.place;
            }
        }
        let joined = if state.living.is_empty() { std::mem::take(&mut state.joining) } else { Vec::new() };
        self.dispatcher.exits(processor)?;
        self.ends_waits(joined);
        Ok(())
    }
}

/// Where a `repeat` goes on: in the next round, or after the last.
fn next_round(rounds: &mut Vec<(usize, u64)>, place: usize, times: u64, end: usize) -> usize {
    match rounds.last_mut() {
        Some((start, 0)) if *start == place => {
            rounds.pop();
            return end;
        }
        Some((start, left)) if *start == place => *left -= 1,
        Some(_) | None => rounds.push((place, times - 1)),
    }
    place + 1
}
