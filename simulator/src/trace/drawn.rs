//! The picture of a trace: which threads ran when, in a part of it; and, for all of it, how the processors were shared,
//! and how long threads were ready before they ran. Living threads, shown kinds and shown changes bound the memory.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{Read, Seek};

use super::{Doing, Reader, Record, State, States, Stay, TraceError, What, Whose};
use crate::picture::{self, Gap, Part, Picture, Thread, most_windows};
use crate::sim::{Distribution, Shares};

/// How many changes of states are shown at most, as for a simulation.
const MOST: usize = 4096;
/// How many names become kinds. Threads with further names are one kind.
const MOST_KINDS: usize = 512;
/// How many threads without a name become kinds.
const MOST_NAMELESS: usize = 64;

/// Reads the rest of `trace`; `read` is called after each record. The timeline is between two instants, in nanoseconds
/// since the beginning of recording.
///
/// # Errors
/// Those of the trace.
pub fn picture<R: Read + Seek>(
    trace: &mut Reader<R>,
    title: &str,
    (from, to): (i64, i64),
    read: &mut dyn FnMut(),
) -> Result<Picture, TraceError> {
    let mut states = States::of(trace);
    let mut following = Following::new((from, to));
    let mut stays = Vec::new();
    while let Some(record) = trace.next_record()? {
        read();
        following.begins(trace, &record);
        states.record(&record, &mut stays)?;
        following.happens(trace, &record);
        for stay in stays.drain(..) {
            following.stay(trace, &stay, Some(&record));
        }
        if let What::Exited | What::Refused = record.what {
            following.living.remove(&record.thread);
        }
    }
    let until = states.until();
    states.end(until, &mut stays);
    let end = following.instant(until);
    for stay in &stays {
        following.stay(trace, stay, None);
    }
    Ok(following.ends(title.to_owned(), end))
}

struct Following {
    asked: (i64, i64),
    /// The instant 0, by the clock; and when the trace begins after it.
    origin: u64,
    begin: Option<i64>,
    living: HashMap<u32, Living>,
    came: u64,
    kinds: Vec<Kind>,
    /// The kinds of names.
    names: HashMap<String, usize>,
    nameless: usize,
    /// The first kind is the time of which nothing is known.
    shares: Shares,
    processors: BTreeSet<u16>,
    turns: u64,
    /// The last dispatch: the thread, and when.
    dispatched: Option<(u32, u64)>,
    part: Part,
    /// The kinds of threads, and their numbers on the host.
    threads: BTreeMap<u64, (usize, u32)>,
    /// How many changes are shown.
    changes: usize,
    /// The end of what is shown.
    cut: i64,
}

#[derive(Clone, Copy)]
struct Living {
    number: u64,
    kind: Option<usize>,
}

struct Kind {
    name: String,
    /// The number of its first thread, and how many threads it has.
    first: u64,
    came: u64,
    ran: i128,
    ready: Distribution,
    /// The kind of one thread that has no name yet.
    nameless: bool,
    /// It turned out to be this kind.
    same_as: Option<usize>,
}

impl Following {
    fn new(asked: (i64, i64)) -> Self {
        Following {
            asked,
            origin: 0,
            begin: None,
            living: HashMap::new(),
            came: 0,
            kinds: Vec::new(),
            names: HashMap::new(),
            nameless: 0,
            shares: Shares::new(1, 1),
            processors: BTreeSet::new(),
            turns: 0,
            dispatched: None,
            part: Part::default(),
            threads: BTreeMap::new(),
            changes: 0,
            cut: asked.1,
        }
    }

    /// Notes when the trace begins, by its first record.
    fn begins<R: Read + Seek>(&mut self, trace: &Reader<R>, record: &Record) {
        if self.begin.is_some() {
            return;
        }
        self.origin = trace.origin(record);
        self.begin = Some(if trace.lost() > 0 { self.instant(record.time_ns) } else { 0 });
    }

    fn instant(&self, time: u64) -> i64 {
        i64::try_from(time.saturating_sub(self.origin)).unwrap_or(i64::MAX)
    }

    fn happens<R: Read + Seek>(&mut self, trace: &Reader<R>, record: &Record) {
        match record.what {
            What::Named { .. } => return self.is_named(trace, record.thread),
            What::Value { .. } | What::PolicyOut => return,
            What::Refused => {}
            What::New => {
                self.living.remove(&record.thread);
                self.number(record.thread);
            }
            What::Dispatched => {
                self.turns += 1;
                self.dispatched = Some((record.thread, record.time_ns));
            }
            What::Lent { donor } => {
                // The dispatched thread did not begin to run.
                let again = self.dispatched == Some((donor, record.time_ns));
                self.turns += u64::from(!again);
            }
            What::SwitchedOut
            | What::Preempted
            | What::Blocked(_)
            | What::Raised
            | What::Exited
            | What::Suspended
            | What::Resumed
            | What::Idle
            | What::Lost { .. } => {}
        }
        self.processors.insert(record.processor);
    }

    /// `ended_by`: `None` at the end of the trace.
    fn stay<R: Read + Seek>(&mut self, trace: &Reader<R>, stay: &Stay, ended_by: Option<&Record>) {
        let (from, to) = (self.instant(stay.since), self.instant(stay.until));
        match stay.whose {
            Whose::Processor(processor, Doing::Running(thread)) => {
                let kind = self.kind(trace, thread);
                self.kinds[kind].ran += i128::from(to - from);
                self.ran(kind + 1, from, to);
                let donor = match stay.cause.map(|cause| cause.what) {
                    Some(What::Lent { donor }) if donor != thread => Some(self.number(donor)),
                    _ => None,
                };
                let state = picture::State::Running { processor: usize::from(processor), lent_by: donor };
                self.shows(trace, thread, from, to, state);
            }
            Whose::Processor(processor, Doing::Unknown) => {
                self.ran(0, from, to);
                self.misses(usize::from(processor), from, to);
            }
            Whose::Processor(_, Doing::Idling | Doing::Choosing) | Whose::Thread(_, State::Running) => {}
            Whose::Thread(thread, State::Ready) => {
                self.was_ready(trace, thread, stay, ended_by);
                self.shows(trace, thread, from, to, picture::State::Ready);
            }
            Whose::Thread(thread, State::Lending) => {
                if let Some(Record { what: What::Lent { donor }, .. }) = ended_by
                    && *donor == thread
                {
                    // Its wait is over, and it goes on at once.
                    let kind = self.kind(trace, thread);
                    self.kinds[kind].ready.add(0);
                }
                self.shows(trace, thread, from, to, picture::State::Blocked);
            }
            Whose::Thread(thread, State::Blocked(_) | State::Suspended) => {
                self.shows(trace, thread, from, to, picture::State::Blocked);
            }
        }
    }

    fn ran(&mut self, kind: usize, from: i64, to: i64) {
        let begin = self.begin.unwrap_or(0);
        self.shares.ran(kind, from - begin, to - begin);
    }

    /// Notes how long the thread was ready before it ran. At the end of the trace, only if that is the longest time.
    fn was_ready<R: Read + Seek>(&mut self, trace: &Reader<R>, thread: u32, stay: &Stay, ended_by: Option<&Record>) {
        let length = i64::try_from(stay.until - stay.since).unwrap_or(i64::MAX);
        let kind = self.kind(trace, thread);
        let Some(record) = ended_by else {
            if length > self.kinds[kind].ready.worst() {
                self.kinds[kind].ready.add(length);
            }
            return;
        };
        let runs = record.thread == thread && matches!(record.what, What::Dispatched | What::Lent { .. });
        // Its policy preempted it and dispatched it again at once: it did not wait.
        let continues = length == 0
            && stay.cause.is_some_and(|cause| cause.what == What::Preempted && cause.processor == record.processor);
        if continues {
            self.turns -= u64::from(runs);
        } else if runs {
            self.kinds[kind].ready.add(length);
        }
    }

    // ---- What is shown

    fn shows<R: Read + Seek>(&mut self, trace: &Reader<R>, thread: u32, from: i64, to: i64, state: picture::State) {
        if self.is_shown(from, to) {
            let kind = self.kind(trace, thread);
            let number = self.number(thread);
            self.threads.insert(number, (kind, thread));
            self.part.stays.push(picture::Stay { thread: number, from: from.max(self.asked.0), to, state });
        }
    }

    fn misses(&mut self, processor: usize, from: i64, to: i64) {
        if from < to && self.is_shown(from, to) {
            self.part.gaps.push(Gap { processor, from: from.max(self.asked.0), to });
        }
    }

    /// Those that are shown are at most [`MOST`] and one for each living thread.
    fn is_shown(&mut self, from: i64, to: i64) -> bool {
        if to < self.asked.0 || from >= self.cut {
            return false;
        }
        self.changes += usize::from(from >= self.asked.0);
        if self.changes == MOST {
            self.cut = self.cut.min(to);
        }
        true
    }

    // ---- Threads and their kinds

    /// The number of a thread, in the order in which threads came.
    fn number(&mut self, thread: u32) -> u64 {
        let came = &mut self.came;
        let living = self.living.entry(thread).or_insert_with(|| {
            *came += 1;
            Living { number: *came - 1, kind: None }
        });
        living.number
    }

    fn kind<R: Read + Seek>(&mut self, trace: &Reader<R>, thread: u32) -> usize {
        let number = self.number(thread);
        if let Some(kind) = self.living.get(&thread).and_then(|living| living.kind) {
            return kind;
        }
        let kind = match trace.name(thread) {
            Some(name) => self.kind_of_name(name),
            None if self.nameless < MOST_NAMELESS => {
                self.nameless += 1;
                self.add_kind(format!("thread {thread}"), true)
            }
            None => self.kind_of_name("(no name)"),
        };
        self.kinds[kind].came += 1;
        self.kinds[kind].first = self.kinds[kind].first.min(number);
        if let Some(living) = self.living.get_mut(&thread) {
            living.kind = Some(kind);
        }
        kind
    }

    fn kind_of_name(&mut self, name: &str) -> usize {
        if let Some(kind) = self.names.get(name) {
            return *kind;
        }
        if self.names.len() >= MOST_KINDS && name != OTHERS {
            return self.kind_of_name(OTHERS);
        }
        let kind = self.add_kind(name.to_owned(), false);
        self.names.insert(name.to_owned(), kind);
        kind
    }

    fn add_kind(&mut self, name: String, nameless: bool) -> usize {
        self.shares.add_kind();
        self.kinds.push(Kind {
            name,
            first: u64::MAX,
            came: 0,
            ran: 0,
            ready: Distribution::new(),
            nameless,
            same_as: None,
        });
        self.kinds.len() - 1
    }

    /// A part of a name is known. If the thread has done something already, it changes its kind.
    fn is_named<R: Read + Seek>(&mut self, trace: &Reader<R>, thread: u32) {
        let Some(Living { kind: Some(kind), .. }) = self.living.get(&thread).copied() else { return };
        if let Some(living) = self.living.get_mut(&thread) {
            living.kind = None;
        }
        self.kinds[kind].came -= 1;
        let named = self.kind(trace, thread);
        if std::mem::take(&mut self.kinds[kind].nameless) {
            self.nameless -= 1;
            self.kinds[kind].same_as = Some(named);
        }
    }

    // ---- The end

    fn ends(mut self, title: String, end: i64) -> Picture {
        let begin = self.begin.unwrap_or(0);
        self.shares.had(self.processors.len());
        // The kinds that have threads, in the order of their first ones.
        let whole = |kinds: &[Kind], kind: usize| {
            let mut kind = kind;
            while let Some(other) = kinds[kind].same_as {
                kind = other;
            }
            kind
        };
        let targets: Vec<usize> = (0..self.kinds.len()).map(|kind| whole(&self.kinds, kind)).collect();
        let mut ordered: Vec<usize> = targets.iter().copied().collect::<BTreeSet<usize>>().into_iter().collect();
        ordered.sort_by_key(|kind| self.kinds[*kind].first);
        let places: BTreeMap<usize, usize> =
            ordered.into_iter().enumerate().map(|(place, kind)| (kind, place)).collect();
        let place: Vec<usize> = targets.iter().map(|target| places[target]).collect();
        let mut kinds: Vec<(String, i128, Distribution)> = Vec::new();
        kinds.resize_with(places.len(), || (String::new(), 0, Distribution::new()));
        let several: Vec<bool> = self.kinds.iter().map(|kind| kind.came > 1).collect();
        for (number, kind) in self.kinds.into_iter().enumerate() {
            let whole = &mut kinds[place[number]];
            if targets[number] == number {
                whole.0 = kind.name;
            }
            whole.1 += kind.ran;
            whole.2.append(kind.ready);
        }
        let windows = self.shares.windows(end - begin, most_windows(self.turns)).into_iter().map(|mut window| {
            let shares = std::mem::replace(&mut window.shares, vec![0.0; places.len()]);
            window.unknown = shares.first().copied().unwrap_or(0.0);
            for (number, share) in shares.iter().skip(1).enumerate() {
                window.shares[place[number]] += share;
            }
            (window.from, window.to) = (window.from + begin, window.to + begin);
            window
        });
        let windows = windows.collect();
        let thread = |(thread, (kind, number)): (u64, (usize, u32))| {
            let number = if several[targets[kind]] { format!(" ({number})") } else { String::new() };
            (thread, Thread { kind: place[kind], number })
        };
        let mut part = self.part;
        part.threads = self.threads.into_iter().map(thread).collect();
        part.late = self.asked.0 > begin;
        part.asked = end.min(self.asked.1);
        part.until = part.asked.min(self.cut);
        part.stays.retain(|stay| stay.from < part.until);
        part.stays.iter_mut().for_each(|stay| stay.to = stay.to.min(part.until));
        part.gaps.iter_mut().for_each(|gap| gap.to = gap.to.min(part.until));
        part.gaps.retain(|gap| gap.from < gap.to);
        let first = part.stays.iter().map(|stay| stay.from).chain(part.gaps.iter().map(|gap| gap.from)).min();
        part.from = first.unwrap_or(begin.max(self.asked.0));
        part.until = part.until.max(part.from + 1);
        let kind = |(name, ran, ready): (String, i128, Distribution)| {
            let curve = ready.curve();
            picture::Kind { name, ran, curve }
        };
        Picture {
            title,
            processors: self.processors.into_iter().map(usize::from).collect(),
            begin,
            end,
            kinds: kinds.into_iter().map(kind).collect(),
            part,
            windows,
            jobs: false,
        }
    }
}

/// The kind of threads with names that are too many.
const OTHERS: &str = "(other names)";
