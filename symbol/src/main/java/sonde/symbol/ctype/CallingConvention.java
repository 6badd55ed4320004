package sonde.symbol.ctype;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.location.DebugEntry;
import sonde.binary.dwarf.location.DwarfAttribute;
import sonde.binary.dwarf.location.DwarfTag;
import sonde.symbol.ctype.CallingConvention.ParameterHome.HomeReference;
import sonde.symbol.ctype.CallingConvention.ParameterHome.HomeRegisters;
import sonde.symbol.ctype.CallingConvention.ParameterHome.HomeStack;
import sonde.symbol.ctype.CallingConvention.ParameterHome.HomeUnread;

/**
 * Where functions of C and C++ find parameters when they are entered, and leave their result:
 * System V AMD64 psABI, 3.2.3; AAPCS64, 6.8; RISC-V calling conventions, 2.1, but for structures
 * with floating-point numbers; of classes the Itanium C++ ABI, 3.1.2. Asked for the result first,
 * then for one parameter after the other.
 */
public final class CallingConvention {
    private static final int WORD = 8;
    private static final int MOST_DEPTH = 16;
    private static final int MOST_LEAVES = 64;
    // What is larger lies in memory on all machines.
    private static final int MOST_REGISTERS_BYTES = 64;

    /** DW_ATE_*: DWARF 5, table 7.11. */
    private static final int COMPLEX = 3;

    private static final Set<Long> FLOATING = Set.of((long) COMPLEX, 4L, 0xfL);
    private static final String VECTOR = "is in a vector register, which programs cannot read";

    /** DW_LANG_* of C and C++: DWARF 5, table 7.17, and those registered since. */
    private static final Set<Integer> LANGUAGES =
            Set.of(0x1, 0x2, 0x4, 0xc, 0x10, 0x11, 0x1a, 0x1d, 0x21, 0x2b, 0x2c, 0x3a, 0x3e);

    private final TypeLayout layout;
    private final ConventionMachine machine;
    private int integers;
    private int vectors;
    private int stack;
    private String lost = "";

    /** Places the parameters of one function. */
    public CallingConvention(TypeLayout layout, ConventionMachine machine) {
        this.layout = layout;
        this.machine = machine;
        this.stack = machine == ConventionMachine.X86_64 ? WORD : 0; // behind the return address
    }

    /**
     * Whether a language keeps to it. Others may hand over numbers of one register alike, and what
     * lies behind anything larger elsewhere.
     *
     * @param language DW_LANG_*
     */
    public static boolean isOf(int language) {
        return LANGUAGES.contains(language);
    }

    /** Machines whose convention is known. */
    public enum ConventionMachine {
        X86_64(6),
        AARCH64(8),
        RISCV64(8);

        private final int registers;

        ConventionMachine(int registers) {
            this.registers = registers;
        }
    }

    /** Where a parameter is at the entry. */
    public sealed interface ParameterHome {
        /**
         * In integer registers for arguments, from the one of that index on; of a result in those
         * for results.
         */
        record HomeRegisters(int first, int count) implements ParameterHome {}

        /** In memory that an integer register points to. */
        record HomeReference(int register) implements ParameterHome {}

        /** At so many bytes from the stack pointer. */
        record HomeStack(int offset) implements ParameterHome {}

        /** Nowhere that a program could read. */
        record HomeUnread(String why) implements ParameterHome {}
    }

    /**
     * A number in what is handed over.
     *
     * @param x87 whether it is C's long double of x86-64, which is handed over in memory
     */
    private record Leaf(long offset, int sizeBytes, boolean floating, boolean x87) {}

    /** What is handed over, with the numbers that it is made of. */
    private final class PassedShape {
        private final List<Leaf> leaves = new ArrayList<>();
        private final int sizeBytes;
        private int align = 1;
        private boolean packed;

        PassedShape(DebugEntry type) throws MalformedInputException {
            sizeBytes = size(type);
            if (type.tag() == DwarfTag.ARRAY_TYPE) {
                // Only a vector is handed over as one.
                add(0, sizeBytes, true, false);
            } else if (sizeBytes <= MOST_REGISTERS_BYTES) {
                collect(type, 0, 0);
            }
            align =
                    Math.max(
                            align, Math.clamp(type.constant(DwarfAttribute.ALIGNMENT, 1), 1, 4096));
        }

        private void add(long offset, int size, boolean floating, boolean x87)
                throws MalformedInputException {
            if (leaves.size() >= MOST_LEAVES) {
                throw malformed("too many members");
            }
            int natural = Math.max(1, Integer.highestOneBit(size));
            align = Math.max(align, natural);
            packed |= offset % natural != 0;
            leaves.add(new Leaf(offset, size, floating, x87));
        }

        private void collect(DebugEntry stated, long offset, int depth)
                throws MalformedInputException {
            DebugEntry type = layout.plain(stated);
            if (depth > MOST_DEPTH || offset < 0 || offset > MOST_REGISTERS_BYTES) {
                throw malformed("members outside of it");
            }
            if (TypeLayout.isRecord(type)) {
                for (DebugEntry member : type.children()) {
                    if (member.tag() == DwarfTag.INHERITANCE || TypeLayout.isMember(member)) {
                        member(member, offset, depth);
                    }
                }
            } else if (type.tag() == DwarfTag.ARRAY_TYPE && type.flag(DwarfAttribute.GNU_VECTOR)) {
                add(offset, size(type), true, false);
            } else if (type.tag() == DwarfTag.ARRAY_TYPE) {
                DebugEntry element = type.type();
                int step = element == null ? 0 : size(element);
                for (long at = 0;
                        element != null && step > 0 && at + step <= size(type);
                        at += step) {
                    collect(element, offset + at, depth + 1);
                }
            } else {
                number(type, offset);
            }
        }

        private void member(DebugEntry member, long offset, int depth)
                throws MalformedInputException {
            long bit = Math.max(0, layout.bitOffset(member));
            if (TypeLayout.bits(member) > 0) {
                leaves.add(new Leaf(offset + bit / 8, 1, false, false));
                return;
            }
            DebugEntry type = member.type();
            if (type != null) {
                collect(type, offset + bit / 8, depth + 1);
            }
        }

        private void number(DebugEntry type, long offset) throws MalformedInputException {
            int size = size(type);
            long encoding =
                    type.tag() == DwarfTag.BASE_TYPE
                            ? type.constant(DwarfAttribute.ENCODING, 0)
                            : 0;
            boolean floating = FLOATING.contains(encoding);
            boolean halves = floating ? encoding == COMPLEX : TypeLayout.isOfFunction(type);
            int each = halves ? size / 2 : size;
            boolean x87 =
                    floating
                            && each == 16
                            && machine == ConventionMachine.X86_64
                            && !type.name().contains("128");
            for (int at = 0; at < size; at += each) {
                add(offset + at, each, floating, x87);
            }
        }

        boolean hasLongDouble() {
            return leaves.stream().anyMatch(Leaf::x87);
        }
    }

    private static MalformedInputException malformed(String what) {
        return new MalformedInputException("DWARF", "a parameter's type", -1, what);
    }

    private int size(DebugEntry type) throws MalformedInputException {
        long bytes = layout.sizeBytes(type);
        if (bytes < 0 || bytes > 1 << 30) {
            throw malformed("its size is not known");
        }
        return (int) bytes;
    }

    /**
     * What is returned, null for void: for what lies in memory x86-64 and RISC-V take an address
     * first.
     */
    public ParameterHome result(@Nullable DebugEntry stated) {
        if (stated == null) {
            return new HomeUnread("is void");
        }
        try {
            DebugEntry type = layout.plain(stated);
            ParameterHome home = result(type, new PassedShape(type));
            if (home instanceof HomeReference && machine != ConventionMachine.AARCH64) {
                integers++; // AArch64 has it in x8
            }
            return home;
        } catch (MalformedInputException e) {
            String why = "is not known where: " + e.reason() + " of the result";
            return machine == ConventionMachine.AARCH64 ? new HomeUnread(why) : lost(why);
        }
    }

    private ParameterHome result(DebugEntry type, PassedShape shape)
            throws MalformedInputException {
        boolean large =
                shape.sizeBytes > 2 * WORD || machine == ConventionMachine.X86_64 && shape.packed;
        if (TypeLayout.isRecord(type) && (layout.isNonTrivial(type) || large && !isAlike(shape))) {
            return new HomeReference(0);
        }
        if (shape.hasLongDouble()) {
            return new HomeUnread("is in a register of the x87, which programs cannot read");
        }
        CallingConvention alone = new CallingConvention(layout, machine);
        return alone.chosen(type, shape);
    }

    /** Where the next parameter is. */
    public ParameterHome next(@Nullable DebugEntry stated) {
        if (!lost.isEmpty()) {
            return new HomeUnread(lost);
        }
        try {
            if (stated == null) {
                throw malformed("no type is said");
            }
            DebugEntry type = layout.plain(stated);
            return layout.isNonTrivial(type) ? reference() : chosen(type, new PassedShape(type));
        } catch (MalformedInputException e) {
            // What is behind it cannot be counted either.
            return lost("is not known where: " + e.reason());
        }
    }

    private ParameterHome lost(String why) {
        lost = why;
        return new HomeUnread(why);
    }

    private ParameterHome chosen(DebugEntry type, PassedShape shape) {
        return switch (machine) {
            case X86_64 -> x86(type, shape);
            case AARCH64 -> arm(shape);
            case RISCV64 -> riscv(type, shape);
        };
    }

    private ParameterHome reference() {
        if (integers < machine.registers) {
            return new HomeReference(integers++);
        }
        stack += WORD;
        return new HomeUnread("is behind an address on the stack, which programs do not follow");
    }

    private ParameterHome x86(DebugEntry type, PassedShape shape) {
        if (type.tag() == DwarfTag.ARRAY_TYPE) {
            return vectors < 8 ? inVectors(1) : onStack(shape);
        }
        if (shape.sizeBytes > 2 * WORD || shape.packed || shape.hasLongDouble()) {
            return onStack(shape);
        }
        boolean[] integer = new boolean[2];
        boolean[] used = new boolean[2];
        for (Leaf leaf : shape.leaves) {
            for (long at = leaf.offset(); at < leaf.offset() + leaf.sizeBytes(); at++) {
                int half = (int) Math.min(1, at / WORD);
                used[half] = true;
                integer[half] |= !leaf.floating();
            }
        }
        int ints = (integer[0] ? 1 : 0) + (integer[1] ? 1 : 0);
        int words = (used[0] ? 1 : 0) + (used[1] ? 1 : 0);
        boolean quad = shape.leaves.size() == 1 && shape.sizeBytes == 16 && ints == 0;
        int floats = quad ? 1 : words - ints;
        if (words == 0) {
            return new HomeUnread("is empty");
        }
        if (integers + ints > 6 || vectors + floats > 8) {
            return onStack(shape);
        }
        ParameterHome home = floats > 0 ? inVectors(floats) : new HomeRegisters(integers, ints);
        integers += ints;
        return home;
    }

    private ParameterHome inVectors(int count) {
        vectors += count;
        return new HomeUnread(VECTOR);
    }

    private ParameterHome onStack(PassedShape shape) {
        if (shape.align > 16) {
            return lost("is on the stack behind what is aligned by more than 16 bytes");
        }
        int align = shape.align == 16 ? 16 : WORD;
        // On x86-64 the stack was aligned before the return address.
        int bias = machine == ConventionMachine.X86_64 ? WORD : 0;
        int offset = (stack - bias + align - 1) / align * align + bias;
        stack = offset + (shape.sizeBytes + WORD - 1) / WORD * WORD;
        return new HomeStack(offset);
    }

    /** Whether it is up to four floating-point numbers of one size: AAPCS64, 5.10.5.1. */
    private boolean isAlike(PassedShape shape) {
        List<Leaf> leaves = shape.leaves;
        return machine == ConventionMachine.AARCH64
                && !leaves.isEmpty()
                && leaves.size() <= 4
                && leaves.stream()
                        .allMatch(leaf ->
                                leaf.floating()
                                        && leaf.sizeBytes() == leaves.getFirst().sizeBytes());
    }

    private ParameterHome arm(PassedShape shape) {
        if (isAlike(shape)) {
            if (vectors + shape.leaves.size() <= 8) {
                return inVectors(shape.leaves.size());
            }
            vectors = 8;
            return onStack(shape);
        }
        if (shape.sizeBytes > 2 * WORD) {
            return reference();
        }
        if (shape.sizeBytes == 0) {
            return new HomeUnread("is empty");
        }
        if (shape.align == 16) {
            integers += integers % 2;
        }
        int words = (shape.sizeBytes + WORD - 1) / WORD;
        if (integers + words > 8) {
            integers = 8;
            return onStack(shape);
        }
        ParameterHome home = new HomeRegisters(integers, words);
        integers += words;
        return home;
    }

    private ParameterHome riscv(DebugEntry type, PassedShape shape) {
        if (shape.sizeBytes > 2 * WORD) {
            return reference();
        }
        boolean floating = shape.leaves.stream().anyMatch(Leaf::floating);
        boolean simple = !floating || vectors < 8 && !TypeLayout.isRecord(type);
        int words = (shape.sizeBytes + WORD - 1) / WORD;
        if (!simple || shape.leaves.isEmpty() || integers + words > machine.registers) {
            return lost("is not known where: such values are not counted on this machine");
        }
        if (floating) {
            return inVectors(1);
        }
        ParameterHome home = new HomeRegisters(integers, words);
        integers += words;
        return home;
    }
}
