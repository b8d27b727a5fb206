//! What the verifier took to accept a policy.

use crate::programs::{PREFIX, open, refused, said};

/// Asks the verifier for its statistics.
const STATISTICS: u32 = 4;

/// Prints, for each program of these objects, how many instructions and states the verifier looked at, and how many bytes of stack the
/// program takes: `OBJECT PROGRAM INSTRUCTIONS STATES STACK`.
pub fn print(objects: &[String]) -> Result<(), String> {
    for object in objects {
        let mut open = open(object)?;
        for mut program in open.progs_mut() {
            program.set_log_level(STATISTICS);
        }
        open.load().map_err(|error| refused(object, &error.to_string()))?;
        for cost in costs(&said())? {
            let Cost { program, instructions, states, stack } = cost;
            println!("{object} {program} {instructions} {states} {stack}");
        }
    }
    Ok(())
}

/// What one program took.
#[derive(Debug, PartialEq, Eq)]
struct Cost {
    program: String,
    instructions: u64,
    states: u64,
    stack: u64,
}

/// Reads what the kernel and libbpf say of programs that were loaded.
fn costs(said: &str) -> Result<Vec<Cost>, String> {
    let mut costs = Vec::new();
    let (mut program, mut stack) = ("", 0);
    for line in said.lines() {
        if let Some(named) = line.split("prog '").nth(1).filter(|_| line.contains("BEGIN PROG LOAD LOG")) {
            program = named.split('\'').next().unwrap_or_default().trim_start_matches(PREFIX);
        } else if let Some(depths) = line.strip_prefix("stack depth ") {
            // One number for the program itself, and one for each function that it calls.
            stack = depths.split('+').filter_map(|depth| depth.trim().parse::<u64>().ok()).max().unwrap_or(0);
        } else if line.starts_with("processed ") {
            let after = |word: &str| {
                let number = line.split(word).nth(1).and_then(|rest| rest.split_whitespace().next()?.parse().ok());
                number.ok_or_else(|| format!("the kernel's statistics have another form: {line}"))
            };
            let (instructions, states) = (after("processed ")?, after("total_states ")?);
            costs.push(Cost { program: program.to_owned(), instructions, states, stack });
        }
    }
    if costs.is_empty() { Err("the kernel says nothing of what it took".to_owned()) } else { Ok(costs) }
}

#[cfg(test)]
mod tests {
    use super::{Cost, costs};

    #[test]
    fn statistics_are_read() {
        let said = "libbpf: prog 'catapults_do_exit': -- BEGIN PROG LOAD LOG --\nverification time 9 usec\nstack depth 16+40+8\n\
                    processed 97 insns (limit 1000000) max_states_per_insn 1 total_states 6 peak_states 5 mark_read 2\n";
        let exit = Cost { program: "exit".to_owned(), instructions: 97, states: 6, stack: 40 };
        assert_eq!(costs(said), Ok(vec![exit]));
        assert!(costs("").is_err());
    }
}
