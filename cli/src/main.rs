//! The catapults command.
fn main() {}
