# In the width of a terminal, without a warning.
for page in catapults catapults-check catapults-run catapults-trace-show; do
    MANWIDTH=80 man --warnings -P cat $page >page 2>warnings
    grep -q "^NAME" page
    grep -q "^SYNOPSIS" page
    [[ ! -s warnings ]] || { cat warnings; exit 1; }
done
says "Run a program under a policy or a hierarchy" man -P cat catapults-run
for command in $(catapults --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | grep -v '^help$'); do
    man -w catapults-$command >/dev/null
done
