//! The states of threads over time: a row for each processor and each thread.

use std::collections::{BTreeMap, BTreeSet};

use super::axis::Times;
use super::font::width;
use super::rows::chosen;
use super::sheet::{Anchor, Bar, Sheet, pixels};
use super::styles::{Kinds, Style};
use super::{Due, Gap, MARGIN, Picture, State, Stay, WIDTH};
use crate::sim::duration;

/// How many rows there are at most.
const THREADS: usize = 32;
const PROCESSORS: usize = 8;
/// Of a row.
const HEIGHT: f64 = 20.0;
const SIZE: f64 = 12.0;
/// How many stays can be distinguished in a row. With more, the picture ends earlier.
const STAYS: usize = 240;
/// How many deadlines can, which are wider.
const DUES: usize = 90;

pub(super) struct Rows<'a> {
    picture: &'a Picture,
    /// Until the end of the picture.
    stays: Vec<Stay>,
    until: i64,
    /// From the top, with their kinds.
    threads: Vec<(u64, usize)>,
    /// How many threads of each kind have no row.
    more: BTreeMap<usize, usize>,
}

/// An arrow that points down from here.
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
    /// The thread, and its kind.
    Thread(u64, usize),
    /// Only words.
    More,
}

impl<'a> Rows<'a> {
    pub(super) fn new(picture: &'a Picture) -> Self {
        let part = &picture.part;
        let mut stays = joined(&part.stays);
        let kind = |thread: &u64| part.threads.get(thread).map_or(0, |thread| thread.kind);
        let until = legible(&stays, &rows_of(&stays, kind), &part.dues, part.until);
        stays.retain(|stay| stay.from < until || stay.from == part.from);
        stays.iter_mut().for_each(|stay| stay.to = stay.to.min(until));
        let with_rows = rows_of(&stays, kind);
        let mut threads: Vec<(u64, usize)> = with_rows.iter().map(|thread| (*thread, kind(thread))).collect();
        threads.sort_by_key(|(thread, kind)| (*kind, *thread));
        let mut more = BTreeMap::new();
        for thread in seen(&stays).difference(&with_rows) {
            *more.entry(kind(thread)).or_insert(0) += 1;
        }
        Rows { picture, stays, until, threads, more }
    }

    /// The part of the time that is shown.
    pub(super) fn shown(&self) -> (i64, i64) {
        (self.picture.part.from, self.until)
    }

    /// How much is shown, if that is less than was asked for.
    pub(super) fn less(&self) -> Option<String> {
        (self.until < self.picture.part.asked).then(|| self.part()).flatten()
    }

    /// How much is shown, if that is not all.
    fn part(&self) -> Option<String> {
        let (until, all) = (duration(self.until), duration(self.picture.end));
        let from = self.picture.part.from;
        if !self.picture.part.late && self.until >= self.picture.end {
            return None;
        }
        Some(match from {
            0 => format!("until {until} of {all}"),
            _ => format!("from {} to {until} of {all}", duration(from)),
        })
    }

    /// Draws the timeline. Returns its height.
    pub(super) fn draw(&self, sheet: &mut Sheet, top: f64, kinds: &Kinds) -> f64 {
        let labels = self.labels(kinds);
        let widest = labels.iter().map(|(label, _)| width(label, SIZE)).fold(0.0, f64::max);
        let left = MARGIN + widest.ceil() + 8.0;
        let times = Times { from: self.picture.part.from, to: self.until, decades: false, left, right: WIDTH - 40.0 };
        let part = self.part().map_or(String::new(), |part| format!(": {part}"));
        let others = self.less().map_or("", |_| "; --from and --to show another part");
        sheet.caption(MARGIN, top, WIDTH - 2.0 * MARGIN, &format!("who ran when{part}{others}"));
        let first = top + 22.0;
        let bottom = first + labels.len() as f64 * HEIGHT + 4.0;
        times.draw(sheet, first, bottom);
        let mut places = BTreeMap::new();
        for (number, (label, row)) in labels.iter().enumerate() {
            let y = first + number as f64 * HEIGHT + HEIGHT / 2.0;
            sheet.text(left - 8.0, y + 4.0, SIZE, Anchor::End, label);
            match row {
                Row::Processor(processor) => self.processor(sheet, *processor, y, &times, kinds),
                Row::Thread(thread, kind) => {
                    self.thread(sheet, *thread, kinds.style(*kind), y, &times);
                    places.insert(*thread, y);
                }
                Row::More => {}
            }
        }
        self.lending(sheet, &places, &times);
        self.deadlines(sheet, &places, &times);
        bottom + 22.0 - top
    }

    /// From the top.
    fn labels(&self, kinds: &Kinds) -> Vec<(String, Row)> {
        let processors = &self.picture.processors;
        let mut labels: Vec<(String, Row)> = processors
            .iter()
            .take(PROCESSORS)
            .map(|processor| (format!("processor {processor}"), Row::Processor(*processor)))
            .collect();
        if processors.len() > PROCESSORS {
            labels.push((format!("and {} more", processors.len() - PROCESSORS), Row::More));
        }
        for (place, (thread, kind)) in self.threads.iter().enumerate() {
            let number = self.picture.part.threads.get(thread).map_or("", |thread| thread.number.as_str());
            labels.push((format!("{}{number}", kinds.name(*kind)), Row::Thread(*thread, *kind)));
            let last = self.threads.get(place + 1).is_none_or(|(_, next)| next != kind);
            if let Some(more) = self.more.get(kind).filter(|_| last) {
                labels.push((format!("and {more} more"), Row::More));
            }
        }
        let shown: BTreeSet<usize> = self.threads.iter().map(|(_, kind)| *kind).collect();
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

    fn processor(&self, sheet: &mut Sheet, processor: usize, y: f64, times: &Times, kinds: &Kinds) {
        let here = || self.stays.iter().filter(move |stay| on(stay.state) == Some(processor));
        let kind = |stay: &Stay| self.picture.part.threads.get(&stay.thread).map_or(0, |thread| thread.kind);
        let gaps = self.picture.part.gaps.iter().filter(|gap| gap.processor == processor && gap.from < self.until);
        let gap = |gap: &Gap| (times.x(gap.from), y - 7.0, times.x(gap.to) - times.x(gap.from), 14.0);
        sheet.bars(Style::Unknown, gaps.map(gap));
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

    /// Frames around lent turns, each with a line to the thread that runs on it.
    fn lending(&self, sheet: &mut Sheet, places: &BTreeMap<u64, f64>, times: &Times) {
        let mut path = String::new();
        for stay in &self.stays {
            let State::Running { lent_by: Some(donor), .. } = stay.state else { continue };
            let Some(above) = places.get(&donor) else { continue };
            let (left, top, wide, height) = Self::bar(stay, times, above - 4.0, 8.0);
            let wide = wide.max(0.75);
            let outline = [left, top, wide, height, -wide].map(pixels);
            path.push_str(&format!("M{} {}h{}v{}h{}z", outline[0], outline[1], outline[2], outline[3], outline[4]));
            if let Some(below) = places.get(&stay.thread) {
                path.push_str(&format!("M{} {}V{}", pixels(left), pixels(*above), pixels(*below)));
            }
        }
        sheet.path(Style::Lends, &path);
    }

    fn deadlines(&self, sheet: &mut Sheet, places: &BTreeMap<u64, f64>, times: &Times) {
        let (mut met, mut not) = (String::new(), String::new());
        for due in self.picture.part.dues.iter().filter(|due| due.time <= self.until) {
            let Some(y) = places.get(&due.thread) else { continue };
            let x = times.x(due.time);
            met.push_str(&deadline(x, y - 7.0));
            if due.missed {
                not.push_str(&missed(x, *y));
            }
        }
        sheet.path_in_front(Style::Deadline, &met);
        sheet.path(Style::Missed, &not);
    }
}

fn on(state: State) -> Option<usize> {
    match state {
        State::Running { processor, .. } => Some(processor),
        State::Ready | State::Blocked | State::Ended => None,
    }
}

/// The stays that took time, by their beginnings. Consecutive ones in the same state are joined.
fn joined(stays: &[Stay]) -> Vec<Stay> {
    let mut stays: Vec<Stay> =
        stays.iter().filter(|stay| stay.from < stay.to && stay.state != State::Ended).copied().collect();
    stays.sort_by_key(|stay| (stay.from, stay.thread));
    let mut last: BTreeMap<u64, usize> = BTreeMap::new();
    let mut joined: Vec<Stay> = Vec::new();
    for stay in stays {
        let before = last.get(&stay.thread).and_then(|place| joined.get_mut(*place));
        match before.filter(|before| before.to == stay.from && before.state == stay.state) {
            Some(before) => before.to = stay.to,
            None => {
                last.insert(stay.thread, joined.len());
                joined.push(stay);
            }
        }
    }
    joined
}

fn seen(stays: &[Stay]) -> BTreeSet<u64> {
    stays.iter().map(|stay| stay.thread).collect()
}

/// The threads that have rows. If not all can, those that run.
fn rows_of(stays: &[Stay], kind: impl Fn(&u64) -> usize) -> BTreeSet<u64> {
    let mut ran: BTreeMap<u64, i64> = BTreeMap::new();
    for stay in stays {
        let length = if on(stay.state).is_some() { stay.to - stay.from } else { 0 };
        *ran.entry(stay.thread).or_insert(0) += length;
    }
    chosen(ran.into_iter().map(|(thread, ran)| (thread, kind(&thread), ran)), THREADS)
}

/// The last instant up to which every row is legible.
fn legible(stays: &[Stay], rows: &BTreeSet<u64>, dues: &[Due], end: i64) -> i64 {
    let mut each: BTreeMap<(bool, u64), Vec<i64>> = BTreeMap::new();
    for stay in stays {
        if let Some(processor) = on(stay.state) {
            each.entry((true, processor as u64)).or_default().push(stay.from);
            if rows.contains(&stay.thread) {
                each.entry((false, stay.thread)).or_default().push(stay.from);
            }
        }
    }
    let mut due_times: BTreeMap<u64, Vec<i64>> = BTreeMap::new();
    for due in dues.iter().filter(|due| rows.contains(&due.thread)) {
        due_times.entry(due.thread).or_default().push(due.time);
    }
    let stays = each.values_mut().map(|times| (times, STAYS));
    let dues = due_times.values_mut().map(|times| (times, DUES));
    let mut until = end;
    for (times, most) in stays.chain(dues).filter(|(times, most)| times.len() > *most) {
        times.sort_unstable();
        until = until.min(times[most]);
    }
    until
}
