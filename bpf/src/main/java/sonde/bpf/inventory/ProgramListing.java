package sonde.bpf.inventory;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.binary.btf.Btf;
import sonde.binary.btf.BtfType;
import sonde.binary.btf.CHeader;
import sonde.bpf.LoadedBtf;
import sonde.bpf.Program;
import sonde.bpf.ProgramFacts;
import sonde.bpf.insn.Disassembler;
import sonde.bpf.insn.Instruction;
import sonde.bpf.insn.Instruction.ConstantMeaning;
import sonde.bpf.insn.InstructionEncoding;
import sonde.bpf.verifier.InstructionLines;
import sonde.bpf.verifier.SourceLine;

/** A loaded program as the verifier left it, with functions, source lines and names. */
public final class ProgramListing {
    private static final int LINE_WORDS = 4;
    private static final int PSEUDO_CALL = 0x1085;

    private final Program program;
    private final @Nullable Btf btf;
    private final List<String> tags;
    private final int[] lineRecords;
    private final int lineWords;
    private final InstructionLines lines;
    private final TreeMap<Integer, String> prototypes = new TreeMap<>();
    private final TreeMap<Integer, String> symbols = new TreeMap<>();

    /**
     * An instruction.
     *
     * @param prototype of the function that begins here; empty within one
     * @param source the line that begins here; null within one
     * @param words of the instruction
     * @param text as {@code bpftool prog dump xlated}: {@code "(85) call bpf_ktime_get_ns#269488"}
     * @param map name of the map it refers to; empty for none
     */
    public record Row(
            int slot,
            String prototype,
            @Nullable SourceLine source,
            long[] words,
            String text,
            String map) {}

    /**
     * A function's machine code.
     *
     * @param prototype as in BTF; else the kernel's name for it
     * @param symbol {@code bpf_prog_TAG_NAME}
     * @param lines the source line that begins at a byte of the code
     */
    public record FunctionMachineCode(
            String prototype, String symbol, byte[] code, Map<Integer, SourceLine> lines) {}

    private ProgramListing(Program program) throws IOException {
        this.program = program;
        ProgramFacts facts = program.facts();
        btf = facts.btfId() == 0 ? null : types(facts.btfId());
        tags = ProgramFacts.functionTags(program);
        lineRecords = ProgramFacts.lineRecords(program);
        lineWords = LINE_WORDS;
        Btf types = btf;
        lines =
                types == null
                        ? InstructionLines.NONE
                        : InstructionLines.of(types, lineRecords, lineWords);
        functions(facts);
    }

    private static @Nullable Btf types(int id) throws IOException {
        try (LoadedBtf loaded = LoadedBtf.openId(id)) {
            return Btf.read(Input.of("BTF " + id, MemorySegment.ofArray(loaded.bytes())));
        } catch (MalformedInputException e) {
            return null;
        }
    }

    /** struct bpf_func_info: instruction, type id. */
    private void functions(ProgramFacts facts) throws IOException {
        int[] records = btf == null ? new int[0] : ProgramFacts.functionRecords(program);
        for (int i = 0; i + 1 < records.length; i += 2) {
            String tag = i / 2 < tags.size() ? tags.get(i / 2) : facts.tag();
            function(records[i], records[i + 1], tag);
        }
        if (records.length == 0 && tags.size() > 0) {
            symbols.put(0, "bpf_prog_" + tags.getFirst() + "_" + facts.name());
        }
    }

    private void function(int slot, int type, String tag) {
        Btf types = btf;
        try {
            if (types != null && types.type(type) instanceof BtfType.Func function) {
                prototypes.put(slot, CHeader.head(types, function.type(), function.name()));
                symbols.put(slot, "bpf_prog_" + tag + "_" + function.name());
            }
        } catch (MalformedInputException e) {
            symbols.put(slot, "bpf_prog_" + tag);
        }
    }

    /** The instructions. */
    public static List<Row> of(Program program) throws IOException {
        return new ProgramListing(program).rows();
    }

    private List<Row> rows() throws IOException {
        long[] words = ProgramFacts.translated(program);
        TranslatedNames names = new TranslatedNames();
        List<Row> rows = new ArrayList<>();
        long[] plain = words.clone();
        for (int i = 0; i < plain.length; i++) {
            // jit_subprogs(): the offset is the distance, the immediate the subprogram's number.
            if ((plain[i] & 0xf0ff) == PSEUDO_CALL && (plain[i] & 0xffff_0000L) != 0) {
                long distance = (short) (plain[i] >> 16);
                plain[i] = plain[i] & 0xffff | distance << 32;
            }
        }
        List<String> texts = Disassembler.lines(plain, names);
        List<Instruction> instructions = InstructionEncoding.decode(plain);
        int slot = 0;
        for (int i = 0; i < texts.size(); i++) {
            Instruction instruction = instructions.get(i);
            String text = texts.get(i);
            String shown = text.substring(text.indexOf(": ") + 2);
            int next = slot + instruction.slots();
            if (instruction instanceof Instruction.CallLocal call) {
                int number = (int) (words[slot] >> 32);
                String callee = symbols.getOrDefault(next + call.offset(), unnamed(number));
                shown += callee.isEmpty() ? "" : "#" + callee;
            }
            rows.add(
                    new Row(
                            slot,
                            prototypes.getOrDefault(slot, ""),
                            lines.from(slot),
                            java.util.Arrays.copyOfRange(words, slot, next),
                            shown,
                            map(instruction, names)));
            slot = next;
        }
        return rows;
    }

    /** The kernel's name for a subprogram without BTF. */
    private String unnamed(int number) {
        return number > 0 && number < tags.size() ? "bpf_prog_" + tags.get(number) + "_F" : "";
    }

    private static String map(Instruction instruction, TranslatedNames names) {
        return instruction instanceof Instruction.LoadWide wide
                        && (wide.meaning() == ConstantMeaning.MAP
                                || wide.meaning() == ConstantMeaning.MAP_VALUE)
                ? names.mapName((int) wide.value())
                : "";
    }

    /** The machine code, function by function; empty when it may not be seen. */
    public static List<FunctionMachineCode> machineCode(Program program) throws IOException {
        return new ProgramListing(program).machine();
    }

    private List<FunctionMachineCode> machine() throws IOException {
        byte[] code = ProgramFacts.jited(program);
        long[] lengths = ProgramFacts.jitedLengths(program);
        long[] addresses = ProgramFacts.jitedAddresses(program);
        long[] lineAddresses = ProgramFacts.jitedLines(program);
        List<String> heads = List.copyOf(prototypes.values());
        List<String> names = List.copyOf(symbols.values());
        List<FunctionMachineCode> functions = new ArrayList<>();
        int at = 0;
        int count = lengths.length == 0 ? 1 : lengths.length;
        for (int i = 0; i < count && at < code.length; i++) {
            long wanted = lengths.length == 0 ? code.length : lengths[i];
            int length = (int) Math.min(wanted, code.length - at);
            long address = i < addresses.length ? addresses[i] : 0;
            String name = i < names.size() ? names.get(i) : "";
            functions.add(
                    new FunctionMachineCode(
                            i < heads.size() ? heads.get(i) : name,
                            name,
                            java.util.Arrays.copyOfRange(code, at, at + length),
                            within(lineAddresses, address, length)));
            at += length;
        }
        return functions;
    }

    private Map<Integer, SourceLine> within(long[] lineAddresses, long address, int length) {
        Map<Integer, SourceLine> found = new TreeMap<>();
        for (int i = 0; i < lineAddresses.length && address != 0; i++) {
            long offset = lineAddresses[i] - address;
            if (offset >= 0 && offset < length && i * lineWords < lineRecords.length) {
                SourceLine line = lines.from(lineRecords[i * lineWords]);
                if (line != null) {
                    found.putIfAbsent((int) offset, line);
                }
            }
        }
        return found;
    }
}
