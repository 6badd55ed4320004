package sonde.bpf.verifier;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.btf.Btf;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.verifier.LogEntry.LoggedSource;
import sonde.bpf.verifier.LogEntry.LoggedState;
import sonde.bpf.verifier.LogEntry.LoggedStep;

/** Which line of the source each instruction comes from. */
public final class InstructionLines {
    /** When nothing is known. */
    public static final InstructionLines NONE = new InstructionLines(new TreeMap<>());

    /** struct bpf_line_info (btf.rst): insn_off, file_name_off, line_off, line_col. */
    private static final int RECORD_WORDS = 4;

    private static final int COLUMN_BITS = 10;

    private final TreeMap<Integer, SourceLine> lines;

    private InstructionLines(TreeMap<Integer, SourceLine> lines) {
        this.lines = lines;
    }

    /**
     * From line_info.
     *
     * @param btf whose strings the records refer to; offsets it lacks give empty texts
     * @param records struct bpf_line_info one behind the other
     * @param recordWords 32-bit words of each, at least 4
     */
    public static InstructionLines of(Btf btf, int[] records, int recordWords) {
        TreeMap<Integer, SourceLine> lines = new TreeMap<>();
        int step = Math.max(RECORD_WORDS, recordWords);
        for (int at = 0; at + RECORD_WORDS <= records.length; at += step) {
            int lineColumn = records[at + 3];
            lines.put(
                    records[at],
                    new SourceLine(
                            string(btf, records[at + 1]),
                            lineColumn >>> COLUMN_BITS,
                            lineColumn & (1 << COLUMN_BITS) - 1,
                            string(btf, records[at + 2]).strip()));
        }
        return new InstructionLines(lines);
    }

    private static String string(Btf btf, int offset) {
        try {
            return PrintableText.line(btf.string(offset));
        } catch (MalformedInputException e) {
            return "";
        }
    }

    /** From text that {@link sonde.bpf.insn.Assembler} read: its steps are {@code "line 12"}. */
    public static InstructionLines of(String file, String text, ProgramCode code) {
        List<String> source = text.lines().toList();
        TreeMap<Integer, SourceLine> lines = new TreeMap<>();
        int slot = 0;
        for (int i = 0; i < code.instructions().size(); i++) {
            String step = code.stepAt(slot);
            if (step.matches("line [0-9]{1,7}")) {
                int line = Integer.parseInt(step.substring("line ".length()));
                String words = line <= source.size() ? source.get(line - 1) : "";
                lines.put(slot, new SourceLine(file, line, 0, PrintableText.line(words.strip())));
            }
            slot += code.instructions().get(i).slots();
        }
        return new InstructionLines(lines);
    }

    /** As a log quotes them. */
    static InstructionLines quoted(VerifierLog log) {
        TreeMap<Integer, SourceLine> lines = new TreeMap<>();
        SourceLine line = null;
        for (LogEntry entry : log.entries()) {
            switch (entry) {
                case LoggedSource source -> line = source.line();
                case LogEntry.Resumed _, LogEntry.Function _ -> line = null;
                case LoggedStep step -> {
                    if (line != null) {
                        lines.putIfAbsent(step.slot(), line);
                    }
                }
                case LoggedState _, LogEntry.Remark _, LogEntry.Message _ -> {}
            }
        }
        return new InstructionLines(lines);
    }

    /** The line of the instruction at a slot: the last that begins there or before. */
    public @Nullable SourceLine at(int slot) {
        Map.Entry<Integer, SourceLine> entry = lines.floorEntry(slot);
        return entry == null || slot < 0 ? null : entry.getValue();
    }

    /** The line that begins at exactly that slot. */
    public @Nullable SourceLine from(int slot) {
        return lines.get(slot);
    }

    /** Whether nothing is known. */
    public boolean isEmpty() {
        return lines.isEmpty();
    }
}
