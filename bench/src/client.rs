//! The client that makes the load: wrk.

use std::net::SocketAddr;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::files::Served;
use crate::place::{Place, installed};
use crate::process;

/// What is asked of a server, and how.
#[derive(Clone, Debug)]
pub struct Load<'a> {
    /// Clients that each ask, wait for the answer, and ask again.
    pub connections: usize,
    /// For how long; wrk takes whole seconds.
    pub seconds: u32,
    /// Whether each request has a connection of its own.
    pub close: bool,
    /// What they ask for, by weight.
    pub files: &'a [Served],
    /// Where the client runs, with a thread for each.
    pub processors: &'a [usize],
    /// Of the choice among the files.
    pub seed: u64,
}

/// What came of it. Times are in microseconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// Answered in full.
    pub requests: u64,
    /// How long it really took.
    pub microseconds: u64,
    /// Received, headers included.
    pub bytes: u64,
    /// Of the requests, those whose response time is known.
    pub recorded: u64,
    /// Response time: from the sending of a request to the last byte of its answer.
    pub mean: f64,
    /// Half of the responses took no longer.
    pub p50: u64,
    /// 99 of 100 responses took no longer.
    pub p99: u64,
    /// No response took longer.
    pub max: u64,
    /// What went wrong.
    pub errors: Errors,
}

/// How many requests or connections went wrong, by what happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Errors {
    /// No connection.
    pub connect: u64,
    /// The answer broke off.
    pub read: u64,
    /// The request could not be sent.
    pub write: u64,
    /// No answer within ten seconds.
    pub timeout: u64,
    /// Answered with a status of 400 or more.
    pub status: u64,
}

impl Load<'_> {
    /// Makes the load.
    ///
    /// # Errors
    ///
    /// When wrk is not there or does not do as expected. What goes wrong between it and the server is in the outcome.
    pub fn run(&self, place: &Place, address: SocketAddr) -> Result<Outcome> {
        let paths: Vec<String> = self.files.iter().map(|file| format!("{} {:e}", file.path, file.weight)).collect();
        let mut command = process::limited(installed("wrk", "demo")?, self.processors);
        command
            .args(["--timeout", "10s", "--threads", &self.processors.len().to_string()])
            .args(["--connections", &self.connections.to_string(), "--duration", &format!("{}s", self.seconds)])
            .arg("--script")
            .arg(place.source("bench/load.lua"))
            .arg(format!("http://{address}/"))
            .env("LOAD_PATHS", paths.join(";"))
            .env("LOAD_SEED", self.seed.to_string())
            .env("LOAD_CONNECTIONS", self.connections.to_string())
            .env("LOAD_CLOSE", if self.close { "1" } else { "0" });
        let output = command.output().context("cannot start wrk")?;
        let said = String::from_utf8_lossy(&output.stdout);
        let complaint = String::from_utf8_lossy(&output.stderr);
        let result = said.lines().find_map(|line| line.strip_prefix("RESULT "));
        let Some(result) = result.filter(|_| output.status.success()) else {
            bail!("wrk gave no result ({}):\n{}{}", process::ending(output.status), said, complaint);
        };
        let outcome: Outcome = serde_json::from_str(result).with_context(|| format!("wrk's result: {result}"))?;
        if outcome.recorded + outcome.errors.timeout != outcome.requests {
            bail!("wrk counts {} requests, and {} response times", outcome.requests, outcome.recorded);
        }
        if outcome.requests == 0 {
            bail!("not one request was answered in {} s: {}", self.seconds, outcome.errors);
        }
        Ok(outcome)
    }
}

impl Outcome {
    /// Requests answered in a second.
    pub fn rate(&self) -> f64 {
        self.requests as f64 * 1e6 / self.microseconds as f64
    }
}

impl std::fmt::Display for Errors {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kinds = [
            (self.status, "with a status of 400 or more"),
            (self.timeout, "timed out"),
            (self.connect, "not connected"),
            (self.read, "broken off"),
            (self.write, "not sent"),
        ];
        let parts: Vec<String> =
            kinds.iter().filter(|kind| kind.0 > 0).map(|kind| format!("{} {}", kind.0, kind.1)).collect();
        if parts.is_empty() { write!(out, "no errors") } else { write!(out, "{}", parts.join(", ")) }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::path::Path;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::{Duration, Instant};

    use super::*;

    static ANSWERED: AtomicU64 = AtomicU64::new(0);
    static MICROSECONDS: AtomicU64 = AtomicU64::new(0);

    /// Every tenth answer comes late: samples added for requests that nobody sent would double the mean.
    fn answer(mut stream: TcpStream) -> std::io::Result<()> {
        let mut buffer = [0; 1024];
        for number in 0.. {
            if stream.read(&mut buffer)? == 0 {
                break;
            }
            let start = Instant::now();
            std::thread::sleep(Duration::from_millis(if number % 10 == 9 { 100 } else { 5 }));
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")?;
            MICROSECONDS.fetch_add(start.elapsed().as_micros() as u64, Ordering::Relaxed);
            ANSWERED.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    #[test]
    fn response_times_are_those_that_clients_saw() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                std::thread::spawn(move || answer(stream));
            }
        });
        let place = Place::at(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap();
        let files = [Served { path: "/".to_owned(), bytes: 2, weight: 1.0 }];
        let client = [process::Processors::first_two().unwrap().client];
        let load = Load { connections: 8, seconds: 1, close: false, files: &files, processors: &client, seed: 0 };
        // On a machine with other work each side waits for a processor in times that the other does not see. That is chance;
        // a mistake would be there each time.
        let mut seen = String::new();
        for _ in 0..5 {
            let before = [&MICROSECONDS, &ANSWERED].map(|sum| sum.load(Ordering::Relaxed));
            let outcome = load.run(&place, address).unwrap();
            assert_eq!(outcome.errors, Errors::default());
            let after = [&MICROSECONDS, &ANSWERED].map(|sum| sum.load(Ordering::Relaxed));
            let truth = (after[0] - before[0]) as f64 / (after[1] - before[1]) as f64;
            if (0.8..1.3).contains(&(outcome.mean / truth)) && outcome.p50 < 50_000 && outcome.p99 >= 100_000 {
                return;
            }
            seen += &format!("wrk saw {outcome:?} where the server saw {truth} µs\n");
        }
        panic!("{seen}");
    }
}
