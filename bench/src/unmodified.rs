//! The distribution's own programs under policies, with load: each must do what it does under NPTL.
//!
//! A file `bench/unmodified/NAME.bash` is a program: it starts it, makes the load, and says what came of that. Nothing else names it.

mod program;

use std::io::Write;

use anyhow::{Result, bail, ensure};
use clap::Args;
use comfy_table::{Table, presets};

use crate::place::Place;
use program::{Host, Outcome, Program};

/// What to run, and for how long.
#[derive(Args, Debug)]
pub struct Options {
    /// How long each load is, in seconds
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=86400))]
    seconds: u32,
    /// Only these programs
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Instead of those that each program names: these policies of the library
    #[arg(long, value_delimiter = ',')]
    policies: Vec<String>,
    /// Only the programs that are quick to install, each under one policy, for a second
    #[arg(long)]
    short: bool,
}

/// Runs each program under each of its hosts, prints the table, and says how many did what they do under NPTL.
///
/// # Errors
///
/// When one did not, or a program is not known.
pub fn run(place: &Place, options: &Options) -> Result<()> {
    let all = Program::all(place)?;
    if let Some(unknown) = options.only.iter().find(|name| all.iter().all(|program| program.name != **name)) {
        let names: Vec<&str> = all.iter().map(|program| program.name.as_str()).collect();
        bail!("there is no program `{unknown}`; there are {}", names.join(", "));
    }
    let wanted = |program: &&Program| {
        if options.only.is_empty() {
            !options.short || program.short.is_some()
        } else {
            options.only.contains(&program.name)
        }
    };
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let (mut count, mut like_nptl) = (0, 0);
    for program in all.iter().filter(wanted) {
        for (host, outcome) in compared(place, program, options)? {
            count += 1;
            like_nptl += usize::from(outcome.is_ok());
            let said = if outcome.is_ok() { "as under NPTL" } else { "not as under NPTL" };
            table.add_row([program.name.clone(), host.to_string(), said.to_owned()]);
            if let Err(why) = outcome {
                eprintln!("unmodified: {}, {host}: {why}", program.name);
            }
        }
    }
    ensure!(count > 0, "no program was chosen");
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{table}\n\nunmodified: {like_nptl} of {count}")?;
    ensure!(like_nptl == count, "what failed is above");
    Ok(())
}

/// What each host made of the program: or why that is not what NPTL makes of it.
fn compared(place: &Place, program: &Program, options: &Options) -> Result<Vec<(Host, Result<(), String>)>> {
    let seconds = if options.short { 1 } else { options.seconds };
    let hosts = match &program.short {
        Some(host) if options.short => vec![host.clone()],
        _ if options.policies.is_empty() => program.hosts.clone(),
        _ => options.policies.iter().flat_map(|policy| Host::on_one_and_two(policy)).collect(),
    };
    let run = |host: &Host| {
        eprintln!("unmodified: {}, {host}", program.name);
        program.run(place, host, seconds)
    };
    let kernel = run(&Host::Kernel)?;
    let mut compared = Vec::new();
    if let Some(why) = kernel.failure() {
        compared.push((Host::Kernel, Err(format!("it fails by itself: {why}"))));
        return Ok(compared);
    }
    for host in hosts {
        let outcome = run(&host)?;
        compared.push((host, judged(&kernel, &outcome)));
    }
    Ok(compared)
}

fn judged(kernel: &Outcome, outcome: &Outcome) -> Result<(), String> {
    if let Some(why) = outcome.failure() {
        return Err(why);
    }
    if outcome.verdict != kernel.verdict {
        return Err(format!("it says\n{}\nand under NPTL\n{}", outcome.verdict, kernel.verdict));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(verdict: &str, ended: Option<i32>) -> Outcome {
        Outcome { verdict: verdict.to_owned(), ended, last: "last words".to_owned() }
    }

    #[test]
    fn who_does_what_it_does_under_nptl() {
        let kernel = outcome("served\n", Some(0));
        assert_eq!(judged(&kernel, &outcome("served\n", Some(0))), Ok(()));
        assert!(judged(&kernel, &outcome("lost 1\n", Some(0))).is_err_and(|why| why.contains("lost 1")));
        assert!(judged(&kernel, &outcome("served\n", Some(1))).is_err_and(|why| why.contains("last words")));
        assert!(judged(&kernel, &outcome("served\n", None)).is_err_and(|why| why.contains("hangs")));
    }
}
