package sonde.testkit;

import java.util.ArrayList;
import java.util.List;

/**
 * Programs of C and C++ whose functions get and return every kind of structure and class by value,
 * made from a table. They print what they were called with; with {@code TRUTH} defined the
 * functions are stubs that print where the caller put it.
 */
public final class CallPrograms {
    /** The number behind the structure. */
    public static final int NUMBER = 0x5a5a_a5a5;

    private CallPrograms() {}

    /**
     * A type.
     *
     * @param definition of {@code struct NAME}
     * @param make an object whose bytes begin with 0x11
     * @param numbers members that programs can read at run time
     * @param fields members with an offset
     */
    public record Kind(
            String name,
            String definition,
            String make,
            List<String> numbers,
            List<String> fields) {}

    private static Kind kind(String name, String body, String make, String members) {
        List<String> fields = new ArrayList<>();
        List<String> numbers = new ArrayList<>();
        for (String word : members.isEmpty() ? new String[0] : members.split(" ")) {
            String path = word.replaceFirst("^[#%]", "");
            if (!word.startsWith("%")) {
                fields.add(path.replaceFirst("\\[.*", ""));
            }
            if (!word.startsWith("#")) {
                numbers.add(path);
            }
        }
        String definition = "struct " + name + " { " + body + " };";
        return new Kind(name.replaceFirst(" .*", ""), definition, make, numbers, fields);
    }

    /** A structure whose members are set in order; those with # are in no integer register. */
    private static Kind plain(String name, String body, String values, String numbers) {
        return kind(name, body, "(struct " + name + ") {" + values + "}", numbers);
    }

    /** A class of one word with these special members. */
    private static Kind word(String name, String members) {
        String made = name + "(long v) : x(v), y(2) {} ";
        return kind(name, "long x; int y; " + made + members, name + "(X)", "x y");
    }

    /** Structures of C; {@code X} is a number that begins with the byte 0x11. */
    public static List<Kind> c() {
        return List.of(
                plain("c1", "char a;", "0x11", "a"),
                plain("c2", "short a;", "0x2211", "a"),
                plain("c3", "char a[3];", "{0x11, 0x22, 0x33}", "a[1]"),
                plain("c5", "int a; char b;", "0x11, 3", "a b"),
                plain("c7", "char a[7];", "{0x11, 0x22, 0x33}", "a[2]"),
                plain("c8", "int a, b;", "0x11, 4", "a b"),
                plain("c9", "long a; char b;", "X, 5", "a b"),
                plain("c12", "int a, b, c;", "0x11, 4, 5", "a b c"),
                plain("c16", "long a, b;", "X, 6", "a b"),
                plain("c17", "long a, b; char c;", "X, 6, 7", "a b c"),
                plain("c24", "long a, b, c;", "X, 6, 7", "a b c"),
                plain("nested", "struct c8 in; short s[3];", "{0x11, 2}, {3, 4, 5}", "in.b s[1]"),
                plain("either", "union { long l; char b[5]; }; int k;", "{X}, 8", "l k"),
                plain("bits", "int a : 5; unsigned b : 11; int c : 17;", "-15, 9, -7", "%a %b %c"),
                plain("packed", "char a; long b __attribute__((packed));", "0x11, X", "a b"),
                plain("doubles", "double a, b;", "0x1.1111111111111p1, 2", "#a #b"),
                plain("floats", "float a, b;", "0x1.111122p1, 2", "#a #b"),
                plain("half", "float a; int b;", "0x1.111122p1, 9", "b"),
                plain("left", "long a; double b;", "X, 2", "#a #b"),
                plain("right", "double a; long b;", "0x1.1111111111111p1, 6", "#a #b"),
                plain("triple", "double a, b, c;", "0x1.1111111111111p1, 2, 3", "#a #b #c"),
                plain(
                        "large",
                        "double a; float b; long c; short d;",
                        "0x1.1111111111111p1, 2, 3, 4",
                        "c d"),
                plain("extended", "long double a;", "1.5L", "#a"),
                plain("huge", "__int128 a;", "X", "#a"),
                plain("aimed", "void *p; int (*f)(int);", "(void *) X, 0", "p"));
    }

    /** Classes of C++, with what decides whether they go by address. */
    public static List<Kind> cpp() {
        List<Kind> all = new ArrayList<>();
        all.add(kind("Other", "long v; Other(long v) : v(v) {}", "Other(X)", "v"));
        all.add(word("Trivial", ""));
        all.add(word("Converted", "Converted(const Other &o) : x(o.v), y(3) {}"));
        all.add(word("Moved", "Moved(Other &&o) : x(o.v), y(3) {}"));
        all.add(word("Templated", "template <class T> Templated(T &&t) : x(1), y(3) {}"));
        all.add(word("CopyCode", "CopyCode(const CopyCode &o) : x(o.x), y(o.y) {}"));
        all.add(word("CopyChanges", "CopyChanges(volatile CopyChanges &o) : x(o.x), y(o.y) {}"));
        all.add(word("CopyDefault", "CopyDefault(const CopyDefault &) = default;"));
        Kind later = word("CopyLater", "CopyLater(const CopyLater &);");
        String defaulted = " inline CopyLater::CopyLater(const CopyLater &) = default;";
        all.add(
                new Kind(
                        later.name,
                        later.definition + defaulted,
                        later.make,
                        later.numbers,
                        later.fields));
        all.add(word("MoveOnly", "MoveOnly(MoveOnly &&o) : x(o.x), y(o.y) {}"));
        all.add(word("MoveDefault", "MoveDefault(MoveDefault &&) = default;"));
        all.add(word("CopyDeleted", "CopyDeleted(const CopyDeleted &) = delete;"));
        all.add(
                word(
                        "MoveKept",
                        "MoveKept(const MoveKept &) = delete; MoveKept(MoveKept &&) = default;"));
        all.add(word("MoveAssigned", "MoveAssigned &operator=(MoveAssigned &&) = default;"));
        all.add(
                word(
                        "CopyAssigned",
                        "CopyAssigned &operator=(const CopyAssigned &) { return *this; }"));
        all.add(word("EndCode", "~EndCode() { y = 0; }"));
        all.add(word("EndDefault", "~EndDefault() = default;"));
        all.addAll(cppOfOthers());
        return List.copyOf(all);
    }

    /** Classes that inherit or hold others, or whose size decides. */
    private static List<Kind> cppOfOthers() {
        List<Kind> all = new ArrayList<>();
        all.add(
                kind(
                        "Virtual",
                        "long x; int y; Virtual(long v) : x(v), y(2) {} virtual int f() { return y; }",
                        "Virtual(X)",
                        "x y"));
        all.add(
                kind(
                        "OfVirtual : Virtual",
                        "short z; OfVirtual(long v) : Virtual(v), z(3) {}",
                        "OfVirtual(X)",
                        "x y z"));
        all.add(
                kind(
                        "OfTrivial : Trivial",
                        "OfTrivial(long v) : Trivial(v) {}",
                        "OfTrivial(X)",
                        "x y"));
        all.add(kind("OfCode : CopyCode", "OfCode(long v) : CopyCode(v) {}", "OfCode(X)", "x y"));
        all.add(
                kind(
                        "OfShared : virtual Other",
                        "long x; OfShared(long v) : Other(v), x(v) {}",
                        "OfShared(X)",
                        "x"));
        all.add(kind("Empty", "", "Empty()", ""));
        all.add(kind("OfEmpty : Empty", "int x; OfEmpty(int v) : x(v) {}", "OfEmpty(0x11)", "x"));
        all.add(kind("Holds", "EndCode in; Holds(long v) : in(v) {}", "Holds(X)", "in.x in.y"));
        all.add(
                kind(
                        "HoldsTwo",
                        "MoveOnly in[2]; HoldsTwo(long v) : in{MoveOnly(v), MoveOnly(v)} {}",
                        "HoldsTwo(X)",
                        "in[1].y"));
        all.add(
                kind(
                        "HoldsPlain",
                        "Converted in; HoldsPlain(long v) : in(v) {}",
                        "HoldsPlain(X)",
                        "in.x in.y"));
        all.add(
                kind(
                        "Small",
                        "char x; Small(int v) : x(v) {} Small(const Other &o) : x(o.v) {}",
                        "Small(0x11)",
                        "x"));
        all.add(
                kind(
                        "Eight",
                        "long x; Eight(long v) : x(v) {} Eight(const Other &o) : x(o.v) {}",
                        "Eight(X)",
                        "x"));
        all.add(kind("Refers", "int &x; Refers(int &v) : x(v) {}", "Refers(target)", ""));
        all.add(
                kind(
                        "Mixed",
                        "int x; double d; Mixed(int v) : x(v), d(2) {}",
                        "Mixed(0x11)",
                        "#x #d"));
        return all;
    }

    private static final String HEAD =
            """
            #include <stddef.h>
            #include <stdio.h>
            #include <string.h>
            #ifdef __cplusplus
            #include <utility>
            #define C extern "C"
            #else
            #define C
            #endif
            #define CALLED C __attribute__((noinline, noclone, used))
            #define X 0x1817161514131211L
            static int target = 0x11;
            #ifdef TRUTH
            C long regs[7]; long regs[7];
            C char *top; char *top;
            static int base, known;
            static char want[8];
            CALLED void seen(const char *name)
            {
            	char *sp = (char *) regs[6], *there = (char *) regs[base];
            	char k[16] = "?", a[16] = "?";
            	for (int i = 64; i >= 8; i -= 8)
            		if (*(int *) (sp + i) == NUMBER) sprintf(k, "s%d", i);
            	for (int i = 5; i >= 0; i--)
            		if ((int) regs[i] == NUMBER) sprintf(k, "r%d", i);
            	for (int i = 64; i >= 8; i -= 8)
            		if (!memcmp(sp + i, want, known)) sprintf(a, "s%d", i);
            	if (there > sp && there < top && !memcmp(there, want, known)) sprintf(a, "m%d", base);
            	if (!memcmp(&there, want, known)) sprintf(a, "r%d", base);
            	printf("%s k=%s a=%s\\n", name, k, known ? a : "?");
            }
            asm(".text\\nstub: push %rbp\\n mov %rsp, %rbp\\n lea regs(%rip), %rax\\n mov %rdi, (%rax)\\n"
            	"mov %rsi, 8(%rax)\\n mov %rdx, 16(%rax)\\n mov %rcx, 24(%rax)\\n mov %r8, 32(%rax)\\n"
            	"mov %r9, 40(%rax)\\n lea 8(%rbp), %rdx\\n mov %rdx, 48(%rax)\\n mov %r11, %rdi\\n"
            	"and $-16, %rsp\\n call seen\\n mov regs(%rip), %rax\\n leave\\n ret");
            #define STUB(n) asm(".text\\n.globl " #n "\\n" #n ": lea name_" #n "(%rip), %r11\\n jmp stub\\n" \
            	".section .rodata\\nname_" #n ": .asciz \\"" #n "\\"\\n.text");
            #endif
            """;

    /** The text of a program with functions {@code take_K}, {@code late_K} and {@code give_K}. */
    public static String source(List<Kind> kinds) {
        StringBuilder text = new StringBuilder("#define NUMBER " + NUMBER + "\n").append(HEAD);
        StringBuilder calls = new StringBuilder();
        for (Kind kind : kinds) {
            String name = kind.name;
            text.append(kind.definition).append("\ntypedef struct %1$s %1$s;\n".formatted(name));
            List<String> formats = new ArrayList<>(List.of("k=%d"));
            List<String> values = new ArrayList<>(List.of("k"));
            for (String number : kind.numbers) {
                formats.add(number + "=%ld");
                values.add("(long) a." + number);
            }
            String print = "{ printf(\"%s " + String.join(" ", formats) + "\\n\", ";
            print += String.join(", ", values) + ");";
            for (String one : List.of("take_", "late_")) {
                String head =
                        one
                                + name
                                + "("
                                + (one.equals("late_")
                                        ? "int c, int d, int e," + " int f, int g, "
                                        : "")
                                + name
                                + " a, int k)";
                declare(text, "long ", head, print.replaceFirst("%s", one + name) + " return k; }");
            }
            declare(
                    text,
                    name + " ",
                    "give_" + name + "(int k)",
                    "{ printf(\"give_%s k=%%d\\n\", k); return %s; }".formatted(name, kind.make));
            declare(
                    text,
                    "long ",
                    "via_" + name + "(" + name + " *p, int k)",
                    "{ asm volatile(\"\" :: \"r\"(p)); return k; }");
            calls.append(calls(kind));
        }
        return text.append("int main(void)\n{\n#ifdef TRUTH\n top = __builtin_frame_address(0);\n")
                .append("#endif\n")
                .append(calls)
                .append("}\n")
                .toString()
                .replace("top = __builtin", "top = (char *) __builtin");
    }

    private static void declare(StringBuilder text, String result, String head, String body) {
        String name = head.substring(0, head.indexOf('('));
        text.append("CALLED ").append(result).append(head).append(";\n");
        text.append("#ifdef TRUTH\nSTUB(").append(name).append(")\n#else\n");
        text.append("CALLED ").append(result).append(head).append('\n').append(body);
        text.append("\n#endif\n");
    }

    private static String calls(Kind kind) {
        StringBuilder layout = new StringBuilder();
        StringBuilder values = new StringBuilder();
        for (String field : kind.fields) {
            layout.append(' ').append(field).append("=%zu:%zu");
            values.append(", offsetof(%s, %s), sizeof v.%2$s".formatted(kind.name, field));
        }
        return """
        {
        #ifdef TRUTH
        \t%1$s v = %2$s;
        \tprintf("layout %1$s size=%%zu%3$s\\n", sizeof v%4$s);
        \tknown = %5$s;
        \tmemcpy(want, (void *) &v, known);
        \tbase = 0;
        #endif
        \ttake_%1$s(%2$s, NUMBER);
        #ifdef TRUTH
        \tbase = 5;
        #endif
        \tlate_%1$s(1, 2, 3, 4, 5, %2$s, NUMBER);
        #ifdef TRUTH
        \tknown = 0;
        #endif
        \tgive_%1$s(NUMBER);
        }
        """
                .formatted(
                        kind.name,
                        kind.make,
                        layout,
                        values,
                        kind.name.equals("Empty") ? "0" : "sizeof v < 4 ? (sizeof v + 1) / 2 : 4");
    }
}
