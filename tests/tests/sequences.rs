//! What the sequences of our frameworks say of a thread's life.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

use catapults_compiler::framework::life::Lives;
use catapults_tests::native;

#[test]
fn a_life_follows_the_sequence() {
    let lives = Lives::of(&native());
    let through =
        |events: &[&str]| events.iter().try_fold(None, |life, event| lives.after(life, event).map(Some)).is_some();
    assert!(through(&["newthread", "schedule", "switch_out", "schedule", "block.io.read", "event_raised"]));
    assert!(through(&["newthread", "suspend_thread", "resume_thread", "schedule", "exit"]));
    // The policy may take the processor from a thread, which is asked for or suspended then like any other.
    assert!(through(&["newthread", "schedule", "set_next_thread", "schedule", "suspend_thread", "resume_thread"]));
    // What blocked a thread is over when its event is raised; what is suspended is resumed.
    assert!(!through(&["newthread", "schedule", "block.lock", "resume_thread"]));
    assert!(!through(&["newthread", "suspend_thread", "event_raised"]));
    assert!(!through(&["newthread", "exit"]) && !through(&["schedule"]));
    assert!(lives.alike("block.lock", "block.io.read") && !lives.alike("block.lock", "exit"));
}
