//! Bounds in clocks, for people.

use super::Bounded;
use crate::commands::counted;
use crate::table;
use catapults_compiler::policy::Entity;
use catapults_wcet::bound::Bound;
use catapults_wcet::image;
use std::collections::BTreeMap;
use std::fmt::Write;

pub fn text(bounded: &Bounded<'_>) -> String {
    let Bounded { file, framework, counts, .. } = bounded;
    let threads = counted(usize::try_from(counts.threads).unwrap_or(usize::MAX), "thread");
    let processor = &bounded.program.costs.processor;
    let mut text = format!("{} on {framework} ({processor}), for {threads} at the most\n\n", file.display());
    if bounded.explained {
        bounded.bounds.iter().for_each(|bound| path(&mut text, bounded, bound));
    } else {
        let head = ["function (events that it raises)", "clocks at the most", "of these"].map(str::to_owned).to_vec();
        let row = |bound: &Bound| {
            let events = bound.events.join(", ");
            let name = if events.is_empty() { bound.entry.clone() } else { format!("{} ({events})", bound.entry) };
            vec![name, bound.cost.formula.to_string(), bound.cost.clocks.to_string()]
        };
        let rows: Vec<Vec<String>> = std::iter::once(head).chain(bounded.bounds.iter().map(row)).collect();
        table::table(&mut text, &rows);
        text.push('\n');
    }
    text + &notes(bounded)
}

/// A line of the policy, of generated code or of the host, on a path.
pub struct Line {
    /// The line's text, or the function of which nobody has the source.
    pub text: String,
    /// The file and the line, as people know them.
    pub place: Option<(String, u32)>,
    /// How often the path comes there.
    pub times: u64,
    /// The clocks of all of that.
    pub clocks: u128,
}

/// The lines from which the instructions of a path come, in the order in which it first comes there.
pub fn lines(bounded: &Bounded<'_>, bound: &Bound) -> Vec<Line> {
    let image = &bounded.program.image;
    let mut at: BTreeMap<(Option<&image::Source>, &str), usize> = BTreeMap::new();
    let mut found: Vec<Line> = Vec::new();
    for (address, visit) in bound.cost.path.visits() {
        let source = image.source(address);
        let function = if source.is_none() { image.function(address) } else { "" };
        let index = *at.entry((source, function)).or_insert_with(|| {
            let (text, place) = source.map_or((function.to_owned(), None), |source| written(bounded, source));
            found.push(Line { text, place, times: 0, clocks: 0 });
            found.len() - 1
        });
        let line = &mut found[index];
        line.times = line.times.max(visit.times);
        line.clocks = line.clocks.saturating_add(visit.clocks);
    }
    found
}

/// The text and the place of a line: of the policy's, if that says what the code is.
fn written(bounded: &Bounded<'_>, source: &image::Source) -> (String, Option<(String, u32)>) {
    let of_policy = source.origin().and_then(|place| {
        let (file, line) = place.rsplit_once(':')?;
        let own = bounded.source.name.rsplit('/').next() == Some(file);
        let number: u32 = line.parse().ok()?;
        let text = bounded.source.text.lines().nth(usize::try_from(number).ok()?.checked_sub(1)?)?;
        let text = if own { text.split("//").next().unwrap_or_default() } else { source.text.as_str() };
        Some((text.trim().to_owned(), Some((file.to_owned(), number))))
    });
    let of_code = || {
        let text = source.text.split("/*").next().unwrap_or_default().trim();
        (text.to_owned(), Some((bounded.program.short(&source.file).to_owned(), source.line)))
    };
    of_policy.unwrap_or_else(of_code)
}

fn path(text: &mut String, bounded: &Bounded<'_>, bound: &Bound) {
    let cost = &bound.cost;
    let _ = writeln!(text, "{} <= {} clocks, {} of these, on this path:\n", bound.entry, cost.formula, cost.clocks);
    let mut rows = vec![["code", "line", "times", "clocks"].map(str::to_owned).to_vec()];
    rows.extend(lines(bounded, bound).into_iter().map(|line| {
        let place = line.place.map_or("–".to_owned(), |(file, number)| format!("{file}:{number}"));
        vec![shortened(&line.text), place, line.times.to_string(), line.clocks.to_string()]
    }));
    table::table(text, &rows);
    text.push('\n');
    if let Some(into) = &bound.into {
        let _ = writeln!(text, "the thread that goes on returns from: {into}");
    }
}

/// So that a table stays readable.
fn shortened(text: &str) -> String {
    const MOST: usize = 70;
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    text.chars().take(MOST - 1).chain(['…']).collect()
}

/// What the letters mean, and what is assumed.
fn notes(bounded: &Bounded<'_>) -> String {
    let mut text = String::new();
    if bounded.bounds.iter().any(|bound| bound.cost.formula.counts(Entity::Thread)) {
        text.push_str("n: threads that live, with one that comes\n");
    }
    let threads = match bounded.capacity {
        Some(_) => String::new(),
        None => format!("no more threads live, which `{}` does not see to; ", bounded.framework),
    };
    text.push_str(
        "counted: until the function returns, or another thread, which goes on, has returned to the application\n",
    );
    let _ = writeln!(text, "assumed: {threads}no wait states; no interrupts; no guard fails");
    text
}
