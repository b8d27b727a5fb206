use std::io::Cursor;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use prost::Message;

use super::*;
use crate::trace::{Reader, What};

/// Puts each packet as in a file.
fn file(packets: &[Packet]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for packet in packets {
        bytes.push(0x0a);
        bytes.extend(packet.encode_length_delimited_to_vec());
    }
    bytes
}

fn packet(cpu: u32, events: Vec<FtraceEvent>, compact: Option<Compact>) -> Packet {
    bundled(&Bundle { cpu, lost_events: false, compact }, &events)
}

fn bundled(bundle: &Bundle, events: &[FtraceEvent]) -> Packet {
    let mut bytes = bundle.encode_to_vec();
    for event in events {
        message::encode(FTRACE_EVENT, event, &mut bytes);
    }
    Packet { ftrace_events: Some(bytes), ..Packet::default() }
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn compressed(bytes: &[u8]) -> Packet {
    Packet { compressed: Some(deflated(bytes)), ..Packet::default() }
}

fn refused(packets: &[Packet]) -> String {
    import_perfetto(&mut file(packets).as_slice(), Cursor::new(Vec::new()), &mut |_| {}).unwrap_err().to_string()
}

fn switch(timestamp: u64, (prev_pid, prev_state): (i32, i64), next_pid: i32) -> FtraceEvent {
    let name = |pid| format!("thread-{pid}");
    let (prev_comm, next_comm) = (name(prev_pid), name(next_pid));
    let switch = Switch { prev_comm, prev_pid, prev_state, next_comm, next_pid };
    FtraceEvent { timestamp, switch: Some(switch), ..FtraceEvent::default() }
}

fn imported(bytes: &[u8]) -> Result<(Imported, Vec<String>), Unimported> {
    let mut out = Cursor::new(Vec::new());
    let mut lengths = 0;
    let imported = import_perfetto(&mut Cursor::new(bytes), &mut out, &mut |length| lengths += length)?;
    assert_eq!(lengths, bytes.len() as u64);
    let mut trace = Reader::new(Cursor::new(out.get_ref())).unwrap();
    let mut lines = Vec::new();
    while let Some(record) = trace.next_record().unwrap() {
        if !matches!(record.what, What::New | What::Named { .. }) {
            let word = record.what.word();
            lines.push(format!("{} {} {} {word}", record.time_ns, record.processor, record.thread));
        }
    }
    Ok((imported, lines))
}

/// The second processor's events come between those of the first, but after them in the file.
#[test]
fn bundles_that_overlap_are_sorted_by_time() {
    let one = packet(0, vec![switch(10, (0, 0), 5), switch(40, (5, 1), 0)], None);
    let other = packet(1, vec![switch(20, (0, 0), 6), switch(30, (6, 0x100), 7), switch(50, (7, 0x10), 0)], None);
    let (imported, lines) = imported(&file(&[one, other])).unwrap();
    assert_eq!(imported.events, 5);
    let expected =
        ["10 0 5 dispatched", "20 1 6 dispatched", "30 1 6 preempted", "30 1 7 dispatched", "40 0 5 blocked"];
    assert_eq!(lines[..5], expected);
    assert_eq!(lines[5..], ["40 0 0 idle", "50 1 7 exited", "50 1 0 idle"]);
}

/// A compact switch ends the thread that ran there before, even if that began in another bundle.
#[test]
fn compact_switches_end_whoever_ran() {
    let compact = Compact {
        intern_table: vec!["a".to_owned(), "b".to_owned()],
        switch_timestamp: vec![100, 10, 10],
        switch_prev_state: vec![0, 2, 0],
        switch_next_pid: vec![5, 6, 5],
        switch_next_comm_index: vec![0, 1, 0],
        waking_timestamp: vec![115],
        waking_pid: vec![5],
        waking_comm_index: vec![0],
    };
    let more = Compact {
        intern_table: vec!["b".to_owned()],
        switch_timestamp: vec![130],
        switch_prev_state: vec![0],
        switch_next_pid: vec![6],
        switch_next_comm_index: vec![0],
        ..Compact::default()
    };
    let (_, lines) =
        imported(&file(&[packet(0, Vec::new(), Some(compact)), packet(0, Vec::new(), Some(more))])).unwrap();
    let expected = [
        "100 0 5 dispatched",
        "110 0 5 blocked",
        "110 0 6 dispatched",
        "115 0 5 raised",
        "120 0 6 switched-out",
        "120 0 5 dispatched",
        "130 0 5 switched-out",
        "130 0 6 dispatched",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn what_is_cut_off_or_senseless_is_said_with_its_place() {
    let whole = file(&[packet(0, vec![switch(10, (0, 0), 5)], None), packet(1, vec![switch(20, (0, 0), 6)], None)]);
    let first = file(&[packet(0, vec![switch(10, (0, 0), 5)], None)]).len();
    for length in 0..whole.len() {
        let result = imported(&whole[..length]);
        match length {
            0 => assert_eq!(result.unwrap().0, Imported::default()),
            _ if length == first => assert_eq!(result.unwrap().0.events, 1),
            _ => assert!(result.unwrap_err().to_string().contains("at byte"), "{length}"),
        }
    }
    let too_long = [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f];
    assert!(imported(&too_long).unwrap_err().to_string().contains("too many for one"));
    assert!(imported(b"\x12\x00").unwrap_err().to_string().contains("byte 0: something else"));
}

#[test]
fn lost_events_are_missing_before_their_bundle() {
    let gap = bundled(&Bundle { cpu: 0, lost_events: true, compact: None }, &[switch(40, (6, 1), 0)]);
    let (imported, lines) = imported(&file(&[packet(0, vec![switch(10, (0, 0), 5)], None), gap])).unwrap();
    assert_eq!((imported.events, imported.lost[&0].times, imported.lost[&0].more), (2, 1, true));
    assert_eq!(lines[..2], ["10 0 5 dispatched", "40 0 0 lost"]);
    let far = packet(70_000, vec![switch(10, (0, 0), 5)], None);
    assert!(refused(&[far]).ends_with("processor 70000 is more than there can be"));
}

#[test]
fn what_is_compressed_is_read_as_if_it_were_not() {
    let packets = [
        packet(0, vec![switch(10, (0, 0), 5), switch(40, (5, 1), 0)], None),
        packet(1, vec![switch(20, (0, 0), 6)], None),
        packet(1, vec![switch(30, (6, 0x100), 7)], None),
    ];
    let expected = imported(&file(&packets)).unwrap();
    assert_eq!(expected.0.events, 4);
    let (first, rest) = (file(&packets[..1]), file(&packets[1..]));
    for each in [vec![compressed(&file(&packets))], vec![compressed(&first), compressed(&[]), compressed(&rest)]] {
        assert_eq!(imported(&file(&each)).unwrap(), expected);
    }
    let beside = [packets[0].clone(), compressed(&rest)];
    assert_eq!(imported(&file(&beside)).unwrap(), expected);
}

#[test]
fn what_is_compressed_and_cannot_be_read_is_said_with_its_place() {
    let first = packet(0, vec![switch(10, (0, 0), 5)], None);
    let at = file(std::slice::from_ref(&first)).len();
    let said = |packed: Vec<u8>| refused(&[first.clone(), Packet { compressed: Some(packed), ..Packet::default() }]);
    let whole = deflated(&file(&[packet(1, vec![switch(20, (0, 0), 6)], None)]));
    for length in 0..whole.len() {
        let said = said(whole[..length].to_vec());
        assert!(said.contains(&format!("at byte {at}: what is compressed in it cannot be read")), "{length}: {said}");
    }
    // Damages the checksum.
    let mut other = whole.clone();
    *other.last_mut().unwrap() ^= 1;
    assert!(said(other).contains("cannot be read"));
    assert!(said(b"no zlib".to_vec()).contains("cannot be read"));
    assert!(said(deflated(b"no packets")).contains("something else is there"));
    let again = compressed(&file(&[compressed(&[])]));
    assert!(said(again.compressed.unwrap()).ends_with("is compressed again"));
}

/// A few bytes that expand to very many are refused at once.
#[test]
fn a_compressed_packet_may_not_become_more_than_so_much() {
    let others = file(&[Packet { zstd_compressed: Some(vec![0; 1 << 20]), ..Packet::default() }]);
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    for _ in 0..MOST_INFLATED >> 20 {
        encoder.write_all(&others).unwrap();
    }
    let packed = encoder.finish().unwrap();
    assert!(packed.len() < 1 << 20);
    let said = refused(&[Packet { compressed: Some(packed), ..Packet::default() }]);
    assert!(said.ends_with("what is compressed in it is more than 128 MiB"), "{said}");
}

#[test]
fn names_have_an_end() {
    let mut names = Names::default();
    let long = names.number(&"n\u{e4}me".repeat(1000));
    assert_eq!(names.names[long as usize], "n\u{e4}me".repeat(12) + "n\u{e4}m");
}

#[test]
fn texts_are_no_packets() {
    let packets = file(&[packet(0, vec![switch(1_000_000_000, (0, 0), 5)], None)]);
    assert!(is_perfetto(&packets));
    assert!(!is_perfetto(b"\n# tracer: nop\n#\n web-812 [003] d..2. 1234.567890: sched_switch: prev_comm=web"));
    assert!(!is_perfetto(b""));
}

/// What numbers for states stand for follows from the kernel's release or the numbers. Uncertainty is reported.
#[test]
fn states_are_of_the_kernel_that_recorded_them() {
    let kernel = |release: &str| Packet {
        system: Some(System { kernel: Some(Kernel { release: release.to_owned() }) }),
        ..Packet::default()
    };
    let events = |state| packet(0, vec![switch(1, (7, state), 8), switch(2, (8, 2), 7)], None);
    let of = |release: Option<&str>, packets: &[Packet]| {
        let all: Vec<Packet> = release.map(kernel).into_iter().chain(packets.iter().cloned()).collect();
        let (imported, lines) = imported(&file(&all)).unwrap();
        (
            imported.uncertain_states.is_some(),
            lines.iter().any(|line| line == "1 0 7 preempted" || line == "1 0 7 switched-out"),
        )
    };
    // 1 sleeps; but from 4.14 to 4.19 it could go on, unless the kernel was corrected.
    assert_eq!(of(Some("5.10.43-android12"), &[events(1)]), (false, false));
    assert_eq!(of(Some("4.9.0"), &[events(1)]), (false, false));
    assert_eq!(of(None, &[events(1)]), (true, false));
    assert_eq!(of(Some("4.14.2"), &[events(1)]), (true, false));
    let idle = packet(1, vec![switch(1, (0, 1), 9)], None);
    assert_eq!(of(Some("4.14.2"), &[events(1), idle.clone()]), (false, true));
    assert_eq!(of(None, &[events(1), idle]), (false, true));
    // In this kernel, running threads have 0.
    assert_eq!(of(None, &[events(0)]), (false, true));
    assert_eq!(of(Some("6.1"), &[events(256)]), (false, true));
    // Here, 256 stands for something else.
    let idle = packet(1, vec![switch(1, (0, 1), 9)], None);
    assert_eq!(of(Some("4.19.1"), &[events(256), idle]), (false, false));
}
