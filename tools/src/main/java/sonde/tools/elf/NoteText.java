package sonde.tools.elf;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfNote;

/** What notes say, in words, a line for each fact. */
final class NoteText {
    private static final List<String> SYSTEMS =
            List.of("Linux", "Hurd", "Solaris", "FreeBSD", "NetBSD", "Syllable", "NaCl");

    /** What begins the line of a note that has no other words. */
    static final String RAW = "description data: ";

    private static final int SHOWN_BYTES = 4096;
    private static final int FILE_LIMIT = 10_000;
    private static final int GNU_PROPERTY_STACK_SIZE = 1;
    private static final int GNU_PROPERTY_NO_COPY_ON_PROTECTED = 2;
    private static final int GNU_PROPERTY_1_NEEDED = 0xb0008000;
    private static final int X86_FEATURE_1_AND = 0xc0000002;
    private static final int X86_ISA_1_NEEDED = 0xc0008002;
    private static final int X86_ISA_1_USED = 0xc0010002;
    private static final int X86_FEATURE_2_USED = 0xc0010001;
    private static final int AARCH64_FEATURE_1_AND = 0xc0000000;
    private static final int NT_FILE = 0x46494c45;
    private static final int NT_PRPSINFO = 3;
    private static final int NT_PRSTATUS = 1;

    private NoteText() {}

    static List<String> of(ElfFile elf, ElfNote note) {
        ByteBuffer bytes = ByteBuffer.wrap(note.description()).order(elf.order());
        try {
            return switch (note.owner()) {
                case "GNU" -> gnu(elf, note.type(), bytes);
                case "stapsdt" -> note.type() == 3 ? usdt(elf, bytes) : raw(bytes);
                case "FDO" -> texts("Packaging Metadata: ", bytes);
                case "Go" -> go(note.type(), bytes);
                case "CORE" -> core(elf, note.type(), bytes);
                default -> raw(bytes);
            };
        } catch (BufferUnderflowException | IllegalArgumentException e) {
            return List.of("<corrupt: " + HexFormat.of().formatHex(head(note)) + ">");
        }
    }

    private static byte[] head(ElfNote note) {
        byte[] all = note.description();
        return java.util.Arrays.copyOf(all, Math.min(SHOWN_BYTES, all.length));
    }

    private static List<String> raw(ByteBuffer bytes) {
        if (!bytes.hasRemaining()) {
            return List.of();
        }
        byte[] shown = new byte[Math.min(SHOWN_BYTES, bytes.remaining())];
        boolean cut = shown.length < bytes.remaining();
        bytes.get(shown);
        String hex = HexFormat.ofDelimiter(" ").formatHex(shown);
        return List.of(RAW + hex + (cut ? " ..." : ""));
    }

    private static List<String> texts(String title, ByteBuffer bytes) {
        return List.of(title + text(bytes));
    }

    private static String text(ByteBuffer bytes) {
        int from = bytes.position();
        while (bytes.hasRemaining() && bytes.get() != 0) {
            // to the zero
            continue;
        }
        int end = bytes.position();
        boolean zero = end > from && bytes.get(end - 1) == 0;
        return new String(bytes.array(), from, end - from - (zero ? 1 : 0), StandardCharsets.UTF_8);
    }

    private static long address(ElfFile elf, ByteBuffer bytes) {
        return elf.is64() ? bytes.getLong() : Integer.toUnsignedLong(bytes.getInt());
    }

    private static List<String> gnu(ElfFile elf, int type, ByteBuffer bytes) {
        return switch (type) {
            case 1 -> {
                int system = bytes.getInt();
                String name =
                        system >= 0 && system < SYSTEMS.size() ? SYSTEMS.get(system) : "Unknown";
                yield List.of(
                        "OS: %s, ABI: %d.%d.%d"
                                .formatted(name, bytes.getInt(), bytes.getInt(), bytes.getInt()));
            }
            case 3 -> List.of("Build ID: " + HexFormat.of().formatHex(bytes.array()));
            case 4 -> List.of("Version: " + text(bytes));
            case 5 -> List.of("  Properties: " + String.join(", ", properties(elf, bytes)));
            default -> raw(bytes);
        };
    }

    /** Each: type u32, size u32, data, filled up to the size of an address. */
    static List<String> properties(ElfFile elf, ByteBuffer bytes) {
        List<String> words = new ArrayList<>();
        int step = elf.is64() ? 8 : 4;
        while (bytes.remaining() >= 8) {
            int type = bytes.getInt();
            int size = bytes.getInt();
            if (size < 0 || size > bytes.remaining()) {
                words.add("<corrupt length: %x>".formatted(size));
                break;
            }
            int end = bytes.position() + size;
            words.add(property(elf, type, size, bytes));
            bytes.position(Math.min(bytes.limit(), (end + step - 1) & -step));
        }
        return words;
    }

    private static String property(ElfFile elf, int type, int size, ByteBuffer bytes) {
        if (type == GNU_PROPERTY_STACK_SIZE) {
            return "stack size: " + ElfWording.hex(address(elf, bytes));
        }
        if (type == GNU_PROPERTY_NO_COPY_ON_PROTECTED) {
            return "no copy on protected ";
        }
        boolean x86 = elf.machine() == ElfFile.EM_X86_64 || elf.machine() == ElfFile.EM_386;
        if (size == 4) {
            int bits = bytes.getInt();
            if (type == GNU_PROPERTY_1_NEEDED) {
                return "1_needed: " + bits(bits, List.of("indirect external access"));
            }
            if (x86 && type == X86_FEATURE_1_AND) {
                return "x86 feature: " + bits(bits, List.of("IBT", "SHSTK", "LAM_U48", "LAM_U57"));
            }
            if (x86 && type == X86_FEATURE_2_USED) {
                List<String> names =
                        List.of(
                                """
                                x86 x87 MMX XMM YMM ZMM FXSR XSAVE XSAVEOPT XSAVEC \
                                TMM MASK\
                                """
                                        .split(" "));
                return "x86 feature used: " + bits(bits, names);
            }
            if (x86 && (type == X86_ISA_1_NEEDED || type == X86_ISA_1_USED)) {
                String what = type == X86_ISA_1_NEEDED ? "x86 ISA needed: " : "x86 ISA used: ";
                return what
                        + bits(
                                bits,
                                List.of("x86-64-baseline", "x86-64-v2", "x86-64-v3", "x86-64-v4"));
            }
            if (elf.machine() == ElfFile.EM_AARCH64 && type == AARCH64_FEATURE_1_AND) {
                return "AArch64 feature: " + bits(bits, List.of("BTI", "PAC", "GCS"));
            }
        }
        return "<type 0x%x, %d bytes>".formatted(type, size);
    }

    private static String bits(int value, List<String> names) {
        List<String> words = new ArrayList<>();
        for (int bit = 0; bit < 32; bit++) {
            if ((value >>> bit & 1) != 0) {
                words.add(
                        bit < names.size() ? names.get(bit) : "<unknown: %x>".formatted(1 << bit));
            }
        }
        return words.isEmpty() ? "<None>" : String.join(", ", words);
    }

    /** Addresses of probe, base and semaphore; provider, name, arguments. */
    private static List<String> usdt(ElfFile elf, ByteBuffer bytes) {
        long location = address(elf, bytes);
        long base = address(elf, bytes);
        long semaphore = address(elf, bytes);
        String provider = text(bytes);
        String name = text(bytes);
        return List.of(
                "Provider: " + provider,
                "Name: " + name,
                "Location: 0x%s, Base: 0x%s, Semaphore: 0x%s"
                        .formatted(
                                ElfWording.address(elf, location),
                                ElfWording.address(elf, base),
                                ElfWording.address(elf, semaphore)),
                "Arguments: " + text(bytes));
    }

    private static List<String> go(int type, ByteBuffer bytes) {
        return type == 4 || type == 1 || type == 3 ? texts("Build ID: ", bytes) : raw(bytes);
    }

    private static List<String> core(ElfFile elf, int type, ByteBuffer bytes) {
        return switch (type) {
            case NT_FILE -> files(elf, bytes);
            case NT_PRPSINFO -> command(bytes);
            case NT_PRSTATUS -> {
                // elf_siginfo 3 x i32, cursig i16, sigpend, sighold, pid
                int signal = bytes.getShort(12);
                int pid = bytes.getInt(elf.is64() ? 32 : 24);
                yield List.of("signal " + signal + ", thread " + pid);
            }
            default -> List.of();
        };
    }

    /** elf_prpsinfo: pid and, at the end of every form of it, the two texts. */
    private static List<String> command(ByteBuffer bytes) {
        int size = bytes.remaining();
        int nameAt = size - 96;
        // pid, ppid, pgrp, sid; how long the ids of user and group before them are differs
        int pidAt = nameAt - 16;
        if (pidAt < 8) {
            return raw(bytes);
        }
        int pid = bytes.getInt(pidAt);
        bytes.position(nameAt);
        ByteBuffer name = bytes.slice(nameAt, 16);
        byte[] comm = new byte[16];
        name.get(comm);
        byte[] arguments = new byte[80];
        bytes.position(nameAt + 16).get(arguments);
        return List.of(
                "process " + pid + ": " + text(ByteBuffer.wrap(comm)),
                "command: " + text(ByteBuffer.wrap(arguments)));
    }

    /** count, page size; start, end, offset in pages of each; then the names. */
    private static List<String> files(ElfFile elf, ByteBuffer bytes) {
        long count = address(elf, bytes);
        long page = address(elf, bytes);
        int entry = 3 * (elf.is64() ? 8 : 4);
        if (count < 0 || count > bytes.remaining() / entry) {
            throw new IllegalArgumentException("count");
        }
        List<String> lines = new ArrayList<>(List.of("Page size: " + page));
        long[] numbers = new long[(int) count * 3];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = address(elf, bytes);
        }
        for (int i = 0; i < count && lines.size() < FILE_LIMIT; i++) {
            lines.add(
                    "0x%s  0x%s  0x%s %s"
                            .formatted(
                                    ElfWording.address(elf, numbers[3 * i]),
                                    ElfWording.address(elf, numbers[3 * i + 1]),
                                    ElfWording.address(elf, numbers[3 * i + 2]),
                                    text(bytes)));
        }
        return lines;
    }
}
