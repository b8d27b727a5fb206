//! A record as a line of text.

use std::io::{Read, Seek};

use crate::picture::visible;
use crate::sim::exact_since;

use super::{Reader, Record, What};

impl<R: Read + Seek> Reader<R> {
    /// A line for people: the time since recording began, the processor, the thread, what happened, and why.
    pub fn line(&self, record: &Record) -> String {
        let since = record.time_ns.saturating_sub(self.header().start_ns);
        let time = exact_since(since);
        let who = self.called(record.thread);
        let what = match record.what {
            What::New => format!("{who} comes"),
            What::Named { .. } => format!("{who} has its name"),
            What::Dispatched => format!("{who} runs"),
            What::Lent { donor } if donor == record.thread => format!("{who} goes on with its turn"),
            What::Lent { donor } => format!("{who} runs on the turn of {}", self.called(donor)),
            What::SwitchedOut => format!("{who} gives the processor up"),
            What::Preempted => format!("{who} is preempted"),
            What::Blocked(reason) => match reason.name() {
                "" => format!("{who} waits"),
                reason => format!("{who} waits: {reason}"),
            },
            What::Raised => format!("{who} is ready"),
            What::Exited => format!("{who} ends"),
            What::Refused => format!("{who} is refused"),
            What::PolicyOut if record.line > 0 => format!("a guard of the policy fails in line {}", record.line),
            What::PolicyOut => "a guard of the policy fails".to_owned(),
            What::Suspended => format!("{who} is suspended"),
            What::Resumed => format!("{who} is resumed"),
            What::Idle => "nothing to run".to_owned(),
            What::Lost { events: 0 } => "events are missing before this".to_owned(),
            What::Lost { events } => format!("{events} events are missing before this"),
            What::Value { variable, value } => {
                let name = self.header().name(variable).map_or("a variable", |name| name.text.as_str());
                let of = if record.thread == 0 { String::new() } else { format!(" of {who}") };
                format!("{name}{of} = {value}")
            }
        };
        let because = self.header().because(record);
        let because = if because.is_empty() { String::new() } else { format!("  ({because})") };
        let ready = record.ready.map_or(String::new(), |ready| format!("  [{ready} ready]"));
        // The names of events and variables come from a file, too.
        visible(&format!("{time:>12}  {:>3}  {what}{because}{ready}", record.processor)).into_owned()
    }
}
