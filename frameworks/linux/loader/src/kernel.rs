//! Whether the kernel of this machine can run policies.

use std::fs;

/// The first kernel with `bpf_res_spin_lock`. Arenas are older.
const OLDEST: (u32, u32) = (6, 15);
/// `CATAPULTS_PROCESSORS` of bpf/records.bpf.h.
const MOST_PROCESSORS: u32 = 64;
/// The numbers of all processors that the machine can have, plugged in or not: `0-3`.
const PROCESSORS: &str = "/sys/devices/system/cpu/possible";
/// Bits of `CapEff` in /proc/self/status.
const CAPABILITIES: [(u32, &str); 2] = [(39, "CAP_BPF"), (38, "CAP_PERFMON")];
/// What the kernel says of its own types; libbpf finds the functions there that programs call.
const TYPES: &str = "/sys/kernel/btf/vmlinux";

/// Says what is missing, and what to do about it.
pub fn check() -> Result<(), String> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let release = release.trim();
    if version(release) < OLDEST {
        let (major, minor) = OLDEST;
        return Err(format!(
            "Linux {release} is too old: policies need the lock `bpf_res_spin_lock` of Linux {major}.{minor}"
        ));
    }
    if !fs::exists(TYPES).unwrap_or(false) {
        return Err(format!(
            "this kernel, {release}, does not describe its types: there is no {TYPES} (CONFIG_DEBUG_INFO_BTF)"
        ));
    }
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let held = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("CapEff:")?.trim(), 16).ok());
    let held = held.unwrap_or(0);
    // CAP_SYS_ADMIN has stood for both since before there were such.
    let may_all = held >> 21 & 1 == 1;
    let missing: Vec<&str> =
        CAPABILITIES.iter().filter(|(bit, _)| held >> bit & 1 == 0 && !may_all).map(|(_, name)| *name).collect();
    if !missing.is_empty() {
        return Err(format!(
            "this process may not load programs into the kernel: it lacks {}. Run it as root; a container needs them, too \
             (--cap-add)",
            missing.join(" and ")
        ));
    }
    Ok(())
}

/// The same for schedulers.
pub fn check_scheduler() -> Result<(), String> {
    check()?;
    if fs::exists("/sys/kernel/sched_ext").unwrap_or(false) {
        return check_processors(&fs::read_to_string(PROCESSORS).unwrap_or_default());
    }
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    Err(format!(
        "this kernel, {}, has no sched_ext (CONFIG_SCHED_CLASS_EXT). Debian's has it from 6.16 on (trixie-backports); /sys has to be \
         mounted",
        release.trim()
    ))
}

/// There is room for so many processors.
fn check_processors(possible: &str) -> Result<(), String> {
    let possible = possible.trim();
    match possible.rsplit(['-', ',']).next().and_then(|last| last.parse::<u32>().ok()) {
        Some(last) if last >= MOST_PROCESSORS => Err(format!(
            "this machine can have processors {possible} ({PROCESSORS}), and policies have room for {MOST_PROCESSORS}. The kernel \
             parameter `nr_cpus={MOST_PROCESSORS}` makes it do with fewer"
        )),
        _ => Ok(()),
    }
}

/// `6.18.44-1-amd64` is 6.18.
fn version(release: &str) -> (u32, u32) {
    let mut parts = release.split(['.', '-']).map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::{check_processors, version};

    #[test]
    fn no_more_processors_than_there_is_room_for() {
        assert!(check_processors("0-63\n").is_ok() && check_processors("0").is_ok() && check_processors("").is_ok());
        let said = check_processors("0-3,64\n").unwrap_err();
        assert!(said.contains("can have processors 0-3,64 (") && said.contains("nr_cpus=64"), "{said}");
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(version("6.18.44-1-amd64"), (6, 18));
        assert!(version("6.9.0") < version("6.15-rc1") && version("7.0.1") > version("6.15.2"));
        assert_eq!(version("no version"), (0, 0));
    }
}
