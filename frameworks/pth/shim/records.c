/*
 * A hash table from Pth's threads to our records, and a list of these by age.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shim/shim.h"

enum { FIRST_BUCKETS = 64 };

static struct record **buckets, *oldest, *newest;
static size_t bucket_count, count;

static size_t bucket_of(pth_t thread, size_t of) {
    uint64_t hash = (uint64_t)(uintptr_t)thread * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(hash >> 32) & (of - 1);
}

struct record *record_of(pth_t thread) {
    if (!buckets)
        return NULL;
    struct record *record = buckets[bucket_of(thread, bucket_count)];
    while (record && record->thread != thread)
        record = record->chain;
    return record;
}

struct record *record_in(const struct catapults_thread *t) {
    return (struct record *)((char *)t - offsetof(struct record, policy));
}

/* Twice as many buckets, so that chains stay short. Without memory they grow long instead. */
static void grow(void) {
    size_t wanted = bucket_count ? bucket_count * 2 : FIRST_BUCKETS;
    struct record **grown = calloc(wanted, sizeof *grown);
    if (!grown)
        return;
    for (struct record *record = oldest; record; record = record->newer) {
        size_t bucket = bucket_of(record->thread, wanted);
        record->chain = grown[bucket];
        grown[bucket] = record;
    }
    free(buckets);
    buckets = grown;
    bucket_count = wanted;
}

struct record *record_add(pth_t thread) {
    if (count >= bucket_count)
        grow();
    size_t size = (offsetof(struct record, policy) + shim.policy->thread_size + 15) & ~(size_t)15;
    struct record *record = buckets ? aligned_alloc(16, size) : NULL;
    if (!record)
        return NULL;
    memset(record, 0, size);
    size_t bucket = bucket_of(thread, bucket_count);
    *record = (struct record){.thread = thread, .chain = buckets[bucket], .older = newest};
    record->policy.number = ++shim.numbers;
    buckets[bucket] = record;
    if (newest)
        newest->newer = record;
    else
        oldest = record;
    newest = record;
    count++;
    return record;
}

void record_remove(struct record *record) {
    struct record **link = &buckets[bucket_of(record->thread, bucket_count)];
    while (*link != record)
        link = &(*link)->chain;
    *link = record->chain;
    if (record->older)
        record->older->newer = record->newer;
    else
        oldest = record->newer;
    if (record->newer)
        record->newer->older = record->older;
    else
        newest = record->older;
    count--;
    free(record->recorded);
    free(record);
}

struct record *record_oldest(void) { return oldest; }
