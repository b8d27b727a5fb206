//! CoW under the generic policy against nginx with one worker: the same files, each pinned to one processor.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use serde_json::Value;

use crate::client::{Errors, Load, Outcome};
use crate::files;
use crate::place::Place;
use crate::process::Processors;
use crate::results::Goal;
use crate::server::{Cow, Host, Nginx, Server};
use crate::statistics::median;

/// Clients that ask at the same time; CoW gets as many handlers, as each keeps its connection.
const CONNECTIONS: usize = 64;

/// Requests per second of both, `repeats` times `seconds` for each file, the two in turn.
pub fn measure(place: &Place, repeats: u32, seconds: u32) -> Result<(Value, Vec<Goal>)> {
    let processors = Processors::first_two()?;
    let work = place.folder("build/bench/web")?;
    let root = place.folder("build/bench/web/files")?;
    let log = work.join("cow.log");
    let workloads =
        [("4-byte files", files::single(&root, "4", 4)?), ("250 K files", files::single(&root, "250k", 250_000)?)];
    let cow = Cow { on: Host::Native("fifo"), handlers: CONNECTIONS, root: &root, turn: None, trace: None, log: &log };
    let nginx = Nginx { root: &root, work: &work };

    let mut outcomes = BTreeMap::<String, Vec<Outcome>>::new();
    let mut goals = Vec::new();
    for (name, files) in &workloads {
        let load =
            Load { connections: CONNECTIONS, seconds, close: false, files, seed: 0, processors: &[processors.client] };
        let once = |server: Server| -> Result<Outcome> {
            server.warm(files)?;
            let outcome = load.run(place, server.address())?;
            server.stop()?;
            if outcome.errors != Errors::default() {
                bail!("{name}: {} of {} requests", outcome.errors, outcome.requests);
            }
            Ok(outcome)
        };
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for repeat in 0..repeats {
            eprintln!("bench: {name}, CoW and nginx, {} of {repeats}", repeat + 1);
            // Who begins alternates: what changes on the machine meanwhile is shared.
            if repeat % 2 == 0 {
                ours.push(once(cow.start(place, processors)?)?);
                theirs.push(once(nginx.start(processors)?)?);
            } else {
                theirs.push(once(nginx.start(processors)?)?);
                ours.push(once(cow.start(place, processors)?)?);
            }
        }
        let ratios: Vec<f64> = ours.iter().zip(&theirs).map(|(ours, theirs)| ours.rate() / theirs.rate()).collect();
        let rate = |outcomes: &[Outcome]| median(&outcomes.iter().map(Outcome::rate).collect::<Vec<_>>());
        eprintln!("bench:   CoW {:.0}, nginx {:.0} requests/s", rate(&ours), rate(&theirs));
        goals.push(Goal {
            what: format!("CoW / nginx, {name}, requests/s"),
            value: median(&ratios),
            target: 0.9,
            at_most: false,
            unit: "×",
            why: None,
        });
        outcomes.insert(format!("CoW, {name}"), ours);
        outcomes.insert(format!("nginx, {name}"), theirs);
    }
    Ok((serde_json::to_value(&outcomes)?, goals))
}
