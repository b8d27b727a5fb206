//! The layouts of `frameworks/shared/catapults/policy.h`, and how to read what they describe.

use std::ffi::{CStr, c_char, c_int, c_void};

use catapults_compiler::policy::{StateClass, Type};
use catapults_compiler::vocabulary::{Float, Value};

pub(in crate::sim) const MAGIC: u32 = 0x7370_636d;
/// `CATAPULTS_CONTRACT`. The layouts below hold for this version only.
pub(in crate::sim) const CONTRACT: u32 = 12;
/// `enum catapults_class`, from 1.
pub(in crate::sim) const CLASSES: [StateClass; 4] =
    [StateClass::Running, StateClass::Ready, StateClass::Blocked, StateClass::Terminated];
/// `CATAPULTS_STOP_GUARD`; any other value is `CATAPULTS_STOP_FAIL`.
pub(in crate::sim) const GUARD: u32 = 0;
/// The types of imports.
pub(in crate::sim) const INT: u32 = 0;
pub(in crate::sim) const BOOL: u32 = 1;
pub(in crate::sim) const TIME: u32 = 2;
pub(in crate::sim) const FLOAT: u32 = 3;

#[repr(C)]
pub(in crate::sim) struct CThread {
    pub next: *mut CThread,
    pub previous: *mut CThread,
    pub container: u16,
    pub color: u8,
    pub number: u32,
    pub parent: *mut CThread,
    pub left: *mut CThread,
    pub right: *mut CThread,
    pub walk: *mut CThread,
}

#[repr(C)]
pub(in crate::sim) struct CStop {
    pub why: u32,
    pub line: u32,
    pub text: *const c_char,
}

#[repr(C)]
pub(in crate::sim) struct CImport {
    pub name: *const c_char,
    pub ty: u32,
    pub pointer: u32,
    pub fallback: u32,
}

#[repr(C)]
pub(in crate::sim) struct CPlace {
    pub event: *const c_char,
    pub line: u32,
}

#[repr(C)]
pub(in crate::sim) struct CProperty {
    pub name: *const c_char,
    pub ty: i32,
    pub set: unsafe extern "C" fn(*mut c_void, *mut CThread, *const c_void),
}

#[repr(C)]
pub(in crate::sim) struct CTimeout {
    pub name: *const c_char,
    pub raise: unsafe extern "C" fn(*mut c_void, *mut CThread) -> *const CStop,
}

#[repr(C)]
pub(in crate::sim) struct CPart {
    pub offset: u32,
    pub size: u32,
}

#[repr(C)]
pub(in crate::sim) struct CTimer {
    pub links: [*mut c_void; 3],
    pub instant: i64,
    pub thread: *mut CThread,
    pub timeout: u32,
}

#[repr(C)]
pub(in crate::sim) struct CList {
    pub first: *mut CThread,
    pub last: *mut CThread,
    pub count: i64,
}

#[repr(C)]
pub(in crate::sim) struct CRandom {
    pub state: [u32; 2],
}

#[repr(C)]
pub(in crate::sim) struct CPolicy {
    pub magic: u32,
    pub contract: u32,
    pub framework_abi: u32,
    pub instance_size: u32,
    pub thread_size: u32,
    pub imports_count: u32,
    pub thread_imports_count: u32,
    pub attributes_count: u32,
    pub unbounded: u32,
    pub framework: *const c_char,
    pub name: *const c_char,
    pub source: *const c_char,
    pub classes: *const u8,
    pub imports: *const CImport,
    pub thread_imports: *const CImport,
    pub attributes: *const c_void,
    pub now: u32,
    pub random: u32,
    pub timers: u32,
    pub timeouts_count: u32,
    pub timeouts: *const CTimeout,
    pub places_count: u32,
    pub places: *const CPlace,
    pub running_count: u32,
    pub running: *const CPart,
    pub ready_order: Option<unsafe extern "C" fn(*const CThread, *const CThread) -> c_int>,
    pub moved_by: *mut u32,
    pub start: unsafe extern "C" fn(*mut c_void),
    pub adopt: unsafe extern "C" fn(*mut c_void, *mut CThread),
    pub handlers: *const *const c_void,
    pub yields: *const c_void,
    pub shared_size: u32,
    pub node_size: u32,
    pub sent: u32,
    pub properties_count: u32,
    pub properties: *const CProperty,
    pub share: Option<unsafe extern "C" fn(*mut c_void)>,
    pub adopt_node: Option<unsafe extern "C" fn(*mut c_void, *mut CThread)>,
}

/// Whether the value has changed.
pub(in crate::sim) fn write(place: *mut u8, value: Value) -> bool {
    assert!(Type::ALL.contains(&value.ty()));
    // SAFETY: the variable has the type of the value, as was checked against the policy that the object was made from.
    unsafe {
        match value {
            Value::Int(value) | Value::Time(value) => place.cast::<i64>().replace(value) != value,
            Value::Bool(value) => place.cast::<bool>().replace(value) != value,
            Value::Float(value) => {
                place.cast::<u64>().replace(Float::get(value).to_bits()) != Float::get(value).to_bits()
            }
        }
    }
}

/// The value's type, by the contract's numbers.
pub(in crate::sim) fn type_of(value: Value) -> u32 {
    match value {
        Value::Int(_) => INT,
        Value::Bool(_) => BOOL,
        Value::Time(_) => TIME,
        Value::Float(_) => FLOAT,
    }
}

/// A variable of this type, by the contract's numbers.
pub(in crate::sim) fn read(place: *mut u8, ty: u32) -> Option<Value> {
    // SAFETY: the policy tells the variable's type.
    unsafe {
        Some(match ty {
            INT => Value::Int(place.cast::<i64>().read_unaligned()),
            BOOL => Value::Bool(place.cast::<u8>().read() != 0),
            TIME => Value::Time(place.cast::<i64>().read_unaligned()),
            FLOAT => Value::Float(Float::new(place.cast::<f64>().read_unaligned())),
            _ => return None,
        })
    }
}

pub(in crate::sim) fn text<'t>(pointer: *const c_char) -> &'t str {
    // SAFETY: this is constant data of a policy, which stays loaded while it is at work.
    unsafe { CStr::from_ptr(pointer) }.to_str().unwrap_or("")
}

pub(in crate::sim) fn imports<'t>(start: *const CImport, count: u32) -> &'t [CImport] {
    // SAFETY: the policy tells how many there are.
    if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(start, count as usize) } }
}

pub(in crate::sim) fn timeouts(of: &CPolicy) -> &[CTimeout] {
    if of.timeouts_count == 0 {
        &[]
    } else {
        // SAFETY: the description tells how many there are.
        unsafe { std::slice::from_raw_parts(of.timeouts, of.timeouts_count as usize) }
    }
}

pub(in crate::sim) fn places(of: &CPolicy) -> &[CPlace] {
    // SAFETY: as above.
    if of.places_count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(of.places, of.places_count as usize) } }
}

pub(in crate::sim) fn running(of: &CPolicy) -> &[CPart] {
    if of.running_count == 0 {
        &[]
    } else {
        // SAFETY: the description tells how many there are.
        unsafe { std::slice::from_raw_parts(of.running, of.running_count as usize) }
    }
}
