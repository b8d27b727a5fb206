//! Random schedulers with two families of nodes, each in a text of its own.

use catapults_compiler::framework::{Feature, Framework};
use catapults_compiler::source::Source;
use catapults_compiler::syntax::{NotUsed, bring};

use super::with_nodes;

/// A scheduler with what it names. The first family has the data and the handlers of one random scheduler, the second those of another:
/// both know the same threads and global variables.
pub fn in_families(framework: &Framework, bytes: &[u8]) -> Source {
    let (first, second) = bytes.split_at(bytes.len() / 2);
    let [first, second] = [first, second].map(|bytes| with_nodes(framework, bytes, 100));
    let shared = |part: &&&str| !is_of_a_family(part);
    let arrival = "  event arrival(n) {\n";
    let kept: String = parts(&first).iter().filter(shared).copied().collect();
    let kept = kept.replace(arrival, &format!("{arrival}    if (n is one && |two| < 2) all_v = all_v + |one|;\n"));
    let named = "  nodefamilies { \"one.family\" : one; \"two.family\" : two; }\n";
    let scheduler = format!("scheduler random {{\n{named}{kept}}}\n");
    let family = |name: &str, text: &str| {
        let own: String = parts(text).iter().filter(|part| is_of_a_family(part)).copied().collect();
        format!("family {name} {{\n{}{own}}}\n", listed(framework))
    };
    let families = [("one.family", family("one", &first)), ("two.family", family("two", &second))];
    bring(Source::new("random.sched", scheduler), &mut |wanted| match families
        .iter()
        .find(|(name, _)| *name == wanted.path)
    {
        Some((name, text)) => Ok(Source::new(*name, text.as_str())),
        None => Err(NotUsed::Missing { looked: Vec::new(), known: Vec::new() }),
    })
}

/// The parts of a scheduler as it is written here: each begins and ends in a line of its own.
fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut depth) = (0, 0);
    for (place, character) in text.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        // The first line is the header.
        if character == '\n' && depth == 1 {
            parts.push(&text[start..=place]);
            start = place + 1;
        }
    }
    parts.drain(..1);
    parts
}

fn is_of_a_family(part: &str) -> bool {
    let global =
        ["arrival", "departure", "dispatch"].iter().any(|event| part.starts_with(&format!("  event {event}(")));
    let begins = ["  data {", "  event ", "  query "].iter().any(|word| part.starts_with(word));
    begins && !global
}

/// What the families use of the variables that all nodes share.
fn listed(framework: &Framework) -> String {
    let may = |feature| framework.dialect.features.contains(&feature);
    let time = if may(Feature::Time) { " time all_last;" } else { "" };
    let float = if may(Feature::Floats) { " float all_load;" } else { "" };
    format!("  global {{{time}{float} int all_v, all_w, all_level, all_arr[3]; bool all_flag; }}\n")
}
