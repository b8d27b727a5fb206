//! A compiled policy at work in the simulator: the host's side of `policy.h` in `frameworks/shared/catapults`.
//!
//! ```text
//! block of a thread │ struct catapults_thread │ the policy's attributes, imports and defaults │
//!                   └── numbered, adopted; kept for the next thread of its number
//! ```
#![allow(unsafe_code, reason = "handlers are called, and their memory is theirs")]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::cmp::Ordering;
use std::ffi::c_void;
use std::path::Path;

use catapults_compiler::framework::Framework;
use catapults_compiler::interp::{Stop, ThreadId, random_state};
use catapults_compiler::policy::{Policy, StateClass};
use catapults_compiler::scenario::Nodes;
use catapults_compiler::vocabulary::Value;
use libloading::Library;

use super::policy::{CAN_SWITCH_TO, EventId, Events, Runner, exchanged};
use layout::{
    CImport, CLASSES, CList, CONTRACT, CPolicy, CRandom, CStop, CThread, CTimeout, CTimer, GUARD, MAGIC, TIME, imports,
    places, read, running, text, timeouts, type_of, write,
};

pub(super) mod layout;
// The tests compare these layouts with the headers.
#[cfg(test)]
mod tests;
/// A shared object that `catapults build` made from a policy.
pub struct Object {
    policy: *const CPolicy,
    /// Handlers report which statement moved a thread.
    pub(super) recorded: bool,
    /// Keeps the memory of `policy` loaded.
    _library: Library,
}

impl Object {
    /// Loads the object. `recorded`: handlers report, a little slower, which statement moved a thread.
    ///
    /// # Errors
    /// The file cannot be loaded, or was built for another framework or version.
    pub fn load(file: &Path, framework: &Framework, recorded: bool) -> Result<Object, String> {
        // SAFETY: generated code has no constructors; whether to trust other files is up to the caller.
        let library = unsafe { Library::new(file) }.map_err(|error| error.to_string())?;
        // SAFETY: the symbol is the policy itself; its magic number, which is read first, says so.
        let policy = unsafe {
            let plain = || library.get::<*const CPolicy>(b"catapults_policy\0");
            let traced = recorded.then(|| library.get(b"catapults_policy_traced\0").ok()).flatten();
            let symbol = traced.map_or_else(plain, Ok).map_err(|error| error.to_string())?;
            symbol.try_as_raw_ptr()
        };
        let policy = policy.ok_or("it has no policy")?.cast_const().cast::<CPolicy>();
        // SAFETY: the object stays loaded as long as `policy` is used.
        let of = unsafe { &*policy };
        if of.magic != MAGIC || of.contract != CONTRACT || of.framework_abi != framework.abi {
            return Err("it was built by another version".to_owned());
        }
        Ok(Object { policy, recorded, _library: library })
    }

    pub(super) fn policy(&self) -> &CPolicy {
        // SAFETY: as above.
        unsafe { &*self.policy }
    }
}

/// Zeroed memory with the alignment that policies need.
pub(super) struct Block {
    start: *mut u8,
    layout: Layout,
}

impl Block {
    pub(super) fn new(bytes: usize) -> Block {
        let layout = Layout::from_size_align(bytes.max(16), 16).unwrap_or(Layout::new::<u128>());
        // SAFETY: the layout is not empty.
        let start = unsafe { alloc_zeroed(layout) };
        if start.is_null() {
            handle_alloc_error(layout);
        }
        Block { start, layout }
    }

    pub(super) fn at<T>(&self, offset: u32) -> *mut T {
        // SAFETY: a policy's offsets are within the size that it asks for.
        unsafe { self.start.add(offset as usize).cast() }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout.
        unsafe { dealloc(self.start, self.layout) }
    }
}

/// How the handler of an event is called.
#[derive(Clone, Copy)]
enum Handler {
    None,
    Plain(unsafe extern "C" fn(*mut c_void) -> *const CStop),
    OfThread(unsafe extern "C" fn(*mut c_void, *mut CThread) -> *const CStop),
    Dispatches(unsafe extern "C" fn(*mut c_void, *mut *const CStop) -> *mut CThread),
}

/// A policy at work.
pub(super) struct Running<'o> {
    object: &'o Object,
    has_nodes: bool,
    shared: Option<Block>,
    /// One, or with nodes one per processor.
    instances: Vec<Block>,
    nodes: Vec<Block>,
    threads: Vec<Option<Block>>,
    /// Indexed by event.
    handlers: Vec<Handler>,
    lines: Vec<u32>,
    names: Vec<String>,
    /// The RUNNING parts of all processors but the entered one, whose parts are in the instance.
    running: Vec<Vec<u8>>,
    fresh: Vec<u8>,
    here: usize,
    now: i64,
    moved_by: u32,
    consumed: Option<u32>,
    consumed_by_all: Option<u32>,
    timeouts: Vec<EventId>,
    can_switch_to: Option<unsafe extern "C" fn(*mut c_void, *mut CThread) -> bool>,
}

impl<'o> Running<'o> {
    #[allow(clippy::missing_transmute_annotations, reason = "the variants of `Handler` say the types")]
    pub(super) fn new(object: &'o Object, policy: &Policy, framework: &Framework, events: &Events) -> Self {
        let of = object.policy();
        let members = members(framework);
        let handler = |name: &String| {
            if let Some(timeout) = timeouts(of).iter().find(|timeout| text(timeout.name) == *name) {
                return Handler::OfThread(timeout.raise);
            }
            let Some(place) = members.iter().position(|member| member == name) else { return Handler::None };
            // SAFETY: a framework's table of handlers holds its events and queries, in the order of its description.
            let pointer = unsafe { *of.handlers.add(place) };
            let event = framework.events.iter().find(|event| event.name == *name);
            match event {
                Some(_) if pointer.is_null() => Handler::None,
                // SAFETY: events that dispatch, or have one or no parameter, have these types in every framework.
                Some(event) if event.dispatches() => Handler::Dispatches(unsafe { std::mem::transmute(pointer) }),
                // SAFETY: as above.
                Some(event) if event.parameters.is_empty() => Handler::Plain(unsafe { std::mem::transmute(pointer) }),
                Some(event) if event.parameters.len() == 1 => {
                    // SAFETY: as above.
                    Handler::OfThread(unsafe { std::mem::transmute(pointer) })
                }
                Some(_) | None => Handler::None,
            }
        };
        let line = |name: &String| {
            let place = places(of).iter().find(|place| text(place.event) == *name);
            place.map_or(0, |place| place.line)
        };
        let asked = members.iter().position(|member| events.can_switch_to && member == CAN_SWITCH_TO);
        let query = asked.map(|place| {
            // SAFETY: as above; a boolean query about a thread has this type in every framework.
            unsafe { std::mem::transmute(*of.handlers.add(place)) }
        });
        let has_nodes = policy.has_nodes();
        let shared = has_nodes.then(|| Block::new(of.shared_size as usize));
        if let (Some(shared), Some(share)) = (&shared, of.share) {
            // SAFETY: the block is as large as the policy asks.
            unsafe { share(shared.at(0)) };
        }
        let consumed = |imports: &[CImport]| {
            let such = |import: &&CImport| text(import.name) == "consumed" && import.ty == TIME;
            imports.iter().find(such).map(|import| import.fallback)
        };
        let timeout_of = |timeout: &CTimeout| events.find(text(timeout.name)).unwrap_or(events.schedule);
        let mut this = Running {
            object,
            has_nodes,
            shared,
            instances: Vec::new(),
            nodes: Vec::new(),
            threads: Vec::new(),
            handlers: events.names.iter().map(handler).collect(),
            lines: events.names.iter().map(line).collect(),
            names: events.names.clone(),
            running: Vec::new(),
            fresh: Vec::new(),
            here: 0,
            now: 0,
            moved_by: 0,
            consumed: consumed(imports(of.thread_imports, of.thread_imports_count)),
            consumed_by_all: consumed(imports(of.imports, of.imports_count)),
            timeouts: timeouts(of).iter().map(timeout_of).collect(),
            can_switch_to: query.flatten(),
        };
        if !has_nodes {
            this.add_instance();
            this.fresh = this.parts();
        }
        this
    }

    fn add_instance(&mut self) {
        let of = self.object.policy();
        let instance = Block::new(of.instance_size as usize);
        if let Some(shared) = &self.shared {
            // SAFETY: an instance of a policy with nodes begins with this pointer.
            unsafe { *instance.at::<*mut c_void>(0) = shared.at(0) };
        }
        // SAFETY: the block is as large as the policy asks.
        unsafe { (of.start)(instance.at(0)) };
        self.instances.push(instance);
    }

    fn instance(&self) -> &Block {
        &self.instances[if self.has_nodes { self.here } else { 0 }]
    }

    /// The block that holds the imports and the time.
    fn of_all(&self) -> &Block {
        self.shared.as_ref().unwrap_or_else(|| self.instance())
    }

    fn thread(&self, thread: ThreadId) -> *mut CThread {
        let block = self.threads.get(thread.0 as usize - 1).and_then(Option::as_ref);
        block.map_or(std::ptr::null_mut(), |block| block.at(0))
    }

    /// Makes room for the parts of this processor and of the entered one.
    fn keep_for(&mut self, processor: usize) {
        let most = processor.max(self.here);
        if self.running.len() <= most {
            let fresh = self.fresh.clone();
            self.running.resize(most + 1, fresh);
        }
    }

    /// A copy of the parts that each processor has for itself.
    fn parts(&self) -> Vec<u8> {
        let mut all = Vec::new();
        for part in running(self.object.policy()) {
            // SAFETY: a part is within the instance.
            all.extend_from_slice(unsafe {
                std::slice::from_raw_parts(self.instances[0].at::<u8>(part.offset), part.size as usize)
            });
        }
        all
    }

    fn put_parts(&mut self, all: &[u8]) {
        let mut rest = all;
        for part in running(self.object.policy()) {
            let (first, after) = rest.split_at(part.size as usize);
            // SAFETY: as above.
            unsafe {
                std::ptr::copy_nonoverlapping(first.as_ptr(), self.instances[0].at::<u8>(part.offset), first.len())
            };
            rest = after;
        }
    }

    fn tell_time(&self) {
        let now = self.object.policy().now;
        if now != 0 {
            // SAFETY: the policy says where its time is.
            unsafe { *self.of_all().at::<i64>(now) = self.now };
        }
    }

    fn call(&mut self, on: *mut c_void, event: EventId, thread: *mut CThread) -> Result<Option<ThreadId>, Stop> {
        let of = self.object.policy();
        self.tell_time();
        if of.moved_by.is_null() {
            self.moved_by = self.lines[usize::from(event.0)];
        } else {
            // SAFETY: it is a variable of the object, shared by all schedulers of the same policy.
            unsafe { *of.moved_by = self.moved_by };
        }
        let mut why: *const CStop = std::ptr::null();
        let mut dispatched = None;
        match self.handlers[usize::from(event.0)] {
            Handler::None => {
                return Err(Stop::Misuse(format!("there is no handler for `{}`", self.names[usize::from(event.0)])));
            }
            // SAFETY: one handler runs at a time, on its instance, with a thread that was adopted.
            Handler::Plain(handler) => why = unsafe { handler(on) },
            // SAFETY: as above.
            Handler::OfThread(handler) => why = unsafe { handler(on, thread) },
            Handler::Dispatches(handler) => {
                // SAFETY: as above.
                let next = unsafe { handler(on, &raw mut why) };
                if !next.is_null() {
                    // SAFETY: a handler dispatches an adopted thread.
                    dispatched = Some(ThreadId(unsafe { (*next).number }));
                }
            }
        }
        if !of.moved_by.is_null() {
            // SAFETY: as above.
            self.moved_by = unsafe { *of.moved_by };
        }
        if why.is_null() {
            return Ok(dispatched);
        }
        // SAFETY: a stop is constant data of the policy.
        let stop = unsafe { &*why };
        let (line, text) = (stop.line, text(stop.text).to_owned());
        Err(if stop.why == GUARD { Stop::Guard { line, text } } else { Stop::Fail { line, reason: text } })
    }
}
impl Runner for Running<'_> {
    fn handles(&self, event: EventId) -> bool {
        !matches!(self.handlers.get(usize::from(event.0)), None | Some(Handler::None))
    }

    fn enter(&mut self, processor: usize) {
        if self.has_nodes || processor == self.here {
            self.here = processor;
            return;
        }
        self.keep_for(processor);
        let before = self.parts();
        let next = std::mem::take(&mut self.running[processor]);
        self.put_parts(&next);
        self.running[self.here] = before;
        self.here = processor;
    }

    fn exchange(&mut self, one: usize, other: usize) {
        self.keep_for(one.max(other));
        self.running.swap(one, other);
        self.here = exchanged(self.here, one, other);
    }

    fn set_now(&mut self, now: i64) {
        self.now = now;
    }

    fn seed(&mut self, seed: u64) {
        let random = self.object.policy().random;
        if random != 0 {
            // SAFETY: the policy says where its random state is, and has only one.
            unsafe { *self.of_all().at::<CRandom>(random) = CRandom { state: random_state(seed) } };
        }
    }

    fn raise(&mut self, event: EventId, threads: &[ThreadId]) -> Result<Option<ThreadId>, Stop> {
        let thread = threads.first().map_or(std::ptr::null_mut(), |thread| self.thread(*thread));
        let of_all = self.has_nodes && self.names[usize::from(event.0)] == "dispatch";
        let on = if of_all { self.of_all().at(0) } else { self.instance().at(0) };
        self.call(on, event, thread)
    }

    fn can_switch_to(&mut self, thread: ThreadId) -> Result<bool, Stop> {
        let Some(query) = self.can_switch_to else { return Ok(true) };
        self.tell_time();
        // SAFETY: one handler runs at a time, on its instance, with a thread that was adopted.
        Ok(unsafe { query(self.instance().at(0), self.thread(thread)) })
    }

    fn spawn(&mut self, thread: ThreadId) -> Result<(), Stop> {
        let of = self.object.policy();
        let index = thread.0 as usize - 1;
        if self.threads.len() <= index {
            self.threads.resize_with(index + 1, || None);
        }
        let block = self.threads[index].get_or_insert_with(|| Block::new(of.thread_size as usize));
        let record: *mut CThread = block.at(0);
        // SAFETY: the block has this size and is unused: a thread that had this number has ended.
        unsafe {
            std::ptr::write_bytes(record.cast::<u8>(), 0, of.thread_size as usize);
            (*record).number = thread.0;
        }
        let instance = if self.has_nodes { std::ptr::null_mut() } else { self.instance().at(0) };
        // SAFETY: as the contract demands; with nodes, the instance may be null.
        unsafe { (of.adopt)(instance, record) };
        Ok(())
    }

    fn discard(&mut self, _: ThreadId) {}

    fn take(&mut self, thread: ThreadId) {
        let record = self.thread(thread);
        if !record.is_null() {
            // SAFETY: it is a record that no handler refers to any more.
            unsafe { (*record).container = 0 };
        }
    }

    fn set(&mut self, name: &str, value: Value) {
        let of = self.object.policy();
        let import = imports(of.imports, of.imports_count).iter().find(|import| text(import.name) == name);
        if let Some(import) = import {
            let _ = write(self.of_all().at(import.fallback), value);
        }
    }

    fn set_of(&mut self, thread: ThreadId, name: &str, value: Value) -> bool {
        let of = self.object.policy();
        let such = |import: &&CImport| text(import.name) == name && import.ty == type_of(value);
        let import = imports(of.thread_imports, of.thread_imports_count).iter().find(such);
        let (Some(import), Some(Some(block))) = (import, self.threads.get(thread.0 as usize - 1)) else { return false };
        write(block.at(import.fallback), value)
    }

    fn value_of(&self, thread: ThreadId, name: &str) -> Option<Value> {
        let of = self.object.policy();
        let import =
            imports(of.thread_imports, of.thread_imports_count).iter().find(|import| text(import.name) == name)?;
        let block = self.threads.get(thread.0 as usize - 1)?.as_ref()?;
        read(block.at(import.fallback), import.ty)
    }

    fn charge(&mut self, thread: ThreadId, nanoseconds: i64) {
        if let (Some(place), Some(Some(block))) = (self.consumed, self.threads.get(thread.0 as usize - 1)) {
            let consumed = block.at::<i64>(place);
            // SAFETY: the policy says where its own variable for the import is.
            unsafe { *consumed = (*consumed).wrapping_add(nanoseconds) };
        }
        if let Some(place) = self.consumed_by_all {
            let consumed = self.of_all().at::<i64>(place);
            // SAFETY: as above.
            unsafe { *consumed = (*consumed).wrapping_add(nanoseconds) };
        }
    }

    fn class(&self, thread: ThreadId) -> Option<StateClass> {
        let record = self.thread(thread);
        if record.is_null() {
            return None;
        }
        // SAFETY: it is a record, and its container's number is one of the policy's.
        let class = unsafe { *self.object.policy().classes.add(usize::from((*record).container)) };
        CLASSES.get(usize::from(class).checked_sub(1)?).copied()
    }

    fn ready_order(&self, one: ThreadId, other: ThreadId) -> Option<Ordering> {
        let order = self.object.policy().ready_order?;
        // SAFETY: both threads were adopted.
        Some(unsafe { order(self.thread(one), self.thread(other)) }.cmp(&0))
    }

    fn next_timeout(&self) -> Option<(i64, ThreadId, EventId)> {
        let of = self.object.policy();
        if of.timers == 0 {
            return None;
        }
        // SAFETY: the policy says where its timers are; the first one there is armed.
        let first = unsafe { *self.instance().at::<*const CTimer>(of.timers) };
        // SAFETY: as above.
        let timer = unsafe { first.as_ref() }?;
        // SAFETY: a timer's thread is alive.
        let thread = ThreadId(unsafe { (*timer.thread).number });
        Some((timer.instant, thread, *self.timeouts.get(timer.timeout as usize)?))
    }

    fn moved_by(&self) -> u32 {
        self.moved_by
    }

    fn take_sent(&mut self) -> Vec<(ThreadId, usize)> {
        let list = self.of_all().at::<CList>(self.object.policy().sent);
        let mut sent = Vec::new();
        // SAFETY: between two handlers, the host may empty the list.
        unsafe {
            let mut next = (*list).first;
            while !next.is_null() {
                sent.push((ThreadId((*next).number), (*(*next).parent).number as usize));
                let after = (*next).next;
                (*next).container = 0;
                next = after;
            }
            ((*list).first, (*list).last, (*list).count) = (std::ptr::null_mut(), std::ptr::null_mut(), 0);
        }
        sent
    }

    /// Policies with families are not translated into C.
    fn expect_nodes(&mut self, _nodes: &[Nodes]) {}

    fn add_node(&mut self, processor: usize) -> Result<(), Stop> {
        let of = self.object.policy();
        let node = Block::new(of.node_size as usize);
        // SAFETY: the block is as large as the policy asks.
        unsafe {
            (*node.at::<CThread>(0)).number = u32::try_from(processor).unwrap_or(0);
            if let Some(adopt) = of.adopt_node {
                adopt(self.of_all().at(0), node.at(0));
            }
        }
        self.nodes.truncate(processor);
        self.instances.truncate(processor);
        self.nodes.push(node);
        self.add_instance();
        self.set_property(processor, "number", processor as i64);
        Ok(())
    }

    fn set_load(&mut self, processor: usize, load: i64) {
        self.set_property(processor, "load", load);
    }

    fn raise_of_node(&mut self, event: EventId, processor: usize) -> Result<(), Stop> {
        let node = self.nodes[processor].at(0);
        let done = self.call(self.of_all().at(0), event, node).map(|_| ());
        if self.names[usize::from(event.0)] == "departure" {
            self.disarm_all(processor);
        }
        done
    }

    fn raise_steal(&mut self, event: EventId, for_processor: usize) -> Result<(), Stop> {
        let node = self.nodes[for_processor].at(0);
        self.call(self.instance().at(0), event, node).map(|_| ())
    }
}

impl Running<'_> {
    fn set_property(&mut self, processor: usize, name: &str, value: i64) {
        let of = self.object.policy();
        if of.properties_count == 0 {
            return;
        }
        // SAFETY: the policy says how many there are.
        let properties = unsafe { std::slice::from_raw_parts(of.properties, of.properties_count as usize) };
        if let (Some(property), Some(node)) =
            (properties.iter().find(|one| text(one.name) == name), self.nodes.get(processor))
        {
            // SAFETY: a property is assigned from a variable of its type, which is int.
            unsafe { (property.set)(self.of_all().at(0), node.at(0), (&raw const value).cast()) };
        }
    }

    /// Disarms the timers in the instance of a node that has gone.
    fn disarm_all(&mut self, processor: usize) {
        let of = self.object.policy();
        if of.timers == 0 {
            return;
        }
        // SAFETY: the heap starts with its first timer, and its links lead to timers only.
        unsafe {
            let mut armed = vec![*self.instances[processor].at::<*mut CTimer>(of.timers)];
            while let Some(timer) = armed.pop() {
                if !timer.is_null() {
                    (*timer).instant = 0;
                    armed.extend([(*timer).links[0].cast::<CTimer>(), (*timer).links[1].cast::<CTimer>()]);
                }
            }
        }
    }
}

/// The names in the table of handlers: events and queries, in the order of the description.
pub(super) fn members(framework: &Framework) -> Vec<String> {
    let events = framework.events.iter().map(|event| (event.at.start, event.name.clone()));
    let queries = framework.queries.iter().map(|query| (query.at.start, query.name.clone()));
    let mut all: Vec<(u32, String)> = events.chain(queries).collect();
    all.sort();
    all.into_iter().map(|(_, name)| name).collect()
}
