//! The web server as its clients see it: the program as it is built, real sockets, real signals.
//!
//! Every case runs against each of the [`VARIANTS`] (see `server.rs`), so that no answer depends on who runs when, or on how
//! the runtime waits. A file beside this one is a subject; its `CASES` are found by name.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so by panicking"
)]

mod client;
mod life;
mod limits;
mod messages;
mod names;
mod parts;
mod server;
mod site;

use libtest_mimic::{Arguments, Trial};
use server::{Build, VARIANTS, Variant};
use std::sync::Arc;

/// What a case is given: how to start the server.
pub struct Setup {
    /// The programs and policies.
    pub build: Arc<Build>,
    /// Which of them.
    pub variant: &'static Variant,
}

/// Its name, and what it does. A case that fails panics.
pub type Case = (&'static str, fn(&Setup));

fn main() {
    let build = Arc::new(Build::make());
    let subjects = [messages::CASES, names::CASES, parts::CASES, limits::CASES, life::CASES];
    let mut trials = Vec::new();
    for variant in VARIANTS {
        for (name, case) in subjects.into_iter().flatten().filter(|(name, _)| variant.has(name)) {
            let setup = Setup { build: build.clone(), variant };
            trials.push(Trial::test(format!("{} [{}]", name, variant.name), move || {
                case(&setup);
                Ok(())
            }));
        }
    }
    let conclusion = libtest_mimic::run(&Arguments::from_args(), trials);
    drop(build);
    conclusion.exit();
}
