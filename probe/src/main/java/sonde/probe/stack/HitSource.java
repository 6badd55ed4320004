package sonde.probe.stack;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import sonde.bpf.ProgramType;

/** What calls the program that unwinds the stack at a hit of an event. */
public enum HitSource {
    /** The perf event itself, before its sample. */
    SAMPLE(ProgramType.PERF_EVENT),
    /** The raw tracepoint, behind the sample. */
    TRACEPOINT(ProgramType.RAW_TRACEPOINT),
    /** The raw tracepoint of all system calls, behind the sample of one. */
    SYSCALL(ProgramType.RAW_TRACEPOINT),
    /** The uprobe, before the sample. */
    UPROBE(ProgramType.KPROBE);

    private static final String SYSCALLS = "syscalls:sys_e";

    private final ProgramType type;

    HitSource(ProgramType type) {
        this.type = type;
    }

    ProgramType type() {
        return type;
    }

    /** Whether the stack comes behind the sample. */
    boolean isBehind() {
        return this == TRACEPOINT || this == SYSCALL;
    }

    /**
     * What calls the program of a tracepoint; empty where none is called without the kernel losing
     * hits: a kprobe's program is left out while another runs on the CPU, and the hit with it.
     *
     * @param name {@code "sched:sched_switch"}
     * @param tracefs folder with the lists of dynamic events
     */
    public static Optional<HitSource> ofTracepoint(String name, Path tracefs) {
        if (dynamic(tracefs.resolve("uprobe_events")).contains(name)) {
            return Optional.of(UPROBE);
        }
        if (dynamic(tracefs.resolve("dynamic_events")).contains(name)) {
            return Optional.empty();
        }
        return Optional.of(name.startsWith(SYSCALLS) ? SYSCALL : TRACEPOINT);
    }

    /** {@code p:GROUP/NAME PLACE} in each line. */
    private static Set<String> dynamic(Path list) {
        try (Stream<String> lines = Files.lines(list, StandardCharsets.ISO_8859_1)) {
            return lines.map(line -> line.split("[: ]", 3))
                    .filter(words -> words.length > 1)
                    .map(words -> words[1].replace('/', ':'))
                    .collect(Collectors.toSet());
        } catch (IOException e) {
            return Set.of(); // a kernel without dynamic events
        }
    }

    /** Name of the raw tracepoint. */
    String rawName(String tracepoint) {
        return this != SYSCALL
                ? tracepoint.substring(tracepoint.indexOf(':') + 1)
                : tracepoint.startsWith(SYSCALLS + "nter") ? "sys_enter" : "sys_exit";
    }
}
