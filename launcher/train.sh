#!/bin/sh
# Makes the start-up cache that is named, once, at the lowest priority. A command that found none
# starts this when it ends, so nothing of it is an ancestor or a child of a training.
cache=$1
caches=${cache%/*}
app=$(readlink -f "$0")
app=${app%/*}
home=${app%/app}
busy=$cache.busy
# What the training records: events of many kinds, and enough of them.
work='find /usr/lib -maxdepth 3 | sort; dd if=/dev/zero of=/dev/null bs=1 count=8000'

# The cache of a package is for all users.
[ "$caches" = "$app" ] && umask 022 || umask 077
exec >/dev/null 2>&1 </dev/null
cd / || exit 1
# A cache is 38 MB, and the newest three stay. Where more builds than that are used in turn, they
# would be made over and over: then those of the last hour have to do.
if [ "${SONDE_TRAIN-}" != first ] &&
    [ "$(find "$caches" -maxdepth 1 -name '*.aot' -mmin -60 | wc -l)" -ge 3 ]; then
    exit 0
fi
exec 9>>"$busy" || exit 1
! command -v flock || flock -n 9 || exit 0
[ ! -f "$cache" ] || exit 0
touch "$busy"
end() {
    # The JVM writes the cache in a second process. Started by a command, this leads its group.
    trap '' TERM
    kill -- "-$$" || kill "$java"
    rm -f "$busy" "$cache.$$"*
    exit 143
}
trap end HUP INT TERM
# What trainings that were killed have left, and caches of images that are no longer used.
find "$caches" -maxdepth 1 \( -name '*.aot.*' -mmin +10 -o -name '*.aot' -atime +14 \) \
    ! -name "${busy##*/}" -exec rm -f {} +
export SONDE_TRAINING=1
# Classes alone: with the training's profiles each start would first compile what the training ran,
# most of which the command does not.
lowest="nice -n 19"
command -v nice || lowest=
$lowest "$home/bin/java" "-XX:AOTCacheOutput=$cache.$$" -Xmx400m -Xss1m -XX:+UseSerialGC \
    -XX:+UnlockDiagnosticVMOptions -XX:-AOTRecordTraining \
    -XX:FreqInlineSize=120 -XX:-UsePerfData -XX:-MaxFDLimit \
    --enable-native-access=sonde.sys -p "$app" "-Dsonde.home=$home" \
    -m sonde.cli/sonde.cli.Main --train sh -c "$work" 9>&- &
java=$!
wait "$java"
if mv "$cache.$$" "$cache"; then
    rm -f "$busy"
    ls -t "$caches"/*.aot | tail -n +4 | while read -r old; do
        rm -f "$old"
    done
else
    rm -f "$cache.$$"*
fi
