//! Building and running the server.

use crate::Setup;
use crate::client::{Connection, PATIENCE};
use catapults_tests::root;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// One way to run the server.
pub struct Variant {
    /// In the names of tests.
    pub name: &'static str,
    /// Under AddressSanitizer and UBSan.
    pub sanitized: bool,
    /// Built in, or a file.
    policy: Policy,
    io: &'static str,
}

/// Who goes next, and on which host.
enum Policy {
    /// The runtime's own.
    BuiltIn,
    /// Of the library.
    Library(&'static str),
    /// Stock GNU Pth under this file: the same server with a thin layer below.
    Pth(&'static str),
}

/// All of them.
pub const VARIANTS: &[Variant] = &[
    Variant { name: "built-in", sanitized: false, policy: Policy::BuiltIn, io: "io_uring" },
    Variant { name: "fifo, epoll", sanitized: false, policy: Policy::Library("fifo"), io: "epoll" },
    Variant { name: "cow", sanitized: false, policy: Policy::Library("cow"), io: "io_uring" },
    Variant { name: "Pth, figures 9 and 10", sanitized: false, policy: Policy::Pth("tests/figures/cow.sched"), io: "" },
    Variant { name: "cow_fair", sanitized: false, policy: Policy::Library("cow_fair"), io: "epoll" },
    Variant { name: "Pth, cow", sanitized: false, policy: Policy::Pth("policies/cow.sched"), io: "" },
    Variant { name: "Pth, cow_fair", sanitized: false, policy: Policy::Pth("policies/cow_fair.sched"), io: "" },
    Variant { name: "cow, sanitizers", sanitized: true, policy: Policy::Library("cow"), io: "io_uring" },
];

impl Variant {
    /// Whether a case is for it. Figure 9 lets the longest answer go first, against the text of the paper: of short ones that
    /// overtake it promises nothing. `cow.sched` does, on Pth as elsewhere, and so does `cow_fair.sched`, for which it is the only
    /// case that says more than those of `cow.sched`.
    pub fn has(&self, case: &str) -> bool {
        let overtakes = case == "short overtakes long";
        match self.policy {
            Policy::Library("cow_fair") => overtakes,
            Policy::BuiltIn | Policy::Library(_) => true,
            Policy::Pth("tests/figures/cow.sched") => !overtakes,
            Policy::Pth(_) => overtakes,
        }
    }
}

/// The programs and policies, up to date.
pub struct Build {
    plain: PathBuf,
    pth: PathBuf,
    sanitized: PathBuf,
    policies: TempDir,
}

impl Build {
    /// Makes them.
    pub fn make() -> Build {
        let output = root().join("build");
        let make = |target| {
            let folder = root().join("applications/cow");
            let mut command = Command::new("make");
            command.arg("-C").arg(folder).arg("-j2").arg(target).arg(format!("BUILD={}", output.display()));
            // Of a make that runs us: it would be taken for our own.
            let done = command.env_remove("MAKEFLAGS").env_remove("MAKELEVEL").output().expect("make runs");
            assert!(done.status.success(), "CoW does not build:\n{}", String::from_utf8_lossy(&done.stderr));
        };
        make("all");
        make("sanitized");
        let policies = tempfile::tempdir().unwrap();
        let catapults = output.join("bin/catapults");
        for (framework, folder, name) in [
            ("native", "policies", "fifo"),
            ("native", "policies", "cow"),
            ("native", "policies", "cow_fair"),
            ("pth", "policies", "cow"),
            ("pth", "policies", "cow_fair"),
            ("pth", "tests/figures", "cow"),
        ] {
            let mut command = Command::new(&catapults);
            command.args(["build", "--framework", framework]).current_dir(root());
            command.arg(format!("{folder}/{name}.sched"));
            command.arg("--output").arg(policies.path().join(framework).join(folder));
            let done = command.output().unwrap_or_else(|error| {
                panic!("{} does not run ({error}): `make build` makes it", catapults.display())
            });
            assert!(done.status.success(), "{name}.sched:\n{}", String::from_utf8_lossy(&done.stderr));
        }
        let (plain, pth) = (output.join("cow/cow"), output.join("cow/cow-pth"));
        Build { plain, pth, sanitized: output.join("cow/sanitized/cow"), policies }
    }
}

/// A server that runs. Ended, if it still runs, when dropped.
pub struct Server {
    /// Where it listens.
    pub address: SocketAddr,
    child: Child,
    output: BufReader<ChildStdout>,
    messages: TempDir,
}

/// How a server ended.
pub struct End {
    /// Its exit status; `None`: a signal ended it.
    pub code: Option<i32>,
    /// What it wrote to standard output, behind the line that says where it listens.
    pub output: String,
    /// What it wrote to standard error.
    pub messages: String,
}

/// The name of a policy's file, and of the policy.
fn stem(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file).trim_end_matches(".sched")
}

impl Setup {
    /// The program with its environment, and `options` before the directory.
    pub fn command(&self, shell: &str, options: &[&str], site: &Path) -> Command {
        let program = match self.variant.policy {
            Policy::Pth(_) => &self.build.pth,
            Policy::BuiltIn | Policy::Library(_) if self.variant.sanitized => &self.build.sanitized,
            Policy::BuiltIn | Policy::Library(_) => &self.build.plain,
        };
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("{shell} exec \"$@\"")).arg("sh").arg(program).args(options).arg(site);
        command.env("CATAPULTS_IO", self.variant.io).env_remove("CATAPULTS_TRACE").env_remove("CATAPULTS_POLICY");
        command.env_remove("PTH_SCHED").env_remove("PTH_SCHED_STRICT").env_remove("PTH_SCHED_TRACE");
        let policies = self.build.policies.path();
        match self.variant.policy {
            Policy::BuiltIn => {}
            Policy::Library(name) => {
                command.env("CATAPULTS_POLICY", policies.join(format!("native/policies/{name}.so")));
            }
            // As the paper has it (6.2): `.so` is appended.
            Policy::Pth(file) => {
                command.env("PTH_SCHED", policies.join("pth").join(file.trim_end_matches(".sched")));
            }
        }
        command.stdin(Stdio::null());
        command
    }

    /// Starts it on a free port.
    pub fn start(&self, options: &[&str], site: &Path) -> Server {
        self.start_after("", options, site)
    }

    /// Starts it after a command of the shell.
    pub fn start_after(&self, shell: &str, options: &[&str], site: &Path) -> Server {
        let messages = tempfile::tempdir().unwrap();
        let mut command = self.command(shell, &[&["--port", "0"], options].concat(), site);
        let file = fs::File::create(messages.path().join("stderr")).unwrap();
        let mut child = command.stdout(Stdio::piped()).stderr(file).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let said = || fs::read_to_string(messages.path().join("stderr")).unwrap();
        let Some((_, url)) = line.split_once(" at http://") else {
            let _ = child.kill();
            let _ = child.wait();
            panic!("the server said `{line}`, and: {}", said());
        };
        let address = url.split('/').next().unwrap().parse().unwrap();
        let policy = match self.variant.policy {
            Policy::BuiltIn => "fifo (built-in)",
            Policy::Library(name) => name,
            Policy::Pth(file) => stem(file),
        };
        assert!(line.trim_end().ends_with(&format!("under the policy {policy}")), "{line}");
        Server { address, child, output, messages }
    }
}

impl Server {
    /// A connection to it.
    pub fn connect(&self) -> Connection {
        Connection::open(self.address)
    }

    /// Its process.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal.
    pub fn signal(&self, name: &str) {
        let done = Command::new("kill").arg(format!("-{name}")).arg(self.process().to_string()).status().unwrap();
        assert!(done.success(), "kill -{name}");
    }

    /// Waits for its end.
    pub fn wait(mut self) -> End {
        let patience = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < patience, "the server did not end");
            std::thread::sleep(Duration::from_millis(2));
        };
        let mut output = String::new();
        self.output.read_to_string(&mut output).unwrap();
        End { code: status.code(), output, messages: self.messages() }
    }

    /// Tells it to end. It must have had nothing to say.
    pub fn stop(self) -> End {
        self.signal("TERM");
        let end = self.wait();
        assert!(end.messages.is_empty(), "the server said: {}", end.messages);
        assert_eq!(end.code, Some(0), "the exit status");
        end
    }

    /// What it has written to standard error.
    pub fn messages(&self) -> String {
        fs::read_to_string(self.messages.path().join("stderr")).unwrap()
    }

    /// How many descriptors it has open.
    pub fn descriptors(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.process())).unwrap().count()
    }

    /// Its memory, in KiB.
    pub fn memory(&self) -> usize {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").trim().parse().unwrap()
    }

    /// Seconds of processor time that it has used.
    pub fn processor(&self) -> f64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process())).unwrap();
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
        // utime and stime, in ticks of 1/100 s.
        (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let status = self.child.try_wait().unwrap().map_or("runs".to_owned(), |status| format!("ended: {status}"));
            eprintln!("the server {status}; it said: {:?}", self.messages());
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
