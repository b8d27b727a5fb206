#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "request.h"

static const char at_nothing[] = "";

static void parse(struct request *request);
static int status_of_error(const struct request *request, llhttp_errno_t error);
static void header_is_complete(struct request *request);
static void check_host(struct request *request);
static void check_expectation(struct request *request);
static bool looks_like_method(const struct request *request);
static bool names_version(const struct request *request);

static int on_method(llhttp_t *parser, const char *at, size_t length);
static int on_url(llhttp_t *parser, const char *at, size_t length);
static int on_field_name(llhttp_t *parser, const char *at, size_t length);
static int on_field_value(llhttp_t *parser, const char *at, size_t length);
static int on_field_end(llhttp_t *parser);
static int on_header_end(llhttp_t *parser);
static int on_body(llhttp_t *parser, const char *at, size_t length);
static int on_end(llhttp_t *parser);

static const llhttp_settings_t settings = {
    .on_method = on_method,
    .on_url = on_url,
    .on_header_field = on_field_name,
    .on_header_value = on_field_value,
    .on_header_value_complete = on_field_end,
    .on_headers_complete = on_header_end,
    .on_body = on_body,
    .on_message_complete = on_end,
};

void request_start(struct request *request, char *buffer, size_t max_header, uint64_t max_body) {
    request->buffer = buffer;
    request->size = max_header + REQUEST_BODY_SPACE;
    request->max_header = max_header;
    request->max_body = max_body;
    request->filled = request->parsed = 0;
    request_next(request);
}

char *request_space(struct request *request, size_t *size) {
    /* What was read of a body is not needed any more. */
    if (request->state == REQUEST_BODY)
        request->filled = request->parsed = request->header_end;
    *size = request->size - request->filled;
    return request->buffer + request->filled;
}

void request_received(struct request *request, size_t count) {
    request->filled += count;
    parse(request);
}

void request_next(struct request *request) {
    memmove(request->buffer, request->buffer + request->parsed, request->filled - request->parsed);
    request->filled -= request->parsed;
    request->parsed = 0;
    request->header_end = 0;
    request->state = REQUEST_EMPTY;
    request->refusal = 0;
    request->line = request->method = request->target = (struct span){0};
    request->field_count = 0;
    request->fields[0] = (struct field){0};
    request->minor = 1;
    request->keep_alive = request->wants_continue = false;
    request->body_bytes = 0;
    llhttp_init(&request->parser, HTTP_REQUEST, &settings);
    request->parser.data = request;
    if (request->filled > 0)
        parse(request);
}

bool request_more(const struct request *request) { return request->filled > request->parsed; }

const struct field *request_field(const struct request *request, const char *name, size_t *index) {
    while (*index < request->field_count) {
        const struct field *field = &request->fields[(*index)++];
        if (span_is(field->name, name))
            return field;
    }
    return NULL;
}

bool span_is(struct span span, const char *text) {
    return strlen(text) == span.length && strncasecmp(span.start, text, span.length) == 0;
}

static void parse(struct request *request) {
    const char *start = request->buffer + request->parsed;
    llhttp_errno_t error = llhttp_execute(&request->parser, start, request->filled - request->parsed);
    bool reading_header = request->state == REQUEST_EMPTY || request->state == REQUEST_HEADER;
    if (error == HPE_PAUSED) {
        request->parsed = (size_t)(llhttp_get_error_pos(&request->parser) - request->buffer);
        return;
    }
    request->parsed = request->filled;
    if (error != HPE_OK) {
        request_refuse(request, request->refusal != 0 ? request->refusal : status_of_error(request, error));
    } else if (reading_header) {
        request->state = REQUEST_HEADER;
        if (request->parsed >= request->max_header)
            request_refuse(request, request->target.length + 16 >= request->parsed ? 414 : 431);
    }
}

static int status_of_error(const struct request *request, llhttp_errno_t error) {
    switch ((int)error) {
    case HPE_INVALID_METHOD:
        return looks_like_method(request) ? 501 : 400;
    case HPE_INVALID_VERSION:
        return names_version(request) ? 505 : 400;
    case HPE_PAUSED_H2_UPGRADE:
        return 505;
    default:
        return 400;
    }
}

void request_refuse(struct request *request, int status) {
    request->state = REQUEST_REFUSED;
    request->refusal = status;
    request->keep_alive = false;
    /* For the log: the line as far as it has come. */
    if (request->line.start == NULL) {
        const char *end = memchr(request->buffer, '\n', request->filled);
        size_t length = end != NULL ? (size_t)(end - request->buffer) : request->filled;
        while (length > 0 && request->buffer[length - 1] == '\r')
            length--;
        request->line = (struct span){request->buffer, length};
    }
}

/* A method that llhttp does not know, but that could be one. */
static bool looks_like_method(const struct request *request) {
    const char *at = request->buffer, *end = at + request->filled;
    while (at < end && (*at == '\r' || *at == '\n'))
        at++;
    const char *start = at;
    while (at < end && (isupper((unsigned char)*at) || *at == '-' || *at == '_'))
        at++;
    return at > start && at < end && *at == ' ';
}

/* Whether the first line ends as that of some version of HTTP does. */
static bool names_version(const struct request *request) {
    const char *start = request->target.start + request->target.length;
    size_t length = request->filled - (size_t)(start - request->buffer);
    int used = 0;
    char line[16] = "";
    memcpy(line, start, length < sizeof line ? length : sizeof line - 1);
    sscanf(line, " HTTP/%*1[0-9].%*1[0-9]%n", &used);
    return used > 0 && (line[used] == '\r' || line[used] == '\n');
}

static int on_method(llhttp_t *parser, const char *at, size_t length) {
    struct request *request = parser->data;
    if (request->method.start == NULL)
        request->method.start = at;
    request->method.length = (size_t)(at + length - request->method.start);
    return 0;
}

static int on_url(llhttp_t *parser, const char *at, size_t length) {
    struct request *request = parser->data;
    if (request->target.start == NULL)
        request->target.start = at;
    request->target.length = (size_t)(at + length - request->target.start);
    if (request->target.length <= REQUEST_TARGET)
        return 0;
    request->refusal = 414;
    return HPE_USER;
}

/* A span that comes in pieces is whole in the buffer all the same. */
static int on_field_name(llhttp_t *parser, const char *at, size_t length) {
    struct request *request = parser->data;
    if (request->state == REQUEST_BODY)
        return 0; /* a trailer, of which nothing is wanted */
    if (request->field_count == REQUEST_FIELDS) {
        request->refusal = 431;
        return HPE_USER;
    }
    struct field *field = &request->fields[request->field_count];
    if (field->name.start == NULL)
        field->name.start = at;
    field->name.length = (size_t)(at + length - field->name.start);
    return 0;
}

static int on_field_value(llhttp_t *parser, const char *at, size_t length) {
    struct request *request = parser->data;
    if (request->state == REQUEST_BODY)
        return 0;
    struct field *field = &request->fields[request->field_count];
    if (field->value.start == NULL)
        field->value.start = at;
    field->value.length = (size_t)(at + length - field->value.start);
    return 0;
}

static int on_field_end(llhttp_t *parser) {
    struct request *request = parser->data;
    if (request->state == REQUEST_BODY)
        return 0;
    struct span *value = &request->fields[request->field_count].value;
    if (value->start == NULL)
        value->start = at_nothing;
    while (value->length > 0 && strchr(" \t\r\n", value->start[value->length - 1]) != NULL)
        value->length--;
    if (++request->field_count < REQUEST_FIELDS)
        request->fields[request->field_count] = (struct field){0};
    return 0;
}

static int on_header_end(llhttp_t *parser) {
    struct request *request = parser->data;
    parser->upgrade = 0; /* no other protocol is spoken here: the request is answered as it is */
    header_is_complete(request);
    return request->refusal != 0 ? HPE_USER : 0;
}

static int on_body(llhttp_t *parser, const char *at, size_t length) {
    (void)at;
    struct request *request = parser->data;
    request->body_bytes += length;
    if (request->body_bytes <= request->max_body)
        return 0;
    request->refusal = 413;
    return HPE_USER;
}

static int on_end(llhttp_t *parser) {
    struct request *request = parser->data;
    request->state = REQUEST_COMPLETE;
    return HPE_PAUSED;
}

static void header_is_complete(struct request *request) {
    const llhttp_t *parser = &request->parser;
    request->state = REQUEST_BODY;
    request->minor = parser->http_minor;
    request->keep_alive = llhttp_should_keep_alive(parser) != 0;
    const char *line_end =
        memchr(request->target.start, '\n', request->filled - (size_t)(request->target.start - request->buffer));
    if (line_end != NULL) {
        size_t length = (size_t)(line_end - request->method.start);
        if (length > 0 && line_end[-1] == '\r')
            length--;
        request->line = (struct span){request->method.start, length};
    }
    const char *end = request->target.start + request->target.length;
    for (size_t i = 0; i < request->field_count; i++) {
        const struct field *field = &request->fields[i];
        end =
            field->value.length > 0 ? field->value.start + field->value.length : field->name.start + field->name.length;
    }
    request->header_end = (size_t)(end - request->buffer);
    if (request->header_end > request->max_header)
        request->refusal = 431;
    else if (parser->http_major != 1)
        request->refusal = 505;
    else if (parser->flags & F_CONTENT_LENGTH && parser->content_length > request->max_body)
        request->refusal = 413;
    else
        check_host(request);
    if (request->refusal == 0)
        check_expectation(request);
}

/* RFC 9112, 3.2: exactly one in HTTP/1.1. */
static void check_host(struct request *request) {
    size_t index = 0;
    const struct field *host = request_field(request, "host", &index);
    if ((host == NULL && request->minor > 0) || (host != NULL && request_field(request, "host", &index) != NULL))
        request->refusal = 400;
    for (size_t i = 0; host != NULL && i < host->value.length; i++) {
        unsigned char byte = (unsigned char)host->value.start[i];
        if (!isalnum(byte) && strchr("-._~:[]%!$&'()*+,;=", byte) == NULL)
            request->refusal = 400;
    }
}

static void check_expectation(struct request *request) {
    size_t index = 0;
    const struct field *expect = request_field(request, "expect", &index);
    if (expect == NULL || request->minor == 0)
        return;
    if (span_is(expect->value, "100-continue"))
        request->wants_continue = true;
    else
        request->refusal = 417;
}
