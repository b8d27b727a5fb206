#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "date.h"

static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

static bool month_of(const char *name, int *month);

void dates_update(struct dates *dates) {
    time_t now = time(NULL);
    if (now == dates->second)
        return;
    dates->second = now;
    date_http(now, dates->http);

    struct tm local;
    if (localtime_r(&now, &local) == NULL)
        memset(&local, 0, sizeof local);
    /* The server sets no locale, so the names are English. */
    if (strftime(dates->log, sizeof dates->log, "%d/%b/%Y:%H:%M:%S %z", &local) == 0)
        dates->log[0] = '\0';
}

void date_http(time_t second, char text[DATE_LENGTH + 1]) {
    struct tm utc;
    /* Four digits are all that the format has: a file may claim to be of any year. */
    const time_t last = 253402300799;
    second = second < 0 ? 0 : second > last ? last : second;
    gmtime_r(&second, &utc);
    strftime(text, DATE_LENGTH + 1, "%a, %d %b %Y %H:%M:%S GMT", &utc);
}

bool date_read(const char *text, size_t length, time_t *second) {
    char copy[40], month[4];
    if (length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';

    struct tm utc = {0};
    int used = 0;
    const char *comma = strchr(copy, ',');
    if (comma != NULL &&
        sscanf(comma, ", %2d %3[A-Za-z] %4d %2d:%2d:%2d GMT%n", &utc.tm_mday, month, &utc.tm_year, &utc.tm_hour,
               &utc.tm_min, &utc.tm_sec, &used) == 6 &&
        used > 0) {
        utc.tm_year -= 1900;
    } else if (comma != NULL &&
               sscanf(comma, ", %2d-%3[A-Za-z]-%2d %2d:%2d:%2d GMT%n", &utc.tm_mday, month, &utc.tm_year, &utc.tm_hour,
                      &utc.tm_min, &utc.tm_sec, &used) == 6 &&
               used > 0) {
        /* Two digits that would lie more than 50 years ahead are of the past century. */
        time_t now = time(NULL);
        struct tm today;
        gmtime_r(&now, &today);
        utc.tm_year += 100;
        if (utc.tm_year > today.tm_year + 50)
            utc.tm_year -= 100;
    } else if (comma == NULL &&
               sscanf(copy, "%*3[A-Za-z] %3[A-Za-z] %2d %2d:%2d:%2d %4d%n", month, &utc.tm_mday, &utc.tm_hour,
                      &utc.tm_min, &utc.tm_sec, &utc.tm_year, &used) == 6 &&
               used > 0) {
        utc.tm_year -= 1900;
        comma = copy;
    } else {
        return false;
    }
    if (comma[used] != '\0' || !month_of(month, &utc.tm_mon) || utc.tm_mday < 1 || utc.tm_mday > 31 ||
        utc.tm_hour > 23 || utc.tm_min > 59 || utc.tm_sec > 60)
        return false;
    *second = timegm(&utc);
    return true;
}

static bool month_of(const char *name, int *month) {
    for (int i = 0; i < 12; i++) {
        if (strcmp(name, months[i]) == 0) {
            *month = i;
            return true;
        }
    }
    return false;
}
