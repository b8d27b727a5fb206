/* Dates as HTTP and the access log write them, made once a second. */
#ifndef COW_DATE_H
#define COW_DATE_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#define DATE_LENGTH 29     /* Sun, 06 Nov 1994 08:49:37 GMT */
#define DATE_LOG_LENGTH 26 /* 06/Nov/1994:08:49:37 +0000 */

struct dates {
    time_t second; /* the strings are those of this second */
    char http[DATE_LENGTH + 1];
    char log[DATE_LOG_LENGTH + 1];
};

/* Brings `dates` up to date. */
void dates_update(struct dates *dates);

void date_http(time_t second, char text[DATE_LENGTH + 1]);

/* Reads any of the three forms of RFC 9110, 5.6.7. */
bool date_read(const char *text, size_t length, time_t *second);

#endif
