#!/bin/bash
# The object that is loaded beneath programs has no variables by %fs, which is the running thread's, shows nothing to the program, and
# touches vector registers only where it keeps and loads those of threads. Reads what was built: OUT is its first argument.
set -euo pipefail
object=$1/libcatapults_beneath.so

[[ -z $(readelf --segments --wide "$object" | grep TLS) ]] || { echo "beneath: it has thread_local variables"; exit 1; }
shown=$(nm --dynamic --defined-only "$object")
[[ -z $shown ]] || { echo "beneath: it shows: $shown"; exit 1; }
code=$(objdump -d --no-show-raw-insn "$object" | awk '/^[0-9a-f]+ </ { kept = /<beneath_vectors_(save|load)>/ } !kept')
functions=$(grep -c '^[0-9a-f]* <' <<<"$code")
vectors=$(grep -E '%[xyz]mm' <<<"$code" | head -3 || true)
[[ -z $vectors ]] || { echo "beneath: it touches vector registers: $vectors"; exit 1; }
((functions > 300)) || { echo "beneath: it has only $functions functions"; exit 1; }
echo "beneath: $functions functions, no vector register, no variable by %fs"
