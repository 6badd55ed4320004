package sonde.lang.probes;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import sonde.bpf.AttachType;
import sonde.bpf.BpfRefusedException;
import sonde.bpf.LoadedBtf;
import sonde.bpf.LoadedBtf.BtfFacts;
import sonde.bpf.Program;
import sonde.bpf.ProgramSpec;
import sonde.bpf.ProgramType;
import sonde.bpf.insn.ProgramCode;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.probes.LoadNeeds.TypeOwner.KernelOwner;
import sonde.lang.probes.LoadNeeds.TypeOwner.ModuleOwner;
import sonde.lang.probes.LoadNeeds.TypeOwner.ProgramOwner;
import sonde.lang.probes.Probe.FentryProbe;
import sonde.lang.probes.Probe.IteratorProbe;
import sonde.lang.probes.Probe.KernelProbe;
import sonde.lang.probes.Probe.PerfEventProbe;
import sonde.lang.probes.Probe.TimerProbe;
import sonde.lang.probes.Probe.TracepointProbe;
import sonde.lang.probes.Probe.TracerProbe;
import sonde.lang.probes.Probe.UsdtProbe;
import sonde.lang.probes.Probe.UserProbe;
import sonde.lang.probes.Probe.WatchpointProbe;
import sonde.sys.Errno;

/**
 * What a program must be loaded as, to be attached to a group of probes.
 *
 * @param expected null where the type needs none
 * @param btfId of the function or type it is for; 0 for none
 * @param owner what that id is of
 * @param sleepable whether it may be loaded so: uprobes, iterators (Linux 5.20, 6.1)
 */
public record LoadNeeds(
        ProgramType type,
        @Nullable AttachType expected,
        int btfId,
        TypeOwner owner,
        boolean sleepable) {
    /** The owner of the types that an id belongs to. */
    public sealed interface TypeOwner {
        /** The kernel itself, or nobody. */
        record KernelOwner() implements TypeOwner {}

        /** A module of the kernel. */
        record ModuleOwner(String name) implements TypeOwner {}

        /** A BPF program, by its number. */
        record ProgramOwner(int id) implements TypeOwner {}
    }

    private static final TypeOwner KERNEL = new KernelOwner();

    private static LoadNeeds plain(ProgramType type) {
        return new LoadNeeds(type, null, 0, KERNEL, false);
    }

    /**
     * The needs of a group. A raw tracepoint alone is loaded with types; several together, and
     * those whose type is not known, without.
     */
    public static LoadNeeds of(ProbeGroup group) {
        return switch (group.first()) {
            case TracerProbe special ->
                    plain(
                            special.kind() == Kind.TEST || special.kind() == Kind.BENCH
                                    ? ProgramType.XDP
                                    : ProgramType.RAW_TRACEPOINT);
            case TimerProbe _, PerfEventProbe _, WatchpointProbe _ -> plain(ProgramType.PERF_EVENT);
            case TracepointProbe _ -> plain(ProgramType.TRACEPOINT);
            case Probe.RawTracepoint raw -> {
                boolean typed = raw.btfId() != 0 && group.probes().size() == 1;
                yield typed
                        ? tracing(AttachType.TRACE_RAW_TP, raw.btfId(), owner(raw.module(), 0))
                        : plain(ProgramType.RAW_TRACEPOINT);
            }
            case KernelProbe _ ->
                    new LoadNeeds(ProgramType.KPROBE, kernel(group), 0, KERNEL, false);
            case UserProbe _, UsdtProbe _ ->
                    new LoadNeeds(
                            ProgramType.KPROBE,
                            group.multi() ? AttachType.TRACE_UPROBE_MULTI : null,
                            0,
                            KERNEL,
                            true);
            case FentryProbe f ->
                    tracing(
                            f.kind() == Kind.FEXIT
                                    ? AttachType.TRACE_FEXIT
                                    : AttachType.TRACE_FENTRY,
                            f.btfId(),
                            owner(f.module(), f.program()));
            case IteratorProbe iter ->
                    new LoadNeeds(
                            ProgramType.TRACING, AttachType.TRACE_ITER, iter.btfId(), KERNEL, true);
        };
    }

    private static @Nullable AttachType kernel(ProbeGroup group) {
        return group.session()
                ? AttachType.TRACE_KPROBE_SESSION
                : group.multi() ? AttachType.TRACE_KPROBE_MULTI : null;
    }

    private static LoadNeeds tracing(AttachType place, int id, TypeOwner owner) {
        return new LoadNeeds(ProgramType.TRACING, place, id, owner, false);
    }

    private static TypeOwner owner(String module, int program) {
        if (program != 0) {
            return new ProgramOwner(program);
        }
        boolean kernel = module.isEmpty() || module.equals(TraceableFunctions.KERNEL);
        return kernel ? KERNEL : new ModuleOwner(module);
    }

    /** A specification of these instructions; its target is added by {@link OpenTarget#of}. */
    public ProgramSpec spec(String name, ProgramCode code) {
        return new ProgramSpec(name, type, code).expecting(expected);
    }

    /**
     * What a program is for, open while it is loaded.
     *
     * @param fd 0 for the kernel itself
     */
    public record OpenTarget(LoadNeeds needs, int fd, @Nullable Runnable closing)
            implements AutoCloseable {
        /** A program for it, of the type that it needs. */
        public ProgramSpec of(ProgramSpec spec) {
            return spec.targeting(needs.expected, needs.btfId, fd);
        }

        @Override
        public void close() {
            if (closing != null) {
                closing.run();
            }
        }
    }

    /** Opens the module or program whose types the id is of. */
    public OpenTarget target() throws IOException {
        return switch (owner) {
            case KernelOwner _ -> new OpenTarget(this, 0, null);
            case ModuleOwner(String name) -> {
                LoadedBtf types = module(name);
                yield new OpenTarget(this, types.fd(), types::close);
            }
            case ProgramOwner(int id) -> {
                Program program = Program.openId(id);
                yield new OpenTarget(this, program.fd(), program::close);
            }
        };
    }

    private static LoadedBtf module(String name) throws IOException {
        for (int id : LoadedBtf.ids()) {
            LoadedBtf types = LoadedBtf.openId(id);
            try {
                BtfFacts facts = types.facts();
                if (facts.kernel() && facts.name().equals(name)) {
                    return types;
                }
            } catch (IOException e) {
                types.close();
                throw e;
            }
            types.close();
        }
        throw new BpfRefusedException(
                "types of module " + name, Errno.ENOENT, "it is not loaded", "");
    }
}
