/* A board with three inputs. Each fills a buffer at its own pace, and a task empties it. */
#include <stdio.h>
#include <stdlib.h>

#include "FreeRTOS.h"
#include "task.h"

enum { INPUTS = 3, ROOM = 8, STEPS = 4000 };

struct input {
    const char *name;
    int every;   /* so many steps from one byte to the next */
    int waiting; /* bytes in the buffer */
    int lost;
    TaskHandle_t task;
};

static struct input inputs[INPUTS] = {{"uart", .every = 2}, {"can", .every = 4}, {"spi", .every = 8}};
static int step;

static void tell(const struct input *input) {
#ifdef CATAPULTS_THREADIMPORT_waiting
    CATAPULTS_THREADIMPORT_waiting(catapults_thread(input->task)) = input->waiting;
#else
    (void)input;
#endif
}

/* Stands for the interrupts that come during a step. */
static void receive(void) {
    step++;
    for (int i = 0; i < INPUTS; i++) {
        struct input *input = &inputs[i];
        if (step % input->every != 0)
            continue;
        if (input->waiting == ROOM)
            input->lost++;
        else
            input->waiting++;
        tell(input);
    }
}

static void empty(void *argument) {
    struct input *input = argument;
    while (step < STEPS) {
        receive();
        if (input->waiting > 0)
            input->waiting--; /* and what is to be done with the byte */
        tell(input);
        taskYIELD();
    }
    printf("of %d bytes,", STEPS / 2 + STEPS / 4 + STEPS / 8);
    for (int i = 0; i < INPUTS; i++)
        printf(" %s has lost %d%s", inputs[i].name, inputs[i].lost, i < INPUTS - 1 ? "," : "\n");
    exit(EXIT_SUCCESS);
}

int main(void) {
    for (int i = 0; i < INPUTS; i++)
        if (xTaskCreate(empty, inputs[i].name, configMINIMAL_STACK_SIZE * 4, &inputs[i], 1, &inputs[i].task) != pdPASS)
            return EXIT_FAILURE;
    vTaskStartScheduler();
    return EXIT_FAILURE;
}
