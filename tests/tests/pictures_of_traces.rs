//! The pictures that `catapults trace plot` draws: of a simulation's trace the same as of the simulation; gaps where events are missing;
//! memory and pictures that do not grow with what is recorded.

use std::fs;
use std::io::Cursor;

use catapults_compiler::compile;
use catapults_compiler::diagnostics::Diagnostics;
use catapults_compiler::scenario;
use catapults_compiler::source::Source;
use catapults_simulator::picture::{Drawn, Gap, Picture, State};
use catapults_simulator::sim::{self, Deciding, Keep, RunBy};
use catapults_simulator::trace::{Header, Name, Reader, Reason, Record, Recorder, What, Writer, import_linux, picture};
use catapults_tests::{native, root};

const ALL: (i64, i64) = (0, i64::MAX);

#[test]
fn a_simulation_and_its_trace_are_one_picture() {
    let several = "duration 2s; processors 2;
        thread long { repeat { run 20ms; } }
        thread interactive { repeat { run 1ms; sleep exponential(10ms); } }
        thread yielding { repeat { run 2ms; yield; } }
        thread late at 30ms { repeat { run 5ms; block io.read 20ms; } }";
    let (simulated, traced) = both("round_robin", several, Keep::Beginning);
    assert_eq!(simulated.svg, traced.svg);
    // It runs to the end of the simulation, after the last record.
    let (simulated, traced) = both("fifo", "duration 1s; thread alone { run 2s; }", Keep::Beginning);
    assert_eq!(simulated.svg, traced.svg);
    let lending = "duration 200ms;
        thread low with { priority = 1; } { repeat { lock held; run 12ms; unlock held; run 20ms; } }
        thread high at 3ms with { priority = 9; } { repeat { run 1ms; lock held; run 4ms; unlock held; sleep 25ms; } }
        thread middle at 5ms with { priority = 5; } { repeat { run 3ms; block io.read 9ms; } }";
    let (simulated, traced) = both("fixed_priority", lending, Keep::Beginning);
    assert!(traced.svg.contains(r#"class="lends""#));
    assert_eq!(simulated.svg, traced.svg);
}

#[test]
fn a_part_of_a_simulation_is_that_part_of_its_trace() {
    let text = "duration 10s;
        thread a { repeat { run 90us; block io.read 300us; } }
        thread b { repeat { run 1ms; sleep 5ms; } }";
    let (simulated, traced) = both("round_robin", text, Keep::Beginning);
    assert_eq!(simulated.svg, traced.svg);
    assert_eq!(simulated.less, traced.less);
    assert!(traced.less.is_some(), "all is shown of 10 s");
    let (simulated, traced) = both("round_robin", text, Keep::Between(5_000_000_000, 5_020_000_000));
    assert_eq!(simulated.svg, traced.svg);
    assert_eq!(traced.less, None);
}

#[test]
fn threads_of_one_name_have_their_numbers() {
    let text = "duration 100ms; thread worker * 3 { repeat { run 1ms; yield; } }";
    let (simulated, traced) = both("fifo", text, Keep::Beginning);
    let labelled = ["(1)", "(2)", "(3)"].map(|number| format!("worker {number}"));
    assert!(labelled.iter().all(|label| traced.svg.contains(label)), "{}", traced.svg);
    // All but the labels, and with them where the timeline begins.
    let panels = |drawn: &Drawn| drawn.svg[drawn.svg.find("share of the processors").unwrap()..].to_owned();
    assert_eq!(panels(&simulated), panels(&traced));
    assert_eq!(simulated.svg.matches("<rect").count(), traced.svg.matches("<rect").count());
}

#[test]
fn events_that_linux_lost_are_gaps() {
    let text = fs::read(root().join("tests/cli/linux_lost.txt")).unwrap();
    let mut trace = Cursor::new(Vec::new());
    import_linux(&mut text.as_slice(), &mut trace, &mut |_| ()).unwrap();
    let drawn = drawn(trace.get_ref(), ALL);
    assert!(!drawn.part.gaps.is_empty());
    for gap in &drawn.part.gaps {
        let inside = drawn.part.stays.iter().filter(|stay| match stay.state {
            State::Running { processor, .. } => processor == gap.processor && stay.from < gap.to && stay.to > gap.from,
            State::Ready | State::Blocked | State::Ended => false,
        });
        assert_eq!(inside.count(), 0, "somebody ran on processor {} where nothing is known of it", gap.processor);
    }
    assert!(drawn.windows.iter().any(|window| window.unknown > 0.0));
    let svg = drawn.draw().svg;
    assert!(svg.contains("events are missing") && svg.contains(r#"class="unknown""#), "{svg}");
}

#[test]
fn what_older_records_said_is_missing() {
    let dispatched = |time| at(time, 7, What::Dispatched);
    let trace = of(&[dispatched(100), at(150, 7, What::SwitchedOut), dispatched(200), at(400, 7, What::Exited)]);
    let mut reader = Reader::new(Cursor::new(trace)).unwrap();
    reader.newest(2).unwrap();
    let drawn = picture(&mut reader, "newest", ALL, &mut || ()).unwrap();
    assert_eq!((drawn.begin, drawn.end), (200, 400));
    let trace =
        of(&[at(100, 7, What::New), dispatched(100), at(150, 7, What::Idle), at(200, 7, What::Lost { events: 0 })]);
    let gaps = self::drawn(&trace, ALL).part.gaps;
    assert_eq!(gaps, [Gap { processor: 0, from: 150, to: 200 }]);
}

#[test]
fn pictures_are_as_large_as_what_they_show() {
    // Of each of 3,000 threads that come and go: with a name of its own, or without one.
    for named in [true, false] {
        let trace = written(|writer| {
            for number in 1..=3000_u32 {
                let time = u64::from(number) * 1000;
                writer.record(&at(time, number, What::New)).unwrap();
                if named {
                    writer.name(time, number, &format!("thread_of_a_long_name_{number}")).unwrap();
                }
                for round in 0..20 {
                    writer.record(&at(time + round * 40, number, What::Dispatched)).unwrap();
                    writer.record(&at(time + round * 40 + 20, number, What::Blocked(Reason::Other))).unwrap();
                    writer.record(&at(time + round * 40 + 30, number, What::Raised)).unwrap();
                }
                writer.record(&at(time + 900, number, What::Exited)).unwrap();
            }
        });
        let drawn = drawn(&trace, ALL);
        assert!(drawn.kinds.len() < 600, "{}", drawn.kinds.len());
        assert!(drawn.part.stays.len() < 5000, "{}", drawn.part.stays.len());
        let ran: i128 = drawn.kinds.iter().map(|kind| kind.ran).sum();
        assert_eq!(ran, 3000 * 20 * 20);
        let svg = drawn.draw();
        assert!(svg.svg.len() < 300_000, "{}", svg.svg.len());
        assert!(svg.less.is_some());
    }
}

#[test]
fn who_is_named_late_has_one_colour() {
    let trace = written(|writer| {
        writer.record(&at(0, 3, What::New)).unwrap();
        writer.record(&at(0, 3, What::Dispatched)).unwrap();
        writer.record(&at(10, 3, What::Blocked(Reason::Sleep))).unwrap();
        writer.name(10, 3, "worker").unwrap();
        writer.record(&at(20, 3, What::Raised)).unwrap();
        writer.record(&at(25, 3, What::Dispatched)).unwrap();
        writer.record(&at(40, 3, What::Exited)).unwrap();
    });
    let drawn = drawn(&trace, ALL);
    let kinds: Vec<(&str, i128, usize)> =
        drawn.kinds.iter().map(|kind| (kind.name.as_str(), kind.ran, kind.curve.len())).collect();
    assert_eq!(kinds, [("worker", 25, 2)]);
    assert!((drawn.windows.iter().map(|window| window.shares[0]).sum::<f64>() - 62.5).abs() < 0.01);
}

/// A simulation's picture, and that of its trace.
fn both(policy: &str, text: &str, keep: Keep) -> (Drawn, Drawn) {
    let framework = native();
    let path = root().join(format!("policies/{policy}.sched"));
    let source = catapults_tests::named_policy(format!("{policy}.sched"), &path);
    let (verified, _) = compile(&source, &framework).unwrap_or_else(|wrong| panic!("{}", wrong.render(&source, false)));
    let deciding = Deciding::Policy(&verified);
    let source = Source::new("drawn.scenario", format!("scenario drawn {{ {text} }}"));
    let mut diagnostics = Diagnostics::new();
    let drafts = scenario::read(&source, &mut diagnostics);
    let none = &mut |_: &scenario::FileName| Err("there is none".to_owned());
    let scenario = scenario::check(&drafts[0], &deciding.subject(), &framework, none, &mut diagnostics);
    let scenario = scenario.unwrap_or_else(|| panic!("{}", diagnostics.render(&source, false)));
    let mut file = Cursor::new(Vec::new());
    let mut recorder = Recorder::new(&mut file, deciding, policy, &framework, "", scenario.seed).unwrap();
    let outcome = sim::simulate(&scenario, deciding, &framework, RunBy::Interpreter, keep, &mut recorder).unwrap();
    recorder.finish(outcome.end).unwrap();
    let simulated = sim::picture(&scenario, &outcome, "drawn").draw();
    let part = match keep {
        Keep::Beginning | Keep::AroundDivergence => ALL,
        Keep::Between(from, to) => (from, to),
    };
    (simulated, drawn(file.get_ref(), part).draw())
}

fn drawn(trace: &[u8], part: (i64, i64)) -> Picture {
    picture(&mut Reader::new(Cursor::new(trace)).unwrap(), "drawn", part, &mut || ()).unwrap()
}

fn at(time_ns: u64, thread: u32, what: What) -> Record {
    Record { time_ns, thread, processor: 0, what, event: 0, line: 0, ready: None }
}

fn written(write: impl FnOnce(&mut Writer<&mut Cursor<Vec<u8>>>)) -> Vec<u8> {
    let header = Header { names: vec![Name::default(); 4], ..Header::default() };
    let mut file = Cursor::new(Vec::new());
    let mut writer = Writer::new(&mut file, &header).unwrap();
    write(&mut writer);
    writer.finish().unwrap();
    file.into_inner()
}

fn of(records: &[Record]) -> Vec<u8> {
    written(|writer| records.iter().for_each(|record| writer.record(record).unwrap()))
}
