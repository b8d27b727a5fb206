/* Requests that depend on what the client has already (RFC 9110, 13). */
#ifndef COW_CONDITIONAL_H
#define COW_CONDITIONAL_H

#include "files.h"
#include "request.h"

/* 0: go on; 304 or 412: answer that. */
int conditional_status(const struct request *request, const struct file *file);

/* Whether If-Range, if there is one, allows parts to be sent. */
bool conditional_range(const struct request *request, const struct file *file);

#endif
