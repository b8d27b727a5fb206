//! Turns records into stays: from when to when each thread was in a state, and what each processor did.

use std::collections::{BTreeMap, HashMap, HashSet};

use std::io::{Read, Seek};

use super::{LONGEST_TIME, MOST_LIVING, Reader, Reason, Record, TraceError, What};

/// The state of a thread between two records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// On a processor.
    Running,
    /// It can run.
    Ready,
    /// It waits for another thread, which runs on its turns. To its policy, it is READY.
    Lending,
    /// It waits, for this if that is known.
    Blocked(Option<Reason>),
    /// It is suspended.
    Suspended,
}

/// What a processor does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// The beginning of the trace is lost, and its first record is yet to come.
    Unknown,
    /// This thread runs.
    Running(u32),
    /// No thread runs.
    Idling,
    /// Between the end of one turn and the next dispatch.
    Choosing,
}

/// What a stay is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// Of a thread.
    Thread(u32, State),
    /// Of a processor.
    Processor(u16, Doing),
}

/// Something that was so for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stay {
    /// What was so.
    pub whose: Whose,
    /// When it began; if that is not known, the first record.
    pub since: u64,
    /// When it ended, or the last record.
    pub until: u64,
    /// What began it; `None`: not known.
    pub cause: Option<Record>,
}

/// Follows the records. The memory depends only on the numbers of living threads, which is bounded, and of processors.
pub struct States {
    /// What each processor does, and since when.
    processors: BTreeMap<u16, (Doing, u64, Option<Record>)>,
    /// The state of each living thread, and since when.
    threads: HashMap<u32, (State, u64, Option<Record>)>,
    /// For each processor, the time of the last record that certainly happened there.
    told: HashMap<u16, u64>,
    begin: Option<u64>,
    /// Whether threads lived before the first record of which nothing may be known yet.
    begun_before: bool,
    /// In that case, the threads that have ended. More records of them may come.
    ended: HashSet<u32>,
    several: bool,
    last: u64,
    /// When recording ended, if that is known.
    ends: Option<u64>,
}

/// After so many ended threads, a thread of which nothing was known begins with its first record.
const MOST_ENDED: usize = 1 << 20;

impl States {
    /// For `trace`, before any record is read.
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

    /// When recording ended; if that is not known, the last record.
    pub fn until(&self) -> u64 {
        let possible = |end: &u64| (self.last..=self.begin().saturating_add(LONGEST_TIME)).contains(end);
        self.ends.filter(possible).unwrap_or(self.last)
    }

    /// The processors in the records, in the order of their numbers.
    pub fn processors(&self) -> impl Iterator<Item = u16> {
        self.processors.keys().copied()
    }

    /// How many threads live.
    pub fn living(&self) -> usize {
        self.threads.len()
    }

    /// The state of a thread; `None`: it is not known, or has ended.
    pub fn state(&self, thread: u32) -> Option<State> {
        self.threads.get(&thread).map(|(state, ..)| *state)
    }

    /// Since when a thread runs; `None`: it does not run.
    pub fn running_since(&self, thread: u32) -> Option<u64> {
        let (state, since, _) = self.threads.get(&thread)?;
        (*state == State::Running).then_some(*since)
    }

    /// Follows a record. Adds to `stays` what it ends.
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
        // Records of these kinds do not tell where they happened.
        let is_there = !matches!(what, What::Named { .. } | What::Value { .. });
        if is_there && !self.processors.contains_key(&processor) {
            let doing = if self.begun_before { Doing::Unknown } else { Doing::Choosing };
            self.processors.insert(processor, (doing, begin, None));
            self.several = self.processors.len() > 1;
        }
        match what {
            What::New => self.enter(record, Some(State::Ready), None, stays),
            What::Named { .. } | What::Value { .. } | What::PolicyOut | What::Refused => {}
            // The thread that ran there waits, or is waited for, but is READY to its policy.
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

    /// What happened on the processor since its last record is not known. So nothing is told about it until now, nor
    /// about threads until their next record, except those that run on other processors.
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

    /// Ends all stays, at the end of the trace or where it is left.
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

    /// A running thread leaves its processor for `state`, or for good. The cause may lie on another processor. With one
    /// processor, another thread may have run on its turn.
    fn leave(&mut self, record: &Record, state: Option<State>, stays: &mut Vec<Stay>) {
        if let Some((doing @ Doing::Unknown, since, _)) = self.processors.get_mut(&record.processor) {
            *doing = Doing::Running(record.thread);
            // No other thread can have run there since.
            if !self.ended.contains(&record.thread) {
                self.threads.entry(record.thread).or_insert((State::Running, *since, None));
            }
        }
        let there = self.runs_on(record.thread).or_else(|| self.turn_on(record.thread));
        // A thread that ends while it does not run takes the processor from none.
        let waits = matches!(self.state(record.thread), Some(State::Ready | State::Blocked(_) | State::Suspended));
        let is_here = !(self.several || waits && record.what == What::Exited);
        if let Some(there) = there.or(is_here.then_some(record.processor)) {
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

    /// If another thread than the record's runs, it is READY now, or lends its turn.
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

    /// The processor on which another thread runs on this thread's turn.
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

    /// The thread is in `state` from now on; `None`: it has ended. `before`: its state until now, if nothing is known.
    fn enter(&mut self, record: &Record, state: Option<State>, before: Option<State>, stays: &mut Vec<Stay>) {
        let (thread, until) = (record.thread, record.time_ns);
        let known = match state {
            Some(state) => self.threads.insert(thread, (state, until, Some(*record))),
            None => self.threads.remove(&thread),
        };
        let begun_before = self.begun_before && !self.ended.contains(&thread);
        if self.begun_before && state.is_none() {
            self.ended.insert(thread);
            // By now, no thread is left that began before the records; and memory must be bounded.
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
