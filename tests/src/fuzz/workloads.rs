//! What is done with bytes that say what threads do, and what must hold whatever they are.

use std::io::Cursor;
use std::sync::LazyLock;

use catapults_compiler::diagnostics::Diagnostics;
use catapults_compiler::format;
use catapults_compiler::framework::Framework;
use catapults_compiler::scenario::{self, Scenario};
use catapults_compiler::source::Source;
use catapults_simulator::admission::{self, Found, Kind, Order, Processors, Unit, judge as judge_tasks};
use catapults_simulator::rtapp::{Taker, to_scenario};
use catapults_simulator::sim::{Keep, Nowhere, RunBy, simulate};
use catapults_simulator::trace::{Reader, Unimported, import_linux, import_perfetto, replay};

use crate::native;
use crate::packets::compressed;
use crate::scenarios::{Known, judge};

static FRAMEWORK: LazyLock<Framework> = LazyLock::new(native);

/// Scenarios, or reasons. What is accepted can be formatted, and simulated, if that is short.
pub fn scenarios(bytes: &[u8]) {
    let Ok(source) = Source::from_bytes("fuzzed.scenario", bytes.to_vec()) else { return };
    let staged = judge(&source, &FRAMEWORK);
    let _ = (staged.said.render(&source, false), staged.said.render(&source, true));
    if staged.said.has_errors() {
        return;
    }
    let formatted = format::format(&source).unwrap_or_else(|why| panic!("{why:?}"));
    let again = format::format(&Source::new("fuzzed.scenario", formatted.as_str()));
    assert!(again.is_ok_and(|again| again == formatted), "formatting again changes something:\n{formatted}");
    for (scenario, Known(policy)) in staged.scenarios.iter().filter(|(scenario, _)| is_short(scenario)) {
        let deciding = catapults_simulator::sim::Deciding::Policy(policy);
        let outcome =
            simulate(scenario, deciding, &FRAMEWORK, RunBy::Interpreter, Keep::AroundDivergence, &mut Nowhere).unwrap();
        assert!(outcome.end <= scenario.duration.unwrap_or(outcome.end), "it went on after its end");
        assert_eq!(outcome.verdicts.len(), scenario.expectations.len());
    }
}

/// A workload of rt-app is a scenario that can be read, or there is a reason.
pub fn rtapp(bytes: &[u8]) {
    let taker = Taker { processors: 1, plain: true, imports: &|name| name == "nice" };
    match to_scenario(&String::from_utf8_lossy(bytes), "fuzzed", taker) {
        Ok(made) => reads(&made.text),
        Err(wrong) => assert!(!wrong.to_string().is_empty()),
    }
}

/// Any text is a set of tasks, or there is a reason at a place in it; the set can be judged and, for POET, written and read again.
pub fn tasks(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for kind in [Kind::Poet, Kind::Table] {
        match admission::read(&text, kind, Unit::Microseconds) {
            Err(wrong) => assert!(text.get(wrong.at.clone()).is_some() && !wrong.help.is_empty(), "{wrong:?}"),
            Ok(found) => can_be_judged(&found),
        }
    }
    let source = Source::new("fuzzed.json", text.as_ref());
    if let Ok(found) = admission::of_rtapp(&source, &FRAMEWORK, 1) {
        can_be_judged(&found);
    }
    if let Ok(of) = admission::of_scenario(&Source::new("fuzzed.scenario", text.as_ref()), &FRAMEWORK, None) {
        can_be_judged(&of.found);
    }
}

fn can_be_judged(found: &Found) {
    const FEW: usize = 20;
    if found.set.tasks().len() > FEW {
        return;
    }
    for order in [Order::RateMonotonic, Order::DeadlineMonotonic, Order::EarliestDeadline] {
        let judgement = judge_tasks(&found.set, order, Processors::Any(1)).unwrap();
        assert_eq!(judgement.rows.len(), found.set.tasks().len());
        let kept = judgement.rows.iter().all(|row| row.kept == Some(true));
        assert!(!judgement.admitted || kept, "it is admitted, and a deadline may not be kept");
        if let Ok(text) = admission::to_poet(&found.set, order) {
            let again = admission::read(&text, Kind::Poet, Unit::Nanoseconds).unwrap();
            assert_eq!(again.set.tasks().len(), found.set.tasks().len());
        }
    }
}

/// Any text is a recording of Linux, of which little may be understood; what is can be shown, and done again.
pub fn linux(bytes: &[u8]) {
    let mut out = Cursor::new(Vec::new());
    match import_linux(&mut Cursor::new(bytes), &mut out, &mut |_| {}) {
        Ok(_) => is_a_trace(out.get_ref()),
        Err(Unimported::Input(wrong)) => assert_eq!(wrong.kind(), std::io::ErrorKind::InvalidData),
        Err(Unimported::Endless(_)) => {}
        Err(Unimported::Output(wrong)) => panic!("{wrong}"),
    }
}

/// Packets of Perfetto are a recording of Linux, or there is a reason. If they are compressed they are the same one.
pub fn packets(bytes: &[u8]) {
    let plain = recording(bytes);
    if let Ok(trace) = &plain {
        is_a_trace(trace);
    }
    let compressed = recording(&compressed(bytes));
    if !compressed.as_ref().is_err_and(|why| why.contains("compressed again")) {
        assert!(plain.ok() == compressed.ok(), "if they are compressed it is another recording");
    }
}

fn recording(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut out = Cursor::new(Vec::new());
    match import_perfetto(&mut Cursor::new(bytes), &mut out, &mut |_| {}) {
        Ok(_) => Ok(out.into_inner()),
        Err(why) => {
            assert!(why.to_string().contains("at byte"), "{why}");
            Err(why.to_string())
        }
    }
}

fn is_a_trace(bytes: &[u8]) {
    let mut trace = Reader::new(Cursor::new(bytes)).unwrap();
    while let Some(record) = trace.next_record().unwrap() {
        trace.line(&record);
    }
    let mut trace = Reader::new(Cursor::new(bytes)).unwrap();
    let again = replay(&mut trace, 1000, &mut || {}).unwrap();
    if again.threads > 0 {
        reads(&again.scenario);
    }
}

fn reads(text: &str) {
    let source = Source::new("made.scenario", text);
    let mut said = Diagnostics::new();
    scenario::read(&source, &mut said);
    assert!(!said.has_errors(), "{}\n{text}", said.render(&source, false));
}

/// Few decisions can be made in it.
fn is_short(scenario: &Scenario) -> bool {
    let threads: u64 = scenario.threads.iter().map(|thread| thread.count.map_or(1000, u64::from)).sum();
    scenario.duration.is_some_and(|duration| duration < 20_000) && threads < 100 && scenario.processors < 9
}
