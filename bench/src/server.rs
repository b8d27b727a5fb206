//! The servers that are measured.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::files::Served;
use crate::place::{Place, installed};
use crate::process::{self, Processors};

/// A server that runs. Ends when dropped; [`Server::stop`] also tells how it fared.
pub struct Server {
    child: Child,
    address: SocketAddr,
    log: PathBuf,
}

/// Of a server, in seconds. In the sum of the two it had something to do.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// On its processor.
    pub ran: f64,
    /// Ready, while another program had the processor.
    pub waited: f64,
}

/// CoW, ready to be started.
pub struct Cow<'a> {
    /// On which host, and who decides there.
    pub on: Host<'a>,
    /// How many handler threads.
    pub handlers: usize,
    /// The folder that it serves.
    pub root: &'a Path,
    /// Bytes of a response that a handler sends before the others have their turn; `None`: the server's own choice.
    pub turn: Option<u32>,
    /// Where the runtime is to record who ran when.
    pub trace: Option<&'a Path>,
    /// Where its messages go.
    pub log: &'a Path,
}

/// Whose threads a server has.
#[derive(Clone, Copy, Debug)]
pub enum Host<'a> {
    /// The native runtime under a policy of the library: `build/policies/NAME.so`.
    Native(&'a str),
    /// GNU Pth under a policy that is built for it, a file below `build`; without one, Pth's own scheduler.
    Pth(Option<&'a str>),
}

impl Cow<'_> {
    /// Starts it and waits until it answers.
    ///
    /// # Errors
    ///
    /// When it is not built, ends at once, or does not answer in time.
    pub fn start(&self, place: &Place, processors: Processors) -> Result<Server> {
        let program = match self.on {
            Host::Native(_) => place.built("cow/cow", "build")?,
            Host::Pth(_) => place.built("cow/cow-pth", "build")?,
        };
        let port = free_port()?;
        let mut command = process::pinned(program, &[processors.server]);
        command.args(["--port", &port.to_string(), "--handlers", &self.handlers.to_string()]).arg(self.root);
        if let Some(turn) = self.turn {
            command.args(["--chunk", &turn.to_string()]);
        }
        for variable in ["CATAPULTS_POLICY", "PTH_SCHED", "CATAPULTS_TRACE"] {
            command.env_remove(variable);
        }
        match self.on {
            Host::Native(policy) => {
                command.env("CATAPULTS_POLICY", place.built(&format!("policies/{policy}.so"), "build")?)
            }
            Host::Pth(Some(policy)) => command.env("PTH_SCHED", place.built(policy, "experiments")?),
            Host::Pth(None) => &mut command,
        };
        if let Some(trace) = self.trace {
            command.env("CATAPULTS_TRACE", trace);
        }
        Server::start(command, port, self.log)
    }
}

/// nginx with one worker, ready to be started.
pub struct Nginx<'a> {
    /// The folder that it serves.
    pub root: &'a Path,
    /// A folder for its configuration and what it leaves behind.
    pub work: &'a Path,
}

impl Nginx<'_> {
    /// Starts it and waits until it answers.
    ///
    /// # Errors
    ///
    /// When it is not installed, ends at once, or does not answer in time.
    pub fn start(&self, processors: Processors) -> Result<Server> {
        let program = installed("nginx", "bench")?;
        let port = free_port()?;
        let configuration = self.work.join("nginx.conf");
        std::fs::write(&configuration, self.configuration(port))
            .with_context(|| format!("cannot write {}", configuration.display()))?;
        let log = self.work.join("nginx.log");
        let mut command = process::pinned(program, &[processors.server]);
        command.arg("-p").arg(self.work).arg("-c").arg(&configuration).arg("-e").arg(&log);
        Server::start(command, port, &log)
    }

    fn configuration(&self, port: u16) -> String {
        let (work, root) = (self.work.display(), self.root.display());
        // Without `user`, workers of a master that is root could not read what root alone may.
        let user = if rustix::process::geteuid().is_root() { "user root;" } else { "" };
        format!(
            "{user}
daemon off;
worker_processes 1;
pid {work}/nginx.pid;
error_log {work}/nginx.log warn;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_timeout 65;
    keepalive_requests 1000000000;
    client_body_temp_path {work}/temporary;
    proxy_temp_path {work}/temporary;
    fastcgi_temp_path {work}/temporary;
    uwsgi_temp_path {work}/temporary;
    scgi_temp_path {work}/temporary;
    server {{
        listen 127.0.0.1:{port};
        root {root};
    }}
}}
"
        )
    }
}

impl Server {
    fn start(mut command: std::process::Command, port: u16, log: &Path) -> Result<Server> {
        let messages = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(messages);
        let child = command.spawn().context("cannot start setpriv, which `make setup` installs")?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let mut server = Server { child, address, log: log.to_owned() };
        let patience = Instant::now() + Duration::from_secs(10);
        while TcpStream::connect_timeout(&address, Duration::from_millis(100)).is_err() {
            if let Some(status) = server.child.try_wait()? {
                bail!("the server ended before it answered ({status}):\n{}", server.messages());
            }
            if Instant::now() > patience {
                bail!("the server did not open its port within ten seconds:\n{}", server.messages());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(server)
    }

    /// Where it answers.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Asks for each file a few times: what is measured afterwards is warm, and serves what it should.
    ///
    /// # Errors
    ///
    /// At the first answer that is not 200 with as many bytes as the file has.
    pub fn warm(&self, files: &[Served]) -> Result<()> {
        for file in files.iter().chain(files) {
            let got = self.bytes_of(&file.path).with_context(|| format!("GET {}", file.path))?;
            if got != file.bytes {
                bail!("GET {} brought {got} bytes, and the file has {}", file.path, file.bytes);
            }
        }
        Ok(())
    }

    fn bytes_of(&self, path: &str) -> Result<u64> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if !line.starts_with("HTTP/1.1 200 ") {
            bail!("the answer is `{}`", line.trim_end());
        }
        while line != "\r\n" {
            line.clear();
            if reader.read_line(&mut line)? == 0 {
                bail!("the answer ends within its headers");
            }
        }
        Ok(std::io::copy(&mut reader.by_ref(), &mut std::io::sink())?)
    }

    /// What it has used and waited for so far.
    ///
    /// # Errors
    ///
    /// When it has ended.
    pub fn times(&self) -> Result<Times> {
        let pid = self.child.id();
        let workers = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        let mut times = Times { ran: 0.0, waited: 0.0 };
        for process in std::iter::once(pid.to_string()).chain(workers.split_whitespace().map(str::to_owned)) {
            let path = format!("/proc/{process}/schedstat");
            let statistics = std::fs::read_to_string(&path)
                .with_context(|| format!("cannot read {path}: has the server ended?\n{}", self.messages()))?;
            // Time on a processor, time in its queue, and a count.
            let mut numbers = statistics.split_whitespace().filter_map(|number| number.parse::<u64>().ok());
            times.ran += numbers.next().unwrap_or(0) as f64 / 1e9;
            times.waited += numbers.next().unwrap_or(0) as f64 / 1e9;
        }
        Ok(times)
    }

    /// Ends it, and says what it had to say while it ran.
    ///
    /// # Errors
    ///
    /// When it had ended before, or did not end when it was asked to.
    pub fn stop(mut self) -> Result<String> {
        if let Some(status) = self.child.try_wait()? {
            bail!("the server ended during the measurement ({status}):\n{}", self.messages());
        }
        if !process::end(&mut self.child)? {
            bail!("the server did not end within five seconds of SIGTERM:\n{}", self.messages());
        }
        Ok(self.messages())
    }

    /// Ends it at once, whatever it does.
    ///
    /// # Errors
    ///
    /// When its end cannot be waited for.
    pub fn cut(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// The last of its messages.
    fn messages(&self) -> String {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(10)..].join("\n")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Nobody is left to be told.
        let _ = process::end(&mut self.child);
    }
}

/// Free now; nobody else is likely to take it before the server does.
fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no port is free on 127.0.0.1")?;
    Ok(listener.local_addr()?.port())
}
