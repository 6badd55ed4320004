package sonde.lang.probes;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import sonde.bpf.Link;
import sonde.bpf.Program;
import sonde.bpf.link.Uprobes;
import sonde.bpf.link.Uprobes.UprobePoint;
import sonde.lang.probes.Probe.UsdtProbe;
import sonde.lang.probes.Probe.UserProbe;
import sonde.lang.probes.ProbeAttacher.AttachedGroup;
import sonde.sys.Errno;
import sonde.sys.SyscallException;

/**
 * The links of a program to many places of files, a link a file. One place that the kernel refuses
 * fails the whole link, and the kernel does not say which: halves of the list are tried until it is
 * found.
 */
final class UserLinks {
    private static final int ENOEXEC = 8;
    private static final int ENOTSUPP = 524;

    /** What arch_uprobe_analyze_insn and prepare_uprobe say to an instruction. */
    private static final Set<Integer> OF_A_PLACE = Set.of(ENOTSUPP, ENOEXEC, Errno.EINVAL);

    private final ProbeGroup group;
    private final Program program;
    private final int pid;
    private final Predicate<Probe> optional;
    private final List<Link> links = new ArrayList<>();
    private final List<AttachException> leftOut = new ArrayList<>();

    private UserLinks(
            ProbeGroup group, Program program, AttachOptions options, Predicate<Probe> optional) {
        this.group = group;
        this.program = program;
        this.pid = options.pid().orElse(Uprobes.ALL_PROCESSES);
        this.optional = optional;
    }

    /** Attaches to all but those optional ones that are refused; to one at least. */
    static AttachedGroup of(
            ProbeGroup group, Program program, AttachOptions options, Predicate<Probe> optional)
            throws IOException {
        UserLinks all = new UserLinks(group, program, options, optional);
        try {
            all.attach();
        } catch (IOException e) {
            all.links.forEach(Link::close);
            throw e;
        }
        Link link =
                all.links.size() == 1
                        ? all.links.getFirst()
                        : Link.of(group.first().name(), all.links);
        return new AttachedGroup(link, all.leftOut);
    }

    /** Whether it is the place that the kernel refuses. */
    static boolean isOfPlace(@Nullable Throwable cause) {
        return cause instanceof SyscallException e && OF_A_PLACE.contains(e.errno());
    }

    private void attach() throws IOException {
        Map<String, List<UprobePoint>> byFile = new TreeMap<>();
        int index = 0;
        for (Probe probe : group.probes()) {
            switch (probe) {
                case UserProbe p ->
                        byFile.computeIfAbsent(p.path(), _ -> new ArrayList<>())
                                .add(new UprobePoint(p.fileOffset(), 0, index));
                case UsdtProbe p ->
                        byFile.computeIfAbsent(p.path(), _ -> new ArrayList<>())
                                .addAll(ProbeAttacher.places(p, index));
                default -> throw new IllegalArgumentException(probe.name() + " in a file");
            }
            index++;
        }
        for (Map.Entry<String, List<UprobePoint>> file : byFile.entrySet()) {
            attach(file.getKey(), file.getValue());
        }
        if (links.isEmpty()) {
            throw leftOut.getFirst();
        }
    }

    private void attach(String path, List<UprobePoint> places) throws IOException {
        try {
            boolean atReturn = group.first().kind().isReturn();
            links.add(Uprobes.multi(program, path, places, atReturn, pid));
        } catch (SyscallException e) {
            if (!isOfPlace(e)) {
                throw e;
            }
            if (places.size() > 1) {
                int half = places.size() / 2;
                attach(path, places.subList(0, half));
                attach(path, places.subList(half, places.size()));
                return;
            }
            Probe probe = probe(places.getFirst());
            AttachException refusal = ProbeAttacher.failure(probe, e);
            if (!optional.test(probe)) {
                throw refusal;
            }
            leftOut.add(refusal);
        }
    }

    /** What a place was made of, by its cookie. */
    private Probe probe(UprobePoint place) {
        long cookie = place.cookie();
        return group.probes()
                .get(group.first() instanceof UsdtProbe ? ProbeGroup.index(cookie) : (int) cookie);
    }
}
