/* Opening what is below the root, and nothing else. */
#ifndef COW_RESOLVE_H
#define COW_RESOLVE_H

/*
 * Opens the relative `path` below the directory `root` for reading, with further `flags` of open(2). Never waits for
 * the other end of a FIFO. Symbolic links are followed as long as they stay below the root. Returns a descriptor, or -1
 * with errno: EXDEV if the path leads out of the root, else as open(2).
 */
int resolve(int root, const char *path, int flags);

/* The same for kernels without openat2 (before Linux 5.6): follows no symbolic link; ELOOP or ENOTDIR if one is met. */
int resolve_by_segment(int root, const char *path, int flags);

#endif
