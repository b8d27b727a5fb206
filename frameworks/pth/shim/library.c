/*
 * Finds what the shim stands in for, in the objects that were loaded after it.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shim/shim.h"

struct library library;

static bool found;

static void find(void *result, const char *name) {
    void *symbol = dlsym(RTLD_NEXT, name);
    if (!symbol) {
        report(
            "there is no `%s` after libcatapults_pth: link it before a libpth.so of version 2.0.7, or preload it to a "
            "program that uses one",
            name);
        exit(EXIT_FAILURE);
    }
    memcpy(result, &symbol, sizeof symbol);
}

void library_find(void) {
    if (found)
        return;
    find(&library.new, "__pth_NQ");
    find(&library.ready, "__pth_RQ");
    find(&library.waiting, "__pth_WQ");
    find(&library.suspended, "__pth_SQ");
    find(&library.dead, "__pth_DQ");
    find(&library.insert, "__pth_pqueue_insert");
    find(&library.delmax, "__pth_pqueue_delmax");
    find(&library.delete, "__pth_pqueue_delete");
    find(&library.favorite, "__pth_pqueue_favorite");
    find(&library.increase, "__pth_pqueue_increase");
    find(&library.contains, "__pth_pqueue_contains");
    find(&library.tcb_free, "__pth_tcb_free");
    find(&library.scheduler_init, "__pth_scheduler_init");
    find(&library.scheduler_drop, "__pth_scheduler_drop");
    find(&library.scheduler_kill, "__pth_scheduler_kill");
    find(&library.spawn, "pth_spawn");
    find(&library.yield, "pth_yield");
    find(&library.raise, "pth_raise");
    find(&library.suspend, "pth_suspend");
    find(&library.resume, "pth_resume");
    find(&library.cancel, "pth_cancel");
    find(&library.join, "pth_join");
    find(&library.fork, "pth_fork");
    find(&library.attr_ctrl, "__pth_attr_ctrl");
    find(&library.version, "pth_version");
    find(&library.ctrl, "pth_ctrl");
    find(&library.event_typeof, "pth_event_typeof");
    found = true;
}

bool library_fits(pth_t thread) {
    return library.version() == PTH_VERSION && library.ctrl(PTH_CTRL_GETPRIO, thread) == thread->prio &&
           (const char *)library.ctrl(PTH_CTRL_GETNAME, thread) == thread->name && thread->state == PTH_STATE_NEW &&
           !thread->events;
}
