# The loader of the Linux kernel is there, and says what it needs; policies are compiled for it where clang-19 is.
says "Policies in the Linux kernel" catapults linux --help
case $(catapults linux status 2>&1) in
    "the kernel's own scheduler" | "catapults-linux: this kernel has no sched_ext") ;;
    *) catapults linux status && exit 1 ;;
esac
refuses "apt-get install clang-19" catapults linux load $policies/fifo.sched
