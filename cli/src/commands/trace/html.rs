//! `catapults trace html`.

use super::{Opened, advancing, open, over, part, senseless, unrecorded, within};
use crate::arguments::HtmlTrace;
use crate::commands::page::{is_html, text_of, written};
use crate::console::Console;
use crate::failure::Failure;
use crate::files::{ready, unasked};
use catapults_simulator::page::{Asked, MOST, Recording, recording};
use catapults_simulator::sim::exact_since;
use std::path::Path;

pub fn html(console: &Console, arguments: &HtmlTrace) -> Result<(), Failure> {
    within(arguments.shown.from, arguments.shown.to)?;
    let file = &arguments.recording.file;
    let output = arguments.output.clone().unwrap_or_else(|| file.with_extension("html"));
    is_html("--output", &output)?;
    let one = part(console, &arguments.recording)?;
    let mut opened = vec![one];
    if let Some(other) = &arguments.other {
        let mut other = open(console, other)?;
        if let Some(most) = arguments.recording.newest {
            other.trace.newest(most).map_err(|wrong| senseless(other.path, &wrong))?;
        }
        opened.push(other);
    }
    ready("--output", &output)?;
    unasked("--output", &output, arguments.shown.force || arguments.output.is_some())?;
    let recordings: Result<Vec<Recording>, Failure> = opened.into_iter().map(|one| read(one, arguments)).collect();
    written(console, "--output", &output, &recordings?)
}

fn read(opened: Opened<'_>, arguments: &HtmlTrace) -> Result<Recording, Failure> {
    let Opened { path, mut trace, bar } = opened;
    if trace.left() == 0 {
        return Err(unrecorded(path));
    }
    let title = path.file_stem().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    let folder = path.parent().unwrap_or(Path::new(""));
    let instant = |time: u64| i64::try_from(time).unwrap_or(i64::MAX);
    let (from, to) = (arguments.shown.from.map_or(0, instant), arguments.shown.to.map_or(i64::MAX, instant));
    let source = |named: &str| text_of(named, folder);
    let shown = recording(&mut trace, &title, Asked { from, to, most: MOST }, &source, &mut advancing(&bar));
    bar.finish_and_clear();
    let shown = shown.map_err(|wrong| senseless(path, &wrong))?;
    match arguments.shown.from.filter(|from| instant(*from) >= shown.end()) {
        Some(from) => {
            let end = shown.end().try_into().unwrap_or(0);
            Err(over(from, &format!("the recording ends at {}", exact_since(end))))
        }
        None => Ok(shown),
    }
}
