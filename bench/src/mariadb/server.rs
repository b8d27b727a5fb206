//! The server, on data of its own.

use std::fmt;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde::Serialize;

use super::load::{TABLES, sysbench};
use crate::place::{Place, installed};
use crate::process;

/// Who schedules the server's threads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Host {
    /// NPTL's threads, as always.
    Kernel,
    /// The same, and a policy of the library.
    Policy(String),
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Host::Kernel => f.write_str("NPTL"),
            Host::Policy(policy) => f.write_str(policy),
        }
    }
}

/// What a server serves. It is filled once; each server begins with a copy.
pub struct Data {
    filled: PathBuf,
    copy: PathBuf,
    /// Where the server is to be found.
    pub socket: PathBuf,
}

/// A server that answers.
pub struct Server {
    child: Child,
    log: PathBuf,
}

/// It opens its tables, after a crash too.
const PATIENCE: Duration = Duration::from_secs(60);

impl Data {
    /// Filled now, unless an earlier run has done that.
    ///
    /// # Errors
    ///
    /// When the server is not installed, or does not do as expected.
    pub fn prepared(place: &Place) -> Result<Data> {
        let folder = place.folder("build/mariadb")?;
        // The name of a socket can be 107 bytes long at most.
        let socket = std::env::temp_dir().join(format!("catapults-mariadb-{}.sock", std::process::id()));
        let data = Data { filled: folder.join(format!("filled-{TABLES}")), copy: folder.join("data"), socket };
        if data.filled.exists() {
            return Ok(data);
        }
        eprintln!("mariadb: the tables are filled");
        remove(&data.copy)?;
        let mut install = Command::new(installed("mariadb-install-db", "mariadb")?);
        install.args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"]);
        install.arg("--user").arg(user()).arg(option("--datadir=", &data.copy));
        let done = install.output().context("cannot start mariadb-install-db")?;
        ensure!(done.status.success(), "mariadb-install-db: {}", String::from_utf8_lossy(&done.stderr));
        let server = data.start(place, &Host::Kernel)?;
        let filled = fill(&data);
        let messages = server.end()?;
        filled.context(messages)?;
        fs::rename(&data.copy, &data.filled).context("cannot rename the folder of the tables")?;
        Ok(data)
    }

    /// # Errors
    ///
    /// When it does not begin to answer.
    pub fn serve(&self, place: &Place, host: &Host) -> Result<Server> {
        remove(&self.copy)?;
        let done = Command::new("cp").arg("-r").arg(&self.filled).arg(&self.copy).status()?;
        ensure!(done.success(), "cannot copy {}", self.filled.display());
        self.start(place, host)
    }

    fn start(&self, place: &Place, host: &Host) -> Result<Server> {
        let program = installed("mariadbd", "mariadb")?;
        let processors = process::Processors::first_two()?;
        let both = [processors.server, processors.client];
        let mut command = match host {
            Host::Kernel => process::pinned(&program, &both),
            Host::Policy(policy) => {
                let mut command = process::pinned(place.built("bin/catapults", "build")?, &both);
                command.env("CATAPULTS_FRAMEWORKS", place.source("frameworks")).env("CATAPULTS_PROCESSORS", "2");
                command.arg("run").arg(place.source(&format!("policies/{policy}.sched"))).arg("--").arg(&program);
                command
            }
        };
        command.args([
            "--no-defaults",
            "--skip-networking",
            "--max-connections=400",
            "--back-log=400",
            "--skip-log-bin",
        ]);
        command.args(["--innodb-buffer-pool-size=512M", "--innodb-log-file-size=256M", "--thread-cache-size=400"]);
        command.arg("--user").arg(user()).arg(option("--datadir=", &self.copy)).arg(option("--socket=", &self.socket));
        let log = self.copy.with_extension("log");
        let messages = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
        command.stdin(Stdio::null()).stdout(messages.try_clone()?).stderr(messages);
        let child = command.spawn().context("cannot start setpriv, which `make setup` installs")?;
        let mut server = Server { child, log };
        let patience = Instant::now() + PATIENCE;
        while !self.answers()? {
            if let Some(status) = server.child.try_wait()? {
                bail!("{host}: the server ended before it answered ({status}):\n{}", server.messages());
            }
            if Instant::now() > patience {
                bail!("{host}: the server did not answer within a minute:\n{}", server.messages());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(server)
    }

    fn answers(&self) -> Result<bool> {
        let mut ping = Command::new(installed("mariadb-admin", "mariadb")?);
        ping.args(["--no-defaults", "--user=root", "ping"]).arg(option("--socket=", &self.socket));
        Ok(ping.output().context("cannot start mariadb-admin")?.status.success())
    }
}

impl Server {
    /// Ends it, and says what it had to say.
    ///
    /// # Errors
    ///
    /// When its end cannot be waited for.
    pub fn end(mut self) -> Result<String> {
        process::end(&mut self.child)?;
        Ok(self.messages())
    }

    fn messages(&self) -> String {
        let all = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = all.lines().filter(|line| !line.contains("[Note]")).collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }
}

fn fill(data: &Data) -> Result<()> {
    let mut create = Command::new(installed("mariadb", "mariadb")?);
    create.args(["--no-defaults", "--user=root", "--execute=CREATE DATABASE sbtest"]);
    let done = create.arg(option("--socket=", &data.socket)).output().context("cannot start mariadb")?;
    ensure!(done.status.success(), "mariadb: {}", String::from_utf8_lossy(&done.stderr));
    let done = sysbench(data, "oltp_read_write", 2, 1)?.arg("prepare").output().context("cannot start sysbench")?;
    ensure!(done.status.success(), "sysbench: {}", String::from_utf8_lossy(&done.stdout));
    Ok(())
}

/// Not as root, unless we are: then it must be told.
fn user() -> String {
    std::env::var("USER").unwrap_or_else(|_| "root".to_owned())
}

fn option(name: &str, path: &std::path::Path) -> std::ffi::OsString {
    let mut option = std::ffi::OsString::from(name);
    option.push(path);
    option
}

fn remove(folder: &std::path::Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    Ok(())
}
