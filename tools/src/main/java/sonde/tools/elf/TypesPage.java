package sonde.tools.elf;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import sonde.event.result.ValueOutput;
import sonde.tools.elf.CTypeLayout.LaidOutMember;

/** A type with offsets, sizes and holes, in the form of pahole. */
public final class TypesPage implements ElfPage {
    private static final int LINE_BYTES = 64;

    private final CTypeLayout type;

    TypesPage(CTypeLayout type) {
        this.type = type;
    }

    @Override
    public String key() {
        return "type";
    }

    @Override
    public void text(PrintWriter out) {
        if (type.members().isEmpty()) {
            simple(out);
            return;
        }
        Totals totals = new Totals();
        out.println(ElfWording.name(type.head()) + " {");
        body(out, type, 0, 1, totals);
        out.println();
        totals.print(out, type);
        out.println("};");
    }

    private void simple(PrintWriter out) {
        if (type.values().isEmpty()) {
            boolean record = type.head().startsWith("struct") || type.isUnion();
            out.println(
                    ElfWording.name(type.head())
                            + (record ? " {" + System.lineSeparator() + "};" : ";"));
            out.println("/* size: " + type.sizeBytes() + " */");
            return;
        }
        out.println(ElfWording.name(type.head()) + " {");
        type.values().forEach(value -> out.println("\t" + ElfWording.name(value) + ","));
        out.println("}; /* size: " + type.sizeBytes() + " */");
    }

    /** What is said below the members. */
    private static final class Totals {
        private int members;
        private long sumBytes;
        private long sumBits;
        private final List<Long> holes = new ArrayList<>();
        private long bitHoles;
        private long sumBitHoles;
        private long end;
        private long unitEnd;
        private long shownLine;
        private boolean virtual;

        /** Takes a member in, of which what lies before {@code taken} was counted with others. */
        void add(LaidOutMember member, long taken) {
            members++;
            sumBits += member.bits();
            long own = Math.max(0, member.end() - Math.max(taken, member.bitOffset()));
            sumBytes += member.bits() > 0 ? 0 : own / 8;
            end = Math.max(end, member.end());
            unitEnd = Math.max(unitEnd, member.unitEnd());
        }

        void print(PrintWriter out, CTypeLayout type) {
            long lines = (type.sizeBytes() + LINE_BYTES - 1) / LINE_BYTES;
            out.printf(
                    "\t/* size: %d, cachelines: %d, members: %d */%n",
                    type.sizeBytes(), lines, members);
            long hole = holes.stream().mapToLong(Long::longValue).sum();
            if (!type.isUnion() && (!holes.isEmpty() || bitHoles > 0)) {
                out.printf(
                        "\t/* sum members: %d%s%s */%n",
                        sumBytes,
                        holes.isEmpty() ? "" : ", holes: " + holes.size() + ", sum holes: " + hole,
                        sumBits == 0 ? "" : ", bitfield members: " + sumBits + " bits");
                if (bitHoles > 0) {
                    out.printf(
                            "\t/* bit holes: %d, sum bit holes: %d bits */%n",
                            bitHoles, sumBitHoles);
                }
            }
            if (!type.isUnion() && !virtual) {
                padding(out, 8 * type.sizeBytes());
            }
            long last = type.sizeBytes() % LINE_BYTES;
            if (last > 0) {
                out.println("\t/* last cacheline: " + last + " bytes */");
            }
        }

        private void padding(PrintWriter out, long sizeBits) {
            long unit = Math.min(unitEnd, sizeBits);
            if (sizeBits - unit >= 8) {
                out.println("\t/* padding: " + (sizeBits - unit) / 8 + " */");
            }
            if (unit > end) {
                long bits = unit - end;
                out.println("\t/* bit_padding: " + bits + (bits == 1 ? " bit */" : " bits */"));
            }
        }
    }

    private static void body(
            PrintWriter out, CTypeLayout record, long baseBits, int depth, Totals totals) {
        String indent = "\t".repeat(depth);
        record.values().forEach(value -> out.println(indent + ElfWording.name(value) + ","));
        long end = 0;
        long unitEnd = 0;
        for (LaidOutMember member : record.placed()) {
            if (member.isVirtual()) {
                out.println(indent + ElfWording.name(text(member)) + "; /* virtual */");
                totals.virtual |= depth == 1;
                continue;
            }
            if (!record.isUnion()) {
                long odd = Math.min(unitEnd, member.bitOffset()) - end;
                gap(out, indent, odd, member.bitOffset() - end, depth == 1 ? totals : null);
                line(out, indent, (baseBits + member.bitOffset()) / 8, totals);
            }
            long offset = (baseBits + member.bitOffset()) / 8;
            CTypeLayout inner = member.inner();
            if (inner != null) {
                out.println(indent + ElfWording.name(inner.head()) + " {");
                body(out, inner, baseBits + member.bitOffset(), depth + 1, totals);
                String name = member.after();
                print(out, indent, "}" + (name.isEmpty() ? "" : " " + name), member, offset);
            } else {
                print(out, indent, text(member), member, offset);
            }
            if (depth == 1) {
                totals.add(member, end);
            }
            end = Math.max(end, member.end());
            unitEnd = Math.max(unitEnd, member.unitEnd());
        }
    }

    private static String text(LaidOutMember member) {
        return "%-26s %s".formatted(member.before(), member.after());
    }

    private static void print(
            PrintWriter out, String indent, String text, LaidOutMember member, long offset) {
        int width = Math.max(8, 54 - 8 * (indent.length() - 1));
        String declared =
                ElfWording.name(text) + (member.bits() > 0 ? ":" + member.bits() : "") + ";";
        if (member.bits() > 0) {
            long unit = Math.max(1, member.sizeBytes());
            long at = member.bitOffset() / 8 / unit * unit;
            out.printf(
                    "%s%-" + width + "s /* %5d:%2d %2d */%n",
                    indent,
                    declared,
                    offset - member.bitOffset() / 8 + at,
                    member.bitOffset() - 8 * at,
                    member.sizeBytes());
        } else {
            out.printf(
                    "%s%-" + width + "s /* %5d %5d */%n",
                    indent,
                    declared,
                    offset,
                    member.sizeBytes());
        }
    }

    /**
     * Says what lies between two members.
     *
     * @param unit bits up to the end of the unit that a bitfield before lies in
     * @param bits up to the next member
     */
    private static void gap(
            PrintWriter out,
            String indent,
            long unit,
            long bits,
            @org.jspecify.annotations.Nullable Totals totals) {
        if (bits <= 0) {
            return;
        }
        long bytes = (bits - Math.max(0, unit)) / 8;
        long odd = bits - 8 * bytes;
        out.println();
        if (odd > 0) {
            out.println(
                    indent
                            + "/* XXX "
                            + odd
                            + " bit"
                            + (odd == 1 ? "" : "s")
                            + " hole, try to"
                            + " pack */");
        }
        if (bytes > 0) {
            out.println(
                    indent
                            + "/* XXX "
                            + bytes
                            + " byte"
                            + (bytes == 1 ? "" : "s")
                            + " hole, try to pack */");
        }
        out.println();
        if (totals != null) {
            if (bytes > 0) {
                totals.holes.add(bytes);
            }
            totals.bitHoles += odd > 0 ? 1 : 0;
            totals.sumBitHoles += Math.max(0, odd);
        }
    }

    /** Where a line of the cache begins, at or within the member before. */
    private static void line(PrintWriter out, String indent, long offset, Totals totals) {
        long number = offset / LINE_BYTES;
        if (number > totals.shownLine) {
            totals.shownLine = number;
            long ago = offset % LINE_BYTES;
            out.printf(
                    "%s/* --- cacheline %d boundary (%d bytes)%s --- */%n",
                    indent,
                    number,
                    number * LINE_BYTES,
                    ago == 0 ? "" : " was " + ago + " bytes ago");
        }
    }

    @Override
    public void values(ValueOutput out) throws IOException {
        values(out, type, 0);
    }

    private static void values(ValueOutput out, CTypeLayout record, long baseBits)
            throws IOException {
        out.beginObject();
        out.field("type", ElfWording.name(record.head()));
        out.field("size_bytes", record.sizeBytes());
        out.beginArray("members");
        long end = 0;
        for (LaidOutMember member : record.placed()) {
            out.beginObject();
            out.field(
                    "declaration",
                    ElfWording.name((member.before() + " " + member.after()).strip()));
            if (member.isVirtual()) {
                out.field("offset", null);
                out.field("size_bytes", member.sizeBytes());
                out.field("virtual", true);
                out.endObject();
                continue;
            }
            long at = baseBits + member.bitOffset();
            out.field("offset", at / 8);
            out.field("size_bytes", member.sizeBytes());
            if (member.bits() > 0) {
                out.field("bit_offset", at % 8);
                out.field("bits", member.bits());
            }
            if (!record.isUnion() && member.bitOffset() > end) {
                out.field("hole_bits_before", member.bitOffset() - end);
            }
            CTypeLayout inner = member.inner();
            if (inner != null) {
                out.name("in_place");
                values(out, inner, at);
            }
            out.endObject();
            end = Math.max(end, member.end());
        }
        out.endArray();
        out.beginArray("values");
        for (String value : record.values()) {
            out.value(ElfWording.name(value));
        }
        out.endArray();
        out.endObject();
    }
}
