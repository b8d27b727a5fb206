/*
 * A trace in a shared mapping of a file, so that it is complete however the program ends. For hosts with an operating
 * system.
 */
#ifndef CATAPULTS_TRACE_MAPPED_H
#define CATAPULTS_TRACE_MAPPED_H

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "catapults/trace.h"

enum { TRACE_MAPPED_RECORDS_AT = 1 << 16, TRACE_MAPPED_CAPACITY = 1 << 20 };

/* A mapped trace, or an error: of its name if it was not `opened`, else of the mapping. */
struct trace_mapping {
    struct trace_file *file; /* NULL: there is none */
    size_t size;
    int error;
    bool opened;
};

/* Whether the trace would overwrite the policy, which is mapped and runs. */
static inline bool trace_is_policy(const char *path, const char *policy) {
    struct stat one, other;
    return policy && stat(path, &one) == 0 && stat(policy, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* The caller sets `start` when recording begins. */
static inline struct trace_mapping trace_map(const char *path) {
    size_t size = TRACE_MAPPED_RECORDS_AT + (size_t)TRACE_MAPPED_CAPACITY * sizeof(struct trace_record);
    int descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0)
        return (struct trace_mapping){.error = errno};
    void *memory = MAP_FAILED;
    if (ftruncate(descriptor, (off_t)size) == 0)
        memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    int error = errno;
    close(descriptor); /* the mapping has the file */
    if (memory == MAP_FAILED)
        return (struct trace_mapping){.error = error, .opened = true};
#ifdef MADV_POPULATE_WRITE
    /* Else the kernel would do this for each page during recording. It does so if this fails. */
    madvise(memory, size, MADV_POPULATE_WRITE);
#endif
    trace_lay_out(memory, TRACE_MAPPED_RECORDS_AT, TRACE_MAPPED_CAPACITY);
    return (struct trace_mapping){.file = memory, .size = size, .opened = true};
}

#endif
