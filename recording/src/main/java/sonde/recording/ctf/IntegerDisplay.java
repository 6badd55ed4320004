package sonde.recording.ctf;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.recording.ctf.schema.FieldClass;
import sonde.recording.ctf.schema.FieldClass.BitField;
import sonde.recording.ctf.schema.FieldClass.BitMeaning;
import sonde.recording.ctf.schema.LabelRanges;
import sonde.recording.ftrace.TextBuffer;

/** How integers are shown: base, labels and where they lie in a payload. */
final class IntegerDisplay {
    private static final char[] DIGITS = "0123456789ABCDEF".toCharArray();
    private static final byte[] UNKNOWN = "<unknown>".getBytes(StandardCharsets.US_ASCII);

    /** Bits of the integer in the trace; 64 for those of variable length. */
    final int bits;

    final int storedBytes;
    final boolean signed;
    final BitMeaning meaning;
    private final int base;
    private final List<LabelRanges> mappings;
    private final byte[][] labels;

    private IntegerDisplay(
            int bits,
            int storedBytes,
            boolean signed,
            BitMeaning meaning,
            int base,
            List<LabelRanges> mappings) {
        this.bits = bits;
        this.storedBytes = storedBytes;
        this.signed = signed;
        this.meaning = meaning;
        this.base = base;
        this.mappings = mappings;
        this.labels = new byte[mappings.size()][];
        for (int i = 0; i < labels.length; i++) {
            TextBuffer quoted = new TextBuffer(32);
            QuotedText.append(quoted, mappings.get(i).label());
            labels[i] = quoted.since(0);
        }
    }

    /** The shape of an integer field; null for any other. */
    static @Nullable IntegerDisplay of(FieldClass type) {
        return switch (type) {
            case BitField bits ->
                    new IntegerDisplay(
                            bits.bits(),
                            PayloadLayout.storedBytes(bits),
                            bits.signed(),
                            bits.meaning(),
                            bits.base(),
                            bits.mappings());
            case FieldClass.VariableInteger one -> {
                boolean named = !one.mappings().isEmpty();
                BitMeaning meaning = named ? BitMeaning.ENUMERATION : BitMeaning.INTEGER;
                yield new IntegerDisplay(64, 8, one.signed(), meaning, one.base(), one.mappings());
            }
            default -> null;
        };
    }

    /** Whether values are shown as decimal numbers alone. */
    boolean isDecimal() {
        return meaning == BitMeaning.INTEGER && base != 2 && base != 8 && base != 16;
    }

    /** The value at an offset of a payload. */
    long value(Batch batch, int row, int offset) {
        long value =
                switch (storedBytes) {
                    case 1 -> batch.u8(row, offset);
                    case 2 -> batch.u16(row, offset);
                    case 4 -> batch.u32(row, offset) & 0xffff_ffffL;
                    default -> batch.u64(row, offset);
                };
        return signed ? BitReader.signed(value, 8 * storedBytes) : value;
    }

    /** Appends a value as babeltrace2 shows it. */
    void append(TextBuffer out, long value) {
        switch (meaning) {
            case INTEGER -> number(out, value);
            case BOOLEAN -> out.put(value != 0 ? "true" : "false");
            case BITS -> radix(out.put("0x"), value, 4);
            case BIT_MAP -> {
                radix(out.put("0x"), value, 4);
                String names = String.join(", ", flags(value));
                if (!names.isEmpty()) {
                    out.put(" (").put(names).put(')');
                }
            }
            case ENUMERATION -> {
                out.put("( ");
                labels(out, value);
                number(out.put(" : container = "), value);
                out.put(" )");
            }
        }
    }

    private void labels(TextBuffer out, long value) {
        int found = 0;
        int start = out.size();
        for (int i = 0; i < labels.length; i++) {
            if (mappings.get(i).contains(value, signed)) {
                if (found++ > 0) {
                    out.put(", ");
                }
                out.put(labels[i]);
            }
        }
        if (found == 0) {
            out.put(UNKNOWN);
        } else if (found > 1) {
            byte[] all = out.since(start);
            out.truncate(start);
            out.put("{ ").put(all).put(" }");
        }
    }

    /** Names that hold for a value: of an enumeration its labels, of a bit map its flags. */
    List<String> names(long value) {
        if (meaning == BitMeaning.BIT_MAP) {
            return flags(value);
        }
        List<String> names = new ArrayList<>();
        if (meaning == BitMeaning.ENUMERATION) {
            for (LabelRanges mapping : mappings) {
                if (mapping.contains(value, signed)) {
                    names.add(mapping.label());
                }
            }
        }
        return names;
    }

    private List<String> flags(long value) {
        List<String> names = new ArrayList<>();
        for (LabelRanges mapping : mappings) {
            for (int bit = 0; bit < bits; bit++) {
                if ((value >>> bit & 1) != 0 && mapping.contains(bit, false)) {
                    names.add(mapping.label());
                    break;
                }
            }
        }
        return names;
    }

    private void number(TextBuffer out, long value) {
        switch (base) {
            case 2 -> {
                out.put("0b");
                for (int bit = bits - 1; bit >= 0; bit--) {
                    out.put((value >>> bit & 1) != 0 ? '1' : '0');
                }
            }
            case 8 -> radix(out.put('0'), signed ? rounded(value, 3) : value, 3);
            case 16 -> radix(out.put("0x"), rounded(value, 4), 4);
            default -> {
                if (signed) {
                    out.decimal(value);
                } else {
                    out.unsigned(value);
                }
            }
        }
    }

    /** Cuts a negative value to the bits that its size needs in whole digits. */
    private long rounded(long value, int digitBits) {
        int count = (bits + digitBits - 1) / digitBits * digitBits;
        return bits < 64 && count < 64 ? value & (1L << count) - 1 : value;
    }

    private static void radix(TextBuffer out, long value, int digitBits) {
        int digits =
                Math.max(1, (64 - Long.numberOfLeadingZeros(value) + digitBits - 1) / digitBits);
        for (int i = digits - 1; i >= 0; i--) {
            out.put(DIGITS[(int) (value >>> i * digitBits) & (1 << digitBits) - 1]);
        }
    }
}
