//! Requests of different lengths, which the policy sees: examples/from_rust/README.md.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use catapults::Error;
use catapults::imports::Int;
use catapults::sync::{Mutex, Receiver, unbounded};
use catapults::thread::{self, Builder};

catapults::imports! {
    /// What the policy reads of each request.
    struct Request {
        /// How much is left to be sent.
        bytesleft: Int,
    }
}

/// What a request sends at a time.
const PIECE: i64 = 100;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    catapults::start()?;
    let (clients, requests) = unbounded();
    let server = thread::spawn(move || serve(&requests))?;
    for request in [("film", 9_000), ("picture", 3_000), ("text", 500)] {
        clients.send(request)?;
    }
    drop(clients);
    let answered = server.join().unwrap_or_else(|payload| std::panic::resume_unwind(payload))?;
    for (name, pieces) in answered {
        println!("{name:<8} answered after {pieces:>3} pieces");
    }
    Ok(())
}

/// Answers each request by a thread of its own. Returns them as they were done, with how many pieces had been sent by then.
fn serve(requests: &Receiver<(&'static str, i64)>) -> Result<Vec<(&'static str, usize)>, Error> {
    let answered = Mutex::new(Vec::new());
    let sent = AtomicUsize::new(0);
    thread::scope(|scope| {
        for (name, bytes) in requests.iter() {
            let request = Arc::new(Request { bytesleft: Int::new(bytes) });
            let (own, answered, sent) = (request.clone(), &answered, &sent);
            scope.spawn_with(Builder::new().name(name).imports(request), move || {
                while own.bytesleft.get() > 0 {
                    own.bytesleft.add(-PIECE);
                    sent.fetch_add(1, Ordering::Relaxed);
                    thread::yield_now();
                }
                answered.lock().map(|mut answered| answered.push((name, sent.load(Ordering::Relaxed))))
            })?;
        }
        Ok::<(), Error>(())
    })?;
    Ok(answered.into_inner())
}
