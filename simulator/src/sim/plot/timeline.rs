//! Who ran, was ready and waited when: a row for each processor, and one for each thread.

use std::collections::{BTreeMap, BTreeSet};

use catapults_compiler::scenario::Scenario;

use super::super::rows::chosen;
use super::super::{Outcome, State, duration};
use super::axis::Times;
use super::sheet::{Anchor, Bar, Sheet, fitting, pixels, width};
use super::styles::{Kinds, Style};
use super::{MARGIN, WIDTH};

/// So many rows there are at most.
const THREADS: usize = 32;
const PROCESSORS: usize = 8;
/// Of a row.
const HEIGHT: f64 = 20.0;
const SIZE: f64 = 12.0;
/// More stays are not told from each other in a row; the picture ends earlier then.
const STAYS: usize = 240;

/// From when to when a thread was in a state.
#[derive(Clone, Copy)]
struct Stay {
    thread: u64,
    from: i64,
    to: i64,
    state: State,
}

struct Rows {
    stays: Vec<Stay>,
    from: i64,
    until: i64,
    /// How many processors there were.
    processors: usize,
    /// From above, with their kinds and numbers among these.
    threads: Vec<(u64, usize, u64)>,
    /// Of each kind, how many have no row.
    more: BTreeMap<usize, usize>,
}

/// Draws it, and says how high it is.
pub(super) fn draw(sheet: &mut Sheet, top: f64, scenario: &Scenario, outcome: &Outcome, kinds: &Kinds) -> f64 {
    let rows = Rows::new(outcome, scenario);
    let labels = rows.labels(scenario, kinds);
    let widest = labels.iter().map(|(label, _)| width(label, SIZE)).fold(0.0, f64::max);
    let left = MARGIN + widest.ceil() + 8.0;
    let times = Times { from: rows.from, to: rows.until, decades: false, left, right: WIDTH - 40.0 };
    let caption = match (rows.from, rows.until) {
        (0, until) if until >= outcome.end => "who ran when".to_owned(),
        (0, until) => format!("who ran when: until {} of {}", duration(until), duration(outcome.end)),
        (from, until) => {
            format!("who ran when: from {} to {} of {}", duration(from), duration(until), duration(outcome.end))
        }
    };
    sheet.text(MARGIN, top + 12.0, 13.0, Anchor::Start, &fitting(&caption, 13.0, WIDTH - 2.0 * MARGIN));
    let first = top + 22.0;
    let bottom = first + labels.len() as f64 * HEIGHT + 4.0;
    times.draw(sheet, first, bottom);
    let mut places = BTreeMap::new();
    for (number, (label, row)) in labels.iter().enumerate() {
        let y = first + number as f64 * HEIGHT + HEIGHT / 2.0;
        sheet.text(left - 8.0, y + 4.0, SIZE, Anchor::End, label);
        match row {
            Row::Processor(processor) => rows.processor(sheet, *processor, y, &times, outcome, kinds),
            Row::Thread(thread, kind) => {
                rows.thread(sheet, *thread, kinds.style(*kind), y, &times);
                places.insert(*thread, y);
            }
            Row::More => {}
        }
    }
    rows.lending(sheet, &places, &times);
    rows.deadlines(sheet, &places, outcome, &times);
    bottom + 22.0 - top
}

/// An arrow that points down, from there.
pub(super) fn deadline(x: f64, top: f64) -> String {
    let (x, top) = (pixels(x), pixels(top));
    format!("M{x} {top}v14m-2.5 -4l2.5 4l2.5 -4")
}

/// A cross.
pub(super) fn missed(x: f64, middle: f64) -> String {
    format!("M{} {}l8 8m0 -8l-8 8", pixels(x - 4.0), pixels(middle - 4.0))
}

/// What has a row.
enum Row {
    Processor(usize),
    /// With its kind.
    Thread(u64, usize),
    /// Only words.
    More,
}

impl Rows {
    fn new(outcome: &Outcome, scenario: &Scenario) -> Self {
        let (mut stays, from, end) = stays(outcome);
        let kind = |thread: u64| outcome.timeline.kind(thread).unwrap_or((0, 0));
        let seen = |stays: &[Stay]| -> BTreeSet<u64> { stays.iter().map(|stay| stay.thread).collect() };
        let choose = |stays: &[Stay]| chosen(seen(stays).into_iter().map(|thread| (thread, kind(thread).0)), THREADS);
        let until = legible(&stays, &choose(&stays), outcome, end);
        stays.retain(|stay| stay.from < until || stay.from == from);
        stays.iter_mut().for_each(|stay| stay.to = stay.to.min(until));
        let with_rows = choose(&stays);
        let mut threads: Vec<(u64, usize, u64)> =
            with_rows.iter().map(|thread| (*thread, kind(*thread).0, kind(*thread).1)).collect();
        threads.sort_by_key(|(_, kind, number)| (*kind, *number));
        let mut more = BTreeMap::new();
        for thread in seen(&stays).difference(&with_rows) {
            *more.entry(kind(*thread).0).or_insert(0) += 1;
        }
        let ran = stays.iter().filter_map(|stay| on(stay.state)).max().map_or(0, |processor| processor + 1);
        let processors = ran.max(scenario.processors as usize);
        Rows { stays, from, until, processors, threads, more }
    }

    /// From above.
    fn labels(&self, scenario: &Scenario, kinds: &Kinds) -> Vec<(String, Row)> {
        let mut labels: Vec<(String, Row)> = (0..self.processors.min(PROCESSORS))
            .map(|processor| (format!("processor {processor}"), Row::Processor(processor)))
            .collect();
        if self.processors > PROCESSORS {
            labels.push((format!("and {} more", self.processors - PROCESSORS), Row::More));
        }
        for (place, (thread, kind, number)) in self.threads.iter().enumerate() {
            let declared = &scenario.threads[*kind];
            let several = declared.count != Some(1) || declared.spawned;
            let name = kinds.name(*kind);
            let label = if several { format!("{name}.{number}") } else { name.to_owned() };
            labels.push((label, Row::Thread(*thread, *kind)));
            let last = self.threads.get(place + 1).is_none_or(|(_, next, _)| next != kind);
            if let Some(more) = self.more.get(kind).filter(|_| last) {
                labels.push((format!("and {more} more"), Row::More));
            }
        }
        let shown: BTreeSet<usize> = self.threads.iter().map(|(_, kind, _)| *kind).collect();
        let rest: usize = self.more.iter().filter(|(kind, _)| !shown.contains(kind)).map(|(_, more)| more).sum();
        if rest > 0 {
            labels.push((format!("and {rest} more of other kinds"), Row::More));
        }
        labels
    }

    fn bar(stay: &Stay, times: &Times, top: f64, height: f64) -> Bar {
        let (from, to) = (times.x(stay.from), times.x(stay.to));
        (from, top, to - from, height)
    }

    fn processor(&self, sheet: &mut Sheet, processor: usize, y: f64, times: &Times, outcome: &Outcome, kinds: &Kinds) {
        let here = || self.stays.iter().filter(move |stay| on(stay.state) == Some(processor));
        let kind = |stay: &Stay| outcome.timeline.kind(stay.thread).map_or(0, |(kind, _)| kind);
        let mut styles: BTreeMap<Style, Vec<Bar>> = BTreeMap::new();
        for stay in here() {
            styles.entry(kinds.style(kind(stay))).or_default().push(Self::bar(stay, times, y - 7.0, 14.0));
        }
        for (style, bars) in styles {
            sheet.bars(style, bars);
        }
        for stay in here() {
            let (left, _, wide, _) = Self::bar(stay, times, 0.0, 0.0);
            let name = kinds.name(kind(stay));
            if width(name, 10.0) + 8.0 <= wide {
                sheet.text_upon(left + 4.0, y + 3.5, 10.0, name);
            }
        }
    }

    fn thread(&self, sheet: &mut Sheet, thread: u64, style: Style, y: f64, times: &Times) {
        let mut styles: BTreeMap<Style, Vec<Bar>> = BTreeMap::new();
        let (mut runs, mut lent) = (Vec::new(), Vec::new());
        for stay in self.stays.iter().filter(|stay| stay.thread == thread) {
            match stay.state {
                State::Running { lent_by, .. } => {
                    runs.push(Self::bar(stay, times, y - 6.0, 12.0));
                    lent.extend(lent_by.map(|_| Self::bar(stay, times, y + 6.0, 2.5)));
                }
                State::Ready => styles.entry(Style::Ready).or_default().push(Self::bar(stay, times, y - 2.0, 4.0)),
                State::Blocked => styles.entry(Style::Waits).or_default().push(Self::bar(stay, times, y - 0.5, 1.0)),
                State::Ended => {}
            }
        }
        for (style, bars) in styles {
            sheet.bars(style, bars);
        }
        sheet.bars(style, runs);
        sheet.bars(Style::Lent, lent);
    }

    /// A frame where a thread lends its turn, and a line from there to who runs on it.
    fn lending(&self, sheet: &mut Sheet, places: &BTreeMap<u64, f64>, times: &Times) {
        let mut path = String::new();
        for stay in &self.stays {
            let State::Running { lent_by: Some(donor), .. } = stay.state else { continue };
            let Some(above) = places.get(&donor) else { continue };
            let (left, top, wide, height) = Self::bar(stay, times, above - 4.0, 8.0);
            let wide = wide.max(0.75);
            let frame = [left, top, wide, height, -wide].map(pixels);
            path.push_str(&format!("M{} {}h{}v{}h{}z", frame[0], frame[1], frame[2], frame[3], frame[4]));
            if let Some(below) = places.get(&stay.thread) {
                path.push_str(&format!("M{} {}V{}", pixels(left), pixels(*above), pixels(*below)));
            }
        }
        sheet.path(Style::Lends, &path);
    }

    fn deadlines(&self, sheet: &mut Sheet, places: &BTreeMap<u64, f64>, outcome: &Outcome, times: &Times) {
        let (mut met, mut not) = (String::new(), String::new());
        for due in outcome.timeline.dues().iter().filter(|due| due.time <= self.until) {
            let Some(y) = places.get(&due.thread) else { continue };
            let x = times.x(due.time);
            met.push_str(&deadline(x, y - 7.0));
            if due.missed {
                not.push_str(&missed(x, *y));
            }
        }
        sheet.path(Style::Deadline, &met);
        sheet.path(Style::Missed, &not);
    }
}

fn on(state: State) -> Option<usize> {
    match state {
        State::Running { processor, .. } => Some(processor),
        State::Ready | State::Blocked | State::Ended => None,
    }
}

/// What took no time is left out. With when they begin, and until when they are all.
fn stays(outcome: &Outcome) -> (Vec<Stay>, i64, i64) {
    let (changes, until) = outcome.timeline.changes();
    let mut stays = Vec::new();
    let mut open: BTreeMap<u64, (i64, State)> = BTreeMap::new();
    let mut begin = None;
    for change in changes {
        begin.get_or_insert(change.time);
        if let Some((from, state)) = open.insert(change.thread, (change.time, change.state)) {
            stays.push(Stay { thread: change.thread, from, to: change.time, state });
        }
    }
    for (thread, (from, state)) in open {
        stays.push(Stay { thread, from, to: until, state });
    }
    stays.retain(|stay| stay.from < stay.to && stay.state != State::Ended);
    let from = begin.unwrap_or(0);
    (stays, from, until.max(from + 1))
}

/// Until when no row has more in it than can be seen.
fn legible(stays: &[Stay], rows: &BTreeSet<u64>, outcome: &Outcome, end: i64) -> i64 {
    let mut each: BTreeMap<(bool, u64), Vec<i64>> = BTreeMap::new();
    for stay in stays {
        if let Some(processor) = on(stay.state) {
            each.entry((true, processor as u64)).or_default().push(stay.from);
            if rows.contains(&stay.thread) {
                each.entry((false, stay.thread)).or_default().push(stay.from);
            }
        }
    }
    for due in outcome.timeline.dues().iter().filter(|due| rows.contains(&due.thread)) {
        each.entry((false, due.thread)).or_default().push(due.time);
    }
    let mut until = end;
    for times in each.values_mut().filter(|times| times.len() > STAYS) {
        times.sort_unstable();
        until = until.min(times[STAYS]);
    }
    until
}
