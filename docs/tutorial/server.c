/* A small server with a thread for each connection. Its clients are threads of the same program. */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>

#include "catapults.h"

enum { REPORTS = 6, REPORT = 40, READERS = 4, PAGES = 100 };

struct request {
    int blocks;    /* that the answer has: a page has one */
    long asked_at; /* how many blocks the server had made by then */
};

struct connection {
    catapults_int blocks; /* that are left to make: what the policy reads */
    int socket;
};

static struct sockaddr_in address;
static long made, waits[READERS * PAGES];
static int pages;

static void make_block(void) {
    for (volatile int i = 0; i < 200000; i++) {
    }
    made++;
}

static void *serve(void *argument) {
    struct connection *connection = argument;
    struct request request;
    if (catapults_read(connection->socket, &request, sizeof request) == sizeof request) {
        for (connection->blocks = request.blocks; connection->blocks > 0; connection->blocks--) {
            catapults_yield(); /* the end of a turn: the policy says who is next */
            make_block();
        }
        if (request.blocks == 1)
            waits[pages++] = made - request.asked_at;
        catapults_write(connection->socket, "done", 4);
    }
    catapults_close(connection->socket);
    free(connection);
    return NULL;
}

static void *accept_all(void *argument) {
    for (;;) {
        struct connection *connection = calloc(1, sizeof *connection);
        struct catapults_attributes attributes = {.name = "serve", .object = connection, .detached = true};
        if (connection == NULL || (connection->socket = catapults_accept(*(int *)argument, NULL, NULL, 0)) < 0 ||
            catapults_create(NULL, &attributes, serve, connection) != 0)
            exit(EXIT_FAILURE);
    }
}

static void ask(int blocks) {
    char answer[4];
    int server = socket(AF_INET, SOCK_STREAM, 0);
    if (catapults_connect_until(server, (struct sockaddr *)&address, sizeof address, CATAPULTS_FOREVER) != 0)
        exit(EXIT_FAILURE);
    struct request request = {blocks, made};
    catapults_write(server, &request, sizeof request);
    catapults_read(server, answer, sizeof answer);
    catapults_close(server);
}

static void *read_pages(void *argument) {
    for (int i = 0; i < PAGES; i++) {
        catapults_sleep(1000000 * (1 + rand() % 8)); /* 1 to 8 ms */
        ask(1);
    }
    return argument;
}

static void *want_reports(void *argument) {
    while (pages < READERS * PAGES)
        ask(REPORT);
    return argument;
}

static int by_length(const void *a, const void *b) {
    long left = *(const long *)a, right = *(const long *)b;
    return (left > right) - (left < right);
}

int main(void) {
    struct catapults_options options = {.cooperative = true}; /* a turn ends where a thread waits or yields */
    socklen_t length = sizeof address;
    int listening = socket(AF_INET, SOCK_STREAM, 0);
    address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (bind(listening, (struct sockaddr *)&address, length) != 0 || listen(listening, 64) != 0 ||
        getsockname(listening, (struct sockaddr *)&address, &length) != 0 || catapults_init(&options) != 0)
        return EXIT_FAILURE;
    catapults_threadvar_register("blocks", struct connection, blocks);
    catapults_create(NULL, NULL, accept_all, &listening);
    catapults_t clients[READERS + REPORTS];
    for (int i = 0; i < READERS + REPORTS; i++)
        catapults_create(&clients[i], NULL, i < READERS ? read_pages : want_reports, NULL);
    for (int i = 0; i < READERS + REPORTS; i++)
        catapults_join(clients[i], NULL);
    qsort(waits, pages, sizeof waits[0], by_length);
    printf("blocks until a page was there: median %ld, p99 %ld\n", waits[pages / 2], waits[pages * 99 / 100]);
    return EXIT_SUCCESS;
}
