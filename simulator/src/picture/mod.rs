//! Pictures, as SVG: who ran when, how the processors were shared, and how long it took, in a simulation or a trace; and charts of
//! measurements. To be read on paper, too: kinds of threads differ in colour, in how dark they are and in their hatching, lines in
//! their dashes.
//!
//! ```text
//! title
//! timeline: a row for each processor, a row for each thread
//! shares over time      | distribution of how long it took
//! key: all that is used above
//! ```

mod axis;
mod chart;
mod distribution;
mod key;
mod rows;
mod shares;
mod sheet;
mod styles;
mod text;
mod timeline;

use std::collections::BTreeMap;

pub use chart::{Chart, Curve, Dot, Panel};
pub use rows::{LONGEST_NAME, chosen, short, short_names, visible};
pub use shares::{Window, most_windows};
pub(crate) use text::SEEN;
pub use text::{Row, picture};

use crate::sim::duration;
use sheet::{Area, Sheet};
use styles::Kinds;

/// What is drawn.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Whose it is, in a few words; how many processors there were, and how long it took, is added.
    pub title: String,
    /// The numbers of the processors that there were.
    pub processors: Vec<usize>,
    /// When it all began.
    pub begin: i64,
    /// And when it ended.
    pub end: i64,
    /// Of threads.
    pub kinds: Vec<Kind>,
    /// Who ran when, in a part of it.
    pub part: Part,
    /// How the processors were shared, over all of it.
    pub windows: Vec<Window>,
    /// Whether [`Kind::curve`] is of jobs; else it is of waits for a processor.
    pub jobs: bool,
}

/// Threads that look the same.
#[derive(Clone, Debug)]
pub struct Kind {
    /// What they are called.
    pub name: String,
    /// How long they ran.
    pub ran: i128,
    /// How long it took: each time, and how many of a hundred took no longer.
    pub curve: Vec<(i64, f64)>,
}

/// Who was in which state when.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// From here on,
    pub from: i64,
    /// to here it is all there.
    pub until: i64,
    /// That it begins later than the whole was asked for.
    pub late: bool,
    /// Until here it was asked for.
    pub asked: i64,
    /// Of threads.
    pub stays: Vec<Stay>,
    /// When nothing is known of a processor: events are missing.
    pub gaps: Vec<Gap>,
    /// Of jobs.
    pub dues: Vec<Due>,
    /// Those in the stays, in the order in which they came.
    pub threads: BTreeMap<u64, Thread>,
}

/// A thread in a picture.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Into the kinds.
    pub kind: usize,
    /// What follows the name of its kind, where several are of it.
    pub number: String,
}

/// That a thread was in a state for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stay {
    /// Into [`Part::threads`].
    pub thread: u64,
    /// When it began.
    pub from: i64,
    /// When it ended.
    pub to: i64,
    /// In what.
    pub state: State,
}

/// What a thread is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It computes.
    Running {
        /// Where.
        processor: usize,
        /// Whose turn it is, if that is another thread, which waits for it.
        lent_by: Option<u64>,
    },
    /// It could.
    Ready,
    /// It waits.
    Blocked,
    /// It is no more.
    Ended,
}

/// Events are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Of this processor.
    pub processor: usize,
    /// From here on.
    pub from: i64,
    /// To here.
    pub to: i64,
}

/// When a job was due.
#[derive(Clone, Copy, Debug)]
pub struct Due {
    /// When.
    pub time: i64,
    /// Whose job.
    pub thread: u64,
    /// It was not done by then.
    pub missed: bool,
}

/// A picture, and what of it all its timeline shows.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The picture.
    pub svg: String,
    /// `until 12ms of 3s`, where that is less than was asked for.
    pub less: Option<String>,
}

/// Of the picture; how high it is depends on what is in it.
const WIDTH: f64 = 960.0;
const MARGIN: f64 = 12.0;
const TITLE: f64 = 34.0;
/// Of the panels below the timeline.
const PANEL: f64 = 260.0;

impl Picture {
    /// Whose it is, how many processors there were, and how long it took.
    pub fn title(&self) -> String {
        let processors = match self.processors.len() {
            1 => "1 processor".to_owned(),
            several => format!("{several} processors"),
        };
        format!("{}, {processors}, {}", self.title, duration(self.end - self.begin))
    }

    /// Draws it.
    pub fn draw(&self) -> Drawn {
        let kinds = Kinds::new(self.kinds.iter().map(|kind| (kind.name.as_str(), kind.ran)));
        let mut sheet = Sheet::new();
        sheet.title(&self.title(), WIDTH - 2.0 * MARGIN);
        let mut top = TITLE;
        let timeline = timeline::Rows::new(self);
        top += timeline.draw(&mut sheet, top, &kinds) + MARGIN;
        let half = (WIDTH - 3.0 * MARGIN) / 2.0;
        let panel = |left: f64| Area { left, top, width: half, height: PANEL };
        shares::draw(&mut sheet, &panel(MARGIN), self, timeline.shown(), &kinds);
        distribution::draw(&mut sheet, &panel(2.0 * MARGIN + half), self, &kinds);
        top += PANEL + MARGIN;
        top += key::draw(&mut sheet, top, &kinds) + MARGIN;
        Drawn { svg: sheet.finish(WIDTH, top, &kinds), less: timeline.less() }
    }
}
