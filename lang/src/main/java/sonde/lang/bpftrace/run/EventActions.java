package sonde.lang.bpftrace.run;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;
import sonde.lang.bpftrace.lower.EventAction;
import sonde.lang.bpftrace.lower.EventAction.CatAction;
import sonde.lang.bpftrace.lower.EventAction.ExitAction;
import sonde.lang.bpftrace.lower.EventAction.FaultAction;
import sonde.lang.bpftrace.lower.EventAction.JoinAction;
import sonde.lang.bpftrace.lower.EventAction.PacketAction;
import sonde.lang.bpftrace.lower.EventAction.PatternAction;
import sonde.lang.bpftrace.lower.EventAction.PrintAction;
import sonde.lang.bpftrace.lower.EventAction.PutAction;
import sonde.lang.bpftrace.lower.EventAction.ReportAction;
import sonde.lang.bpftrace.lower.EventAction.SystemAction;
import sonde.lang.bpftrace.lower.EventAction.TimeAction;
import sonde.lang.bpftrace.lower.EventAction.UnwatchAction;
import sonde.lang.output.FormatException;
import sonde.lang.output.MapRows;
import sonde.lang.output.PrintFormat;
import sonde.lang.output.ScriptOutput;
import sonde.lang.output.StrftimeFormat;
import sonde.lang.output.ValueNames;
import sonde.lang.type.TupleType;
import sonde.probe.launch.InheritedState;
import sonde.sys.Clocks;
import sonde.sys.SyscallException;

/** Does what events ask for. */
final class EventActions {
    /** Most bytes of a command's output that are held at once. */
    private static final int SYSTEM_BYTES = 1 << 16;

    private final List<EventAction> actions;
    private final LoadedScript loaded;
    private final PreparedScript script;
    private final ScriptOutput output;
    private final ValueNames names;
    private final boolean warnings;
    private final LongConsumer unwatch;
    private final Map<String, PrintFormat> formats = new HashMap<>();
    private final Map<String, TracerMap> kept = new HashMap<>();
    private boolean exiting;
    private int exitCode;
    private boolean ending;
    private int errors;

    EventActions(
            PreparedScript script,
            LoadedScript loaded,
            ScriptOutput output,
            ValueNames names,
            boolean warnings,
            LongConsumer unwatch) {
        this.warnings = warnings;
        this.script = script;
        this.actions = script.unit().actions();
        this.loaded = loaded;
        this.output = output;
        this.names = names;
        this.unwatch = unwatch;
        script.unit()
                .maps()
                .forEach((name, plan) -> {
                    if (plan.isKeptByTracer()) {
                        kept.put(name, new TracerMap(plan, names));
                    }
                });
    }

    /** Whether the script asked for its end. */
    boolean isExiting() {
        return exiting;
    }

    /** What comes from now on is of the end probes. */
    void end() {
        ending = true;
    }

    /** What it asked to end with. */
    int exitCode() {
        return exitCode;
    }

    /** How often errorf was called. */
    int errors() {
        return errors;
    }

    /** An event: 8 bytes number of an action, then its arguments. */
    void accept(byte[] bytes, int length) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        long number = length < 8 ? -1 : buffer.getLong(0);
        if (number < 0 || number >= actions.size() || exiting && !ending) {
            return;
        }
        try {
            run(actions.get((int) number), bytes, buffer, length);
        } catch (SyscallException e) {
            output.runtimeError(String.valueOf(e.getMessage()), List.of());
        }
    }

    private void run(EventAction action, byte[] bytes, ByteBuffer buffer, int length)
            throws SyscallException {
        switch (action) {
            case PrintAction a -> output.printf(format(a.format()), a.arguments(), bytes, 8);
            case EventAction.PrintValue a -> output.value(a.type(), bytes, 8);
            case EventAction.PrintMap a -> output.map(rows(a.map()), a.top(), a.divisor());
            case EventAction.EmptyMap a -> empty(a.map(), a.keepKeys());
            case PutAction a -> {
                TracerMap map = kept.get(a.map());
                if (map != null) {
                    map.put(bytes, length);
                }
            }
            case ExitAction _ -> {
                if (!exiting) {
                    exitCode = buffer.getInt(8);
                }
                exiting = true;
            }
            case TimeAction a ->
                    output.time(
                            StrftimeFormat.format(
                                    a.format(), Clocks.nanos(Clocks.CLOCK_REALTIME), names.zone()));
            case CatAction a -> cat(text(a.format(), a.arguments(), bytes));
            case SystemAction a -> system(text(a.format(), a.arguments(), bytes));
            case JoinAction a -> join(a, bytes, length);
            case ReportAction a -> {
                String text = text(a.format(), a.arguments(), bytes);
                if (a.error()) {
                    errors++;
                    output.errorf(text, script.places(a.span()));
                } else if (warnings) {
                    output.warnf(text, script.places(a.span()));
                }
            }
            case EventAction.HelperError a ->
                    output.helperError(
                            a.helper().replaceFirst("^bpf_", ""),
                            buffer.getInt(8),
                            List.of(a.span()));
            case UnwatchAction _ -> unwatch.accept(buffer.getLong(8));
            case FaultAction a -> output.runtimeError(a.fault(), List.of(a.span()));
            case PatternAction _, PacketAction _ -> {}
        }
    }

    private PrintFormat format(String text) {
        return formats.computeIfAbsent(
                text,
                t -> {
                    try {
                        return PrintFormat.parse(t);
                    } catch (FormatException e) {
                        throw new IllegalStateException(e);
                    }
                });
    }

    private String text(String format, TupleType arguments, byte[] bytes) {
        return format(format).render(arguments, bytes, 8, names);
    }

    private MapReading reading(String name) throws SyscallException {
        var plan = script.unit().maps().get(name);
        if (plan == null) {
            throw new IllegalStateException("no map " + name);
        }
        return new MapReading(plan, loaded.map(name), LoadedScript.cpus());
    }

    /** A map's rows. */
    MapRows rows(String name) throws SyscallException {
        TracerMap map = kept.get(name);
        return map == null ? reading(name).rows() : map.rows();
    }

    private void empty(String name, boolean keepKeys) throws SyscallException {
        TracerMap map = kept.get(name);
        if (map == null) {
            reading(name).empty(keepKeys);
        } else {
            map.empty(keepKeys);
        }
    }

    /** Values that found no room in a map that is kept here. */
    long lost(String name) {
        TracerMap map = kept.get(name);
        return map == null ? 0 : map.lost();
    }

    private void cat(String path) {
        int most = (int) script.configuration().maxCatBytes();
        try {
            Path file = Path.of(path);
            // Opening a pipe waits until somebody writes.
            if (Files.readAttributes(file, BasicFileAttributes.class).isOther()) {
                throw new IOException("no file");
            }
            try (InputStream in = Files.newInputStream(file)) {
                output.cat(in.readNBytes(most));
            }
        } catch (IOException | IllegalArgumentException e) {
            String why =
                    e instanceof NoSuchFileException ? "No such file or directory" : "unreadable";
            output.errorf("failed to open file '" + path + "' (" + why + ")", List.of());
        }
    }

    private void system(String command) {
        output.flush();
        try {
            ProcessBuilder shell =
                    new ProcessBuilder("/bin/sh", "-c", command)
                            .redirectError(ProcessBuilder.Redirect.INHERIT)
                            .redirectInput(ProcessBuilder.Redirect.INHERIT);
            InheritedState.restore(shell.environment());
            Process process = shell.start();
            pass(process.getInputStream());
            process.waitFor();
        } catch (IOException e) {
            output.runtimeError(String.valueOf(e.getMessage()), List.of());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** What a command writes, however much: in parts, of whole lines where lines are shorter. */
    private void pass(InputStream written) throws IOException {
        byte[] part = new byte[SYSTEM_BYTES];
        int held = written.readNBytes(part, 0, part.length);
        while (held == part.length) {
            int end = held;
            while (end > 0 && part[end - 1] != '\n') {
                end--;
            }
            end = end == 0 ? held : end;
            output.syscallPart(Arrays.copyOf(part, end));
            output.flush();
            System.arraycopy(part, end, part, 0, held - end);
            held = held - end + written.readNBytes(part, held - end, end);
        }
        output.syscall(Arrays.copyOf(part, held));
    }

    private void join(JoinAction join, byte[] bytes, int length) {
        List<String> words = new ArrayList<>();
        for (int slot = 0; slot < join.most(); slot++) {
            int from = 8 + slot * join.textBytes();
            int to = from;
            int end = Math.min(length, from + join.textBytes());
            while (to < end && bytes[to] != 0) {
                to++;
            }
            if (to == from) {
                break;
            }
            words.add(new String(bytes, from, to - from, StandardCharsets.UTF_8));
        }
        output.join(words, join.separator());
    }
}
