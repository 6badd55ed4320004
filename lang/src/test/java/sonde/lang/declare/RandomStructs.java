package sonde.lang.declare;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Definitions of structures with everything that moves members, from a seed. */
final class RandomStructs {
    private static final List<String> TYPES =
            List.of(
                    "char",
                    "signed char",
                    "unsigned char",
                    "short",
                    "unsigned short int",
                    "int",
                    "unsigned",
                    "long",
                    "unsigned long",
                    "long long",
                    "unsigned long long int",
                    "_Bool",
                    "float",
                    "double",
                    "long double",
                    "__int128",
                    "enum color",
                    "wide_t",
                    "tight_t",
                    "const volatile int",
                    "pair_t");

    private static final List<String> BIT_TYPES =
            List.of(
                    "char",
                    "signed char",
                    "unsigned char",
                    "short",
                    "unsigned short",
                    "int",
                    "unsigned",
                    "long",
                    "unsigned long",
                    "_Bool",
                    "enum color");

    private final Random random;
    private final boolean whole;
    private final List<String> names = new ArrayList<>();
    private int next;

    /**
     * A structure.
     *
     * @param keyword "struct" or "union"
     * @param fields that are no bitfields
     * @param bitfields with a name
     */
    record One(
            String keyword,
            String name,
            String text,
            List<String> fields,
            List<String> bitfields) {}

    /**
     * @param whole whether bitfields may have all bits of their type
     */
    RandomStructs(Random random, boolean whole) {
        this.random = random;
        this.whole = whole;
    }

    static String prologue() {
        return """
        enum color { RED, GREEN = 200, BLUE };
        enum __attribute__((packed)) small { SMALL_A, SMALL_B = 255 };
        typedef int wide_t __attribute__((aligned(8)));
        typedef struct { char a; short b; } __attribute__((packed)) tight_t;
        typedef struct { int a; char b[3]; } pair_t;
        """;
    }

    private String pick(List<String> from) {
        return from.get(random.nextInt(from.size()));
    }

    One make(int number) {
        boolean union = random.nextInt(5) == 0;
        String keyword = union ? "union" : "struct";
        String name = "s" + number;
        List<String> fields = new ArrayList<>();
        List<String> bitfields = new ArrayList<>();
        StringBuilder text = new StringBuilder();
        String head = random.nextInt(8) == 0 ? "__attribute__((packed)) " : "";
        text.append(keyword).append(' ').append(head).append(name);
        body(text, fields, bitfields, 0);
        text.append(attributes()).append(";\n");
        names.add(keyword + " " + name);
        return new One(keyword, name, text.toString(), fields, bitfields);
    }

    private String attributes() {
        return switch (random.nextInt(10)) {
            case 0, 1 -> " __attribute__((packed))";
            case 2 -> " __attribute__((aligned(" + (1 << random.nextInt(7)) + ")))";
            case 3 -> " __attribute__((__packed__, aligned(" + (1 << random.nextInt(4)) + ")))";
            case 4 -> random.nextInt(4) == 0 ? " __attribute__((aligned))" : "";
            default -> "";
        };
    }

    private void body(StringBuilder out, List<String> fields, List<String> bits, int depth) {
        out.append(" {\n");
        int count = 1 + random.nextInt(7);
        for (int i = 0; i < count; i++) {
            out.append("    ");
            member(out, fields, bits, depth);
            out.append(";\n");
        }
        out.append('}');
    }

    private void member(StringBuilder out, List<String> fields, List<String> bits, int depth) {
        int kind = random.nextInt(20);
        String name = "m" + next++;
        if (kind < 8) {
            bitfield(out, bits, name);
        } else if (kind == 8 && depth < 2) {
            out.append(random.nextInt(3) == 0 ? "union" : "struct");
            body(out, fields, bits, depth + 1);
            out.append(random.nextInt(4) == 0 ? " __attribute__((packed))" : "");
        } else if (kind == 9 && !names.isEmpty()) {
            out.append(pick(names)).append(' ').append(name);
            fields.add(name);
        } else if (kind == 10) {
            String[] pointers = {"struct gone *%s", "void (*%s)(int, char)", "int (*%s)[3]"};
            out.append(pointers[random.nextInt(pointers.length)].formatted(name));
            fields.add(name);
        } else {
            String type = pick(TYPES);
            out.append(type).append(' ').append(name);
            // gcc refuses arrays of what is aligned to more than its size.
            if (random.nextInt(4) == 0 && !type.equals("wide_t")) {
                out.append('[').append(random.nextInt(5)).append(']');
                out.append(random.nextInt(3) == 0 ? "[2]" : "");
            }
            fields.add(name);
            out.append(memberAttribute());
        }
    }

    private String memberAttribute() {
        return switch (random.nextInt(12)) {
            case 0 -> " __attribute__((packed))";
            case 1 -> " __attribute__((aligned(" + (1 << random.nextInt(6)) + ")))";
            default -> "";
        };
    }

    private void bitfield(StringBuilder out, List<String> bits, String name) {
        String type = pick(BIT_TYPES);
        int most =
                switch (type) {
                    case "_Bool" -> 1;
                    case "char", "signed char", "unsigned char" -> 8;
                    case "short", "unsigned short" -> 16;
                    case "int", "unsigned", "enum color" -> 32;
                    default -> 64;
                };
        int width = 1 + random.nextInt(whole || most == 1 ? most : most - 1);
        switch (random.nextInt(8)) {
            case 0 -> out.append(type).append(" : 0");
            case 1 -> out.append(type).append(" : ").append(width);
            default -> {
                out.append(type).append(' ').append(name).append(" : ").append(width);
                boolean attribute = random.nextInt(10) == 0;
                out.append(attribute ? " __attribute__((packed))" : "");
                bits.add(name);
            }
        }
    }
}
