//! Loads by sysbench, and what clients see of them.

use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use super::server::Data;
use crate::place::installed;
use crate::process;
use crate::results::Goal;
use crate::statistics::median;

/// A kind of load, and what a policy is to gain there.
pub struct Load {
    pub name: &'static str,
    /// The policy for it.
    pub policy: &'static str,
    /// sysbench's script, its options, and how many connections there are.
    clients: (&'static str, &'static [&'static str], u32),
    /// Long queries beside it.
    reports: Option<(&'static str, &'static [&'static str], u32)>,
    /// How many times as many transactions, or reports if there are some, as under the kernel's scheduler at least; and how many times
    /// the 99th percentile at most.
    gains: (f64, f64),
}

/// The loads, and the figures that are to be reached.
pub const LOADS: [Load; 3] = [
    Load {
        name: "uniform",
        policy: "feedback",
        clients: ("oltp_read_write", &["--rand-type=uniform"], 200),
        reports: None,
        gains: (1.10, 0.5),
    },
    Load {
        name: "hot-rows",
        policy: "feedback",
        clients: ("oltp_read_write", &["--rand-type=pareto"], 200),
        reports: None,
        gains: (1.0, 0.5),
    },
    Load {
        name: "selects-beside-reports",
        policy: "feedback",
        clients: ("oltp_point_select", &["--rand-type=uniform"], 190),
        reports: Some(("oltp_read_only", REPORT, 10)),
        gains: (0.9, 0.2),
    },
];

/// A sum over many rows, and nothing else.
const REPORT: &[&str] = &[
    "--skip-trx=on",
    "--point-selects=0",
    "--simple-ranges=0",
    "--sum-ranges=1",
    "--order-ranges=0",
    "--distinct-ranges=0",
    "--range-size=40000",
];

/// In all.
pub const TABLES: u32 = 4;
const ROWS: u32 = 50_000;

/// What clients saw.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// Transactions in a second.
    pub rate: f64,
    /// Milliseconds.
    pub mean: f64,
    pub p99: f64,
    /// Reports in a second, where there are some.
    pub reports: Option<f64>,
}

impl Load {
    /// Makes it for so many seconds.
    ///
    /// # Errors
    ///
    /// When sysbench fails.
    pub fn make(&self, data: &Data, seconds: u32) -> Result<Measured> {
        let begun = |(script, options, connections): (&str, &[&str], u32)| -> Result<Child> {
            let mut command = sysbench(data, script, connections, seconds)?;
            command.args(options).arg("run").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().context("cannot start sysbench")
        };
        let reports = self.reports.map(begun).transpose()?;
        let clients = begun(self.clients)?;
        let (mut measured, reports) = (said(clients)?, reports.map(said).transpose()?);
        measured.reports = reports.map(|reports| reports.rate);
        Ok(measured)
    }

    /// Both hosts' repeats.
    pub fn goals(&self, kernel: &[Measured], policy: &[Measured]) -> Vec<Goal> {
        let ratio = |of: fn(&Measured) -> f64| {
            let middle = |all: &[Measured]| median(&all.iter().map(of).collect::<Vec<f64>>());
            middle(policy) / middle(kernel)
        };
        let (what, rate) = match self.reports {
            Some(_) => ("reports/s", ratio(|one| one.reports.unwrap_or(f64::NAN))),
            None => ("transactions/s", ratio(|one| one.rate)),
        };
        let goal = |what: &str, value, target, at_most| Goal {
            what: format!("{}: {what}, {} / NPTL", self.name, self.policy),
            value,
            target,
            at_most,
            unit: "×",
            why: None,
        };
        vec![goal(what, rate, self.gains.0, false), goal("p99", ratio(|one| one.p99), self.gains.1, true)]
    }
}

/// One that is told what to do next. It shares the server's processors.
pub fn sysbench(data: &Data, script: &str, connections: u32, seconds: u32) -> Result<Command> {
    let processors = process::Processors::first_two()?;
    let mut command = process::limited(installed("sysbench", "mariadb")?, &[processors.server, processors.client]);
    command.arg(script).args(["--db-driver=mysql", "--mysql-user=root", "--mysql-db=sbtest", "--percentile=99"]);
    command.arg(format!("--mysql-socket={}", data.socket.display()));
    // Deadlocks and the like are the tables', not the server's failure.
    command.arg("--mysql-ignore-errors=1213,1020,1205");
    command.args([format!("--tables={TABLES}"), format!("--table-size={ROWS}")]);
    command.args([format!("--threads={connections}"), format!("--time={seconds}")]);
    Ok(command)
}

fn said(client: Child) -> Result<Measured> {
    let output = client.wait_with_output().context("cannot wait for sysbench")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "sysbench: {}\n{text}{errors}", process::ending(output.status));
    read(&text).with_context(|| format!("sysbench says nothing of what it measured:\n{text}"))
}

/// The lines `transactions: 1234 (123.40 per sec.)`, `avg: 1.23` and `99th percentile: 4.56`.
fn read(text: &str) -> Option<Measured> {
    let after = |what: &str| text.lines().find_map(|line| line.trim().strip_prefix(what)).map(str::trim);
    let rate = after("transactions:")?.split_once('(')?.1.split(' ').next()?.parse().ok()?;
    let number = |what: &str| after(what)?.parse().ok();
    Some(Measured { rate, mean: number("avg:")?, p99: number("99th percentile:")?, reports: None })
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_sysbench_says_is_read() {
        let text = "SQL statistics:\n    transactions:                        1592   (105.83 per sec.)\n    queries: 31\n\nLatency (ms):\n         min:                                    1.50\n         avg:                                   94.23\n         99th percentile:                      223.34\n";
        let read = super::read(text).unwrap();
        assert_eq!((read.rate, read.mean, read.p99), (105.83, 94.23, 223.34));
        assert!(super::read("transactions: none").is_none());
    }
}
