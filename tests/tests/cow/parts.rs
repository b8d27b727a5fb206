//! Parts of files, and files that the client has already.

use crate::client::Response;
use crate::site::{Site, bytes};
use crate::{Case, Setup};
use std::time::{Duration, SystemTime};

/// See `main.rs`.
pub const CASES: &[Case] = &[
    ("ranges", ranges),
    ("several ranges", several_ranges),
    ("ranges that are none", ranges_that_are_none),
    ("conditional requests", conditional),
    ("if-range", if_range),
];

fn ranges(setup: &Setup) {
    let site = Site::new();
    let server = setup.start(&[], &site.path());
    let mut connection = server.connect();
    for (name, size) in [("4", 4_usize), ("250k", 250_000)] {
        let content = if size == 4 { b"abc\n".to_vec() } else { bytes(size) };
        let last = size - 1;
        for (range, first, end) in [
            ("bytes=0-0".to_owned(), 0, 1),
            ("bytes=1-2".to_owned(), 1, 3),
            ("bytes=2-".to_owned(), 2, size),
            ("bytes=-2".to_owned(), size - 2, size),
            ("bytes=-999999".to_owned(), 0, size),
            ("bytes=0-99999999999999999999999999".to_owned(), 0, size),
            (format!("bytes={last}-"), last, size),
            ("bytes=0-1,1-2 , 3-3".to_owned(), 0, 4), // they touch
        ] {
            let response = connection.ask(&format!("/{name}"), &format!("Range: {range}\r\n"));
            assert_eq!(response.status, 206, "{range}");
            assert!(response.body == content[first..end], "{range} of {name}");
            let expected = format!("bytes {first}-{}/{size}", end - 1);
            assert_eq!(response.field("Content-Range"), Some(&*expected), "{range}");
        }
        for range in [format!("bytes={size}-"), "bytes=-0".to_owned(), format!("bytes={size}-{size},99999999-")] {
            let response = connection.ask(&format!("/{name}"), &format!("Range: {range}\r\n"));
            assert_eq!(response.status, 416, "{range}");
            assert_eq!(response.field("Content-Range"), Some(&*format!("bytes */{size}")));
        }
    }
    assert_eq!(connection.ask("/empty", "Range: bytes=0-\r\n").status, 416);
    connection.send("HEAD /4 HTTP/1.1\r\nHost: test\r\nRange: bytes=1-2\r\n\r\n");
    let head = connection.head();
    assert_eq!((head.status, head.field("Content-Length")), (200, Some("4")), "Range is for GET alone");
    server.stop();
}

fn several_ranges(setup: &Setup) {
    let site = Site::new();
    let server = setup.start(&[], &site.path());
    let mut connection = server.connect();
    for (name, content) in [("page.html", b"<p>page\n".to_vec()), ("250k", bytes(250_000))] {
        let size = content.len();
        let response = connection.ask(&format!("/{name}"), "Range: bytes=0-1,4-5,-1\r\n");
        assert_eq!(response.status, 206);
        let boundary = response.field("Content-Type").unwrap().strip_prefix("multipart/byteranges; boundary=").unwrap();
        let kind = if name == "250k" { "application/octet-stream" } else { "text/html; charset=utf-8" };
        let mut expected = Vec::new();
        for (i, (first, last)) in [(0, 1), (4, 5), (size - 1, size - 1)].into_iter().enumerate() {
            let start = if i == 0 { "" } else { "\r\n" };
            expected.extend_from_slice(
                format!(
                    "{start}--{boundary}\r\nContent-Type: {kind}\r\nContent-Range: bytes {first}-{last}/{size}\r\n\r\n"
                )
                .as_bytes(),
            );
            expected.extend_from_slice(&content[first..=last]);
        }
        expected.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
        assert_eq!(String::from_utf8_lossy(&response.body), String::from_utf8_lossy(&expected));
    }
    // As many as are sent at most, large ones.
    let many: Vec<String> = (0..16).map(|i| format!("{}-{}", i * 15_000, i * 15_000 + 9_999)).collect();
    let response = connection.ask("/250k", &format!("Range: bytes={}\r\n", many.join(",")));
    assert!(response.status == 206 && response.body.len() > 160_000);
    server.stop();
}

fn ranges_that_are_none(setup: &Setup) {
    let site = Site::new();
    let server = setup.start(&[], &site.path());
    let mut connection = server.connect();
    let too_many = format!("bytes={}", (0..17).map(|i| format!("{}-{}", i * 4, i * 4)).collect::<Vec<_>>().join(","));
    for range in
        ["bytes=", "bytes", "bytes=a-b", "bytes=2-1", "bytes=-", "bytes=1", "lines=1-2", "bytes=1-2;3-4", &too_many]
    {
        let response = connection.ask("/90k", &format!("Range: {range}\r\n"));
        assert!(response.status == 200 && response.body.len() == 90_000, "{range}: {}", response.status);
    }
    server.stop();
}

fn conditional(setup: &Setup) {
    let site = Site::new();
    let file = std::fs::File::options().write(true).open(site.path().join("4")).unwrap();
    // 784111777 s: Sun, 06 Nov 1994 08:49:37 GMT
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_millis(784_111_777_500)).unwrap();
    let server = setup.start(&[], &site.path());
    let mut connection = server.connect();
    let first = connection.ask("/4", "");
    let tag = first.field("ETag").unwrap();
    assert!(tag.starts_with('"') && tag.ends_with('"'), "{tag} is strong");
    assert_eq!(first.field("Last-Modified"), Some("Sun, 06 Nov 1994 08:49:37 GMT"));
    let (same, before, after) =
        ("Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:36 GMT", "Sun Nov  6 08:49:38 1994");
    let cases = [
        (format!("If-None-Match: {tag}\r\n"), 304),
        (format!("If-None-Match: W/{tag}\r\n"), 304),
        ("If-None-Match: *\r\n".to_owned(), 304),
        (format!("If-None-Match: \"a\", \"b,\", {tag}\r\n"), 304),
        (format!("If-None-Match: \"a\"\r\nIf-None-Match: {tag}\r\n"), 304),
        ("If-None-Match: \"a\", W/\"b\"\r\n".to_owned(), 200),
        (format!("If-None-Match: nonsense {tag}\r\n"), 200),
        (format!("If-Modified-Since: {same}\r\n"), 304),
        (format!("If-Modified-Since: {after}\r\n"), 304),
        (format!("If-Modified-Since: {before}\r\n"), 200),
        ("If-Modified-Since: yesterday\r\n".to_owned(), 200),
        ("If-Modified-Since: Sun, 32 Nov 1994 08:49:37 GMT\r\n".to_owned(), 200),
        // A tag counts more than a date.
        (format!("If-None-Match: \"a\"\r\nIf-Modified-Since: {same}\r\n"), 200),
        (format!("If-Match: {tag}\r\n"), 200),
        ("If-Match: *\r\n".to_owned(), 200),
        ("If-Match: \"a\"\r\n".to_owned(), 412),
        (format!("If-Match: W/{tag}\r\n"), 412),
        (format!("If-Unmodified-Since: {same}\r\n"), 200),
        (format!("If-Unmodified-Since: {before}\r\n"), 412),
        (format!("If-Match: {tag}\r\nIf-Unmodified-Since: {before}\r\n"), 200),
        (format!("If-Match: {tag}\r\nIf-None-Match: {tag}\r\n"), 304),
        (format!("If-None-Match: {tag}\r\nRange: bytes=0-0\r\n"), 304),
        ("If-Match: \"a\"\r\nRange: bytes=0-0\r\n".to_owned(), 412),
    ];
    for (fields, status) in cases {
        connection.send(format!("GET /4 HTTP/1.1\r\nHost: test\r\n{fields}\r\n"));
        // A 304 has no body, and says no length.
        let response: Response = connection.response();
        assert_eq!(response.status, status, "{fields}");
        if status == 304 {
            assert_eq!((response.field("ETag"), response.field("Content-Length")), (Some(tag), None));
        }
    }
    assert_eq!(connection.ask("/none", "If-Match: *\r\n").status, 404);
    server.stop();
}

fn if_range(setup: &Setup) {
    let site = Site::new();
    let file = std::fs::File::options().write(true).open(site.path().join("4")).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777)).unwrap();
    let server = setup.start(&[], &site.path());
    let mut connection = server.connect();
    let tag = connection.ask("/4", "").field("ETag").unwrap().to_owned();
    for (validator, status) in [
        (tag.clone(), 206),
        (format!("W/{tag}"), 200),
        ("\"another\"".to_owned(), 200),
        ("Sun, 06 Nov 1994 08:49:37 GMT".to_owned(), 206),
        ("Sun, 06 Nov 1994 08:49:38 GMT".to_owned(), 200),
    ] {
        let response = connection.ask("/4", &format!("If-Range: {validator}\r\nRange: bytes=1-1\r\n"));
        assert_eq!(response.status, status, "{validator}");
    }
    server.stop();
}
