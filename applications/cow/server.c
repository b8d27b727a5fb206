#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "handler.h"
#include "server.h"

#define BACKLOG 1024
#define FILES_MOST 256       /* kept open */
#define OTHER_DESCRIPTORS 16 /* standard streams, listener, root, log, the runtime's own, one being looked at… */

static bool listen_at(struct server *server);
static void name_url(struct server *server);
static bool share_descriptors(const struct options *options, size_t *connections, size_t *files);
static bool failed(const char *what, const char *which, int error);

bool server_open(struct server *server, const struct options *options) {
    *server = (struct server){.options = options, .listener = -1};
    server->root = open(options->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (server->root < 0)
        return failed("cannot serve", options->root, errno);
    int error = mime_read(&server->mime, options->mime_types);
    if (error != 0)
        return failed("cannot read", options->mime_types != NULL ? options->mime_types : "/etc/mime.types", error);
    error = log_open(&server->log, options->access_log);
    if (error != 0)
        return failed("cannot write to", options->access_log, error);
    return listen_at(server);
}

bool server_start(struct server *server) {
    size_t connections, files;
    const struct options *options = server->options;
    if (!share_descriptors(options, &connections, &files))
        return false;
    /* Refused by a policy that imports none of them, which is its good right. */
    catapults_schedvar_register("connections", &server->pool.connections);
    catapults_schedvar_register("connections_most", &server->pool.connections_most);
    catapults_threadvar_register("bytesleft", struct imported, bytesleft);
    catapults_threadvar_register_bool("responding", struct imported, responding);
    catapults_threadvar_register_bool("accepting", struct imported, accepting);

    dates_update(&server->dates);
    files_start(&server->files, server->root, &server->mime, files);
    server->handlers = calloc(options->handlers, sizeof(struct handler *));
    int error = server->handlers == NULL ? ENOMEM : pool_start(&server->pool, connections);
    if (error == 0)
        error = log_start(&server->log);
    for (unsigned i = 0; error == 0 && i < options->handlers; i++) {
        error = handler_start(&server->handlers[i], server, i + 1);
        server->handlers_count += error == 0;
    }
    if (error == 0)
        error = acceptor_start(&server->acceptor, server);
    const char *refusal = catapults_refusal();
    return error == 0 || failed("cannot start", refusal != NULL ? refusal : "the threads", error);
}

void server_finish(struct server *server) {
    pool_stop(&server->pool);
    catapults_close(server->listener);
    acceptor_stop(&server->acceptor);
}

void server_cut(struct server *server) {
    for (unsigned i = 0; i < server->handlers_count; i++) {
        if (server->handlers[i] != NULL)
            handler_cut(server->handlers[i]);
    }
}

void server_stop(struct server *server) {
    for (unsigned i = 0; i < server->handlers_count; i++) {
        struct handler *handler = server->handlers[i];
        handler_join(handler);
        server->handlers[i] = NULL;
        handler_free(handler);
    }
    free(server->handlers);
    log_stop(&server->log);
    pool_free(&server->pool);
    files_stop(&server->files);
    mime_free(&server->mime);
    close(server->root);
}

static bool listen_at(struct server *server) {
    const struct options *options = server->options;
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    int unknown = getaddrinfo(options->address, options->port, &hints, &found);
    if (unknown != 0) {
        fprintf(stderr, "cow: --address %s: a numeric IPv4 or IPv6 address is wanted (%s)\n", options->address,
                gai_strerror(unknown));
        exit(2);
    }
    int on = 1;
    server->listener = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    bool listening =
        server->listener >= 0 && setsockopt(server->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        /* Connections inherit it: what is sent is sent at once. */
        setsockopt(server->listener, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0 &&
        bind(server->listener, found->ai_addr, found->ai_addrlen) == 0 && listen(server->listener, BACKLOG) == 0;
    int error = errno;
    freeaddrinfo(found);
    if (listening) {
        name_url(server);
        return true;
    }
    char where[80];
    snprintf(where, sizeof where, "%s port %s", options->address, options->port);
    return failed("cannot listen on", where, error);
}

static void name_url(struct server *server) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    char host[64] = "?", port[16] = "?";
    if (getsockname(server->listener, (struct sockaddr *)&address, &length) == 0)
        getnameinfo((struct sockaddr *)&address, length, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(server->url, sizeof server->url, strchr(host, ':') != NULL ? "http://[%s]:%s/" : "http://%s:%s/", host,
             port);
}

/* A connection needs one descriptor, and while it is answered another for its file. */
static bool share_descriptors(const struct options *options, size_t *connections, size_t *files) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return failed("cannot find out", "the limit of descriptors", errno);
    size_t wanted = options->max_connections > 0 ? options->max_connections : DEFAULT_CONNECTIONS;
    size_t answered = wanted < options->handlers ? wanted : options->handlers;
    rlim_t needed = OTHER_DESCRIPTORS + FILES_MOST + wanted + answered;
    if (limit.rlim_cur < needed && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = needed < limit.rlim_max ? needed : limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0 && getrlimit(RLIMIT_NOFILE, &limit) != 0)
            return failed("cannot raise", "the limit of descriptors", errno);
    }
    size_t have = limit.rlim_cur > SIZE_MAX / 2 ? SIZE_MAX / 2 : (size_t)limit.rlim_cur;
    *files = have / 8 < FILES_MOST ? have / 8 : FILES_MOST;
    size_t rest = have > OTHER_DESCRIPTORS + *files ? have - OTHER_DESCRIPTORS - *files : 0;
    size_t possible = rest >= 2 * (size_t)options->handlers ? rest - options->handlers : rest / 2;
    if (possible == 0 || (options->max_connections > 0 && options->max_connections > possible)) {
        fprintf(stderr, "cow: not enough descriptors for %zu connection(s): raise `ulimit -n`, which is %zu\n",
                options->max_connections > 0 ? (size_t)options->max_connections : (size_t)1, have);
        return false;
    }
    *connections = wanted < possible ? wanted : possible;
    return true;
}

static bool failed(const char *what, const char *which, int error) {
    fprintf(stderr, "cow: %s %s: %s\n", what, which, strerror(error));
    return false;
}
