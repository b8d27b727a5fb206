#!/bin/bash
# The core calls nothing but itself, has no variables, and touches no vector register: it is to run in signal handlers,
# beneath libc, and in other hosts. The dispatcher calls the core, itself and the switch besides. What every interface to the
# runtime needs (process) calls nothing of one of them (threads). All but that one call nothing of libc or of another library
# that is not listed here, with the reason. Reads the objects that were built.
set -euo pipefail
out=$1
native=$(dirname "$0")/..

# What files may refer to outside of the runtime, and why. What compilers need themselves, a program without libc must have, too.
compilers="memcpy memmove memset memcmp"
listed() {
    cat <<'END'
contexts/libc.c: pthread_create pthread_attr_init pthread_attr_setdetachstate pthread_attr_setstacksize pthread_attr_destroy __sysconf
    - the application's code runs on these kernel threads, and needs libc's thread control block
contexts/libc.c: __errno_location
    - errno is the application's, and exchanged at switches
contexts/libc.c: secure_getenv
    - libc knows where the environment is after setenv(3)
contexts/kernel_clock.c: getauxval
    - where the kernel has put its code that reads clocks
contexts/stack.c: getauxval
    - the size of a page
activations/sa.c: pthread_atfork
    - a child that an application makes by libc's fork has no activations
activations/lwp.c: __rseq_offset __rseq_size
    - libc registers a kernel thread's area for restartable sequences; there is but one
activations/upcall.c: __sanitizer_start_switch_fiber __sanitizer_finish_switch_fiber
    - of AddressSanitizer, in programs that have it
activations/blocking.c process/activations.c process/own_code.c: __start_catapults_text __stop_catapults_text
    - of the linker: where the runtime's code is
contexts/libc.c: __cxa_get_globals
    - of the C++ library, in programs that have it: what it keeps for a thread is exchanged at switches
process/init.c process/imports.c: exit
    - the program ends: what it has registered by atexit(3) is called
process/init.c: abort
    - the program is wrong: as if it had called that itself
process/report.c: fflush
    - what the program has written by stdio is not lost at a deadlock
process/own_code.c process/thread_locals.c: dl_iterate_phdr
    - where objects are loaded, the dynamic linker knows
process/own_code.c: dlsym
    - whose malloc the program uses
process/signal_run.c: siglongjmp
    - the buffer was filled by libc's sigsetjmp, in the application's code
process/load.c: dlopen dlsym dlclose dlerror dl_iterate_phdr realpath stat open fstat pread close free sem_init sem_wait sem_post strcmp snprintf strerror __errno_location
    - loads policies, which libc and the dynamic linker do
process/trace_file.c: open stat ftruncate mmap madvise close __errno_location
    - makes its file as hosts without these system calls do, once (catapults/trace_mapped.h)
io/select.c: malloc free
    - room for many descriptors belongs to the thread that calls: outside of the runtime's lock
io/uring.c: io_uring_queue_init_params io_uring_queue_exit io_uring_get_probe_ring io_uring_free_probe io_uring_register_ring_fd
    io_uring_submit io_uring_submit_and_wait io_uring_submit_and_wait_timeout io_uring_submit_and_get_events io_uring_enter2
    - of liburing, which makes its system calls itself
END
}

# objects FOLDER: of its sources, not of those that are gone.
objects() {
    local source
    for source in "$native/$1"/*.c; do
        echo "$out/$1/${source##*/}.o"
    done
}
mapfile -t core < <(objects core)
mapfile -t dispatcher < <(objects dispatcher)
[[ ${#core[@]} -ge 20 && ${#dispatcher[@]} -ge 6 ]] ||
    { echo "freestanding: only ${#core[@]} objects of the core, ${#dispatcher[@]} of the dispatcher"; exit 1; }

symbols() { nm "$1" --format=just-symbols "${@:2}" | grep -v ':$' | sed '/^$/d' | sort -u; }
# foreign WHOSE OBJECTS, the rest: may be referred to.
foreign() {
    local -n whose=$1
    comm -23 <(symbols --undefined-only "${whose[@]}") <(symbols --defined-only --extern-only "${@:2}") | grep -v '^_GLOBAL_OFFSET_TABLE_$' || true
}

# Events are raised by the file that a policy can be compiled into, which is the dispatcher's.
found=$(foreign core "${core[@]}" | grep -v -E '^core_(raise_block|raise_event|set_aside)$' || true)
[[ -z $found ]] || { echo "freestanding: the core refers to: $found"; exit 1; }
found=$(foreign dispatcher "${core[@]}" "${dispatcher[@]}" "$out"/contexts/{"$(uname -m)".S,here.c}.o)
[[ -z $found ]] || { echo "freestanding: the dispatcher refers to: $found"; exit 1; }

# Constants with addresses in them are in .data.rel.ro.
variables=$(objdump -t "${core[@]}" | grep -E ' (\.data|\.bss|\*COM\*)\S*\s+0*[1-9a-f]' | grep -v -E ' \.data\.rel\.ro' || true)
[[ -z $variables ]] || { echo "freestanding: the core has variables: $variables"; exit 1; }

mapfile -t process < <(objects process)
mapfile -t threads < <(objects threads)
[[ ${#process[@]} -ge 15 && ${#threads[@]} -ge 15 ]] ||
    { echo "freestanding: only ${#process[@]} objects of process, ${#threads[@]} of threads"; exit 1; }
found=$(comm -12 <(symbols --undefined-only "${process[@]}") <(symbols --defined-only --extern-only "${threads[@]}"))
[[ -z $found ]] || { echo "freestanding: process refers to: $found"; exit 1; }

# In lines of FILE SYMBOL: what is listed, and what is referred to.
allowed=$(listed | awk '
    /^    -/ { next }
    /:/ { split($0, parts, ":"); files = parts[1]; sub("^[^:]*:", "") }
    { n = split(files, names, " "); for (i = 1; i <= NF; i++) for (j = 1; j <= n; j++) print names[j], $i }' | sort -u)
runtime=$(symbols --defined-only --extern-only "$out"/{contexts,activations,preemption,core,dispatcher,process,threads,io}/*.o)
referred=$(for folder in contexts activations preemption process io; do
    for object in $(objects "$folder"); do
        name=$folder/$(basename "$object" .o)
        comm -23 <(symbols --undefined-only "$object") <(sort -u <(echo "$runtime") <(tr ' ' '\n' <<<"$compilers") <(echo _GLOBAL_OFFSET_TABLE_)) | sed "s|^|$name |"
    done
done | sort -u)
found=$(comm -13 <(echo "$allowed") <(echo "$referred"))
[[ -z $found ]] || { echo "freestanding: not listed: $found"; exit 1; }
found=$(comm -23 <(echo "$allowed") <(echo "$referred"))
[[ -z $found ]] || { echo "freestanding: listed, but nothing refers to it: $found"; exit 1; }

for object in "${core[@]}" "${dispatcher[@]}"; do
    vector=$(objdump -d --no-show-raw-insn "$object" | grep -E '%[xyz]mm|\b[qdv][0-9]+\b,' | head -3 || true)
    [[ -z $vector ]] || { echo "freestanding: $object touches vector registers: $vector"; exit 1; }
done
echo "freestanding: ${#core[@]} objects of the core, ${#dispatcher[@]} of the dispatcher, no foreign symbol, no vector register;" \
    "$(wc -l <<<"$allowed") references to libraries elsewhere"
