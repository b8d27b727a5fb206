//! Follows a trace and keeps what a page shows of it.

use std::collections::HashMap;
use std::io::{Read, Seek};

use catapults_compiler::vocabulary::Value;

use super::Recording;
use super::columns::{
    Columns, IDLE, LENDING, Marks, READY, RUNNING, Ready, SUSPENDED, Stays, Text, Threads, UNKNOWN, Values, WAITING,
    Why, distances,
};
use crate::picture::visible;
use crate::sim::{exact, exact_since};
use crate::trace::{Doing, Reader, Record, State, States, Stay, TraceError, What, Whose};

/// Which part is shown, in nanoseconds since recording began, and how much of it.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// From when on.
    pub from: i64,
    /// Until when.
    pub to: i64,
    /// How many changes at most; [`super::MOST`], if nothing speaks against it.
    pub most: usize,
}

/// How many letters of a name are kept.
const LONGEST_NAME: usize = 120;

/// Reads `trace` until what was asked for is complete; `read` is called after each record. `source` finds the text of a
/// file that the trace names.
///
/// # Errors
/// Those of the trace.
pub fn recording<R: Read + Seek>(
    trace: &mut Reader<R>,
    title: &str,
    asked: Asked,
    source: &dyn Fn(&str) -> Option<String>,
    read: &mut dyn FnMut(),
) -> Result<Recording, TraceError> {
    let mut states = States::of(trace);
    let mut kept = Kept::new(asked);
    let mut stays = Vec::new();
    let mut stopped = None;
    while let Some(record) = trace.next_record()? {
        let now = kept.instant(trace, &record);
        if now >= asked.to {
            // This record is left out, too.
            stopped = Some((asked.to, trace.left() + 1));
            break;
        }
        read();
        states.record(&record, &mut stays)?;
        kept.begins(trace, &record, now);
        for stay in stays.drain(..) {
            kept.stay(trace, &stay, Some(&record));
        }
        kept.happens(trace, &record, now);
        if kept.count >= asked.most {
            stopped = Some((now, trace.left()));
            break;
        }
    }
    let (end, left) = stopped.unwrap_or_else(|| (kept.since(states.until()), 0));
    let until = end.min(asked.to);
    states.end(kept.clock(until), &mut stays);
    for stay in &stays {
        kept.stay(trace, stay, None);
    }
    Ok(kept.ends(trace, title, (until, end), left, source))
}

struct Entry {
    since: i64,
    until: i64,
    state: usize,
    thread: Option<usize>,
    processor: Option<u16>,
    why: i64,
    end: i64,
    lent_by: Option<usize>,
}

struct Changed {
    at: i64,
    thread: i64,
    variable: usize,
    value: Value,
}

struct Kept {
    asked: Asked,
    /// The instant 0, by the clock; none before the first record.
    origin: Option<u64>,
    /// The first instant of which something is known.
    begin: i64,
    /// How much is kept.
    count: usize,
    stays: Vec<Entry>,
    threads: Threads,
    /// The rows of living threads.
    rows: HashMap<u32, usize>,
    names: Vec<String>,
    numbers_of_names: HashMap<String, i64>,
    waits: Vec<&'static str>,
    /// Each as a record has it, and its place in `whys`.
    places: HashMap<(&'static str, u16, u32), i64>,
    whys: Vec<Why>,
    sources: Vec<Text>,
    ready: Vec<(i64, i64)>,
    variables: HashMap<u16, usize>,
    names_of_variables: Vec<String>,
    values: Vec<Changed>,
    /// The variables and values before the part that is shown, by the host's number of the thread.
    before: HashMap<u32, Vec<(usize, Value)>>,
    marks: Vec<(i64, i64, i64)>,
}

impl Kept {
    fn new(asked: Asked) -> Self {
        Kept {
            asked,
            origin: None,
            begin: 0,
            count: 0,
            stays: Vec::new(),
            threads: Threads::default(),
            rows: HashMap::new(),
            names: Vec::new(),
            numbers_of_names: HashMap::new(),
            waits: Vec::new(),
            places: HashMap::new(),
            whys: Vec::new(),
            sources: Vec::new(),
            ready: Vec::new(),
            variables: HashMap::new(),
            names_of_variables: Vec::new(),
            values: Vec::new(),
            before: HashMap::new(),
            marks: Vec::new(),
        }
    }

    // ---- Time

    /// The instant of a record, in nanoseconds since recording began.
    fn instant<R: Read + Seek>(&mut self, trace: &Reader<R>, record: &Record) -> i64 {
        if self.origin.is_none() {
            self.origin = Some(trace.origin(record));
            self.begin = if trace.lost() > 0 { self.since(record.time_ns) } else { 0 };
        }
        self.since(record.time_ns)
    }

    fn since(&self, time: u64) -> i64 {
        i64::try_from(time.saturating_sub(self.origin.unwrap_or(0))).unwrap_or(i64::MAX)
    }

    fn clock(&self, instant: i64) -> u64 {
        self.origin.unwrap_or(0).saturating_add(u64::try_from(instant).unwrap_or(0))
    }

    // ---- Records

    /// What a record changes before the stays that it ends are known.
    fn begins<R: Read + Seek>(&mut self, trace: &Reader<R>, record: &Record, now: i64) {
        match record.what {
            // The number may have been another thread's.
            What::New => {
                self.rows.remove(&record.thread);
                self.before.remove(&record.thread);
            }
            What::Named { .. } => {
                if let Some(row) = self.rows.get(&record.thread).copied() {
                    self.threads.name[row] = self.name(trace.name(record.thread));
                }
            }
            What::Value { variable, value } => self.value(trace, record.thread, variable, value, now),
            What::Dispatched
            | What::Lent { .. }
            | What::SwitchedOut
            | What::Preempted
            | What::Blocked(_)
            | What::Raised
            | What::Exited
            | What::Refused
            | What::PolicyOut
            | What::Suspended
            | What::Resumed
            | What::Idle
            | What::Lost { .. } => {}
        }
    }

    /// What a record tells beside the stays.
    fn happens<R: Read + Seek>(&mut self, trace: &Reader<R>, record: &Record, now: i64) {
        if let Some(ready) = record.ready.map(i64::from) {
            self.is_ready(now, ready);
        }
        if let What::PolicyOut | What::Refused = record.what
            && now >= self.asked.from
        {
            let thread = if record.thread == 0 { -1 } else { number(self.row(trace, record.thread)) };
            let why = self.why(trace, Some(record));
            self.marks.push((now, thread, why));
            self.count += 1;
        }
        if let What::Exited | What::Refused = record.what {
            self.rows.remove(&record.thread);
            self.before.remove(&record.thread);
        }
    }

    fn is_ready(&mut self, now: i64, ready: i64) {
        match self.ready.last_mut() {
            Some((_, last)) if *last == ready => {}
            // Only the last number at an instant can be seen, and that with which the part begins.
            Some((at, last)) if *at == now || now < self.asked.from => (*at, *last) = (now, ready),
            Some(_) | None => {
                self.ready.push((now, ready));
                self.count += 1;
            }
        }
    }

    fn value<R: Read + Seek>(&mut self, trace: &Reader<R>, thread: u32, variable: u16, value: Value, now: i64) {
        let Some(name) = trace.header().name(variable) else { return };
        let names = &mut self.names_of_variables;
        let variable = *self.variables.entry(variable).or_insert_with(|| {
            names.push(shortened(&name.text));
            names.len() - 1
        });
        if now < self.asked.from {
            let known = self.before.entry(thread).or_default();
            match known.iter_mut().find(|(name, _)| *name == variable) {
                Some((_, before)) => *before = value,
                None => known.push((variable, value)),
            }
            return;
        }
        let thread = if thread == 0 { -1 } else { number(self.row(trace, thread)) };
        self.values.push(Changed { at: now, thread, variable, value });
        self.count += 1;
    }

    /// `ended_by`: `None` at the end of what is read.
    fn stay<R: Read + Seek>(&mut self, trace: &Reader<R>, stay: &Stay, ended_by: Option<&Record>) {
        let (from, began, until) = (self.asked.from, self.since(stay.since), self.since(stay.until));
        // What ends as the part begins is not in it.
        if until < from || until == from && began < from {
            return;
        }
        let since = began.max(from);
        let (thread, processor, state) = match stay.whose {
            Whose::Processor(processor, Doing::Running(thread)) => (Some(thread), Some(processor), RUNNING),
            Whose::Processor(processor, Doing::Idling) => (None, Some(processor), IDLE),
            Whose::Processor(processor, Doing::Unknown) => (None, Some(processor), UNKNOWN),
            // Processors tell which threads run.
            Whose::Processor(_, Doing::Choosing) | Whose::Thread(_, State::Running) => return,
            Whose::Thread(thread, State::Ready) => (Some(thread), None, READY),
            Whose::Thread(thread, State::Lending) => (Some(thread), None, LENDING),
            Whose::Thread(thread, State::Suspended) => (Some(thread), None, SUSPENDED),
            Whose::Thread(thread, state @ State::Blocked(_)) => (Some(thread), None, WAITING + self.wait(state)),
        };
        let thread = thread.map(|thread| self.row(trace, thread));
        let lent_by = match stay.cause.map(|cause| (cause.thread, cause.what)) {
            Some((runs, What::Lent { donor })) if state == RUNNING && donor != runs => Some(self.row(trace, donor)),
            _ => None,
        };
        let (why, end) = (self.why(trace, stay.cause.as_ref()), self.why(trace, ended_by));
        self.stays.push(Entry { since, until, state, thread, processor, why, end, lent_by });
        self.count += 1;
    }

    fn wait(&mut self, state: State) -> usize {
        let name = state.name();
        self.waits.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.waits.push(name);
            self.waits.len() - 1
        })
    }

    fn row<R: Read + Seek>(&mut self, trace: &Reader<R>, thread: u32) -> usize {
        if let Some(row) = self.rows.get(&thread) {
            return *row;
        }
        let row = self.threads.number.len();
        let name = self.name(trace.name(thread));
        self.threads.number.push(thread);
        self.threads.name.push(name);
        self.rows.insert(thread, row);
        let before = self.before.remove(&thread).unwrap_or_default();
        self.values.extend(self.earlier(number(row), before));
        row
    }

    /// The values with which the part begins.
    fn earlier(&self, thread: i64, values: Vec<(usize, Value)>) -> impl Iterator<Item = Changed> + use<> {
        let at = self.asked.from;
        values.into_iter().map(move |(variable, value)| Changed { at, thread, variable, value })
    }

    fn name(&mut self, name: Option<&str>) -> i64 {
        let Some(name) = name else { return -1 };
        let name = shortened(name);
        if let Some(place) = self.numbers_of_names.get(&name) {
            return *place;
        }
        let place = number(self.names.len());
        self.names.push(name.clone());
        self.numbers_of_names.insert(name, place);
        place
    }

    fn why<R: Read + Seek>(&mut self, trace: &Reader<R>, record: Option<&Record>) -> i64 {
        let Some(record) = record else { return -1 };
        let kind = record.what.word();
        if let Some(place) = self.places.get(&(kind, record.event, record.line)) {
            return *place;
        }
        let (event, line) = trace.header().why(record).unwrap_or(("", record.line));
        let (event, file) = (shortened(event), trace.header().source(record));
        let source = if line > 0 && !file.is_empty() { self.source(file) } else { -1 };
        let place = number(self.whys.len());
        self.whys.push(Why { kind, event, line, exact: record.line > 0, source });
        self.places.insert((kind, record.event, record.line), place);
        place
    }

    fn source(&mut self, file: &str) -> i64 {
        let known = self.sources.iter().position(|known| known.file == file);
        number(known.unwrap_or_else(|| {
            self.sources.push(Text { file: file.to_owned(), text: None });
            self.sources.len() - 1
        }))
    }

    // ---- The end

    fn ends<R: Read + Seek>(
        mut self,
        trace: &Reader<R>,
        title: &str,
        (until, end): (i64, i64),
        left: u64,
        source: &dyn Fn(&str) -> Option<String>,
    ) -> Recording {
        let from = self.begin.max(self.asked.from).min(until);
        for known in &mut self.sources {
            known.text = source(&known.file);
        }
        let mut notes = Vec::new();
        if from > self.begin {
            notes.push(format!("What was before {} is left out (--from).", exact(from)));
        }
        let cut = left > 0 || end > until;
        if cut && until == self.asked.to {
            notes.push(format!("What was from {} on is left out (--to).", exact(until)));
        }
        let wanted = notes.len();
        notes.extend(self.missing(trace, until, if until == self.asked.to { 0 } else { left }));
        self.stays.sort_by_key(|stay| stay.since);
        if self.ready.is_empty() && self.stays.iter().any(|stay| stay.state == READY) {
            self.ready = counted(&self.stays);
            notes.push(
                "The recording does not say how many threads were ready; they are counted by their states.".into(),
            );
        }
        self.ready.iter_mut().for_each(|(at, _)| *at = (*at).max(from));
        let header = trace.header();
        Recording {
            title: shortened(title),
            policy: shortened(&header.policy),
            host: shortened(&header.host),
            clock: shortened(&header.clock),
            from,
            until,
            end,
            notes,
            wanted,
            columns: self.columns(),
        }
    }

    /// What is missing though nobody asked for that. `left`: how many records have no room.
    fn missing<R: Read + Seek>(&self, trace: &Reader<R>, until: i64, left: u64) -> Vec<String> {
        let mut notes = Vec::new();
        if trace.lost() > 0 {
            notes.push(format!(
                "{} older records are missing: what was before {} is not known.",
                trace.lost(),
                exact(self.begin)
            ));
        }
        if left > 0 {
            notes.push(format!(
                "Only what was before {} is shown, because a page has room for {} changes. {left} later records are left out. --from and --to show another part.",
                exact(until),
                self.asked.most
            ));
        }
        if self.stays.iter().any(|stay| stay.state == UNKNOWN && stay.since > self.begin) {
            notes.push(
                "Events are missing in between: processors are dotted there, and threads are in no state.".into(),
            );
        }
        for file in self.sources.iter().filter(|known| known.text.is_none()).map(|known| visible(&known.file)) {
            notes.push(format!("The text of {} is not at hand: only the numbers of its lines are shown.", file));
        }
        let step = trace.header().resolution_ns;
        if step >= 1000 {
            notes.push(format!("All times are multiples of {}.", exact_since(u64::from(step))));
        }
        notes
    }

    /// Sorts the rows of threads by when they came. They were made as stays ended.
    fn sort_rows(&mut self) {
        let mut came = vec![i64::MAX; self.threads.number.len()];
        let seen = self.stays.iter().filter_map(|stay| Some((stay.thread?, stay.since)));
        let seen = seen.chain(self.marks.iter().filter_map(|(at, row, _)| Some((usize::try_from(*row).ok()?, *at))));
        seen.for_each(|(row, at)| came[row] = came[row].min(at));
        let mut order: Vec<usize> = (0..came.len()).collect();
        order.sort_by_key(|row| (came[*row], self.threads.number[*row]));
        let mut places = vec![0; came.len()];
        order.iter().enumerate().for_each(|(place, row)| places[*row] = place);
        let moved = |row: i64| usize::try_from(row).map_or(-1, |row| number(places[row]));
        for stay in &mut self.stays {
            stay.thread = stay.thread.map(|row| places[row]);
            stay.lent_by = stay.lent_by.map(|row| places[row]);
        }
        self.values.iter_mut().for_each(|value| value.thread = moved(value.thread));
        self.marks.iter_mut().for_each(|(_, row, _)| *row = moved(*row));
        self.threads = Threads {
            number: order.iter().map(|row| self.threads.number[*row]).collect(),
            name: order.iter().map(|row| self.threads.name[*row]).collect(),
        };
    }

    fn columns(mut self) -> Columns {
        self.sort_rows();
        let of_all = self.before.remove(&0).unwrap_or_default();
        let mut values: Vec<Changed> = self.earlier(-1, of_all).collect();
        values.append(&mut self.values);
        values.sort_by_key(|value| value.at);
        let stays = &self.stays;
        let mut processors: Vec<u16> = stays.iter().filter_map(|stay| stay.processor).collect();
        processors.sort_unstable();
        processors.dedup();
        let place = |processor: u16| processors.binary_search(&processor).map_or(-1, number);
        let lent = |(place, stay): (usize, &Entry)| Some((place, number(stay.lent_by?)));
        let columns = Stays {
            after: distances(stays.iter().map(|stay| stay.since)),
            length: stays.iter().map(|stay| stay.until - stay.since).collect(),
            state: stays.iter().map(|stay| stay.state).collect(),
            thread: stays.iter().map(|stay| stay.thread.map_or(-1, number)).collect(),
            processor: stays.iter().map(|stay| stay.processor.map_or(-1, place)).collect(),
            why: stays.iter().map(|stay| stay.why).collect(),
            end: stays.iter().map(|stay| stay.end).collect(),
            lent: stays.iter().enumerate().filter_map(lent).collect(),
        };
        Columns {
            names: self.names,
            threads: self.threads,
            stays: columns,
            waits: self.waits,
            whys: self.whys,
            sources: self.sources,
            ready: Ready {
                after: distances(self.ready.iter().map(|(at, _)| *at)),
                count: self.ready.iter().map(|(_, count)| *count).collect(),
            },
            variables: self.names_of_variables,
            values: Values {
                after: distances(values.iter().map(|value| value.at)),
                thread: values.iter().map(|value| value.thread).collect(),
                variable: values.iter().map(|value| value.variable).collect(),
                value: values.iter().map(|value| value.value.to_string()).collect(),
            },
            marks: Marks {
                after: distances(self.marks.iter().map(|(at, ..)| *at)),
                thread: self.marks.iter().map(|(_, thread, _)| *thread).collect(),
                why: self.marks.iter().map(|(.., why)| *why).collect(),
            },
            processors,
        }
    }
}

/// How many threads are ready, by their states.
fn counted(stays: &[Entry]) -> Vec<(i64, i64)> {
    let ready = stays.iter().filter(|stay| stay.state == READY);
    let mut changes: Vec<(i64, i64)> = ready.flat_map(|stay| [(stay.since, 1), (stay.until, -1)]).collect();
    changes.sort_unstable();
    let (mut counts, mut count): (Vec<(i64, i64)>, i64) = (Vec::new(), 0);
    for (at, change) in changes {
        count += change;
        match counts.last_mut() {
            Some((last, known)) if *last == at => *known = count,
            Some(_) | None => counts.push((at, count)),
        }
    }
    counts
}

/// A name that can be shown, and is not too long.
fn shortened(name: &str) -> String {
    let name = visible(name);
    match name.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.into_owned(),
    }
}

fn number(place: usize) -> i64 {
    i64::try_from(place).unwrap_or(-1)
}
