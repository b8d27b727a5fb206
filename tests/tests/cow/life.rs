//! Starting, running for long, ending.

use crate::client::NEVER;
use crate::site::{Site, bytes};
use crate::{Case, Setup};
use catapults_tests::eventually;
use std::fs;
use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

/// See `main.rs`.
pub const CASES: &[Case] = &[
    ("arguments", arguments),
    ("what is missing or taken", what_is_missing_or_taken),
    ("access log", access_log),
    ("access log is reopened", access_log_is_reopened),
    ("access log that cannot be written", access_log_that_cannot_be_written),
    ("end during a download", end_during_a_download),
    ("end with a client that never reads", end_with_a_client_that_never_reads),
    ("end with resting connections", end_with_resting_connections),
    ("other addresses", other_addresses),
    ("100,000 requests", many_requests),
];

fn arguments(setup: &Setup) {
    let site = Site::new();
    let run = |arguments: &[&str]| {
        let mut command = setup.command("", arguments, &site.path());
        let output = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, output, _) = run(&["--help"]);
    assert!(code == Some(0) && output.starts_with("Usage: cow "));
    let (code, output, _) = run(&["--version"]);
    assert!(code == Some(0) && output.starts_with("cow 0."));
    for (arguments, said) in [
        (&["--port", "65536"][..], "--port 65536: a whole number from 0 to 65535 is wanted"),
        (&["--port", "http"], "--port http: "),
        (&["--port", ""], "--port : "),
        (&["--handlers", "0"], "--handlers 0: a whole number from 1 to 10000 is wanted"),
        (&["--handlers", "-1"], "--handlers -1: "),
        (&["--handlers", "5x"], "--handlers 5x: "),
        (&["--handlers", "99999999999999999999"], "--handlers 99999999999999999999: "),
        (&["--max-connections", "0"], "--max-connections 0: "),
        (&["--idle-timeout", "0"], "--idle-timeout 0: seconds from 0.001 to 86400 are wanted"),
        (&["--idle-timeout", "nan"], "--idle-timeout nan: "),
        (&["--request-timeout", "1h"], "--request-timeout 1h: "),
        (&["--send-timeout", "inf"], "--send-timeout inf: "),
        (&["--grace", "-1"], "--grace -1: "),
        (&["--max-header", "10"], "--max-header 10: "),
        (&["--max-body", "-1"], "--max-body -1: "),
        (&["--chunk", "0"], "--chunk 0: "),
        (&["--address", "localhost"], "--address localhost: a numeric IPv4 or IPv6 address is wanted"),
        (&["--frobnicate"], "there is no option --frobnicate"),
        (&["--listing=x"], "no option --listing=x, or it takes no value"),
        (&["another"], "is a second"),
    ] {
        let (code, _, messages) = run(arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {messages}");
        assert!(messages.starts_with("cow: ") && messages.contains(said), "{arguments:?}: {messages}");
    }
    let mut command = setup.command("set -- \"$1\";", &[], &site.path());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("the directory to serve is missing"));
}

fn what_is_missing_or_taken(setup: &Setup) {
    let site = Site::new();
    let fails = |arguments: &[&str], root: &std::path::Path, said: &str| {
        let output = setup.command("", arguments, root).output().unwrap();
        let messages = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{messages}");
        assert!(messages.contains(said) && messages.starts_with("cow: "), "{messages}");
    };
    fails(&["--port", "0"], &site.path().join("none"), "none: No such file or directory");
    fails(&["--port", "0"], &site.path().join("4"), "4: Not a directory");
    fails(&["--port", "0", "--mime-types", "/none"], &site.path(), "cannot read /none: No such file");
    fails(&["--port", "0", "--access-log", "/none/log"], &site.path(), "cannot write to /none/log: No such file");
    fails(&["--port", "0", "--address", "192.0.2.1"], &site.path(), "cannot listen on 192.0.2.1 port 0: Cannot assign");
    fails(&["--port", "0", "--max-connections", "1000000"], &site.path(), "raise `ulimit -n`");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let said = format!("cannot listen on 127.0.0.1 port {port}: Address already in use");
    fails(&["--port", &port], &site.path(), &said);
}

fn access_log(setup: &Setup) {
    let site = Site::new();
    let log = site.around().join("log");
    let server = setup.start(&["--access-log", log.to_str().unwrap()], &site.path());
    let mut connection = server.connect();
    connection.ask("/4?a=\"b\"", "");
    connection.ask("/none", "");
    connection.ask("/90k", "Range: bytes=0-9\r\n");
    connection.send("HEAD /4 HTTP/1.1\r\nHost: test\r\n\r\n");
    connection.head();
    connection.send("NONSENSE\x1b[31m\"\r\n\r\n");
    connection.response();
    server.stop();
    let text = fs::read_to_string(&log).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let expected = [
        "\"GET /4?a=\\x22b\\x22 HTTP/1.1\" 200 4",
        "\"GET /none HTTP/1.1\" 404 14",
        "\"GET /90k HTTP/1.1\" 206 10",
        "\"HEAD /4 HTTP/1.1\" 200 -",
        "\"NONSENSE\\x1b[31m\\x22\" 400 16",
    ];
    assert_eq!(lines.len(), expected.len(), "{text}");
    for (line, expected) in lines.iter().zip(expected) {
        let (client, rest) = line.split_once(" - - [").unwrap();
        let (date, request) = rest.split_once("] ").unwrap();
        assert_eq!((client, request), ("127.0.0.1", expected), "{line}");
        assert_eq!(date.len(), 26, "{line}");
    }
    let server = setup.start(&["--access-log", "-"], &site.path());
    server.connect().ask("/4", "");
    assert!(server.stop().output.contains("\"GET /4 HTTP/1.1\" 200 4\n"));
}

fn access_log_is_reopened(setup: &Setup) {
    let site = Site::new();
    let (log, old) = (site.around().join("log"), site.around().join("old"));
    let server = setup.start(&["--access-log", log.to_str().unwrap()], &site.path());
    server.connect().ask("/4", "");
    fs::rename(&log, &old).unwrap();
    server.signal("HUP");
    eventually("the log is reopened", || log.exists());
    server.connect().ask("/90k", "");
    server.stop();
    let (text, old) = (fs::read_to_string(log).unwrap(), fs::read_to_string(old).unwrap());
    assert!((old + &text).contains("/4 ") && text.contains("/90k "), "{text}");
}

/// The disk is full: answers go on, and the operator is told.
fn access_log_that_cannot_be_written(setup: &Setup) {
    let site = Site::new();
    let server = setup.start(&["--access-log", "/dev/full"], &site.path());
    for _ in 0..100 {
        assert_eq!(server.connect().ask("/4", "").status, 200);
    }
    server.signal("TERM");
    let end = server.wait();
    assert_eq!(end.code, Some(0));
    assert!(end.messages.contains("cow: cannot write to /dev/full: No space left on device"), "{}", end.messages);
}

fn end_during_a_download(setup: &Setup) {
    let site = Site::new();
    site.write("large", &bytes(30_000_000));
    for signal in ["TERM", "INT"] {
        let server = setup.start(&["--grace", NEVER], &site.path());
        let mut connection = server.connect();
        connection.send("GET /large HTTP/1.1\r\nHost: test\r\n\r\nGET /4 HTTP/1.1\r\nHost: test\r\n\r\n");
        let head = connection.head();
        assert_eq!(head.status, 200);
        server.signal(signal);
        eventually("nobody is accepted any more", || std::net::TcpStream::connect(server.address).is_err());
        let rest = connection.rest();
        assert!(rest[..30_000_000] == bytes(30_000_000), "the response under way is finished");
        let after = String::from_utf8_lossy(&rest[30_000_000..]);
        assert!(after.contains("Connection: close\r\n") && after.ends_with("\r\n\r\nabc\n"), "{after}");
        let end = server.wait();
        assert_eq!((end.code, &*end.messages), (Some(0), ""));
    }
}

fn end_with_a_client_that_never_reads(setup: &Setup) {
    let site = Site::new();
    site.write_sparse("large", 1 << 30);
    // Longer than without the option; and a second signal ends it.
    for (grace, signals, least) in [("3.5", 1, 3450), (NEVER, 2, 0)] {
        let server = setup.start(&["--grace", grace], &site.path());
        let mut connection = server.connect();
        connection.send("GET /large HTTP/1.1\r\nHost: test\r\n\r\n");
        assert_eq!(connection.head().status, 200);
        let begun = Instant::now();
        for _ in 0..signals {
            server.signal("TERM");
            thread::sleep(Duration::from_millis(50));
        }
        let end = server.wait();
        let taken = begun.elapsed().as_millis();
        assert_eq!((end.code, &*end.messages), (Some(0), ""));
        assert!(taken >= least, "{taken} ms");
    }
}

fn end_with_resting_connections(setup: &Setup) {
    let site = Site::new();
    let server = setup.start(
        &["--handlers", "3", "--idle-timeout", NEVER, "--request-timeout", NEVER, "--grace", NEVER],
        &site.path(),
    );
    let mut connections: Vec<_> = (0..10).map(|_| server.connect()).collect();
    for connection in &mut connections[..3] {
        assert_eq!(connection.ask("/4", "").status, 200);
    }
    server.stop();
    for mut connection in connections {
        assert!(connection.rest().is_empty());
    }
}

fn other_addresses(setup: &Setup) {
    let site = Site::new();
    if TcpListener::bind("[::1]:0").is_ok() {
        let server = setup.start(&["--address", "::1"], &site.path());
        assert!(server.address.is_ipv6());
        assert_eq!(server.connect().ask("/4", "").status, 200);
        server.stop();
    }
    let server = setup.start(&["--address", "0.0.0.0"], &site.path());
    assert_eq!(server.connect().ask("/4", "").status, 200);
    server.stop();
}

/// Neither descriptors nor memory grow.
fn many_requests(setup: &Setup) {
    let requests = if setup.variant.sanitized { 5_000 } else { 100_000 };
    let site = Site::new();
    let log = site.around().join("log");
    let server = setup.start(&["--access-log", log.to_str().unwrap(), "--handlers", "20"], &site.path());
    let pipeline: String = ["/4", "/none", "/page.html", "/index", "/90k"]
        .map(|target| format!("GET {target} HTTP/1.1\r\nHost: test\r\nRange: bytes=0-9,20-29\r\n\r\n"))
        .concat()
        .repeat(4);
    let round = |count: usize| {
        let mut connection = server.connect();
        for i in 0..count / 20 {
            // New connections, too; one in a few ends without being read.
            if i % 10 == 9 {
                connection = server.connect();
            }
            connection.send(&pipeline);
            for _ in 0..20 {
                assert!(!connection.response().closes(), "there are handlers enough");
            }
            if i % 50 == 49 {
                connection.send(&pipeline);
                connection = server.connect();
            }
        }
    };
    round(requests / 5);
    // Connections that were left are noticed as soon as their handlers run.
    thread::sleep(Duration::from_millis(100));
    let (descriptors, memory) = (server.descriptors(), server.memory());
    round(requests - requests / 5);
    eventually("there are no more descriptors than before", || server.descriptors() <= descriptors);
    let memory_after = server.memory();
    let most = if setup.variant.sanitized { 40_000 } else { 1_000 };
    assert!(memory_after <= memory + most, "{memory} KiB became {memory_after}");
    server.stop();
    let lines = fs::read_to_string(&log).unwrap().lines().count();
    assert!(lines >= requests, "{lines} lines in the log");
}
