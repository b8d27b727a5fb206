/*
 * What a host changes whose threads and schedulers do not lie in its own memory, or whose code a verifier must accept
 * before it runs. Such a host defines these before it includes anything of Catapults; for all others they say nothing.
 */
#ifndef CATAPULTS_HOST_MEMORY_H
#define CATAPULTS_HOST_MEMORY_H

/* Stands between what a pointer leads to and its `*`, if that is a thread or a part of a scheduler: in which memory
 * they lie. */
#ifndef CATAPULTS_MEMORY
#define CATAPULTS_MEMORY
#endif

/* The condition of a loop that ends because of what is in that memory, which no verifier knows. */
#ifndef CATAPULTS_LOOP
#define CATAPULTS_LOOP(condition) (condition)
#endif

/* A number from which such a loop may count. A verifier that knew it would follow each turn. */
#ifndef CATAPULTS_COUNTED
#define CATAPULTS_COUNTED(value) (value)
#endif

/* A pointer into that memory of which a verifier is to know nothing: neither that it is not NULL, nor that it is the
 * same as another. */
#ifndef CATAPULTS_FORGOTTEN
#define CATAPULTS_FORGOTTEN(pointer) (pointer)
#endif

/* A function that is called where it is used: a verifier follows a copy in each place otherwise. */
#ifndef CATAPULTS_CALLED
#define CATAPULTS_CALLED static inline
#endif

/* A function with a parameter that is a function: where there are no calls through pointers, it is no call itself. */
#ifndef CATAPULTS_IN_PLACE
#define CATAPULTS_IN_PLACE static inline
#endif

#endif
