#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "conditional.h"
#include "listing.h"
#include "path.h"
#include "respond.h"

/* Parts of a file that holds this line would be ambiguous to a reader that ignores their lengths. */
#define BOUNDARY "CoW-8f2c6b1d04e7a935"

#define RETRY_AFTER "1"

struct status {
    int code;
    const char *text; /* also the body */
};

static const struct status statuses[] = {
    {200, "200 OK\n"},
    {206, "206 Partial Content\n"},
    {301, "301 Moved Permanently\n"},
    {304, "304 Not Modified\n"},
    {400, "400 Bad Request\n"},
    {403, "403 Forbidden\n"},
    {404, "404 Not Found\n"},
    {405, "405 Method Not Allowed\n"},
    {408, "408 Request Timeout\n"},
    {412, "412 Precondition Failed\n"},
    {413, "413 Content Too Large\n"},
    {414, "414 URI Too Long\n"},
    {416, "416 Range Not Satisfiable\n"},
    {417, "417 Expectation Failed\n"},
    {431, "431 Request Header Fields Too Large\n"},
    {500, "500 Internal Server Error\n"},
    {501, "501 Not Implemented\n"},
    {503, "503 Service Unavailable\n"},
    {505, "505 HTTP Version Not Supported\n"},
};

const char respond_no_room[] = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: " RETRY_AFTER
                               "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 24\r\n"
                               "Connection: close\r\n\r\n503 Service Unavailable\n";

/* What is being answered. */
struct answer {
    struct server *server;
    const struct request *request;
    struct response *response;
    bool head_only;
};

static void answer_target(struct answer *answer);
static void answer_file(struct answer *answer, struct file *file);
static void answer_whole(struct answer *answer);
static void answer_parts(struct answer *answer, const struct range *ranges, size_t count);
static void answer_not_modified(struct answer *answer);
static void answer_listing(struct answer *answer, int directory, const char *name);
static void answer_elsewhere(struct answer *answer, const char *name);
static void answer_status(struct answer *answer, int status, const char *fields);
static void begin(struct answer *answer, int status);
static void end(struct answer *answer);
static void add_range(struct text *text, struct range range, int64_t size);
static size_t part_heading(struct text *text, const struct file *file, struct range range, bool first);
static const char *text_of(int status);

void respond(struct server *server, const struct request *request, struct response *response) {
    struct answer answer = {
        .server = server,
        .request = request,
        .response = response,
        .head_only = request->method.length == 4 && memcmp(request->method.start, "HEAD", 4) == 0,
    };
    response_start(response);
    response->close =
        request->refusal != 0 || !request->keep_alive || server->pool.stopping || pool_crowded(&server->pool);
    if (request->refusal != 0) {
        answer_status(&answer, request->refusal, "");
    } else if (!respond_method_allowed(request)) {
        static const char *const defined[] = {"POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"};
        bool known = false;
        for (size_t i = 0; i < sizeof defined / sizeof *defined; i++)
            known |= span_is(request->method, defined[i]);
        response->close |= request->state != REQUEST_COMPLETE;
        if (known)
            answer_status(&answer, 405, "Allow: GET, HEAD\r\n");
        else
            answer_status(&answer, 501, "");
    } else {
        answer_target(&answer);
    }
    if (response->head.cut) { /* by a Location of that length */
        response_release(response);
        bool close = response->close;
        response_start(response);
        response->close = close;
        answer_status(&answer, 414, "");
    }
}

bool respond_method_allowed(const struct request *request) {
    const struct span method = request->method;
    return (method.length == 3 && memcmp(method.start, "GET", 3) == 0) ||
           (method.length == 4 && memcmp(method.start, "HEAD", 4) == 0);
}

static void answer_target(struct answer *answer) {
    char name[PATH_SIZE];
    size_t length;
    const struct span target = answer->request->target;
    switch (path_of_target(target.start, target.length, name, &length)) {
    case PATH_MALFORMED:
        answer_status(answer, 400, "");
        return;
    case PATH_ABSENT:
        answer_status(answer, 404, "");
        return;
    case PATH_FOUND:
        break;
    }
    struct file *file = NULL;
    int directory = -1;
    switch (files_find(&answer->server->files, name, length, &file, &directory)) {
    case FOUND_FILE:
        answer_file(answer, file);
        break;
    case FOUND_DIRECTORY:
        answer_listing(answer, directory, name);
        break;
    case FOUND_ELSEWHERE:
        answer_elsewhere(answer, name);
        break;
    case FOUND_NOTHING:
        answer_status(answer, 404, "");
        break;
    case FOUND_FORBIDDEN:
        answer_status(answer, 403, "");
        break;
    case FOUND_NO_DESCRIPTOR:
        answer_status(answer, 503, "Retry-After: " RETRY_AFTER "\r\n");
        break;
    case FOUND_FAILURE:
        answer_status(answer, 500, "");
        break;
    }
}

static void answer_file(struct answer *answer, struct file *file) {
    answer->response->file = file;
    int status = conditional_status(answer->request, file);
    if (status == 304) {
        answer_not_modified(answer);
        return;
    }
    if (status != 0) {
        answer_status(answer, status, "");
        return;
    }
    size_t index = 0, count = 0;
    const struct field *field = answer->head_only ? NULL : request_field(answer->request, "range", &index);
    struct range ranges[RANGES_MOST];
    enum ranges_result result = RANGES_WHOLE;
    if (field != NULL && request_field(answer->request, "range", &index) == NULL &&
        conditional_range(answer->request, file))
        result = ranges_read(field->value.start, field->value.length, file->status.st_size, ranges, &count);
    switch (result) {
    case RANGES_WHOLE:
        answer_whole(answer);
        break;
    case RANGES_SOME:
        answer_parts(answer, ranges, count);
        break;
    case RANGES_UNSATISFIABLE: {
        char line[64];
        snprintf(line, sizeof line, "Content-Range: bytes */%lld\r\n", (long long)file->status.st_size);
        answer_status(answer, 416, line);
        break;
    }
    }
}

static void answer_whole(struct answer *answer) {
    struct response *response = answer->response;
    const struct file *file = response->file;
    begin(answer, 200);
    text_bytes(&response->head, file->fields, file->fields_length);
    text_string(&response->head, "Content-Length: ");
    text_number(&response->head, (uint64_t)file->status.st_size);
    text_string(&response->head, "\r\n");
    end(answer);
    if (!answer->head_only)
        response_add_file(response, 0, file->status.st_size);
}

/* One range is sent as it is, several as multipart/byteranges. */
static void answer_parts(struct answer *answer, const struct range *ranges, size_t count) {
    static const char last[] = "\r\n--" BOUNDARY "--\r\n";
    struct response *response = answer->response;
    const struct file *file = response->file;
    int64_t length = 0;
    begin(answer, 206);
    if (count == 1) {
        length = ranges->length;
        text_bytes(&response->head, file->fields, file->fields_length);
        add_range(&response->head, *ranges, file->status.st_size);
    } else {
        struct text counted = {.data = (char[512]){0}, .size = 512};
        for (size_t i = 0; i < count; i++, counted.used = 0)
            length += (int64_t)part_heading(&counted, file, ranges[i], i == 0) + ranges[i].length;
        length += (int64_t)sizeof last - 1;
        text_bytes(&response->head, file->fields, file->fields_before_type);
        text_string(&response->head, "Content-Type: multipart/byteranges; boundary=" BOUNDARY "\r\n");
    }
    text_string(&response->head, "Content-Length: ");
    text_number(&response->head, (uint64_t)length);
    text_string(&response->head, "\r\n");
    end(answer);
    for (size_t i = 0; i < count; i++) {
        if (count > 1) {
            const char *heading = response->head.data + response->head.used;
            response_add_memory(response, heading, part_heading(&response->head, file, ranges[i], i == 0));
        }
        response_add_file(response, ranges[i].first, ranges[i].length);
    }
    if (count > 1)
        response_add_memory(response, last, sizeof last - 1);
}

static void answer_not_modified(struct answer *answer) {
    const struct file *file = answer->response->file;
    begin(answer, 304);
    text_bytes(&answer->response->head, file->fields, file->fields_before_type);
    end(answer);
}

static void answer_listing(struct answer *answer, int directory, const char *name) {
    if (!answer->server->options->listing) {
        close(directory);
        answer_status(answer, 403, "");
        return;
    }
    struct response *response = answer->response;
    size_t length = 0;
    response->page = listing_make(directory, name, &length);
    if (response->page == NULL) {
        if (errno == ENOMEM || errno == EMFILE)
            answer_status(answer, 503, "Retry-After: " RETRY_AFTER "\r\n");
        else
            answer_status(answer, 500, "");
        return;
    }
    begin(answer, 200);
    text_string(&response->head, "Content-Type: text/html; charset=utf-8\r\nContent-Length: ");
    text_number(&response->head, length);
    text_string(&response->head, "\r\n");
    end(answer);
    if (!answer->head_only)
        response_add_memory(response, response->page, length);
}

/* A directory has a slash at its end, or the relative links of its index would lead astray. */
static void answer_elsewhere(struct answer *answer, const char *name) {
    struct text fields = {.data = (char[RESPONSE_HEAD]){0}, .size = RESPONSE_HEAD - 1};
    const char *query;
    size_t query_length;
    path_query(answer->request->target.start, answer->request->target.length, &query, &query_length);
    text_string(&fields, "Location: /");
    path_encode(&fields, name, strlen(name));
    text_string(&fields, "/");
    text_bytes(&fields, query, query_length);
    text_string(&fields, "\r\n");
    fields.data[fields.used] = '\0';
    answer_status(answer, fields.cut ? 414 : 301, fields.cut ? "" : fields.data);
}

/* `fields`: complete lines. The body says the status to whoever reads it. */
static void answer_status(struct answer *answer, int status, const char *fields) {
    const char *body = text_of(status);
    begin(answer, status);
    text_string(&answer->response->head, fields);
    text_string(&answer->response->head, "Content-Type: text/plain; charset=utf-8\r\nContent-Length: ");
    text_number(&answer->response->head, strlen(body));
    text_string(&answer->response->head, "\r\n");
    end(answer);
    if (!answer->head_only)
        response_add_memory(answer->response, body, strlen(body));
}

static void begin(struct answer *answer, int status) {
    struct text *head = &answer->response->head;
    const char *text = text_of(status);
    answer->response->status = status;
    dates_update(&answer->server->dates);
    text_string(head, "HTTP/1.1 ");
    text_bytes(head, text, strlen(text) - 1);
    text_string(head, "\r\nServer: CoW\r\nDate: ");
    text_bytes(head, answer->server->dates.http, DATE_LENGTH);
    text_string(head, "\r\n");
}

static void end(struct answer *answer) {
    struct response *response = answer->response;
    if (response->close)
        text_string(&response->head, "Connection: close\r\n");
    else if (answer->request->minor == 0)
        text_string(&response->head, "Connection: keep-alive\r\n");
    text_string(&response->head, "\r\n");
    response->head_length = (int64_t)response->head.used;
    response_add_memory(response, response->head.data, response->head.used);
}

static void add_range(struct text *text, struct range range, int64_t size) {
    text_string(text, "Content-Range: bytes ");
    text_number(text, (uint64_t)range.first);
    text_string(text, "-");
    text_number(text, (uint64_t)(range.first + range.length - 1));
    text_string(text, "/");
    text_number(text, (uint64_t)size);
    text_string(text, "\r\n");
}

/* Returns its length. */
static size_t part_heading(struct text *text, const struct file *file, struct range range, bool first) {
    size_t before = text->used;
    text_string(text, first ? "--" BOUNDARY "\r\n" : "\r\n--" BOUNDARY "\r\n");
    text_bytes(text, file->fields + file->fields_before_type, file->fields_length - file->fields_before_type);
    add_range(text, range, file->status.st_size);
    text_string(text, "\r\n");
    return text->used - before;
}

static const char *text_of(int status) {
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        if (statuses[i].code == status)
            return statuses[i].text;
    }
    return "500 Internal Server Error\n";
}
