//! The clocks of each instruction are those that the simulator takes: every opcode is executed there, in each way that it can go.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use catapults_wcet::processors::rabbit::find;
use catapults_wcet::processors::rabbit::table::{ROWS, Row};
use catapults_wcet::processors::{Flow, Instruction};

/// Where each case is executed; and the word that instructions have as their operand, which is in memory that nobody uses.
const CODE: u16 = 0x100;
const WORD: u16 = 0x2010;

/// Opcodes by what precedes the last byte.
const PAGES: [&[u8]; 7] = [&[], &[0xcb], &[0xed], &[0xdd], &[0xfd], &[0xdd, 0xcb], &[0xfd, 0xcb]];

/// An instruction that is executed, and what is in registers before.
#[derive(Clone, Debug)]
struct Case {
    bytes: Vec<u8>,
    flags: u8,
    counter: u16,
}

/// What the simulator took.
#[derive(Clone, Copy, Debug)]
struct Took {
    clocks: u32,
    /// The instruction after it.
    next: u16,
}

#[test]
fn every_opcode_takes_the_clocks_of_the_table() {
    let cases = cases();
    let took = simulated(&cases);
    let wrong = differences(ROWS, &cases, &took);
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    assert!(cases.len() > 1300, "only {} cases", cases.len());

    // The table with one number changed by one clock is found out.
    let (mut damaged, mut found) = (0, 0);
    for index in 0..ROWS.len() {
        for change in [-1, 1] {
            for taken in [false, true] {
                let mut rows = ROWS.to_vec();
                let clocks = if taken { rows[index].taken.as_mut() } else { Some(&mut rows[index].clocks) };
                let Some(clocks) = clocks else { continue };
                clocks.simulated = clocks.simulated.wrapping_add_signed(change);
                damaged += 1;
                found += usize::from(!differences(&rows, &cases, &took).is_empty());
            }
        }
    }
    println!(
        "{} cases of {} rows as in the simulator; {found} of {damaged} damaged tables found",
        cases.len(),
        ROWS.len()
    );
    assert_eq!(found, damaged);
}

/// How many opcodes the table has on each page: what it lacks is refused where it is met.
#[test]
fn what_the_table_lacks_is_known() {
    let known = |bytes: &[u8]| find(ROWS, CODE, &|at| bytes.get(usize::from(at - CODE)).copied()).is_some();
    let count = |prefix: &[u8]| lasts(prefix).filter(|last| known(&opcode(prefix, *last))).count();
    // On the first, all but the four prefixes, and two that the simulator lacks (RST 18H, 38H).
    assert_eq!(PAGES.map(count), [250, 248, 47, 53, 53, 31, 31]);
}

/// Last bytes of opcodes with this prefix. Without one, a prefix is none of them.
fn lasts(prefix: &[u8]) -> impl Iterator<Item = u8> {
    let first = prefix.is_empty();
    (0..=255).filter(move |last| !(first && [0xcb, 0xed, 0xdd, 0xfd].contains(last)))
}

fn opcode(prefix: &[u8], last: u8) -> Vec<u8> {
    let [low, high] = WORD.to_le_bytes();
    match prefix {
        [_, _] => [prefix, &[0x05, last]].concat(),
        _ => [prefix, &[last, low, high, 0x00]].concat(),
    }
}

/// Each opcode of the table, each with flags that fulfil conditions and with others, and with counters that end and that do not.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for prefix in PAGES {
        for last in lasts(prefix) {
            let bytes = opcode(prefix, last);
            let read = |at| bytes.get(usize::from(at - CODE)).copied();
            let Some((_, instruction)) = find(ROWS, CODE, &read) else { continue };
            let counters: &[u16] = if matches!(instruction.flow, Flow::Repeat(_)) {
                &[1, 2, 3, 300]
            } else if instruction.text.starts_with("djnz") {
                &[0x0101, 0x0201, 0x0001]
            } else {
                &[0x0301]
            };
            for counter in counters {
                for flags in [0x00, 0xff] {
                    cases.push(Case { bytes: bytes.clone(), flags, counter: *counter });
                }
            }
        }
    }
    cases
}

/// Which cases take other clocks by the table than in the simulator.
fn differences(rows: &[Row], cases: &[Case], took: &[Took]) -> Vec<String> {
    assert_eq!(cases.len(), took.len());
    let wrong = cases.iter().zip(took).filter_map(|(case, took)| {
        let (row, instruction) = find(rows, CODE, &|at| case.bytes.get(usize::from(at - CODE)).copied())?;
        let expected = expected(row, &instruction, case, *took);
        let text = &instruction.text;
        (expected != Some(took.clocks)).then(|| format!("{text}: {took:x?}, expected {expected:?} {case:02x?}"))
    });
    wrong.collect()
}

/// The clocks by the table, if it leads to where the simulator went.
fn expected(row: &Row, instruction: &Instruction, case: &Case, took: Took) -> Option<u32> {
    let behind = CODE + instruction.length;
    let (own, taken) = (row.clocks.simulated, row.taken.map_or(0, |taken| taken.simulated));
    match instruction.flow {
        Flow::Next | Flow::Pop(_) => (took.next == behind).then_some(own),
        Flow::Jump(target) | Flow::Call(target) => (took.next == target).then_some(own),
        Flow::Branch(target, _) => match took.next {
            next if next == behind => Some(own),
            next if next == target => Some(taken),
            _ => None,
        },
        Flow::MayReturn(_) => Some(if took.next == behind { own } else { taken }),
        Flow::Repeat(_) => (took.next == behind).then(|| own + taken * u32::from(case.counter - 1)),
        Flow::Return | Flow::Through(_) | Flow::Away => Some(own),
    }
}

/// Executes each case: registers are set by code, then one step is taken.
fn simulated(cases: &[Case]) -> Vec<Took> {
    let mut commands = String::new();
    for case in cases {
        let [c, b] = case.counter.to_le_bytes();
        let before: Vec<u8> = [
            &[0x31, 0x00, 0xc0][..],               // ld sp, 0xc000
            &[0x21, case.flags, 0x00, 0xe5, 0xf1], // ld hl, flags; push hl; pop af: A is 0
            &[0x21, 0x00, 0x80],                   // ld hl, 0x8000
            &[0x11, 0x00, 0x90],                   // ld de, 0x9000
            &[0x01, c, b],                         // ld bc, counter
            &[0xdd, 0x21, 0x00, 0xa0],             // ld ix, 0xa000
            &[0xfd, 0x21, 0x00, 0xb0],             // ld iy, 0xb000
        ]
        .concat();
        let start = CODE - u16::try_from(before.len()).unwrap();
        let bytes: Vec<String> = before.iter().chain(&case.bytes).map(|byte| format!("{byte:#04x}")).collect();
        commands += &format!("set mem rom {start:#x} {}\npc {start:#x}\nstep 9\nstep\n", bytes.join(" "));
    }
    commands += "quit\n";
    let said = run(&commands);
    let stops: Vec<Took> = said.lines().filter_map(stop).collect();
    assert_eq!(stops.len(), 2 * cases.len(), "the simulator stopped elsewhere");
    let (before, own): (Vec<Took>, Vec<Took>) = stops.chunks(2).map(|pair| (pair[0], pair[1])).unzip();
    assert!(before.iter().all(|before| before.next == CODE));
    own
}

/// `Stop at 0x000117: (109) stepped 2 ticks`
fn stop(line: &str) -> Option<Took> {
    let rest = line.strip_prefix("Stop at 0x")?;
    let (next, rest) = rest.split_once(':')?;
    let clocks = rest.split_once("stepped ")?.1.split_once(' ')?.0.parse().ok()?;
    Some(Took { clocks, next: u16::from_str_radix(next, 16).ok()? })
}

fn run(commands: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = Command::new(root.join("scripts/rabbit-toolchain")).stderr(Stdio::inherit()).output().unwrap();
    assert!(folder.status.success(), "scripts/rabbit-toolchain failed");
    let simulator = Path::new(String::from_utf8(folder.stdout).unwrap().trim()).join("ucsim_rxk");
    let mut child = Command::new(simulator)
        .args(["-b", "-q", "-tR2K"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let commands = commands.to_owned();
    let writer = std::thread::spawn(move || input.write_all(commands.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}
