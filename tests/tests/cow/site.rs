//! A directory to serve, with everything in it that matters.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Lies beside the directory that is served, never within.
pub const SECRET: &str = "this is not served\n";

/// The directory, and what is around it. Removed when dropped.
pub struct Site {
    folder: TempDir,
}

impl Site {
    /// Makes it.
    pub fn new() -> Site {
        let site = Site { folder: tempfile::tempdir().unwrap() };
        let outside = site.folder.path();
        fs::write(outside.join("secret"), SECRET).unwrap();
        fs::create_dir(outside.join("root")).unwrap();
        site.write("4", b"abc\n");
        site.write("empty", b"");
        site.write("page.html", b"<p>page\n");
        site.write("with space & more.txt", b"spaces\n");
        site.write("90k", &bytes(90_000));
        site.write("250k", &bytes(250_000));
        fs::create_dir(site.path().join("index")).unwrap();
        site.write("index/index.html", b"<p>index\n");
        fs::create_dir(site.path().join("bare")).unwrap();
        site.write("bare/<b> & \"'.txt", b"odd\n");
        fs::create_dir(site.path().join("bare/inner")).unwrap();
        symlink("4", site.path().join("inside")).unwrap();
        symlink("../secret", site.path().join("outside")).unwrap();
        symlink("/etc/passwd", site.path().join("absolute")).unwrap();
        symlink("/", site.path().join("slash")).unwrap();
        symlink("loop", site.path().join("loop")).unwrap();
        let made = Command::new("mkfifo").arg(site.path().join("fifo")).status().unwrap();
        assert!(made.success());
        site
    }

    /// The directory that is served.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    /// What lies around it.
    pub fn around(&self) -> &Path {
        self.folder.path()
    }

    /// Makes or overwrites a file.
    pub fn write(&self, name: &str, content: &[u8]) {
        fs::write(self.path().join(name), content).unwrap();
    }

    /// Makes a large file that takes no room.
    pub fn write_sparse(&self, name: &str, size: u64) {
        fs::File::create(self.path().join(name)).unwrap().set_len(size).unwrap();
    }
}

/// So many bytes, of which no stretch is like another.
pub fn bytes(count: usize) -> Vec<u8> {
    (0..count as u64).map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}
