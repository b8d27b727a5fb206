//! The steps that a page has.

/// What is done at a line.
pub struct Step {
    /// From 1.
    pub line: usize,
    pub kind: Kind,
}

pub enum Kind {
    File {
        name: String,
        text: String,
    },
    Change {
        name: String,
        before: Vec<String>,
        after: Vec<String>,
    },
    Command {
        text: String,
        /// What has to be printed; none: anything.
        shown: Option<Vec<String>>,
        /// The line of the page where that begins.
        first: usize,
    },
}

impl Step {
    pub fn title(&self) -> String {
        match &self.kind {
            Kind::File { name, .. } => format!("save {name}"),
            Kind::Change { name, .. } => format!("change {name}"),
            Kind::Command { text, .. } => text.clone(),
        }
    }
}

/// What stands for anything in a line of output.
const ANYTHING: &str = "[..]";

/// Whether a line is as the page shows it.
pub fn is_as_shown(shown: &str, line: &str) -> bool {
    let mut parts = shown.split(ANYTHING);
    let Some(mut rest) = parts.next().and_then(|first| line.strip_prefix(first)) else { return false };
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.is_empty()
}

/// The file that a line before a block names, as `` `NAME`: `` at its end.
fn file_named(line: &str) -> Option<&str> {
    let name = line.trim_end().strip_suffix("`:")?.rsplit_once('`')?.1;
    (name.contains('.') && !name.contains([' ', '/'])).then_some(name)
}

/// The steps of a page, in order.
///
/// # Errors
/// A block that is no step, and where it is.
pub fn read(path: &str, text: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    let mut before = "";
    while let Some((line, start)) = lines.next() {
        let Some(language) = start.strip_prefix("```") else {
            if !start.trim().is_empty() {
                before = start;
            }
            continue;
        };
        let block: Vec<(usize, &str)> = lines.by_ref().take_while(|(_, inside)| *inside != "```").collect();
        let name = || {
            let name = file_named(before).map(str::to_owned);
            name.ok_or_else(|| {
                format!("{path}:{line}: the line before the block names no file; it has to end with `NAME`:")
            })
        };
        match language {
            "console" => commands(&block, &mut steps)
                .map_err(|line| format!("{path}:{line}: a block of commands begins with `$ ` and a command"))?,
            "sh" => steps.extend(block.iter().map(|(line, command)| Step {
                line: *line,
                kind: Kind::Command { text: (*command).to_owned(), shown: None, first: line + 1 },
            })),
            "diff" => steps.push(Step { line, kind: change(name()?, &block) }),
            "c" | "sched" | "scenario" => {
                let text = block.iter().map(|(_, inside)| format!("{inside}\n")).collect();
                steps.push(Step { line, kind: Kind::File { name: name()?, text } });
            }
            _ => {
                return Err(format!(
                    "{path}:{line}: a block `{language}` is no step; write console, sh, diff, c, sched or scenario"
                ));
            }
        }
    }
    if steps.is_empty() { Err(format!("{path}: there is no step")) } else { Ok(steps) }
}

/// The commands of a block; else the line that comes before the first one.
fn commands(block: &[(usize, &str)], steps: &mut Vec<Step>) -> Result<(), usize> {
    let own = steps.len();
    let mut goes_on = false;
    for &(line, inside) in block {
        let command = inside.strip_prefix("$ ").filter(|_| !goes_on);
        if let Some(command) = command {
            let kind = Kind::Command { text: command.to_owned(), shown: Some(Vec::new()), first: line + 1 };
            steps.push(Step { line, kind });
            goes_on = command.ends_with('\\');
            continue;
        }
        let last = steps.get_mut(own..).and_then(<[Step]>::last_mut);
        match last.map(|step| &mut step.kind) {
            Some(Kind::Command { text, first, .. }) if goes_on => {
                *text += &format!("\n{inside}");
                *first = line + 1;
                goes_on = inside.ends_with('\\');
            }
            Some(Kind::Command { shown: Some(shown), .. }) => shown.push(inside.trim_end().to_owned()),
            Some(Kind::Command { .. } | Kind::File { .. } | Kind::Change { .. }) | None => return Err(line),
        }
    }
    Ok(())
}

fn change(name: String, block: &[(usize, &str)]) -> Kind {
    let side = |sign: char| {
        let lines = block.iter().filter_map(|(_, inside)| match inside.chars().next() {
            None => Some(""),
            Some(first) => (first == ' ' || first == sign).then(|| &inside[1..]),
        });
        lines.map(str::to_owned).collect()
    };
    Kind::Change { name, before: side('-'), after: side('+') }
}
