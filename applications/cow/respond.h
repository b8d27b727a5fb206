/* Deciding what to answer. */
#ifndef COW_RESPOND_H
#define COW_RESPOND_H

#include "request.h"
#include "response.h"
#include "server.h"

/* Makes the response to a complete or refused request. May block the thread. */
void respond(struct server *server, const struct request *request, struct response *response);

/* Whether the method is one that is answered here; if not, nobody needs the body. */
bool respond_method_allowed(const struct request *request);

/* A complete response that says no more than 503, for a client that there is no room for. */
extern const char respond_no_room[];

#endif
