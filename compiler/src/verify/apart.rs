//! Where paths meet, states are kept apart. When there are too many, some of them become one.

use super::state::State;

/// At most `most` states that together stand for all of `states`. One that another covers is merged into it. While
/// there are too many, those two are joined that lose the least by it.
pub(super) fn apart(states: Vec<State>, most: usize) -> Vec<State> {
    if most <= 1 {
        return if states.len() > 1 { states.into_iter().reduce(State::join).into_iter().collect() } else { states };
    }
    let mut kept: Vec<State> = Vec::new();
    for state in states {
        let wider = |other: &State| (*other != state).then(|| other.clone().join(state.clone()));
        let place = kept.iter().position(|other| wider(other).is_none_or(|both| both == *other || both == state));
        match place.and_then(|place| kept.get_mut(place)) {
            Some(other) => *other = other.clone().join(state),
            None => kept.push(state),
        }
    }
    while kept.len() > most {
        let pairs = (0..kept.len()).flat_map(|one| (0..one).map(move |other| (one, other)));
        let Some((one, other)) = pairs.min_by_key(|(one, other)| kept[*one].loss(&kept[*other])) else { break };
        let state = kept.remove(one);
        kept[other] = kept[other].clone().join(state);
    }
    kept
}

/// What holds before the next round of a loop, if `heads` held before the last one and `after` holds after it. A new
/// state becomes a head; if there are `most`, or merging loses nothing, `grown` merges it into the nearest head.
pub(super) fn heads(
    heads: &[State],
    after: Vec<State>,
    most: usize,
    grown: impl Fn(&State, State) -> State,
) -> Vec<State> {
    let mut next = heads.to_vec();
    for state in after {
        if next.iter().any(|head| head.clone().join(state.clone()) == *head) {
            continue;
        }
        let losses = next.iter().enumerate().map(|(place, head)| (head.loss(&state), place));
        match losses.min() {
            Some((loss, place)) if loss == 0 || next.len() >= most => next[place] = grown(&next[place], state),
            Some(_) | None => next.push(state),
        }
    }
    next
}
