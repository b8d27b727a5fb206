//! A build makes its file from the generated source.

use super::Framework;
use crate::diagnostics::{Diagnostic, Diagnostics};

pub(super) fn check(framework: &Framework, diagnostics: &mut Diagnostics) {
    for build in &framework.builds {
        let always = || build.command.iter().filter(|argument| argument.only.is_none());
        for (placeholder, why) in
            [("{source}", "nothing of the policy gets into what is made"), ("{output}", "the file would not be made")]
        {
            if !always().any(|argument| argument.text.contains(placeholder)) {
                let title = format!("the command of build `{}` does not name `{placeholder}`", build.name);
                let missing = Diagnostic::warning("E0212", title, build.at, why);
                diagnostics.push(missing.help(format!("add `{placeholder}` to the command, without a condition")));
            }
        }
        if !build.output.contains("{policy}") {
            let title = format!("build `{}` makes the same file of every policy", build.name);
            let same = Diagnostic::warning("E0212", title, build.at, "each replaces the one before");
            diagnostics.push(same.help("put `{policy}` into the name of the file"));
        }
    }
}
