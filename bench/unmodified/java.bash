# OpenJDK: a server with a thread for each connection and its clients, and threads that meet in all ways that Java has.
# policies: round_robin feedback
. "$STEPS"

step "it is compiled" $PATIENCE javac -d . "${STEPS%/*}/java/Meet.java" "${STEPS%/*}/java/Serve.java"
meet() { under java -XX:+UseG1GC -Xmx256m -cp . "$@" "$SECONDS_OF_LOAD"; }
for program in Meet Serve; do
    step "$program" $((SECONDS_OF_LOAD + PATIENCE)) meet $program
done
finish
