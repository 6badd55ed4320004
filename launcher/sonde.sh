#!/bin/sh
# Starts the image that this script lies in. What it exports begins with SONDE_, which a recorded
# command does not see. Every fork costs a millisecond, so there are few.
app=$(readlink -f "$0")
app=${app%/*}
home=${app%/app}

# The start-up cache holds for one image content at one place, and belongs to one user. Without it,
# or when the JVM finds it stale, everything works and only the start is slower.
read -r id place <"$app/build-id"
key=$place-$id-$(stat -c %Y-%i "$app/build-id")
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

if [ -O "$cache" ] && [ -O "$caches" ]; then
    exec "$home/bin/java" "-XX:AOTCache=$cache" "$@"
fi
# SONDE_TRAIN=never makes no cache, SONDE_TRAIN=first makes it before the command. Otherwise the
# command starts train.sh when it ends. What a training starts does not train, and after one that
# failed the next waits three minutes.
if [ -z "${SONDE_TRAINING-}" ] && [ "${SONDE_TRAIN-}" != never ] &&
    [ -z "$(find "$cache.busy" -mmin -3 2>/dev/null)" ]; then
    (umask 077 && mkdir -p "$caches") 2>/dev/null
    if [ -O "$caches" ] && [ -w "$caches" ]; then
        if [ "${SONDE_TRAIN-}" = first ]; then
            "$app/train.sh" "$cache"
            [ ! -O "$cache" ] || set -- "-XX:AOTCache=$cache" "$@"
        else
            export "SONDE_CACHE=$cache"
        fi
    fi
fi
exec "$home/bin/java" "$@"
