//! What a host says of its code, beside its framework description: which processor it is for, what the application calls, and what the
//! code itself does not show.
//!
//! ```text
//! # a comment
//! processor NAME
//! entry FUNCTION: EVENT, EVENT      a function that the application calls, and the events that it raises
//! switch FUNCTION                   returns into another thread
//! starts FUNCTION                   the first of a thread: where the switch returns to, if the thread is new
//! application FUNCTION              calls the application: what is behind its jump is not the host's
//! stays FUNCTION                    returns to its caller: what it calls switches for others
//! ends FUNCTION                     called when no thread runs any more: the paths to it are not counted
//! turns NAME: NUMBER                the loops of a function, or of source lines that use a macro: so many turns at the most;
//!                                   the number is N, n, n - N, n + N, or Nn - N, where `n` is the number of threads
//! ```

use std::collections::BTreeMap;

use catapults_compiler::policy::Entity;
use catapults_compiler::verify::{Most, Multiple};

/// What a host says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// The processor's name.
    pub processor: String,
    /// What the application calls: functions, and the events that they raise, in the order of the file.
    pub entries: Vec<(String, Vec<String>)>,
    /// What switches to another thread.
    pub switches: Vec<String>,
    /// Where threads start.
    pub starts: Vec<String>,
    /// What calls the application.
    pub application: Vec<String>,
    /// What never switches, although it calls what does.
    pub stays: Vec<String>,
    /// What nothing comes back from.
    pub ends: Vec<String>,
    /// By function or macro: the most turns of its loops.
    pub turns: BTreeMap<String, Most>,
}

impl Costs {
    /// Reads the host's file. The error: the line, and what is wrong in it.
    pub fn read(text: &str) -> Result<Costs, (usize, String)> {
        let mut costs = Costs::default();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default().trim();
            if !line.is_empty() {
                costs.line(line).map_err(|why| (number, why))?;
            }
        }
        match costs.processor.is_empty() {
            true => Err((0, "no `processor` is named".to_owned())),
            false => Ok(costs),
        }
    }

    fn line(&mut self, line: &str) -> Result<(), String> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (name, value) = rest.split_once(':').unwrap_or((rest, ""));
        let (name, value) = (name.trim().to_owned(), value.trim());
        if name.is_empty() {
            return Err(format!("a name must follow `{word}`"));
        }
        match word {
            "processor" => self.processor = name,
            "entry" => {
                let events = value.split(',').map(|event| event.trim().to_owned()).filter(|event| !event.is_empty());
                self.entries.push((name, events.collect()));
            }
            "switch" => self.switches.push(name),
            "starts" => self.starts.push(name),
            "application" => self.application.push(name),
            "stays" => self.stays.push(name),
            "ends" => self.ends.push(name),
            "turns" => {
                let most = number(value).ok_or(format!("`{value}` is no number of turns"))?;
                self.turns.insert(name, most);
            }
            word => return Err(format!("`{word}` is no word of such a file")),
        }
        Ok(())
    }
}

/// What a comment in a source says of the loop in its line: `/* at most n - 1 turns */`.
pub fn annotated(line: &str) -> Option<Most> {
    let (_, rest) = line.split_once("at most ")?;
    let (text, _) = rest.split_once(" turn")?;
    number(text)
}

/// `16`, `n`, `n - 1`, `2n + 3`
fn number(text: &str) -> Option<Most> {
    let text: String = text.chars().filter(|character| !character.is_whitespace()).collect();
    if let Ok(number) = text.parse() {
        return Some(Most::number(number));
    }
    let (each, more) = text.split_once('n')?;
    let each = if each.is_empty() { 1 } else { each.parse().ok()? };
    let more = if more.is_empty() { 0 } else { more.parse().ok()? };
    Some(Most { number: None, counted: Some(Multiple { of: Entity::Thread, each, more }) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(each: u64, more: i64) -> Most {
        Most { number: None, counted: Some(Multiple { of: Entity::Thread, each, more }) }
    }

    #[test]
    fn numbers_of_turns_are_read() {
        assert_eq!(annotated("while (*link != t) /* at most n - 1 turns */"), Some(counted(1, -1)));
        assert_eq!(annotated("for (;;) // at most 16 turns"), Some(Most::number(16)));
        assert_eq!(annotated("at most 2n + 3 turns"), Some(counted(2, 3)));
        assert_eq!(annotated("at most many turns"), None);
        assert_eq!(annotated("for (;;)"), None);
    }

    #[test]
    fn a_host_says_what_it_is() {
        let text = "processor p # ours\nentry yield: switch_out, schedule\nentry self\nturns f: n - 1\nends g\n";
        let costs = Costs::read(text).unwrap();
        assert_eq!(costs.entries[0], ("yield".to_owned(), vec!["switch_out".to_owned(), "schedule".to_owned()]));
        assert_eq!(costs.entries[1], ("self".to_owned(), Vec::new()));
        assert_eq!(costs.turns["f"], counted(1, -1));
        assert_eq!(Costs::read("processor p\nentri f\n"), Err((2, "`entri` is no word of such a file".to_owned())));
        assert_eq!(Costs::read("processor p\nturns f: many\n"), Err((2, "`many` is no number of turns".to_owned())));
        assert!(Costs::read("").is_err());
    }
}
