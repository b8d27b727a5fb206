mod linux;

use std::collections::BTreeMap;
use std::io::Cursor;

use catapults_compiler::vocabulary::{Float, Value as Said};
use proptest::prelude::*;
use serde_json::Value;

use super::*;

/// The bytes of a file, from the numbers in its header and records as (time, thread, kind, detail, payload).
fn file(capacity: u64, written: u64, ring: &[(u64, u32, u16, u16, &[u8])]) -> Vec<u8> {
    let mut bytes = b"CATTRACE".to_vec();
    bytes.extend(1u32.to_le_bytes());
    bytes.extend(32u32.to_le_bytes());
    bytes.extend(capacity.to_le_bytes());
    bytes.extend(written.to_le_bytes());
    bytes.extend(100u64.to_le_bytes());
    bytes.extend(b"fifo\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    for (time, thread, kind, detail, payload) in ring {
        bytes.extend(time.to_le_bytes());
        bytes.extend(thread.to_le_bytes());
        bytes.extend(kind.to_le_bytes());
        bytes.extend(detail.to_le_bytes());
        let mut padded = [0; 16];
        padded[..payload.len()].copy_from_slice(payload);
        bytes.extend(padded);
    }
    bytes
}

type Whole<'a> = (Reader<Cursor<&'a [u8]>>, Vec<Record>);

fn read(bytes: &[u8]) -> Result<Whole<'_>, TraceError> {
    let mut reader = Reader::new(Cursor::new(bytes))?;
    let mut records = Vec::new();
    while let Some(record) = reader.next_record()? {
        records.push(record);
    }
    Ok((reader, records))
}

fn export(bytes: &[u8]) -> Value {
    exported(Reader::new(Cursor::new(bytes)).unwrap())
}

fn exported(mut trace: Reader<Cursor<&[u8]>>) -> Value {
    let mut json = Vec::new();
    export_chrome(&mut trace, &mut json, &mut || {}).unwrap();
    serde_json::from_slice(&json).unwrap()
}

/// A record of version 1.
fn old(time_ns: u64, thread: u32, what: What) -> Record {
    Record { time_ns, thread, processor: 0, what, event: 0, line: 0, ready: None }
}

/// The slices as "track name from..to" in nanoseconds, in the file's order.
fn slices(json: &Value) -> Vec<String> {
    let nanoseconds = |value: &Value| (value.as_f64().unwrap() * 1000.0).round() as u64;
    let events = json["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "X");
    let slice = |event: &Value| {
        let (since, length) = (nanoseconds(&event["ts"]), nanoseconds(&event["dur"]));
        let processor = event["pid"] == PROCESSOR_TRACK;
        let track = match event["tid"].as_u64().unwrap() {
            0 if processor => "p".to_owned(),
            number if processor => format!("p{number}"),
            number => number.to_string(),
        };
        format!("{track} {} {since}..{}", event["name"].as_str().unwrap(), since + length)
    };
    events.map(slice).collect()
}

const PROCESSOR_TRACK: u32 = 1;

#[test]
fn a_ring_that_has_not_come_round() {
    let bytes = file(4, 2, &[(110, 1, 1, 0, b""), (120, 1, 5, 8, b""), (0, 0, 0, 0, b""), (0, 0, 0, 0, b"")]);
    let (trace, records) = read(&bytes).unwrap();
    assert_eq!((trace.header().policy.as_str(), trace.header().start_ns, trace.lost()), ("fifo", 100, 0));
    assert_eq!(records, [old(110, 1, What::New), old(120, 1, What::Blocked(Reason::Sleep))]);
}

#[test]
fn a_ring_that_has_come_round_is_read_from_its_oldest_record() {
    let bytes = file(3, 5, &[(140, 1, 4, 0, b""), (150, 2, 3, 0, b""), (130, 1, 3, 0, b"")]);
    let (trace, records) = read(&bytes).unwrap();
    assert_eq!(trace.lost(), 2);
    assert_eq!(records.iter().map(|record| record.time_ns).collect::<Vec<_>>(), [130, 140, 150]);
}

#[test]
fn what_is_no_trace_says_where() {
    let good = file(2, 1, &[(110, 1, 1, 0, b""), (0, 0, 0, 0, b"")]);
    read(&good).unwrap();
    let with = |at: usize, new: &[u8]| {
        let mut bytes = good.clone();
        bytes[at..at + new.len()].copy_from_slice(new);
        bytes
    };
    let offset_of = |bytes: &[u8]| read(bytes).map(|(_, records)| records).unwrap_err().offset().unwrap();
    assert_eq!(offset_of(b""), 0);
    assert_eq!(offset_of(b"CATT"), 0);
    assert_eq!(offset_of(&with(0, b"X")), 0);
    assert_eq!(offset_of(&good[..40]), 40);
    assert_eq!(offset_of(&with(8, &4u32.to_le_bytes())), 8);
    assert_eq!(offset_of(&with(12, &31u32.to_le_bytes())), 12);
    assert_eq!(offset_of(&with(16, &u64::MAX.to_le_bytes())), 16);
    assert_eq!(offset_of(&with(16, &0u64.to_le_bytes())), 16);
    assert_eq!(offset_of(&good[..good.len() - 1]), 16);
    assert_eq!(offset_of(&with(64 + 12, &99u16.to_le_bytes())), 64 + 12);
    assert_eq!(offset_of(&with(64 + 12, &[5, 0, 99, 0])), 64 + 13);
    assert_eq!(offset_of(&with(64 + 8, &0u32.to_le_bytes())), 64 + 8);
    let said = |bytes: &[u8]| read(bytes).map(drop).unwrap_err().to_string();
    let three = file(3, 5, &[(110, 1, 1, 0, b""), (120, 1, 3, 0, b""), (130, 1, 4, 0, b"")]);
    assert_eq!(said(&three[..three.len() - 1]), "the trace is cut off after 2 of its 3 records");
    assert_eq!(
        said(&good[..good.len() - 1]),
        "the trace is cut off behind its last record: it has 1, and room for 2 is promised"
    );
    assert_eq!(said(&good[..40]), "the trace is cut off within its header of 64 bytes");
    let backwards = file(2, 2, &[(110, 1, 1, 0, b""), (109, 1, 3, 0, b"")]);
    assert_eq!(offset_of(&backwards), 64 + 32);
    // `written` may be any number: it counts records that the ring has lost, too.
    let ever = file(2, u64::MAX, &[(110, 1, 1, 0, b""), (105, 1, 3, 0, b"")]);
    assert_eq!(read(&ever).unwrap().0.lost(), u64::MAX - 2);
}

#[test]
fn a_short_history_as_slices() {
    let bytes = file(
        13,
        13,
        &[
            (1000, 1, 1, 0, b""),
            (1000, 1, 2, 0, b"a-name-of-many-b"),
            (1000, 1, 2, 1, b"ytes"),
            (1010, 1, 3, 0, b""),
            (1020, 2, 1, 0, b""),
            (1030, 1, 5, 0, b""),
            (1040, 2, 3, 0, b""),
            (1050, 2, 8, 17, b""),
            (1060, 2, 7, 0, b""),
            (1070, 0, 11, 0, b""),
            (1080, 1, 6, 0, b""),
            (1090, 1, 3, 0, b""),
            (1100, 1, 4, 0, b""),
        ],
    );
    let json = export(&bytes);
    let expected = [
        "1 ready 0..10",
        "p a-name-of-many-bytes (1) 10..30",
        "1 running 10..30",
        "2 ready 20..40",
        "p thread 2 40..60",
        "2 running 40..60",
        "1 blocked: io.read 30..80",
        "p idle 70..90",
        "1 ready 80..90",
        "p a-name-of-many-bytes (1) 90..100",
        "1 running 90..100",
        "1 ready 100..100",
    ];
    assert_eq!(slices(&json), expected);
    let instant = json["traceEvents"].as_array().unwrap().iter().find(|event| event["ph"] == "i").unwrap();
    assert_eq!((&instant["args"]["line"], &instant["ts"]), (&Value::from(17), &Value::from(0.05)));
    assert_eq!(json["otherData"]["policy"], "fifo");
}

#[test]
fn a_thread_shows_on_the_processor_where_it_runs() {
    const P1: u16 = 1 << 8;
    let bytes = file(
        11,
        11,
        &[
            (1000, 1, 1, 0, b""),
            (1000, 2, 1, 0, b""),
            (1010, 1, 3, 0, b""),
            (1020, 2, 3 | P1, 0, b""),
            // These turns are ended from the other processor.
            (1030, 2, 4, 0, b""),
            (1040, 0, 11 | P1, 0, b""),
            (1050, 1, 9 | P1, 0, b""),
            (1060, 2, 3, 0, b""),
            (1070, 2, 5, 5, b""),
            (1080, 0, 11, 0, b""),
            (1090, 1, 10 | P1, 0, b""),
        ],
    );
    let json = export(&bytes);
    let expected = [
        "1 ready 0..10",
        "2 ready 0..20",
        "p1 thread 2 20..30",
        "2 running 20..30",
        "p thread 1 10..50",
        "1 running 10..50",
        "2 ready 30..60",
        "p thread 2 60..70",
        "2 running 60..70",
        "1 suspended 50..90",
        "p idle 80..90",
        "p1 idle 40..90",
        "1 ready 90..90",
        "2 blocked: lock 70..90",
    ];
    assert_eq!(slices(&json), expected);
    let names: Vec<_> = json["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "M").collect();
    assert_eq!(names[0]["args"]["name"], "processors, under fifo");
    let other = names.iter().find(|event| event["pid"] == PROCESSOR_TRACK && event["tid"] == 1).unwrap();
    assert_eq!(other["args"]["name"], "processor 1");
}

#[test]
fn what_began_before_the_first_record_begins_with_it() {
    let bytes = file(2, 9, &[(1010, 2, 3, 0, b""), (1000, 1, 4, 0, b"")]);
    let json = export(&bytes);
    let expected = [
        "p thread 1 0..0",
        "1 running 0..0",
        "2 ready 0..10",
        "p thread 2 10..10",
        "1 ready 0..10",
        "2 running 10..10",
    ];
    assert_eq!(slices(&json), expected);
}

#[test]
fn the_newest_records_keep_the_names() {
    let bytes = file(3, 3, &[(1, 7, 2, 0, b"seven"), (2, 7, 3, 0, b""), (3, 7, 4, 0, b"")]);
    let mut newest = Reader::new(Cursor::new(bytes.as_slice())).unwrap();
    newest.newest(1).unwrap();
    assert_eq!((newest.lost(), newest.left()), (2, 1));
    assert_eq!(slices(&exported(newest)), ["p seven (7) 0..0", "7 running 0..0", "7 ready 0..0"]);
}

/// A file of version 3, as the simulator writes it.
fn written(records: &[Record]) -> Vec<u8> {
    let name = |text: &str, line, source: &str| Name { text: text.to_owned(), line, source: source.to_owned() };
    let header = Header {
        policy: "lottery".to_owned(),
        source: "policies/lottery.sched".to_owned(),
        host: "a test".to_owned(),
        clock: "virtual".to_owned(),
        resolution_ns: 40,
        start_ns: 7,
        seed: Some(1 << 40),
        names: vec![
            Name::default(),
            Name::default(),
            Name::default(),
            Name::default(),
            name("schedule", 12, ""),
            name("block.lock", 0, ""),
            name("tickets", 0, ""),
            name("schedule", 3, "fifo.sched"),
        ],
        ..Header::default()
    };
    let mut bytes = Cursor::new(Vec::new());
    let mut writer = Writer::new(&mut bytes, &header).unwrap();
    records.iter().for_each(|record| writer.record(record).unwrap());
    assert_eq!(writer.finish().unwrap(), records.len() as u64);
    bytes.into_inner()
}

fn new(time_ns: u64, thread: u32, what: What, event: u16, line: u32) -> Record {
    Record { time_ns, thread, processor: 300, what, event, line, ready: Some(2) }
}

fn value(time_ns: u64, thread: u32, value: Said) -> Record {
    Record { ready: None, processor: 0, ..new(time_ns, thread, What::Value { variable: 6, value }, 0, 0) }
}

#[test]
fn what_is_written_is_read() {
    let named = What::Named { part: 0, bytes: *b"a name\0\0\0\0\0\0\0\0\0\0" };
    let records = [
        new(10, 1, What::New, 0, 0),
        Record { ready: None, ..new(10, 1, named, 0, 0) },
        new(11, 1, What::Dispatched, 4, 14),
        new(12, 1, What::Blocked(Reason::Other), 5, 0),
        new(13, 2, What::Lent { donor: 1 }, 4, 0),
        new(14, 2, What::Preempted, 0, 0),
        new(14, 2, What::Refused, 7, 0),
        value(15, 0, Said::Int(-3)),
        value(15, 1, Said::Bool(true)),
        value(16, 1, Said::Time(i64::MIN)),
        value(17, 1, Said::Float(Float::new(1.5))),
        Record { ready: None, ..new(18, 2, What::Dispatched, 7, 0) },
    ];
    let bytes = written(&records);
    let (trace, read) = read(&bytes).unwrap();
    assert_eq!(read, records);
    let header = trace.header();
    assert_eq!((header.version, header.written, header.start_ns), (3, records.len() as u64, 7));
    assert_eq!((header.resolution_ns, header.seed), (40, Some(1 << 40)));
    assert_eq!((header.policy.as_str(), header.host.as_str(), header.clock.as_str()), ("lottery", "a test", "virtual"));
    let why = |record: &Record| header.because(record);
    assert_eq!(why(&records[0]), "");
    assert_eq!(why(&records[2]), "schedule, lottery.sched:14");
    assert_eq!(why(&records[3]), "block.lock");
    assert_eq!(why(&records[4]), "schedule, lottery.sched:12");
    assert_eq!(why(&records[11]), "schedule, fifo.sched:3");
    assert_eq!(
        trace.line(&records[4]),
        "         6ns  300  thread 2 runs on the turn of a name (1)  (schedule, lottery.sched:12)  [2 ready]"
    );
    assert_eq!(trace.line(&records[7]), "         8ns    0  tickets = -3");
}

#[test]
fn names_that_make_no_sense_say_where() {
    let good = written(&[new(10, 1, What::New, 4, 0)]);
    let offset_of = |at: usize, new: u32| {
        let mut bytes = good.clone();
        bytes[at..at + 4].copy_from_slice(&new.to_le_bytes());
        read(&bytes).map(|(_, records)| records).unwrap_err().offset().unwrap()
    };
    assert_eq!(offset_of(40, 0), 40);
    assert_eq!(offset_of(40, u32::MAX), 40);
    assert_eq!(offset_of(44, u32::MAX), 40);
    let names = u32::from_le_bytes(good[44..48].try_into().unwrap());
    assert_eq!(offset_of(48, u32::MAX), u64::from(72 + names));
    let record = good.len() - 32;
    let mut bytes = good.clone();
    bytes[record + 12..record + 14].copy_from_slice(&[15, 9]);
    let offset_of = |bytes: &[u8]| read(bytes).map(|(_, records)| records).unwrap_err().offset().unwrap();
    assert_eq!(offset_of(&bytes), record as u64 + 13);
    let far = Record { processor: MOST_PROCESSORS, ..new(1, 1, What::New, 0, 0) };
    assert_eq!(offset_of(&written(&[far])), record as u64 + 14);
}

#[test]
fn a_donor_is_ready_while_another_runs_on_its_turn() {
    let records = [
        new(0, 1, What::New, 0, 0),
        new(0, 2, What::New, 0, 0),
        new(10, 1, What::Dispatched, 4, 14),
        new(20, 2, What::Lent { donor: 1 }, 4, 0),
        // Its wait is over.
        new(30, 1, What::Lent { donor: 1 }, 4, 0),
        new(40, 1, What::Exited, 0, 0),
    ];
    let bytes = written(&records);
    let json = export(&bytes);
    let expected = [
        "1 ready 0..10",
        "1 running 10..20",
        "p300 thread 1 10..20",
        "2 ready 0..20",
        "1 ready 20..30",
        "p300 thread 2 20..30",
        "2 running 20..30",
        "p300 thread 1 30..40",
        "1 running 30..40",
    ];
    let mut found = slices(&json);
    found.retain(|slice| expected.contains(&slice.as_str()));
    found.sort_unstable();
    let mut wanted: Vec<String> = expected.map(str::to_owned).to_vec();
    wanted.sort_unstable();
    assert_eq!(found, wanted);
    let arrows: Vec<_> =
        json["traceEvents"].as_array().unwrap().iter().filter(|event| event["cat"] == "donation").collect();
    assert_eq!((arrows.len(), &arrows[0]["tid"], &arrows[1]["tid"]), (2, &Value::from(1), &Value::from(2)));
    let ran = json["traceEvents"].as_array().unwrap().iter().find(|event| event["name"] == "running").unwrap();
    assert_eq!((&ran["args"]["handler"], &ran["args"]["line"]), (&Value::from("schedule"), &Value::from(14)));

    let summary = summarise(&mut Reader::new(Cursor::new(bytes.as_slice())).unwrap(), &mut || {}).unwrap();
    let all = &summary.threads["(no name)"];
    assert_eq!((all.count, all.running, all.lending, all.dispatches, all.borrowed), (2, 30, 10, 1, 1));
    assert_eq!(summary.processors[&300].switches, 2);
}

/// The fields of a message with their numbers: varints and eight bytes as numbers, others as bytes.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Result<u64, &[u8]>)> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = bytes[0];
            *bytes = &bytes[1..];
            number |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return number;
            }
        }
    }
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let value = match key & 7 {
            0 => Ok(varint(&mut bytes)),
            1 => {
                let (number, rest) = bytes.split_at(8);
                bytes = rest;
                Ok(u64::from_le_bytes(number.try_into().unwrap()))
            }
            2 => {
                let length = varint(&mut bytes) as usize;
                let (value, rest) = bytes.split_at(length);
                bytes = rest;
                Err(value)
            }
            other => panic!("type {other}"),
        };
        fields.push((key >> 3, value));
    }
    fields
}

#[test]
fn perfetto_s_packets_name_their_tracks_and_close_their_slices() {
    let records = [
        new(5, 1, What::New, 0, 0),
        new(10, 1, What::Dispatched, 4, 14),
        value(12, 0, Said::Int(-3)),
        new(20, 1, What::Exited, 0, 0),
    ];
    let bytes = written(&records);
    let mut out = Vec::new();
    export_perfetto(&mut Reader::new(Cursor::new(bytes.as_slice())).unwrap(), &mut out, &mut || {}).unwrap();
    let (mut tracks, mut open, mut counted, mut lines) = (BTreeMap::new(), Vec::new(), Vec::new(), 0);
    for (field, packet) in fields(&out) {
        assert_eq!(field, 1);
        let packet = fields(packet.unwrap_err());
        let get = |fields: &[(u64, Result<u64, &[u8]>)], number: u64| {
            fields.iter().find(|(field, _)| *field == number).and_then(|(_, value)| value.ok())
        };
        let part = |number: u64| packet.iter().find(|(field, _)| *field == number).map(|(_, value)| value.unwrap_err());
        assert_eq!(get(&packet, 10), Some(1));
        if let Some(track) = part(60) {
            let track = fields(track);
            let name = track.iter().find(|(field, _)| *field == 2).unwrap().1.unwrap_err();
            tracks.insert(get(&track, 1).unwrap(), String::from_utf8(name.to_vec()).unwrap());
        }
        if let Some(event) = part(11) {
            let event = fields(event);
            let track = tracks[&get(&event, 11).unwrap()].clone();
            let at = get(&packet, 8).unwrap();
            match get(&event, 9).unwrap() {
                1 => open.push((track, at)),
                2 => {
                    let (name, since) = open.pop().unwrap();
                    assert!(name == track && since <= at);
                }
                4 => counted.push((track, at, get(&event, 30).unwrap() as i64)),
                other => panic!("event of type {other}"),
            }
            lines += event.iter().filter(|(field, _)| *field == 4).count();
        }
    }
    assert!(open.is_empty());
    assert!(tracks.values().any(|name| name == "thread 1") && tracks.values().any(|name| name == "processor 300"));
    assert_eq!(counted, [("ready threads".to_owned(), 5, 2), ("tickets".to_owned(), 12, -3)]);
    assert_eq!(lines, 6, "handler, line and source of a turn and of a stay");
}

#[test]
fn the_first_decision_that_differs_is_found_with_its_cause() {
    let run = |who: u32, line: u32| {
        let mut records = vec![new(0, 1, What::New, 0, 0), new(0, 2, What::New, 0, 0)];
        for (time, thread) in [(10, 1), (20, who)] {
            records.push(new(time, thread, What::Dispatched, 4, line));
            records.push(new(time + 5, thread, What::SwitchedOut, 0, 0));
        }
        written(&records)
    };
    let (one, other) = (run(1, 14), run(2, 15));
    let open = |bytes: &Vec<u8>| Reader::new(Cursor::new(bytes.clone())).unwrap();
    let found = compare(&mut open(&one), &mut open(&other), false, &mut || {}).unwrap();
    let Comparison::Different { same: 1, one: Some(left), other: Some(right) } = found else { panic!("{found:?}") };
    assert_eq!((left.thread.as_str(), left.because.as_str()), ("thread 1", "schedule, lottery.sched:14"));
    assert_eq!((right.thread.as_str(), right.because.as_str()), ("thread 2", "schedule, lottery.sched:15"));
    assert_eq!(left.before.len(), 4);
    let same = compare(&mut open(&one), &mut open(&one), false, &mut || {}).unwrap();
    assert_eq!(same, Comparison::Same { decisions: 2, apart: 0 });
}

#[test]
fn what_threads_did_is_a_scenario_that_can_be_read() {
    let records = [
        new(0, 1, What::New, 0, 0),
        Record { ready: None, ..new(0, 1, What::Named { part: 0, bytes: *b"9 lives, {a}\0\0\0\0" }, 0, 0) },
        new(10, 1, What::Dispatched, 4, 14),
        new(20, 1, What::Preempted, 0, 0),
        new(30, 1, What::Dispatched, 4, 14),
        new(35, 1, What::Blocked(Reason::Lock), 5, 0),
        new(55, 1, What::Raised, 0, 0),
        new(55, 2, What::New, 0, 0),
        new(60, 1, What::Dispatched, 0, 0),
        new(61, 1, What::SwitchedOut, 0, 0),
        new(61, 2, What::Dispatched, 0, 0),
        new(71, 2, What::Blocked(Reason::Sleep), 0, 0),
        new(75, 2, What::Raised, 0, 0),
        new(76, 2, What::Exited, 0, 0),
    ];
    let bytes = written(&records);
    let found = replay(&mut Reader::new(Cursor::new(bytes.as_slice())).unwrap(), 100, &mut || {}).unwrap();
    let expected = "scenario recorded {
  duration 76ns;
  processors 301;
  seed 1099511627776;
  thread thread_9_lives___a_ { run 15ns; block lock 20ns; run 1ns; yield; }
  thread thread_2 at 55ns { run 10ns; sleep 4ns; }
}
";
    assert_eq!(found.scenario.split_once('\n').unwrap().1, expected);
    assert_eq!((found.threads, found.phases, found.left_at), (2, 6, None));
    let mut diagnostics = catapults_compiler::diagnostics::Diagnostics::new();
    let source = catapults_compiler::source::Source::new("recorded.scenario", &found.scenario);
    assert_eq!(catapults_compiler::scenario::read(&source, &mut diagnostics).len(), 1);
    assert!(!diagnostics.has_errors());
    let left = replay(&mut Reader::new(Cursor::new(bytes.as_slice())).unwrap(), 2, &mut || {}).unwrap();
    assert!(left.left_at.is_some());
}

#[test]
fn times_that_make_no_sense_have_a_place() {
    let line = |time: &str| format!("x:1 [0] {time}: sched_wakeup: x:1 [120]\n");
    let said = |times: &[&str]| {
        let text: String = times.iter().map(|time| line(time)).collect();
        import_linux(&mut text.as_bytes(), Cursor::new(Vec::new()), &mut |_| {})
            .map(|imported| imported.events)
            .map_err(|wrong| wrong.to_string())
    };
    assert_eq!(said(&["20.5", "10.6", "30.0"]), Ok(3), "processors are recorded one by one");
    assert!(said(&["20.5", "10.4"]).unwrap_err().starts_with("line 2: its time is more than 10 s before"));
    assert!(
        said(&["1.0", "2.0", "18446744073.0"]).unwrap_err().starts_with("line 3: its time is more than 73 years after")
    );
    assert_eq!(said(&["18446744073709551615.9", "99999999999999999999.1", "-5.0"]), Ok(0), "these are no times");
    assert_eq!(said(&["18446744073.709551615"]), Ok(1), "one instant alone is as good as any");

    let late = file(2, 2, &[(10, 1, 1, 0, b""), (u64::MAX, 1, 7, 0, b"")]);
    let wrong = read(&late).map(drop).unwrap_err();
    assert!(wrong.to_string().ends_with("at byte 96: the record is more than 73 years after the first one"), "{wrong}");
}

/// Each thread was ready and ran for the longest time that can be recorded.
#[test]
fn sums_of_times_end_at_the_highest_number() {
    let long = u64::MAX / 8;
    let mut records: Vec<(u64, u32, u16, u16, &[u8])> = (1..=20).map(|thread| (0, thread, 1, 0, &b""[..])).collect();
    records.extend((1..=20).map(|thread| (long, thread, 7, 0, &b""[..])));
    let bytes = file(40, 40, &records);
    let summary = summarise(&mut Reader::new(Cursor::new(bytes.as_slice())).unwrap(), &mut || {}).unwrap();
    assert_eq!(summary.threads["(no name)"].ready, u64::MAX);
}

/// A name of 65,536 parts once took minutes, because each part put the whole name together again.
#[test]
fn long_names_are_not_read_to_their_ends() {
    let mut records = vec![(0, 1, 1, 0, &b""[..])];
    records.extend((0..=u16::MAX).map(|part| (0, 1, 2, part, &b"sixteen letters!"[..])));
    let bytes = file(records.len() as u64, records.len() as u64, &records);
    let mut trace = Reader::new(Cursor::new(bytes.as_slice())).unwrap();
    while trace.next_record().unwrap().is_some() {}
    assert_eq!(trace.name(1).map(str::len), Some(4096));
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&bytes);
    }

    #[test]
    fn no_header_makes_it_panic(capacity in 0u64..20, written: u64, records in proptest::collection::vec(any::<[u8; 32]>(), 0..20)) {
        let mut bytes = file(capacity, written, &[]);
        bytes.extend(records.concat());
        if read(&bytes).is_ok() {
            export(&bytes);
        }
    }

    /// Whatever happens, slices of a track do not overlap, and no processor runs two threads at a time.
    #[test]
    fn slices_do_not_overlap(
        steps in proptest::collection::vec((0u64..50, 1u32..5, 1u16..12, 0u16..9), 1..200),
        lost in 0u64..2,
    ) {
        let mut now = 0;
        let records = steps.into_iter().map(|(pause, thread, kind, detail)| {
            now += pause;
            (now, thread, kind, detail, &b"x"[..])
        });
        let records: Vec<_> = records.collect();
        let count = records.len() as u64;
        let mut bytes = file(count, count + lost * count, &records);
        bytes.truncate(64 + 32 * records.len());
        let json = export(&bytes);
        let mut tracks = BTreeMap::<(u64, u64), Vec<(f64, f64)>>::new();
        for event in json["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "X") {
            let track = (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap());
            let start = event["ts"].as_f64().unwrap();
            tracks.entry(track).or_default().push((start, start + event["dur"].as_f64().unwrap()));
        }
        for slices in tracks.values_mut() {
            slices.sort_by(|one, other| one.partial_cmp(other).unwrap());
            for pair in slices.windows(2) {
                prop_assert!(pair[0].1 <= pair[1].0 + 1e-6, "{pair:?}");
            }
        }
    }

    #[test]
    fn no_text_of_linux_makes_it_panic(lines in proptest::collection::vec("(a|b c)-[0-9]{1,3} \\[[0-9]{1,6}\\] [0-9]{1,20}\\.[0-9]{1,12}: sched_(switch|wakeup): .{0,40}(==>)? ?(next_pid=|a:)?[0-9]{0,12}", 0..8), rest: String) {
        let text = lines.join("\n") + &rest;
        // Times may make no sense.
        if let Err(wrong) = import_linux(&mut text.as_bytes(), Cursor::new(Vec::new()), &mut |_| {}) {
            prop_assert!(matches!(&wrong, Unimported::Input(wrong) if wrong.kind() == std::io::ErrorKind::InvalidData));
            prop_assert!(wrong.to_string().starts_with("line "));
        }
    }
}
