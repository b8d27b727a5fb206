//! What threads do, phase by phase.

use catapults_compiler::scenario::{MOST_AT_ONCE, Phase};

use super::super::amounts::draw;
use super::super::measures::Leaving;
use super::super::policy::Runner;
use super::{Done, Happening, ThreadId, World};

impl<R: Runner> World<'_, '_, R> {
    pub(super) fn has_computed(&mut self, thread: ThreadId) {
        if let Some(live) = self.live_mut(thread) {
            live.left = None;
            live.phase += 1;
        }
    }

    /// Who runs there does what takes no time, until it computes, or does not run any more.
    pub(super) fn goes_on(&mut self, processor: usize) -> Done {
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
                // Before it may be given the processor again, which is not to be taken for its going on.
                self.stops(processor);
                return Ok(());
            }
            let scenario = self.scenario;
            let Some(live) = self.live_mut(thread) else { return Ok(()) };
            let (kind, place) = (live.kind, live.phase);
            live.phase += 1;
            let phases = &scenario.threads[kind].phases;
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
                    self.plan(since + left, Happening::Computed(processor, turn));
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
                    return self.dispatcher.blocks(processor, event);
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
                Phase::Unlock(lock) => self.unlocks(processor, thread, *lock)?,
                Phase::Send(port) => match self.ports[*port].waiting.pop_front() {
                    Some(receiver) => self.wakes(&[receiver])?,
                    None => self.ports[*port].messages += 1,
                },
                Phase::Signal(port) => {
                    if let Some(receiver) = self.ports[*port].waiting.pop_front() {
                        self.wakes(&[receiver])?;
                    }
                }
                Phase::Broadcast(port) => {
                    let waiting = std::mem::take(&mut self.ports[*port].waiting);
                    self.wakes(&Vec::from(waiting))?;
                }
                Phase::Barrier(barrier) => {
                    if self.barriers[*barrier].len() + 1 < scenario.barriers[*barrier].threads as usize {
                        self.barriers[*barrier].push(thread);
                        return self.waits_for_ever(processor, thread, self.barrier_event);
                    }
                    let waiting = std::mem::take(&mut self.barriers[*barrier]);
                    self.wakes(&waiting)?;
                }
                Phase::Timer(timer, amount) => {
                    let period = self.drawn(kind, amount);
                    let now = self.now;
                    let Some(live) = self.lives[thread.0 as usize - 1].as_mut() else { return Ok(()) };
                    let timers = if timer.shared { &mut self.timers } else { &mut live.timers };
                    let expired = timers.entry(timer.number).or_insert(live.came);
                    let expires = expired.saturating_add(period);
                    // A relative one that is late counts from now; an absolute one has its rounds made up for.
                    *expired = if timer.absolute { expires } else { expires.max(now) };
                    if expires > now {
                        self.waits_until(thread, expires);
                        return match self.sleep_event {
                            Some(event) => self.dispatcher.blocks(processor, event),
                            None => Err(self.impossible("no event of the framework blocks a thread")),
                        };
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
                Phase::Spawn(other) => self.create(*other, processor, Some(thread))?,
                Phase::Join(other) => {
                    if !self.kinds[*other].living.is_empty() {
                        self.kinds[*other].joining.push(thread);
                        return self.waits_for_ever(processor, thread, self.join_event);
                    }
                }
                Phase::Suspend(other) => self.suspends(*other)?,
                Phase::Resume(other) => self.resumes(*other)?,
                Phase::Set(assignment) => {
                    let value = draw(&assignment.value, &mut self.rng, &mut self.places[kind]);
                    self.dispatcher.set_of(thread, &assignment.name, value);
                }
                Phase::Jump(to) | Phase::Again(to) => self.jumps(thread, *to),
                Phase::Repeat { times, end } => {
                    let (times, end) = (*times, *end);
                    let Some(live) = self.live_mut(thread) else { return Ok(()) };
                    match live.rounds.last_mut() {
                        Some((start, 0)) if *start == place => {
                            live.rounds.pop();
                            live.phase = end;
                        }
                        Some((start, left)) if *start == place => *left -= 1,
                        Some(_) | None => live.rounds.push((place, times - 1)),
                    }
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

    fn jumps(&mut self, thread: ThreadId, to: usize) {
        if let Some(live) = self.live_mut(thread) {
            live.phase = to;
        }
    }

    fn job_done(&mut self, thread: ThreadId, kind: usize) {
        let released = self.live(thread).map_or(self.now, |live| live.released);
        self.measures.job_done(kind, thread, released, self.now);
    }

    /// Whether it goes on at once, since the next period has begun.
    fn next_period(&mut self, processor: usize, thread: ThreadId, kind: usize) -> Done<bool> {
        let period = self.scenario.threads[kind].period.unwrap_or(1);
        let now = self.now;
        let Some(live) = self.live_mut(thread) else { return Ok(false) };
        live.phase = 0;
        live.released += period;
        let released = live.released;
        if released <= now {
            return Ok(true);
        }
        self.waits_until(thread, released);
        match self.sleep_event {
            Some(event) => self.dispatcher.blocks(processor, event)?,
            None => return Err(self.impossible("no event of the framework blocks a thread")),
        }
        Ok(false)
    }

    fn exits(&mut self, processor: usize, thread: ThreadId, kind: usize) -> Done {
        // It has no lock, as the scenario was checked for: nobody waits for it, and it runs on a turn of its own.
        if self.scenario.threads[kind].period.is_none() {
            self.job_done(thread, kind);
        }
        self.leaves(processor, Leaving::Waits);
        self.measures.ended(kind, thread, self.now);
        let state = &mut self.kinds[kind];
        if let Some(ended) = self.lives[thread.0 as usize - 1].take() {
            state.living.swap_remove(ended.place);
            self.living -= 1;
            // The last one has its place now.
            if let Some(moved) = state.living.get(ended.place)
                && let Some(moved) = &mut self.lives[moved.0 as usize - 1]
            {
                moved.place = ended.place;
            }
        }
        let joined = if state.living.is_empty() { std::mem::take(&mut state.joining) } else { Vec::new() };
        self.dispatcher.exits(processor)?;
        self.wakes(&joined)
    }
}
