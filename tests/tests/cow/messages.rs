//! Requests and responses as such: methods, versions, connections.

use crate::client::Response;
use crate::site::{Site, bytes};
use crate::{Case, Setup};
use std::process::Command;

/// See `main.rs`.
pub const CASES: &[Case] = &[
    ("get", get),
    ("curl", curl),
    ("head", head),
    ("methods", methods),
    ("keep-alive", keep_alive),
    ("pipelining", pipelining),
    ("one byte at a time", one_byte_at_a_time),
    ("version 1.0", version_1_0),
    ("other versions", other_versions),
    ("host", host),
    ("targets", targets),
    ("bodies", bodies),
    ("expect", expect),
    ("upgrade is ignored", upgrade),
    ("garbage", garbage),
];

fn get(setup: &Setup) {
    let site = Site::new();
    let server = setup.start(&[], &site.path());
    let mut connection = server.connect();
    for (name, content) in
        [("4", b"abc\n".to_vec()), ("empty", Vec::new()), ("90k", bytes(90_000)), ("250k", bytes(250_000))]
    {
        // Twice: the second comes from what is kept open.
        for _ in 0..2 {
            let response = connection.ask(&format!("/{name}?query"), "");
            assert_eq!(response.status, 200, "{name}");
            assert!(response.body == content, "the content of {name}");
            assert_eq!(response.field("Content-Type"), Some("application/octet-stream"));
            for field in ["Date", "Last-Modified"] {
                let date = response.field(field).unwrap();
                assert!(date.len() == 29 && date.ends_with(" GMT"), "{field}: {date}");
            }
            assert!(!response.closes());
        }
    }
    drop(connection);
    server.stop();
}

fn curl(setup: &Setup) {
    let site = Site::new();
    let server = setup.start(&[], &site.path());
    let url = format!("http://{}/", server.address);
    let names = ["4", "90k", "250k", "page.html"];
    let fetched = tempfile::tempdir().unwrap();
    let urls = names.iter().map(|name| format!("{url}{name}"));
    let mut command = Command::new("curl");
    command.args(["--silent", "--show-error", "--fail", "--remote-name-all", "--http2", "--compressed"]).args(urls);
    let done = command.current_dir(fetched.path()).output().expect("curl runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    for name in names {
        let content = std::fs::read(fetched.path().join(name)).unwrap();
        assert!(content == std::fs::read(site.path().join(name)).unwrap(), "{name}");
    }
    server.stop();
}

fn head(setup: &Setup) {
    let site = Site::new();
    let server = setup.start(&[], &site.path());
    let mut connection = server.connect();
    for target in ["/4", "/250k", "/none", "/index", "/index/"] {
        let get = connection.ask(target, "");
        connection.send(format!("HEAD {target} HTTP/1.1\r\nHost: test\r\n\r\n"));
        let head = connection.head();
        assert_eq!(head.status, get.status, "{target}");
        for field in ["Content-Length", "Content-Type", "ETag", "Last-Modified", "Location"] {
            assert_eq!(head.field(field), get.field(field), "{field} of {target}");
        }
    }
    // Nothing was left between the responses: this one is where it should be.
    assert_eq!(connection.ask("/4", "").body, b"abc\n");
    server.stop();
}

fn methods(setup: &Setup) {
    let site = Site::new();
    let server = setup.start(&[], &site.path());
    let mut connection = server.connect();
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"] {
        connection.send(format!("{method} /4 HTTP/1.1\r\nHost: test\r\nContent-Length: 3\r\n\r\nabc"));
        let response = connection.response();
        assert_eq!(response.status, 405, "{method}");
        assert_eq!(response.field("Allow"), Some("GET, HEAD"));
        assert!(!response.closes(), "{method}");
    }
    connection.send("PROPFIND /4 HTTP/1.1\r\nHost: test\r\n\r\n");
    assert_eq!(connection.response().status, 501);
    connection.send("CONNECT test:80 HTTP/1.1\r\nHost: test\r\n\r\n");
    assert_eq!(connection.response().status, 405);
    let mut connection = server.connect();
    connection.send("FETCH /4 HTTP/1.1\r\nHost: test\r\n\r\n");
    let response = connection.response();
    assert_eq!(response.status, 501);
    assert!(response.closes() && connection.ends());
    server.stop();
}

fn keep_alive(setup: &Setup) {
    let site = Site::new();
    let server = setup.start(&[], &site.path());
    let mut connection = server.connect();
    for _ in 0..100 {
        let response = connection.ask("/4", "Connection: keep-alive\r\n");
        assert!(response.status == 200 && !response.closes());
    }
    assert!(connection.ask("/4", "Connection: close\r\n").closes());
    assert!(connection.ends());
    server.stop();
}

fn pipelining(setup: &Setup) {
    let site = Site::new();
    let server = setup.start(&[], &site.path());
    let mut connection = server.connect();
    let targets = ["/4", "/90k", "/none", "/page.html", "/250k", "/empty"];
    let mut text = String::new();
    for _ in 0..20 {
        for target in targets {
            text += &format!("GET {target} HTTP/1.1\r\nHost: test\r\n\r\n");
        }
        // Empty lines before a request are skipped.
        text += "POST /4 HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\n\r\n12345\r\n";
    }
    text += "GET /4 HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\nGET /90k HTTP/1.1\r\nHost: test\r\n\r\n";
    let sender = std::thread::scope(|scope| {
        let mut writer = connection.another();
        let sender = scope.spawn(move || writer.send(text));
        for _ in 0..20 {
            let got: Vec<(u16, usize)> = (0..=targets.len())
                .map(|_| connection.response())
                .map(|r: Response| (r.status, r.body.len()))
                .collect();
            let expected = [(200, 4), (200, 90_000), (404, 14), (200, 8), (200, 250_000), (200, 0), (405, 23)];
            assert_eq!(got, expected);
        }
        sender.join()
    });
    sender.unwrap();
    let last = connection.response();
    assert!(last.body == b"abc\n" && last.closes());
    assert!(connection.ends(), "nothing is answered after the end");
    server.stop();
}

fn one_byte_at_a_time(setup: &Setup) {
    let site = Site::new();
    let server = setup.start(&[], &site.path());
    let mut connection = server.connect();
    for byte in b"GET /%34?x HTTP/1.1\r\nHost: test\r\nX-Empty:\r\nRange: bytes=1-2\r\nX: y\r\n\r\n" {
        connection.send([*byte]);
        std::thread::sleep(std::time::Duration::from_micros(200));
    }
    let response = connection.response();
    assert_eq!((response.status, &response.body[..]), (206, &b"bc"[..]));
    server.stop();
}

fn version_1_0(setup: &Setup) {
    let site = Site::new();
    let server = setup.start(&[], &site.path());
    let mut connection = server.connect();
    connection.send("GET /4 HTTP/1.0\r\n\r\n");
    let response = connection.response();
    assert!(response.status == 200 && response.closes() && connection.ends());

    let mut connection = server.connect();
    for _ in 0..2 {
        connection.send("GET /4 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        let response = connection.response();
        assert_eq!((response.status, response.field("Connection")), (200, Some("keep-alive")));
    }
    server.stop();
}

fn other_versions(setup: &Setup) {
    let site = Site::new();
    let server = setup.start(&[], &site.path());
    for line in ["GET /4 HTTP/2.0", "GET /4 HTTP/3.7", "PRI * HTTP/2.0", "GET /4 HTTP/0.9"] {
        let mut connection = server.connect();
        connection.send(format!("{line}\r\nHost: test\r\n\r\n"));
        let response = connection.response();
        assert!(response.status == 505 && response.closes(), "{line}: {}", response.status);
    }
    server.stop();
}

fn host(setup: &Setup) {
    let site = Site::new();
    let server = setup.start(&[], &site.path());
    for (fields, status) in [
        ("", 400),
        ("Host: a\r\nHost: b\r\n", 400),
        ("Host: a b\r\n", 400),
        ("Host: a/b\r\n", 400),
        ("Host:\r\n", 200),
        ("Host: [::1]:80\r\n", 200),
    ] {
        let mut connection = server.connect();
        connection.send(format!("GET /4 HTTP/1.1\r\n{fields}\r\n"));
        assert_eq!(connection.response().status, status, "{fields:?}");
    }
    server.stop();
}

fn targets(setup: &Setup) {
    let site = Site::new();
    let server = setup.start(&[], &site.path());
    for (target, status) in [
        ("http://test/4", 200),
        ("HTTP://test/4?q", 200),
        ("https://test/index", 301),
        ("http:///4", 400),
        ("ftp://test/4", 400),
        ("*", 400),
        ("/4#fragment", 200),
        ("/%", 400),
        ("/%4", 400),
        ("/%zz", 400),
        ("/%34", 200),
        ("//4", 200),
        ("/./4", 200),
        ("/index/../4", 200),
        ("/with%20space%20&%20more.txt", 200),
    ] {
        let mut connection = server.connect();
        let response = connection.ask(target, "");
        assert_eq!(response.status, status, "{target}");
    }
    server.stop();
}

fn bodies(setup: &Setup) {
    let site = Site::new();
    let server = setup.start(&["--max-body", "100000"], &site.path());
    let mut connection = server.connect();
    let content = bytes(100_000);
    connection.send("GET /4 HTTP/1.1\r\nHost: test\r\nContent-Length: 100000\r\n\r\n");
    connection.send(&content);
    let response = connection.response();
    assert!(response.status == 200 && !response.closes());

    connection.send("GET /4 HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n");
    for chunk in content.chunks(7_001) {
        connection.send(format!("{:x};extension=1\r\n", chunk.len()));
        connection.send(chunk);
        connection.send("\r\n");
    }
    connection.send("0\r\nTrailer: value\r\n\r\n");
    let response = connection.response();
    assert!(response.status == 200 && !response.closes());
    assert_eq!(connection.ask("/page.html", "").body, b"<p>page\n");

    let mut connection = server.connect();
    connection.send("POST /4 HTTP/1.1\r\nHost: test\r\nContent-Length: 100001\r\n\r\n");
    let response = connection.response();
    assert!(response.status == 413 && response.closes());

    let mut connection = server.connect();
    connection.send("GET /4 HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n186a1\r\n");
    connection.try_send(bytes(100_001));
    let response = connection.response();
    assert!(response.status == 413 && response.closes());
    server.stop();
}

fn expect(setup: &Setup) {
    let site = Site::new();
    let server = setup.start(&[], &site.path());
    let mut connection = server.connect();
    connection.send("GET /4 HTTP/1.1\r\nHost: test\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    assert_eq!(connection.head().status, 100);
    connection.send("abc");
    assert_eq!(connection.response().status, 200);
    // Nobody need send what nobody wants.
    connection.send("POST /4 HTTP/1.1\r\nHost: test\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    let response = connection.response();
    assert!(response.status == 405 && response.closes());

    let mut connection = server.connect();
    assert_eq!(connection.ask("/4", "Expect: the-unexpected\r\n").status, 417);
    server.stop();
}

fn upgrade(setup: &Setup) {
    let site = Site::new();
    let server = setup.start(&[], &site.path());
    let mut connection = server.connect();
    for _ in 0..2 {
        let response = connection.ask("/4", "Connection: Upgrade\r\nUpgrade: h2c, websocket\r\n");
        assert!(response.status == 200 && !response.closes());
    }
    server.stop();
}

fn garbage(setup: &Setup) {
    let site = Site::new();
    let server = setup.start(&[], &site.path());
    let cases: [&[u8]; 14] = [
        b"\0\0\0\0\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET\r\n\r\n",
        b"GET /4\r\n\r\n",
        b"GET /4 HTTP/1.1 more\r\nHost: a\r\n\r\n",
        b"GET /4 FTP/1.1\r\nHost: a\r\n\r\n",
        b"get /4 HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /4 HTTP/1.1\r\nHost a\r\n\r\n",
        b"GET /4 HTTP/1.1\r\nHost: a\r\nBad Name: x\r\n\r\n",
        b"GET /4 HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
        b"GET /4 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"GET /4 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"GET /4 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"GET /4 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ];
    for case in cases {
        let mut connection = server.connect();
        connection.send(case);
        connection.half_close();
        let response = connection.response();
        let shown = String::from_utf8_lossy(case);
        assert!(
            response.status == 400 || (case == b"GET /4\r\n\r\n" && response.status == 505),
            "{shown:?}: {}",
            response.status
        );
        assert!(response.closes() && connection.ends(), "{shown:?}");
    }
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..200 {
        let mut connection = server.connect();
        let length = random.usize(1..2000);
        let noise: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(length).collect();
        connection.try_send(noise);
        connection.half_close();
        let said = connection.rest();
        assert!(said.is_empty() || said.starts_with(b"HTTP/1.1 4") || said.starts_with(b"HTTP/1.1 5"), "{said:?}");
    }
    assert_eq!(server.connect().ask("/4", "").status, 200);
    server.stop();
}
