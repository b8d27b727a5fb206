//! Where an object calls the kernel, and how much of its code around each call can be moved elsewhere: there the host
//! puts a jump (frameworks/native/beneath/sites.h).

use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind,
    Register,
};
use object::{Object, ObjectSection, SectionKind};
use std::collections::HashSet;

/// Whole instructions around a call of the kernel, none of which is jumped to but the first.
#[derive(Debug, Eq, PartialEq)]
pub struct Site {
    /// Its address, as the object has them.
    pub start: u32,
    /// Bytes: at least as many as a jump has.
    pub size: u8,
    /// Of these, before the call.
    pub call: u8,
}

/// Bytes of a jump to anywhere near.
const JUMP: usize = 5;
/// Instructions before a call among which the number of the call is looked for.
const NEAR: usize = 10;
/// And among which that of a register is looked for which has it meanwhile: about a function.
const FAR: usize = 300;
/// No call of the kernel has this number, or a greater one.
const NUMBERS: u64 = 600;

/// The sites of an object, in order. `trusted`: all of its code is code, as libc's is. In other objects there may be
/// data among it that looks like a call: there a call is what is given its number a few instructions before.
pub fn sites(file: &object::File<'_>, trusted: bool) -> Vec<Site> {
    let mut found = Vec::new();
    for section in file.sections().filter(|section| section.kind() == SectionKind::Text) {
        let Ok(bytes) = section.data() else { continue };
        if bytes.windows(2).any(|two| two == [0x0f, 0x05]) {
            found.extend(in_code(bytes, section.address(), trusted));
        }
    }
    found
}

/// The build-id by which the object is known when it is loaded.
pub fn identity<'data>(file: &object::File<'data>) -> Option<&'data [u8]> {
    file.build_id().ok().flatten().filter(|id| id.len() <= 32)
}

fn in_code(bytes: &[u8], address: u64, trusted: bool) -> Vec<Site> {
    let code: Vec<Instruction> = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).into_iter().collect();
    let targets: HashSet<u64> =
        code.iter().map(Instruction::near_branch_target).filter(|target| *target != 0).collect();
    let calls = (0..code.len()).filter(|at| code[*at].code() == Code::Syscall);
    let calls = calls.filter(|at| trusted || is_numbered(&code[..*at]));
    calls.filter(|at| !returns_from_handler(&code, *at)).filter_map(|at| around(&code, at, &targets)).collect()
}

/// Whether the instructions end in code that gives a call its number, or that moves it there from a register which got it
/// earlier: compilers keep what a loop needs.
fn is_numbered(before: &[Instruction]) -> bool {
    let near = &before[before.len().saturating_sub(NEAR)..];
    let straight = near.iter().rev().take_while(|one| one.flow_control() == FlowControl::Next);
    let number = straight.into_iter().find(|one| moves_to(one, Register::RAX));
    let earlier = &before[before.len().saturating_sub(FAR)..];
    number.is_some_and(|one| {
        is_number(one)
            || (one.op1_kind() == OpKind::Register
                && earlier.iter().any(|other| moves_to(other, one.op1_register().full_register()) && is_number(other)))
    })
}

fn moves_to(instruction: &Instruction, register: Register) -> bool {
    instruction.mnemonic() == Mnemonic::Mov && instruction.op0_register().full_register() == register
}

fn is_number(instruction: &Instruction) -> bool {
    instruction.try_immediate(1).is_ok_and(|number| number < NUMBERS)
}

/// Debuggers and unwinders know the end of a handler by these very bytes.
fn returns_from_handler(code: &[Instruction], at: usize) -> bool {
    const RT_SIGRETURN: u64 = 15;
    let before = at.checked_sub(1).map(|before| &code[before]);
    before.is_some_and(|one| {
        one.op0_register().full_register() == Register::RAX
            && one.try_immediate(1).is_ok_and(|number| number == RT_SIGRETURN)
    })
}

fn around(code: &[Instruction], at: usize, targets: &HashSet<u64>) -> Option<Site> {
    // Bounds, as indexes: the code before may be left out, the more so the better.
    let (first, last) = [(1, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 0)].into_iter().find_map(|(before, behind)| {
        let (first, last) = (at.checked_sub(before)?, at + behind);
        let window = code.get(first..=last)?;
        let jumped_into = window.iter().skip(1).any(|one| targets.contains(&one.ip()));
        let size: usize = window.iter().map(Instruction::len).sum();
        let movable = (first..at)
            .chain(at + 1..=last)
            .all(|one| is_movable(&code[one]) || (one == last && one == at + 1 && is_jump(&code[one])));
        (size >= JUMP && movable && !jumped_into).then_some((first, last))
    })?;
    let start = code[first].ip();
    let size = code[last].next_ip() - start;
    Some(Site {
        start: u32::try_from(start).ok()?,
        size: u8::try_from(size).ok()?,
        call: u8::try_from(code[at].ip() - start).ok()?,
    })
}

/// A jump is moved by giving it another distance.
fn is_jump(instruction: &Instruction) -> bool {
    matches!(instruction.code(), Code::Jmp_rel8_64 | Code::Jmp_rel32_64)
}

/// Whether it does the same elsewhere. Where the stack is must not depend on it: frames of debuggers and unwinders say that.
fn is_movable(instruction: &Instruction) -> bool {
    let of_the_stack = |register: Register| register.full_register() == Register::RSP;
    let mut factory = InstructionInfoFactory::new();
    let moves_the_stack = factory
        .info(instruction)
        .used_registers()
        .iter()
        .any(|one| of_the_stack(one.register()) && one.access() != OpAccess::Read);
    instruction.flow_control() == FlowControl::Next
        && instruction.code() != Code::Syscall
        && !instruction.is_ip_rel_memory_operand()
        && !instruction.is_stack_instruction()
        && !moves_the_stack
}
