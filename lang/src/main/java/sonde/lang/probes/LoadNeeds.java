package sonde.lang.probes;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import sonde.bpf.AttachType;
import sonde.bpf.BpfRefusedException;
import sonde.bpf.LoadedBtf;
import sonde.bpf.Program;
import sonde.bpf.ProgramSpec;
import sonde.bpf.ProgramType;
import sonde.bpf.insn.Code;
import sonde.lang.probes.AttachPoint.Kind;
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
        Owner owner,
        boolean sleepable) {
    /** Whose types an id is of. */
    public sealed interface Owner {
        /** The kernel itself, or nobody. */
        record Kernel() implements Owner {}

        /** A module of the kernel. */
        record Module(String name) implements Owner {}

        /** A BPF program, by its number. */
        record BpfProgram(int id) implements Owner {}
    }

    private static final Owner KERNEL = new Owner.Kernel();

    private static LoadNeeds plain(ProgramType type) {
        return new LoadNeeds(type, null, 0, KERNEL, false);
    }

    /**
     * Of a group. A raw tracepoint alone is loaded with types; several of them together, and those
     * whose type is not known, without.
     */
    public static LoadNeeds of(ProbeGroup group) {
        return switch (group.first()) {
            case Probe.Special special ->
                    plain(
                            special.kind() == Kind.TEST || special.kind() == Kind.BENCH
                                    ? ProgramType.XDP
                                    : ProgramType.RAW_TRACEPOINT);
            case Probe.Timer _, Probe.PerfEvent _, Probe.Watchpoint _ ->
                    plain(ProgramType.PERF_EVENT);
            case Probe.Tracepoint _ -> plain(ProgramType.TRACEPOINT);
            case Probe.RawTracepoint raw -> {
                boolean typed = raw.btfId() != 0 && group.probes().size() == 1;
                yield typed
                        ? tracing(AttachType.TRACE_RAW_TP, raw.btfId(), owner(raw.module(), 0))
                        : plain(ProgramType.RAW_TRACEPOINT);
            }
            case Probe.Kernel _ ->
                    new LoadNeeds(ProgramType.KPROBE, kernel(group), 0, KERNEL, false);
            case Probe.User _, Probe.Usdt _ ->
                    new LoadNeeds(
                            ProgramType.KPROBE,
                            group.multi() ? AttachType.TRACE_UPROBE_MULTI : null,
                            0,
                            KERNEL,
                            true);
            case Probe.Fentry f ->
                    tracing(
                            f.kind() == Kind.FEXIT
                                    ? AttachType.TRACE_FEXIT
                                    : AttachType.TRACE_FENTRY,
                            f.btfId(),
                            owner(f.module(), f.program()));
            case Probe.Iter iter ->
                    new LoadNeeds(
                            ProgramType.TRACING, AttachType.TRACE_ITER, iter.btfId(), KERNEL, true);
        };
    }

    private static @Nullable AttachType kernel(ProbeGroup group) {
        return group.session()
                ? AttachType.TRACE_KPROBE_SESSION
                : group.multi() ? AttachType.TRACE_KPROBE_MULTI : null;
    }

    private static LoadNeeds tracing(AttachType place, int id, Owner owner) {
        return new LoadNeeds(ProgramType.TRACING, place, id, owner, false);
    }

    private static Owner owner(String module, int program) {
        if (program != 0) {
            return new Owner.BpfProgram(program);
        }
        boolean kernel = module.isEmpty() || module.equals(TraceableFunctions.KERNEL);
        return kernel ? KERNEL : new Owner.Module(module);
    }

    /** A specification of these instructions; its target is added by {@link #load}. */
    public ProgramSpec spec(String name, Code code) {
        return new ProgramSpec(name, type, code).expecting(expected);
    }

    /**
     * Loads a program for its target.
     *
     * @param spec with the type of this
     */
    public Program load(ProgramSpec spec) throws IOException {
        return switch (owner) {
            case Owner.Kernel _ -> Program.load(spec.targeting(expected, btfId, 0));
            case Owner.Module(String name) -> {
                try (LoadedBtf types = module(name)) {
                    yield Program.load(spec.targeting(expected, btfId, types.fd()));
                }
            }
            case Owner.BpfProgram(int id) -> {
                try (Program target = Program.openId(id)) {
                    yield Program.load(spec.targeting(expected, btfId, target.fd()));
                }
            }
        };
    }

    private static LoadedBtf module(String name) throws IOException {
        for (int id : LoadedBtf.ids()) {
            LoadedBtf types = LoadedBtf.openId(id);
            try {
                LoadedBtf.Facts facts = types.facts();
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
