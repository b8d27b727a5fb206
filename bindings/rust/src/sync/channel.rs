use std::collections::VecDeque;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::{Condvar, Mutex};
use crate::error::Error;
use crate::time::{self, Instant};

/// A channel that holds any number of values. Both ends can be cloned: each value goes to one receiver.
#[must_use]
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    channel(usize::MAX)
}

/// A channel that holds so many values: whoever sends more waits.
#[must_use]
pub fn bounded<T>(capacity: NonZeroUsize) -> (Sender<T>, Receiver<T>) {
    channel(capacity.get())
}

fn channel<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let channel = Arc::new(Channel {
        values: Mutex::new(VecDeque::new()),
        capacity,
        senders: AtomicUsize::new(1),
        receivers: AtomicUsize::new(1),
        filled: Condvar::new(),
        emptied: Condvar::new(),
    });
    (Sender { channel: channel.clone() }, Receiver { channel })
}

struct Channel<T> {
    values: Mutex<VecDeque<T>>,
    capacity: usize,
    senders: AtomicUsize,
    receivers: AtomicUsize,
    filled: Condvar,
    emptied: Condvar,
}

/// Where values are sent. If the last one is dropped, receivers get what is left, and then [`Error::Closed`].
pub struct Sender<T> {
    channel: Arc<Channel<T>>,
}

/// Where values are received. If the last one is dropped, nothing can be sent any more.
pub struct Receiver<T> {
    channel: Arc<Channel<T>>,
}

/// A value that could not be sent, and why.
#[derive(Clone, PartialEq, Eq)]
pub struct SendError<T> {
    /// What was to be sent.
    pub value: T,
    /// [`Error::Closed`]: there is no receiver any more.
    pub why: Error,
}

impl<T> Sender<T> {
    /// Sends a value, and waits until there is room for it.
    ///
    /// # Errors
    /// There is no receiver any more, or the caller is no Catapults thread.
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.send_until(value, Instant::FOREVER)
    }

    /// Sends a value if there is room for it.
    ///
    /// # Errors
    /// [`Error::Busy`]: there is none; or as [`send`](Self::send).
    pub fn try_send(&self, value: T) -> Result<(), SendError<T>> {
        self.send_until(value, Instant::from_nanoseconds(i64::MIN)).map_err(at_once)
    }

    /// Sends a value, and waits for room until this instant.
    ///
    /// # Errors
    /// [`Error::TimedOut`], or as [`send`](Self::send).
    pub fn send_until(&self, value: T, instant: Instant) -> Result<(), SendError<T>> {
        let channel = &*self.channel;
        let room = || {
            let mut values = channel.values.lock()?;
            loop {
                if channel.receivers.load(Ordering::Acquire) == 0 {
                    return Err(Error::Closed);
                }
                if values.len() < channel.capacity {
                    return Ok(values);
                }
                let in_time;
                (values, in_time) = channel.emptied.wait_until(values, instant)?;
                if !in_time && values.len() >= channel.capacity {
                    return Err(Error::TimedOut);
                }
            }
        };
        match room() {
            Ok(mut values) => values.push_back(value),
            Err(why) => return Err(SendError { value, why }),
        }
        channel.filled.notify_one();
        Ok(())
    }
}

fn at_once<T>(error: SendError<T>) -> SendError<T> {
    SendError { value: error.value, why: busy(error.why) }
}

/// What has not come at once.
fn busy(why: Error) -> Error {
    if why == Error::TimedOut { Error::Busy } else { why }
}

impl<T> Receiver<T> {
    /// Waits for a value.
    ///
    /// # Errors
    /// [`Error::Closed`]: there is no value, and no sender any more. The caller is no Catapults thread.
    pub fn receive(&self) -> Result<T, Error> {
        self.receive_until(Instant::FOREVER)
    }

    /// A value, if there is one.
    ///
    /// # Errors
    /// [`Error::Busy`]: there is none; or as [`receive`](Self::receive).
    pub fn try_receive(&self) -> Result<T, Error> {
        self.receive_until(Instant::from_nanoseconds(i64::MIN)).map_err(busy)
    }

    /// Waits for a value for this long.
    ///
    /// # Errors
    /// [`Error::TimedOut`], or as [`receive`](Self::receive).
    pub fn receive_timeout(&self, length: Duration) -> Result<T, Error> {
        self.receive_until(time::after(length))
    }

    /// Waits for a value until this instant.
    ///
    /// # Errors
    /// [`Error::TimedOut`], or as [`receive`](Self::receive).
    pub fn receive_until(&self, instant: Instant) -> Result<T, Error> {
        let channel = &*self.channel;
        let mut values = channel.values.lock()?;
        loop {
            if let Some(value) = values.pop_front() {
                drop(values);
                channel.emptied.notify_one();
                return Ok(value);
            }
            if channel.senders.load(Ordering::Acquire) == 0 {
                return Err(Error::Closed);
            }
            let in_time;
            (values, in_time) = channel.filled.wait_until(values, instant)?;
            if !in_time && values.is_empty() {
                return Err(Error::TimedOut);
            }
        }
    }

    /// The values that come, until there is no sender any more.
    pub fn iter(&self) -> impl Iterator<Item = T> {
        std::iter::from_fn(|| self.receive().ok())
    }
}

impl<T> Channel<T> {
    /// Tells all that wait that the other ends are gone. They look at that under the mutex, so it is had once.
    fn closed(&self, waiting: &Condvar) {
        drop(self.values.lock());
        waiting.notify_all();
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.channel.senders.fetch_add(1, Ordering::Relaxed);
        Sender { channel: self.channel.clone() }
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.channel.receivers.fetch_add(1, Ordering::Relaxed);
        Receiver { channel: self.channel.clone() }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if self.channel.senders.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.channel.closed(&self.channel.filled);
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if self.channel.receivers.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.channel.closed(&self.channel.emptied);
        }
    }
}

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("SendError").field("why", &self.why).finish_non_exhaustive()
    }
}

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.why.fmt(to)
    }
}

impl<T> std::error::Error for SendError<T> {}
