/*
 * The weather monitoring station (CATAPULTS 2005, §3 and §7.2): sensors, some slow, a display that is needed when it is
 * warm, and calculations in all other time. Loops stand for the hardware, as they do in the paper.
 *
 * The weather changes with the progress of the calculations: that is the clock here, so that the same is read and shown
 * whoever decides the order. A thread that finds nothing to do yields at once. What a slow sensor or the display has
 * not dealt with is done before the end; of what piles up beyond PILE, the rest is lost, and counted.
 *
 * With STATION_TRACE all that the policy is told and decides is written as a script (see tests/run).
 */
#include "station.h"

#include "host.h"

/* Turns of the loops. */
enum { CALCULATION = 50, READING = 20, SHOWING = 30 };
/* So many calculations are between two samples of a sensor, and between two changes of the weather. */
enum { STANDARD_PERIOD = 3, SLOW_PERIOD = 6, WEATHER_PERIOD = 12 };
enum { COLDEST = 94, WARM = 100, WARMEST = 106 };
enum { PILE = 250 };

static uint16_t wanted, calculations, standard_read, slow_read, shown, lost;
static uint8_t standard_samples, slow_samples, to_show; /* that nobody has dealt with */
static uint8_t to_standard, to_slow, to_weather;        /* calculations until then */
static uint8_t outside, warming;
static uint8_t at_work; /* threads */
static volatile uint8_t port;

static void put_text(const char *text) {
    while (*text)
        host_put(*text++);
}

static void put_number(uint16_t number) {
    uint16_t power = 1;
    while (number / power >= 10)
        power *= 10;
    for (; power; power /= 10)
        host_put((char)('0' + number / power % 10));
}

#ifdef STATION_TRACE
static void trace(const char *step, uint8_t number, const char *end) {
    put_text(step);
    host_put(' ');
    put_number(number);
    put_text(end);
}
#else
#define trace(step, number, end) ((void)(number))
#endif

static void yield(uint8_t number) {
    trace("switch_out", number, "\n");
    host_yield();
    trace("schedule ->", number, "\n");
}

/* In a script it is a comment. */
static void report(const char *what, uint16_t count) {
#ifdef STATION_TRACE
    put_text("// ");
#endif
    put_text(what);
    host_put(' ');
    put_number(count);
    host_put('\n');
}

/* The last call of every thread but the first. */
static void end(uint8_t number) {
    trace("exit", number, "\n");
    if (--at_work)
        return;
    report("calculations", calculations);
    report("standard", standard_read);
    report("slow", slow_read);
    report("shown", shown);
    report("lost", lost);
    host_end();
}

static void drive(uint8_t loops) {
    while (loops--)
        port = loops;
}

static void read_sensor(void) {
    drive(READING);
    trace("set_import temperature", outside, "\n");
    host_set_temperature(outside);
}

static void standard_sensor(uint8_t number) {
    trace("schedule ->", number, "\n");
    do {
        if (standard_samples) {
            standard_samples--;
            standard_read++;
            read_sensor();
        }
        yield(number);
    } while (calculations < wanted || standard_samples);
    end(number);
}

static void slow_sensor(uint8_t number) {
    trace("schedule ->", number, "\n");
    do {
        if (slow_samples) {
            slow_samples--;
            slow_read++;
            read_sensor();
        }
        yield(number);
    } while (calculations < wanted || slow_samples);
    end(number);
}

static void display(uint8_t number) {
    trace("schedule ->", number, "\n");
    do {
        if (to_show) {
            to_show--;
            shown++;
            drive(SHOWING);
        }
        yield(number);
    } while (calculations < wanted || to_show);
    end(number);
}

#define ADD_TO(pile)                                                                                                   \
    do {                                                                                                               \
        if ((pile) < PILE)                                                                                             \
            (pile)++;                                                                                                  \
        else                                                                                                           \
            lost++;                                                                                                    \
    } while (0)

static void change_weather(void) {
    if (warming)
        outside++;
    else
        outside--;
    if (outside == WARMEST)
        warming = 0;
    else if (outside == COLDEST)
        warming = 1;
    if (outside >= WARM)
        ADD_TO(to_show);
}

static void calculation(uint8_t number) {
    trace("schedule ->", number, "\n");
    while (calculations < wanted) {
        drive(CALCULATION);
        calculations++;
        if (--to_standard == 0) {
            to_standard = STANDARD_PERIOD;
            ADD_TO(standard_samples);
        }
        if (--to_slow == 0) {
            to_slow = SLOW_PERIOD;
            ADD_TO(slow_samples);
        }
        if (--to_weather == 0) {
            to_weather = WEATHER_PERIOD;
            change_weather();
        }
        yield(number);
    }
    end(number);
}

static void spawn(void (*body)(uint8_t number), uint8_t number, uint8_t class) {
    trace("newthread", number, "\n");
    trace("set_thread_import", number, " threadclass");
    trace("", class, "\n");
    host_spawn(body, number, class);
}

void station_start(uint8_t threads, uint16_t calculations_wanted) {
    uint8_t number;
    wanted = calculations_wanted;
    at_work = threads;
    to_standard = STANDARD_PERIOD;
    to_slow = SLOW_PERIOD;
    to_weather = WEATHER_PERIOD;
    outside = WARM - 2;
    warming = 1;
    trace("init\nnewthread", 1, "\n");
    trace("schedule ->", 1, "\n");
    spawn(display, 2, DISPLAY_CLASS);
    spawn(calculation, 3, CALCULATION_CLASS);
    spawn(calculation, 4, CALCULATION_CLASS);
    for (number = 5; number < threads + 2; number++)
        if (number & 1)
            spawn(standard_sensor, number, STANDARD_SENSOR_CLASS);
        else
            spawn(slow_sensor, number, SLOW_SENSOR_CLASS);
    trace(HOST_FIRST_LEAVES, 1, "\n");
}
