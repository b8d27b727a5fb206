//! What clauses of POSIX ask, under NPTL and beneath it: programs of the open POSIX test suite, and our own (`tests/unmodified/posix`), must
//! end under every policy as they end without one.

pub mod run;
pub mod suite;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use run::{Setting, Verdict};
use suite::Program;

/// What is asked for.
pub struct Wanted {
    /// How often each program is run in each setting.
    pub repeat: usize,
    /// Programs that need longer without a policy are left out.
    pub longest: Duration,
    /// Each program is run in so many of the settings, one program's after the other's; all, if there are no more.
    pub settings: usize,
    /// So many programs are run at a time.
    pub at_a_time: usize,
}

/// What has come of it.
#[derive(Default)]
pub struct Outcome {
    /// Programs that were run.
    pub programs: usize,
    /// Programs that pass without a policy.
    pub passing: usize,
    /// Verdicts that were compared.
    pub verdicts: usize,
    /// What differed: the program, the setting, and the two verdicts.
    pub differences: Vec<String>,
    /// Programs whose verdict without a policy is not always the same.
    pub varying: BTreeSet<String>,
}

/// A verdict that differs may be one that NPTL, too, gives now and then: so often it is asked.
const ASKED_AGAIN: usize = 10;

/// Runs them, and tells of each difference when it is found.
pub fn compare(programs: &[Program], wanted: &Wanted, say: &(dyn Fn(&str) + Sync)) -> Outcome {
    let settings = run::settings();
    let left = Mutex::new(programs.iter().enumerate());
    let outcome = Mutex::new(Outcome::default());
    thread::scope(|scope| {
        for _ in 0..wanted.at_a_time {
            scope.spawn(|| {
                while let Some((number, program)) = { left.lock().unwrap().next() } {
                    let chosen =
                        (0..settings.len().min(wanted.settings)).map(|i| &settings[(number + i) % settings.len()]);
                    judge(program, &chosen.collect::<Vec<_>>(), wanted, &outcome, say);
                }
            });
        }
    });
    outcome.into_inner().unwrap()
}

fn judge(
    program: &Program,
    settings: &[&Setting],
    wanted: &Wanted,
    outcome: &Mutex<Outcome>,
    say: &(dyn Fn(&str) + Sync),
) {
    let first = run::run(program, None);
    if first.took > wanted.longest {
        return;
    }
    let mut known = vec![first.verdict];
    {
        let mut outcome = outcome.lock().unwrap();
        outcome.programs += 1;
        outcome.passing += usize::from(first.verdict == Verdict::Status(0));
    }
    for setting in settings {
        for _ in 0..wanted.repeat {
            let found = run::run(program, Some(setting));
            let mut asked = 0;
            while !known.contains(&found.verdict) && asked < ASKED_AGAIN {
                known.push(run::run(program, None).verdict);
                asked += 1;
            }
            let mut outcome = outcome.lock().unwrap();
            outcome.verdicts += 1;
            if known.contains(&found.verdict) {
                if asked > 0 {
                    outcome.varying.insert(program.name.clone());
                }
                continue;
            }
            let difference = format!("{}: {} under {setting}, {} without", program.name, found.verdict, first.verdict);
            say(&format!("{difference}{}", last_lines(&found.said)));
            outcome.differences.push(difference);
        }
    }
}

fn last_lines(said: &str) -> String {
    const LINES: usize = 4;
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(LINES)..].iter().fold(String::new(), |mut text, line| {
        let _ = write!(text, "\n    {line}"); // writing to a string cannot fail
        text
    })
}
