/*
 * What the policy said when it refused a request. A reason with values is in the policy's own data, until the next
 * refusal: it is kept before the runtime is left.
 */
#ifndef CATAPULTS_PROCESS_REFUSAL_H
#define CATAPULTS_PROCESS_REFUSAL_H

#include "catapults/told.h"
#include "contexts/text.h"

struct refusal {
    const char *text; /* NULL: nothing was refused */
    char kept[CATAPULTS_TOLD];
};

/* A text that is longer than what is kept has no values, and lives as long as the policy's object. */
static inline void refusal_keep(struct refusal *refusal, const struct catapults_stop *stop) {
    bool fits = text_length(stop->text) < sizeof refusal->kept;
    if (fits)
        text_format(refusal->kept, sizeof refusal->kept, "%s", stop->text);
    refusal->text = fits ? refusal->kept : stop->text;
}

#endif
