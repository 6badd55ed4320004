package sonde.lang.bpftrace.ahead;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.bpf.core.CoreKind;
import sonde.lang.bpftrace.expand.ScriptOption;
import sonde.lang.bpftrace.lower.EventAction;
import sonde.lang.bpftrace.lower.MapPlan;
import sonde.lang.bpftrace.lower.PortableReference;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.source.SourceSpan;
import sonde.lang.source.SourceText;

/**
 * A compiled script.
 *
 * @param kernel that it was compiled on: {@code "6.12.9"}
 * @param sources texts that places refer to, the script itself first
 * @param maps in the order in which the script names them
 * @param actions by number
 * @param texts the bytes of the map of texts
 * @param zeroBytes of the map of zeros
 * @param frameBytes memory of all programs for one CPU
 * @param types BTF of the structures that programs refer to
 * @param programCount how many programs the map of losses has room for
 * @param options that the script asks for
 */
public record AotFile(
        String kernel,
        List<SourceText> sources,
        List<MapPlan> maps,
        List<EventAction> actions,
        byte[] texts,
        int zeroBytes,
        int frameBytes,
        byte[] types,
        int programCount,
        List<AotProgramEntry> pieces,
        List<RequestedOption> options) {
    public AotFile {
        options = List.copyOf(options);
        sources = List.copyOf(sources);
        maps = List.copyOf(maps);
        actions = List.copyOf(actions);
        pieces = List.copyOf(pieces);
    }

    /**
     * An option behind {@code --}.
     *
     * @param fixed its value, where it was needed for compiling or given then; null where it is
     *     given to the file. A text is always fixed
     */
    public record RequestedOption(ScriptOption option, @Nullable String fixed) {}

    /**
     * A program.
     *
     * @param number within the script, for what it loses
     * @param place programs of one place are alternatives: the first that this kernel takes is used
     * @param optional whether the script does without, because a pattern meant more than one
     * @param points what it is attached to, as a script would say it
     * @param markers how arguments of a marker are found; empty where none are read
     * @param code its words: maps and functions of the kernel are indexes into the lists
     * @param records struct bpf_func_info and struct bpf_line_info of its own BTF
     */
    public record AotProgramEntry(
            int number,
            int place,
            boolean optional,
            Kind kind,
            SourceSpan span,
            List<String> points,
            String markers,
            long[] code,
            SourceRecords records,
            List<String> maps,
            List<String> functions,
            List<NumberSlot> wishes) {
        public AotProgramEntry {
            points = List.copyOf(points);
            maps = List.copyOf(maps);
            functions = List.copyOf(functions);
            wishes = List.copyOf(wishes);
        }
    }

    /**
     * What the kernel is told of a program's source.
     *
     * @param needed whether it takes the program only with it
     */
    public record SourceRecords(byte[] btf, byte[] functions, byte[] lines, boolean needed) {}

    /**
     * A number that is missing in a program.
     *
     * @param slot of the load of 64 bits that gets it
     * @param span the part of the script that needs it; null for none
     */
    public record NumberSlot(int slot, @Nullable SourceSpan span, MissingNumber want) {}

    /** What a missing number is. */
    public sealed interface MissingNumber {
        /** What the kernel's types say. */
        record TypeNumber(TypeQuestion question) implements MissingNumber {}

        /** What is found by a name, or a fact of the run. */
        record NamedNumber(PortableReference reference) implements MissingNumber {}
    }

    /**
     * A question for the kernel's types.
     *
     * @param root id in the file's BTF
     * @param access the way from there: {@code "0:1"}
     * @param leastBytes that the member must have; 0 for any
     */
    public record TypeQuestion(int root, String access, CoreKind kind, int leastBytes) {}
}
