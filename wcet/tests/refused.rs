//! Small programs of a few bytes: what is bounded, and what is refused, by why.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

use catapults_compiler::steps::Counts;
use catapults_wcet::bound::bounds;
use catapults_wcet::costs::Costs;
use catapults_wcet::host::Host;
use catapults_wcet::image::Image;
use catapults_wcet::processors;
use catapults_wcet::refused::Why;

const COSTS: &str = "processor rabbit2000\nentry main\n";

/// An image with this code at 0x0100, where `main` begins. Others: functions at other addresses.
fn image(code: &[u8], others: &[(&str, u16)]) -> Image {
    let mut record = vec![u8::try_from(code.len()).unwrap(), 0x01, 0x00, 0x00];
    record.extend(code);
    let sum = record.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    record.push(0_u8.wrapping_sub(sum));
    let text: String = record.iter().map(|byte| format!("{byte:02X}")).collect();
    let mut symbols = "DEF _main 0x100\n".to_owned();
    for (name, at) in others {
        symbols += &format!("DEF _{name} {at:#x}\n");
    }
    Image::read(&format!(":{text}\n:00000001FF\n"), &symbols, &[]).unwrap()
}

/// The bound of `main`: its formula, or why it has none.
fn bound(code: &[u8], others: &[(&str, u16)], costs: &str) -> Result<String, Why> {
    let (image, costs) = (image(code, others), Costs::read(&format!("{COSTS}{costs}")).unwrap());
    let host = Host {
        image: &image,
        processor: processors::named(&costs.processor).unwrap(),
        costs: &costs,
        turns: &|_| None,
        counts: Counts { threads: 16, nodes: 1 },
        capacity: None,
    };
    let found = bounds(&host).into_iter().next().unwrap().1;
    found.map(|bound| bound.cost.formula.to_string()).map_err(|refused| refused.why)
}

fn alone(code: &[u8]) -> Result<String, Why> {
    bound(code, &[], "")
}

#[test]
fn straight_code_and_branches() {
    assert_eq!(alone(&[0x00, 0xc9]), Ok("10".to_owned())); // nop; ret
    // jr z, +1; nop; ret: the longer way counts.
    assert_eq!(alone(&[0x28, 0x01, 0x00, 0xc9]), Ok("15".to_owned()));
    // call f; ret. f: nop; ret
    assert_eq!(bound(&[0xcd, 0x04, 0x01, 0xc9, 0x00, 0xc9], &[("f", 0x104)], ""), Ok("30".to_owned()));
    // jp f, which is another function
    assert_eq!(bound(&[0xc3, 0x03, 0x01, 0x00, 0xc9], &[("f", 0x103)], ""), Ok("17".to_owned()));
}

#[test]
fn loops_that_count_down() {
    // ld b, 3; 1$: nop; djnz 1$; ret: 4 + 3 * 7 + 8
    assert_eq!(alone(&[0x06, 3, 0x00, 0x10, 0xfd, 0xc9]), Ok("33".to_owned()));
    // ld b, 0: 256 times
    assert_eq!(alone(&[0x06, 0, 0x00, 0x10, 0xfd, 0xc9]), Ok((4 + 256 * 7 + 8).to_string()));
    // ld a, 3; 1$: nop; dec a; jr nz, 1$; ret: 4 + 3 * 9 + 8
    assert_eq!(alone(&[0x3e, 3, 0x00, 0x3d, 0x20, 0xfc, 0xc9]), Ok("39".to_owned()));
    // ld bc, 5; ldir; ret: 6 + 6 + 7 * 5 + 8
    assert_eq!(alone(&[0x01, 5, 0, 0xed, 0xb0, 0xc9]), Ok("55".to_owned()));
    // A loop that is entered in its middle: ld b, 3; jr 2$; 1$: nop; 2$: nop; djnz 1$; ret
    assert_eq!(alone(&[0x06, 3, 0x18, 1, 0x00, 0x00, 0x10, 0xfc, 0xc9]), Ok((4 + 5 + 7 + 2 * 9 + 8).to_string()));
}

#[test]
fn loops_without_a_number() {
    let endless = Err(Why::Endless);
    assert_eq!(alone(&[0x00, 0x10, 0xfd, 0xc9]), endless, "B is the caller's");
    assert_eq!(alone(&[0x06, 3, 0x04, 0x10, 0xfd, 0xc9]), endless, "B is incremented in the loop");
    assert_eq!(alone(&[0x06, 3, 0x00, 0x20, 0xfd, 0xc9]), endless, "nothing counts");
    // ld a, 3; 1$: dec a; jr nz, 1$ + 0; ...; a second way back skips the count.
    assert_eq!(alone(&[0x3e, 3, 0x28, 0xfe, 0x3d, 0x20, 0xfb, 0xc9]), endless, "two ways lead back");
    assert_eq!(alone(&[0xed, 0xb0, 0xc9]), Err(Why::Move), "BC is the caller's");
    // The host says how often.
    let code = [0x00, 0x10, 0xfd, 0xc9];
    assert_eq!(bound(&code, &[], "turns main: n\n"), Ok("15 + 7n".to_owned()));
    assert_eq!(bound(&code, &[], "turns main: 4\n"), Ok((4 * 7 + 7 + 8).to_string()));
}

#[test]
fn what_has_no_bound_is_refused_by_why() {
    assert_eq!(alone(&[0xdd, 0x00, 0xc9]), Err(Why::Unknown(vec![0xdd, 0x00, 0xc9])));
    assert_eq!(alone(&[0x00]), Err(Why::Unknown(vec![])), "the code ends");
    assert_eq!(alone(&[0xe9]), Err(Why::Indirect), "jp (hl)");
    assert_eq!(alone(&[0xd7]), Err(Why::Away), "rst 10h");
    assert_eq!(alone(&[0xcd, 0x00, 0x01, 0xc9]), Err(Why::Recursive(vec!["main".to_owned()])));
    let mutual = [0xcd, 0x04, 0x01, 0xc9, 0xcd, 0x00, 0x01, 0xc9];
    let through = vec!["main".to_owned(), "f".to_owned()];
    assert_eq!(bound(&mutual, &[("f", 0x104)], ""), Err(Why::Recursive(through)));
    assert_eq!(alone(&[0x18, 0xfe]), Err(Why::Endless), "jr $");
    assert_eq!(bound(&[0xcd, 0x03, 0x01, 0x18, 0xfe], &[("f", 0x103)], "ends f\n"), Err(Why::NoPath));
}

/// A function that takes its address of return off the stack, to return through it.
#[test]
fn returns_through_registers() {
    assert_eq!(alone(&[0xe1, 0xf1, 0xe9]), Ok("18".to_owned()), "pop hl; pop af; jp (hl)");
    assert_eq!(alone(&[0xe1, 0x21, 0, 1, 0xe9]), Err(Why::Indirect), "pop hl; ld hl, 0x100; jp (hl)");
    assert_eq!(alone(&[0x00, 0xe1, 0x19, 0xe9]), Err(Why::Indirect), "pop hl; add hl, de; jp (hl)");
    // pop iy; call f; jp (iy). f: nop; ret, and then one that changes IY
    let kept = [0xfd, 0xe1, 0xcd, 0x07, 0x01, 0xfd, 0xe9, 0x00, 0xc9];
    assert_eq!(bound(&kept, &[("f", 0x107)], ""), Ok("37".to_owned()));
    let lost = [0xfd, 0xe1, 0xcd, 0x07, 0x01, 0xfd, 0xe9, 0xfd, 0x23, 0xc9];
    assert_eq!(bound(&lost, &[("f", 0x107)], ""), Err(Why::Indirect));
}

/// The switch ends the one thread's path, and begins that of the thread that goes on.
#[test]
fn a_switch_is_followed_into_the_other_thread() {
    // main: call s; nop; ret. s: nop; ret, which switches.
    let code = [0xcd, 0x05, 0x01, 0x00, 0xc9, 0x00, 0xc9];
    let functions = [("s", 0x105)];
    assert_eq!(bound(&code, &functions, "switch s\n"), Ok((12 + 10 + 10).to_string()));
    // It says itself that it does not switch: no path is left.
    assert_eq!(bound(&code, &functions, "switch s\nstays main\n"), Err(Why::NoPath));
    // In a loop: 1$: call s; djnz 1$; ret
    let around = [0x06, 3, 0xcd, 0x08, 0x01, 0x10, 0xfb, 0xc9, 0x00, 0xc9];
    assert_eq!(bound(&around, &[("s", 0x108)], "switch s\n"), Err(Why::SwitchesInLoop));
    // jr z, 1$; call s; 1$: ret. s: jp (hl), which calls the application: what is behind it is not known.
    let calls = [0x28, 0x03, 0xcd, 0x06, 0x01, 0xc9, 0xe9];
    assert_eq!(bound(&calls, &[("s", 0x106)], "application s\n"), Err(Why::Indirect));
    // Twice: a thread that has come back does so once more.
    let twice = [0xcd, 0x07, 0x01, 0xcd, 0x07, 0x01, 0xc9, 0x00, 0xc9];
    assert_eq!(bound(&twice, &[("s", 0x107)], "switch s\n"), Err(Why::SwitchesAgain));
}

#[test]
fn files_that_are_no_program_are_refused() {
    let why = |bytes: &str, listings: &[(&str, &str)]| {
        let listings: Vec<(String, String)> =
            listings.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        let unreadable = Image::read(bytes, "", &listings).unwrap_err();
        format!("{}: {}", unreadable.at, unreadable.why)
    };
    assert_eq!(why("hello\n", &[]), "the image:1: a record begins with a colon");
    assert_eq!(why(":0101000000FD\n", &[]), "the image:1: the checksum is wrong");
    assert_eq!(why(":01\n", &[]), "the image:1: the record is too short");
    assert_eq!(why(":01010000zzFE\n", &[]), "the image:1: these are no hexadecimal digits");
    assert_eq!(why(":0201000000FD\n", &[]), "the image:1: the record has another length");
    assert_eq!(
        why(":020000040001F9\n", &[]),
        "the image:1: the kind of record is 4, and only data of 16-bit addresses are known"
    );
    let listing = "      000100 01                      5 \tnop\n";
    let other = "a.rst:1: the listing has 01 at 0x0100, the image has not: they are of different programs";
    assert_eq!(why(":0101000000FE\n", &[("a.rst", listing)]), other);
}
