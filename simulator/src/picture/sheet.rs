//! What panels draw on: shapes with a style, and texts, in pixels.

use std::collections::BTreeSet;

use svg::node::element::{Element, Group, Rectangle, Text};
use svg::{Document, Node};

use super::font::{FONT, width};
use super::styles::{Kinds, Style};
use super::{MARGIN, short_names, visible};

/// A part of the picture.
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Area {
    /// The room for data, beside the axes' labels and below a caption.
    pub(super) fn inside(&self) -> Area {
        Area { left: self.left + 42.0, top: self.top + 26.0, width: self.width - 68.0, height: self.height - 52.0 }
    }
}

/// Which part of a text is at its position.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// Left, top, width, height.
pub(super) type Bar = (f64, f64, f64, f64);

/// The least width of a bar, so that short times can be seen.
const LEAST: f64 = 0.75;

pub(super) struct Sheet {
    body: Group,
    used: BTreeSet<Style>,
    /// What is explained where it is used.
    explained: BTreeSet<Style>,
}

impl Sheet {
    pub(super) fn new() -> Self {
        Sheet { body: Group::new(), used: BTreeSet::new(), explained: BTreeSet::new() }
    }

    /// Draws bars with one style.
    pub(super) fn bars(&mut self, style: Style, bars: impl IntoIterator<Item = Bar>) {
        let mut group = style.group();
        let mut any = false;
        for (x, y, width, height) in bars {
            let bar = Rectangle::new().set("x", pixels(x)).set("y", pixels(y));
            group.append(bar.set("width", pixels(width.max(LEAST))).set("height", pixels(height.max(LEAST))));
            any = true;
        }
        if any {
            self.used.insert(style);
            self.body.append(group);
        }
    }

    /// Draws a line, or the area that it encloses. `path` is the `d` of an SVG path.
    pub(super) fn path(&mut self, style: Style, path: &str) {
        if !path.is_empty() {
            self.used.insert(style);
            self.body.append(style.group().add(line(path)));
        }
    }

    /// Draws a line in front of bars, with white around it.
    pub(super) fn path_in_front(&mut self, style: Style, path: &str) {
        if !path.is_empty() {
            let around = [("fill", "none"), ("stroke", "#fff"), ("stroke-width", "3"), ("stroke-linecap", "round")];
            self.body.append(line(path).set_all(around));
            self.path(style, path);
        }
    }

    /// Draws an axis or a line of a grid, which has no style.
    pub(super) fn rule(&mut self, path: &str, colour: &str) {
        self.body.append(line(path).set_all([("fill", "none"), ("stroke", colour), ("stroke-width", "1")]));
    }

    /// Draws the title, no wider than this.
    pub(super) fn title(&mut self, title: &str, most: f64) {
        const SIZE: f64 = 16.0;
        self.text(MARGIN, 23.0, SIZE, Anchor::Start, &fitting(title, SIZE, most));
    }

    /// Draws a caption above a panel or timeline.
    pub(super) fn caption(&mut self, left: f64, top: f64, most: f64, caption: &str) {
        const SIZE: f64 = 13.0;
        self.text(left, top + 12.0, SIZE, Anchor::Start, &fitting(caption, SIZE, most));
    }

    pub(super) fn text(&mut self, x: f64, y: f64, size: f64, anchor: Anchor, text: &str) {
        self.body.append(written(x, y, size, anchor, text));
    }

    /// Draws a text on bars, with white around its letters.
    pub(super) fn text_upon(&mut self, x: f64, y: f64, size: f64, text: &str) {
        let written = written(x, y, size, Anchor::Start, text);
        let around =
            [("paint-order", "stroke"), ("stroke", "#fff"), ("stroke-width", "3"), ("stroke-linejoin", "round")];
        self.body.append(around.into_iter().fold(written, |text, (name, value)| text.set(name, value)));
    }

    /// Groups what belongs together.
    pub(super) fn group(&mut self, name: &str, draw: impl FnOnce(&mut Sheet)) {
        let mut inner = Sheet::new();
        draw(&mut inner);
        self.used.append(&mut inner.used);
        self.body.append(inner.body.set("id", name));
    }

    /// Says that the name of a style stands beside what is drawn in it.
    pub(super) fn explains(&mut self, style: Style) {
        self.explained.insert(style);
    }

    /// The styles that have been used, and are still to be explained.
    pub(super) fn unexplained(&self) -> BTreeSet<Style> {
        self.used.difference(&self.explained).copied().collect()
    }

    /// The whole picture.
    pub(super) fn finish(self, width: f64, height: f64, kinds: &Kinds) -> String {
        let ground = Rectangle::new().set("width", pixels(width)).set("height", pixels(height)).set("fill", "#fff");
        let document = Document::new()
            .set("viewBox", format!("0 0 {} {}", pixels(width), pixels(height)))
            .set("width", pixels(width))
            .set("height", pixels(height))
            .set("font-family", FONT)
            .add(kinds.patterns(self.used.contains(&Style::Unknown)))
            .add(ground)
            .add(self.body);
        format!("{document}\n")
    }
}

/// A text, or its beginning and end if it is wider.
pub(super) fn fitting(text: &str, size: f64, most: f64) -> String {
    let text = visible(text);
    // No character is narrower than a fifth of its height.
    let most_characters = text.chars().count().min((5.0 * most / size) as usize);
    let mut shorter = (0..=most_characters).rev().map(|characters| short_names([text.as_ref()], characters).concat());
    shorter.find(|short| width(short, size) <= most).unwrap_or_default()
}

/// A length or position, to a hundredth of a pixel.
pub(super) fn pixels(length: f64) -> String {
    let text = format!("{length:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn line(path: &str) -> Element {
    let mut line = Element::new("path");
    line.assign("d", path);
    line
}

fn written(x: f64, y: f64, size: f64, anchor: Anchor, text: &str) -> Text {
    let anchor = match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let place = Text::new(visible(text)).set("x", pixels(x)).set("y", pixels(y));
    place.set("font-size", pixels(size)).set("text-anchor", anchor)
}

/// Several attributes at once.
trait SetAll {
    fn set_all<const N: usize>(self, attributes: [(&str, &str); N]) -> Self;
}

impl SetAll for Element {
    fn set_all<const N: usize>(mut self, attributes: [(&str, &str); N]) -> Self {
        for (name, value) in attributes {
            self.assign(name, value);
        }
        self
    }
}
