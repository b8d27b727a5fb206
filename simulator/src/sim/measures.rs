//! What is measured while a simulation runs, and whether it is as expected. Memory is bounded by the threads that live.

use catapults_compiler::interp::ThreadId;
use catapults_compiler::scenario::{Expectation, Expected, Measure, Relation, Scenario, Statistic, Unit};
use catapults_compiler::vocabulary::in_unit;
use hdrhistogram::Histogram;

use super::shares::Shares;
use super::timeline::Timeline;
use crate::picture::State;

/// What was measured of a kind of threads.
#[derive(Clone, Debug)]
pub struct Tally {
    /// How long they ran.
    pub ran: i128,
    /// How long their jobs took.
    pub response: Distribution,
    /// How long they were ready before they ran.
    pub latency: Distribution,
    /// Jobs done; and those done too late, or not at all.
    pub jobs: u64,
    /// See above.
    pub misses: u64,
    /// How often they got a processor.
    pub dispatches: u64,
    /// How often they lost it and could have gone on.
    pub preemptions: u64,
    /// How many the policy did not admit.
    pub refusals: u64,
    /// How many came.
    pub came: u64,
    /// When the last one ended; `None`: some have not, or none came.
    pub end: Option<i64>,
}

/// Many durations.
#[derive(Clone, Debug)]
pub struct Distribution {
    /// As long as they are few.
    all: Vec<i64>,
    /// Of many.
    histogram: Option<Box<Histogram<u64>>>,
    worst: i64,
    sum: i128,
}

/// So many durations are kept one by one.
const FEW: usize = 4096;

/// Whether something is as expected.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// As in the scenario.
    pub text: String,
    /// Whether it is.
    pub holds: bool,
    /// What is so instead, or too.
    pub found: String,
    /// When it was first seen not to be so.
    pub since: Option<i64>,
}

/// Measures of a scenario.
pub(super) struct Measures<'a> {
    scenario: &'a Scenario,
    /// Of each kind, all the time.
    pub(super) tallies: Vec<Tally>,
    watches: Vec<Watch<'a>>,
    pub(super) timeline: Timeline,
    pub(super) shares: Shares,
    threads: Vec<Seen>,
    now: i64,
    /// Who runs on each processor.
    running: Vec<Option<(usize, ThreadId)>>,
    /// Of each kind: who ended, in all.
    living: Vec<u64>,
    diverged: bool,
}

/// Why a thread does not run any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaving {
    /// It has to.
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

/// An expectation, and what is known of it so far.
struct Watch<'a> {
    expectation: &'a Expectation,
    /// Of a window.
    tally: Option<Tally>,
    since: Option<i64>,
    found: Option<String>,
    /// How far an order has come.
    next: usize,
}

impl Distribution {
    pub(crate) fn new() -> Self {
        Distribution { all: Vec::new(), histogram: None, worst: 0, sum: 0 }
    }

    pub(crate) fn add(&mut self, nanoseconds: i64) {
        if self.histogram.is_none() && self.all.len() < FEW {
            self.all.push(nanoseconds);
        } else {
            let _ = self.many().map(|histogram| histogram.record(nanoseconds.unsigned_abs()));
        }
        self.worst = self.worst.max(nanoseconds);
        self.sum += i128::from(nanoseconds);
    }

    /// All of them.
    fn many(&mut self) -> Option<&mut Histogram<u64>> {
        if self.histogram.is_none() {
            // Three digits, growing as it must.
            let mut histogram = Histogram::new(3).ok().map(Box::new)?;
            for one in self.all.drain(..) {
                let _ = histogram.record(one.unsigned_abs());
            }
            self.histogram = Some(histogram);
        }
        self.histogram.as_deref_mut()
    }

    /// Adds all of another one.
    pub(crate) fn append(&mut self, mut other: Distribution) {
        other.all.drain(..).for_each(|one| self.add(one));
        if let Some(histogram) = other.histogram {
            let sum = other.sum;
            for step in histogram.iter_recorded() {
                let _ = self.many().map(|all| all.record_n(step.value_iterated_to(), step.count_at_value()));
            }
            (self.worst, self.sum) = (self.worst.max(other.worst), self.sum + sum);
        }
    }

    /// The longest.
    pub(crate) fn worst(&self) -> i64 {
        self.worst
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.all.len() as u64 + self.histogram.as_ref().map_or(0, |histogram| histogram.len())
    }

    /// One number for them; quantiles of more than 4,096 are exact to three digits, and never too high. `None`: there are none.
    pub fn statistic(&self, statistic: Statistic) -> Option<i64> {
        if self.count() == 0 {
            return None;
        }
        Some(match statistic {
            Statistic::Worst => self.worst,
            Statistic::Mean => i64::try_from(self.sum / i128::from(self.count())).unwrap_or(i64::MAX),
            Statistic::Quantile(thousandths) => match &self.histogram {
                Some(histogram) => {
                    let value = histogram.value_at_quantile(f64::from(thousandths) / 1000.0);
                    i64::try_from(histogram.lowest_equivalent(value)).unwrap_or(i64::MAX)
                }
                None => {
                    let mut all = self.all.clone();
                    all.sort_unstable();
                    // The first that so many are no higher than.
                    let place = (all.len() * usize::from(thousandths)).div_ceil(1000).max(1) - 1;
                    all[place]
                }
            },
        })
    }

    /// The distribution, as pairs of a duration and how many were no longer, in hundredths.
    pub fn curve(&self) -> Vec<(i64, f64)> {
        let total = self.count().max(1) as f64;
        let mut sum = 0;
        if self.histogram.is_none() {
            let mut all = self.all.clone();
            all.sort_unstable();
            let steps = all.iter().enumerate();
            return steps.map(|(place, time)| (*time, (place + 1) as f64 * 100.0 / total)).collect();
        }
        let recorded = self.histogram.iter().flat_map(|histogram| histogram.iter_recorded());
        recorded
            .map(|step| {
                sum += step.count_at_value();
                (i64::try_from(step.value_iterated_to()).unwrap_or(i64::MAX), sum as f64 * 100.0 / total)
            })
            .collect()
    }
}

impl Tally {
    fn new() -> Self {
        Tally {
            ran: 0,
            response: Distribution::new(),
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
}

impl<'a> Measures<'a> {
    pub(super) fn new(scenario: &'a Scenario) -> Self {
        let watches = scenario.expectations.iter().map(|expectation| {
            let windowed = matches!(expectation.what, Expected::Measure { window: Some(_), .. });
            Watch { expectation, tally: windowed.then(Tally::new), since: None, found: None, next: 0 }
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
            diverged: false,
        }
    }

    // ---- What happens

    pub(super) fn came(&mut self, kind: usize, thread: ThreadId, now: i64) {
        self.now = now;
        self.tallies[kind].came += 1;
        self.living[kind] += 1;
        let index = thread.0 as usize - 1;
        if self.threads.len() <= index {
            self.threads.resize(index + 1, Seen::default());
        }
        self.threads[index] = Seen { ready_since: Some(now) };
        self.timeline.came(thread, kind, now);
    }

    pub(super) fn refused(&mut self, kind: usize, _thread: ThreadId, reason: &str, now: i64) {
        self.now = now;
        self.each(kind, now, |tally| tally.refusals += 1);
        for watch in &mut self.watches {
            if let Expected::Reason(of, expected) = &watch.expectation.what
                && *of == kind
                && expected != reason
            {
                watch.fails(now, format!("one was refused because \"{reason}\""));
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

    /// A thread that was ready.
    pub(super) fn suspended(&mut self, thread: ThreadId, now: i64) {
        self.now = now;
        let seen = self.threads.get_mut(thread.0 as usize - 1);
        if seen.and_then(|seen| seen.ready_since.take()).is_some() {
            self.timeline.change(thread, State::Blocked, now);
        }
    }

    /// `turn`: whose it is.
    pub(super) fn starts(&mut self, kind: usize, thread: ThreadId, processor: usize, turn: ThreadId, now: i64) {
        self.now = now;
        let waited = self.threads.get_mut(thread.0 as usize - 1).and_then(|seen| seen.ready_since.take());
        self.each(kind, now, |tally| {
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
                        watch.fails(now, "they do".to_owned());
                    }
                }
                Expected::Runs(of, within) if *of == kind => {
                    if let Some(since) = waited.filter(|since| now - since > *within) {
                        watch.fails(since + within, format!("one waits for {}", duration(now - since)));
                    }
                }
                Expected::Dispatched(kinds) => {
                    if let Some(expected) = kinds.get(watch.next) {
                        if *expected != kind {
                            let number = watch.next + 1;
                            let name = &self.scenario.threads[kind].name;
                            watch.fails(now, format!("number {number} is `{name}`"));
                        }
                        watch.next += 1;
                    }
                }
                Expected::Measure { .. } | Expected::Order(_) | Expected::Runs(..) | Expected::Reason(..) => {}
            }
        }
    }

    /// Who runs goes on, on another turn.
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
            self.each(kind, now, |tally| tally.preemptions += 1);
        }
        self.timeline.change(thread, if ready { State::Ready } else { State::Blocked }, now);
    }

    /// A thread of this kind computed.
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
        self.each(kind, now, |tally| {
            tally.jobs += 1;
            tally.misses += u64::from(late);
            tally.response.add(response);
        });
    }

    /// In the end a job is not done that was due then.
    pub(super) fn overdue(&mut self, kind: usize, thread: ThreadId, due: i64) {
        self.timeline.due(thread, due, true);
        self.each(kind, due, |tally| tally.misses += 1);
    }

    /// In the end a job is not done that was to begin then.
    pub(super) fn unfinished(&mut self, kind: usize, released: i64, now: i64) {
        for watch in &mut self.watches {
            if let Expected::Measure {
                measure: Measure::Response(Statistic::Worst), of, window, relation, bound, ..
            } = &watch.expectation.what
                && *of == Some(kind)
                && window.is_none_or(|(from, to)| (from..=to).contains(&now))
                && matches!(relation, Relation::Less | Relation::LessOrEqual)
                && !relation.holds((now - released) as f64, *bound, 0.0)
            {
                let late = released.saturating_add(*bound as i64);
                watch.fails(late, format!("one has taken {} and is not done", duration(now - released)));
            }
        }
    }

    pub(super) fn ended(&mut self, kind: usize, thread: ThreadId, now: i64) {
        self.living[kind] -= 1;
        if self.living[kind] == 0 {
            self.tallies[kind].end = Some(now);
        }
        self.timeline.change(thread, State::Ended, now);
        let living = &self.living;
        for watch in &mut self.watches {
            if let Expected::Order(kinds) = &watch.expectation.what
                && let Some(place) = kinds.iter().position(|one| *one == kind)
                && let Some(before) = kinds[..place].iter().find(|before| living[**before] > 0)
            {
                let (this, before) = (&self.scenario.threads[kind].name, &self.scenario.threads[*before].name);
                watch.fails(now, format!("`{this}` ends before `{before}`"));
            }
        }
    }

    /// So many processors there are from now on.
    pub(super) fn processors(&mut self, now: i64, count: usize) {
        self.shares.processors(now, count);
        self.running.truncate(count);
    }

    /// It is over.
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
        let worst: Vec<i64> = self.tallies.iter().map(|tally| tally.latency.worst).collect();
        for index in 0..self.threads.len() {
            // Whoever waits still.
            let Some(since) = self.threads[index].ready_since else { continue };
            let Some(kind) = u32::try_from(index + 1).ok().and_then(|number| self.timeline.kind_of(ThreadId(number)))
            else {
                continue;
            };
            if now - since > worst[kind] {
                self.each(kind, now, |tally| tally.latency.add(now - since));
            }
            for watch in &mut self.watches {
                if let Expected::Runs(of, within) = watch.expectation.what
                    && of == kind
                    && now - since > within
                {
                    watch.fails(since + within, format!("one waits for {} and more", duration(now - since)));
                }
            }
        }
        self.timeline.ends(now);
    }

    /// Adds to what is measured of a kind, and tells those expectations that are decided at once.
    fn each(&mut self, kind: usize, now: i64, add: impl Fn(&mut Tally)) {
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
                Measure::Response(Statistic::Worst) => tally.response.worst as f64,
                Measure::Latency(Statistic::Worst) => tally.latency.worst as f64,
                Measure::Misses => tally.misses as f64,
                Measure::Dispatches => tally.dispatches as f64,
                Measure::Preemptions => tally.preemptions as f64,
                Measure::Refusals => tally.refusals as f64,
                Measure::Jobs => tally.jobs as f64,
                Measure::Share | Measure::Idle | Measure::End | Measure::Response(_) | Measure::Latency(_) => continue,
            };
            let too_much = *relation == Relation::Equal && value > *bound && measure.unit() == Unit::Count;
            if too_much || grows && !relation.holds(value, *bound, 0.0) {
                watch.since.get_or_insert(now);
            }
        }
    }

    /// What is kept of the timeline is what is around the first thing that is not as expected.
    pub(super) fn notice(&mut self) {
        if !self.diverged && self.watches.iter().any(|watch| watch.since.is_some()) {
            self.diverged = true;
            self.timeline.found();
        }
    }

    /// When the first thing that is not as expected was seen.
    pub(super) fn first_divergence(&self) -> Option<i64> {
        self.watches.iter().filter_map(|watch| watch.since).min()
    }

    /// Whether all is as expected.
    pub(super) fn verdicts(&self) -> Vec<Verdict> {
        self.watches.iter().map(|watch| self.verdict(watch)).collect()
    }

    fn verdict(&self, watch: &Watch<'_>) -> Verdict {
        let (holds, found) = match &watch.expectation.what {
            Expected::Measure { measure, of, window, relation, bound, tolerance } => {
                let value = self.value(*measure, *of, *window, watch.tally.as_ref());
                match value {
                    _ if watch.found.is_some() => (false, watch.found.clone().unwrap_or_default()),
                    Some(value) => (relation.holds(value, *bound, *tolerance), shown(value, measure.unit())),
                    None => (false, nothing(*measure).to_owned()),
                }
            }
            Expected::Order(kinds) => {
                let unended = kinds.iter().find(|kind| self.tallies[**kind].end.is_none());
                match (&watch.found, unended) {
                    (Some(found), _) => (false, found.clone()),
                    (None, Some(kind)) => (false, format!("`{}` has not ended", self.scenario.threads[*kind].name)),
                    (None, None) => (true, "they do".to_owned()),
                }
            }
            Expected::Dispatched(kinds) => match &watch.found {
                Some(found) => (false, found.clone()),
                None if watch.next < kinds.len() => (false, format!("there are only {}", watch.next)),
                None => (true, "they are".to_owned()),
            },
            Expected::NeverOverlaps(..) => {
                (watch.found.is_none(), watch.found.clone().unwrap_or("they never do".to_owned()))
            }
            Expected::Runs(..) => (watch.found.is_none(), watch.found.clone().unwrap_or("always".to_owned())),
            Expected::Reason(of, _) => match &watch.found {
                Some(found) => (false, found.clone()),
                None if self.tallies[*of].refusals == 0 => (false, "none was refused".to_owned()),
                None => (true, "each time".to_owned()),
            },
        };
        let since = watch.since.filter(|_| !holds);
        Verdict { text: watch.expectation.text.clone(), holds, found, since }
    }

    fn value(
        &self,
        measure: Measure,
        of: Option<usize>,
        window: Option<(i64, i64)>,
        windowed: Option<&Tally>,
    ) -> Option<f64> {
        let (from, to) = window.unwrap_or((0, self.now));
        let capacity = self.capacity(from, to) as f64;
        let all = || match windowed {
            Some(tally) => tally.ran as f64,
            None => self.tallies.iter().map(|tally| tally.ran).sum::<i128>() as f64,
        };
        if measure == Measure::Idle {
            return (capacity > 0.0).then(|| 100.0 * (1.0 - all() / capacity));
        }
        let tally = match windowed {
            Some(tally) => tally,
            None => &self.tallies[of?],
        };
        let statistic = |all: &Distribution, which| all.statistic(which).map(|value| value as f64);
        match measure {
            Measure::Share => (capacity > 0.0).then(|| 100.0 * tally.ran as f64 / capacity),
            Measure::Response(which) => statistic(&tally.response, which),
            Measure::Latency(which) => statistic(&tally.latency, which),
            Measure::Misses => Some(tally.misses as f64),
            Measure::Jobs => Some(tally.jobs as f64),
            Measure::Dispatches => Some(tally.dispatches as f64),
            Measure::Preemptions => Some(tally.preemptions as f64),
            Measure::Refusals => Some(tally.refusals as f64),
            Measure::End => self.tallies[of?].end.map(|end| end as f64),
            Measure::Idle => None,
        }
    }

    /// The time of all processors between two instants, as far as they have come.
    pub(super) fn capacity(&self, from: i64, to: i64) -> i128 {
        self.shares.capacity(from, to.min(self.now))
    }
}

impl Watch<'_> {
    fn fails(&mut self, now: i64, found: String) {
        if self.since.is_none() {
            (self.since, self.found) = (Some(now), Some(found));
        }
    }
}

fn nothing(measure: Measure) -> &'static str {
    match measure {
        Measure::Response(_) => "no job is done",
        Measure::Latency(_) => "none ever ran",
        Measure::End => "not all have ended",
        Measure::Share
        | Measure::Idle
        | Measure::Misses
        | Measure::Jobs
        | Measure::Dispatches
        | Measure::Preemptions
        | Measure::Refusals => "there is none",
    }
}

fn shown(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Percent => format!("{}%", (value * 100.0).round() / 100.0),
        Unit::Time => duration(value as i64),
        Unit::Count => format!("{value}"),
    }
}

/// `12.3ms`: what a reader wants to know of a duration, in four digits; whole ones as they are written.
pub fn duration(nanoseconds: i64) -> String {
    let (count, unit) = in_unit(nanoseconds);
    if count.abs() < 10_000 {
        return format!("{count}{unit}");
    }
    let (length, unit) = match nanoseconds.abs() {
        0..=9_999 => (1.0, "ns"),
        10_000..=9_999_999 => (1e3, "us"),
        10_000_000..=9_999_999_999 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    let value = nanoseconds as f64 / length;
    let digits = if value.abs() < 100.0 { 2 } else { 1 };
    let text = format!("{value:.digits$}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text}{unit}")
}
