package sonde.recording.tracedat;

import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What a trace.dat says besides events.
 *
 * @param headerPage tracefs {@code events/header_page}
 * @param headerEvent tracefs {@code events/header_event}
 * @param ftraceFormats the {@code format} files below {@code events/ftrace}
 * @param eventFormats system to its {@code format} files
 * @param kallsyms {@code /proc/kallsyms}; may be empty
 * @param printk tracefs {@code printk_formats}; may be empty
 * @param cmdlines tracefs {@code saved_cmdlines}: lines of {@code tid comm}
 * @param cpuCount CPUs of the machine
 * @param cpuStats {@code per_cpu/cpuN/stats} of each CPU, each beginning with {@code CPU: N}
 * @param clock tracefs {@code trace_clock}, the used one in brackets
 * @param uname {@code sysname nodename release machine}
 * @param traceId any number that differs between recordings
 * @param version of the program that wrote the file
 */
public record TraceDatMetadata(
        byte[] headerPage,
        byte[] headerEvent,
        List<byte[]> ftraceFormats,
        SortedMap<String, List<byte[]>> eventFormats,
        byte[] kallsyms,
        byte[] printk,
        byte[] cmdlines,
        int cpuCount,
        List<byte[]> cpuStats,
        String clock,
        String uname,
        long traceId,
        String version) {
    public TraceDatMetadata {
        ftraceFormats = List.copyOf(ftraceFormats);
        SortedMap<String, List<byte[]>> copy = new TreeMap<>();
        eventFormats.forEach((system, formats) -> copy.put(system, List.copyOf(formats)));
        eventFormats = Collections.unmodifiableSortedMap(copy);
        cpuStats = List.copyOf(cpuStats);
    }

    /** Name of the used clock: what stands in brackets, or the first word. */
    public String clockName() {
        int open = clock.indexOf('[');
        int close = clock.indexOf(']', open + 1);
        if (open >= 0 && close > open) {
            return clock.substring(open + 1, close);
        }
        String stripped = clock.strip();
        int blank = stripped.indexOf(' ');
        return blank < 0 ? stripped : stripped.substring(0, blank);
    }
}
