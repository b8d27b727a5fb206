/*
 * What an object says of its policy, for the loader (loader/src/texts.rs).
 */
#ifndef CATAPULTS_TEXTS_BPF_H
#define CATAPULTS_TEXTS_BPF_H

#include "linux_bpf.h"

/* Texts, each with a zero at its end: a letter for what follows, and that. */
#define STOP(why, line, text) "s\0" #why "\0" #line "\0" text "\0"
#define NAME_OF_ALL(import, type) "i\0" #import "\0" #type "\0"
#define NAME_OF_THREAD(import, type) "t\0" #import "\0" #type "\0"
#define NAME_OF_TIMEOUT(name) "e\0" name "\0"
#ifndef CATAPULTS_TIMEOUTS
#define CATAPULTS_TIMEOUTS(of)
#endif
const char catapults_texts[] CATAPULTS_SECTION(".rodata.texts") = "p\0" CATAPULTS_NAME "\0" CATAPULTS_SOURCE
                                                                  "\0" CATAPULTS_STOPS(STOP)
                                                                      CATAPULTS_IMPORTS(NAME_OF_ALL)
                                                                          CATAPULTS_THREADIMPORTS(NAME_OF_THREAD)
                                                                              CATAPULTS_TIMEOUTS(NAME_OF_TIMEOUT) "";

/* The kernel lets only programs of such a licence call many of its functions. */
const char catapults_licence[] CATAPULTS_SECTION("license") = "Dual MIT/GPL";

#endif
