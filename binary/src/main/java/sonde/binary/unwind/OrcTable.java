package sonde.binary.unwind;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSection;
import sonde.binary.unwind.OrcEntry.OrcRegister;
import sonde.binary.unwind.OrcEntry.OrcType;

/**
 * ORC of an x86-64 kernel: {@code .orc_unwind_ip} has an offset for each place of the code,
 * relative to itself and sorted by the build, {@code .orc_unwind} the entries beside. Works on a
 * vmlinux and on copies of the two out of a kernel's memory.
 */
public final class OrcTable {
    private static final int ENTRY_BYTES = 6;
    private static final long MOST_ENTRIES = 1L << 26;
    private static final List<OrcRegister> BEFORE_7_1 =
            List.of(
                    OrcRegister.UNDEFINED,
                    OrcRegister.PREV_SP,
                    OrcRegister.DX,
                    OrcRegister.DI,
                    OrcRegister.BP,
                    OrcRegister.SP,
                    OrcRegister.R10,
                    OrcRegister.R13,
                    OrcRegister.BP_INDIRECT,
                    OrcRegister.SP_INDIRECT,
                    OrcRegister.AX);
    private static final List<OrcRegister> FROM_7_1 =
            List.of(
                    OrcRegister.UNDEFINED,
                    OrcRegister.AX,
                    OrcRegister.DX,
                    OrcRegister.SP,
                    OrcRegister.BP,
                    OrcRegister.DI,
                    OrcRegister.R10,
                    OrcRegister.R13,
                    OrcRegister.PREV_SP,
                    OrcRegister.SP_INDIRECT,
                    OrcRegister.BP_INDIRECT);

    /**
     * How the bits of an entry lie. {@code .orc_header} has a hash of the C declarations (scripts/
     * orc_hash.sh, commit b9f174c811e3 in 6.4); before, only the release tells.
     */
    public enum OrcLayout {
        /** Two bits of type, then "end". */
        LINUX_4_14("", BEFORE_7_1),
        /** Commit ffb1b4a41016: "signal" before "end". */
        LINUX_6_3("db84aed4103b31dd51e017f8f79783ca985c2c51", BEFORE_7_1),
        /** Commit fb799447ae29: three bits of type, no "end". */
        LINUX_6_4("fe5d32bf581bd63b2ca9a5c65ba5a625eab3fe24", BEFORE_7_1),
        /** With ORC_REG_AX as 10, in stable kernels. */
        LINUX_6_4_AX("edfa4d15552fdd2e1d56679728416379f2fe4534", BEFORE_7_1),
        /** Registers in another order. */
        LINUX_7_1("137c36ad7627c4dd55932176bb0ecdbd5041fc82", FROM_7_1);

        private final String hash;
        private final List<OrcRegister> bases;

        OrcLayout(String hash, List<OrcRegister> bases) {
            this.hash = hash;
            this.bases = bases;
        }

        /** The layout of a header's 20 bytes; empty for one that is not known here. */
        public static Optional<OrcLayout> ofHeader(byte[] header) {
            String found = HexFormat.of().formatHex(header);
            return Arrays.stream(values()).filter(one -> one.hash.equals(found)).findFirst();
        }

        /** The layout of a release as {@code uname -r} names it, for kernels without a header. */
        public static OrcLayout ofRelease(String release) {
            String[] words = release.split("[^0-9]+", 3);
            int major = words.length > 0 ? number(words[0]) : 0;
            int minor = words.length > 1 ? number(words[1]) : 0;
            if (major > 7 || major == 7 && minor >= 1) {
                return LINUX_7_1;
            }
            if (major == 7 || major == 6 && minor >= 4) {
                return LINUX_6_4;
            }
            return major == 6 && minor == 3 ? LINUX_6_3 : LINUX_4_14;
        }

        private static int number(String digits) {
            return digits.isEmpty() || digits.length() > 4 ? 0 : Integer.parseInt(digits);
        }
    }

    private final OrcLayout layout;
    private final long address;
    private final int[] offsets;
    private final byte[] entries;

    /**
     * From the two tables as they lie, of a little-endian kernel.
     *
     * @param address of the first offset
     * @throws MalformedInputException when their sizes do not fit or are too large
     */
    public OrcTable(OrcLayout layout, long address, byte[] offsets, byte[] entries)
            throws MalformedInputException {
        long count = offsets.length / 4;
        if (count * ENTRY_BYTES != entries.length || count > MOST_ENTRIES) {
            throw new MalformedInputException(
                    "ELF", ".orc_unwind", -1, entries.length + " bytes for " + count + " places");
        }
        this.layout = layout;
        this.address = address;
        this.entries = entries.clone();
        MemorySegment places = MemorySegment.ofArray(offsets);
        this.offsets = new int[(int) count];
        for (int i = 0; i < count; i++) {
            this.offsets[i] = places.get(ValueLayout.JAVA_INT_UNALIGNED, 4L * i);
        }
    }

    /**
     * The table of a vmlinux.
     *
     * @param release when the file has no {@code .orc_header}
     * @return empty when it has no ORC
     * @throws MalformedInputException for a header that is not known, and for tables of wrong size
     */
    public static Optional<OrcTable> of(ElfFile vmlinux, String release)
            throws MalformedInputException {
        Optional<ElfSection> places = vmlinux.section(".orc_unwind_ip");
        Optional<ElfSection> rules = vmlinux.section(".orc_unwind");
        if (places.isEmpty() || rules.isEmpty() || vmlinux.machine() != ElfFile.EM_X86_64) {
            return Optional.empty();
        }
        OrcLayout layout = OrcLayout.ofRelease(release);
        Optional<ElfSection> header = vmlinux.section(".orc_header");
        if (header.isPresent()) {
            byte[] hash = vmlinux.content(header.get()).toArray(ValueLayout.JAVA_BYTE);
            layout =
                    OrcLayout.ofHeader(hash)
                            .orElseThrow(() ->
                                    new MalformedInputException(
                                            "ELF",
                                            ".orc_header",
                                            header.get().offset(),
                                            "a layout that is not known here"));
        }
        return Optional.of(
                new OrcTable(
                        layout,
                        places.get().address(),
                        vmlinux.content(places.get()).toArray(ValueLayout.JAVA_BYTE),
                        vmlinux.content(rules.get()).toArray(ValueLayout.JAVA_BYTE)));
    }

    /** Places that have an entry. */
    public int size() {
        return offsets.length;
    }

    private long place(int index) {
        return address + 4L * index + offsets[index];
    }

    /**
     * The entry for an address; null before the first place, and where an entry has bits that none
     * should have.
     */
    public @Nullable OrcEntry find(long code) {
        int low = 0;
        int high = offsets.length - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            if (Long.compareUnsigned(place(middle), code) <= 0) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        // at the end of an object a terminator may stand for the place where the next one begins
        while (high > 0 && place(high - 1) == place(high) && isTerminator(high)) {
            high--;
        }
        return high < 0 ? null : entry(high);
    }

    private boolean isTerminator(int index) {
        OrcEntry entry = entry(index);
        return entry != null && entry.type() == OrcType.UNDEFINED;
    }

    private @Nullable OrcEntry entry(int index) {
        MemorySegment bytes = MemorySegment.ofArray(entries);
        long at = (long) index * ENTRY_BYTES;
        int stackOffset = bytes.get(ValueLayout.JAVA_SHORT_UNALIGNED, at);
        int frameOffset = bytes.get(ValueLayout.JAVA_SHORT_UNALIGNED, at + 2);
        int flags = bytes.get(ValueLayout.JAVA_SHORT_UNALIGNED, at + 4) & 0xffff;
        int stack = flags & 0xf;
        int frame = flags >> 4 & 0xf;
        if (stack >= layout.bases.size() || frame >= layout.bases.size()) {
            return null;
        }
        OrcEntry.@Nullable OrcType type = type(flags, stack);
        boolean signal =
                switch (layout) {
                    case LINUX_4_14 -> type == OrcType.REGS || type == OrcType.REGS_PARTIAL;
                    case LINUX_6_3 -> (flags >> 10 & 1) != 0;
                    case LINUX_6_4, LINUX_6_4_AX, LINUX_7_1 -> (flags >> 11 & 1) != 0;
                };
        return type == null
                ? null
                : new OrcEntry(
                        layout.bases.get(stack),
                        stackOffset,
                        layout.bases.get(frame),
                        frameOffset,
                        type,
                        signal);
    }

    private OrcEntry.@Nullable OrcType type(int flags, int stack) {
        int endBit =
                switch (layout) {
                    case LINUX_4_14 -> 10;
                    case LINUX_6_3 -> 11;
                    case LINUX_6_4, LINUX_6_4_AX, LINUX_7_1 -> -1;
                };
        if (endBit < 0) {
            int type = flags >> 8 & 7;
            return type < OrcType.values().length ? OrcType.values()[type] : null;
        }
        if (stack == 0) {
            return (flags >> endBit & 1) != 0 ? OrcType.END_OF_STACK : OrcType.UNDEFINED;
        }
        return switch (flags >> 8 & 3) {
            case 0 -> OrcType.CALL;
            case 1 -> OrcType.REGS;
            case 2 -> OrcType.REGS_PARTIAL;
            default -> null;
        };
    }
}
