//! Variables of the application that the policy imports.
//!
//! A policy declares what it wants to know of each thread (`threadimports`) and of the program (`imports`). The
//! application gives it variables. Each side sees the changes of the other.
//!
//! ```no_run
//! use std::sync::Arc;
//! use catapults::imports::Int;
//!
//! catapults::imports! {
//!     /// What `threadimports { int bytesleft default 0; }` reads of each thread.
//!     struct Request {
//!         /// How much is left to be sent.
//!         bytesleft: Int,
//!     }
//! }
//!
//! catapults::start()?;
//! let request = Arc::new(Request { bytesleft: Int::new(40_000) });
//! let worker = catapults::thread::Builder::new().imports(request.clone()).spawn(move || {
//!     while request.bytesleft.get() > 0 {
//!         request.bytesleft.set(request.bytesleft.get() - 1000);
//!         catapults::thread::yield_now();
//!     }
//! })?;
//! # worker.join().ok();
//! # Ok::<(), catapults::Error>(())
//! ```

use std::any::TypeId;
use std::ffi::{CString, c_int};
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use crate::error::{Error, check};
use crate::start::here;
use crate::time::{Instant, nanoseconds};
use crate::{ffi, thread};

/// A policy's `int`, 64 bits.
#[repr(transparent)]
#[derive(Debug, Default)]
pub struct Int(AtomicI64);

/// A policy's `bool`.
#[repr(transparent)]
#[derive(Debug, Default)]
pub struct Bool(AtomicBool);

/// A policy's `time`: an instant or a duration.
#[repr(transparent)]
#[derive(Debug, Default)]
pub struct Time(AtomicI64);

/// A policy's `float`.
#[repr(transparent)]
#[derive(Debug, Default)]
pub struct Float(AtomicU64);

impl Int {
    /// One with this value.
    #[must_use]
    pub const fn new(value: i64) -> Self {
        Int(AtomicI64::new(value))
    }
    /// Its value.
    pub fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
    /// Gives it a value.
    pub fn set(&self, value: i64) {
        self.0.store(value, Ordering::Relaxed);
    }
    /// Adds to it, and returns what it was. Beyond the highest value comes the lowest.
    pub fn add(&self, difference: i64) -> i64 {
        self.0.fetch_add(difference, Ordering::Relaxed)
    }
}

impl Bool {
    /// One with this value.
    #[must_use]
    pub const fn new(value: bool) -> Self {
        Bool(AtomicBool::new(value))
    }
    /// Its value.
    pub fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
    /// Gives it a value.
    pub fn set(&self, value: bool) {
        self.0.store(value, Ordering::Relaxed);
    }
}

impl Time {
    /// One with this duration.
    #[must_use]
    pub fn new(duration: Duration) -> Self {
        Time(AtomicI64::new(nanoseconds(duration)))
    }
    /// One with this instant.
    #[must_use]
    pub const fn at(instant: Instant) -> Self {
        Time(AtomicI64::new(instant.nanoseconds()))
    }
    /// Its value as an instant.
    pub fn instant(&self) -> Instant {
        Instant::from_nanoseconds(self.0.load(Ordering::Relaxed))
    }
    /// Its value as a duration; nothing, if it is below 0.
    pub fn duration(&self) -> Duration {
        self.instant() - Instant::from_nanoseconds(0)
    }
    /// Gives it a duration.
    pub fn set(&self, duration: Duration) {
        self.0.store(nanoseconds(duration), Ordering::Relaxed);
    }
    /// Gives it an instant.
    pub fn set_instant(&self, instant: Instant) {
        self.0.store(instant.nanoseconds(), Ordering::Relaxed);
    }
}

impl Float {
    /// One with this value.
    #[must_use]
    pub const fn new(value: f64) -> Self {
        Float(AtomicU64::new(value.to_bits()))
    }
    /// Its value.
    pub fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }
    /// Gives it a value.
    pub fn set(&self, value: f64) {
        self.0.store(value.to_bits(), Ordering::Relaxed);
    }
}

/// [`Int`], [`Bool`], [`Time`] or [`Float`].
pub trait Variable: sealed::Variable {
    /// Links it with the variable of this name in the policy's `imports`, for good. That is no error if the policy
    /// imports none of this name, unless [`strict_imports`](crate::Options::strict_imports) is asked for.
    ///
    /// # Errors
    /// The policy imports it as another type, or the runtime itself keeps it. More is on standard error.
    fn register(&'static self, name: &str) -> Result<(), Error> {
        here()?;
        linked(sealed::Variable::link(self, &text(name)?), "catapults_schedvar_register")
    }
}

impl<T: sealed::Variable> Variable for T {}

mod sealed {
    use super::{Bool, CString, Float, Int, Time, c_int, ffi};

    /// Has the layout of the C type for which it is registered.
    pub trait Variable: Sync {
        fn link(&'static self, name: &CString) -> c_int;
        fn link_member(name: &CString, offset: usize) -> c_int;
    }

    macro_rules! variable {
        ($name:ident, $link:ident, $link_member:ident) => {
            impl Variable for $name {
                fn link(&'static self, name: &CString) -> c_int {
                    // SAFETY: it lives for ever, and all its accesses are atomic, as the policy's are.
                    unsafe { ffi::$link(name.as_ptr(), self.0.as_ptr().cast()) }
                }
                fn link_member(name: &CString, offset: usize) -> c_int {
                    // SAFETY: threads have objects with such a member there, or none: see `Imports`.
                    unsafe { ffi::$link_member(name.as_ptr(), offset) }
                }
            }
        };
    }
    variable!(Int, catapults_schedvar_register, catapults_threadvar_register_at);
    variable!(Bool, catapults_schedvar_register_bool, catapults_threadvar_register_bool_at);
    variable!(Time, catapults_schedvar_register_time, catapults_threadvar_register_time_at);
    variable!(Float, catapults_schedvar_register_float, catapults_threadvar_register_float_at);
}

fn text(name: &str) -> Result<CString, Error> {
    CString::new(name).map_err(|_| Error::Unusable(format!("no import has the name {name:?}: it has a byte 0")))
}

/// A policy need not import all that an application knows.
fn linked(number: c_int, call: &'static str) -> Result<(), Error> {
    if number == libc::ENOENT { Ok(()) } else { check(number, call) }
}

/// What a thread has for the policy: a struct of [`imports!`](crate::imports!).
///
/// # Safety
/// Each of `FIELDS` names a field at its offset, of its type. There, nothing but atomic accesses are made.
pub unsafe trait Imports: Send + Sync + 'static {
    /// Its fields.
    const FIELDS: &'static [Field];
}

/// A field of a struct of [`imports!`](crate::imports!).
pub struct Field {
    name: &'static str,
    offset: usize,
    link: fn(&CString, usize) -> c_int,
}

impl Field {
    /// For [`imports!`](crate::imports!): a field of this type.
    #[doc(hidden)]
    #[must_use]
    pub const fn new<T: sealed::Variable>(name: &'static str, offset: usize) -> Self {
        Field { name, offset, link: T::link_member }
    }
}

/// Declares a struct whose fields are the variables that the policy imports of each thread: its `threadimports`.
///
/// Each field is an [`Int`], a [`Bool`], a [`Time`] or a [`Float`]. The policy's name for it is the field's, or the one
/// after `as`:
///
/// ```
/// catapults::imports! {
///     /// A request of the server.
///     pub struct Request {
///         /// How much is left to be sent.
///         pub left as "bytesleft": catapults::imports::Int,
///         urgent: catapults::imports::Bool,
///     }
/// }
/// let request = Request { left: catapults::imports::Int::new(3), urgent: Default::default() };
/// assert_eq!(request.left.get(), 3);
/// ```
///
/// A program has one such struct whose objects threads have: see [`Builder::imports`](crate::thread::Builder::imports).
#[macro_export]
macro_rules! imports {
    ($(#[$about:meta])* $visibility:vis struct $name:ident {
        $($(#[$field_about:meta])* $field_visibility:vis $field:ident $(as $variable:literal)? : $kind:ty),* $(,)?
    }) => {
        $(#[$about])*
        $visibility struct $name {
            $($(#[$field_about])* $field_visibility $field: $kind),*
        }
        // SAFETY: the compiler says where the fields are, and these types have atomic accesses alone.
        unsafe impl $crate::imports::Imports for $name {
            const FIELDS: &'static [$crate::imports::Field] = &[$(
                $crate::imports::Field::new::<$kind>(
                    $crate::imports!(@name $field $($variable)?),
                    ::std::mem::offset_of!($name, $field),
                )
            ),*];
        }
    };
    (@name $field:ident) => { ::std::stringify!($field) };
    (@name $field:ident $variable:literal) => { $variable };
}

/// The struct whose objects threads have, and whether it can be used: offsets hold for the objects of all threads.
static REGISTERED: Mutex<Option<(TypeId, Result<(), Error>)>> = Mutex::new(None);

/// Links the fields of this struct with the policy's `threadimports`, as [`thread::Builder::imports`] does by itself for
/// the first thread with such an object.
///
/// # Errors
/// The policy imports one as another type, or the runtime itself keeps it; or another struct has been registered.
pub fn register<T: Imports>() -> Result<(), Error> {
    here()?;
    let own = TypeId::of::<T>();
    let known = registered(|registered| registered.get_or_insert((own, Ok(()))).clone());
    // Whoever comes first links it.
    static FIRST: AtomicBool = AtomicBool::new(true);
    match known {
        (known, result) if known == own && !FIRST.swap(false, Ordering::Relaxed) => result,
        (known, _) if known == own => {
            let result = T::FIELDS.iter().try_for_each(|field| {
                linked((field.link)(&text(field.name)?, field.offset), "catapults_threadvar_register_at")
            });
            registered(|registered| *registered = Some((own, result.clone())));
            result
        }
        (_, _) => {
            let why = "threads have objects of another struct already: a program has one struct of imports";
            Err(Error::Unusable(why.to_owned()))
        }
    }
}

/// Looks at what is registered. The lock is one of kernel threads: nobody who has it is interrupted, or calls the runtime.
fn registered<R>(look: impl FnOnce(&mut Option<(TypeId, Result<(), Error>)>) -> R) -> R {
    thread::undisturbed(|| look(&mut REGISTERED.lock().unwrap_or_else(std::sync::PoisonError::into_inner)))
}

/// What a thread has for a per-thread import without a variable: see [`thread::Builder::value`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// For an `int`.
    Int(i64),
    /// For a `bool`.
    Bool(bool),
    /// For a `time`, in nanoseconds.
    Time(i64),
    /// For a `float`.
    Float(f64),
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Int(value)
    }
}

impl From<i32> for Value {
    fn from(value: i32) -> Value {
        Value::Int(i64::from(value))
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Value {
        Value::Float(value)
    }
}

impl From<Duration> for Value {
    fn from(value: Duration) -> Value {
        Value::Time(nanoseconds(value))
    }
}

impl From<Instant> for Value {
    fn from(value: Instant) -> Value {
        Value::Time(value.nanoseconds())
    }
}

/// Values as the runtime takes them, with their names.
pub(crate) struct Values {
    plain: Vec<ffi::Value>,
    /// What `plain` points to.
    _names: Vec<CString>,
}

impl Values {
    pub(crate) fn new(values: &[(String, Value)]) -> Result<Self, Error> {
        let names = values.iter().map(|(name, _)| text(name)).collect::<Result<Vec<_>, _>>()?;
        let plain = names.iter().zip(values).map(|(name, (_, value))| {
            let (kind, is) = match *value {
                Value::Int(integer) => (0, ffi::ValueIs { integer }),
                Value::Bool(boolean) => (1, ffi::ValueIs { boolean }),
                Value::Time(nanoseconds) => (2, ffi::ValueIs { nanoseconds }),
                Value::Float(real) => (3, ffi::ValueIs { real }),
            };
            ffi::Value { name: name.as_ptr(), kind, is }
        });
        Ok(Values { plain: plain.collect(), _names: names })
    }

    pub(crate) fn as_ptr(&self) -> *const ffi::Value {
        if self.plain.is_empty() { ptr::null() } else { self.plain.as_ptr() }
    }

    pub(crate) fn len(&self) -> usize {
        self.plain.len()
    }
}

/// Tells the policy that variables of the calling thread have changed, by its event `changed`. It need not be told: it
/// reads them at its next event.
///
/// # Errors
/// The caller is no Catapults thread.
pub fn changed() -> Result<(), Error> {
    here()?;
    // SAFETY: the calling thread has not ended.
    check(unsafe { ffi::catapults_changed(thread::own_handle()) }, "catapults_changed")
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::imports! {
        struct Several {
            first: Bool,
            second as "other": Int,
            third: Float,
        }
    }

    #[test]
    fn fields_are_where_they_are_said_to_be() {
        let several = Several { first: Bool::new(true), second: Int::new(-7), third: Float::new(0.5) };
        let begin = ptr::from_ref(&several).cast::<u8>();
        let [first, second, third] = Several::FIELDS else { unreachable!() };
        assert_eq!((first.name, second.name, third.name), ("first", "other", "third"));
        // SAFETY: these are the fields of `several`, of these types.
        unsafe {
            assert!(*begin.add(first.offset).cast::<bool>());
            assert_eq!(*begin.add(second.offset).cast::<i64>(), -7);
            assert_eq!(*begin.add(third.offset).cast::<f64>(), 0.5);
        }
        several.second.add(1);
        several.third.set(-2.0);
        assert_eq!((several.second.get(), several.third.get(), several.first.get()), (-6, -2.0, true));
    }

    #[test]
    fn times_are_instants_or_durations() {
        let time = Time::new(Duration::from_micros(3));
        assert_eq!(time.duration(), Duration::from_micros(3));
        time.set_instant(Instant::from_nanoseconds(-1));
        assert_eq!((time.instant().nanoseconds(), time.duration()), (-1, Duration::ZERO));
    }

    #[test]
    fn values_keep_their_names() {
        let values = Values::new(&[("priority".to_owned(), 3.into()), ("urgent".to_owned(), true.into())]).unwrap();
        assert_eq!(values.len(), 2);
        // SAFETY: it has two values, with names that live.
        let name = unsafe { std::ffi::CStr::from_ptr((*values.as_ptr().add(1)).name) };
        assert_eq!(name.to_str(), Ok("urgent"));
        assert!(Values::new(&[("a\0b".to_owned(), 1.into())]).is_err());
        assert!(Values::new(&[]).unwrap().as_ptr().is_null());
    }
}
