//! The world in which threads live: virtual time, what each thread does next, locks, ports, and arrivals.
//!
//! Nothing happens between two instants. For what happens at one, and in which order, see `instants.rs`; for what
//! threads cause for others then, see `effects.rs`.

mod effects;
mod instants;
mod left;
mod lines;
mod locks;
mod phases;
mod semaphores;
mod urgency;

use std::collections::{BTreeMap, VecDeque};

use catapults_compiler::framework::{Framework, Hears, Service};
use catapults_compiler::interp::ThreadId;
use catapults_compiler::scenario::{Action, Amount, LONGEST, Phase, Scenario, event_for};
use catapults_compiler::vocabulary::Value;
use fastrand::Rng;

use super::amounts::{draw, nanoseconds};
use super::dispatch::Dispatch;
use super::dispatcher::{Admitted, Out};
use super::measures::{Leaving, Measures};
use super::plans::Plans;
use super::policy::EventId;
use effects::Effect;
use instants::{Computed, Happening};
use lines::{Line, Thing};
use locks::{Kept, Lock};
use semaphores::Semaphore;

/// Why a simulation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The scenario's duration was over.
    Duration,
    /// All threads have ended.
    AllEnded,
    /// Nothing will ever happen to the remaining threads. Their names, and what they wait for.
    Stuck(Vec<String>),
    /// The policy broke a rule, or the scenario asks for something impossible.
    Out(Out),
}

type Done<T = ()> = Result<T, Out>;

/// How many threads can live at once. More come only if threads create threads without end.
const MOST_LIVING: usize = 1_000_000;

/// How many threads can be created at one instant by threads of that instant, in chains in which a kind recurs.
const MOST_AGAIN_AT_ONCE: u32 = 100_000;

/// How often timers can expire at one instant.
const MOST_PASSES: u32 = 64;

pub(super) struct World<'a, D> {
    scenario: &'a Scenario,
    pub(super) dispatcher: D,
    pub(super) measures: Measures<'a>,
    rng: Rng,
    pub(super) now: i64,
    planned: Plans<Happening>,
    /// When running threads have computed enough, or are switched to.
    computing: Plans<Computed>,
    hears: Hears,
    /// Threads whose waits are over, while the host, which polls, has not looked yet.
    to_wake: Vec<ThreadId>,
    /// How many threads have ever come.
    births: u64,
    /// How often a thread got or left a processor.
    turns: u64,
    /// Indexed by number.
    lives: Vec<Option<Live>>,
    /// How many threads live.
    living: usize,
    /// The count that [`MOST_AGAIN_AT_ONCE`] limits, at this instant.
    again_at_once: u32,
    kinds: Vec<KindState>,
    locks: Vec<Lock>,
    semaphores: Vec<Semaphore>,
    lock_service: Option<Service>,
    semaphore_service: Option<Service>,
    kept: Kept,
    /// How many waits for locks and semaphores have begun.
    waits_begun: u64,
    /// A thread may go on, and must be told before the next decision.
    to_look: bool,
    /// The threads that became ready or more urgent (`fell`: less) since the host last looked whether to preempt.
    became_ready: Vec<ThreadId>,
    fell: Vec<ThreadId>,
    ports: Vec<Port>,
    /// The threads that wait at each barrier.
    barriers: Vec<Vec<ThreadId>>,
    /// The expiry, past or to come, that was computed last for each timer that threads share.
    timers: BTreeMap<usize, i64>,
    processors: Vec<Cpu>,
    ticks: bool,
    /// Threads, with the numbers of their lives, whose waits are over while the host does not know it yet.
    unheard: Vec<(u32, u64)>,
    /// Some timers expired at this instant and are armed for it again.
    armed_anew: bool,
    /// How often timers expired at this instant.
    passes: u32,
    /// What threads have caused for others, and is still to happen at this instant.
    effects: Vec<Effect>,
    /// The threads that go on after that, and their processors.
    held_up: Vec<(usize, ThreadId)>,
    /// Processors whose threads have computed enough; empty except while these are collected.
    go_on: Vec<usize>,
    at_once: u64,
    lock_event: Option<EventId>,
    semaphore_event: Option<EventId>,
    port_event: Option<EventId>,
    barrier_event: Option<EventId>,
    join_event: Option<EventId>,
    sleep_event: Option<EventId>,
    /// Indexed by kind and phase.
    events: Vec<Vec<Option<EventId>>>,
    /// The next place in a kind's lists of numbers.
    places: Vec<usize>,
}

struct Live {
    kind: usize,
    /// Its index in [`KindState::living`].
    place: usize,
    /// Distinguishes it from other threads with its number.
    life: u64,
    phase: usize,
    /// How much of the phase is left to compute, if that has begun.
    left: Option<i64>,
    /// The `repeat`s around its phase, the innermost last: where each starts, and how many rounds are left.
    rounds: Vec<(usize, u64)>,
    released: i64,
    /// When it came.
    came: i64,
    /// How many creators in a row, all of that instant, led to it. With more creators than kinds, a kind recurs.
    generation: usize,
    /// When each of its own timers expired last.
    timers: BTreeMap<usize, i64>,
    /// It waits until it is woken, or told to look again.
    waits: bool,
    /// How many waits had begun when its last one did.
    since: u64,
    /// The host sees only by polling that its wait is over.
    polled: bool,
    /// Its job is done and counted, but the thread has not said so yet.
    job_done: bool,
    /// It waits for its next job to be released.
    between_jobs: bool,
    /// What it waits for, or was told of and has not yet taken.
    wants: Option<Thing>,
    /// The locks that it has.
    held: Vec<usize>,
    /// It gives the processor up before it does anything else.
    gives_up: bool,
    /// Its priority to the host, and the same without what it has inherited.
    urgency: i64,
    own_urgency: i64,
    /// Its ceiling while it holds no lock, if its policy imports ceilings.
    own_ceiling: Option<Value>,
}

#[derive(Default)]
struct KindState {
    came: u32,
    living: Vec<ThreadId>,
    joining: Vec<ThreadId>,
}

#[derive(Default)]
struct Port {
    messages: u64,
    waiting: VecDeque<ThreadId>,
}

#[derive(Clone, Default)]
struct Cpu {
    running: Option<ThreadId>,
    /// The thread whose turn it is.
    turn_of: Option<ThreadId>,
    /// When its computing began, or will begin.
    since: i64,
    /// The number of the present stretch of running; no other one on any processor has it.
    turn: u64,
    last: Option<ThreadId>,
    ticking: bool,
    /// The switch is to a thread that does not begin by computing.
    switching: bool,
}

impl<'a, D: Dispatch> World<'a, D> {
    pub(super) fn new(scenario: &'a Scenario, dispatcher: D, framework: &Framework) -> Self {
        let find = |words: &[&str]| event_for(framework, words).and_then(|name| dispatcher.event(&name));
        let of_phase = |phase: &Phase| {
            if let Phase::Block(event, _) = phase { dispatcher.event(event) } else { None }
        };
        let events = scenario.threads.iter().map(|thread| thread.phases.iter().map(of_phase).collect()).collect();
        let processors = dispatcher.processors();
        World {
            scenario,
            measures: Measures::new(scenario),
            rng: Rng::with_seed(scenario.seed),
            now: 0,
            planned: Plans::new(),
            computing: Plans::new(),
            hears: framework.hears,
            to_wake: Vec::new(),
            births: 0,
            turns: 0,
            lives: Vec::new(),
            living: 0,
            again_at_once: 0,
            kinds: scenario.threads.iter().map(|_| KindState::default()).collect(),
            locks: scenario.locks.iter().map(|lock| Lock::new(lock, framework)).collect(),
            semaphores: (scenario.semaphores.iter())
                .map(|said| Semaphore { value: said.value, line: Line::default() })
                .collect(),
            kept: Kept::new(framework, &dispatcher),
            waits_begun: 0,
            to_look: false,
            became_ready: Vec::new(),
            fell: Vec::new(),
            lock_event: framework.locks.as_ref().and_then(|locks| dispatcher.event(&locks.service.event)),
            semaphore_event: framework.semaphores.as_ref().and_then(|service| dispatcher.event(&service.event)),
            lock_service: framework.locks.as_ref().map(|locks| locks.service.clone()),
            semaphore_service: framework.semaphores.clone(),
            ports: scenario.ports.iter().map(|_| Port::default()).collect(),
            barriers: vec![Vec::new(); scenario.barriers.len()],
            timers: BTreeMap::new(),
            processors: vec![Cpu::default(); processors],
            ticks: dispatcher.hears_ticks(),
            unheard: Vec::new(),
            armed_anew: false,
            passes: 0,
            effects: Vec::new(),
            held_up: Vec::new(),
            go_on: Vec::new(),
            at_once: 0,
            barrier_event: find(&["barrier", "condition"]),
            port_event: find(&["port", "message", "queue.receive"]),
            join_event: find(&["join"]),
            sleep_event: find(&["sleep"]),
            events,
            places: vec![0; scenario.threads.len()],
            dispatcher,
        }
    }

    /// Runs until nothing happens any more, or the time is over.
    pub(super) fn run(&mut self) -> Ending {
        match self.all() {
            Ok(ending) => ending,
            Err(out) => {
                // Counts what has run until now.
                self.measures.ends(self.now, &self.processors_now());
                Ending::Out(out)
            }
        }
    }

    fn all(&mut self) -> Done<Ending> {
        self.dispatcher.set_now(0);
        for Assigned { name, value } in self.values(None) {
            self.dispatcher.set(&name, value);
        }
        self.dispatcher.start()?;
        for (index, moment) in self.scenario.moments.iter().enumerate() {
            self.plan(moment.instant, Happening::Moment(index));
        }
        for (index, thread) in self.scenario.threads.iter().enumerate() {
            if !thread.spawned {
                let start = self.drawn(index, &thread.start);
                self.plan(start, Happening::Arrival(index));
            }
        }
        let end = self.scenario.duration.unwrap_or(LONGEST);
        loop {
            let Some(next) = self.next_instant() else {
                self.now = if self.scenario.duration.is_some() { end } else { self.now };
                self.ends();
                return Ok(self.left());
            };
            let is_last = next >= end;
            if is_last && self.scenario.duration.is_none() {
                self.now = end;
                let why = "it goes on for more than 73 years: say when it ends, `duration 10s;`";
                return Err(self.impossible(why));
            }
            let next = next.min(end);
            if next > self.now {
                (self.at_once, self.again_at_once, self.armed_anew, self.passes) = (0, 0, false, 0);
                self.now = next;
                self.dispatcher.set_now(next);
            }
            if is_last {
                self.last_instant()?;
                self.ends();
                return Ok(Ending::Duration);
            }
            self.instant()?;
        }
    }

    /// The simulation is over. Jobs that should be done by now are late, too.
    fn ends(&mut self) {
        for (index, live) in self.lives.iter().enumerate() {
            let (Some(live), Ok(number)) = (live, u32::try_from(index + 1)) else { continue };
            let thread = &self.scenario.threads[live.kind];
            // If this job is done, the next one.
            let released = match thread.period {
                Some(period) if live.job_done => live.released.saturating_add(period),
                None if live.job_done => continue,
                Some(_) | None => live.released,
            };
            self.measures.unfinished(live.kind, ThreadId(number), released, self.now);
            let Some(deadline) = thread.deadline else { continue };
            let mut due = released.saturating_add(deadline);
            while due <= self.now {
                self.measures.overdue(live.kind, ThreadId(number), due);
                // A relative period's next job is released when this one is done.
                let Some(period) = thread.period.filter(|_| !thread.relative) else { break };
                due = due.saturating_add(period);
            }
        }
        self.measures.ends(self.now, &self.processors_now());
    }

    fn acts(&mut self, action: &'a Action) -> Done {
        match action {
            Action::Set(assignment) => {
                let value = draw(&assignment.value, &mut self.rng, &mut 0);
                self.dispatcher.set(&assignment.name, value);
            }
            Action::SetOf(kind, assignment) => {
                for thread in self.kinds[*kind].living.clone() {
                    let value = draw(&assignment.value, &mut self.rng, &mut self.places[*kind]);
                    if self.assigns(thread, &assignment.name, value) {
                        self.dispatcher.changes(thread)?;
                    }
                }
            }
            Action::Suspend(kind) => self.suspends(*kind)?,
            Action::Resume(kind) => self.resumes(*kind)?,
            Action::Processors(count) => {
                let count = *count as usize;
                // Threads on a processor that leaves do not run any more.
                for processor in count..self.processors.len() {
                    self.stops(processor);
                }
                self.dispatcher.set_processors(count)?;
                self.processors.resize(count, Cpu::default());
                self.measures.processors(self.now, count);
            }
        }
        Ok(())
    }

    // ---- Threads

    /// They come at `instant`. The host may hear of it later.
    fn arrives(&mut self, kind: usize, instant: i64) -> Done {
        let thread = &self.scenario.threads[kind];
        let count = thread.count.unwrap_or(u32::MAX);
        let together = if thread.every.is_none() { count } else { 1 };
        for _ in 0..together {
            self.create(kind, 0, instant, 0)?;
        }
        if let Some(every) = &thread.every
            && self.kinds[kind].came < count
        {
            let after = self.drawn(kind, every);
            self.plan(instant + after, Happening::Arrival(kind));
        }
        Ok(())
    }

    /// The generation of a thread that `creator` creates now.
    fn next_generation(&self, creator: ThreadId) -> usize {
        let came_now = self.live(creator).filter(|creator| creator.came == self.now);
        came_now.map_or(0, |creator| creator.generation + 1)
    }

    fn create(&mut self, kind: usize, processor: usize, came: i64, generation: usize) -> Done {
        self.may_come(kind, generation)?;
        self.kinds[kind].came = self.kinds[kind].came.saturating_add(1);
        let values = self.values(Some(kind));
        let values: Vec<(&str, Value)> = values.iter().map(|one| (one.name.as_str(), one.value)).collect();
        let released = self.scenario.threads[kind].period.map(|_| came);
        match self.dispatcher.create(processor, self.scenario.threads[kind].under, &values, released)? {
            Admitted::Refused(thread, reason) => self.measures.refused(kind, thread, &reason, self.now),
            Admitted::Yes(thread) => {
                self.dispatcher.introduce(thread, &self.scenario.threads[kind].name, &values);
                let index = thread.0 as usize - 1;
                if self.lives.len() <= index {
                    self.lives.resize_with(index + 1, || None);
                }
                self.births += 1;
                let urgency = self.first_urgency(thread, &values);
                let own_ceiling = self.own_ceiling(thread);
                self.lives[index] = Some(Live {
                    kind,
                    place: self.kinds[kind].living.len(),
                    life: self.births,
                    phase: 0,
                    left: None,
                    rounds: Vec::new(),
                    released: came,
                    came,
                    generation,
                    timers: BTreeMap::new(),
                    waits: false,
                    since: 0,
                    polled: false,
                    job_done: false,
                    between_jobs: false,
                    wants: None,
                    held: Vec::new(),
                    gives_up: false,
                    urgency,
                    own_urgency: urgency,
                    own_ceiling,
                });
                self.kinds[kind].living.push(thread);
                self.is_ready(thread);
                self.living += 1;
                self.measures.came(kind, thread, self.now);
            }
        }
        Ok(())
    }

    /// Stops scenarios whose threads create threads without end, while there is memory.
    fn may_come(&mut self, kind: usize, generation: usize) -> Done {
        let name = &self.scenario.threads[kind].name;
        self.again_at_once += u32::from(generation > self.kinds.len());
        if self.again_at_once > MOST_AGAIN_AT_ONCE {
            return Err(self.impossible(&format!(
                "time stands still: each `{name}` leads to another one at once; let time pass before that, by `run` or `sleep`"
            )));
        }
        if self.living >= MOST_LIVING {
            return Err(
                self.impossible(&format!("more than {MOST_LIVING} threads live at once when another `{name}` comes"))
            );
        }
        Ok(())
    }

    /// Wakes all of them at once.
    fn wakes(&mut self, threads: &[ThreadId]) -> Done {
        for thread in threads {
            if let Some(live) = self.live_mut(*thread) {
                live.waits = false;
                if std::mem::take(&mut live.between_jobs) {
                    self.dispatcher.releases(*thread)?;
                }
            }
            self.measures.ready(*thread, self.now);
        }
        threads.iter().for_each(|thread| self.is_ready(*thread));
        self.dispatcher.unblocks(threads)?;
        threads.iter().for_each(|thread| self.is_suspended(*thread));
        Ok(())
    }

    /// If a thread runs, `settle` notices its suspension when it has lost its processor.
    fn suspends(&mut self, kind: usize) -> Done {
        for thread in self.kinds[kind].living.clone() {
            self.passes_on(thread)?;
            self.dispatcher.suspends(thread)?;
            self.is_suspended(thread);
        }
        Ok(())
    }

    fn resumes(&mut self, kind: usize) -> Done {
        for thread in self.kinds[kind].living.clone() {
            let suspended = self.dispatcher.is_suspended(thread);
            let waits = !suspended && self.dispatcher.is_set_aside(thread);
            self.dispatcher.resumes(thread)?;
            if waits {
                self.looks_after_all(thread)?;
            }
            if suspended && !self.dispatcher.is_suspended(thread) {
                self.is_ready(thread);
                self.measures.ready(thread, self.now);
            }
        }
        Ok(())
    }

    /// A suspended thread does not wait for a processor.
    fn is_suspended(&mut self, thread: ThreadId) {
        if self.dispatcher.is_suspended(thread) {
            self.measures.suspended(thread, self.now);
        }
    }

    /// Lets the dispatcher decide, and follows its decisions. All threads that got a processor go on before the effects
    /// that they cause happen.
    fn settle(&mut self) -> Done {
        loop {
            self.effects_happen()?;
            self.host_preempts()?;
            self.looks_at_lines()?;
            self.dispatcher.settle()?;
            for thread in self.dispatcher.take_suspended() {
                self.is_suspended(thread);
            }
            let mut got = false;
            for processor in 0..self.processors.len() {
                let current = self.dispatcher.current(processor);
                if self.processors[processor].running != current {
                    self.stops(processor);
                    got |= current.is_some();
                }
                self.turns(processor);
                let ticking = self.processors[processor].ticking || !self.ticks;
                if !ticking && self.processors[processor].running.is_some() && self.dispatcher.someone_waits(processor)
                {
                    self.processors[processor].ticking = true;
                    self.plan(
                        self.now + self.scenario.tick,
                        Happening::Tick(processor, self.processors[processor].turn),
                    );
                }
            }
            if got {
                for processor in 0..self.processors.len() {
                    if self.processors[processor].running.is_none() {
                        self.starts(processor)?;
                    }
                }
            } else if !self.unheard.is_empty() && self.is_idle() {
                self.looks();
            } else {
                break;
            }
        }
        self.measures.notice();
        Ok(())
    }

    /// The processor's thread does not run any more: it must wait, or was preempted.
    fn stops(&mut self, processor: usize) {
        let waits = self.processors[processor].running.is_none_or(|thread| {
            self.live(thread).is_none_or(|live| live.waits) || self.dispatcher.is_suspended(thread)
        });
        self.leaves(processor, if waits { Leaving::Waits } else { Leaving::Preempted });
    }

    /// The running thread may go on with another turn, its own or a lent one.
    fn turns(&mut self, processor: usize) {
        let turn_of = self.dispatcher.turn(processor);
        if let Some(running) = self.processors[processor].running
            && let Some(turn) = turn_of.filter(|_| turn_of != self.processors[processor].turn_of)
        {
            self.processors[processor].turn_of = turn_of;
            self.measures.turns(running, processor, turn, self.now);
        }
    }

    /// The processor's thread gives it up. If it runs again, even at once, that is another turn.
    fn gives_up(&mut self, processor: usize) {
        self.leaves(processor, Leaving::Yields);
    }

    pub(super) fn leaves(&mut self, processor: usize, why: Leaving) {
        let cpu = &mut self.processors[processor];
        let Some(thread) = cpu.running.take() else { return };
        self.turns += 1;
        cpu.turn = self.turns;
        (cpu.ticking, cpu.switching) = (false, false);
        let (since, now) = (cpu.since, self.now);
        let kind = self.kind_of(thread);
        // It may have left before the switch to it was over.
        if since < now {
            self.measures.ran(kind, since, now);
            if let Some(live) = self.live_mut(thread) {
                live.left = live.left.map(|left| (left - (now - since)).max(0));
            }
        }
        self.measures.stops(kind, thread, processor, now, why);
    }

    fn starts(&mut self, processor: usize) -> Done {
        let Some(thread) = self.dispatcher.current(processor) else { return Ok(()) };
        self.runs_for_itself(thread);
        let (now, kind) = (self.now, self.kind_of(thread));
        let turn_of = self.dispatcher.turn(processor).unwrap_or(thread);
        let cpu = &mut self.processors[processor];
        (cpu.running, cpu.turn_of) = (Some(thread), Some(turn_of));
        self.turns += 1;
        cpu.turn = self.turns;
        let cost = if cpu.last == Some(thread) { 0 } else { self.scenario.switch_cost };
        cpu.last = Some(thread);
        cpu.since = now + cost;
        let ends = (cpu.since, cpu.turn);
        self.measures.starts(kind, thread, processor, turn_of, now);
        match self.live(thread).and_then(|live| live.left) {
            Some(0) => self.has_computed(thread),
            Some(left) => {
                self.computes_until(ends.0 + left, Computed { processor, turn: ends.1 });
                return Ok(());
            }
            None => {}
        }
        if cost > 0 {
            // A thread does nothing before the switch to it is over.
            let computes = self.live(thread).and_then(|live| self.scenario.threads[live.kind].phases.get(live.phase));
            if !matches!(computes, Some(Phase::Run(_))) {
                self.processors[processor].switching = true;
                self.computes_until(ends.0, Computed { processor, turn: ends.1 });
                return Ok(());
            }
        }
        self.run_instantaneous(processor)
    }

    fn waits_until(&mut self, thread: ThreadId, instant: i64) {
        let since = self.begins_wait();
        let Some(live) = self.live_mut(thread) else { return };
        (live.waits, live.since, live.polled, live.gives_up) = (true, since, false, false);
        let life = live.life;
        self.plan(instant, Happening::Wake(thread.0, life));
    }

    fn waits_for_ever(&mut self, processor: usize, thread: ThreadId, event: Option<EventId>) -> Done {
        let since = self.begins_wait();
        if let Some(live) = self.live_mut(thread) {
            (live.waits, live.since, live.gives_up) = (true, since, false);
        }
        self.blocks_in(processor, event)
    }

    /// The thread has left the processor even if it is woken and dispatched there again at this instant.
    fn blocks_in(&mut self, processor: usize, event: Option<EventId>) -> Done {
        let Some(event) = event else { return Err(self.impossible("no event of the framework blocks a thread")) };
        self.leaves(processor, Leaving::Waits);
        self.dispatcher.blocks(processor, event)
    }

    // ---- Books

    fn plan(&mut self, instant: i64, happening: Happening) {
        let processors = &self.processors;
        self.planned.add(instant, happening, |planned| planned.can_happen(processors));
    }

    fn drawn(&mut self, kind: usize, amount: &Amount) -> i64 {
        nanoseconds(draw(amount, &mut self.rng, &mut self.places[kind]))
    }

    /// The scenario's first assignments; of a kind, those to a new thread.
    fn values(&mut self, kind: Option<usize>) -> Vec<Assigned> {
        let scenario = self.scenario;
        let values = kind.map_or(&scenario.values, |kind| &scenario.threads[kind].values);
        let mut place = 0;
        values
            .iter()
            .map(|one| {
                let place = kind.map_or(&mut place, |kind| &mut self.places[kind]);
                Assigned { name: one.name.clone(), value: draw(&one.value, &mut self.rng, place) }
            })
            .collect()
    }

    fn processors_now(&self) -> Vec<Option<(ThreadId, i64)>> {
        self.processors.iter().map(|cpu| cpu.running.map(|thread| (thread, cpu.since))).collect()
    }

    fn kind_of(&self, thread: ThreadId) -> usize {
        self.live(thread).map_or(0, |live| live.kind)
    }

    fn live(&self, thread: ThreadId) -> Option<&Live> {
        self.lives.get(thread.0 as usize - 1)?.as_ref()
    }

    fn live_mut(&mut self, thread: ThreadId) -> Option<&mut Live> {
        self.lives.get_mut(thread.0 as usize - 1)?.as_mut()
    }

    fn impossible(&self, why: &str) -> Out {
        Out { time: self.now, event: String::new(), line: 0, why: why.to_owned() }
    }
}

struct Assigned {
    name: String,
    value: Value,
}
