package sonde.lang.probes;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import sonde.binary.btf.Btf;
import sonde.binary.btf.BtfType;
import sonde.bpf.BpfRefusedException;
import sonde.bpf.TracepointFormat;
import sonde.event.Glob;
import sonde.lang.probes.AttachPoint.AttachTarget;
import sonde.lang.probes.AttachPoint.AttachTarget.EventPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.IteratorPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.KernelFunctionPlace;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.probes.KernelBtf.KernelBtfModule;
import sonde.lang.probes.Probe.FentryProbe;
import sonde.lang.probes.Probe.IteratorProbe;
import sonde.lang.probes.Probe.KernelProbe;
import sonde.lang.probes.Probe.TracepointProbe;
import sonde.probe.tracefs.Tracefs;
import sonde.sys.FileCalls;

/** Finds places in the kernel. */
final class KernelExpansion {
    private static final String RAW_PREFIX = "btf_trace_";
    private static final String ITER_STRUCT = "bpf_iter__";
    private static final String ITER_FUNCTION = "bpf_iter_";

    private final ExpanderOptions options;
    private final KernelBtf types;
    private @Nullable TraceableFunctions traceable;

    KernelExpansion(ExpanderOptions options, KernelBtf types) {
        this.options = options;
        this.types = types;
    }

    /** The kernel's functions, read when first asked for. */
    TraceableFunctions functions() throws IOException {
        TraceableFunctions read = traceable;
        if (read == null) {
            read = TraceableFunctions.read(options.traceableFunctions());
            traceable = read;
        }
        return read;
    }

    /** Functions whose names are nearly this one, as a question; empty where none is. */
    String near(String function) {
        try {
            return functions().near(function);
        } catch (IOException e) {
            // The words before say already that it is not there.
            return "";
        }
    }

    List<Probe> tracepoints(EventPlace event) throws IOException {
        List<Probe> found = new ArrayList<>();
        if (!NamePattern.isPattern(event.subsystem()) && !NamePattern.isPattern(event.event())) {
            if (TracepointFormat.find(event.subsystem(), event.event()) != null) {
                found.add(tracepoint(event.subsystem(), event.event()));
            }
            return found;
        }
        Tracefs tracefs = Tracefs.find().orElseThrow(KernelExpansion::noTracefs);
        if (!NamePattern.isPattern(event.subsystem())) {
            Glob glob = Glob.of(event.event());
            String folder = event.subsystem();
            boolean plain = !folder.contains("/") && !folder.startsWith(".");
            for (String name : plain ? tracefs.list("events/" + folder) : List.<String>of()) {
                if (!name.equals("enable") && !name.equals("filter") && glob.matches(name)) {
                    found.add(tracepoint(folder, name));
                }
            }
            return found;
        }
        Glob glob = Glob.of(event.subsystem() + ":" + event.event());
        for (String name : tracefs.tracepoints()) {
            if (glob.matches(name)) {
                int colon = name.indexOf(':');
                found.add(tracepoint(name.substring(0, colon), name.substring(colon + 1)));
            }
        }
        return found;
    }

    private static BpfRefusedException noTracefs() {
        return new BpfRefusedException(
                "tracepoints",
                0,
                "tracefs is not mounted or may not be read",
                "mount -t tracefs nodev /sys/kernel/tracing, or run as root");
    }

    private static Probe tracepoint(String subsystem, String event) {
        return new TracepointProbe("tracepoint:" + subsystem + ":" + event, subsystem, event);
    }

    List<Probe> rawTracepoints(AttachTarget.RawEvent event)
            throws IOException, AttachPointException {
        if (!types.isThere()) {
            throw new AttachPointException(
                    "rawtracepoints require kernel BTF. Try using a 'tracepoint' instead.");
        }
        Glob glob = Glob.of(event.event());
        TreeMap<String, Probe> found = new TreeMap<>();
        for (KernelBtfModule module : types.like(Glob.of(event.module()))) {
            if (!NamePattern.isPattern(event.event())) {
                int id = module.find(RAW_PREFIX + event.event(), BtfType.Typedef.class::isInstance);
                if (id != 0) {
                    Probe probe = rawTracepoint(module.name(), event.event(), id);
                    found.put(probe.name(), probe);
                    break;
                }
                continue;
            }
            Btf btf = module.btf();
            for (int id = btf.firstId(); id < btf.end(); id++) {
                if (btf.type(id) instanceof BtfType.Typedef(String name, _)
                        && name.startsWith(RAW_PREFIX)
                        && glob.matches(name.substring(RAW_PREFIX.length()))) {
                    String raw = name.substring(RAW_PREFIX.length());
                    Probe probe = rawTracepoint(module.name(), raw, id);
                    found.putIfAbsent(probe.name(), probe);
                }
            }
        }
        return List.copyOf(found.values());
    }

    private static Probe rawTracepoint(String module, String event, int id) {
        String name = "rawtracepoint:" + module + ":" + event;
        return new Probe.RawTracepoint(name, module, event, id);
    }

    List<Probe> kernel(Kind kind, KernelFunctionPlace place)
            throws IOException, AttachPointException {
        String module = place.module();
        String prefix = kind.longName() + ":" + (module.isEmpty() ? "" : module + ":");
        if (place.address() != 0) {
            String name = prefix + Long.toUnsignedString(place.address());
            return List.of(new KernelProbe(kind, name, module, "", 0, place.address()));
        }
        if (!NamePattern.isPattern(module) && !module.isEmpty() && !isLoaded(module)) {
            throw new AttachPointException(
                    "specified module "
                            + module
                            + " in probe "
                            + prefix
                            + place.function()
                            + " is not loaded.");
        }
        Glob modules = module.isEmpty() ? Glob.all() : Glob.of(module);
        TreeSet<String> found = new TreeSet<>();
        functions()
                .forEach(
                        modules,
                        Glob.of(place.function()),
                        (from, name) -> found.add(module.isEmpty() ? name : from + ":" + name));
        if (found.isEmpty() && options.unsafe() && !NamePattern.isPattern(place.function())) {
            found.add((module.isEmpty() ? "" : module + ":") + place.function());
        }
        List<Probe> probes = new ArrayList<>();
        for (String name : found) {
            int colon = name.indexOf(':');
            String from = colon < 0 ? "" : name.substring(0, colon);
            String offset = place.offset() == 0 ? "" : "+" + place.offset();
            probes.add(
                    new KernelProbe(
                            kind,
                            kind.longName() + ":" + name + offset,
                            from,
                            name.substring(colon + 1),
                            place.offset(),
                            0));
        }
        return probes;
    }

    private static boolean isLoaded(String module) {
        if (module.equals(TraceableFunctions.KERNEL)) {
            return true;
        }
        try {
            byte[] text = FileCalls.readAll("/proc/modules", 1 << 24);
            return new String(text, StandardCharsets.UTF_8)
                    .lines()
                    .anyMatch(line -> line.startsWith(module + " "));
        } catch (IOException e) {
            return false;
        }
    }

    List<Probe> typed(Kind kind, KernelFunctionPlace place)
            throws IOException, AttachPointException {
        boolean anywhere = place.module().isEmpty();
        Glob modules = anywhere ? Glob.all() : Glob.of(place.module());
        if (!NamePattern.isPattern(place.function())) {
            return typedByName(kind, place, anywhere, modules);
        }
        TreeSet<String> traced = new TreeSet<>();
        Glob glob = Glob.of(place.function());
        functions().forEach(modules, glob, (module, name) -> traced.add(module + ":" + name));
        TreeMap<String, Probe> found = new TreeMap<>();
        for (KernelBtfModule module : types.like(modules)) {
            Btf btf = module.btf();
            for (int id = btf.firstId(); id < btf.end(); id++) {
                if (btf.type(id) instanceof BtfType.Func(String name, _, _)
                        && traced.contains(module.name() + ":" + name)) {
                    Probe probe = fentry(kind, module.name(), name, id);
                    found.putIfAbsent(probe.name(), probe);
                }
            }
        }
        return List.copyOf(found.values());
    }

    private List<Probe> typedByName(
            Kind kind, KernelFunctionPlace place, boolean anywhere, Glob modules)
            throws IOException, AttachPointException {
        List<Probe> found = new ArrayList<>();
        for (KernelBtfModule module : types.like(modules)) {
            int id = module.find(place.function(), BtfType.Func.class::isInstance);
            if (id != 0) {
                found.add(fentry(kind, module.name(), place.function(), id));
            }
        }
        if (anywhere && found.size() > 1) {
            throw new AttachPointException(
                    "ambiguous attach point, please specify module containing the function '"
                            + place.function()
                            + "'");
        }
        return found;
    }

    private static Probe fentry(Kind kind, String module, String function, int id) {
        String name = kind.longName() + ":" + module + ":" + function;
        return new FentryProbe(kind, name, module, function, id, 0);
    }

    static List<Probe> programs(Kind kind, AttachTarget.BpfFunction place) throws IOException {
        List<Probe> found = new ArrayList<>();
        for (BpfFunctions.Function f :
                BpfFunctions.like(place.program(), Glob.of(place.function()))) {
            String name = kind.longName() + ":bpf:" + f.program() + ":" + f.name();
            found.add(new FentryProbe(kind, name, "", f.name(), f.btfId(), f.program()));
        }
        return found;
    }

    List<Probe> iterators(IteratorPlace place) throws IOException, AttachPointException {
        Btf btf = types.vmlinux();
        String iterator = place.iterator();
        int struct =
                btf == null
                        ? 0
                        : btf.find(ITER_STRUCT + iterator, BtfType.Struct.class::isInstance);
        int id = btf == null ? 0 : btf.find(ITER_FUNCTION + iterator, KernelExpansion::isFunction);
        if (struct == 0 || id == 0) {
            throw new AttachPointException(
                    "iter " + iterator + " not available for your kernel version.");
        }
        return List.of(new IteratorProbe("iter:" + iterator, iterator, place.pin(), id));
    }

    private static boolean isFunction(BtfType type) {
        return type instanceof BtfType.Func;
    }

    /** Names of the iterators that this kernel has. */
    List<String> iteratorNames() throws IOException {
        Btf btf = types.vmlinux();
        TreeSet<String> found = new TreeSet<>();
        int end = btf == null ? 0 : btf.end();
        for (int id = 1; id < end; id++) {
            if (btf != null
                    && btf.type(id) instanceof BtfType.Struct s
                    && s.name().startsWith(ITER_STRUCT)) {
                String name = s.name().substring(ITER_STRUCT.length());
                if (btf.find(ITER_FUNCTION + name, KernelExpansion::isFunction) != 0) {
                    found.add(name);
                }
            }
        }
        return List.copyOf(found);
    }
}
