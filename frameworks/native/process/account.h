/*
 * Accounting by samples.
 */
#ifndef CATAPULTS_PROCESS_ACCOUNT_H
#define CATAPULTS_PROCESS_ACCOUNT_H

#include "process/member.h"

/* Sets host->sample, if accounting is to be statistical. */
void account_prepare(const struct catapults_options *options, struct dispatcher_host *host);

#endif
