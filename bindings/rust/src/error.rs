use std::ffi::c_int;
use std::{fmt, io};

/// Why a call has not done what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// [`crate::Options::start`] has not been called.
    NotStarted,
    /// The caller is no Catapults thread: it runs on a kernel thread that another library has made, such as one of
    /// `std::thread`'s.
    Elsewhere,
    /// It would have to wait.
    Busy,
    /// The time is over.
    TimedOut,
    /// The caller would wait for itself, through locks and joins.
    Deadlock,
    /// The policy refused the thread, with this reason.
    Refused(String),
    /// The other ends of the channel are gone.
    Closed,
    /// What was asked for cannot be: this is why.
    Unusable(String),
    /// A call of the runtime failed.
    Failed {
        /// Its name in `catapults.h`, which says what its errors mean.
        call: &'static str,
        /// The error number.
        number: i32,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotStarted => to.write_str("the runtime has not been started: call catapults::start first"),
            Error::Elsewhere => to.write_str(
                "the caller is no Catapults thread: call this in main, or in a thread of catapults::thread::spawn",
            ),
            Error::Busy => to.write_str("it would have to wait"),
            Error::TimedOut => to.write_str("the time is over"),
            Error::Deadlock => to.write_str("the caller would wait for itself"),
            Error::Refused(why) => write!(to, "the policy refused the thread: {why}"),
            Error::Closed => to.write_str("the other ends of the channel are gone"),
            Error::Unusable(why) => to.write_str(why),
            Error::Failed { call, number } => write!(to, "{call}: {}", io::Error::from_raw_os_error(*number)),
        }
    }
}

impl std::error::Error for Error {}

impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        let kind = match &error {
            Error::Failed { number, .. } => return io::Error::from_raw_os_error(*number),
            Error::Busy => io::ErrorKind::WouldBlock,
            Error::TimedOut => io::ErrorKind::TimedOut,
            Error::Closed => io::ErrorKind::BrokenPipe,
            Error::Unusable(_) => io::ErrorKind::InvalidInput,
            Error::NotStarted | Error::Elsewhere | Error::Deadlock | Error::Refused(_) => io::ErrorKind::Other,
        };
        io::Error::new(kind, error)
    }
}

/// What an error number of this call means.
pub(crate) fn check(number: c_int, call: &'static str) -> Result<(), Error> {
    match number {
        0 => Ok(()),
        libc::EBUSY => Err(Error::Busy),
        libc::ETIMEDOUT => Err(Error::TimedOut),
        libc::EDEADLK => Err(Error::Deadlock),
        number => Err(Error::Failed { call, number }),
    }
}
