package sonde.bpf.object;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.bpf.AttachType;
import sonde.bpf.ProgramType;
import sonde.sys.ResourceTable;

/**
 * What the name of a section says of the programs in it, {@code SEC("kprobe/do_unlinkat")} in the
 * source.
 *
 * @param name as it stands there, without a {@code ?} before it
 * @param optional whether the object says by a {@code ?} that it is not loaded unless asked for
 * @param attach the place that is told at loading; null where none is
 * @param way how its programs are attached
 * @param flags BPF_F_* of loading
 * @param target what stands behind the first slash that does not belong to the kind; empty for none
 */
public record ProgramSection(
        String name,
        boolean optional,
        ProgramType type,
        @Nullable AttachType attach,
        AttachWay way,
        int flags,
        String target) {
    /** BPF_F_SLEEPABLE. */
    private static final int SLEEPABLE = 1 << 4;

    /** BPF_F_XDP_HAS_FRAGS. */
    private static final int FRAGMENTS = 1 << 5;

    /** So many letters in common make a name one that was perhaps meant. */
    private static final int ALIKE = 3;

    private static final List<String> USUAL =
            List.of(
                    """
                    kprobe/... uprobe/... tracepoint/... raw_tp/... tp_btf/... \
                    fentry/... lsm/... iter/... perf_event xdp tcx/ingress \
                    cgroup_skb/egress socket syscall\
                    """
                            .split(" "));

    /** How programs are attached. */
    public enum AttachWay {
        /** By hand only: the object does not say where, or there are no links for it. */
        NONE,
        KPROBE,
        KRETPROBE,
        KPROBE_MULTI,
        KRETPROBE_MULTI,
        KSYSCALL,
        KRETSYSCALL,
        UPROBE,
        URETPROBE,
        UPROBE_MULTI,
        URETPROBE_MULTI,
        USDT,
        TRACEPOINT,
        RAW_TRACEPOINT,
        TYPED_TRACEPOINT,
        /** fentry, fexit, fmod_ret. */
        FUNCTION,
        /** In place of a function of another program. */
        REPLACEMENT,
        SECURITY_HOOK,
        CGROUP_SECURITY_HOOK,
        ITERATOR,
        STRUCT_OPS,
        /** To a network device that is named when attaching. */
        DEVICE,
        /** To a cgroup that is named when attaching. */
        CGROUP,
        /** To a network namespace that is named when attaching. */
        NETNS
    }

    private record Row(
            String name,
            boolean open,
            ProgramType type,
            @Nullable AttachType attach,
            AttachWay way,
            int flags) {
        boolean fits(String section) {
            return section.equals(name)
                    || open
                            && section.startsWith(name)
                            && section.charAt(name.length()) == '/'
                            && section.length() > name.length() + 1;
        }
    }

    private static final List<Row> ROWS = rows();

    private static List<Row> rows() {
        return ResourceTable.lines(ProgramSection.class.getResourceAsStream("sections.txt"))
                .stream()
                .map(line -> row(line.split(" +", -1)))
                .toList();
    }

    private static Row row(String[] words) {
        boolean open = words[0].endsWith("+");
        String marks = words.length > 4 ? words[4] : "";
        return new Row(
                open ? words[0].substring(0, words[0].length() - 1) : words[0],
                open,
                ProgramType.valueOf(words[1]),
                words[2].equals("-") ? null : AttachType.valueOf(words[2]),
                AttachWay.valueOf(words[3]),
                (marks.contains("s") ? SLEEPABLE : 0) | (marks.contains("f") ? FRAGMENTS : 0));
    }

    /** What a section's name says; null when it is none that is known. */
    public static @Nullable ProgramSection of(String section) {
        boolean optional = section.startsWith("?");
        String name = optional ? section.substring(1) : section;
        for (Row row : ROWS) {
            if (row.fits(name)) {
                String target =
                        name.length() > row.name().length()
                                ? name.substring(row.name().length() + 1)
                                : "";
                return new ProgramSection(
                        name, optional, row.type(), row.attach(), row.way(), row.flags(), target);
            }
        }
        return null;
    }

    /** All names that are known, those that take a target with {@code /...} behind. */
    public static List<String> known() {
        return ROWS.stream().map(row -> row.open() ? row.name() + "/..." : row.name()).toList();
    }

    /** Known names that begin like another one; where none does, those that are seen most. */
    static List<String> near(String section) {
        String plain = section.startsWith("?") ? section.substring(1) : section;
        String start = plain.substring(0, Math.min(ALIKE, plain.length()));
        List<String> alike = known().stream().filter(name -> name.startsWith(start)).toList();
        return start.length() < ALIKE || alike.isEmpty() ? USUAL : alike;
    }

    /** Whether loading must name a function, tracepoint, hook or iterator of the kernel. */
    public boolean namesKernelType() {
        return switch (way) {
            case TYPED_TRACEPOINT, FUNCTION, SECURITY_HOOK, CGROUP_SECURITY_HOOK, ITERATOR -> true;
            default -> false;
        };
    }
}
