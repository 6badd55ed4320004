package sonde.probe.dynamic;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.bpf.link.Uprobes;
import sonde.bpf.link.Uprobes.UprobePoint;
import sonde.event.Glob;
import sonde.probe.tracefs.Tracefs;
import sonde.recording.ftrace.ProbeField;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.sys.SyscallException;

/**
 * Named probes of this kernel: lines of {@code dynamic_events}, or of {@code kprobe_events} and
 * {@code uprobe_events} before Linux 5.0. They stay until somebody removes them or the machine
 * restarts (docs/kernel-state.md); those that this program made are known by its notebook.
 */
public final class NamedProbes {
    private static final Pattern LINE =
            Pattern.compile("([pre]|f|t|r\\d+|f\\d+):([\\w.-]+)/([\\w.-]+)\\s+(\\S+)(.*)");
    private static final Pattern KERNEL_PROFILE =
            Pattern.compile("(?m)^\\s*(\\S+)\\s+(\\d{1,18})\\s+(\\d{1,18})$");
    private static final Pattern USER_PROFILE = Pattern.compile("(?m)^.*\\s(\\S+)\\s+(\\d{1,18})$");
    private static final int MOST_BYTES = 16 << 20;
    private static final long MOST_NANOS_BUSY = 1_000_000_000;

    private static final Pattern USER_PLACE = Pattern.compile("(.+):0x([0-9a-f]{1,16})");

    private final Tracefs tracefs;
    private final ProbeRegistry notebook;

    private NamedProbes(Tracefs tracefs, ProbeRegistry notebook) {
        this.tracefs = tracefs;
        this.notebook = notebook;
    }

    /**
     * Opens.
     *
     * @throws ProbeException when tracefs is not there or may not be read
     */
    public static NamedProbes open() throws ProbeException {
        Tracefs tracefs =
                Tracefs.find()
                        .orElseThrow(() ->
                                new ProbeException(
                                        "tracefs is not there, or not for this user:"
                                                + " probes need root and"
                                                + " /sys/kernel/tracing"));
        return new NamedProbes(tracefs, ProbeRegistry.usual());
    }

    /**
     * A probe that is there.
     *
     * @param kind of the kernel: {@code "p"}, {@code "r"}, {@code "f"}, {@code "e"}
     * @param arguments as the kernel prints them
     * @param source what the notebook says it stands at; empty for one of somebody else
     * @param changed the file whose path has another file, or none, since it was set: the probe
     *     stays in the old one; empty where that is not so
     * @param hits since it was set, while something recorded it; null where the kernel does not say
     * @param misses of a kernel probe that fired while another one ran on its CPU
     */
    public record ListedProbe(
            String kind,
            String group,
            String name,
            String place,
            String arguments,
            String source,
            boolean isOurs,
            String changed,
            @Nullable Long hits,
            @Nullable Long misses) {
        /** {@code "probe:vfs_read"}. */
        public String event() {
            return group + ":" + name;
        }
    }

    /** All probes, in the kernel's order. */
    public List<ListedProbe> list() throws IOException {
        List<ListedProbe> all = new ArrayList<>();
        Map<String, String> sources = notebook.read();
        Map<String, Deque<long[]>> kernel = profile("kprobe_profile");
        Map<String, Deque<long[]>> user = profile("uprobe_profile");
        for (String file : readable()) {
            for (String line : tracefs.text(file).split("\n")) {
                Matcher matcher = LINE.matcher(line);
                if (matcher.matches()) {
                    String event = matcher.group(2) + ":" + matcher.group(3);
                    String noted = sources.get(ProbeRegistry.key(event, matcher.group(4)));
                    boolean isUser = matcher.group(4).startsWith("/");
                    boolean isCounted = matcher.group(1).matches("[pr]\\d*");
                    Deque<long[]> counts = (isUser ? user : kernel).get(matcher.group(3));
                    long[] of = !isCounted || counts == null ? null : counts.poll();
                    all.add(
                            new ListedProbe(
                                    matcher.group(1),
                                    matcher.group(2),
                                    matcher.group(3),
                                    matcher.group(4),
                                    matcher.group(5).strip(),
                                    noted == null ? "" : ProbeRegistry.source(noted),
                                    noted != null,
                                    noted == null
                                            ? ""
                                            : ProbedFile.changed(ProbeRegistry.file(noted)),
                                    of == null ? null : of[0],
                                    of == null || isUser ? null : of[1]));
                }
            }
        }
        return all;
    }

    /**
     * What a profile file of tracefs counts, by the name of the event without its group; those of
     * one name in the order of the probes. Programs' lines begin with the path, which may have
     * blanks (probes_profile_seq_show of trace_kprobe.c and trace_uprobe.c).
     */
    private Map<String, Deque<long[]>> profile(String file) {
        Map<String, Deque<long[]>> counts = new HashMap<>();
        try {
            String text = tracefs.text(file);
            Matcher line = (file.startsWith("u") ? USER_PROFILE : KERNEL_PROFILE).matcher(text);
            while (line.find()) {
                long misses = line.groupCount() < 3 ? 0 : Long.parseLong(line.group(3));
                counts.computeIfAbsent(line.group(1), _ -> new ArrayDeque<>())
                        .add(new long[] {Long.parseLong(line.group(2)), misses});
            }
        } catch (SyscallException e) {
            return Map.of(); // the kernel has no probes of this kind
        }
        return counts;
    }

    /** Types that only the notebook knows, of fields by name, by event; see {@link ProbeField}. */
    public static Map<String, Map<String, String>> types(Tracefs tracefs) throws SyscallException {
        ProbeRegistry notebook = ProbeRegistry.usual();
        Map<String, String> noted = notebook.read();
        Map<String, Map<String, String>> types = new LinkedHashMap<>();
        if (noted.values().stream().noneMatch(ProbeRegistry::hasTypes)) {
            return types;
        }
        NamedProbes probes = new NamedProbes(tracefs, notebook);
        for (String file : probes.readable()) {
            for (String line : tracefs.text(file).split("\n")) {
                Matcher matcher = LINE.matcher(line);
                if (matcher.matches()) {
                    String event = matcher.group(2) + ":" + matcher.group(3);
                    String of = noted.get(ProbeRegistry.key(event, matcher.group(4)));
                    if (of != null) {
                        types.put(event, ProbeRegistry.types(of, matcher.group(5)));
                    }
                }
            }
        }
        return types;
    }

    /** The probes that names or globs mean, and whose file was changed since. */
    public List<ListedProbe> changed(List<String> patterns) throws IOException {
        List<Glob> globs = patterns.stream().map(Glob::shell).toList();
        return list().stream()
                .filter(one -> !one.changed().isEmpty())
                .filter(one ->
                        globs.stream()
                                .anyMatch(glob ->
                                        glob.matches(one.event()) || glob.matches(one.name())))
                .toList();
    }

    private boolean has(String file) {
        return FileCalls.access(
                        FileCalls.AT_FDCWD,
                        (tracefs.root() + "/" + file).getBytes(StandardCharsets.UTF_8),
                        0)
                == 0;
    }

    private List<String> readable() {
        if (has("dynamic_events")) {
            return List.of("dynamic_events");
        }
        return List.of("kprobe_events", "uprobe_events").stream().filter(this::has).toList();
    }

    /** {@code group:name} of every event of the kernel in the groups that probes use. */
    public Set<String> events() throws IOException {
        Set<String> names = new TreeSet<>();
        for (ListedProbe one : list()) {
            names.add(one.event());
        }
        for (String event : tracefs.tracepoints()) {
            names.add(event);
        }
        return names;
    }

    /**
     * Writes definitions, all or none, after a last look at what they are of.
     *
     * @throws ProbeException with the kernel's own words when it refuses
     */
    public void add(ProbedObject subject, List<ProbeDefinition> definitions) throws IOException {
        String file = ProbeCheck.check(subject);
        Set<String> made = new TreeSet<>();
        boolean isWhole = false;
        try {
            for (ProbeDefinition one : definitions) {
                ProbeDefinition placed =
                        file.isEmpty() ? one : ProbeCheck.through(one, subject, file);
                write(eventsFile(placed), placed);
                made.add(one.event());
                notebook.add(placed, one.source() + shownArguments(one), ProbedFile.of(subject));
            }
            isWhole = true;
        } finally {
            if (!isWhole) {
                made.forEach(this::takeBack);
            }
        }
    }

    private void takeBack(String event) {
        try {
            remove(event);
        } catch (IOException e) {
            // It stays and is listed; told is why the others could not be made.
            return;
        }
    }

    private static String shownArguments(ProbeDefinition one) {
        StringBuilder text = new StringBuilder();
        one.arguments().forEach(argument -> text.append(' ').append(argument.source()));
        return text.toString();
    }

    /** What this kernel takes. */
    public ProbeKinds kinds() {
        String readme;
        try {
            readme = tracefs.text("README");
        } catch (SyscallException e) {
            readme = "";
        }
        return ProbeKinds.of(readme, has("kprobe_events"), has("uprobe_events"));
    }

    private String eventsFile(ProbeDefinition one) throws ProbeException {
        ProbeKinds kinds = kinds();
        boolean tracer = one.kind() == 'f' || one.kind() == 't';
        if (tracer && !(one.kind() == 'f' ? kinds.fprobes() : kinds.tracepoints())) {
            throw new ProbeException(
                    "this kernel has no probes by the function tracer"
                            + " (Linux 6.5, CONFIG_FPROBE_EVENTS)");
        }
        if (!tracer && !(one.isUser() ? kinds.uprobes() : kinds.kprobes())) {
            throw new ProbeException(
                    one.isUser()
                            ? "this kernel has no probes of programs (CONFIG_UPROBE_EVENTS)"
                            : "this kernel has no kprobes (CONFIG_KPROBE_EVENTS)"
                                    + (kinds.fprobes()
                                            ? ", only probes at entry and return of functions"
                                            : ""));
        }
        return has("dynamic_events")
                ? "dynamic_events"
                : one.isUser() ? "uprobe_events" : "kprobe_events";
    }

    private void write(String file, ProbeDefinition definition) throws IOException {
        Matcher place = USER_PLACE.matcher(definition.place());
        try {
            if (definition.isUser() && place.lookingAt()) {
                long offset = Long.parseUnsignedLong(place.group(2), 16);
                Uprobes.refuseMisread(place.group(1), List.of(new UprobePoint(offset)));
            }
            append(file, definition.text());
        } catch (SyscallException e) {
            throw new ProbeException(
                    e.why().isEmpty()
                            ? "the kernel refuses "
                                    + definition.event()
                                    + ": "
                                    + reason(e, definition)
                            : definition.event() + ": " + e.why());
        }
    }

    private void append(String file, String text) throws SyscallException {
        // Without O_APPEND the kernel would remove all probes first.
        int fd =
                FileCalls.open(
                        tracefs.root() + "/" + file, FileCalls.O_WRONLY | FileCalls.O_APPEND);
        try {
            Fd.writeFully(fd, (text + "\n").getBytes(StandardCharsets.UTF_8));
        } finally {
            Fd.discard(fd);
        }
    }

    /** What error_log says of our line; before Linux 5.2 only the number. */
    private String reason(SyscallException failure, ProbeDefinition definition) {
        String log = "";
        try {
            byte[] all = FileCalls.readAll(tracefs.root() + "/error_log", MOST_BYTES);
            String text = new String(all, StandardCharsets.UTF_8);
            int command = text.lastIndexOf("Command: " + definition.text());
            int start = command < 0 ? -1 : text.lastIndexOf("error: ", command);
            if (start >= 0) {
                int end = text.indexOf('\n', command);
                int caret = end < 0 ? -1 : text.indexOf('\n', end + 1);
                log = text.substring(start + 7, caret < 0 ? text.length() : caret);
            }
        } catch (SyscallException e) {
            log = "";
        }
        if (definition.kind() == 'f' && !isTraceable(definition)) {
            return definition.place()
                    + " is not among the functions that the kernel can trace"
                    + " (available_filter_functions)";
        }
        String word = Errno.name(failure.errno());
        return log.isEmpty() ? word + "\n  " + definition.text() : log.stripTrailing();
    }

    private boolean isTraceable(ProbeDefinition definition) {
        String symbol = definition.place().replaceFirst("%return$", "");
        try {
            return ("\n" + tracefs.text("available_filter_functions"))
                    .matches("(?s).*\n" + Pattern.quote(symbol) + "[ \n].*");
        } catch (SyscallException e) {
            return true;
        }
    }

    /** The kernel lets go of a recording's events some time after its end. */
    private void remove(String event) throws IOException {
        long end = System.nanoTime() + MOST_NANOS_BUSY;
        while (!isRemoved(event)) {
            if (System.nanoTime() > end) {
                throw new ProbeException(event + " is being recorded; it stays");
            }
            LockSupport.parkNanos(20_000_000);
        }
    }

    private boolean isRemoved(String event) throws IOException {
        String name = event.replace(':', '/');
        for (String file : readable()) {
            try {
                append(file, "-:" + name);
                notebook.remove(event);
                return true;
            } catch (SyscallException e) {
                if (e.errno() == Errno.EBUSY) {
                    return false;
                }
                if (e.errno() != Errno.ENOENT) {
                    throw e;
                }
            }
        }
        return true;
    }

    /**
     * Removes probes.
     *
     * @param pattern a glob of {@code group:name} or of the name alone
     * @param any whether those of others count too
     * @return what was removed (true) and what fits but is somebody else's (false)
     */
    public Map<String, Boolean> delete(String pattern, boolean any) throws IOException {
        Map<String, Boolean> done = new LinkedHashMap<>();
        Glob glob = Glob.shell(pattern);
        for (ListedProbe one : list()) {
            boolean fits = glob.matches(pattern.indexOf(':') < 0 ? one.name() : one.event());
            if (fits && !done.containsKey(one.event())) {
                boolean removes = any || one.isOurs();
                if (removes) {
                    remove(one.event());
                }
                done.put(one.event(), removes);
            }
        }
        return done;
    }
}
