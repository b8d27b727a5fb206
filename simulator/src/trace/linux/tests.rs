use std::io::{Cursor, SeekFrom};

use super::*;
use crate::trace::{Reader, summarise};

fn imported(text: &str) -> (Imported, Vec<u8>) {
    let mut out = Cursor::new(Vec::new());
    let imported = import_linux(&mut text.as_bytes(), &mut out, &mut |_| {}).unwrap();
    (imported, out.into_inner())
}

/// The threads that ran and were ready, in milliseconds.
fn times(trace: &[u8], name: &str) -> [u64; 3] {
    let summary = summarise(&mut Reader::new(Cursor::new(trace)).unwrap(), &mut || {}).unwrap();
    let thread = &summary.threads[name];
    [thread.running, thread.ready, thread.blocked].map(|time| time / 1_000_000)
}

const WAITS: &str =
    " <idle>-0 [000] d..2. 1.000: sched_switch: prev_comm=swapper prev_pid=0 prev_state=R ==> next_comm=a next_pid=1
 a-1 [000] d..2. 1.010: sched_switch: prev_comm=a prev_pid=1 prev_state=S ==> next_comm=b next_pid=2
 WOKEN
 b-2 [000] d..2. 1.050: sched_switch: prev_comm=b prev_pid=2 prev_state=S ==> next_comm=a next_pid=1
 a-1 [000] d..2. 1.060: sched_switch: prev_comm=a prev_pid=1 prev_state=X ==> next_comm=swapper next_pid=0
";

/// Newer kernels and `perf sched record` tell of the one, older ones of the other; where both are told the first counts.
#[test]
fn who_is_woken_is_ready() {
    let waking = "b-2 [000] d..2. 1.020: sched_waking: comm=a pid=1 prio=120 target_cpu=000";
    let of_perf = "b 2 [000] 1.020: sched:sched_waking: comm=a pid=1 prio=120 target_cpu=000";
    let wakeup = "b 2 [000] 1.020: sched:sched_wakeup: a:1 [120] CPU:000";
    let later = waking.replace("1.020", "1.030").replace("waking", "wakeup");
    for told in [waking, of_perf, wakeup, &format!("{waking}\n{later}")] {
        let (imported, trace) = imported(&WAITS.replace("WOKEN", told));
        assert_eq!((imported.unreadable, imported.unwoken, imported.contradictions), (0, 0, 0), "{told}");
        assert!(imported.wakeups > 0);
        assert_eq!(times(&trace, "a"), [20, 30, 10], "{told}");
    }
    let (imported, trace) = imported(&WAITS.replace("WOKEN", ""));
    assert_eq!((imported.wakeups, imported.unwoken), (0, 1));
    assert_eq!(times(&trace, "a"), [20, 0, 40]);
}

#[test]
fn nobody_is_woken_who_is_no_thread() {
    let (imported, trace) = imported("a-1 [000] d..2. 1.020: sched_waking: comm=swapper pid=0 prio=120\n");
    assert_eq!((imported.wakeups, imported.records), (0, 0));
    assert_eq!(Reader::new(Cursor::new(trace.as_slice())).unwrap().left(), 0);
}

#[test]
fn names_can_be_like_what_stands_between_them() {
    let told = |line: &str| match event(line).unwrap().what {
        Happened::Switch { from, to, state } => {
            format!("{} {} {state} > {} {}", from.name, from.number, to.name, to.number)
        }
        Happened::Wakeup(task) => format!("{} {}", task.name, task.number),
    };
    let switch = |from: &str, to: &str| {
        let full = format!(
            "x-1 [0] d. 1.0: sched_switch: prev_comm={from} prev_pid=812 prev_prio=1 prev_state=S ==> next_comm={to} next_pid=9 next_prio=1"
        );
        let brief = format!("x 1 [000] 1.0: sched:sched_switch: {from}:812 [120] S ==> {to}:9 [120]");
        [told(&full), told(&brief)]
    };
    for (from, to) in
        [("a", "b"), ("a ==> b", "b ==> a"), ("k/0:1 x ==> y", "==>"), ("==> ", "x:1 [120]"), ("a=>b", "a b")]
    {
        let expected = format!("{from} 812 S > {to} 9");
        let [full, brief] = switch(from, to);
        assert_eq!(full, expected);
        // There the name ends at the first bracket, and has no blanks around it.
        if !to.contains('[') && from.trim() == from {
            assert_eq!(brief, expected);
        }
    }
    assert_eq!(told("x-1 [0] d. 1.0: sched_waking: comm=a pid=1 pid=5 prio=1 target_cpu=000"), "a pid=1 5");
}

/// What cannot be is counted, and the first of it told: who runs twice, who leaves a processor where another runs, time that goes back.
#[test]
fn contradictions_have_a_place() {
    let switch = |processor: u16, time: &str, from: u32, to: u32| {
        format!("x [{processor:03}] {time}: sched_switch: t{from}:{from} [120] S ==> t{to}:{to} [120]\n")
    };
    let first = |lines: &[String]| {
        let (imported, _) = imported(&lines.concat());
        let first = imported.first_contradiction.map(|first| (first.line.unwrap(), first.what));
        (imported.contradictions, first)
    };
    assert_eq!(first(&[switch(0, "1.0", 0, 1), switch(0, "1.1", 1, 2), switch(1, "1.2", 0, 1)]), (0, None));
    let twice = [switch(0, "1.0", 0, 1), switch(1, "1.1", 0, 1)];
    let said = "thread 1 runs on processor 0, and begins to on 1".to_owned();
    assert_eq!(first(&twice), (1, Some((2, said))));
    let other = [switch(0, "1.0", 0, 1), switch(0, "1.1", 2, 3), switch(0, "1.2", 0, 1)];
    let said = "thread 2 leaves processor 0, where thread 1 runs".to_owned();
    assert_eq!(first(&other), (2, Some((2, said))));
    let back = [switch(0, "1.0", 0, 1), switch(1, "0.9", 0, 2), switch(0, "0.8", 1, 0)];
    assert_eq!(first(&back), (1, Some((3, "the time goes back on processor 0".to_owned()))));
    let lost = [switch(0, "1.0", 0, 1), "CPU:0 [LOST 3 EVENTS]\n".to_owned(), switch(0, "1.1", 2, 3)];
    assert_eq!(first(&lost), (0, None), "it may have been so");
}

#[test]
fn a_line_without_an_end_is_refused() {
    let refused = |mut text: &[u8]| import_linux(&mut text, Cursor::new(Vec::new()), &mut |_| {}).unwrap_err();
    let mut text = b"# tracer: nop\n".to_vec();
    text.resize(2 << 20, 0);
    assert!(matches!(refused(&text), Unimported::Endless(2)));
    let mut endless = io::BufReader::new(io::repeat(0));
    let refused = import_linux(&mut endless, Cursor::new(Vec::new()), &mut |_| {}).unwrap_err();
    assert!(matches!(refused, Unimported::Endless(1)));
}

/// It is the trace that cannot be written.
#[test]
fn a_full_disk_is_not_the_recording_s_fault() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    impl Seek for Full {
        fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
            Ok(0)
        }
    }
    let refused = import_linux(&mut WAITS.as_bytes(), Full, &mut |_| {}).unwrap_err();
    assert!(matches!(refused, Unimported::Output(_)));
}
