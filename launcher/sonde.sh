#!/bin/sh
# Starts the image that this script lies in. What it exports begins with SONDE_, which a recorded
# command does not see. Every fork costs a millisecond, so there are few.
app=$(readlink -f "$0")
app=${app%/*}
home=${app%/app}

# The user's settings of Java are for the recorded command, which gets them back; and so are closed
# streams, whose numbers would otherwise go to files that the JVM opens. What stands in for one fails
# as a closed one does.
for name in JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS JDK_AOT_VM_OPTIONS _JAVA_OPTIONS CLASSPATH; do
    eval "[ -z \"\${$name+x}\" ] || { export \"SONDE_KEEP_$name==\$$name\"; unset $name; }"
done
closed=
{ true 9<&0; } 2>/dev/null || { closed=0 && exec 0>/dev/null; }
{ true 9>&1; } 2>/dev/null || { closed=$closed:1 && exec 1</dev/null; }
{ true 9>&2; } || { closed=$closed:2 && exec 2</dev/null; }
[ -z "$closed" ] || export "SONDE_CLOSED=$closed"

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

case ${1-} in
record | trace | tool | syscalls | calls | heap | leaks | ftrace)
    # HotSpot puts handlers over ignored signals; a command is to find them ignored.
    while read -r name value; do
        [ "$name" != SigIgn: ] || export "SONDE_SIGIGN=$value"
    done </proc/self/status
    ;;
esac

heap=-Xmx1400m
case ${1-} in
record)
    # A recorder hardly compiles: the first of its threads to run should be the recording one.
    heap="-Xmx128m -XX:TieredStopAtLevel=1 -XX:CompileThresholdScaling=10"
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
symbolize | ftrace | calls | heap | leaks)
    # 20,000 addresses of a kernel take half the time that compiling better took; a tracer is
    # wanted soon. Better code for the lines of calls has paid only after a million of them.
    heap="-Xmx1400m -XX:TieredStopAtLevel=1"
    ;;
trace | tool)
    # A script runs in the kernel; what compiles here compiles once, and is to start at once.
    heap="-Xmx1000m -XX:TieredStopAtLevel=1"
    ;;
esac
# The least limit of memory of this process's cgroups, in MiB: the JVM looks at it only where it is
# given no heap, and a process that takes more is killed without a word.
room=1000000
while IFS=: read -r _ names path; do
    case ,$names, in
    ,,) group=/sys/fs/cgroup file=memory.max ;;
    *,memory,*) group=/sys/fs/cgroup/memory file=memory.limit_in_bytes ;;
    *) continue ;;
    esac
    while :; do
        bytes=
        [ ! -r "$group$path/$file" ] || read -r bytes <"$group$path/$file"
        case $bytes in
        '' | *[!0-9]*) ;;
        *) [ $((bytes >> 20)) -ge "$room" ] || room=$((bytes >> 20)) ;;
        esac
        [ -n "$path" ] || break
        path=${path%/*}
    done
done 2>/dev/null </proc/self/cgroup
if [ "$room" -lt 512 ]; then
    if [ "${1-}" = record ] && [ "$room" -lt 112 ]; then
        echo "sonde: recording needs 112 MiB of memory, and the cgroup leaves it $room MiB" >&2
        exit 3
    fi
    case ${1-} in
    record) heap="$heap -Xmx$((room / 4))m" ;;
    *) heap="$heap -Xmx$((room / 2))m" ;;
    esac
fi
# A JVM reserves more than it uses, and says in words of its own when it may not. In KiB; all of
# sonde works with the least of these.
limits=$(ulimit -v && ulimit -d)
if [ "$limits" != "unlimited
unlimited" ]; then
    least=4000000
    for limit in $limits; do
        [ "$limit" = unlimited ] || [ "$limit" -ge "$least" ] || least=$limit
    done
    if [ "$least" -lt 500000 ]; then
        echo "sonde: the limits of this shell (ulimit -v, ulimit -d) leave it $least KiB of memory;" \
            "500000 are needed" >&2
        exit 3
    fi
    if [ "$least" -lt 4000000 ]; then
        heap="$heap -Xmx$((least / 4))k -XX:CompressedClassSpaceSize=48m"
        heap="$heap -XX:ReservedCodeCacheSize=48m"
        export "SONDE_KEEP_MALLOC_ARENA_MAX=${MALLOC_ARENA_MAX+=$MALLOC_ARENA_MAX}"
        export MALLOC_ARENA_MAX=1
    fi
fi
# The JVM names files in the locale's encoding, and fails on the others; the command gets its own
# LC_ALL back.
case ${LC_ALL:-${LC_CTYPE:-${LANG-}}} in
*[Uu][Tt][Ff]8 | *[Uu][Tt][Ff]-8) ;;
*)
    export "SONDE_KEEP_LC_ALL=${LC_ALL+=$LC_ALL}"
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

# A package makes its cache when it is installed, beside the program: who may write the one may write
# the other.
if [ -f "$app/start.aot" ]; then
    exec "$home/bin/java" "-XX:AOTCache=$app/start.aot" "$@"
fi
if [ -O "$cache" ] && [ -O "$caches" ]; then
    exec "$home/bin/java" "-XX:AOTCache=$cache" "$@"
fi
# SONDE_TRAIN=never makes no cache, SONDE_TRAIN=first makes it before the command. Otherwise the
# command starts train.sh when it ends. What a training starts does not train, and after one that
# failed the next waits three minutes.
if [ -z "${SONDE_TRAINING-}" ] && [ "${SONDE_TRAIN-}" != never ] &&
    { [ "${SONDE_TRAIN-}" = first ] || [ -z "$(find "$cache.busy" -mmin -3 2>/dev/null)" ]; }; then
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
