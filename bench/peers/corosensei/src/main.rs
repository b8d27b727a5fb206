//! What corosensei's switch costs, to and fro: inline assembly, so the compiler saves only what is live. No threads and no
//! scheduler: a limit, not a peer.

#[path = "../../peer.rs"]
mod peer;

use std::time::Instant;

use corosensei::Coroutine;

fn main() {
    peer::main("corosensei, bare 0.3.4", &[("switch", switch, 2_000_000)]);
}

fn switch(count: usize) {
    let mut coroutine = Coroutine::<(), (), ()>::new(|yielder, ()| {
        loop {
            yielder.suspend(());
        }
    });
    let start = Instant::now();
    for _ in 0..count / 2 {
        coroutine.resume(());
    }
    peer::report("switch", peer::each(start, count));
    // Its loop never ends, so it cannot be dropped in order.
    std::mem::forget(coroutine);
}
