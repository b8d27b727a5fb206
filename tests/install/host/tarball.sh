# The same commit, the same bytes.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
one=$(scripts/dist "$work/one" 2>/dev/null)
cmp "$one" "$BUILD/dist/${one##*/}"
