//! Bytes for `tasks` of `catapults_tests::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| catapults_tests::fuzz::run("tasks", bytes));
