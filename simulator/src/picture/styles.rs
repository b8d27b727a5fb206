//! The styles of what is drawn: of kinds of threads and of their states.

use svg::Node;
use svg::node::element::{Definitions, Group, Path, Pattern, Rectangle};

use super::short_names;

/// Colours that people with colour blindness can distinguish (Okabe and Ito), each with an ink that is legible on it.
const COLOURS: [(&str, &str); 7] = [
    ("#0072b2", "#fff"),
    ("#e69f00", "#000"),
    ("#009e73", "#fff"),
    ("#cc79a7", "#000"),
    ("#d55e00", "#fff"),
    ("#56b4e9", "#000"),
    ("#444", "#fff"),
];
/// How many kinds have styles of their own, even in black and white. The others share one.
const SEVERAL: usize = 12;
/// Drawn on the colour of each kind, in a square of 6 by 6.
const HATCHES: [&str; SEVERAL] = [
    "",
    "M-1 1L1 -1M0 6L6 0M5 7L7 5",
    "M2 2h2v2h-2z",
    "M-1 5L1 7M0 0L6 6M5 -1L7 1",
    "M0 1.5H6M0 4.5H6",
    "M0 0L6 6M0 6L6 0",
    "M1.5 0V6M4.5 0V6",
    "M0 3H6M3 0V6",
    "M0 4.5L3 1.5L6 4.5z",
    "M0 0h3v3h-3zM3 3h3v3h-3z",
    "M1 1h.5v.5h-.5zM4 4h.5v.5h-.5z",
    "M0 2h6v2h-6z",
];
const DASHES: [&str; SEVERAL] = [
    "none",
    "7 3",
    "2 2",
    "9 3 2 3",
    "14 4",
    "5 2 1 2 1 2",
    "1 4",
    "11 3 5 3",
    "4 6",
    "9 2 2 2 2 2 2 2",
    "20 3 1 3",
    "4 1",
];
/// The length of names.
const NAME: usize = 30;

/// How something looks, and so what it means. The key has this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Style {
    /// The time of a kind with a style of its own, by its place among these.
    Kind(usize),
    /// The time of all other kinds.
    Others,
    /// The distribution of a kind.
    Line(usize),
    Ready,
    Waits,
    /// It waits, and another thread runs on its turn.
    Lends,
    /// It runs on another thread's turn.
    Lent,
    Deadline,
    Missed,
    /// Events are missing.
    Unknown,
    /// The part of the time that the timeline shows.
    Part,
    /// The single measurements of a chart.
    Dots,
}

/// Which kinds have styles of their own.
pub(super) struct Kinds {
    names: Vec<String>,
    /// By kind.
    places: Vec<Option<usize>>,
}

impl Kinds {
    /// Kinds come with their names and how long they ran. Those that ran most get styles.
    pub(super) fn new<'a>(kinds: impl IntoIterator<Item = (&'a str, i128)>) -> Self {
        let (names, ran): (Vec<&str>, Vec<i128>) = kinds.into_iter().unzip();
        let mut most: Vec<usize> = (0..names.len()).collect();
        most.sort_by_key(|kind| (-ran[*kind], *kind));
        most.truncate(SEVERAL);
        most.sort_unstable();
        let mut places = vec![None; names.len()];
        most.iter().enumerate().for_each(|(place, kind)| places[*kind] = Some(place));
        Kinds { names: short_names(names, NAME), places }
    }

    pub(super) fn style(&self, kind: usize) -> Style {
        self.place(kind).map_or(Style::Others, Style::Kind)
    }

    pub(super) fn place(&self, kind: usize) -> Option<usize> {
        self.places.get(kind).copied().flatten()
    }

    /// The name, as it is shown.
    pub(super) fn name(&self, kind: usize) -> &str {
        self.names.get(kind).map_or("", String::as_str)
    }

    /// What a style means.
    pub(super) fn meaning(&self, style: Style) -> String {
        let others = self.places.iter().filter(|place| place.is_none()).count();
        match style {
            Style::Kind(place) | Style::Line(place) => {
                let kind = self.places.iter().position(|one| *one == Some(place));
                kind.map_or(String::new(), |kind| self.name(kind).to_owned())
            }
            Style::Others => format!("{others} other kinds"),
            Style::Ready => "ready".to_owned(),
            Style::Waits => "waits".to_owned(),
            Style::Lends => "waits and lends its turn".to_owned(),
            Style::Lent => "runs on a lent turn".to_owned(),
            Style::Deadline => "deadline".to_owned(),
            Style::Missed => "deadline missed".to_owned(),
            Style::Unknown => "events are missing".to_owned(),
            Style::Part => "the part that is shown above".to_owned(),
            Style::Dots => "each that was measured".to_owned(),
        }
    }

    /// The fillings of bars.
    pub(super) fn patterns(&self, unknown: bool) -> Definitions {
        let mut definitions = Definitions::new();
        if unknown {
            let dots = Path::new().set("d", "M1 3h1M4 0h1M4 6h1").set("stroke", "#777").set("stroke-width", 1);
            let ground = Rectangle::new().set("width", 6).set("height", 6).set("fill", "#fff");
            definitions.append(square(Style::Unknown).add(ground).add(dots));
        }
        for place in 0..self.places.iter().flatten().count() {
            let (colour, ink) = COLOURS[place % COLOURS.len()];
            let ground = Rectangle::new().set("width", 6).set("height", 6).set("fill", colour);
            let mut pattern = square(Style::Kind(place)).add(ground);
            let hatch = HATCHES[place % SEVERAL];
            if !hatch.is_empty() {
                pattern
                    .append(Path::new().set("d", hatch).set("fill", ink).set("stroke", ink).set("stroke-width", 1.1));
            }
            definitions.append(pattern);
        }
        definitions
    }
}

fn square(style: Style) -> Pattern {
    Pattern::new().set("id", style.class()).set("width", 6).set("height", 6).set("patternUnits", "userSpaceOnUse")
}

/// The colour, ink and hatching of each style of kinds, for other media.
pub(crate) fn looks() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    HATCHES.iter().enumerate().map(|(place, hatch)| {
        let (colour, ink) = COLOURS[place % COLOURS.len()];
        (colour, ink, *hatch)
    })
}

impl Style {
    pub(super) fn class(self) -> String {
        match self {
            Style::Kind(place) => format!("kind-{place}"),
            Style::Others => "others".to_owned(),
            Style::Line(place) => format!("line-{place}"),
            Style::Ready => "ready".to_owned(),
            Style::Waits => "waits".to_owned(),
            Style::Lends => "lends".to_owned(),
            Style::Lent => "lent".to_owned(),
            Style::Deadline => "deadline".to_owned(),
            Style::Missed => "missed".to_owned(),
            Style::Unknown => "unknown".to_owned(),
            Style::Part => "part".to_owned(),
            Style::Dots => "dots".to_owned(),
        }
    }

    /// A group of shapes in this style.
    pub(super) fn group(self) -> Group {
        let group = Group::new().set("class", self.class());
        let line =
            |colour: &str, wide: f64| group.clone().set("fill", "none").set("stroke", colour).set("stroke-width", wide);
        match self {
            Style::Kind(place) => {
                let edge = COLOURS[place % COLOURS.len()].0;
                group.set("fill", format!("url(#{})", self.class())).set("stroke", edge).set("stroke-width", 0.5)
            }
            Style::Others => group.set("fill", "#e4e4e4").set("stroke", "#333").set("stroke-width", 0.8),
            Style::Line(place) => {
                line(COLOURS[place % COLOURS.len()].0, 2.0).set("stroke-dasharray", DASHES[place % SEVERAL])
            }
            Style::Ready => group.set("fill", "#aaa"),
            Style::Waits => group.set("fill", "#777"),
            Style::Lends => line("#000", 1.0).set("stroke-dasharray", "2 1.5"),
            Style::Unknown => {
                let edge = group.set("fill", format!("url(#{})", self.class())).set("stroke", "#777");
                edge.set("stroke-width", 0.5).set("stroke-dasharray", "2 2")
            }
            Style::Lent | Style::Part => group.set("fill", "#000"),
            Style::Dots => group.set("fill", "#000").set("fill-opacity", 0.45),
            Style::Deadline => line("#000", 1.0),
            Style::Missed => line("#000", 2.2),
        }
    }
}
