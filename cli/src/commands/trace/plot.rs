//! `catapults trace plot`.

use super::{Opened, advancing, over, part, senseless, unrecorded, within};
use crate::arguments::PlotTrace;
use crate::commands::sim::{is_svg, left_out};
use crate::console::Console;
use crate::failure::Failure;
use crate::files::{ready, unasked, whole_text};
use catapults_simulator::picture::Picture;
use catapults_simulator::sim::exact_since;
use catapults_simulator::trace;
use std::fmt::Write as _;

pub fn plot(console: &Console, arguments: &PlotTrace) -> Result<(), Failure> {
    within(arguments.shown.from, arguments.shown.to)?;
    let file = &arguments.recording.file;
    let output = arguments.output.clone().unwrap_or_else(|| file.with_extension("svg"));
    is_svg("--output", &output)?;
    let Opened { path, mut trace, bar } = part(console, &arguments.recording)?;
    ready("--output", &output)?;
    unasked("--output", &output, arguments.shown.force || arguments.output.is_some())?;
    let name = file.file_stem().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    let policy = trace.header().policy.clone();
    let title = if policy.is_empty() { name } else { format!("{name} under {policy}") };
    let (lost, left) = (trace.lost(), trace.left());
    let instant = |time: u64| i64::try_from(time).unwrap_or(i64::MAX);
    let asked = (arguments.shown.from.map_or(0, instant), arguments.shown.to.map_or(i64::MAX, instant));
    let picture = trace::picture(&mut trace, &title, asked, &mut advancing(&bar));
    bar.finish_and_clear();
    let picture = picture.map_err(|wrong| senseless(path, &wrong))?;
    if left == 0 {
        return Err(unrecorded(file));
    }
    if let Some(from) = arguments.shown.from.filter(|from| instant(*from) >= picture.end) {
        let end = picture.end.try_into().unwrap_or(0);
        return Err(over(from, &format!("the recording ends at {}", exact_since(end))));
    }
    let drawn = picture.draw();
    whole_text("--output", &output, &drawn.svg)?;
    let mut text = said(&picture, lost);
    let _ = writeln!(text, "drawn: {}{}", output.display(), left_out(&drawn));
    console.result(&text)
}

/// The message for the terminal.
fn said(picture: &Picture, lost: u64) -> String {
    let lost = if lost > 0 { format!(", {lost} older records lost") } else { String::new() };
    format!("{}{lost}\n\n{}\n", picture.title(), picture.text())
}
