package sonde.lang.declare;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import sonde.format.MalformedInputException;
import sonde.format.dwarf.Die;
import sonde.format.dwarf.Dwarf;

/**
 * Where functions of C and C++ find parameters when they are entered: System V AMD64 psABI, 3.2.3,
 * and AAPCS64, 6.8; of classes the Itanium C++ ABI, 3.1.2. Asked for one parameter after the other.
 */
final class CallingConvention {
    private static final int WORD = 8;
    private static final int MOST_DEPTH = 16;
    private static final int MOST_LEAVES = 64;
    // What is larger lies in memory on both machines.
    private static final int MOST_REGISTERS_BYTES = 64;

    /** DW_TAG_ptr_to_member_type. */
    private static final int POINTER_TO_MEMBER = 0x1f;

    /** DW_TAG_unspecified_type, C++'s nullptr_t. */
    private static final int UNSPECIFIED = 0x3b;

    /** DW_ATE_*: DWARF 5, table 7.11. */
    private static final int COMPLEX = 3;

    private static final Set<Integer> FLOATING = Set.of(COMPLEX, 4, 0xf);
    private static final String VECTOR = "is in a vector register, which programs cannot read";

    private final Dwarf dwarf;
    private final boolean arm;
    private int integers;
    private int vectors;
    private int stack;
    private String lost = "";

    /**
     * Of one function.
     *
     * @param arm whether the machine is AArch64, else x86-64
     */
    CallingConvention(Dwarf dwarf, boolean arm) {
        this.dwarf = dwarf;
        this.arm = arm;
        this.stack = arm ? 0 : WORD; // behind the return address
    }

    /** Where a parameter is at the entry. */
    sealed interface Home {
        /** In integer registers for arguments, from the one of that index on. */
        record Registers(int first, int count) implements Home {}

        /** In memory that an integer register points to. */
        record Reference(int register) implements Home {}

        /** At so many bytes from the stack pointer. */
        record Stack(int offset) implements Home {}

        /** Nowhere that a program could read. */
        record Unread(String why) implements Home {}
    }

    /**
     * A number in what is handed over.
     *
     * @param x87 whether it is C's long double of x86-64, which is handed over in memory
     */
    private record Leaf(long offset, int sizeBytes, boolean floating, boolean x87) {}

    /** What is handed over, with the numbers that it is made of. */
    private final class Shape {
        private final List<Leaf> leaves = new ArrayList<>();
        private int sizeBytes;
        private int align = 1;
        private boolean packed;

        Shape(Die die) throws MalformedInputException {
            sizeBytes = size(die);
            if (die.tag() == Die.ARRAY_TYPE) {
                // Only a vector is handed over as one.
                add(0, sizeBytes, true, false);
            } else if (sizeBytes <= MOST_REGISTERS_BYTES) {
                collect(die, 0, 0);
            }
            align = Math.max(align, Math.clamp(die.alignment(), 1, 4096));
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

        private void collect(Die stated, long offset, int depth) throws MalformedInputException {
            Die die = plain(stated);
            if (depth > MOST_DEPTH || offset < 0 || offset > MOST_REGISTERS_BYTES) {
                throw malformed("members outside of it");
            }
            if (isStructure(die.tag())) {
                for (Die member : dwarf.children(die)) {
                    boolean counts = member.tag() == Die.MEMBER || member.tag() == Die.INHERITANCE;
                    if (counts && !member.isDeclaration()) {
                        member(member, offset, depth);
                    }
                }
            } else if (die.tag() == Die.ARRAY_TYPE) {
                Optional<Die> element = dwarf.typeOf(die);
                int step = element.isEmpty() ? 0 : size(plain(element.get()));
                for (long at = 0; step > 0 && at + step <= size(die); at += step) {
                    collect(element.get(), offset + at, depth + 1);
                }
            } else {
                number(die, offset);
            }
        }

        private void member(Die member, long offset, int depth) throws MalformedInputException {
            long at = Math.max(0, member.location());
            if (member.bits() > 0) {
                long bit = member.dataBitOffset();
                leaves.add(new Leaf(offset + (bit == Die.NONE ? at : bit / 8), 1, false, false));
                return;
            }
            Optional<Die> type = dwarf.typeOf(member);
            if (type.isPresent()) {
                collect(type.get(), offset + at, depth + 1);
            }
        }

        private void number(Die die, long offset) throws MalformedInputException {
            int size = size(die);
            boolean floating =
                    die.tag() == Die.BASE_TYPE && FLOATING.contains((int) die.encoding());
            boolean halves = floating ? die.encoding() == COMPLEX : pointsToFunction(die);
            int each = halves ? size / 2 : size;
            boolean x87 = floating && each == 16 && !arm && !dwarf.name(die).contains("128");
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

    private static boolean isStructure(int tag) {
        return tag == Die.STRUCTURE_TYPE || tag == Die.CLASS_TYPE || tag == Die.UNION_TYPE;
    }

    /** Without typedefs and qualifiers. */
    private Die plain(Die stated) throws MalformedInputException {
        Die die = dwarf.signed(stated).orElse(stated);
        for (int depth = 0; depth < MOST_DEPTH; depth++) {
            boolean wraps =
                    switch (die.tag()) {
                        case Die.TYPEDEF,
                                Die.CONST_TYPE,
                                Die.VOLATILE_TYPE,
                                Die.RESTRICT_TYPE,
                                Die.ATOMIC_TYPE ->
                                true;
                        default -> false;
                    };
            Optional<Die> inner = wraps ? dwarf.typeOf(die) : Optional.empty();
            if (inner.isEmpty()) {
                return defined(die);
            }
            die = dwarf.signed(inner.get()).orElse(inner.get());
        }
        return die;
    }

    private Die defined(Die die) throws MalformedInputException {
        String name = dwarf.name(die);
        return isStructure(die.tag()) && die.isDeclaration() && !name.isEmpty()
                ? dwarf.type(Set.of(die.tag()), name).orElse(die)
                : die;
    }

    private boolean pointsToFunction(Die die) throws MalformedInputException {
        return die.tag() == POINTER_TO_MEMBER
                && dwarf.typeOf(die).map(Die::tag).orElse(0) == Die.SUBROUTINE_TYPE;
    }

    private int size(Die die) throws MalformedInputException {
        long bytes =
                switch (die.tag()) {
                    case Die.POINTER_TYPE,
                            Die.REFERENCE_TYPE,
                            Die.RVALUE_REFERENCE_TYPE,
                            UNSPECIFIED ->
                            WORD;
                    case POINTER_TO_MEMBER -> pointsToFunction(die) ? 2 * WORD : WORD;
                    case Die.ARRAY_TYPE -> arrayBytes(die);
                    default -> die.sizeBytes();
                };
        boolean known = bytes >= 0 && !(isStructure(die.tag()) && die.isDeclaration());
        if (!known || bytes > 1 << 30) {
            throw malformed("its size is not known");
        }
        return (int) bytes;
    }

    private long arrayBytes(Die die) throws MalformedInputException {
        if (die.sizeBytes() != Die.NONE) {
            return die.sizeBytes();
        }
        Optional<Die> element = dwarf.typeOf(die);
        long bytes = element.isEmpty() ? 0 : size(plain(element.get()));
        for (Die dimension : dwarf.children(die)) {
            if (dimension.tag() == Die.SUBRANGE_TYPE) {
                bytes *= Math.clamp(dimension.elements(), 0, 1 << 20);
                bytes = Math.min(bytes, 1 << 30);
            }
        }
        return bytes;
    }

    /** What is returned: for what lies in memory x86-64 takes an address first. */
    void result(Optional<Die> stated) {
        if (arm || stated.isEmpty()) {
            return; // AArch64 has it in x8
        }
        try {
            Die die = plain(stated.get());
            if (!isStructure(die.tag())) {
                return;
            }
            Shape shape = new Shape(die);
            if (NonTrivial.is(dwarf, die) || inMemory(shape)) {
                integers++;
            }
        } catch (MalformedInputException e) {
            lost = "is not known where: " + e.reason() + " of the result";
        }
    }

    /** Where the next parameter is. */
    Home next(Optional<Die> stated) {
        if (!lost.isEmpty()) {
            return new Home.Unread(lost);
        }
        try {
            Die die = plain(stated.orElseThrow(() -> malformed("no type is said")));
            if (NonTrivial.is(dwarf, die)) {
                return reference();
            }
            Shape shape = new Shape(die);
            return arm ? arm(shape) : x86(shape, die);
        } catch (MalformedInputException e) {
            // What is behind it cannot be counted either.
            lost = "is not known where: " + e.reason();
            return new Home.Unread(lost);
        }
    }

    private Home reference() {
        if (integers < registers()) {
            return new Home.Reference(integers++);
        }
        stack += WORD;
        return new Home.Unread("is behind an address on the stack, which programs do not follow");
    }

    private int registers() {
        return arm ? 8 : 6;
    }

    private boolean inMemory(Shape shape) {
        return shape.sizeBytes > 2 * WORD || shape.packed || shape.hasLongDouble();
    }

    private Home x86(Shape shape, Die die) {
        boolean vector = die.tag() == Die.ARRAY_TYPE;
        if (!vector && inMemory(shape)) {
            return onStack(shape);
        }
        if (vector) {
            return vectors < 8 ? inVectors(1) : onStack(shape);
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
            return new Home.Unread("is empty");
        }
        if (integers + ints > 6 || vectors + floats > 8) {
            return onStack(shape);
        }
        Home home = floats > 0 ? inVectors(floats) : new Home.Registers(integers, ints);
        integers += ints;
        return home;
    }

    private Home inVectors(int count) {
        vectors += count;
        return new Home.Unread(VECTOR);
    }

    private Home onStack(Shape shape) {
        if (shape.align > 16) {
            lost = "is on the stack behind what is aligned by more than 16 bytes";
            return new Home.Unread(lost);
        }
        int align = shape.align == 16 ? 16 : WORD;
        int bias = arm ? 0 : WORD; // the stack was aligned before the return address
        int offset = (stack - bias + align - 1) / align * align + bias;
        stack = offset + (shape.sizeBytes + WORD - 1) / WORD * WORD;
        return new Home.Stack(offset);
    }

    private Home arm(Shape shape) {
        List<Leaf> leaves = shape.leaves;
        boolean alike =
                !leaves.isEmpty()
                        && leaves.size() <= 4
                        && leaves.stream()
                                .allMatch(leaf ->
                                        leaf.floating()
                                                && leaf.sizeBytes()
                                                        == leaves.getFirst().sizeBytes());
        if (alike) {
            if (vectors + leaves.size() <= 8) {
                return inVectors(leaves.size());
            }
            vectors = 8;
            return onStack(shape);
        }
        if (shape.sizeBytes > 2 * WORD) {
            return reference();
        }
        if (shape.sizeBytes == 0) {
            return new Home.Unread("is empty");
        }
        if (shape.align == 16) {
            integers += integers % 2;
        }
        int words = (shape.sizeBytes + WORD - 1) / WORD;
        if (integers + words > 8) {
            integers = 8;
            return onStack(shape);
        }
        Home home = new Home.Registers(integers, words);
        integers += words;
        return home;
    }
}
