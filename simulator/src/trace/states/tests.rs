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
