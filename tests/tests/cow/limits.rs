//! Clients that are slow, silent, too many, or ask for too much.

use crate::client::NEVER;
use crate::site::{Site, bytes};
use crate::{Case, Setup};
use catapults_tests::eventually;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// See `main.rs`.
pub const CASES: &[Case] = &[
    ("long target and header", long_target_and_header),
    ("slow request", slow_request),
    ("slow body", slow_body),
    ("silent connection", silent_connection),
    ("half-closed", half_closed),
    ("client that never reads", client_that_never_reads),
    ("slow reader that reads", slow_reader_that_reads),
    ("client that goes away", client_that_goes_away),
    ("few handlers, many clients", few_handlers_many_clients),
    ("few handlers, resting clients", few_handlers_resting_clients),
    ("64 descriptors, 200 clients", few_descriptors),
    ("no room", no_room),
    ("short overtakes long", short_overtakes_long),
];

fn long_target_and_header(setup: &Setup) {
    let site = Site::new();
    let server = setup.start(&[], &site.path());
    let ask = |text: String| {
        let mut connection = server.connect();
        connection.try_send(text);
        let response = connection.response();
        assert!(response.status == 200 || (response.closes() && connection.ends()));
        response.status
    };
    let long = |count| "x".repeat(count);
    assert_eq!(ask(format!("GET /4?{} HTTP/1.1\r\nHost: a\r\n\r\n", long(8000))), 200);
    assert_eq!(ask(format!("GET /4?{} HTTP/1.1\r\nHost: a\r\n\r\n", long(8200))), 414);
    assert_eq!(ask(format!("GET /{}", long(1_000_000))), 414);
    assert_eq!(ask(format!("GET /4 HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", long(16_000))), 200);
    assert_eq!(ask(format!("GET /4 HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", long(16_400))), 431);
    assert_eq!(ask(format!("GET /4 HTTP/1.1\r\nHost: a\r\nX: {}", long(1_000_000))), 431);
    assert_eq!(ask(format!("GET /4 HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: y\r\n".repeat(99))), 200);
    assert_eq!(ask(format!("GET /4 HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: y\r\n".repeat(100))), 431);
    assert!(ask(long(100_000)) >= 400);
    server.stop();
}

fn slow_request(setup: &Setup) {
    let site = Site::new();
    let server =
        setup.start(&["--request-timeout", "1", "--idle-timeout", NEVER, "--send-timeout", NEVER], &site.path());
    let begun = Instant::now();
    // Slowloris: always something, never all.
    let mut connections: Vec<_> = (0..20).map(|_| server.connect()).collect();
    for connection in &mut connections {
        connection.send("GET /4 HTTP/1.1\r\n");
    }
    while begun.elapsed() < Duration::from_millis(600) {
        for connection in &mut connections {
            connection.send("X: y\r\n");
        }
        thread::sleep(Duration::from_millis(20));
    }
    for connection in &mut connections {
        let response = connection.response();
        assert!(response.status == 408 && response.closes() && connection.ends());
    }
    let taken = begun.elapsed();
    assert!(taken > Duration::from_secs(1), "{taken:?}");
    server.stop();
}

fn slow_body(setup: &Setup) {
    let site = Site::new();
    let server = setup.start(&["--request-timeout", "0.2"], &site.path());
    let mut connection = server.connect();
    connection.send("GET /4 HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\n12345");
    assert_eq!(connection.response().status, 408);
    server.stop();
}

fn silent_connection(setup: &Setup) {
    let site = Site::new();
    let server = setup.start(&["--request-timeout", "0.2", "--idle-timeout", "0.2"], &site.path());
    let mut connection = server.connect();
    assert!(connection.ends(), "nothing is said to a client that has said nothing");
    let mut connection = server.connect();
    assert_eq!(connection.ask("/4", "").status, 200);
    let rested = Instant::now();
    assert!(connection.ends() && rested.elapsed() >= Duration::from_millis(150));
    server.stop();
}

fn half_closed(setup: &Setup) {
    let site = Site::new();
    let server = setup.start(&[], &site.path());
    let mut connection = server.connect();
    connection.send("GET /250k HTTP/1.1\r\nHost: test\r\n\r\nGET /4 HTTP/1.1\r\nHost: test\r\n\r\n");
    connection.half_close();
    assert!(connection.response().body == bytes(250_000));
    assert!(connection.response().body == b"abc\n" && connection.ends());

    let mut connection = server.connect();
    connection.send("GET /4 HTTP/1.1\r\nHost: te");
    connection.half_close();
    assert!(connection.response().status == 400 && connection.ends());

    let mut connection = server.connect();
    connection.half_close();
    assert!(connection.ends());
    server.stop();
}

fn client_that_never_reads(setup: &Setup) {
    let site = Site::new();
    site.write_sparse("large", 1 << 30);
    let server = setup.start(&["--send-timeout", "0.3"], &site.path());
    let before = server.descriptors();
    let mut connections: Vec<_> = (0..10).map(|_| server.connect()).collect();
    for connection in &mut connections {
        connection.send("GET /large HTTP/1.1\r\nHost: test\r\n\r\n");
    }
    let other = server.connect().ask("/4", "");
    assert_eq!(other.status, 200, "others are served meanwhile");
    eventually("they are dropped; the file may stay open", || server.descriptors() <= before + 2);
    drop(connections);
    server.stop();
}

fn slow_reader_that_reads(setup: &Setup) {
    let site = Site::new();
    site.write("large", &bytes(20_000_000));
    let server = setup.start(&["--send-timeout", "1"], &site.path());
    let mut connection = server.connect();
    connection.send("GET /large HTTP/1.1\r\nHost: test\r\n\r\n");
    // In all it takes longer than the time-out, but never rests so long.
    let begun = Instant::now();
    let response = connection.response_slowly(Duration::from_millis(4));
    assert!(response.body == bytes(20_000_000) && begun.elapsed() > Duration::from_secs(1));
    server.stop();
}

fn client_that_goes_away(setup: &Setup) {
    let site = Site::new();
    site.write_sparse("large", 1 << 30);
    let server = setup.start(&[], &site.path());
    let before = server.descriptors();
    for i in 0..100 {
        let mut connection = server.connect();
        connection.send("GET /large HTTP/1.1\r\nHost: test\r\n\r\n".repeat(1 + i % 3));
        if i % 2 == 0 {
            assert_eq!(connection.head().status, 200);
        }
    }
    assert_eq!(server.connect().ask("/4", "").status, 200);
    eventually("those that went away are dropped", || server.descriptors() <= before + 2);
    server.stop();
}

/// All of them get their turn, although each would keep its connection.
fn few_handlers_many_clients(setup: &Setup) {
    let site = Site::new();
    let server = setup.start(&["--handlers", "5", "--idle-timeout", NEVER, "--request-timeout", NEVER], &site.path());
    let address = server.address;
    thread::scope(|scope| {
        for _ in 0..100 {
            scope.spawn(|| {
                let mut connection = crate::client::Connection::open(address);
                let mut fresh = true;
                for _ in 0..20 {
                    // Who is kept from its next request is taken for one that rests.
                    let kept = if fresh { None } else { connection.ask_after_rest("/4") };
                    if kept.is_none() && !fresh {
                        connection = crate::client::Connection::open(address);
                    }
                    let response = kept.unwrap_or_else(|| connection.ask("/4", ""));
                    assert_eq!(response.status, 200);
                    fresh = response.closes();
                    if response.closes() {
                        assert!(connection.ends());
                        connection = crate::client::Connection::open(address);
                    }
                }
            });
        }
    });
    server.stop();
}

/// Clients that keep their connections without using them do not keep others out.
fn few_handlers_resting_clients(setup: &Setup) {
    let site = Site::new();
    let server = setup.start(&["--handlers", "5", "--idle-timeout", NEVER, "--request-timeout", NEVER], &site.path());
    let mut resting: Vec<_> = (0..5).map(|_| server.connect()).collect();
    for connection in &mut resting {
        assert!(!connection.ask("/4", "").closes());
    }
    let mut others: Vec<_> = (0..5).map(|_| server.connect()).collect();
    for connection in &mut others {
        assert_eq!(connection.ask("/4", "").status, 200);
    }
    server.stop();
}

fn few_descriptors(setup: &Setup) {
    let site = Site::new();
    let server = setup.start_after("ulimit -n 64;", &[], &site.path());
    let address = server.address;
    thread::scope(|scope| {
        for i in 0..200 {
            scope.spawn(move || {
                for round in 0..5 {
                    let mut connection = crate::client::Connection::open(address);
                    let name = ["4", "90k", "page.html"][(i + round) % 3];
                    let response = connection.ask(&format!("/{name}"), "Connection: close\r\n");
                    assert_eq!(response.status, 200);
                    assert!(connection.ends());
                }
            });
        }
    });
    server.stop();
}

/// Who comes while all connections are taken is told so, and the server does not spin.
fn no_room(setup: &Setup) {
    let site = Site::new();
    let patient = ["--idle-timeout", NEVER, "--request-timeout", NEVER];
    let server = setup.start_after("ulimit -n 64;", &patient, &site.path());
    let mut connections: Vec<_> = (0..200).map(|_| server.connect()).collect();
    for connection in &mut connections {
        connection.try_send("GET /4 HTTP/1.1\r\n");
    }
    let (mut refused, mut waiting) = (0, connections);
    eventually("100 are refused", || {
        waiting.retain_mut(|connection| {
            let Some(response) = connection.response_at_once() else { return true };
            assert_eq!((response.status, response.field("Retry-After")), (503, Some("1")));
            refused += 1;
            false
        });
        refused >= 100
    });
    assert!(!waiting.is_empty(), "all {refused} were refused");
    let used = server.processor();
    thread::sleep(Duration::from_millis(500));
    assert!(server.processor() - used < 0.2, "it spins");
    // Those that are in get their answer, and then there is room.
    for connection in &mut waiting {
        connection.try_send("Host: test\r\nConnection: close\r\n\r\n");
    }
    let statuses = waiting.iter_mut().map(|connection| connection.any_response());
    let answered = statuses.filter(|status| *status == Some(200)).count();
    assert!(answered >= 10, "{answered} of {}", waiting.len());
    drop(waiting);
    assert_eq!(server.connect().ask("/4", "").status, 200);
    server.stop();
}

/// A response is sent in chunks, and between two of them others have their turn.
fn short_overtakes_long(setup: &Setup) {
    let site = Site::new();
    site.write_sparse("large", 1 << 40); // it never ends
    let server = setup.start(&["--send-timeout", NEVER], &site.path());
    let address = server.address;
    let (stop, received) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        let (stop, received) = (&stop, &received);
        for _ in 0..2 {
            scope.spawn(move || {
                let mut connection = crate::client::Connection::open(address);
                connection.send("GET /large HTTP/1.1\r\nHost: test\r\n\r\n");
                assert!(connection.discard());
                received.fetch_add(1, Ordering::Relaxed);
                while stop.load(Ordering::Relaxed) == 0 && connection.discard() {}
            });
        }
        eventually("both are under way", || received.load(Ordering::Relaxed) >= 2);
        let mut connection = server.connect();
        for _ in 0..50 {
            assert_eq!(connection.ask("/4", "").status, 200);
        }
        stop.store(1, Ordering::Relaxed);
    });
    server.stop();
}
