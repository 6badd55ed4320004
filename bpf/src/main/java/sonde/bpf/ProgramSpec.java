package sonde.bpf;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.ProgramCode;

/**
 * What a program is to be.
 *
 * @param name at most 15 bytes of letters, digits, {@code _} and {@code .}
 * @param expected where it will be attached, for types that must know when loading; null for 0
 * @param flags BPF_F_* of prog_flags
 * @param btfId of tracing programs: the type id of the function, {@code btf_trace_*} typedef or
 *     {@code bpf_iter_*} function; 0 for none
 * @param owner the BTF of the module, or the program, which that id belongs to; 0 for vmlinux
 * @param license {@code "GPL"} for most helpers
 * @param debug types of its functions and lines of its source; null for none
 * @param modules descriptors of the BTF of modules whose functions it calls: {@code fd_array}, the
 *     first unused
 * @param log whether to keep the verifier's log of success as well
 */
public record ProgramSpec(
        String name,
        ProgramType type,
        ProgramCode code,
        @Nullable AttachType expected,
        int flags,
        int btfId,
        int owner,
        String license,
        @Nullable Debug debug,
        List<Integer> modules,
        Log log) {
    /** May sleep: LSM, tracing, uprobes, iterators. Since Linux 5.10. */
    public static final int SLEEPABLE = 1 << 4;

    /** How much the verifier writes into {@link Program#log()} of a program it accepts. */
    public enum Log {
        /** Nothing; a refusal is loaded a second time to learn its cause. */
        QUIET,
        /** The statistics: instructions looked at, states, time. */
        STATISTICS,
        /** The paths it walked. */
        PATHS,
        /** And the state at each instruction. */
        EVERYTHING;

        /** Bits of log_level: BPF_LOG_LEVEL1 1, BPF_LOG_LEVEL2 2, BPF_LOG_STATS 4. */
        int level() {
            return switch (this) {
                case QUIET -> 0;
                case STATISTICS -> 4;
                case PATHS -> 1;
                case EVERYTHING -> 2;
            };
        }
    }

    /**
     * BTF of a program: arrays of struct bpf_func_info and struct bpf_line_info.
     *
     * @param btfFd descriptor of a {@link LoadedBtf}; the program keeps its own reference
     * @param functionRecordBytes 8
     * @param lineRecordBytes 16
     * @param needed whether the program cannot be loaded without: it has callbacks. Else kernels
     *     that take no such BTF get the program without
     */
    public record Debug(
            int btfFd,
            byte[] functions,
            int functionRecordBytes,
            byte[] lines,
            int lineRecordBytes,
            boolean needed) {}

    /** A GPL program that needs nothing else. */
    public ProgramSpec(String name, ProgramType type, ProgramCode code) {
        this(name, type, code, null, 0, 0, 0, "GPL", null, List.of(), Log.QUIET);
    }

    /** With the place it is for. */
    public ProgramSpec expecting(@Nullable AttachType place) {
        return new ProgramSpec(
                name, type, code, place, flags, btfId, owner, license, debug, modules, log);
    }

    /** For a function, typed tracepoint or iterator of the kernel itself. */
    public ProgramSpec targeting(AttachType place, int btfId) {
        return new ProgramSpec(
                name, type, code, place, flags, btfId, 0, license, debug, modules, log);
    }

    /** For a function of a module, or of another program. */
    public ProgramSpec targeting(@Nullable AttachType place, int btfId, int owner) {
        return new ProgramSpec(
                name, type, code, place, flags, btfId, owner, license, debug, modules, log);
    }

    /** With flags added. */
    public ProgramSpec with(int more) {
        return new ProgramSpec(
                name,
                type,
                code,
                expected,
                flags | more,
                btfId,
                owner,
                license,
                debug,
                modules,
                log);
    }

    /** With other instructions. */
    public ProgramSpec with(ProgramCode other) {
        return new ProgramSpec(
                name, type, other, expected, flags, btfId, owner, license, debug, modules, log);
    }

    /** With BTF. */
    public ProgramSpec with(@Nullable Debug types) {
        return new ProgramSpec(
                name, type, code, expected, flags, btfId, owner, license, types, modules, log);
    }

    /** With the verifier's log. */
    public ProgramSpec with(Log amount) {
        return new ProgramSpec(
                name, type, code, expected, flags, btfId, owner, license, debug, modules, amount);
    }

    /** Under another licence. */
    public ProgramSpec licensed(String words) {
        return new ProgramSpec(
                name, type, code, expected, flags, btfId, owner, words, debug, modules, log);
    }

    /** With functions of modules. */
    public ProgramSpec calling(List<Integer> others) {
        return new ProgramSpec(
                name, type, code, expected, flags, btfId, owner, license, debug, others, log);
    }
}
