"""
Catapults' threads in gdb, in a running program and in a core file.

    (gdb) source frameworks/native/tools/gdb/catapults.py
    (gdb) info catapults-threads
    (gdb) catapults thread 3
    (gdb) backtrace
    (gdb) catapults apply all backtrace
    (gdb) catapults thread none

A thread that does not run has its registers on its stack (contexts/frame.h). Nothing is written to the program: gdb is
told that the frame which runs was called by the one in which the thread was left, so the thread's frames begin behind
that one. `catapults thread` therefore leaves frame 0 as it is, and selects the first of the thread's; `catapults apply`
takes frame 0 away.
"""

import re

import gdb
import gdb.unwinder

# What context_swap leaves on the stack: register and offset from the stack pointer; the bytes in all; and the register
# that says where the thread goes on.
FRAMES = {
    "i386:x86-64": (
        {"r15": 0, "r14": 8, "r13": 16, "r12": 24, "rbx": 32, "rbp": 40, "rip": 48},
        56,
        "rip",
        "rsp",
    ),
    "aarch64": (
        {"x%d" % n: 8 * (n - 19) for n in range(19, 31)} | {"pc": 88},
        160,
        "pc",
        "sp",
    ),
}


class Thread:
    """A thread of the program: a struct dispatcher_thread, within a struct member (process/member.h)."""

    def __init__(self, record):
        self.record = record
        offset = next(f.bitpos // 8 for f in member_type().fields() if f.name == "dispatched")
        address = int(record.address) - offset
        member = gdb.Value(address).cast(member_type().pointer()).dereference()
        self.number = int(record["policy"]["number"])
        self.name = member["name"].string(errors="replace")

    def processor(self):
        """The address of the processor on which it stands, or None."""
        for processor in processors():
            if int(processor["current"]) == int(self.record.address):
                return int(processor.address)
        return None

    def has_the_processor(self):
        return self.processor() is not None

    def state(self):
        state = str(self.record["state"].cast(gdb.lookup_type("enum dispatcher_state")))
        if state == "THREAD_BLOCKED":
            reason = str(self.record["reason"].cast(gdb.lookup_type("enum dispatcher_reason")))
            return "blocked: " + reason.replace("BLOCK_", "").lower().replace("_", ".")
        if state in ("THREAD_RUNNABLE", "THREAD_POSTPONED"):
            return "running" if self.has_the_processor() else "ready"
        return state.replace("THREAD_", "").lower()

    def registers(self):
        """Where it goes on: names and values."""
        offsets, size, _, stack_register = FRAMES[architecture()]
        pointer = int(self.record["context"]["stack_pointer"])
        word = gdb.lookup_type("unsigned long").pointer()
        values = {name: int(gdb.Value(pointer + at).cast(word).dereference()) for name, at in offsets.items()}
        values[stack_register] = pointer + size
        return values

    def frames(self):
        """Its frames, the innermost first."""
        frame = select(self)
        while frame is not None:
            yield frame
            frame = frame.older()

    def kernel_thread(self):
        """With activations: that on which it runs, or where it is blocked in the kernel or was interrupted; else None."""
        processor = self.processor()
        return carrier_of(processor) if processor else kept_by(int(self.record.address))

    def place(self):
        """The application's frame that called the runtime, or the innermost."""
        frames = list(self.frames())
        chosen = frames[0]
        if not is_application(frames[0]):
            called = False
            for frame in frames:
                called = called or is_runtime(frame)
                if called and not is_runtime(frame):
                    chosen = frame
                    break
        line = chosen.find_sal()
        where = " at %s:%d" % (line.symtab.filename, line.line) if line.symtab else ""
        return "%s ()%s" % (chosen.name() or "??", where)


def member_type():
    """The runtime's: programs can have another struct member."""
    return gdb.lookup_global_symbol("names_nobody").type


def architecture():
    return gdb.selected_inferior().architecture().name()


def threads():
    if gdb.lookup_global_symbol("dispatcher") is None and gdb.lookup_symbol("dispatcher")[0] is None:
        raise gdb.GdbError("The program has no Catapults runtime with debugging information.")
    record = gdb.parse_and_eval("dispatcher.oldest")
    while int(record) != 0:
        yield Thread(record.dereference())
        record = record["newer"]


def processors():
    count = int(gdb.parse_and_eval("dispatcher.processors_count"))
    if count == 0:
        yield gdb.parse_and_eval("dispatcher_processor")
    for i in range(count):
        yield gdb.parse_and_eval("*dispatcher.processors[%d]" % i)


def is_runtime(frame):
    first, last = (int(gdb.parse_and_eval("(unsigned long)&__%s_catapults_text" % end)) for end in ("start", "stop"))
    return first <= frame.pc() < last


def is_application(frame):
    return gdb.solib_name(frame.pc()) is None and not is_runtime(frame)


# ---- Activations -------------------------------------------------------------------------------------------------------


def have_activations():
    symbol = gdb.lookup_global_symbol("sa_lwps")
    return symbol is not None and int(gdb.parse_and_eval("activations.enabled")) != 0


def of_activations(name):
    """A variable of process/activations.c, of which programs can have others of the same name."""
    return gdb.parse_and_eval("'%s'::%s" % (gdb.lookup_global_symbol("activations_running").symtab.filename, name))


def kernel_thread_of(lwp):
    number = int(lwp["tid"])
    return next((one for one in gdb.selected_inferior().threads() if one.ptid[1] == number), None)


def carrier_of(processor):
    """The kernel thread that carries a processor of the dispatcher's."""
    if not have_activations():
        return None
    number = 0
    if int(of_activations("several")) != 0:
        carried = of_activations("carried")
        while int(carried[number]["processor"]) != processor:
            number += 1
    lwp = gdb.parse_and_eval("sa_processors[%d].carrier" % number)
    return kernel_thread_of(lwp) if int(lwp) != 0 else None


def kept_by(record):
    """The kernel thread that keeps what a thread was doing when it blocked in the kernel or was interrupted."""
    if not have_activations():
        return None
    one = of_activations("aside")
    while int(one) != 0 and int(one["thread"]) != record:
        one = one["next"]
    if int(one) == 0:
        return None
    if int(one["context"]) != 0:
        return kernel_thread_of(one["context"]["uc_link"].cast(gdb.lookup_type("struct lwp").pointer()))
    away = of_activations("away")
    numbers = range(1, int(gdb.parse_and_eval("activations.lwps")) + 1)
    number = next((number for number in numbers if int(away[number]) == int(one)), None)
    return None if number is None else kernel_thread_of(gdb.parse_and_eval("sa_lwps[%d]" % (number - 1)))


def interrupted(frame):
    """Where it was interrupted, if that is why it waits."""
    outer = frame
    while outer is not None:
        if outer.type() == gdb.SIGTRAMP_FRAME and outer.newer().name() == "interrupt_handler":
            return outer.older()
        outer = outer.older()
    return frame


def switch_to(processor):
    """To the kernel thread that is this processor, where there are several."""
    if int(gdb.parse_and_eval("dispatcher.processors_count")) == 0:
        return
    for kernel_thread in gdb.selected_inferior().threads():
        kernel_thread.switch()
        if int(gdb.parse_and_eval("here_variables.processor")) == processor:
            return


def find(text):
    if not text.isdigit():
        raise gdb.GdbError("Name a thread by its number; `info catapults-threads` lists them.")
    for thread in threads():
        if thread.number == int(text):
            return thread
    raise gdb.GdbError("There is no thread %s; `info catapults-threads` lists them." % text)


# ---- Unwinding ---------------------------------------------------------------------------------------------------------


class FrameId:
    def __init__(self, sp, pc):
        self.sp = sp
        self.pc = pc


class Impostor:
    """Says who has called the frame that runs, while a thread is selected that does not run."""

    name = "catapults"
    enabled = True
    registers = None  # of the thread
    runs = None  # stack pointer and program counter of the frame that runs

    def __call__(self, pending):
        if self.registers is None:
            return None
        sp, pc = int(pending.read_register("sp")), int(pending.read_register("pc"))
        if (sp, pc) != self.runs:
            return None
        kind = gdb.lookup_type("unsigned long")
        registers = {name: gdb.Value(value).cast(kind) for name, value in self.registers.items()}
        # Below the thread's frames, as that of a callee would be; else gdb takes the stack for corrupt.
        _, size, _, stack_register = FRAMES[architecture()]
        info = pending.create_unwind_info(FrameId(registers[stack_register] - size, pending.read_register("pc")))
        for name, value in registers.items():
            info.add_saved_register(name, value)
        return info


class Trap:
    """Knows what a trap of the activations stands for, to which the kernel leads what comes back from it, for example because
    gdb has stopped it: activations/traps.h, and leave_trap in activations/interrupt.c."""

    name = "catapults-trap"
    enabled = True
    SIZE, SIGNATURE, SPARED, NAMED = 20, 4, 5, 10

    def __call__(self, pending):
        if gdb.lookup_global_symbol("sa_places") is None or architecture() != "i386:x86-64":
            return None
        first, last = (int(gdb.parse_and_eval("(unsigned long)&%s" % name)) for name in ("sa_traps", "sa_traps_end"))
        sp, pc = int(pending.read_register("rsp")), int(pending.read_register("rip"))
        if not first <= pc < last:
            return None
        number, done = divmod(pc - first, self.SIZE)
        done -= self.SIGNATURE
        kind = gdb.lookup_type("unsigned long")
        info = pending.create_unwind_info(FrameId(gdb.Value(sp - 8).cast(kind), pending.read_register("rip")))
        for name in "rax rbx rcx rdx rsi rdi rbp r8 r9 r10 r11 r12 r13 r14 r15".split():
            info.add_saved_register(name, pending.read_register(name))
        above = 0 if done < self.SPARED else 128 if done < self.NAMED else 136
        info.add_saved_register("rsp", gdb.Value(sp + above).cast(kind))
        info.add_saved_register("rip", gdb.Value(int(gdb.parse_and_eval("sa_places[%d]" % number))).cast(kind))
        return info


impostor = Impostor()
for unwinder in (impostor, Trap()):
    gdb.unwinder.register_unwinder(None, unwinder, replace=True)


def select(thread):
    """Frames follow the thread from now on; None: the one that runs. Returns and selects its innermost."""
    impostor.registers = None
    gdb.invalidate_cached_frames()
    kernel_thread = thread.kernel_thread() if thread is not None else None
    if kernel_thread is not None:
        kernel_thread.switch()
        frame = interrupted(gdb.newest_frame())
        frame.select()
        return frame
    if thread is not None and thread.has_the_processor():
        switch_to(thread.processor())
    frame = gdb.newest_frame()
    if thread is not None and not thread.has_the_processor():
        impostor.runs = (int(frame.read_register("sp")), int(frame.read_register("pc")))
        impostor.registers = thread.registers()
        gdb.invalidate_cached_frames()
        _, _, counter, stack_register = FRAMES[architecture()]
        frame = gdb.newest_frame().older()
        while int(frame.read_register("sp")) != impostor.registers[stack_register]:
            frame = frame.older()
    frame.select()
    return frame


def level(frame):
    count = 0
    while frame.newer() is not None:
        frame = frame.newer()
        count += 1
    return count


# ---- Commands ----------------------------------------------------------------------------------------------------------


class InfoThreads(gdb.Command):
    """List the threads of the Catapults runtime: number, name, state, and where each is."""

    def __init__(self):
        super().__init__("info catapults-threads", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        before = gdb.selected_thread()
        rows = [(thread.has_the_processor(), thread.number, thread.name, thread.state(), thread.place()) for thread in threads()]
        before.switch()
        select(None)
        names, states = (max((len(row[i]) for row in rows), default=0) for i in (2, 3))
        for runs, number, name, state, place in rows:
            print("%s %4d  %-*s  %-*s  %s" % ("*" if runs else " ", number, names, name, states, state, place))


class Catapults(gdb.Command):
    """Commands for the threads of the Catapults runtime: thread, apply."""

    def __init__(self):
        super().__init__("catapults", gdb.COMMAND_STACK, prefix=True)


class SelectThread(gdb.Command):
    """Show the frames of a thread: catapults thread NUMBER. `catapults thread none`: of the one that runs again."""

    def __init__(self):
        super().__init__("catapults thread", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        select(None if argument.strip() == "none" else find(argument.strip()))
        gdb.execute("frame")


class Apply(gdb.Command):
    """Run a command on threads: catapults apply all COMMAND, catapults apply NUMBER... COMMAND."""

    def __init__(self):
        super().__init__("catapults apply", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        words = argument.split()
        count = 1 if words[:1] == ["all"] else next((i for i, word in enumerate(words) if not word.isdigit()), len(words))
        if count == 0 or count == len(words):
            raise gdb.GdbError("Say which threads and which command: catapults apply all backtrace")
        chosen = list(threads()) if words[0] == "all" else [find(word) for word in words[:count]]
        command = " ".join(words[count:])
        before = gdb.selected_thread()
        for thread in chosen:
            print("\nThread %d (%s), %s" % (thread.number, thread.name, thread.state()))
            skipped = level(select(thread))
            print(renumber(gdb.execute(command, to_string=True), skipped), end="")
        before.switch()
        select(None)


def renumber(text, skipped):
    """A backtrace without the frames that are not the thread's."""
    if skipped == 0:
        return text
    lines, shown = [], not text.startswith("#")
    for line in text.splitlines(keepends=True):
        match = re.match(r"#(\d+)( *)", line)
        if match:
            shown = int(match.group(1)) >= skipped
            line = ("#%d" % (int(match.group(1)) - skipped)).ljust(match.end()) + line[match.end() :]
        if shown:
            lines.append(line)
    return "".join(lines)


InfoThreads()
Catapults()
SelectThread()
Apply()
