//! Pages for a browser, of simulations and recordings.

use super::{is_standard_input, read_source};
use crate::console::Console;
use crate::failure::Failure;
use crate::files::{self, unwritable, whole};
use catapults_compiler::diagnostics::Diagnostic;
use catapults_compiler::vocabulary::At;
use catapults_simulator::page::{Recording, write};
use catapults_simulator::picture::visible;
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::path::Path;

/// Longer policies are shown without their text.
const LONGEST: u64 = 256 << 10;

/// Checks that the page's name fits.
pub fn is_html(option: &str, file: &Path) -> Result<(), Failure> {
    let plain = fs::metadata(file).map_or(true, |about| about.is_file());
    let ending = file.extension().and_then(OsStr::to_str).unwrap_or_default().to_ascii_lowercase();
    if !plain || ending == "html" || ending == "htm" {
        return Ok(());
    }
    let title = format!("`{}` does not end with .html, and pages are HTML", file.display());
    let help = "end it with .html, so that a browser opens it".to_owned();
    Err(Failure::of_usage(option, Diagnostic::error("E0503", title, At::default(), "").help(help)))
}

/// The text of a policy that a recording names, if it is at hand. A recording can name any file: only policies are read.
/// `folder`: where else to look.
pub fn text_of(named: &str, folder: &Path) -> Option<String> {
    if is_standard_input(Path::new(named)) {
        return read_source(Path::new(named)).ok().map(|source| source.text.clone());
    }
    let own = Path::new(named);
    let beside = folder.join(own.file_name()?);
    // Schedulers of a hierarchy are called by their policies' names.
    let member = folder.join(format!("{}.sched", own.file_name()?.to_string_lossy()));
    [own.to_owned(), beside, member].into_iter().find_map(|path| text(&path))
}

fn text(path: &Path) -> Option<String> {
    let is_policy = path.extension().is_some_and(|ending| ending == "sched" || ending == "hierarchy");
    // Opening a pipe, for instance, would wait for its writer.
    let fits = |about: fs::Metadata| about.is_file() && about.len() <= LONGEST;
    if !is_policy || !fs::metadata(path).is_ok_and(fits) {
        return None;
    }
    let mut text = String::new();
    files::open(path).ok()?.take(LONGEST).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Writes the page, and says what is missing from it.
pub fn written(console: &Console, option: &str, output: &Path, recordings: &[Recording]) -> Result<(), Failure> {
    whole(option, output, |out| write(recordings, out).map_err(|error| unwritable(option, output, &error)))?;
    for recording in recordings {
        let of = if recordings.len() > 1 { format!("{}: ", visible(recording.title())) } else { String::new() };
        recording.notes().iter().for_each(|note| console.note(&format!("note: {of}{note}")));
    }
    let turns: usize = recordings.iter().map(Recording::turns).sum();
    let turns = super::counted(turns, "turn");
    console.result(&format!("page: {} ({turns}; open it in a browser)\n", output.display()))
}
