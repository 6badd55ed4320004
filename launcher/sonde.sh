#!/bin/sh
# Starts the image that this script lies in. What it exports begins with SONDE_, which a recorded
# command does not see. Every fork costs a millisecond, so there are few.
app=$(readlink -f "$0")
app=${app%/*}
home=${app%/app}

# The start-up cache holds for one image content at one place, and belongs to one user. Without it,
# or when the JVM finds it stale, everything works and only the start is slower.
read -r id <"$app/build-id"
key=$id-$(stat -c %Y-%i "$app/build-id")
if [ -w /proc/1/mem ]; then # root
    caches=/var/cache/sonde
else
    caches=${XDG_CACHE_HOME:-$HOME/.cache}/sonde
fi
cache=$caches/$key.aot

heap=-Xmx1400m
case ${1-} in
record)
    # A recorder hardly compiles: the first of its threads to run should be the recording one.
    heap="-Xmx128m -XX:TieredStopAtLevel=1 -XX:CompileThresholdScaling=10"
    # HotSpot puts handlers over ignored signals; the recorded command is to find them ignored.
    while read -r name value; do
        [ "$name" != SigIgn: ] || export "SONDE_SIGIGN=$value"
    done </proc/self/status
    ;;
bpf)
    # Most of these end after a few milliseconds of work of their own, which compiling would only
    # disturb; programs that are run here, and types that are written out, take longer.
    case ${2-} in
    run | asm | disasm) ;;
    btf | map | feature) heap="-Xmx1000m -XX:TieredStopAtLevel=1" ;;
    *) heap="-Xmx1000m -XX:TieredStopAtLevel=1 -XX:CompileThresholdScaling=10" ;;
    esac
    ;;
symbolize)
    # 20,000 addresses of a kernel take half the time that compiling better took.
    heap="-Xmx1400m -XX:TieredStopAtLevel=1"
    ;;
trace | tool)
    # A script runs in the kernel; what compiles here compiles once, and is to start at once.
    heap="-Xmx1000m -XX:TieredStopAtLevel=1"
    ;;
esac
# The JVM names files in the locale's encoding, and fails on the others; the command gets its own
# LC_ALL back.
case ${LC_ALL:-${LC_CTYPE:-${LANG-}}} in
*[Uu][Tt][Ff]8 | *[Uu][Tt][Ff]-8) ;;
*)
    export "SONDE_LC_ALL=${LC_ALL+=$LC_ALL}"
    export LC_ALL=C.UTF-8
    ;;
esac
# Most of a short command is compiling: methods that take in others up to a third of the usual size
# are compiled sooner, and run as fast where it was measured.
# One collector everywhere: a cache holds only for the collector it was made with. The JVM's raise
# of RLIMIT_NOFILE is off so that a recorded command starts with the limit its user has.
set -- $heap -Xss1m -XX:+UseSerialGC -XX:FreqInlineSize=120 -XX:-UsePerfData -XX:-MaxFDLimit \
    -Xlog:disable -Xlog:all=off ${SONDE_JAVA_FLAGS-} \
    --enable-native-access=sonde.sys -p "$app" "-Dsonde.home=$home" \
    -m sonde.cli/sonde.cli.Main "$@"

# What the training starts does not train, and one training at a time is enough.
busy=$cache.busy
if [ ! -f "$cache" ] && [ -z "${SONDE_TRAINING-}" ] &&
    [ -z "$(find "$busy" -mmin -3 2>/dev/null)" ]; then
    # What the training records: events of many kinds, and enough of them.
    work='find /usr/lib -maxdepth 3 | sort; dd if=/dev/zero of=/dev/null bs=1 count=8000'
    (umask 077 && mkdir -p "$caches") 2>/dev/null
    if [ -O "$caches" ] && [ -w "$caches" ]; then
        [ ! -t 2 ] || echo "sonde: once, to start faster from now on: some 10 seconds" >&2
        trap 'rm -f "$busy" "$cache.$$"*; exit 143' HUP INT TERM
        (
            umask 077
            : >"$busy"
            # What trainings that were killed have left.
            find "$caches" -maxdepth 1 -name '*.aot.*' -mmin +10 -exec rm -f {} +
            export SONDE_TRAINING=1
            # Classes alone: with the training's profiles each start would first compile what the
            # training ran, most of which the command does not.
            exec "$home/bin/java" "-XX:AOTCacheOutput=$cache.$$" -Xmx400m -Xss1m -XX:+UseSerialGC \
                -XX:+UnlockDiagnosticVMOptions -XX:-AOTRecordTraining \
                -XX:FreqInlineSize=120 -XX:-UsePerfData -XX:-MaxFDLimit \
                --enable-native-access=sonde.sys -p "$app" "-Dsonde.home=$home" \
                -m sonde.cli/sonde.cli.Main --train sh -c "$work"
        ) >/dev/null 2>&1 </dev/null
        trap - HUP INT TERM
        rm -f "$busy"
        mv "$cache.$$" "$cache" 2>/dev/null || rm -f "$cache.$$"* 2>/dev/null
        # Each is 20 MB. Of those that nobody has read since yesterday the newest few stay.
        ls -t "$caches"/*.aot 2>/dev/null | tail -n +5 | while read -r old; do
            find "$old" -atime +0 -exec rm -f {} +
        done
    fi
fi
if [ -O "$cache" ] && [ -O "$caches" ]; then
    exec "$home/bin/java" "-XX:AOTCache=$cache" "$@"
fi
exec "$home/bin/java" "$@"
