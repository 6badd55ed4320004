package sonde.bpf.object;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.bpf.AttachType;
import sonde.bpf.Link;
import sonde.bpf.Program;
import sonde.bpf.TracepointFormat;
import sonde.bpf.call.BpfAttr;
import sonde.bpf.link.KernelIterator;
import sonde.bpf.link.Kprobes;
import sonde.bpf.link.Kprobes.KprobePoint;
import sonde.bpf.link.NetworkLinks;
import sonde.bpf.link.TracingLinks;
import sonde.bpf.link.Uprobes;
import sonde.bpf.link.Uprobes.UprobePoint;
import sonde.bpf.object.ObjectException.ObjectPosition;
import sonde.bpf.object.ProgramSection.AttachWay;
import sonde.sys.Arch;
import sonde.sys.Errno;
import sonde.sys.SyscallException;

/** Attaches programs to what the names of their sections say. */
final class AutoAttach {
    private static final Path FUNCTIONS = Path.of("/sys/kernel/tracing/available_filter_functions");

    /** {@code name+offset}. */
    private static final Pattern PLACE =
            Pattern.compile("([A-Za-z_.$][\\w.$]*)(?:\\+(0[xX][0-9a-fA-F]+|\\d+))?");

    private final LoadedObject object;
    private final AttachTargets targets;

    AutoAttach(LoadedObject object, AttachTargets targets) {
        this.object = object;
        this.targets = targets;
    }

    private ObjectPosition place(ObjectProgram program) {
        return ObjectPosition.of(object.object().name())
                .section(program.sectionName())
                .symbol(program.name());
    }

    /** Null when neither the section nor the targets say where. */
    @Nullable Link attach(ObjectProgram program, Program loaded) throws IOException {
        ProgramSection section = program.section();
        if (section == null) {
            return null;
        }
        String target = section.target();
        boolean open = target.isEmpty();
        switch (section.way()) {
            case NONE, STRUCT_OPS -> {
                return null;
            }
            case KPROBE, KRETPROBE -> {
                return open ? null : kprobe(program, section, loaded);
            }
            case KSYSCALL, KRETSYSCALL -> {
                return open ? null : syscall(program, section, loaded);
            }
            case KPROBE_MULTI, KRETPROBE_MULTI -> {
                return open ? null : kprobes(program, section, loaded);
            }
            case UPROBE, URETPROBE, UPROBE_MULTI, URETPROBE_MULTI -> {
                return open ? null : uprobe(program, section, loaded);
            }
            case USDT -> {
                return open
                        ? null
                        : new UsdtAttach(object, place(program))
                                .attach(loaded, target, targets.pid());
            }
            case TRACEPOINT -> {
                return open ? null : tracepoint(program, target, loaded);
            }
            case RAW_TRACEPOINT -> {
                return open ? null : Link.rawTracepoint(loaded, target);
            }
            case TYPED_TRACEPOINT, FUNCTION, SECURITY_HOOK -> {
                return TracingLinks.attach(loaded);
            }
            case REPLACEMENT -> {
                return Link.rawTracepoint(loaded, "");
            }
            case ITERATOR -> {
                return KernelIterator.of(loaded).link();
            }
            case CGROUP_SECURITY_HOOK, CGROUP -> {
                AttachType type = section.attach();
                return targets.cgroup().isEmpty() || type == null
                        ? null
                        : NetworkLinks.cgroup(loaded, type, targets.cgroup());
            }
            case NETNS -> {
                AttachType type = section.attach();
                return targets.netns().isEmpty() || type == null
                        ? null
                        : NetworkLinks.netns(loaded, type, targets.netns());
            }
            case DEVICE -> {
                return targets.device() == 0 ? null : device(section, loaded, place(program));
            }
        }
        throw new IllegalStateException("" + section.way());
    }

    private Link device(ProgramSection section, Program loaded, ObjectPosition place)
            throws IOException {
        AttachType type = section.attach();
        if (type == AttachType.XDP) {
            return NetworkLinks.xdp(loaded, targets.device(), NetworkLinks.XdpMode.ANY);
        }
        if (type == AttachType.TCX_INGRESS || type == AttachType.TCX_EGRESS) {
            return NetworkLinks.tcx(loaded, targets.device(), type == AttachType.TCX_INGRESS);
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = BpfAttr.allocate(arena);
            attr.set(JAVA_INT, 4, targets.device());
            attr.set(JAVA_INT, 8, type == null ? 0 : type.code());
            return Link.create(loaded, attr, section.name() + " of device " + targets.device());
        } catch (SyscallException e) {
            // All that is left here is netkit.
            if (e.errno() == Errno.EINVAL) {
                throw new ObjectException(
                        place, "device " + targets.device() + " is not a netkit device", e);
            }
            throw e;
        }
    }

    private Matcher matched(ObjectProgram program, String target) throws ObjectException {
        Matcher matcher = PLACE.matcher(target);
        if (!matcher.matches()) {
            throw new ObjectException(
                    place(program), "'" + target + "' is neither NAME nor NAME+OFFSET");
        }
        return matcher;
    }

    static long offset(@Nullable String text) {
        return text == null ? 0 : Long.decode(text);
    }

    private Link kprobe(ObjectProgram program, ProgramSection section, Program loaded)
            throws IOException {
        Matcher matcher = matched(program, section.target());
        boolean atReturn = section.way() == AttachWay.KRETPROBE;
        long offset = offset(matcher.group(2));
        if (atReturn && offset != 0) {
            throw new ObjectException(place(program), "a return has no offset");
        }
        return Kprobes.attach(loaded, new KprobePoint(matcher.group(1), offset, atReturn), 0);
    }

    /** System calls have a wrapper for each architecture since Linux 4.17. */
    private Link syscall(ObjectProgram program, ProgramSection section, Program loaded)
            throws IOException {
        matched(program, section.target());
        String prefix = Arch.current() == Arch.AARCH64 ? "__arm64_sys_" : "__x64_sys_";
        boolean atReturn = section.way() == AttachWay.KRETSYSCALL;
        return Kprobes.attach(loaded, new KprobePoint(prefix + section.target(), 0, atReturn), 0);
    }

    private Link kprobes(ObjectProgram program, ProgramSection section, Program loaded)
            throws IOException {
        String pattern = section.target();
        boolean atReturn = section.way() == AttachWay.KRETPROBE_MULTI;
        List<String> symbols = List.of(pattern);
        if (pattern.indexOf('*') >= 0 || pattern.indexOf('?') >= 0) {
            symbols = functions(glob(pattern));
            if (symbols.isEmpty()) {
                throw new ObjectException(
                        place(program), "no function that can be probed is called " + pattern);
            }
        }
        return Kprobes.multi(loaded, symbols, List.of(), atReturn);
    }

    /** A pattern with {@code *} and {@code ?}. */
    static Pattern glob(String pattern) {
        StringBuilder regex = new StringBuilder();
        for (char c : pattern.toCharArray()) {
            switch (c) {
                case '*' -> regex.append(".*");
                case '?' -> regex.append('.');
                default -> regex.append(Pattern.quote(String.valueOf(c)));
            }
        }
        return Pattern.compile(regex.toString());
    }

    private static List<String> functions(Pattern pattern) throws IOException {
        Set<String> names = new LinkedHashSet<>();
        try (var lines = Files.lines(FUNCTIONS)) {
            lines.map(line -> line.indexOf(' ') < 0 ? line : line.substring(0, line.indexOf(' ')))
                    .filter(name -> pattern.matcher(name).matches())
                    .forEach(names::add);
        }
        return new ArrayList<>(names);
    }

    private Link tracepoint(ObjectProgram program, String target, Program loaded)
            throws IOException {
        int slash = target.indexOf('/');
        if (slash <= 0 || slash == target.length() - 1) {
            throw new ObjectException(
                    place(program), "'" + target + "' is not a CATEGORY/NAME of a tracepoint");
        }
        String category = target.substring(0, slash);
        String name = target.substring(slash + 1);
        if (target.contains("..")) {
            throw new ObjectException(place(program), "'" + target + "' is not a tracepoint");
        }
        TracepointFormat tracepoint = object.tracepoints().of(target);
        if (tracepoint == null) {
            // Its format is read, and says what is wrong.
            tracepoint = TracepointFormat.find(category, name);
        }
        if (tracepoint == null) {
            throw new ObjectException(place(program), "this kernel has no tracepoint " + target);
        }
        return Link.tracepoint(loaded, tracepoint, 0);
    }

    private Link uprobe(ObjectProgram program, ProgramSection section, Program loaded)
            throws IOException {
        String target = section.target();
        int colon = target.lastIndexOf(':');
        if (colon <= 0 || colon == target.length() - 1) {
            throw new ObjectException(place(program), "'" + target + "' is not a FILE:FUNCTION");
        }
        String path = UserFile.find(target.substring(0, colon), place(program));
        String function = target.substring(colon + 1);
        boolean atReturn =
                section.way() == AttachWay.URETPROBE || section.way() == AttachWay.URETPROBE_MULTI;
        boolean many =
                section.way() == AttachWay.UPROBE_MULTI
                        || section.way() == AttachWay.URETPROBE_MULTI;
        List<UprobePoint> places = UserFile.places(path, function, many, place(program));
        return many
                ? Uprobes.multi(loaded, path, places, atReturn, targets.pid())
                : Uprobes.attach(loaded, path, places.getFirst(), atReturn, targets.pid());
    }
}
