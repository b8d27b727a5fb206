//! From a target to a file, and never out of the root.

use crate::site::{SECRET, Site};
use crate::{Case, Setup};
use std::fs;
use std::os::unix::fs::symlink;

/// See `main.rs`.
pub const CASES: &[Case] = &[
    ("escapes", escapes),
    ("special files", special_files),
    ("directories", directories),
    ("listing", listing),
    ("media types", media_types),
    ("changed files", changed_files),
    ("more files than are kept", more_files_than_are_kept),
];

fn escapes(setup: &Setup) {
    let site = Site::new();
    let server = setup.start(&["--listing"], &site.path());
    let name = site.around().file_name().unwrap().to_string_lossy().into_owned();
    let targets = [
        "/../secret".to_owned(),
        "/../../../../../../etc/passwd".to_owned(),
        "/index/../../secret".to_owned(),
        "/%2e%2e/secret".to_owned(),
        "/.%2e/secret".to_owned(),
        "/%2e%2e%2fsecret".to_owned(),
        "/..%2fsecret".to_owned(),
        "/..%5csecret".to_owned(),
        "/index%2findex.html".to_owned(),
        "/4%00.html".to_owned(),
        "/%00".to_owned(),
        "/%252e%252e/secret".to_owned(),
        "/%c0%ae%c0%ae/secret".to_owned(),
        "/outside".to_owned(),
        "/absolute".to_owned(),
        "/slash/etc/passwd".to_owned(),
        "/slash/proc/self/root/etc/passwd".to_owned(),
        "/slash/".to_owned(),
        format!("/slash/tmp/{name}/secret"),
        format!("/../{name}/secret"),
        "http://test/../secret".to_owned(),
        "//../secret".to_owned(),
        "/...//../secret/../../secret".to_owned(),
    ];
    for target in &targets {
        let response = server.connect().ask(target, "");
        assert!([400, 403, 404].contains(&response.status), "{target}: {}", response.status);
        let body = String::from_utf8_lossy(&response.body);
        assert!(!body.contains(SECRET) && !body.contains("root:"), "{target}: {body}");
    }
    assert_eq!(server.connect().ask("/inside", "").body, b"abc\n", "a link that stays below the root");

    // What was within the root a moment ago, and is kept open, may now lead out of it.
    assert_eq!(server.connect().ask("/index/index.html", "").status, 200);
    fs::rename(site.path().join("index"), site.path().join("was")).unwrap();
    symlink("..", site.path().join("index")).unwrap();
    fs::write(site.around().join("index.html"), SECRET).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1100));
    assert_eq!(server.connect().ask("/index/index.html", "").status, 403);
    server.stop();
}

fn special_files(setup: &Setup) {
    let site = Site::new();
    let unreadable = site.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(unreadable).unwrap();
    let server = setup.start(&[], &site.path());
    let mut connection = server.connect();
    for (target, status) in
        [("/fifo", 403), ("/socket", 403), ("/loop", 403), ("/4/", 404), ("/4/x", 404), ("/none", 404)]
    {
        assert_eq!(connection.ask(target, "").status, status, "{target}");
    }
    let long = format!("/{}", "x".repeat(300));
    assert_eq!(connection.ask(&long, "").status, 404);
    let deep = "/x".repeat(3000);
    assert_eq!(connection.ask(&deep, "").status, 404);
    server.stop();
}

fn directories(setup: &Setup) {
    let site = Site::new();
    let server = setup.start(&[], &site.path());
    let mut connection = server.connect();
    let response = connection.ask("/index?a=b&c", "");
    assert_eq!((response.status, response.field("Location")), (301, Some("/index/?a=b&c")));
    assert_eq!(connection.ask("/index/", "").body, b"<p>index\n");
    assert_eq!(connection.ask("/index/", "").field("Content-Type"), Some("text/html; charset=utf-8"));
    assert_eq!(connection.ask("/bare/", "").status, 403);
    assert_eq!(connection.ask("/", "").status, 403);
    assert_eq!(connection.ask("//index", "").field("Location"), Some("/index/"), "never //host");
    fs::create_dir(site.path().join("a b%?")).unwrap();
    assert_eq!(connection.ask("/a%20b%25%3f", "").field("Location"), Some("/a%20b%25%3F/"));
    server.stop();
}

fn listing(setup: &Setup) {
    let site = Site::new();
    let server = setup.start(&["--listing"], &site.path());
    let mut connection = server.connect();
    let response = connection.ask("/bare/", "");
    assert_eq!((response.status, response.field("Content-Type")), (200, Some("text/html; charset=utf-8")));
    let page = String::from_utf8(response.body).unwrap();
    let line = "<li><a href=\"./%3Cb%3E%20%26%20%22%27.txt\">&lt;b&gt; &amp; &quot;&#39;.txt</a></li>";
    assert!(page.contains(line), "{page}");
    assert!(page.contains("<a href=\"./inner/\">inner/</a>") && page.contains("Index of /bare/"), "{page}");
    assert_eq!(connection.ask("/bare/%3Cb%3E%20%26%20%22%27.txt", "").body, b"odd\n", "the link works");
    assert_eq!(connection.ask("/index/", "").body, b"<p>index\n", "an index goes before a listing");
    assert!(
        !String::from_utf8(connection.ask("/", "").body).unwrap().contains("../"),
        "there is nothing above the root"
    );
    server.stop();
}

fn media_types(setup: &Setup) {
    let site = Site::new();
    for name in ["a.css", "a.JPG", "a.b.json", ".html", "a.", "a.xyzzy", "a.js", "dir.png"] {
        site.write(name, b"x");
    }
    let types = site.around().join("mime.types");
    fs::write(&types, "# comment\ntext/x-magic\txyzzy plugh\nimage/gif\n application/x-late js # of all\n").unwrap();
    let server = setup.start(&["--mime-types", types.to_str().unwrap()], &site.path());
    let mut connection = server.connect();
    for (name, expected) in [
        ("a.css", "text/css; charset=utf-8"),
        ("a.JPG", "image/jpeg"),
        ("a.b.json", "application/json"),
        (".html", "text/html; charset=utf-8"),
        ("a.", "application/octet-stream"),
        ("a.xyzzy", "text/x-magic; charset=utf-8"),
        ("a.js", "application/x-late"),
        ("4", "application/octet-stream"),
    ] {
        assert_eq!(connection.ask(&format!("/{name}"), "").field("Content-Type"), Some(expected), "{name}");
    }
    server.stop();
}

/// A size is never out of date, not even by a second.
fn changed_files(setup: &Setup) {
    let site = Site::new();
    let server = setup.start(&[], &site.path());
    let mut connection = server.connect();
    let mut tags = std::collections::BTreeSet::new();
    for size in [5, 3, 70_000, 20_000, 4] {
        let content = crate::site::bytes(size);
        site.write("changing", &content);
        let response = connection.ask("/changing", "");
        assert!(response.body == content, "{size} bytes were expected, {} came", response.body.len());
        assert!(tags.insert(response.field("ETag").unwrap().to_owned()), "a tag that was another content's");
    }
    // A file that takes the place of another is seen within a second.
    site.write("new", b"another\n");
    fs::rename(site.path().join("new"), site.path().join("changing")).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1100));
    assert_eq!(connection.ask("/changing", "").body, b"another\n");
    fs::remove_file(site.path().join("changing")).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1100));
    assert_eq!(connection.ask("/changing", "").status, 404);
    server.stop();
}

fn more_files_than_are_kept(setup: &Setup) {
    let site = Site::new();
    let content = |i: usize| format!("file {i}\n").into_bytes();
    for i in 0..600 {
        site.write(&format!("f{i}"), &content(i));
    }
    let server = setup.start(&[], &site.path());
    let before = server.descriptors();
    let mut connection = server.connect();
    for i in (0..600).chain((0..600).rev()) {
        assert_eq!(connection.ask(&format!("/f{i}"), "").body, content(i));
    }
    assert!(server.descriptors() <= before + 260, "{} descriptors", server.descriptors());
    server.stop();
}
