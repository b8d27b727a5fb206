//! Measures a simulation, and judges it by its expectations. The number of living threads bounds the memory.

mod verdicts;

use catapults_compiler::interp::ThreadId;
use catapults_compiler::scenario::{Exact, Expectation, Expected, Measure, Relation, Scenario, Statistic, Unit};

use super::distribution::Distribution;
use super::durations::exact;
use super::shares::Shares;
use super::timeline::Timeline;
use crate::picture::State;

/// What was measured of a kind.
#[derive(Clone, Debug)]
pub struct Tally {
    /// How long its threads ran.
    pub ran: i128,
    /// How long its jobs took.
    pub response: Distribution,
    /// How long the longest unfinished job had taken at the end, if there is one. The job takes longer than that.
    pub undone: Option<i64>,
    /// How long its threads were ready before they ran.
    pub latency: Distribution,
    /// Jobs that were done.
    pub jobs: u64,
    /// Jobs that were done too late, or were due and not done.
    pub misses: u64,
    /// How often its threads got a processor.
    pub dispatches: u64,
    /// How often they lost it although they could have gone on.
    pub preemptions: u64,
    /// How many threads the policy refused.
    pub refusals: u64,
    /// How many threads came.
    pub came: u64,
    /// When the last one ended; `None`: some have not ended, or none has come.
    pub end: Option<i64>,
}

/// Whether something is as expected.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The expectation, as in the scenario.
    pub text: String,
    /// Whether it holds.
    pub holds: bool,
    /// What was found.
    pub found: String,
    /// When it was first seen not to hold.
    pub since: Option<i64>,
    /// The thread of which that was seen, by its number in the timeline.
    pub thread: Option<u64>,
    /// The kinds that it is about, as indices of the scenario's threads.
    pub kinds: Vec<usize>,
}

/// The measures of a scenario.
pub(super) struct Measures<'a> {
    scenario: &'a Scenario,
    /// By kind, for the whole time.
    pub(super) tallies: Vec<Tally>,
    watches: Vec<Watch<'a>>,
    pub(super) timeline: Timeline,
    pub(super) shares: Shares,
    threads: Vec<Seen>,
    now: i64,
    /// The thread that runs on each processor.
    running: Vec<Option<(usize, ThreadId)>>,
    /// By kind.
    living: Vec<u64>,
    /// When the first thread of each kind came or was refused.
    first: Vec<Option<i64>>,
    /// Whether a thread of each kind has ended.
    any_ended: Vec<bool>,
    /// When a thread ended last.
    pub(super) last_end: Option<i64>,
    diverged: bool,
}

/// Why a thread stops running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaving {
    /// It must wait.
    Waits,
    /// It gives the processor up.
    Yields,
    /// It could have gone on.
    Preempted,
}

/// What is known of a thread.
#[derive(Clone, Copy, Default)]
struct Seen {
    ready_since: Option<i64>,
}

/// An expectation, and what is known about it so far.
struct Watch<'a> {
    expectation: &'a Expectation,
    /// If it has a window.
    tally: Option<Tally>,
    since: Option<i64>,
    found: Option<String>,
    /// The thread of which that was seen, by its number in the timeline.
    thread: Option<u64>,
    /// How many of the expected dispatches have come.
    next: usize,
    /// Whether the expected reason has come, and the last other one.
    is_said: bool,
    said: String,
}

impl Tally {
    fn new() -> Self {
        Tally {
            ran: 0,
            response: Distribution::new(),
            undone: None,
            latency: Distribution::new(),
            jobs: 0,
            misses: 0,
            dispatches: 0,
            preemptions: 0,
            refusals: 0,
            came: 0,
            end: None,
        }
    }

    /// The longest response, and whether it is that of an unfinished job, which takes longer than this.
    pub fn worst_response(&self) -> Option<(i64, bool)> {
        let done = self.response.statistic(Statistic::Worst);
        match self.undone.filter(|undone| done.is_none_or(|done| *undone >= done)) {
            Some(undone) => Some((undone, true)),
            None => done.map(|done| (done, false)),
        }
    }
}

impl<'a> Measures<'a> {
    pub(super) fn new(scenario: &'a Scenario) -> Self {
        let watches = scenario.expectations.iter().map(|expectation| {
            let windowed = matches!(expectation.what, Expected::Measure { window: Some(_), .. });
            Watch {
                expectation,
                tally: windowed.then(Tally::new),
                since: None,
                found: None,
                thread: None,
                next: 0,
                is_said: false,
                said: String::new(),
            }
        });
        let processors = scenario.processors as usize;
        Measures {
            scenario,
            tallies: scenario.threads.iter().map(|_| Tally::new()).collect(),
            watches: watches.collect(),
            timeline: Timeline::new(),
            shares: Shares::new(scenario.threads.len(), processors),
            threads: Vec::new(),
            now: 0,
            running: vec![None; processors],
            living: vec![0; scenario.threads.len()],
            first: vec![None; scenario.threads.len()],
            any_ended: vec![false; scenario.threads.len()],
            last_end: None,
            diverged: false,
        }
    }

    // ---- What happens

    pub(super) fn came(&mut self, kind: usize, thread: ThreadId, now: i64) {
        self.now = now;
        self.first[kind].get_or_insert(now);
        self.living[kind] += 1;
        // The thread that ended last is not the last one any more.
        self.tallies[kind].end = None;
        let index = thread.0 as usize - 1;
        if self.threads.len() <= index {
            self.threads.resize(index + 1, Seen::default());
        }
        self.threads[index] = Seen { ready_since: Some(now) };
        self.timeline.came(thread, kind, now);
        self.each(kind, Some(thread), now, |tally| tally.came += 1);
    }

    pub(super) fn refused(&mut self, kind: usize, _thread: ThreadId, reason: &str, now: i64) {
        self.now = now;
        self.first[kind].get_or_insert(now);
        self.each(kind, None, now, |tally| tally.refusals += 1);
        for watch in &mut self.watches {
            match &watch.expectation.what {
                Expected::Reason(of, expected) if *of == kind && expected != reason => {
                    watch.fails(now, None, format!("one was refused because \"{reason}\""));
                }
                Expected::Says(of, expected) if *of == kind => {
                    watch.is_said |= expected == reason;
                    reason.clone_into(&mut watch.said);
                }
                Expected::Reason(..)
                | Expected::Says(..)
                | Expected::Measure { .. }
                | Expected::Order(_)
                | Expected::Dispatched(_)
                | Expected::NeverOverlaps(..)
                | Expected::Runs(..) => {}
            }
        }
    }

    pub(super) fn ready(&mut self, thread: ThreadId, now: i64) {
        self.now = now;
        if let Some(seen) = self.threads.get_mut(thread.0 as usize - 1) {
            seen.ready_since.get_or_insert(now);
        }
        self.timeline.change(thread, State::Ready, now);
    }

    /// A thread is suspended. If it was ready, it waits no longer.
    pub(super) fn suspended(&mut self, thread: ThreadId, now: i64) {
        self.now = now;
        let seen = self.threads.get_mut(thread.0 as usize - 1);
        if seen.and_then(|seen| seen.ready_since.take()).is_some() {
            self.timeline.change(thread, State::Blocked, now);
        }
    }

    /// `turn`: the thread whose turn it is.
    pub(super) fn starts(&mut self, kind: usize, thread: ThreadId, processor: usize, turn: ThreadId, now: i64) {
        self.now = now;
        let waited = self.threads.get_mut(thread.0 as usize - 1).and_then(|seen| seen.ready_since.take());
        let number = self.timeline.number_of(thread);
        self.each(kind, Some(thread), now, |tally| {
            tally.dispatches += 1;
            if let Some(since) = waited {
                tally.latency.add(now - since);
            }
        });
        self.timeline.runs(thread, processor, turn, now);
        if self.running.len() <= processor {
            self.running.resize(processor + 1, None);
        }
        self.running[processor] = Some((kind, thread));
        let others = self.running.iter().enumerate().filter(|(other, _)| *other != processor);
        let runs = |kind: usize| others.clone().any(|(_, one)| one.is_some_and(|(one, _)| one == kind));
        for watch in &mut self.watches {
            match &watch.expectation.what {
                Expected::NeverOverlaps(left, right) => {
                    let other = if kind == *left { *right } else { *left };
                    if (kind == *left || kind == *right) && runs(other) {
                        watch.fails(now, number, "they do".to_owned());
                    }
                }
                Expected::Runs(of, within) if *of == kind => {
                    if let Some(since) = waited.filter(|since| now - since > *within) {
                        watch.fails(since + within, number, format!("one waits for {}", exact(now - since)));
                    }
                }
                Expected::Dispatched(kinds) => {
                    if let Some(expected) = kinds.get(watch.next) {
                        if *expected != kind {
                            let place = watch.next + 1;
                            let name = &self.scenario.threads[kind].name;
                            watch.fails(now, number, format!("number {place} is `{name}`"));
                        }
                        watch.next += 1;
                    }
                }
                Expected::Measure { .. }
                | Expected::Order(_)
                | Expected::Runs(..)
                | Expected::Reason(..)
                | Expected::Says(..) => {}
            }
        }
    }

    /// The running thread goes on, on another turn.
    pub(super) fn turns(&mut self, thread: ThreadId, processor: usize, turn: ThreadId, now: i64) {
        self.timeline.runs(thread, processor, turn, now);
    }

    pub(super) fn stops(&mut self, kind: usize, thread: ThreadId, processor: usize, now: i64, why: Leaving) {
        self.now = now;
        let ready = why != Leaving::Waits;
        if let Some(running) = self.running.get_mut(processor) {
            *running = None;
        }
        if let Some(seen) = self.threads.get_mut(thread.0 as usize - 1).filter(|_| ready) {
            seen.ready_since = Some(now);
        }
        if why == Leaving::Preempted {
            self.each(kind, Some(thread), now, |tally| tally.preemptions += 1);
        }
        self.timeline.change(thread, if ready { State::Ready } else { State::Blocked }, now);
    }

    /// A thread of this kind has computed.
    pub(super) fn ran(&mut self, kind: usize, since: i64, until: i64) {
        self.tallies[kind].ran += i128::from(until - since);
        self.shares.ran(kind, since, until);
        for watch in &mut self.watches {
            if let Expected::Measure { of, window: Some((from, to)), measure, .. } = &watch.expectation.what
                && (*of == Some(kind) || *measure == Measure::Idle)
                && let Some(tally) = &mut watch.tally
            {
                tally.ran += i128::from((until.min(*to) - since.max(*from)).max(0));
            }
        }
    }

    pub(super) fn job_done(&mut self, kind: usize, thread: ThreadId, released: i64, now: i64) {
        let response = now - released;
        let deadline = self.scenario.threads[kind].deadline;
        let late = deadline.is_some_and(|deadline| response > deadline);
        if let Some(deadline) = deadline {
            self.timeline.due(thread, released.saturating_add(deadline), late);
        }
        self.each(kind, Some(thread), now, |tally| {
            tally.jobs += 1;
            tally.misses += u64::from(late);
            tally.response.add(response);
        });
    }

    /// A job that was due then is not done at the end.
    pub(super) fn overdue(&mut self, kind: usize, thread: ThreadId, due: i64) {
        self.timeline.due(thread, due, true);
        self.each(kind, Some(thread), due, |tally| tally.misses += 1);
    }

    /// A job that was released then is not done at the end.
    pub(super) fn unfinished(&mut self, kind: usize, thread: ThreadId, released: i64, now: i64) {
        let taken = now - released;
        if taken <= 0 || self.scenario.threads[kind].is_endless() {
            return;
        }
        let number = self.timeline.number_of(thread);
        let longer = |tally: &mut Tally| tally.undone = tally.undone.max(Some(taken));
        longer(&mut self.tallies[kind]);
        for watch in &mut self.watches {
            let Expected::Measure { measure, of, window, relation, bound, tolerance } = &watch.expectation.what else {
                continue;
            };
            let is_of = *measure == Measure::Response(Statistic::Worst) && *of == Some(kind);
            if !is_of || window.is_some_and(|(from, to)| !(from..=to).contains(&now)) {
                continue;
            }
            if let Some(tally) = &mut watch.tally {
                longer(tally);
            }
            let most = match relation {
                Relation::Less | Relation::LessOrEqual => *bound,
                Relation::Equal => *bound + *tolerance,
                Relation::Greater | Relation::GreaterOrEqual => continue,
            };
            if Exact::from(taken) >= most {
                let late = released.saturating_add(i64::try_from(most.floor()).unwrap_or(i64::MAX));
                watch.seen(late, number);
            }
        }
    }

    pub(super) fn ended(&mut self, kind: usize, thread: ThreadId, now: i64) {
        let number = self.timeline.number_of(thread);
        self.living[kind] -= 1;
        (self.any_ended[kind], self.last_end) = (true, Some(now));
        if self.living[kind] == 0 {
            self.tallies[kind].end = Some(now);
        }
        self.timeline.change(thread, State::Ended, now);
        let (living, any_ended) = (&self.living, &self.any_ended);
        let name = |kind: usize| &self.scenario.threads[kind].name;
        for watch in &mut self.watches {
            let Expected::Order(kinds) = &watch.expectation.what else { continue };
            let Some(place) = kinds.iter().position(|one| *one == kind) else { continue };
            // A thread that comes later also ends later.
            if let Some(before) = kinds[..place].iter().find(|before| living[**before] > 0) {
                watch.fails(now, number, format!("`{}` ends before `{}`", name(kind), name(*before)));
            }
            if let Some(after) = kinds[place + 1..].iter().find(|after| any_ended[**after]) {
                watch.fails(now, number, format!("`{}` ends before `{}`", name(*after), name(kind)));
            }
        }
    }

    /// Changes the number of processors.
    pub(super) fn processors(&mut self, now: i64, count: usize) {
        self.shares.processors(now, count);
        self.running.truncate(count);
    }

    /// The simulation ends.
    pub(super) fn ends(&mut self, now: i64, running: &[Option<(ThreadId, i64)>]) {
        for (processor, one) in running.iter().enumerate() {
            let kind = self.running.get(processor).copied().flatten().map(|(kind, _)| kind);
            if let (Some((_, since)), Some(kind)) = (one, kind)
                && *since < now
            {
                self.ran(kind, *since, now);
            }
        }
        self.now = now;
        let worst: Vec<i64> = self.tallies.iter().map(|tally| tally.latency.worst()).collect();
        for index in 0..self.threads.len() {
            // Threads that are still ready.
            let Some(since) = self.threads[index].ready_since else { continue };
            let thread = u32::try_from(index + 1).ok().map(ThreadId);
            let Some(kind) = thread.and_then(|thread| self.timeline.kind_of(thread)) else { continue };
            if now - since > worst[kind] {
                self.each(kind, thread, now, |tally| tally.latency.add(now - since));
            }
            let number = thread.and_then(|thread| self.timeline.number_of(thread));
            for watch in &mut self.watches {
                if let Expected::Runs(of, within) = watch.expectation.what
                    && of == kind
                    && now - since > within
                {
                    watch.fails(since + within, number, format!("one waits for {} and more", exact(now - since)));
                }
            }
        }
        self.timeline.ends(now);
    }

    /// Adds to what is measured of a kind, and watches the expectations that can be seen to fail at once.
    fn each(&mut self, kind: usize, thread: Option<ThreadId>, now: i64, add: impl Fn(&mut Tally)) {
        let number = thread.and_then(|thread| self.timeline.number_of(thread));
        add(&mut self.tallies[kind]);
        let whole = &self.tallies[kind];
        for watch in &mut self.watches {
            let Expected::Measure { measure, of, window, relation, bound, .. } = &watch.expectation.what else {
                continue;
            };
            if *of != Some(kind) {
                continue;
            }
            let tally = match (window, &mut watch.tally) {
                (Some((from, to)), Some(tally)) => {
                    if now < *from || now > *to {
                        continue;
                    }
                    add(tally);
                    &*tally
                }
                (_, _) => whole,
            };
            // More only makes it worse.
            let grows = matches!(relation, Relation::Less | Relation::LessOrEqual);
            let value = match measure {
                Measure::Response(Statistic::Worst) => Exact::from(tally.response.worst()),
                Measure::Latency(Statistic::Worst) => Exact::from(tally.latency.worst()),
                Measure::Misses => many(tally.misses),
                Measure::Dispatches => many(tally.dispatches),
                Measure::Preemptions => many(tally.preemptions),
                Measure::Refusals => many(tally.refusals),
                Measure::Jobs => many(tally.jobs),
                Measure::Share | Measure::Idle | Measure::End | Measure::Response(_) | Measure::Latency(_) => continue,
            };
            let too_much = *relation == Relation::Equal && value > *bound && measure.unit() == Unit::Count;
            if too_much || grows && !relation.holds(value, *bound, Exact::from(0)) {
                watch.seen(now, number);
            }
        }
    }

    /// Once an expectation is seen to fail, the timeline keeps what is around that.
    pub(super) fn notice(&mut self) {
        if !self.diverged && self.watches.iter().any(|watch| watch.since.is_some()) {
            self.diverged = true;
            self.timeline.found();
        }
    }

    /// When an expectation was first seen to fail.
    pub(super) fn first_divergence(&self) -> Option<i64> {
        self.watches.iter().filter_map(|watch| watch.since).min()
    }

    /// The verdicts on all expectations.
    pub(super) fn verdicts(&self) -> Vec<Verdict> {
        self.watches.iter().map(|watch| self.verdict(watch)).collect()
    }

    /// The time of all processors between two instants, up to now.
    pub(super) fn capacity(&self, from: i64, to: i64) -> i128 {
        self.shares.capacity(from, to.min(self.now))
    }
}

fn many(count: u64) -> Exact {
    Exact::new(i128::from(count), 1)
}

impl Watch<'_> {
    fn fails(&mut self, now: i64, thread: Option<u64>, found: String) {
        if self.since.is_none() {
            self.found = Some(found);
        }
        self.seen(now, thread);
    }

    fn seen(&mut self, now: i64, thread: Option<u64>) {
        if self.since.is_none() {
            (self.since, self.thread) = (Some(now), thread);
        }
    }
}
