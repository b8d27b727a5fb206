# The disk is full: one message, and `make uninstall` removes what was copied until then. Others may install from a clone in which root did.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/disk"
in_little() { unshare --map-root-user --mount bash -euc 'mount -t tmpfs -o size=256k none "$0"; "$@"' "$work/disk" "$@"; }
refuses "No space left on device; when that is mended, run this again, or remove what is there: make uninstall" \
    in_little make install SETUP=no PREFIX="$work/disk/usr"
in_little bash -euc '! make install SETUP=no PREFIX="$0" 2>"$1"
    [[ $(grep -vc "^make" "$1") == 1 && -n $(find "$0" -type f) ]]
    make uninstall SETUP=no PREFIX="$0" >/dev/null
    [[ -z $(find "$0" -mindepth 1) ]]' "$work/disk/usr" "$work/said"

make install SETUP=no PREFIX="$work/usr" >/dev/null
[[ $(stat -c %a "$work/usr/share/catapults/manifest") == 644 ]]
# Links of documents lead somewhere; those of the sources' own pages need a clone.
documents=$work/usr/share/doc/catapults
[[ -e $documents/examples/batch/batch.sched && -e $documents/frameworks/native/README.md && -e $documents/policies/edf.sched ]]
while IFS=: read -r page link; do
    [[ -e $(dirname "$page")/$link ]] || { echo "$page: there is no $link"; exit 1; }
done < <(grep -oE '\]\([^):#[:space:]]+' "$documents/README.md" "$documents"/docs/{choosing,install,language,languages,policies,tutorial,upgrading}.md | sed 's/](//')
