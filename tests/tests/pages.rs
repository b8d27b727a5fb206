//! The pages that `catapults trace html` writes: what is in them is what the trace says, whoever wrote it; nothing that a trace says can
//! break out of its place; and what is left out is said.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so by panicking"
)]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::io::Cursor;

use catapults_compiler::compile;
use catapults_compiler::diagnostics::Diagnostics;
use catapults_compiler::scenario;
use catapults_compiler::source::Source;
use catapults_compiler::vocabulary::Value;
use catapults_simulator::page::{Asked, MOST, Recording, recording, write};
use catapults_simulator::sim::{self, Deciding, Keep, RunBy};
use catapults_simulator::trace::{Header, Name, Reader, Reason, Record, Recorder, What, Writer, summarise};
use catapults_tests::command::{command, folder, run, said};
use catapults_tests::{native, root};
use proptest::prelude::*;
use serde_json::Value as Json;

const ALL: Asked = Asked { from: 0, to: i64::MAX, most: MOST };

/// States, as the page numbers them.
const RUNNING: i64 = 0;
const READY: i64 = 3;

#[test]
fn a_page_sums_up_to_the_summary() {
    let several = "duration 2s; processors 2;
        thread long { repeat { run 20ms; } }
        thread interactive * 3 { repeat { run 1ms; sleep exponential(10ms); } }
        thread late at 30ms { repeat 7 { run 5ms; block io.read 20ms; } }";
    let lending = "duration 200ms;
        thread low with { priority = 1; } { repeat { lock held; run 12ms; unlock held; run 20ms; } }
        thread high at 3ms with { priority = 9; } { repeat { run 1ms; lock held; run 4ms; unlock held; sleep 25ms; } }
        thread middle at 5ms with { priority = 5; } { repeat { run 3ms; block io.read 9ms; } }";
    for (policy, text) in [("round_robin", several), ("fixed_priority", lending)] {
        let trace = simulated(policy, text);
        let page = shown(&trace, ALL).json().unwrap();
        let summary = summarise(&mut Reader::new(Cursor::new(&trace)).unwrap(), &mut || ()).unwrap();
        let mut sums: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for stay in stays(&page) {
            let Ok(thread) = usize::try_from(stay.thread) else { continue };
            let name = page["names"][number(&page["threads"]["name"][thread])].as_str().unwrap().to_owned();
            let (running, ready) = sums.entry(name).or_default();
            let length = u64::try_from(stay.length).unwrap();
            *running += if stay.state == RUNNING { length } else { 0 };
            *ready += if stay.state == READY { length } else { 0 };
        }
        let expected = summary.threads.iter().map(|(name, thread)| (name.clone(), (thread.running, thread.ready)));
        assert_eq!(sums, expected.collect(), "{policy}");
        let lent = page["stays"]["lent"].as_array().unwrap().len();
        assert_eq!(lent > 0, policy == "fixed_priority");
    }
}

#[test]
fn each_turn_has_its_line_and_each_line_its_text() {
    let trace = simulated("round_robin", "thread a * 2 { run 15ms; }");
    let asked = RefCell::new(Vec::new());
    let source = |file: &str| {
        asked.borrow_mut().push(file.to_owned());
        Some("text\n".to_owned())
    };
    let mut reader = Reader::new(Cursor::new(&trace)).unwrap();
    let page = recording(&mut reader, "a", ALL, &source, &mut || ()).unwrap().json().unwrap();
    assert_eq!(*asked.borrow(), ["policies/round_robin.sched"], "each file is looked for once");
    assert_eq!(page["sources"][0]["text"], "text\n");
    let text = fs::read_to_string(root().join("policies/round_robin.sched")).unwrap();
    for stay in stays(&page).into_iter().filter(|stay| stay.state == RUNNING) {
        let why = &page["whys"][usize::try_from(stay.why).unwrap()];
        assert_eq!((why["event"].as_str(), why["exact"].as_bool()), (Some("schedule"), Some(true)));
        let line = text.lines().nth(number(&why["line"]) - 1).unwrap();
        assert!(line.contains("dispatch") || line.contains("=>"), "{line}");
    }
}

#[test]
fn what_is_not_at_hand_is_said() {
    let trace = simulated("round_robin", "thread a * 2 { run 15ms; }");
    let mut reader = Reader::new(Cursor::new(&trace)).unwrap();
    let page = recording(&mut reader, "a", ALL, &|_| None, &mut || ()).unwrap();
    let missing = "The text of policies/round_robin.sched is not at hand: only the numbers of its lines are shown.";
    assert_eq!(page.notes(), [missing]);
    // A host that does not count.
    let trace = of(&[at(0, 1, What::New), at(10, 2, What::New), at(20, 1, What::Dispatched), at(50, 1, What::Exited)]);
    let page = shown(&trace, ALL);
    assert_eq!(
        page.notes(),
        ["The recording does not say how many threads were ready; they are counted by their states."]
    );
    let page = page.json().unwrap();
    assert_eq!(instants(&page["ready"]["after"]), [0, 10, 20, 50]);
    assert_eq!(page["ready"]["count"], serde_json::json!([1, 2, 1, 0]));
}

/// However long each was in its first state.
#[test]
fn threads_are_in_the_order_in_which_they_came() {
    let trace = of(&[
        at(0, 7, What::New),
        at(10, 9, What::Refused),
        at(20, 3, What::New),
        at(30, 3, What::Dispatched),
        at(40, 3, What::Exited),
        at(50, 3, What::New),
        at(60, 7, What::Dispatched),
    ]);
    let page = shown(&trace, ALL).json().unwrap();
    assert_eq!(page["threads"]["number"], serde_json::json!([7, 9, 3, 3]), "the last one is another thread");
    assert_eq!(page["marks"]["thread"], serde_json::json!([1]));
    let ready = stays(&page).into_iter().filter(|stay| stay.state == READY).map(|stay| (stay.thread, stay.since));
    assert_eq!(ready.collect::<Vec<_>>(), [(0, 0), (2, 20), (3, 50)]);
}

#[test]
fn a_part_begins_with_what_was_so_by_then() {
    let value = |time, thread, value| {
        let what = What::Value { variable: 4, value: Value::Int(value) };
        at(time, thread, what)
    };
    let names = [Name::default(), Name::default(), Name::default(), Name::default(), named("left")];
    let records = [
        at(0, 1, What::New),
        value(0, 1, 7),
        value(0, 0, 1),
        at(0, 2, What::New),
        value(0, 2, 8),
        at(10, 1, What::Dispatched),
        value(10, 1, 9),
        at(40, 1, What::Blocked(Reason::Read)),
        at(60, 2, What::Dispatched),
        at(80, 2, What::Exited),
        value(90, 0, 2),
        at(90, 1, What::Raised),
    ];
    let trace = written(names.to_vec(), |writer| records.iter().for_each(|one| writer.record(one).unwrap()));
    let shown = shown(&trace, Asked { from: 20, to: 70, most: MOST });
    assert_eq!(shown.end(), 70);
    let page = shown.json().unwrap();
    let notes = [
        "What was before 20ns is left out (--from).",
        "What was from 70ns on is left out (--to).",
        "The recording does not say how many threads were ready; they are counted by their states.",
    ];
    assert_eq!(page["notes"], serde_json::json!(notes));
    assert_eq!(shown.notes(), &notes[2..], "the others were asked for");
    let parts: Vec<_> = stays(&page).into_iter().map(|stay| (stay.since, stay.length)).collect();
    // It runs, and then waits; the other one is ready, and then runs.
    assert_eq!(parts, [(20, 20), (20, 40), (40, 30), (60, 10)]);
    let mut values: Vec<_> = (0..3)
        .map(|place| (page["values"]["thread"][place].as_i64(), page["values"]["value"][place].as_str().unwrap()))
        .collect();
    values.sort_unstable();
    assert_eq!(values, [(Some(-1), "1"), (Some(0), "9"), (Some(1), "8")]);
    assert!(instants(&page["values"]["after"]).iter().all(|at| *at == 20));
}

#[test]
fn what_there_is_no_room_for_is_said() {
    let trace = simulated("round_robin", "duration 10s; thread a * 4 { repeat { run 1ms; yield; } }");
    let all = shown(&trace, ALL);
    assert!(all.turns() > 9_000, "{}", all.turns());
    let some = shown(&trace, Asked { most: 1000, ..ALL });
    let json = some.json().unwrap();
    let kept = stays(&json);
    assert!((600..=1010).contains(&kept.len()), "{}", kept.len());
    let [note] = some.notes() else { panic!("{:?}", some.notes()) };
    assert!(note.starts_with("Only what was before ") && note.contains("a page has room for 1000 changes"), "{note}");
    assert!(note.contains(" later records are left out. --from and --to show another part."), "{note}");
    let until = json["until"].as_i64().unwrap();
    assert_eq!(kept.iter().map(|stay| stay.since + stay.length).max(), Some(until));
    assert!(written_page(&[some]).len() < 120_000);
    // The same part of all is the same.
    let whole = stays(&all.json().unwrap());
    let begun = |stay: &&Stay| stay.since + stay.length < until;
    let same = |stays: &[Stay]| stays.iter().filter(begun).map(|stay| (stay.since, stay.length)).collect::<Vec<_>>();
    assert_eq!(same(&kept), same(&whole));
}

#[test]
fn nothing_breaks_out_of_the_page() {
    let evil = "</script><script>alert(1)</script><!-- <img src=x onerror=alert(1)> \u{2028} \" ' & \\";
    let names = [evil, evil, evil, evil, evil, evil].map(named).to_vec();
    let mut header = header(names);
    for field in [&mut header.policy, &mut header.source, &mut header.host, &mut header.clock] {
        evil.clone_into(field);
    }
    header.names[4].line = 1;
    let mut file = Cursor::new(Vec::new());
    let mut writer = Writer::new(&mut file, &header).unwrap();
    writer.record(&Record { event: 4, line: 1, ..at(0, 1, What::New) }).unwrap();
    writer.name(0, 1, evil).unwrap();
    writer.record(&at(0, 1, What::Value { variable: 5, value: Value::Int(1) })).unwrap();
    writer.record(&Record { event: 4, ..at(5, 1, What::Dispatched) }).unwrap();
    writer.record(&Record { event: 4, ..at(9, 1, What::Exited) }).unwrap();
    writer.finish().unwrap();
    let mut reader = Reader::new(Cursor::new(file.into_inner())).unwrap();
    let shown = recording(&mut reader, evil, ALL, &|_| Some(evil.to_owned()), &mut || ()).unwrap();
    let again = shown.clone();
    let page = written_page(&[shown, again]);
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert_eq!(page.matches("<script").count(), 2, "the data and the program");
    assert_eq!(page.matches("</script").count(), 2);
    assert_eq!(page.matches("<img").count() + page.matches("<!--").count(), 0);
    let (_, rest) = page.split_once(r#"id="data">"#).unwrap();
    let (data, _) = rest.split_once("</script>").unwrap();
    assert!(!data.contains('<'));
    // What is read is what was written.
    let data: Json = serde_json::from_str(data).unwrap();
    assert_eq!(data["recordings"][0], data["recordings"][1]);
    assert_eq!(data["recordings"][0]["sources"][0]["text"], evil);
    assert_eq!(data["recordings"][0]["names"][0], evil.replace('\u{2028}', "\\u{2028}"));
    assert_eq!(data["looks"].as_array().unwrap().len(), 12);
}

#[test]
fn a_page_asks_for_nothing() {
    let page = written_page(&[shown(&simulated("round_robin", "thread a { run 1ms; }"), ALL)]);
    for word in ["http:", "https:", "@import", "url(", "fetch(", "XMLHttpRequest", "innerHTML", "eval(", "src="] {
        assert!(!page.contains(word), "{word}");
    }
    assert!(page.contains("default-src 'none'"));
    for part in ["@STYLE@", "@SCRIPT@", "@DATA@"] {
        assert!(!page.contains(part));
    }
}

/// A recording can name any file. Only a policy is shown, from where it is or from beside the recording.
#[test]
fn a_recording_shows_no_files_but_policies() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("below")).unwrap();
    fs::write(path("secret"), "the secret\n").unwrap();
    fs::write(path("below/beside.sched"), "the policy\n").unwrap();
    fs::create_dir(path("folder.sched")).unwrap();
    let elsewhere = path("secret").display().to_string();
    for (source, shown) in [
        ("secret", false),
        (&*elsewhere, false),
        ("folder.sched", false),
        ("/dev/zero", false),
        ("nowhere/beside.sched", true),
        ("below/beside.sched", true),
    ] {
        let mut header = header(vec![Name::default(); 5]);
        source.clone_into(&mut header.source);
        header.names[4] = Name { line: 1, ..named("schedule") };
        let mut file = Cursor::new(Vec::new());
        let mut writer = Writer::new(&mut file, &header).unwrap();
        writer.record(&Record { event: 4, ready: Some(0), ..at(0, 1, What::Dispatched) }).unwrap();
        writer.finish().unwrap();
        fs::write(path("below/b.trace"), file.into_inner()).unwrap();
        let done = run(folder.path(), &["trace", "html", "below/b.trace", "-o", "b.html"]);
        assert!(done.status.success(), "{source}: {}", said(&done));
        assert_eq!(said(&done).contains("is not at hand"), !shown, "{source}: {}", said(&done));
        let page = fs::read_to_string(path("b.html")).unwrap();
        assert!(!page.contains("the secret") && page.contains("the policy\\n") == shown, "{source}");
    }
}

#[test]
fn a_recording_of_nothing_has_no_page() {
    let folder = folder();
    fs::write(folder.path().join("empty.trace"), of(&[])).unwrap();
    for arguments in [&["trace", "html", "empty.trace"][..], &["trace", "html", "a.trace", "empty.trace"]] {
        let refused = run(folder.path(), arguments);
        assert_eq!(refused.status.code(), Some(1), "{arguments:?}: {}", said(&refused));
        assert!(said(&refused).contains("it has no records") && said(&refused).contains("empty.trace"));
        assert!(!folder.path().join("empty.html").exists() && !folder.path().join("a.html").exists());
    }
}

/// A simulation is kept in a file without a name until it is shown.
#[test]
fn a_simulation_needs_room_and_leaves_nothing_there() {
    let folder = folder();
    let room = folder.path().join("room");
    fs::create_dir(&room).unwrap();
    let sim =
        |room: &str| command(folder.path(), &["sim", "fifo.scenario", "--html", "a.html"]).env("TMPDIR", room).output();
    let done = sim("room").unwrap();
    assert!(done.status.success(), "{}", said(&done));
    assert_eq!(fs::read_dir(&room).unwrap().count(), 0);
    fs::remove_file(folder.path().join("a.html")).unwrap();
    let refused = sim("nowhere").unwrap();
    assert_eq!(refused.status.code(), Some(1), "{}", said(&refused));
    assert!(said(&refused).contains("error[E0503]") && said(&refused).contains("TMPDIR"), "{}", said(&refused));
    assert!(!folder.path().join("a.html").exists());
}

proptest! {
    /// Whatever the records are, if they can be read at all.
    #[test]
    fn any_trace_has_a_page(
        records in prop::collection::vec((0..50_u64, 1..6_u32, 0..15_usize, 0..3_u16, 0..9_u16, 0..40_u32), 1..120),
        part in (0..2000_i64, 0..2000_i64),
        most in 1..200_usize,
    ) {
        let names = ["", "", "", "", "a", "b", "c"].map(named).to_vec();
        let mut time = 0;
        let trace = written(names, |writer| for (after, thread, kind, processor, event, line) in &records {
            time += after;
            let what = any(*kind, *thread, line % 7);
            let ready = Some(*event).filter(|ready| *ready < 5);
            let record = Record { processor: *processor, event: *event, line: *line, ready, ..at(time, *thread, what) };
            writer.record(&record).unwrap();
        });
        let (from, to) = (part.0.min(part.1), part.0.max(part.1) + 1);
        for asked in [ALL, Asked { most, ..ALL }, Asked { from, to, most: MOST }] {
            let shown = shown(&trace, asked);
            let page = shown.json().unwrap();
            let (from, until) = (page["from"].as_i64().unwrap(), page["until"].as_i64().unwrap());
            let (threads, whys) = (length(&page["threads"]["number"]), length(&page["whys"]));
            for stay in stays(&page) {
                prop_assert!(stay.length >= 0 && stay.since + stay.length <= until.max(from), "{stay:?}");
                prop_assert!(asked.from == 0 || stay.since >= asked.from.min(until), "{stay:?}");
                prop_assert!(stay.thread < threads && stay.why < whys && stay.end < whys, "{stay:?}");
            }
            for column in ["values", "marks", "ready"] {
                let at = instants(&page[column]["after"]);
                prop_assert!(at.is_sorted(), "{column}");
            }
            prop_assert!(written_page(&[shown]).ends_with("</html>\n"));
        }
    }
}

/// Each kind of record.
fn any(kind: usize, thread: u32, detail: u32) -> What {
    match kind {
        0 => What::New,
        1 => What::Dispatched,
        2 => What::SwitchedOut,
        3 => What::Blocked(Reason::Lock),
        4 => What::Raised,
        5 => What::Exited,
        6 => What::PolicyOut,
        7 => What::Suspended,
        8 => What::Resumed,
        9 => What::Idle,
        10 => What::Refused,
        11 => What::Lent { donor: 1 + (thread + detail) % 6 },
        12 => What::Preempted,
        13 => What::Value { variable: 4 + u16::try_from(detail % 3).unwrap(), value: Value::Int(i64::from(detail)) },
        _ => What::Lost { events: u64::from(detail) },
    }
}

#[derive(Debug)]
struct Stay {
    since: i64,
    length: i64,
    state: i64,
    thread: i64,
    why: i64,
    end: i64,
}

fn stays(page: &Json) -> Vec<Stay> {
    let columns = &page["stays"];
    let at = instants(&columns["after"]);
    assert!(at.is_sorted());
    let column = |name: &str, place: usize| columns[name][place].as_i64().unwrap();
    let stay = |(place, since): (usize, i64)| Stay {
        since,
        length: column("length", place),
        state: column("state", place),
        thread: column("thread", place),
        why: column("why", place),
        end: column("end", place),
    };
    at.into_iter().enumerate().map(stay).collect()
}

fn instants(after: &Json) -> Vec<i64> {
    let mut now = 0;
    let all = after.as_array().unwrap().iter();
    all.map(|after| {
        now += after.as_i64().unwrap();
        now
    })
    .collect()
}

fn number(json: &Json) -> usize {
    usize::try_from(json.as_u64().unwrap()).unwrap()
}

fn length(json: &Json) -> i64 {
    i64::try_from(json.as_array().unwrap().len()).unwrap()
}

fn shown(trace: &[u8], asked: Asked) -> Recording {
    let mut reader = Reader::new(Cursor::new(trace)).unwrap();
    recording(&mut reader, "a", asked, &|_| Some(String::new()), &mut || ()).unwrap()
}

fn written_page(recordings: &[Recording]) -> String {
    let mut page = Vec::new();
    write(recordings, &mut page).unwrap();
    String::from_utf8(page).unwrap()
}

fn simulated(policy: &str, text: &str) -> Vec<u8> {
    let framework = native();
    let file = format!("policies/{policy}.sched");
    let source = catapults_tests::named_policy(file.clone(), &root().join(&file));
    let (verified, _) = compile(&source, &framework).unwrap_or_else(|wrong| panic!("{}", wrong.render(&source, false)));
    let deciding = Deciding::Policy(&verified);
    let source = Source::new("shown.scenario", format!("scenario shown {{ {text} }}"));
    let mut diagnostics = Diagnostics::new();
    let drafts = scenario::read(&source, &mut diagnostics);
    let none = &mut |_: &scenario::FileName| Err("there is none".to_owned());
    let scenario = scenario::check(&drafts[0], &deciding.subject(), &framework, none, &mut diagnostics);
    let scenario = scenario.unwrap_or_else(|| panic!("{}", diagnostics.render(&source, false)));
    let mut trace = Cursor::new(Vec::new());
    let mut recorder = Recorder::new(&mut trace, deciding, policy, &framework, &file, scenario.seed).unwrap();
    let outcome = sim::simulate(&scenario, deciding, &framework, RunBy::Interpreter, Keep::Beginning, &mut recorder);
    recorder.finish(outcome.unwrap().end).unwrap();
    trace.into_inner()
}

fn at(time_ns: u64, thread: u32, what: What) -> Record {
    Record { time_ns, thread, processor: 0, what, event: 0, line: 0, ready: None }
}

fn named(text: &str) -> Name {
    Name { text: text.to_owned(), ..Name::default() }
}

fn header(names: Vec<Name>) -> Header {
    Header { names, ..Header::default() }
}

fn written(names: Vec<Name>, write: impl FnOnce(&mut Writer<&mut Cursor<Vec<u8>>>)) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    let mut writer = Writer::new(&mut file, &header(names)).unwrap();
    write(&mut writer);
    writer.finish().unwrap();
    file.into_inner()
}

fn of(records: &[Record]) -> Vec<u8> {
    written(vec![Name::default(); 4], |writer| records.iter().for_each(|record| writer.record(record).unwrap()))
}
