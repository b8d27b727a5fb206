/* A chat server with four clients, of which one has long messages. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "catapults.h"

enum { CLIENTS = 4, MESSAGES = 25, LONG = 80, SHORT = 10 };

struct client {
    catapults_int length; /* what the policy reads: of the last message, in bytes */
    int number, descriptor, heard;
};

static int heard; /* bytes in the room */

/* Reads a client's messages, and says them in the room: a byte with the length, and so many bytes. */
static void *serve(void *argument) {
    struct client *client = argument;
    unsigned char length;
    char message[LONG];
    while (catapults_read(client->descriptor, &length, 1) == 1 &&
           catapults_read(client->descriptor, message, length) == length) {
        client->length = length;
        client->heard += length;
        heard += length;
        catapults_yield(); /* the next one may speak */
    }
    printf("client %d has said all its %d bytes when %d were heard\n", client->number, client->heard, heard);
    return NULL;
}

/* The other end of a connection: all that a client has to say. */
static int speak(unsigned char length) {
    int ends[2];
    char message[1 + LONG] = {(char)length};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        exit(EXIT_FAILURE);
    memset(message + 1, 'x', length);
    for (int i = 0; i < MESSAGES; i++)
        if (write(ends[0], message, 1 + (size_t)length) != 1 + length)
            exit(EXIT_FAILURE);
    close(ends[0]);
    return ends[1];
}

int main(void) {
    if (catapults_init(NULL) != 0)
        return EXIT_FAILURE;
    catapults_threadvar_register("length", struct client, length);
    static struct client clients[CLIENTS];
    catapults_t threads[CLIENTS];
    for (int i = 0; i < CLIENTS; i++)
        clients[i] = (struct client){.number = i + 1, .descriptor = speak(i == 0 ? LONG : SHORT)};
    for (int i = 0; i < CLIENTS; i++) {
        struct catapults_attributes attributes = {.name = "client", .object = &clients[i]};
        if (catapults_create(&threads[i], &attributes, serve, &clients[i]) != 0)
            return EXIT_FAILURE;
    }
    for (int i = 0; i < CLIENTS; i++)
        catapults_join(threads[i], NULL);
    return EXIT_SUCCESS;
}
