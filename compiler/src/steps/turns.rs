//! How often the loops of a policy go round, for those who bound the code that is made of it.

use std::collections::BTreeMap;

use super::Steps;
use crate::policy::StatementKind;
use crate::verify::Most;

/// By place, as comments in generated code name it (`Policy::place`): the most turns of the loop there, after which it goes round.
pub type TurnsByPlace = BTreeMap<String, Most>;

impl Steps<'_> {
    /// Of each loop of the policy for which a number is known.
    pub fn turns(&self) -> TurnsByPlace {
        let policy = self.verified.policy();
        let mut found: BTreeMap<String, Option<Most>> = BTreeMap::new();
        for handler in policy.events.iter().chain(&policy.queries) {
            super::each(&handler.body, &mut |statement| {
                let limit = self.limits.of(statement.id);
                let own = match &statement.kind {
                    StatementKind::Foreach { .. } => Some(limit.source),
                    StatementKind::Follow { .. } => Some(Most::number(1)),
                    StatementKind::Loop { .. } if limit.reached => limit.turns.map(|turns| turns.completed),
                    StatementKind::Loop { .. }
                    | StatementKind::Set { .. }
                    | StatementKind::Link { .. }
                    | StatementKind::Transfer { .. }
                    | StatementKind::Send { .. }
                    | StatementKind::Destroy { .. }
                    | StatementKind::Dispatch { .. }
                    | StatementKind::If { .. }
                    | StatementKind::Verbatim { .. }
                    | StatementKind::Return { .. }
                    | StatementKind::Leave { .. }
                    | StatementKind::Fail { .. } => return,
                };
                if !limit.reached {
                    return;
                }
                // A function is written into each handler that calls it; and lines can have several loops.
                let worst = |known: Option<Most>| Some(known?.or(own?)).filter(|most| most.is_known());
                found.entry(policy.place(statement.at)).and_modify(|known| *known = worst(*known)).or_insert(own);
            });
        }
        found.into_iter().filter_map(|(place, most)| Some((place, most?))).collect()
    }
}
