//! Compares the explorer's two ways to keep situations on random small policies: with instants relative to now and
//! irrelevant values forgotten, and as they are. Both must give the same verdict and counterexamples of the same
//! length. Both start when 0 is long ago. The clock that is followed seldom ends too early.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

use catapults_compiler::compile;
use catapults_compiler::framework::{Framework, read};
use catapults_compiler::policy::Policy;
use catapults_compiler::source::Source;
use catapults_compiler::verify::Verified;

use super::budget::Budget;
use super::clock::Reckoning;
use super::instants::NOW;
use super::{Exploration, Mismatch, Options, Report};
use crate::script::Step;

/// Pseudo-random numbers, so that a failure can be repeated.
struct Choices(u64);

impl Choices {
    fn one_of<'t>(&mut self, of: &[&'t str]) -> &'t str {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        of[(self.0 >> 33) as usize % of.len()]
    }
}

/// Of instants that are assigned and compared only as in the two simple lists, only the order matters once they are
/// past.
const SIMPLE_ASSIGNMENTS: &[&str] = &[
    "t.a = now;",
    "t.a = now + 1ms;",
    "t.a = t.b;",
    "t.a = last;",
    "t.b = t.a;",
    "t.b = now;",
    "t.b = last;",
    "last = now;",
    "last = now + gi;",
    "last = t.a;",
    "t.e = now + 1ms;",
    "t.e = 0ms;",
    "if (t.a < last) t.b = now - 1ms;",
    "",
];

const SIMPLE_CONDITIONS: &[&str] = &[
    "t.a < now",
    "t.a <= t.b",
    "t.b < t.a",
    "t.b == last",
    "t.b > last",
    "last < t.a",
    "now - t.a > 1ms",
    "now - t.b >= 2ms && t.b != 0ms",
    "last + gi <= now",
    "now - last > 1ms",
    "now - t.a == now - t.b",
    "t.e == 0ms",
];

const ASSIGNMENTS: &[&str] = &[
    "t.a = now + 2ms;",
    "t.a = now - 1ms;",
    "t.a += 1ms;",
    "t.b = now + gi;",
    "t.b = 0ms;",
    "last = t.a + 1ms;",
    "last = now + used;",
    "used = now - t.b;",
    "used += now - last;",
    "used = 0ms;",
    "t.e = now + gi;",
    "t.e = t.a;",
    "",
];

const CONDITIONS: &[&str] = &[
    "t.a + 2ms <= now",
    "now - last < 1ms",
    "t.a - t.b > 1ms",
    "used > 2ms",
    "used > gi",
    "t.e > now + 1ms",
    "t.di != 0ms && t.di < now",
    "t.di > t.a",
];

fn policy(seed: u64) -> String {
    let mut choices = Choices(seed);
    let first = choices.one_of(&["", "t.a = now; t.b = now;", "t.a = now; t.b = now; last = now;"]);
    let kind = choices.one_of(&["queue ready", "pqueue ready sortable on a", "pqueue ready reverse sortable on b"]);
    let decided = choices.one_of(&["", "last = now;", "last = now; used = 0ms;"]);
    let running = choices.one_of(&["", "|current| == 1 && "]);
    let is_simple = !seed.is_multiple_of(3);
    let mut chosen = |simple: &[&'static str], others: &[&'static str]| {
        let from = if is_simple || choices.one_of(&["simple", "others"]) == "simple" { simple } else { others };
        choices.one_of(from)
    };
    let mut assign = || chosen(SIMPLE_ASSIGNMENTS, ASSIGNMENTS);
    let (new, out, woken, expired, more) = (assign(), assign(), assign(), assign(), assign());
    let mut when = || chosen(SIMPLE_CONDITIONS, CONDITIONS);
    let (one, other, third, fourth) = (when(), when(), when(), when());
    format!(
        "scheduler random {{
           thread {{ time a, b; timer e; }}
           threadimports {{ time di default 0ms; }}
           imports {{ time gi default 1ms; }}
           data {{ threadref current; threadref next : READY; {kind} : READY; time last, used; }}
           event newthread(t) {{ {first} {new} t => ready; }}
           event switch_out(t) {{ {out} if ({one} && {other}) t => next; else t => ready; }}
           event event_raised(t) {{ if ({running}{third}) {{ {more} }} {woken} t => ready; }}
           event timeout.e(t) {{ if (t in current) {{ if ({fourth}) t => next; else t => ready; }} {expired} }}
           event schedule {{ if (|ready| > 0) ready => current; else next => current; {decided} dispatch current; }}
         }}"
    )
}

fn explored(
    verified: &Verified<Policy>,
    framework: &Framework,
    reckoning: Reckoning,
    states: usize,
) -> Result<Report, Mismatch> {
    let options = Options { threads: 2, states, starvation: false, ..Options::default() };
    let framework = &framework.as_met(verified.policy().timers(), verified.policy().has_nodes());
    let budget = Budget::of(None, None);
    let mut exploration =
        Exploration { verified, framework, options: &options, budget, reckoning, progress: &mut |_, _| {} };
    exploration.report()
}

/// How many events the counterexample has, and how long it takes.
fn length(report: &Report) -> Option<(usize, i64)> {
    let moments = &report.counterexample.as_ref()?.scenario.moments;
    let events = moments.iter().filter(|moment| matches!(moment.step, Step::Raise(..) | Step::Ask(..))).count();
    let times = || moments.iter().filter_map(|moment| if let Step::At(now) = moment.step { Some(now) } else { None });
    let start = if times().next() == Some(NOW) { NOW } else { 0 };
    Some((events, times().next_back().unwrap_or(start) - start))
}

/// How the verdicts compare.
#[derive(Default)]
struct Agreed {
    wrong: usize,
    clean: usize,
    /// A bound or the clock's end was reached before anything was found.
    undecided: usize,
}

impl Agreed {
    /// # Panics
    /// They do not agree.
    fn compare(&mut self, text: String, framework: &Framework) {
        const LONGEST_STEPS: i64 = 5;
        const MOST: usize = 1_500;
        let source = Source::new("random.sched", text);
        let Ok((verified, _)) = compile(&source, framework) else { panic!("{}", source.text) };
        let run = |reckoning| {
            let explored = explored(&verified, framework, reckoning, MOST);
            explored.unwrap_or_else(|mismatch| panic!("{mismatch:?}\n{}", source.text))
        };
        let relative = run(Reckoning::Relative);
        if relative.limits.iter().any(|limit| limit.contains("ends at")) {
            // A time that is always 0 is no instant.
            self.undecided += 1;
            return;
        }
        let absolute = run(Reckoning::Absolute { start: NOW, longest_steps: LONGEST_STEPS });
        let is_whole = |report: &Report| {
            !report.limits.iter().any(|limit| limit.contains("followed") || limit.contains("situations"))
        };
        let (relative_is_whole, absolute_is_whole) = (is_whole(&relative), is_whole(&absolute));
        let both = || format!("{}\n{relative:?}\n{absolute:?}", source.text);
        match (length(&relative), length(&absolute)) {
            (Some((events, _)), Some((as_many, _))) => {
                assert!(events <= as_many || !relative_is_whole, "{}", both());
                assert!(as_many <= events || !absolute_is_whole, "{}", both());
                self.wrong += 1;
            }
            (None, None) if relative_is_whole => self.clean += 1,
            (None, None) => self.undecided += 1,
            (Some((_, takes)), None) => {
                // No step takes more than 2 ms.
                assert!(!absolute_is_whole || takes > LONGEST_STEPS * 1_000_000, "{}", both());
                self.undecided += 1;
            }
            (None, Some(_)) => {
                assert!(!relative_is_whole, "{}", both());
                self.undecided += 1;
            }
        }
    }
}

/// `CATAPULTS_AGREEMENT` sets how many policies are compared.
#[test]
fn relative_and_absolute_times_agree() {
    let native = read(&Source::new("n", include_str!("../../../frameworks/native/native.framework"))).unwrap();
    let count = std::env::var("CATAPULTS_AGREEMENT").map_or(40, |count| count.parse().unwrap());
    let mut agreed = Agreed::default();
    (0..count).for_each(|seed| agreed.compare(policy(seed), &native));
    let Agreed { wrong, clean, undecided } = agreed;
    assert!(wrong * 5 > count as usize && clean > 0, "{wrong} {clean} {undecided}");
}

/// A past instant that is computed stands among ranks. Without its own place, thread 2 would find no thread in its way.
#[test]
fn what_is_computed_into_the_past_is_no_rank() {
    let native = read(&Source::new("n", include_str!("../../../frameworks/native/native.framework"))).unwrap();
    let text = "scheduler past {
        thread { time a; }
        data { threadref current; threadref next : READY; queue ready : READY; time last; }
        event init { last = now; }
        event newthread(t) { t => ready; }
        event switch_out(t) { t.a = now - 1ms; if (t.a == last) t => next; else t => ready; }
        event event_raised(t) { t => ready; }
        event schedule { if (|ready| > 0) ready => current; else next => current; dispatch current; }
    }";
    let mut agreed = Agreed::default();
    agreed.compare(text.to_owned(), &native);
    assert_eq!(agreed.wrong, 1);
}
