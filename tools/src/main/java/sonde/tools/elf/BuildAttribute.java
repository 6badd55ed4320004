package sonde.tools.elf;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfNote;
import sonde.binary.elf.ElfSymbols;

/**
 * A note of annobin: how the code of a region was compiled. What stands in the place of the owner
 * is {@code GA}, a letter for the kind of value, what is told of, and the value (the Watermark
 * specification, "Toolchain/Watermark").
 */
final class BuildAttribute {
    /** NT_GNU_BUILD_ATTRIBUTE_OPEN and _FUNC: of what follows, too, and of one function. */
    private static final int OPEN = 0x100;

    private static final int FUNCTION = 0x101;
    private static final int TEXT_LIMIT = 1 << 10;
    private static final int STACK_PROTECTOR = 2;
    private static final int PIC = 7;

    private static final List<String> SUBJECTS =
            List.of(
                    "",
                    "<version>",
                    "<stack prot>",
                    "<relro>",
                    "<stack size>",
                    "<tool>",
                    "<ABI>",
                    "<PIC>",
                    "<short enum>");
    private static final List<String> PROTECTION =
            List.of("off", "on", "all", "strong", "explicit");
    private static final List<String> POSITION = List.of("static", "pic", "PIC", "pie", "PIE");

    private BuildAttribute() {}

    static boolean is(ElfNote note) {
        return (note.type() == OPEN || note.type() == FUNCTION)
                && note.name().length > 3
                && note.owner().startsWith("GA")
                && note.owner().length() > 2;
    }

    /** The owner in words: {@code GA*<stack prot>strong}. */
    static String name(ElfNote note) {
        byte[] bytes = note.name();
        int subject = bytes[3];
        StringBuilder name = new StringBuilder(note.owner().substring(0, 3));
        int at = 4;
        if (subject > 0 && subject < SUBJECTS.size()) {
            name.append(SUBJECTS.get(subject));
        } else {
            at = 3;
            while (at < bytes.length && bytes[at] >= ' ') {
                name.append((char) bytes[at++]);
            }
            name.append(':');
            at++;
        }
        return name.append(value((char) bytes[2], subject, bytes, at)).toString();
    }

    private static String value(char kind, int subject, byte[] bytes, int at) {
        return switch (kind) {
            case '*' -> {
                long number = 0;
                for (int i = Math.min(bytes.length, at + 8) - 1; i >= at; i--) {
                    number = number << 8 | bytes[i] & 0xff;
                }
                List<String> words =
                        subject == STACK_PROTECTOR
                                ? PROTECTION
                                : subject == PIC ? POSITION : List.of();
                yield number >= 0 && number < words.size()
                        ? words.get((int) number)
                        : ElfWording.hex(number);
            }
            case '$' -> {
                int end = at;
                while (end < bytes.length && end - at < TEXT_LIMIT && bytes[end] != 0) {
                    end++;
                }
                yield new String(
                        bytes, Math.min(at, end), Math.max(0, end - at), StandardCharsets.UTF_8);
            }
            case '+' -> "true";
            case '!' -> "false";
            default -> "";
        };
    }

    /** The regions of the notes of a section, one after the other. */
    static final class NoteRegions {
        private final ElfFile elf;
        private final Map<Long, Integer> functions = new HashMap<>();
        private final Map<Long, Integer> others = new HashMap<>();
        private final @Nullable ElfSymbols symbols;
        private String open = "from 0";
        private String function = "";

        NoteRegions(ElfFile elf) throws MalformedInputException {
            this.elf = elf;
            ElfSymbols all = elf.symbols(ElfFile.SHT_SYMTAB).orElse(null);
            symbols = all;
            if (all != null) {
                for (int i = 1; i < all.count(); i++) {
                    add(all, i);
                }
            }
        }

        private void add(ElfSymbols all, int i) {
            int type = all.type(i);
            boolean named = all.section(i) != 0 && all.nameOffset(i) != 0;
            if (named && type == ElfSymbols.STT_FUNC) {
                functions.putIfAbsent(all.value(i), i);
            } else if (named && type != ElfSymbols.STT_SECTION) {
                others.merge(all.value(i), i, this::better);
            }
        }

        /** In a region of several functions, an object or file goes before a label. */
        private int better(int known, int other) {
            ElfSymbols all = Objects.requireNonNull(symbols);
            boolean isLabel = all.type(other) == ElfSymbols.STT_NOTYPE;
            boolean isFinal =
                    all.type(known) != ElfSymbols.STT_NOTYPE
                            && all.binding(known) == ElfSymbols.STB_GLOBAL;
            return isLabel || isFinal ? known : other;
        }

        /** The region; of a note without one that of the note before it of its kind. */
        String of(ElfNote note) {
            boolean isOpen = note.type() == OPEN;
            ByteBuffer bytes = ByteBuffer.wrap(note.description()).order(elf.order());
            if (!bytes.hasRemaining()) {
                return "Applies to region " + (isOpen || function.isEmpty() ? open : function);
            }
            boolean wide = bytes.remaining() >= 16;
            try {
                long start = wide ? bytes.getLong() : Integer.toUnsignedLong(bytes.getInt());
                long end =
                        !bytes.hasRemaining()
                                ? 0
                                : wide ? bytes.getLong() : Integer.toUnsignedLong(bytes.getInt());
                Integer symbol = (isOpen ? others : functions).get(start);
                ElfSymbols all = symbols;
                String name = all == null || symbol == null ? "" : all.name(symbol);
                if (all != null && symbol != null && end == 0 && all.size(symbol) > 0) {
                    end = start + all.size(symbol);
                }
                String region = "from " + (start == 0 ? "0" : ElfWording.hex(start));
                region += end == 0 ? "" : " to " + ElfWording.hex(end);
                if (isOpen) {
                    open = region;
                } else {
                    function = region;
                }
                return "Applies to region " + region + (name.isEmpty() ? "" : " (" + name + ")");
            } catch (BufferUnderflowException e) {
                return "<corrupt>";
            }
        }
    }
}
