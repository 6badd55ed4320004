package sonde.bpf.feature;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import sonde.binary.btf.BtfType;
import sonde.bpf.AttachType;
import sonde.bpf.BpfMap;
import sonde.bpf.BpfRefusedException;
import sonde.bpf.MapSpec;
import sonde.bpf.MapType;
import sonde.bpf.Program;
import sonde.bpf.ProgramSpec;
import sonde.bpf.ProgramType;
import sonde.bpf.call.BpfAttr;
import sonde.bpf.call.PrintkEvent;
import sonde.bpf.feature.FeatureAnswer.UnknownSupport;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.link.KernelTypes;
import sonde.sys.Bpf;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.MachineFacts;
import sonde.sys.SyscallException;

/**
 * Asks the running kernel by trying: small programs, maps and attachments that leave nothing. Every
 * answer is yes, no, or cannot tell and why.
 */
public final class BpfFeatureProbe {
    private static final int LOOPBACK = 1;
    private static final int XDP_FLAGS_DRV_MODE = 4;

    private BpfFeatureProbe() {}

    /** Whether programs of a type can be loaded. */
    public static FeatureAnswer programType(ProgramType type) {
        if (type == ProgramType.STRUCT_OPS) {
            // Without a structure: ENOTSUPP or EINVAL with words where the type is known.
            TrialLoad trial = TrialLoad.load(kind(type), TrialLoad.R0_ZERO, TrialLoad.EXIT);
            return trial.errno() == BpfAttr.ENOTSUPP || !trial.log().isBlank()
                    ? new FeatureAnswer.Yes()
                    : of(trial);
        }
        TrialLoad trial = TrialLoad.load(kind(type), TrialLoad.R0_ZERO, TrialLoad.EXIT);
        // The verifier speaks only about programs of a type that it knows.
        return !trial.log().isBlank() ? new FeatureAnswer.Yes() : of(trial);
    }

    private static FeatureAnswer of(TrialLoad trial) {
        if (trial.taken()) {
            return new FeatureAnswer.Yes();
        }
        if (trial.isPolicy()) {
            return new UnknownSupport("refused by policy before anything looked at it");
        }
        return new FeatureAnswer.No(trial.words());
    }

    /** What a type must say beside its number. */
    private static TrialLoad.Kind kind(ProgramType type) {
        return switch (type) {
            case CGROUP_SOCK_ADDR -> kind(type, AttachType.CGROUP_INET4_CONNECT, 0, 0);
            case CGROUP_SOCKOPT -> kind(type, AttachType.CGROUP_GETSOCKOPT, 0, 0);
            case SK_LOOKUP -> kind(type, AttachType.SK_LOOKUP, 0, 0);
            case SK_REUSEPORT -> kind(type, AttachType.SK_REUSEPORT_SELECT, 0, 0);
            case NETFILTER -> kind(type, AttachType.NETFILTER, 0, 0);
            case SYSCALL -> kind(type, null, ProgramSpec.SLEEPABLE, 0);
            // Type 1 of vmlinux is no typedef: the verifier says so.
            case TRACING -> kind(type, AttachType.TRACE_RAW_TP, 0, 1);
            case LSM -> kind(type, AttachType.LSM_MAC, 0, 1);
            case EXT -> kind(type, null, 0, 1);
            default -> kind(type, null, 0, 0);
        };
    }

    private static TrialLoad.Kind kind(
            ProgramType type, @Nullable AttachType expected, int flags, int btfId) {
        return new TrialLoad.Kind(
                type.code(), expected == null ? 0 : expected.code(), flags, btfId);
    }

    /** Whether maps of a type can be made. */
    public static FeatureAnswer mapType(MapType type) {
        if (type == MapType.STRUCT_OPS) {
            return structureOfFunctions();
        }
        try (BpfMap inner = BpfMap.create(new MapSpec("probe", MapType.ARRAY, 4, 4, 1));
                BpfMap map = BpfMap.create(sizes(type, inner))) {
            return map.fd() >= 0 ? new FeatureAnswer.Yes() : new FeatureAnswer.No("");
        } catch (BpfRefusedException e) {
            return new UnknownSupport(e.reason());
        } catch (SyscallException e) {
            return new FeatureAnswer.No(Errno.describe(e.errno()));
        }
    }

    /** Type 1 of vmlinux is no structure of functions: ENOTSUPP where there are any. */
    private static FeatureAnswer structureOfFunctions() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = BpfAttr.allocate(arena);
            attr.set(JAVA_INT, 0, MapType.STRUCT_OPS.code());
            attr.set(JAVA_INT, 4, 4);
            attr.set(JAVA_INT, 8, 4);
            attr.set(JAVA_INT, 12, 1);
            attr.set(JAVA_INT, 60, 1); // btf_vmlinux_value_type_id
            long result = Bpf.tryCall(BpfAttr.MAP_CREATE, attr);
            if (result >= 0) {
                Fd.discard((int) result);
            }
            return result >= 0 || result == -BpfAttr.ENOTSUPP
                    ? new FeatureAnswer.Yes()
                    : new FeatureAnswer.No(Errno.describe((int) -result));
        }
    }

    private static MapSpec sizes(MapType type, BpfMap inner) {
        int page = MachineFacts.pageBytes();
        return switch (type) {
            case RING_BUFFER, USER_RING_BUFFER -> new MapSpec("probe", type, 0, 0, page);
            case QUEUE, STACK, BLOOM_FILTER -> new MapSpec("probe", type, 0, 4, 1);
            case STACK_TRACE -> new MapSpec("probe", type, 4, 8, 1);
            case LPM_TRIE -> new MapSpec("probe", type, 8, 8, 1);
            case SK_STORAGE, TASK_STORAGE, CGROUP_LOCAL_STORAGE, INODE_STORAGE ->
                    new MapSpec("probe", type, 4, 4, 0);
            case ARENA -> new MapSpec("probe", type, 0, 0, 1);
            // struct bpf_cgroup_storage_key: u64, u32.
            case CGROUP_STORAGE, PER_CPU_CGROUP_STORAGE -> new MapSpec("probe", type, 16, 8, 0);
            case ARRAY_OF_MAPS, HASH_OF_MAPS ->
                    new MapSpec("probe", type, 4, 4, 1).withInner(inner);
            default -> new MapSpec("probe", type, 4, 4, 1);
        };
    }

    /**
     * Whether programs of a type may call a helper (enum bpf_func_id).
     *
     * <p>That of bpf_probe_write_user is not asked: loading it writes a warning into the kernel's
     * log. Asking for bpf_trace_printk switches the event bpf_trace:bpf_trace_printk on; it is
     * switched off again unless it was on.
     */
    public static FeatureAnswer helper(ProgramType type, int helper) {
        if (helper == HelperFunctionId.PROBE_WRITE_USER) {
            return new UnknownSupport("not tried: the kernel would log a warning");
        }
        boolean printk =
                helper == HelperFunctionId.TRACE_PRINTK || helper == HelperFunctionId.TRACE_VPRINTK;
        if (printk) {
            PrintkEvent.use();
        }
        TrialLoad trial =
                TrialLoad.load(
                        kind(type), TrialLoad.call(helper), TrialLoad.R0_ZERO, TrialLoad.EXIT);
        if (printk) {
            PrintkEvent.release();
        }
        return helper(trial);
    }

    /**
     * Whether programs at the begin of a function may call a helper.
     *
     * @param types of the kernel
     * @throws IOException when they are malformed
     */
    public static FeatureAnswer helperAt(String function, int helper, KernelTypes types)
            throws IOException {
        int id = types.btf().find(function, BtfType.Func.class::isInstance);
        if (id == 0) {
            return new FeatureAnswer.No("this kernel's BTF has no function " + function);
        }
        return helper(
                TrialLoad.load(
                        kind(ProgramType.TRACING, AttachType.TRACE_FENTRY, 0, id),
                        TrialLoad.call(helper),
                        TrialLoad.R0_ZERO,
                        TrialLoad.EXIT));
    }

    private static FeatureAnswer helper(TrialLoad trial) {
        if (trial.isPolicy()) {
            return new UnknownSupport("programs of this type are refused by policy");
        }
        String log = trial.log();
        if (trial.errno() == Errno.EINVAL && log.isBlank()) {
            return new FeatureAnswer.No("no such program type");
        }
        // 6.x: "program of this type cannot use helper"; before: "unknown func bpf_x#n";
        // "invalid func" for numbers beyond the last.
        boolean refused =
                log.contains("cannot use helper")
                        || log.contains("not allowed in probe")
                        || log.contains("unknown func ")
                        || log.contains("invalid func ");
        // Those with a target of their own are judged by it before their calls are.
        if (!refused && log.contains("attach_btf_id")) {
            return new UnknownSupport("depends on the function it is attached to");
        }
        return refused ? new FeatureAnswer.No(trial.words()) : new FeatureAnswer.Yes();
    }

    /**
     * Whether programs of a type may call a kernel function.
     *
     * @param types of the kernel
     * @throws IOException when they are malformed
     */
    public static FeatureAnswer kernelFunction(ProgramType type, String name, KernelTypes types)
            throws IOException {
        int id = types.btf().find(name, BtfType.Func.class::isInstance);
        if (id == 0) {
            return new FeatureAnswer.No("this kernel's BTF has no function " + name);
        }
        if (type == ProgramType.STRUCT_OPS || type == ProgramType.EXT) {
            return new UnknownSupport("depends on what it is attached to");
        }
        TrialLoad trial =
                TrialLoad.load(
                        placed(type, types),
                        TrialLoad.callKernel(id),
                        TrialLoad.R0_ZERO,
                        TrialLoad.EXIT);
        if (trial.isPolicy()) {
            return new UnknownSupport("programs of this type are refused by policy");
        }
        String log = trial.log();
        boolean refused =
                log.contains("is not allowed")
                        || log.contains("kernel function call is not supported")
                        || log.contains("calling kernel function from non-GPL")
                        || trial.errno() == Errno.EINVAL && log.isBlank();
        if (!refused && log.contains("attach_btf_id")) {
            return new UnknownSupport("depends on the function it is attached to");
        }
        return refused ? new FeatureAnswer.No(trial.words()) : new FeatureAnswer.Yes();
    }

    /** Some place for a type that must say one before its calls are looked at. */
    private static TrialLoad.Kind placed(ProgramType type, KernelTypes types) {
        try {
            return switch (type) {
                case TRACING ->
                        kind(type, AttachType.TRACE_RAW_TP, 0, types.tracepoint("sched_switch"));
                case LSM -> kind(type, AttachType.LSM_MAC, 0, types.securityHook("file_open"));
                default -> kind(type);
            };
        } catch (IOException e) {
            return kind(type);
        }
    }

    /** Whether programs can do what the limit names. */
    public static FeatureAnswer limit(KernelLimit limit) {
        TrialLoad trial = TrialLoad.load(kind(ProgramType.SOCKET_FILTER), limit.words());
        return of(trial);
    }

    /**
     * Whether programs can be attached there by a link: tried on a place that does not exist, so
     * that the kernel must look at the place's kind first and then complain about the place.
     */
    public static FeatureAnswer attachType(AttachType place) {
        switch (place) {
            case TRACE_RAW_TP, TRACE_FENTRY, TRACE_FEXIT, MODIFY_RETURN, TRACE_ITER -> {
                return byTarget(ProgramType.TRACING, place);
            }
            case LSM_MAC -> {
                return byTarget(ProgramType.LSM, place);
            }
            default -> {
                ProgramType type = typeOf(place);
                return type == null
                        ? new UnknownSupport("not tried: there is no harmless way to ask")
                        : byLink(type, place);
            }
        }
    }

    /** Type 1 of vmlinux is nothing that a program can be for, and the verifier says so. */
    private static FeatureAnswer byTarget(ProgramType type, AttachType place) {
        TrialLoad trial =
                TrialLoad.load(kind(type, place, 0, 1), TrialLoad.R0_ZERO, TrialLoad.EXIT);
        return !trial.log().isBlank() ? new FeatureAnswer.Yes() : of(trial);
    }

    private static FeatureAnswer byLink(ProgramType type, AttachType place) {
        ProgramSpec spec =
                new ProgramSpec("probe", type, new CodeBuilder().exit(1).build()).expecting(place);
        try (Arena arena = Arena.ofConfined();
                Program program = Program.load(spec)) {
            MemorySegment attr = BpfAttr.allocate(arena);
            attr.set(JAVA_INT, 0, program.fd());
            attr.set(JAVA_INT, 8, place.code());
            nowhere(arena, attr, place);
            long result = Bpf.tryCall(BpfAttr.LINK_CREATE, attr);
            if (result >= 0) {
                Fd.discard((int) result);
                return new FeatureAnswer.Yes();
            }
            int errno = (int) -result;
            boolean noDriver = place == AttachType.XDP && errno == Errno.EOPNOTSUPP;
            return switch (errno) {
                case Errno.ENODEV, Errno.EBADF, Errno.ENOENT, Errno.ESRCH ->
                        new FeatureAnswer.Yes();
                case Errno.EPERM -> new UnknownSupport(Errno.describe(errno));
                default ->
                        noDriver
                                ? new FeatureAnswer.Yes()
                                : new FeatureAnswer.No(Errno.describe(errno));
            };
        } catch (BpfRefusedException e) {
            return e.barrier() == BpfRefusedException.Barrier.UNSUPPORTED
                    ? new FeatureAnswer.No(e.reason())
                    : new UnknownSupport(e.reason());
        } catch (IOException e) {
            return new UnknownSupport(String.valueOf(e.getMessage()));
        }
    }

    /** A target that does not exist. */
    private static void nowhere(Arena arena, MemorySegment attr, AttachType place) {
        switch (place) {
            // Of an unknown device it says EINVAL; that loopback has no driver it says so.
            case XDP -> {
                attr.set(JAVA_INT, 4, LOOPBACK);
                attr.set(JAVA_INT, 12, XDP_FLAGS_DRV_MODE);
            }
            case TCX_INGRESS, TCX_EGRESS, NETKIT_PRIMARY, NETKIT_PEER ->
                    attr.set(JAVA_INT, 4, Integer.MAX_VALUE);
            case TRACE_KPROBE_MULTI, TRACE_KPROBE_SESSION -> {
                MemorySegment names = arena.allocate(JAVA_LONG);
                names.set(JAVA_LONG, 0, arena.allocateFrom("no such function").address());
                attr.set(JAVA_INT, 20, 1);
                attr.set(JAVA_LONG, 24, names.address());
            }
            case TRACE_UPROBE_MULTI, TRACE_UPROBE_SESSION -> {
                MemorySegment offsets = arena.allocate(JAVA_LONG);
                attr.set(JAVA_LONG, 16, arena.allocateFrom("/no/such/file").address());
                attr.set(JAVA_LONG, 24, offsets.address());
                attr.set(JAVA_INT, 48, 1);
            }
            default -> attr.set(JAVA_INT, 4, -1);
        }
    }

    private static @Nullable ProgramType typeOf(AttachType place) {
        return switch (place) {
            case XDP -> ProgramType.XDP;
            case TCX_INGRESS, TCX_EGRESS, NETKIT_PRIMARY, NETKIT_PEER -> ProgramType.SCHED_CLS;
            case PERF_EVENT -> ProgramType.PERF_EVENT;
            case FLOW_DISSECTOR -> ProgramType.FLOW_DISSECTOR;
            case SK_LOOKUP -> ProgramType.SK_LOOKUP;
            case CGROUP_INET_INGRESS, CGROUP_INET_EGRESS -> ProgramType.CGROUP_SKB;
            case CGROUP_INET_SOCK_CREATE,
                    CGROUP_INET_SOCK_RELEASE,
                    CGROUP_INET4_POST_BIND,
                    CGROUP_INET6_POST_BIND ->
                    ProgramType.CGROUP_SOCK;
            case CGROUP_SOCK_OPS -> ProgramType.SOCK_OPS;
            case CGROUP_DEVICE -> ProgramType.CGROUP_DEVICE;
            case CGROUP_SYSCTL -> ProgramType.CGROUP_SYSCTL;
            case CGROUP_INET4_BIND,
                    CGROUP_INET6_BIND,
                    CGROUP_INET4_CONNECT,
                    CGROUP_INET6_CONNECT,
                    CGROUP_UDP4_SENDMSG,
                    CGROUP_UDP6_SENDMSG,
                    CGROUP_UDP4_RECVMSG,
                    CGROUP_UDP6_RECVMSG,
                    CGROUP_INET4_GETPEERNAME,
                    CGROUP_INET6_GETPEERNAME,
                    CGROUP_INET4_GETSOCKNAME,
                    CGROUP_INET6_GETSOCKNAME,
                    CGROUP_UNIX_CONNECT,
                    CGROUP_UNIX_SENDMSG,
                    CGROUP_UNIX_RECVMSG,
                    CGROUP_UNIX_GETPEERNAME,
                    CGROUP_UNIX_GETSOCKNAME ->
                    ProgramType.CGROUP_SOCK_ADDR;
            case TRACE_KPROBE_MULTI,
                    TRACE_UPROBE_MULTI,
                    TRACE_KPROBE_SESSION,
                    TRACE_UPROBE_SESSION ->
                    ProgramType.KPROBE;
            case CGROUP_GETSOCKOPT, CGROUP_SETSOCKOPT -> ProgramType.CGROUP_SOCKOPT;
            default -> null;
        };
    }
}
