/* Starts a program that must not execute what it has written, as systemd's MemoryDenyWriteExecute has it. */
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

int main(int count, char **arguments) {
    if (count < 2 || prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) != 0)
        return 3;
    execvp(arguments[1], arguments + 1);
    perror(arguments[1]);
    return 4;
}
