package sonde.bpf.verifier;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import sonde.bpf.LoadedBtf;
import sonde.bpf.ProgramSpec;
import sonde.bpf.insn.Instruction;
import sonde.bpf.insn.Instruction.ConstantMeaning;
import sonde.bpf.insn.Instruction.UnknownInstruction;
import sonde.bpf.insn.ProgramCode;

/** BTF of an assembled program: its lines, and a function {@code int name(void)} for each part. */
final class LinedProgram {
    private static final String FILE = "case.asm";

    private final ByteArrayOutputStream strings = new ByteArrayOutputStream();

    private LinedProgram() {
        strings.write(0);
    }

    /** What to load beside the code; the descriptor is the caller's to keep open. */
    record Made(LoadedBtf btf, ProgramSpec.Debug debug) {}

    /** Lines of the text, and functions unless only lines are wanted. */
    static Made of(String text, ProgramCode code, boolean functions) throws Exception {
        return new LinedProgram().make(text.lines().toList(), code, functions);
    }

    private Made make(List<String> source, ProgramCode code, boolean functions) throws Exception {
        int file = string(FILE);
        List<int[]> lines = new ArrayList<>();
        TreeSet<Integer> starts = new TreeSet<>(List.of(0));
        int slot = 0;
        for (Instruction instruction : code.instructions()) {
            int line = Integer.parseInt(code.stepAt(slot).substring("line ".length()));
            boolean half = instruction instanceof UnknownInstruction word && word.word() == 0;
            if (!half) {
                lines.add(new int[] {slot, file, string(source.get(line - 1)), line << 10 | 1});
            }
            int next = slot + 1;
            if (instruction instanceof Instruction.CallLocal call) {
                starts.add(next + call.offset());
            } else if (instruction instanceof Instruction.LoadWide wide
                    && wide.meaning() == ConstantMeaning.FUNCTION) {
                starts.add(next + (int) wide.value());
            }
            slot += instruction.slots();
        }
        int end = slot;
        starts.removeIf(start -> start >= end);
        List<int[]> infos = new ArrayList<>();
        // 1: int, signed, 32 bits; 2: int (*)(void); from 3 on: static functions.
        List<Integer> types = new ArrayList<>(List.of(string("int"), 1 << 24, 4, 1 << 24 | 32));
        types.addAll(List.of(0, 13 << 24, 1));
        for (int start : starts) {
            infos.add(new int[] {start, 3 + infos.size()});
            types.addAll(List.of(string("part" + start), 12 << 24, 2));
        }
        LoadedBtf btf = LoadedBtf.load(blob(types));
        byte[] functionBytes = functions ? bytes(infos) : new byte[0];
        return new Made(
                btf, new ProgramSpec.Debug(btf.fd(), functionBytes, 8, bytes(lines), 16, false));
    }

    private int string(String text) {
        int offset = strings.size();
        strings.writeBytes(text.getBytes(StandardCharsets.UTF_8));
        strings.write(0);
        return offset;
    }

    /** struct btf_header, types, strings. */
    private byte[] blob(List<Integer> types) {
        int typeBytes = 4 * types.size();
        ByteBuffer out =
                ByteBuffer.allocate(24 + typeBytes + strings.size()).order(ByteOrder.nativeOrder());
        out.putShort((short) 0xeb9f).put((byte) 1).put((byte) 0);
        out.putInt(24).putInt(0).putInt(typeBytes).putInt(typeBytes).putInt(strings.size());
        types.forEach(out::putInt);
        return out.put(strings.toByteArray()).array();
    }

    private static byte[] bytes(List<int[]> records) {
        ByteBuffer out = ByteBuffer.allocate(16 * records.size()).order(ByteOrder.nativeOrder());
        for (int[] record : records) {
            for (int word : record) {
                out.putInt(word);
            }
        }
        return java.util.Arrays.copyOf(out.array(), out.position());
    }
}
