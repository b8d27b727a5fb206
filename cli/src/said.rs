//! What a program that runs says of itself, as values (frameworks/native/process/live_talk.c and live_attend.c).

/// All of it, at one moment.
#[derive(Default)]
pub struct Said {
    pub processors: u32,
    /// About.
    pub decisions: u64,
    /// How long threads run is counted.
    pub counted: bool,
    /// On the process's clock, in nanoseconds.
    pub now: i64,
    pub schedulers: Vec<Scheduler>,
    pub variables: Vec<Variable>,
    pub threads: Vec<Thread>,
}

pub struct Scheduler {
    pub number: u32,
    pub parent: u32,
    /// Empty: the root of a tree that has no name.
    pub name: String,
    pub policy: String,
    pub source: String,
}

/// A variable that a policy imports.
pub struct Variable {
    pub scheduler: u32,
    pub per_thread: bool,
    pub kind: Kind,
    /// The runtime itself keeps it.
    pub kept: bool,
    /// Of a variable of the policy.
    pub bits: u64,
    pub name: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Int,
    Bool,
    Time,
    Float,
}

pub struct Thread {
    pub number: u32,
    pub state: String,
    pub scheduler: u32,
    /// Nanoseconds.
    pub consumed: i64,
    /// When its wait ends, on the process's clock.
    pub instant: Option<i64>,
    /// The thread that it waits for.
    pub waits_for: Option<u32>,
    pub name: String,
    /// What it waits for, in words.
    pub wait: String,
}

impl Kind {
    pub const ALL: [Kind; 4] = [Kind::Int, Kind::Bool, Kind::Time, Kind::Float];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Int => "int",
            Kind::Bool => "bool",
            Kind::Time => "time",
            Kind::Float => "float",
        }
    }

    /// The runtime's number for it.
    pub fn number(self) -> u8 {
        match self {
            Kind::Int => 0,
            Kind::Bool => 1,
            Kind::Time => 2,
            Kind::Float => 3,
        }
    }
}

impl Said {
    /// Lines and words that are not understood are left out.
    pub fn read(text: &str) -> Said {
        let mut said = Said::default();
        for line in text.lines() {
            let Some((what, rest)) = line.split_once(' ') else { continue };
            let _ = match what {
                "process" => said.process(rest),
                "scheduler" => scheduler(rest).map(|one| said.schedulers.push(one)),
                "import" => variable(rest).map(|one| said.variables.push(one)),
                "thread" => thread(rest).map(|one| said.threads.push(one)),
                _ => None,
            };
        }
        said
    }

    fn process(&mut self, rest: &str) -> Option<()> {
        let mut words = rest.split(' ');
        self.processors = words.next()?.parse().ok()?;
        self.decisions = words.next()?.parse().ok()?;
        self.counted = words.next()? == "1";
        self.now = words.next()?.parse().ok()?;
        Some(())
    }

    /// How many threads are in this state.
    pub fn count(&self, state: &str) -> usize {
        self.threads.iter().filter(|thread| thread.state == state).count()
    }

    /// The policy of the root.
    pub fn policy(&self) -> &str {
        self.schedulers.first().map_or("", |root| &root.policy)
    }
}

fn scheduler(rest: &str) -> Option<Scheduler> {
    let (numbers, texts) = split_after(rest, 2)?;
    let mut texts = texts.split('\t').map(str::to_owned);
    Some(Scheduler {
        number: numbers[0].parse().ok()?,
        parent: numbers[1].parse().ok()?,
        name: texts.next()?,
        policy: texts.next()?,
        source: texts.next()?,
    })
}

fn variable(rest: &str) -> Option<Variable> {
    let (words, name) = split_after(rest, 5)?;
    Some(Variable {
        scheduler: words[0].parse().ok()?,
        per_thread: words[1] == "thread",
        kind: Kind::ALL.into_iter().find(|kind| kind.name() == words[2])?,
        kept: words[3] == "1",
        bits: words[4].parse().ok()?,
        name: name.to_owned(),
    })
}

fn thread(rest: &str) -> Option<Thread> {
    let (words, texts) = split_after(rest, 6)?;
    let (name, wait) = texts.split_once('\t')?;
    let instant = words[4].parse().ok()?;
    let waits_for = words[5].parse().ok()?;
    Some(Thread {
        number: words[0].parse().ok()?,
        state: words[1].to_owned(),
        scheduler: words[2].parse().ok()?,
        consumed: words[3].parse().ok()?,
        instant: (instant != i64::MAX).then_some(instant),
        waits_for: (waits_for != 0).then_some(waits_for),
        name: name.to_owned(),
        wait: wait.to_owned(),
    })
}

/// So many words, and what comes after them.
fn split_after(text: &str, count: usize) -> Option<(Vec<&str>, &str)> {
    let mut parts = text.splitn(count + 1, ' ');
    let words: Vec<&str> = parts.by_ref().take(count).collect();
    Some((words, parts.next()?)).filter(|(words, _)| words.len() == count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_a_name_with_blanks_and_no_wait() {
        let said = Said::read("thread 7 READY 0 1500 9223372036854775807 0 the first one\t\n");
        let thread = &said.threads[0];
        assert_eq!((thread.number, thread.name.as_str(), thread.wait.as_str()), (7, "the first one", ""));
        assert_eq!((thread.instant, thread.waits_for, thread.consumed), (None, None, 1500));
    }

    #[test]
    fn lines_of_later_versions_are_left_out() {
        let said = Said::read("processor 1 x\nprocess 2 30 1 99\nscheduler 0 0 \tfifo\tfifo.sched\nthread nonsense\n");
        assert_eq!((said.processors, said.decisions, said.counted, said.now), (2, 30, true, 99));
        assert_eq!((said.policy(), said.threads.len()), ("fifo", 0));
    }
}
