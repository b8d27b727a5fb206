#!/bin/bash
# The programs in README.md do what is said there.
set -eu -o pipefail
out=$1
native=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# program LANGUAGE COMPILER: its only block in README.md prints what the C program does.
program() {
    sed -n "/^\`\`\`$1$/,/^\`\`\`$/p" "$native/README.md" | sed '/^```/d' >"$work/program.$1"
    [[ -s $work/program.$1 ]] || { echo "README.md has no program in $1"; exit 1; }
    local command
    command=$(grep -m1 "^    $2 .*-Iframeworks/native/include.* program.$1 " "$native/README.md")
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
}

program c cc
program cpp c++
