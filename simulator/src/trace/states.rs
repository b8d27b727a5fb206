//! From records to stays: what each thread was in, and what each processor was at, from when to when.

use std::collections::{BTreeMap, HashMap, HashSet};

use std::io::{Read, Seek};

use super::{LONGEST_TIME, MOST_LIVING, Reader, Reason, Record, TraceError, What};

/// What a thread is in, between two records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// On a processor.
    Running,
    /// It could run.
    Ready,
    /// It waits for another thread, which runs on its turns; to its policy it is ready.
    Lending,
    /// It waits; for what, if that is known.
    Blocked(Option<Reason>),
    /// It may not run.
    Suspended,
}

/// What a processor is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Before its first record of a trace whose beginning is lost.
    Unknown,
    /// This thread runs.
    Running(u32),
    /// None does.
    Idling,
    /// Between the end of one turn and the next dispatch.
    Choosing,
}

/// Of whom a stay is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// Of a thread.
    Thread(u32, State),
    /// Of a processor.
    Processor(u16, Doing),
}

/// That something was so for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stay {
    /// Who was in what.
    pub whose: Whose,
    /// When it began; or the first record of all, if that is not known.
    pub since: u64,
    /// When it ended; or the last record of all.
    pub until: u64,
    /// What began it; `None`: that is not known.
    pub cause: Option<Record>,
}

/// Follows the records. The memory it takes depends on the numbers of living threads, which has a bound, and of processors alone.
pub struct States {
    /// What each processor is at, and since when.
    processors: BTreeMap<u16, (Doing, u64, Option<Record>)>,
    /// What each living thread is in, and since when.
    threads: HashMap<u32, (State, u64, Option<Record>)>,
    /// When the last thing happened on each processor of which it is known where.
    told: HashMap<u16, u64>,
    begin: Option<u64>,
    /// Whether threads were alive before the first record, and nothing is known of some of them yet.
    begun_before: bool,
    /// Then: numbers of threads that have ended, of which more is told all the same.
    ended: HashSet<u32>,
    several: bool,
    last: u64,
    /// When recording ended, if that is known.
    ends: Option<u64>,
}

/// After so many threads have ended, those of which nothing was told begin when it is.
const MOST_ENDED: usize = 1 << 20;

impl States {
    /// Before anything is read of `trace`.
    pub fn of<R: Read + Seek>(trace: &Reader<R>) -> Self {
        States { ends: trace.header().end_ns, ..States::new(trace.lost() > 0) }
    }

    /// `begun_before`: records before the first one are lost.
    fn new(begun_before: bool) -> Self {
        States {
            processors: BTreeMap::new(),
            threads: HashMap::new(),
            told: HashMap::new(),
            begin: None,
            begun_before,
            ended: HashSet::new(),
            several: false,
            last: 0,
            ends: None,
        }
    }

    /// The instant of the first record.
    pub fn begin(&self) -> u64 {
        self.begin.unwrap_or(0)
    }

    /// When recording ended; where that is not known, the instant of the last record.
    pub fn until(&self) -> u64 {
        let possible = |end: &u64| (self.last..=self.begin().saturating_add(LONGEST_TIME)).contains(end);
        self.ends.filter(possible).unwrap_or(self.last)
    }

    /// Those that were mentioned, in the order of their numbers.
    pub fn processors(&self) -> impl Iterator<Item = u16> {
        self.processors.keys().copied()
    }

    /// How many threads live.
    pub fn living(&self) -> usize {
        self.threads.len()
    }

    /// What a thread is in; `None`: it is not known, or has ended.
    pub fn state(&self, thread: u32) -> Option<State> {
        self.threads.get(&thread).map(|(state, ..)| *state)
    }

    /// Since when a thread runs; `None`: it does not.
    pub fn running_since(&self, thread: u32) -> Option<u64> {
        let (state, since, _) = self.threads.get(&thread)?;
        (*state == State::Running).then_some(*since)
    }

    /// Tells what `record` ends.
    ///
    /// # Errors
    /// More threads live at a time than can be followed.
    pub fn record(&mut self, record: &Record, stays: &mut Vec<Stay>) -> Result<(), TraceError> {
        let Record { time_ns: now, thread, processor, what, .. } = *record;
        if self.begin.is_none() {
            self.begin = Some(now);
        }
        self.last = now;
        let begin = self.begin();
        // The processor of these is not where they happened.
        let is_there = !matches!(what, What::Named { .. } | What::Value { .. });
        if is_there && !self.processors.contains_key(&processor) {
            let doing = if self.begun_before { Doing::Unknown } else { Doing::Choosing };
            self.processors.insert(processor, (doing, begin, None));
            self.several = self.processors.len() > 1;
        }
        match what {
            What::New => self.enter(record, Some(State::Ready), None, stays),
            What::Named { .. } | What::Value { .. } | What::PolicyOut | What::Refused => {}
            // Who ran there waits, or is waited for, and is ready to its policy.
            What::Dispatched | What::Lent { .. } => {
                if let Some((Doing::Running(other), ..)) = self.processors.get(&processor).copied()
                    && other != thread
                {
                    self.yields(record, other, stays);
                }
                self.turn(record, processor, Doing::Running(thread), stays);
                self.enter(record, Some(State::Running), Some(State::Ready), stays);
            }
            What::SwitchedOut | What::Preempted => self.leave(record, Some(State::Ready), stays),
            What::Blocked(reason) => self.leave(record, Some(State::Blocked(Some(reason))), stays),
            What::Exited => self.leave(record, None, stays),
            What::Raised => self.enter(record, Some(State::Ready), Some(State::Blocked(None)), stays),
            What::Suspended => {
                if let Some(there) = self.runs_on(thread) {
                    self.turn(record, there, Doing::Choosing, stays);
                }
                self.enter(record, Some(State::Suspended), None, stays);
            }
            What::Resumed => self.enter(record, Some(State::Ready), Some(State::Suspended), stays),
            What::Idle => self.turn(record, processor, Doing::Idling, stays),
            What::Lost { .. } => self.gap(now, processor, stays),
        }
        if is_there {
            self.told.insert(processor, now);
        }
        if self.threads.len() > MOST_LIVING { Err(TraceError::Crowded(MOST_LIVING)) } else { Ok(()) }
    }

    /// What happened on the processor since the last record of it is not known: nothing is told of it until now, nor of threads
    /// until they are mentioned again, but for who runs on other processors.
    fn gap(&mut self, now: u64, processor: u16, stays: &mut Vec<Stay>) {
        let from = self.told.get(&processor).copied().unwrap_or(self.begin());
        if let Some((doing, since, cause)) = self.processors.insert(processor, (Doing::Unknown, now, None)) {
            stays.push(Stay { whose: Whose::Processor(processor, doing), since, until: from.max(since), cause });
            let whose = Whose::Processor(processor, Doing::Unknown);
            stays.push(Stay { whose, since: from.max(since), until: now, cause: None });
        }
        let elsewhere: HashSet<u32> = self
            .processors
            .values()
            .filter_map(|(doing, ..)| if let Doing::Running(thread) = doing { Some(*thread) } else { None })
            .collect();
        let mut unknown: Vec<u32> = self.threads.keys().copied().filter(|thread| !elsewhere.contains(thread)).collect();
        unknown.sort_unstable();
        for thread in unknown {
            if let Some((state, since, cause)) = self.threads.remove(&thread).filter(|(_, since, _)| *since < from) {
                stays.push(Stay { whose: Whose::Thread(thread, state), since, until: from, cause });
            }
        }
    }

    /// Tells what ends then: at the end of the trace, or where it is left.
    pub fn end(&mut self, until: u64, stays: &mut Vec<Stay>) {
        for (number, (doing, since, cause)) in std::mem::take(&mut self.processors) {
            stays.push(Stay { whose: Whose::Processor(number, doing), since, until, cause });
        }
        let mut threads: Vec<_> = std::mem::take(&mut self.threads).into_iter().collect();
        threads.sort_by_key(|(thread, _)| *thread);
        for (thread, (state, since, cause)) in threads {
            stays.push(Stay { whose: Whose::Thread(thread, state), since, until, cause });
        }
    }

    /// A running thread leaves its processor for `state`, or for good. What makes it leave can happen on another one; and
    /// where there is one processor, another thread can have run on its turn.
    fn leave(&mut self, record: &Record, state: Option<State>, stays: &mut Vec<Stay>) {
        if let Some((doing @ Doing::Unknown, since, _)) = self.processors.get_mut(&record.processor) {
            *doing = Doing::Running(record.thread);
            // Nobody else can have run there since.
            if !self.ended.contains(&record.thread) {
                self.threads.entry(record.thread).or_insert((State::Running, *since, None));
            }
        }
        let there = self.runs_on(record.thread).or_else(|| self.turn_on(record.thread));
        if let Some(there) = there.or((!self.several).then_some(record.processor)) {
            if let Some((Doing::Running(other), ..)) = self.processors.get(&there).copied()
                && other != record.thread
            {
                self.yields(record, other, stays);
            }
            self.turn(record, there, Doing::Choosing, stays);
        }
        let lends = state == Some(State::Ready) && self.state(record.thread) == Some(State::Lending);
        self.enter(record, if lends { Some(State::Lending) } else { state }, Some(State::Running), stays);
    }

    /// Another one than that of the record was running, if anything, and is ready, or lends its turn.
    fn yields(&mut self, record: &Record, thread: u32, stays: &mut Vec<Stay>) {
        if self.state(thread) == Some(State::Running) {
            let lends = record.what == What::Lent { donor: thread };
            let record = Record { thread, ..*record };
            self.enter(&record, Some(if lends { State::Lending } else { State::Ready }), None, stays);
        }
    }

    fn runs_on(&self, thread: u32) -> Option<u16> {
        let runs = |(_, (doing, ..)): &(&u16, &(Doing, u64, Option<Record>))| *doing == Doing::Running(thread);
        self.processors.iter().find(runs).map(|(&number, _)| number)
    }

    /// Where another thread runs on the turn of this one.
    fn turn_on(&self, thread: u32) -> Option<u16> {
        let lent = |(_, (doing, _, cause)): &(&u16, &(Doing, u64, Option<Record>))| {
            matches!(doing, Doing::Running(_)) && cause.is_some_and(|cause| cause.what == What::Lent { donor: thread })
        };
        self.processors.iter().find(lent).map(|(&number, _)| number)
    }

    /// The processor does something else from now on.
    fn turn(&mut self, record: &Record, processor: u16, next: Doing, stays: &mut Vec<Stay>) {
        let until = record.time_ns;
        let before = self.processors.insert(processor, (next, until, Some(*record)));
        if let Some((doing, since, cause)) = before {
            stays.push(Stay { whose: Whose::Processor(processor, doing), since, until, cause });
        }
    }

    /// The thread is in `state` from now on; `None`: it is no more. `before` is what it must have been in if nothing is known.
    fn enter(&mut self, record: &Record, state: Option<State>, before: Option<State>, stays: &mut Vec<Stay>) {
        let (thread, until) = (record.thread, record.time_ns);
        let known = match state {
            Some(state) => self.threads.insert(thread, (state, until, Some(*record))),
            None => self.threads.remove(&thread),
        };
        let begun_before = self.begun_before && !self.ended.contains(&thread);
        if self.begun_before && state.is_none() {
            self.ended.insert(thread);
            // By now nothing is left that had begun before; and memory is to have a bound.
            self.begun_before = self.ended.len() < MOST_ENDED;
        }
        let earlier = before.filter(|_| begun_before).map(|state| (state, self.begin(), None));
        if let Some((was, since, cause)) = known.or(earlier) {
            stays.push(Stay { whose: Whose::Thread(thread, was), since, until, cause });
        }
    }
}

impl State {
    /// In words, as in `blocked: io.read`.
    pub fn name(self) -> &'static str {
        match self {
            State::Running => "running",
            State::Ready | State::Lending => "ready",
            State::Suspended => "suspended",
            State::Blocked(None | Some(Reason::Other)) => "blocked",
            State::Blocked(Some(reason)) => match reason {
                Reason::Read => "blocked: io.read",
                Reason::Write => "blocked: io.write",
                Reason::Accept => "blocked: io.accept",
                Reason::Connect => "blocked: io.connect",
                Reason::File => "blocked: io.file",
                Reason::Lock => "blocked: lock",
                Reason::Condition => "blocked: condition",
                Reason::Join => "blocked: join",
                Reason::Sleep => "blocked: sleep",
                Reason::Kernel => "blocked: kernel",
                Reason::Scheduler => "blocked: scheduler",
                Reason::Port => "blocked: port",
                Reason::Signal => "blocked: signal",
                Reason::Other => "blocked",
            },
        }
    }
}

#[cfg(test)]
mod tests;
