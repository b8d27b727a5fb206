use proptest::prelude::*;
use serde_json::Value;

use super::*;

/// The bytes of a file, from its header's numbers and its ring's records as (time, thread, kind, detail, payload).
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

fn export(trace: &Trace) -> Value {
    let mut json = Vec::new();
    export_chrome(trace, &mut json).unwrap();
    serde_json::from_slice(&json).unwrap()
}

/// The slices as "track name from..to" in nanoseconds, in the order of the file.
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
    let trace = read(&bytes).unwrap();
    assert_eq!((trace.policy.as_str(), trace.start_ns, trace.lost), ("fifo", 100, 0));
    let expected = [
        Record { time_ns: 110, thread: 1, processor: 0, what: What::New },
        Record { time_ns: 120, thread: 1, processor: 0, what: What::Blocked(Reason::Sleep) },
    ];
    assert_eq!(trace.records, expected);
}

#[test]
fn a_ring_that_has_come_round_is_read_from_its_oldest_record() {
    let bytes = file(3, 5, &[(140, 1, 4, 0, b""), (150, 2, 3, 0, b""), (130, 1, 3, 0, b"")]);
    let trace = read(&bytes).unwrap();
    assert_eq!(trace.lost, 2);
    assert_eq!(trace.records.iter().map(|record| record.time_ns).collect::<Vec<_>>(), [130, 140, 150]);
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
    let offset_of = |bytes: &[u8]| read(bytes).unwrap_err().offset;
    assert_eq!(offset_of(b""), 0);
    assert_eq!(offset_of(b"CATT"), 0);
    assert_eq!(offset_of(&with(0, b"X")), 0);
    assert_eq!(offset_of(&good[..40]), 40);
    assert_eq!(offset_of(&with(8, &2u32.to_le_bytes())), 8);
    assert_eq!(offset_of(&with(12, &31u32.to_le_bytes())), 12);
    assert_eq!(offset_of(&with(16, &u64::MAX.to_le_bytes())), 16);
    assert_eq!(offset_of(&with(16, &0u64.to_le_bytes())), 16);
    assert_eq!(offset_of(&good[..good.len() - 1]), 16);
    assert_eq!(offset_of(&with(64 + 12, &99u16.to_le_bytes())), 64 + 12);
    assert_eq!(offset_of(&with(64 + 12, &[5, 0, 99, 0])), 64 + 14);
    let backwards = file(2, 2, &[(110, 1, 1, 0, b""), (109, 1, 3, 0, b"")]);
    assert_eq!(offset_of(&backwards), 64 + 32);
    // `written` may be anything: it counts what the ring has long forgotten.
    let ever = file(2, u64::MAX, &[(110, 1, 1, 0, b""), (105, 1, 3, 0, b"")]);
    assert_eq!(read(&ever).unwrap().lost, u64::MAX - 2);
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
    let json = export(&read(&bytes).unwrap());
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
            // What ends the turns is done on the other processor.
            (1030, 2, 4, 0, b""),
            (1040, 0, 11 | P1, 0, b""),
            (1050, 1, 9 | P1, 0, b""),
            (1060, 2, 3, 0, b""),
            (1070, 2, 5, 5, b""),
            (1080, 0, 11, 0, b""),
            (1090, 1, 10 | P1, 0, b""),
        ],
    );
    let json = export(&read(&bytes).unwrap());
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
    assert_eq!(names[2]["args"]["name"], "processor 1");
}

#[test]
fn what_began_before_the_first_record_begins_with_it() {
    let bytes = file(2, 9, &[(1010, 2, 3, 0, b""), (1000, 1, 4, 0, b"")]);
    let json = export(&read(&bytes).unwrap());
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
    let newest = read(&bytes).unwrap().newest(1);
    assert_eq!((newest.lost, newest.records.len()), (1, 2));
    assert_eq!(slices(&export(&newest)), ["p seven (7) 0..0", "7 running 0..0", "7 ready 0..0"]);
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
        if let Ok(trace) = read(&bytes) {
            export(&trace);
        }
    }

    /// Whatever happens in whatever order, slices of a track do not overlap, and the processor never runs two threads.
    #[test]
    fn slices_do_not_overlap(
        steps in proptest::collection::vec((0u64..50, 0u32..4, 1u16..12, 0u16..9), 1..200),
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
        let json = export(&read(&bytes).unwrap());
        let mut tracks = std::collections::BTreeMap::<(u64, u64), Vec<(f64, f64)>>::new();
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
}
