package sonde.recording.ftrace;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import sonde.event.Batch;
import sonde.recording.ftrace.PrintExpression.NumberExpression;
import sonde.recording.ftrace.PrintExpression.PayloadArray;

/** An argument that is text: what {@code %s} takes. */
sealed interface PrintArgument extends PrintExpression {
    /** Appends the text of that row. */
    void append(TextBuffer out, Batch batch, int row);

    record ConstantText(byte[] text) implements PrintArgument {
        @Override
        public void append(TextBuffer out, Batch batch, int row) {
            out.put(text);
        }
    }

    /** A string in the payload. */
    record PayloadText(PayloadArray place) implements PrintArgument {
        @Override
        public void append(TextBuffer out, Batch batch, int row) {
            int offset = place.offset(batch, row);
            out.text(batch, row, offset, place.sizeBytes(batch, row));
        }
    }

    /** A {@code const char *}: only strings that the kernel listed can be told. */
    record PointedText(NumberExpression address, TextContext context) implements PrintArgument {
        @Override
        public void append(TextBuffer out, Batch batch, int row) {
            long value = address.of(batch, row);
            byte[] text = context.printk(value);
            if (text != null) {
                out.put(text);
            } else {
                out.hex(value, 1);
            }
        }
    }

    record TextChoice(NumberExpression condition, PrintArgument yes, PrintArgument no)
            implements PrintArgument {
        @Override
        public void append(TextBuffer out, Batch batch, int row) {
            (condition.of(batch, row) != 0 ? yes : no).append(out, batch, row);
        }
    }

    /** Texts one behind the other. */
    record JoinedTexts(List<PrintArgument> texts) implements PrintArgument {
        @Override
        public void append(TextBuffer out, Batch batch, int row) {
            for (PrintArgument text : texts) {
                text.append(out, batch, row);
            }
        }
    }

    /** What {@code trace_seq_printf} prints. */
    record Formatted(List<PrintConversion> pieces) implements PrintArgument {
        @Override
        public void append(TextBuffer out, Batch batch, int row) {
            for (PrintConversion piece : pieces) {
                piece.append(out, batch, row);
            }
        }
    }

    /** An element of an array of texts; nothing beyond its end. */
    record PickedText(NumberExpression index, List<PrintArgument> texts) implements PrintArgument {
        @Override
        public void append(TextBuffer out, Batch batch, int row) {
            long i = index.of(batch, row);
            if (i >= 0 && i < texts.size()) {
                texts.get((int) i).append(out, batch, row);
            }
        }
    }

    /** {@code __get_stacktrace}: a line for each address of an array of longs. */
    record StackTraceText(PayloadArray addresses, TextContext context) implements PrintArgument {
        @Override
        public void append(TextBuffer out, Batch batch, int row) {
            int longBytes = context.longBytes();
            int at = addresses.offset(batch, row);
            int end = at + addresses.sizeBytes(batch, row);
            for (; at + longBytes <= end; at += longBytes) {
                long address = PayloadArray.integer(batch, row, at, longBytes);
                if (address == -1 || longBytes == 4 && (int) address == -1) {
                    break;
                }
                out.put("\n=> ");
                PointerText.symbol(out, context, address, true);
            }
        }
    }

    /** {@code __print_flags}: names of the bits, the rest in hexadecimal. */
    record Flags(
            NumberExpression value, byte[] delimiter, long[] masks, byte[][] names, TextMemo memo)
            implements PrintArgument {
        @Override
        public void append(TextBuffer out, Batch batch, int row) {
            long bits = value.of(batch, row);
            byte[] known = memo.find(bits);
            if (known == null) {
                int start = out.size();
                write(out, bits);
                memo.keep(bits, out.since(start));
            } else {
                out.put(known);
            }
        }

        private void write(TextBuffer out, long bits) {
            long left = bits;
            boolean some = false;
            for (int i = 0; i < masks.length; i++) {
                long mask = masks[i];
                if (bits == 0 && mask == 0) {
                    out.put(names[i]);
                    return;
                }
                if (mask != 0 && (left & mask) == mask) {
                    out.put(some ? delimiter : new byte[0]).put(names[i]);
                    some = true;
                    left &= ~mask;
                }
            }
            if (left != 0) {
                out.put(some ? delimiter : new byte[0]).put('0').put('x').hex(left, 1);
            }
        }
    }

    /** {@code __print_symbolic}: the name of the value, else it in hexadecimal. */
    record Symbolic(NumberExpression value, long[] values, byte[][] names)
            implements PrintArgument {
        @Override
        public void append(TextBuffer out, Batch batch, int row) {
            long found = value.of(batch, row);
            for (int i = 0; i < values.length; i++) {
                if (values[i] == found) {
                    out.put(names[i]);
                    return;
                }
            }
            // As wide as the value is: a negative int has eight digits, not sixteen.
            long shown = value.type().sizeBytes() == 8 ? found : found & 0xffff_ffffL;
            out.put('0').put('x').hex(shown, 1);
        }
    }

    /** {@code __print_hex}, {@code __print_hex_str}: bytes with or without blanks between. */
    record Hex(PayloadArray bytes, NumberExpression count, boolean spaced)
            implements PrintArgument {
        @Override
        public void append(TextBuffer out, Batch batch, int row) {
            int offset = bytes.offset(batch, row);
            int room = batch.payloadBytes(row) - offset;
            int length = (int) Math.max(0, Math.min(room, count.of(batch, row)));
            for (int i = 0; i < length; i++) {
                if (spaced && i > 0) {
                    out.put(' ');
                }
                out.hex(batch.u8(row, offset + i), 2);
            }
        }
    }

    /** {@code __print_array} and its kin: {@code {0x1,0x2}}. */
    record Integers(PayloadArray array, NumberExpression count, int elementBytes)
            implements PrintArgument {
        @Override
        public void append(TextBuffer out, Batch batch, int row) {
            int offset = array.offset(batch, row);
            int room = (batch.payloadBytes(row) - offset) / elementBytes;
            int length = (int) Math.max(0, Math.min(room, count.of(batch, row)));
            out.put('{');
            for (int i = 0; i < length; i++) {
                if (i > 0) {
                    out.put(',');
                }
                long element =
                        PayloadArray.integer(batch, row, offset + i * elementBytes, elementBytes);
                out.put('0').put('x').hex(element, 1);
            }
            out.put('}');
        }
    }

    /** {@code __get_bitmask}: words of 32 bits, the highest first. */
    record Bitmask(PayloadArray mask, TextContext context) implements PrintArgument {
        @Override
        public void append(TextBuffer out, Batch batch, int row) {
            int offset = mask.offset(batch, row);
            int bytes = mask.sizeBytes(batch, row);
            for (int i = bytes - 1; i >= 0; i--) {
                int at = context.isBigEndian() ? bytes - 1 - i : i;
                out.hex(batch.u8(row, offset + at), 2);
                if (i > 0 && i % 4 == 0) {
                    out.put(',');
                }
            }
        }
    }

    /** {@code __get_cpumask}: {@code 0-3,8}. */
    record CpuList(PayloadArray mask, TextContext context) implements PrintArgument {
        @Override
        public void append(TextBuffer out, Batch batch, int row) {
            int offset = mask.offset(batch, row);
            int bytes = mask.sizeBytes(batch, row);
            int first = -1;
            boolean some = false;
            for (int bit = 0; bit <= bytes * 8; bit++) {
                int at = context.isBigEndian() ? bytes - 1 - bit / 8 : bit / 8;
                boolean set = bit < bytes * 8 && (batch.u8(row, offset + at) >> bit % 8 & 1) != 0;
                if (set && first < 0) {
                    first = bit;
                } else if (!set && first >= 0) {
                    out.put(some ? new byte[] {','} : new byte[0]).decimal(first);
                    if (bit - 1 > first) {
                        out.put('-').decimal(bit - 1);
                    }
                    some = true;
                    first = -1;
                }
            }
        }
    }

    /** A text that is always the same. */
    static PrintArgument literal(String text) {
        return new ConstantText(text.getBytes(StandardCharsets.UTF_8));
    }

    /** The last texts of a few values; entries are replaced by whoever comes. */
    final class TextMemo {
        private static final int SLOTS = 64;
        private final AtomicReferenceArray<Entry> slots = new AtomicReferenceArray<>(SLOTS);

        private record Entry(long value, byte[] text) {}

        byte @org.jspecify.annotations.Nullable [] find(long value) {
            Entry entry = slots.getPlain(slot(value));
            return entry != null && entry.value == value ? entry.text : null;
        }

        void keep(long value, byte[] text) {
            slots.setRelease(slot(value), new Entry(value, text));
        }

        private static int slot(long value) {
            return (int) ((value * 0x9e3779b97f4a7c15L) >>> 58);
        }
    }
}
