package sonde.tools.elf;

import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A structure, union, enumeration or other type of C, laid out.
 *
 * @param head "struct task_struct"; "typedef unsigned long word_t"
 * @param sizeBytes size
 * @param members of a structure or union; empty for others
 * @param values of an enumeration, "RED = 0"
 */
record CTypeLayout(String head, long sizeBytes, List<LaidOutMember> members, List<String> values) {
    /**
     * A member.
     *
     * @param before what stands before the name: "unsigned long", "void (*"
     * @param after the name and what follows: "count", "handler)(int)", "name[16]"
     * @param bitOffset from the start of the structure that it is a direct member of; {@link
     *     #NOWHERE} of a virtual base
     * @param sizeBytes of its type
     * @param bits of a bitfield, else 0
     * @param inner the layout of an unnamed structure or union in place, of an array of those that
     *     of the first; null for others
     */
    record LaidOutMember(
            String before,
            String after,
            long bitOffset,
            long sizeBytes,
            int bits,
            @Nullable CTypeLayout inner) {
        /** Stands for the offset of a virtual base, which differs in each derived class. */
        static final long NOWHERE = Long.MAX_VALUE;

        boolean isVirtual() {
            return bitOffset == NOWHERE;
        }

        /** The first bit behind it. */
        long end() {
            return bitOffset + (bits > 0 ? bits : 8 * sizeBytes);
        }

        /** The first bit behind the unit that a bitfield lies in. */
        long unitEnd() {
            long unit = 8 * Math.max(1, sizeBytes);
            return bits > 0 ? Math.max(end(), (bitOffset / unit + 1) * unit) : end();
        }
    }

    /** The members as they lie, which need not be the order of the source: Rust has its own. */
    List<LaidOutMember> placed() {
        return isUnion()
                ? members
                : members.stream()
                        .sorted(Comparator.comparingLong(LaidOutMember::bitOffset))
                        .toList();
    }

    /** The same with another head. */
    CTypeLayout headed(String other) {
        return new CTypeLayout(other, sizeBytes, members, values);
    }

    boolean isUnion() {
        return head.startsWith("union");
    }
}
