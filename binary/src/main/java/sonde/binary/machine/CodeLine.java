package sonde.binary.machine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The instructions around a fault, from the line {@code Code:} of a kernel log. x86 marks the first
 * byte of the faulting instruction as {@code <0f>}, arm64 its word as {@code (d4210000)}.
 *
 * @param instructions addresses count from {@code address}
 * @param marked index of the faulting instruction; -1 without a mark
 * @param skipped bytes before the first instruction, which belong to a cut one
 */
public record CodeLine(List<MachineInstruction> instructions, int marked, int skipped) {
    /** The kernel prints 64 bytes for x86, arm64 five words; serial lines may add some. */
    private static final int MAX_BYTES = 512;

    private static final Pattern CELL =
            Pattern.compile("([<(])?([0-9a-fA-F]{8}|[0-9a-fA-F]{4}|[0-9a-fA-F]{2})([>)])?");

    /**
     * @param bytes in the order of memory
     * @param mark offset of the faulting instruction; -1 without a mark
     */
    public record CodeBytes(byte[] bytes, int mark) {}

    public MachineInstruction fault() {
        return instructions.get(marked);
    }

    /**
     * Reads the text behind {@code Code:}; it ends at the first word that is not part of it.
     *
     * @param wordsOfNumbers whether a word of several bytes is a number of a little-endian machine,
     *     as arm64 prints it
     */
    public static Optional<CodeBytes> parse(String text, boolean wordsOfNumbers) {
        byte[] bytes = new byte[MAX_BYTES];
        int count = 0;
        int mark = -1;
        for (String word : text.strip().split("\\s+", MAX_BYTES + 1)) {
            Matcher cell = CELL.matcher(word);
            if (!cell.matches() || count + 4 > MAX_BYTES) {
                break;
            }
            boolean opened = cell.group(1) != null;
            if (opened != (cell.group(3) != null) || opened && mark >= 0) {
                break;
            }
            mark = opened ? count : mark;
            String digits = cell.group(2);
            int size = digits.length() / 2;
            long value = Long.parseLong(digits, 16);
            for (int i = 0; i < size; i++) {
                int place = wordsOfNumbers ? i : size - 1 - i;
                bytes[count++] = (byte) (value >> 8 * place);
            }
        }
        return count == 0
                ? Optional.empty()
                : Optional.of(new CodeBytes(Arrays.copyOf(bytes, count), mark));
    }

    /**
     * Decodes the bytes. Those of x86 may begin inside an instruction: of the starts from which
     * decoding meets the mark, the one is taken whose instructions before it are all valid and that
     * skips the fewest bytes.
     *
     * @param address of the faulting instruction, or of the first byte without a mark
     */
    public static CodeLine of(MachineDecoder decoder, CodeBytes code, long address) {
        byte[] bytes = code.bytes();
        int mark = Math.max(code.mark(), 0);
        int start = start(decoder, bytes, mark);
        List<MachineInstruction> all = new ArrayList<>();
        for (int at = start; at < mark; ) {
            MachineInstruction one = decoder.decode(bytes, at, mark, address + at - mark);
            all.add(one);
            at += one.length();
        }
        int marked = code.mark() < 0 ? -1 : all.size();
        for (int at = mark; at < bytes.length; ) {
            MachineInstruction one = decoder.decode(bytes, at, bytes.length, address + at - mark);
            boolean cut = !one.isValid() && at + MachineDecoder.MAX_LENGTH > bytes.length;
            if (cut && at > mark) {
                break;
            }
            all.add(one);
            at += one.length();
        }
        return new CodeLine(List.copyOf(all), marked, start);
    }

    /**
     * Decoding x86 from a wrong start falls into step with the true one after a few instructions.
     */
    private static int start(MachineDecoder decoder, byte[] bytes, int mark) {
        int best = mark;
        long bestCost = Long.MAX_VALUE;
        for (int start = 0; start < Math.min(mark, MachineDecoder.MAX_LENGTH); start++) {
            int at = start;
            int bad = 0;
            while (at < mark) {
                MachineInstruction one = decoder.decode(bytes, at, mark, at);
                bad += one.isValid() ? 0 : 1;
                at += one.length();
            }
            // A padding byte decoded as part of an instruction costs less than a bad instruction.
            long cost = bad * 1000L + start;
            if (at == mark && cost < bestCost) {
                bestCost = cost;
                best = start;
            }
        }
        return best;
    }
}
