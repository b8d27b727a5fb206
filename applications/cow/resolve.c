#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "path.h"
#include "resolve.h"

#define ALWAYS (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

int resolve(int root, const char *path, int flags) {
    static bool absent; /* the kernel has no openat2, or a sandbox forbids it */
    if (absent)
        return resolve_by_segment(root, path, flags);
    struct open_how how = {
        .flags = (unsigned)(ALWAYS | flags),
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
    };
    const char *name = *path != '\0' ? path : ".";
    /* EAGAIN: something was renamed meanwhile, and the kernel cannot tell where `..` of a link leads. */
    for (int attempts = 0; attempts < 100; attempts++) {
        long opened = syscall(SYS_openat2, root, name, &how, sizeof how);
        if (opened >= 0)
            return (int)opened;
        if (errno == ENOSYS || errno == EPERM) {
            int failure = errno;
            int descriptor = resolve_by_segment(root, path, flags);
            absent = failure == ENOSYS || descriptor >= 0;
            return descriptor;
        }
        if (errno != EAGAIN && errno != EINTR)
            break;
    }
    return -1;
}

int resolve_by_segment(int root, const char *path, int flags) {
    int directory = root;
    char segment[PATH_SIZE];
    if (*path == '/') {
        errno = EXDEV;
        return -1;
    }
    for (;;) {
        size_t length = strcspn(path, "/");
        const char *rest = path + length + strspn(path + length, "/");
        bool last = *rest == '\0';
        if (length >= sizeof segment) {
            errno = ENAMETOOLONG;
            return -1;
        }
        memcpy(segment, path, length);
        segment[length] = '\0';
        int opened = -1;
        if (strcmp(segment, "..") == 0) {
            errno = EXDEV;
        } else {
            /* A slash at the end: only a directory will do. */
            bool inner = !last || path[length] == '/';
            int how = last ? flags | (inner ? O_DIRECTORY : 0) : O_PATH | O_DIRECTORY;
            opened = openat(directory, length > 0 ? segment : ".", ALWAYS | O_NOFOLLOW | how);
        }
        int failure = errno;
        if (directory != root)
            close(directory);
        errno = failure;
        if (opened < 0 || last)
            return opened;
        directory = opened;
        path = rest;
    }
}
