//! A client that says exactly what it is told to.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

/// Who waits for longer waits in vain: the machine may have other things to do, and limits of the server that are not to be reached are longer
/// ([`NEVER`]).
pub const PATIENCE: Duration = Duration::from_secs(120);

/// In seconds.
pub const NEVER: &str = "1000";

/// A connection.
pub struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
}

/// A response.
#[derive(Debug)]
pub struct Response {
    /// Of the status line.
    pub status: u16,
    fields: Vec<(String, String)>,
    /// All of it.
    pub body: Vec<u8>,
}

impl Connection {
    /// Connects.
    pub fn open(address: SocketAddr) -> Connection {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Connection { stream, received: Vec::new() }
    }

    /// Says it, at once.
    pub fn send(&mut self, text: impl AsRef<[u8]>) {
        self.stream.write_all(text.as_ref()).unwrap();
    }

    /// Says it, although the server may not listen any more.
    pub fn try_send(&mut self, text: impl AsRef<[u8]>) -> bool {
        self.stream.write_all(text.as_ref()).is_ok()
    }

    /// The same connection, for another thread to say something on.
    pub fn another(&self) -> Connection {
        Connection { stream: self.stream.try_clone().unwrap(), received: Vec::new() }
    }

    /// Will say no more.
    pub fn half_close(&self) {
        self.stream.shutdown(Shutdown::Write).unwrap();
    }

    /// Asks for a file.
    pub fn ask(&mut self, target: &str, fields: &str) -> Response {
        self.send(format!("GET {target} HTTP/1.1\r\nHost: test\r\n{fields}\r\n"));
        self.response()
    }

    /// The next response, with its body.
    pub fn response(&mut self) -> Response {
        let mut response = self.head();
        let length = response.field("Content-Length").map_or(0, |length| length.parse().unwrap());
        while self.received.len() < length {
            assert!(self.receive(), "the body ends after {} of {length} bytes", self.received.len());
        }
        response.body = self.received.drain(..length).collect();
        response
    }

    /// The same on a connection that has rested, which the server may have closed to make room for others, without having seen the request: then
    /// it has ended, and there is no response.
    pub fn ask_after_rest(&mut self, target: &str) -> Option<Response> {
        let sent = self.try_send(format!("GET {target} HTTP/1.1\r\nHost: test\r\n\r\n"));
        (sent && (!self.received.is_empty() || self.receive())).then(|| self.response())
    }

    /// The next response, which has no body whatever it says.
    pub fn head(&mut self) -> Response {
        let end = loop {
            if let Some(at) = self.received.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break at;
            }
            assert!(self.receive(), "instead of a response: {:?}", String::from_utf8_lossy(&self.received));
        };
        let head = String::from_utf8(self.received.drain(..end + 4).collect()).unwrap();
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap();
        let code = status.strip_prefix("HTTP/1.1 ").unwrap_or_else(|| panic!("a status line: {status}"));
        let fields = lines.take_while(|line| !line.is_empty()).map(|line| {
            let (name, value) = line.split_once(": ").unwrap_or_else(|| panic!("a field: {line}"));
            (name.to_owned(), value.to_owned())
        });
        Response { status: code[..3].parse().unwrap(), fields: fields.collect(), body: Vec::new() }
    }

    /// The next response, read with a rest after each piece.
    pub fn response_slowly(&mut self, rest: Duration) -> Response {
        let mut response = self.head();
        let length: usize = response.field("Content-Length").unwrap().parse().unwrap();
        while self.received.len() < length {
            assert!(self.receive(), "the body ends after {} of {length} bytes", self.received.len());
            std::thread::sleep(rest);
        }
        response.body = self.received.drain(..length).collect();
        response
    }

    /// The response that is there already, if one is; or none is, or the connection was reset.
    pub fn response_at_once(&mut self) -> Option<Response> {
        self.stream.set_nonblocking(true).unwrap();
        let mut first = [0];
        let found = self.stream.peek(&mut first);
        self.stream.set_nonblocking(false).unwrap();
        matches!(found, Ok(1)).then(|| self.response())
    }

    /// The status of what comes, if anything comes before the end.
    pub fn any_response(&mut self) -> Option<u16> {
        while self.received.len() < 12 {
            if !self.receive() {
                return None;
            }
        }
        String::from_utf8_lossy(&self.received[9..12]).parse().ok()
    }

    /// Reads something and forgets it. Whether there was anything.
    pub fn discard(&mut self) -> bool {
        self.received.clear();
        self.receive()
    }

    /// Everything up to the end of the stream; fails if it does not come.
    pub fn rest(&mut self) -> Vec<u8> {
        while self.receive() {}
        std::mem::take(&mut self.received)
    }

    /// Whether the server ends the stream without another byte.
    pub fn ends(&mut self) -> bool {
        self.received.is_empty() && !self.receive()
    }

    /// Whether some bytes came; else the stream has ended, or was reset.
    fn receive(&mut self) -> bool {
        let mut bytes = [0; 65536];
        match self.stream.read(&mut bytes) {
            // A wait with a time-out is not taken up again by the kernel, whatever interrupted it.
            Err(error) if error.kind() == ErrorKind::Interrupted => self.receive(),
            Ok(0) => false,
            Ok(count) => {
                self.received.extend_from_slice(&bytes[..count]);
                true
            }
            Err(error) if matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe) => false,
            Err(error) => panic!("nothing came: {error}"),
        }
    }
}

impl Response {
    /// The value of a field.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Whether the server says that it ends the connection.
    pub fn closes(&self) -> bool {
        self.field("Connection") == Some("close")
    }
}
