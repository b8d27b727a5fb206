use super::*;

/// Whatever a file says, memory for its threads is bounded.
#[test]
fn no_more_threads_are_followed_than_a_host_can_have() {
    let mut states = States::new(false);
    let mut stays = Vec::new();
    let come = |thread: u32| Record {
        time_ns: u64::from(thread),
        thread,
        processor: 0,
        what: What::New,
        event: 0,
        line: 0,
        ready: None,
    };
    for thread in 1..=MOST_LIVING as u32 {
        states.record(&come(thread), &mut stays).unwrap();
    }
    assert_eq!(states.living(), MOST_LIVING);
    let more = states.record(&come(MOST_LIVING as u32 + 1), &mut stays).unwrap_err();
    assert_eq!(more.to_string(), "more than 1048576 threads live at a time in it");
    assert!(stays.is_empty());
}

/// Nobody wants a thread any more that could run: the one that runs is not disturbed.
#[test]
fn a_thread_that_ends_while_another_runs_takes_nothing_from_it() {
    let mut states = States::new(false);
    let mut stays = Vec::new();
    let of = |time_ns, thread, what| Record { time_ns, thread, processor: 0, what, event: 0, line: 0, ready: None };
    let come = [of(0, 1, What::New), of(0, 2, What::New), of(10, 1, What::Dispatched)];
    for record in come.into_iter().chain([of(20, 2, What::Exited)]) {
        states.record(&record, &mut stays).unwrap();
    }
    assert_eq!(states.state(1), Some(State::Running));
    assert_eq!(states.state(2), None);
    states.record(&of(30, 1, What::Exited), &mut stays).unwrap();
    let ran = Stay {
        whose: Whose::Processor(0, Doing::Running(1)),
        since: 10,
        until: 30,
        cause: Some(of(10, 1, What::Dispatched)),
    };
    assert!(stays.contains(&ran), "{stays:?}");
}
