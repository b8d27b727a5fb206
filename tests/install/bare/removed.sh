# Nothing stays.
dpkg --purge catapults libcatapults0 >/dev/null
left=$(find / -xdev \( -path /proc -o -path /test -o -path /dev -o -path /var/log \) -prune -o -name '*catapults*' -print)
[[ -z $left ]] || { echo "left: $left"; exit 1; }
