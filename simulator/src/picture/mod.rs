//! Pictures as SVG: which threads ran when, how the processors were shared, and how long it took, in a simulation or a
//! trace; and charts of measurements. They can be read in black and white: kinds differ in colour, darkness and
//! hatching, lines in their dashes.
//!
//! ```text
//! title
//! timeline: a row for each processor, a row for each thread
//! shares over time      | distribution of how long it took
//! key: the styles used above
//! ```

mod axis;
mod chart;
mod distribution;
mod font;
mod key;
mod rows;
mod shares;
mod sheet;
mod styles;
mod text;
mod timeline;

use std::collections::BTreeMap;

pub(crate) use axis::step;
pub use chart::{Chart, Curve, Dot, Panel};
pub use rows::{LONGEST_NAME, chosen, short, short_names, visible};
pub use shares::{Window, most_windows};
pub(crate) use styles::looks;
pub(crate) use text::SEEN;
pub use text::{Row, picture};

use crate::sim::duration;
use sheet::{Area, Sheet};
use styles::Kinds;

/// What to draw.
#[derive(Clone, Debug)]
pub struct Picture {
    /// What the picture is of. The number of processors and the length are added.
    pub title: String,
    /// The numbers of the processors.
    pub processors: Vec<usize>,
    /// When it began.
    pub begin: i64,
    /// When it ended.
    pub end: i64,
    /// The kinds of threads.
    pub kinds: Vec<Kind>,
    /// Which threads ran when, in a part of the time.
    pub part: Part,
    /// How the processors were shared, over the whole time.
    pub windows: Vec<Window>,
    /// Whether [`Kind::curve`] shows jobs. Otherwise it shows waits for a processor.
    pub jobs: bool,
}

/// Threads that are drawn alike.
#[derive(Clone, Debug)]
pub struct Kind {
    /// Their name.
    pub name: String,
    /// How long they ran.
    pub ran: i128,
    /// The distribution of how long it took: times, each with the percentage that took no longer.
    pub curve: Vec<(i64, f64)>,
}

/// The threads' states over time.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// Where it begins.
    pub from: i64,
    /// Until when it is complete.
    pub until: i64,
    /// A later beginning than the whole's was asked for.
    pub late: bool,
    /// The end that was asked for.
    pub asked: i64,
    /// The stays of threads.
    pub stays: Vec<Stay>,
    /// When nothing is known of a processor, because events are missing.
    pub gaps: Vec<Gap>,
    /// When jobs were due.
    pub dues: Vec<Due>,
    /// The threads of the stays, in the order in which they came.
    pub threads: BTreeMap<u64, Thread>,
}

/// A thread in a picture.
#[derive(Clone, Debug)]
pub struct Thread {
    /// The index of its kind.
    pub kind: usize,
    /// What follows the name of its kind, if that has several threads.
    pub number: String,
}

/// A thread's stay in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stay {
    /// A key of [`Part::threads`].
    pub thread: u64,
    /// When it began.
    pub from: i64,
    /// When it ended.
    pub to: i64,
    /// The state.
    pub state: State,
}

/// The state of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It computes.
    Running {
        /// On this processor.
        processor: usize,
        /// The thread whose turn it is, if that is another one, which waits for it.
        lent_by: Option<u64>,
    },
    /// It could compute.
    Ready,
    /// It waits.
    Blocked,
    /// It has ended.
    Ended,
}

/// Events are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The processor.
    pub processor: usize,
    /// Since when.
    pub from: i64,
    /// Until when.
    pub to: i64,
}

/// When a job was due.
#[derive(Clone, Copy, Debug)]
pub struct Due {
    /// When.
    pub time: i64,
    /// The thread of the job.
    pub thread: u64,
    /// The job was not done by then.
    pub missed: bool,
}

/// A picture, and whether its timeline shows less than was asked for.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The picture.
    pub svg: String,
    /// `until 12ms of 3s`, if that is less than was asked for.
    pub less: Option<String>,
}

/// The picture's width. Its height depends on what is in it.
const WIDTH: f64 = 960.0;
const MARGIN: f64 = 12.0;
const TITLE: f64 = 34.0;
/// The height of the panels below the timeline.
const PANEL: f64 = 260.0;

impl Picture {
    /// What it is of, how many processors there were, and how long it took.
    pub fn title(&self) -> String {
        let processors = match self.processors.len() {
            1 => "1 processor".to_owned(),
            several => format!("{several} processors"),
        };
        format!("{}, {processors}, {}", self.title, duration(self.end - self.begin))
    }

    /// Draws the picture.
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
