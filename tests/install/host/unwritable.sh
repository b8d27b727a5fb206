# One message, and nothing is written.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir "$work/prefix" "$work/file.d"
mount_and() { unshare --map-root-user --mount bash -euc 'mount --bind "$0" "$0"; mount -o remount,bind,ro "$0"; "$@"' "$@"; }
refuses "install: error: $work/prefix cannot be written; run this as root, or choose another place" \
    mount_and "$work/prefix" make install SETUP=no PREFIX="$work/prefix"
touch "$work/file"
refuses "install: error: $work/file cannot be written" make install SETUP=no PREFIX="$work/file"
refuses "it must be an absolute path" make install SETUP=no PREFIX=relative
said=$(mount_and "$work/prefix" make install SETUP=no PREFIX="$work/prefix" 2>&1 | grep -vc '^make' || :)
[[ $said == 1 ]] || { echo "it says $said lines"; exit 1; }
[[ -z $(find "$work/prefix" -mindepth 1) ]]
