/*
 * What a child records, read back. It starts with the option `trace` set to `path`.
 */
#ifndef CATAPULTS_RECORDED_H
#define CATAPULTS_RECORDED_H

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "dispatcher/trace.h"
#include "support/child.h"

static char path[] = "/tmp/catapults-trace-XXXXXX";

static inline const struct trace_file *recorded(void (*body)(void)) {
    memcpy(path + sizeof path - sizeof "XXXXXX", "XXXXXX", sizeof "XXXXXX");
    close(mkstemp(path));
    check_child(body);
    int descriptor = open(path, O_RDONLY);
    assert_true(descriptor >= 0);
    struct stat status;
    assert_int_equal(fstat(descriptor, &status), 0);
    const struct trace_file *file = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, descriptor, 0);
    assert_ptr_not_equal(file, MAP_FAILED);
    close(descriptor);
    unlink(path);
    return file;
}

#endif
