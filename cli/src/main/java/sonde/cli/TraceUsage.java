package sonde.cli;

/** What {@code sonde trace --help} says. */
final class TraceUsage {
    private TraceUsage() {}

    static String text() {
        return """
        USAGE:
            sonde trace [options] 'PROGRAM' [arguments] [-- --name=value]
            sonde trace [options] FILE.bt [arguments] [-- --name=value]
            sonde trace -l [PATTERN | FILE.bt]

        Runs a program of bpftrace's language, compiled by sonde (docs/language.md).

        OPTIONS:
            -e PROGRAM     the program
            -c COMMAND     start a command; the trace ends with it (cpid is its process)
            -p PID         only this process; the trace ends with it
            --duration T   end after a time: 500ms, 10s, 5m
            -o FILE        print to a file
            -f FORMAT      text, json (a line of JSON for each thing printed), csv (maps as comma
                           separated values), or folded (maps by stacks for flame graph tools)
            --sort ORDER   rows of maps by key, -key, value or -value (with - the largest first)
            -B MODE        line: output is written as it comes; full: by 64 KiB; none: as line
            -q             no messages of one's own
            -v             more messages
            -k             tell when a helper of the kernel fails
            -l [PATTERN]   list probes; with -v their arguments too; "struct NAME" for types
            --unsafe       allow functions that change more than the trace (system, signal)
            --dry-run      attach everything, then end
            --test         run the test probes;  --bench  run the bench probes
            --fmt FILE     print a script in the usual form
            --info         what this kernel offers to scripts
            --dump=PASS    what a pass of the compiler made: parse, expand, probes, types, ir,
                   resources, optimised, allocated, code, or all (-d PASS)
            --plan         the programs, how they are attached, and why
            --no-warnings  no warnings
            -I DIR, --include FILE            headers
            --dwarf-pid PID|all               whose stacks dw_ustack copies (-p, -c: all that hit)
            --symbols DIR, --debuginfo DIR[:DIR]
                                              debug files, besides /usr/lib/debug
            --vmlinux FILE                    the running kernel's image with debug information
            --debuginfod [URL]                ask debuginfod servers, as root too
            --probe-filter REGEX              only probes whose name fits
            --traceable-functions FILE        instead of the kernel's list
            --no-feature uprobe_multi,kprobe_multi,kprobe_session

        EXAMPLES:
            sonde trace 'tracepoint:syscalls:sys_enter_openat
                         { printf("%s %s\\n", comm, str(args.filename)); }'
            sonde trace 'profile:hz:99 { @[kstack] = count(); }'
            sonde trace 'tracepoint:syscalls:sys_exit_read /args.ret > 0/
                         { @bytes[comm] = hist(args.ret); }'
            sonde trace -l 'tracepoint:sched:*'
        """;
    }
}
