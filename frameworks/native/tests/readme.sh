#!/bin/bash
# The program at the beginning of README.md does what is said there.
set -eu -o pipefail
out=$1
native=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed -n '/^```c$/,/^```$/p' "$native/README.md" | sed '/^```/d' >"$work/program.c"
[[ -s $work/program.c ]] || { echo "README.md has no program"; exit 1; }
command=$(grep -m1 '^    cc -Iframeworks/native/include' "$native/README.md")
command=${command//frameworks\/native/$native}
command=${command//-Iframeworks\/shared/-I$native\/..\/shared}
command=${command//build\/native/$out}
(cd "$work" && eval "$command" && env -u CATAPULTS_POLICY ./a.out >printed)
diff - "$work/printed" <<'END'
usual 1
urgent 1
usual 2
urgent 2
usual 3
urgent 3
END
