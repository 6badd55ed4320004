package sonde.lang.declare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.lang.bpftrace.syntax.TypeSyntax.Kind;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceDiagnostic;
import sonde.lang.source.SourceText;
import sonde.lang.type.StructType;
import sonde.lang.type.TypeField;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.ArrayType;
import sonde.lang.type.ValueType.EnumType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.PointerSpace;
import sonde.lang.type.ValueType.PointerType;
import sonde.lang.type.ValueType.VoidType;

class CDeclarationsTest {
    /** A kernel with a structure, an enumeration and a typedef. */
    private static final TypeSource KERNEL =
            new TypeSource() {
                private final Map<String, ValueType> types =
                        Map.of(
                                "STRUCT list_head",
                                new StructType("list_head", false, 16, 8, List::of),
                                "STRUCT task_struct",
                                new StructType("task_struct", false, 9000, 8, List::of),
                                "PLAIN sigset_t",
                                new StructType("", false, 8, 8, List::of),
                                "ENUM pid_type",
                                new EnumType("pid_type", 4, false, Map.of(0L, "PIDTYPE_PID")));

                @Override
                public @Nullable ValueType type(Kind kind, String name) {
                    return types.get(kind + " " + name);
                }

                @Override
                public @Nullable Long constant(String enumerator) {
                    return enumerator.equals("PIDTYPE_MAX") ? 4L : null;
                }
            };

    private static CDeclarations good(String text) {
        Scripts.Result result = Scripts.script(text, KERNEL);
        assertThat(result.said()).isEmpty();
        return result.declarations();
    }

    private static StructType struct(CDeclarations from, String name) {
        return (StructType) Objects.requireNonNull(from.type(Kind.STRUCT, name));
    }

    private static TypeField field(StructType struct, String name) {
        return Objects.requireNonNull(struct.field(name));
    }

    private static List<String> errors(String text) {
        return Scripts.script(text, KERNEL).said().stream().map(SourceDiagnostic::message).toList();
    }

    @Test
    void laysOutIntegers() {
        StructType foo = struct(good("struct Foo { int x; int y, z; }"), "Foo");
        assertThat(foo.sizeBytes()).isEqualTo(12);
        assertThat(foo.fields())
                .extracting(TypeField::name, TypeField::offsetBytes, TypeField::type)
                .containsExactly(
                        tuple("x", 0, IntType.I32),
                        tuple("y", 4, IntType.I32),
                        tuple("z", 8, IntType.I32));
    }

    @Test
    void readsDefinitionsThatFollowEachOtherWithoutSemicolon() {
        CDeclarations all =
                good(
                        "struct a {int a} struct b { volatile const struct a* restrict a; const"
                                + " struct a a2; };");
        StructType b = struct(all, "b");
        assertThat(b.sizeBytes()).isEqualTo(16);
        assertThat(field(b, "a").type())
                .isEqualTo(new PointerType(struct(all, "a"), PointerSpace.KERNEL));
        assertThat(field(b, "a2").type()).isEqualTo(struct(all, "a"));
    }

    @Test
    void findsMembersOfStructuresWithoutName() {
        StructType foo =
                struct(
                        good(
                                "struct Foo { union { long long _xy; struct { int x; int y;}; };"
                                        + " int a; struct { int z; }; struct Bar { int q; }; }"),
                        "Foo");
        assertThat(foo.sizeBytes()).isEqualTo(16);
        assertThat(field(foo, "y").offsetBytes()).isEqualTo(4);
        assertThat(field(foo, "z").offsetBytes()).isEqualTo(12);
        assertThat(foo.field("q")).isNull();
    }

    @Test
    void packsAndAligns() {
        CDeclarations all =
                good(
                        "struct Foo { int x; char y; int z; } __attribute__((packed, aligned(1)))"
                                + " struct Bar { int x; char y; int z; } __attribute__((packed))"
                                + " __attribute__((aligned(2)))");
        assertThat(struct(all, "Foo").sizeBytes()).isEqualTo(9);
        assertThat(field(struct(all, "Foo"), "z").offsetBytes()).isEqualTo(5);
        assertThat(struct(all, "Bar").sizeBytes()).isEqualTo(10);
    }

    @Test
    void placesBitfields() {
        StructType foo = struct(good("struct Foo { int pad; int a:28, b:4; long int end;}"), "Foo");
        assertThat(foo.sizeBytes()).isEqualTo(16);
        assertThat(foo.fields())
                .extracting(TypeField::name, TypeField::bitOffset, TypeField::bits)
                .containsExactly(
                        tuple("pad", 0L, 0),
                        tuple("a", 32L, 28),
                        tuple("b", 60L, 4),
                        tuple("end", 64L, 0));
    }

    @Test
    void readsArraysPointersAndFunctions() {
        StructType s =
                struct(
                        good(
                                "struct S { char name[16]; int y[2][3]; int *z[4]; int (*row)[4];"
                                        + " int (*call)(struct S *, int); void *(*more[2])(void);"
                                        + " struct S *next; unsigned char tail[]; };"),
                        "S");
        assertThat(field(s, "name").type()).isEqualTo(new ArrayType(LinuxBasicTypes.CHAR, 16));
        assertThat(field(s, "y").type()).isEqualTo(new ArrayType(new ArrayType(IntType.I32, 3), 2));
        assertThat(field(s, "z").type())
                .isEqualTo(new ArrayType(new PointerType(IntType.I32, PointerSpace.KERNEL), 4));
        assertThat(field(s, "row").type())
                .isEqualTo(new PointerType(new ArrayType(IntType.I32, 4), PointerSpace.KERNEL));
        assertThat(field(s, "call").type())
                .isEqualTo(new PointerType(new VoidType(), PointerSpace.KERNEL));
        assertThat(field(s, "next").type()).isEqualTo(new PointerType(s, PointerSpace.KERNEL));
        assertThat(((ArrayType) field(s, "more").type()).count()).isEqualTo(2);
        assertThat(field(s, "tail").offsetBytes()).isEqualTo(s.sizeBytes());
    }

    @Test
    void countsEnumerations() {
        CDeclarations all =
                good(
                        "enum E { NONE, SOME = 99, NEXT, BIT = 1 << 4 | SOME & 3, NEG = -1 };"
                                + " enum { BIG = 0x100000000ULL, LAST = ~0U };"
                                + " struct Foo { enum E e; enum pid_type t; }");
        assertThat(all.constant("NEXT")).isEqualTo(100);
        assertThat(all.constant("BIT")).isEqualTo(19);
        assertThat(all.constant("LAST")).isEqualTo(0xffff_ffffL);
        EnumType e = (EnumType) Objects.requireNonNull(all.type(Kind.ENUM, "E"));
        assertThat(e.names()).containsEntry(99L, "SOME").containsEntry(-1L, "NEG");
        assertThat(e.signed()).isTrue();
        assertThat(Objects.requireNonNull(all.enumerationOf("BIG")).sizeBytes()).isEqualTo(8);
        assertThat(all.enumerationOf("NEXT")).isEqualTo(e);
        assertThat(struct(all, "Foo").sizeBytes()).isEqualTo(8);
    }

    @Test
    void evaluatesMacros() {
        CDeclarations all =
                good(
                        """
                        #define _UNDERSCORE 314
                        #define RED "\\033[31m" "m"
                        #define TWICE(x) ((x) + (x))
                        #define SUM (TWICE(_UNDERSCORE) - 1) /* 627 */
                        #define PTR sizeof(void *)
                        #define WORD size_t
                        #define SELF SELF
                        #define JOIN(a, b) a##b
                        #define JOINED JOIN(_UNDER, SCORE)
                        #define NAME(x) #x
                        #define SHOWN NAME(a + b)
                        #define REST(first, ...) (first, __VA_ARGS__)
                        #define COMMA REST(1, 2, 3)
                        #define TYPES PIDTYPE_MAX + AF_INET6
                        #undef GONE
                        #define GONE 1
                        #undef GONE
                        """);
        assertThat(all.constant("_UNDERSCORE")).isEqualTo(314);
        assertThat(all.constant("SUM")).isEqualTo(627);
        assertThat(all.constant("PTR")).isEqualTo(8);
        assertThat(all.constant("WORD")).isNull();
        assertThat(all.expansion("WORD")).isEqualTo("size_t");
        assertThat(all.constant("SELF")).isNull();
        assertThat(all.expansion("SELF")).isEqualTo("SELF");
        assertThat(all.constant("JOINED")).isEqualTo(314);
        assertThat(all.text("RED")).isEqualTo("\033[31mm");
        assertThat(all.text("SHOWN")).isEqualTo("a + b");
        assertThat(all.constant("COMMA")).isEqualTo(3);
        assertThat(all.constant("TYPES")).isEqualTo(14);
        assertThat(all.constant("GONE")).isNull();
        assertThat(all.names()).contains("SUM", "RED").doesNotContain("GONE", "TWICE", "__GNUC__");
    }

    @Test
    void choosesByConditions() {
        String text =
                """
                #ifndef BPFTRACE_HAVE_BTF
                #include <linux/lol.h>
                struct none { int a; };
                #elif defined(X) && X > 1
                #define Y 1
                #else
                #define Y 2
                #if Y == 2 && (1 ? 5 : 1 / 0) == 5 && UNKNOWN(1) == 0
                #define Z 'a'
                #endif
                #endif
                """;
        CDeclarations all = good(text);
        assertThat(all.constant("Y")).isEqualTo(2);
        assertThat(all.constant("Z")).isEqualTo('a');
        assertThat(all.type(Kind.STRUCT, "none")).isNull();
        Scripts.Result without = Scripts.script(text, TypeSource.NONE);
        assertThat(without.said())
                .extracting(SourceDiagnostic::message)
                .containsExactly("definitions.h:3:10: fatal error: 'linux/lol.h' file not found");
        assertThat(without.declarations().type(Kind.STRUCT, "none")).isNotNull();
    }

    @Test
    void missesHeadersNobodyKnows() {
        assertThat(errors("#include <lol/no.h>"))
                .containsExactly("definitions.h:2:10: fatal error: 'lol/no.h' file not found");
        // Its types come from BTF.
        assertThat(errors("#include <net/sock.h>\n#include <linux/nosuch.h>")).isEmpty();
    }

    @Test
    void readsHeaders(@TempDir Path folder) throws IOException {
        Files.writeString(
                folder.resolve("inner.h"),
                "#pragma once\ntypedef unsigned int my_t;\n#define DEEP 7\nextern int f(my_t a);\n");
        Files.writeString(
                folder.resolve("outer.h"),
                """
                #ifndef OUTER_H
                #define OUTER_H
                #include "inner.h"
                #include "outer.h"
                static inline int g(int a) { if (a) { return 1; } return 2; }
                this is no C at all;
                struct outer { my_t a; char b; };
                #endif
                """);
        IncludeFolders includes = new IncludeFolders(List.of(folder), List.of("outer.h"));
        SourceText source = new SourceText("test.bt", "#include <outer.h>\n");
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        CDeclarations all = CDeclarations.parse(source, List.of(), includes, KERNEL, diagnostics);
        // A warning, with its place: the rest may be all that the script wants.
        assertThat(diagnostics.hasErrors()).isFalse();
        assertThat(diagnostics.all())
                .singleElement()
                .satisfies(one -> assertThat(one.span().source().name()).endsWith("/outer.h"))
                .satisfies(one -> assertThat(one.span().place()).contains("outer.h:6:"));
        assertThat(all.constant("DEEP")).isEqualTo(7);
        assertThat(struct(all, "outer").sizeBytes()).isEqualTo(8);
        assertThat(all.type(Kind.PLAIN, "my_t")).isEqualTo(IntType.U32);
    }

    @Test
    void takesTypesOfTheKernel() {
        CDeclarations all =
                good("struct foo { struct task_struct t; sigset_t s; struct gone *p; }");
        assertThat(struct(all, "foo").sizeBytes()).isEqualTo(9016);
        PointerType gone = (PointerType) field(struct(all, "foo"), "p").type();
        assertThat(gone.to().toString()).isEqualTo("struct gone");
        assertThat(all.type(Kind.STRUCT, "task_struct")).isNull();
    }

    /**
     * bpftrace refuses this: beside a definition of the kernel's own struct it takes nothing from
     * BTF.
     */
    @Test
    void aTypeOfTheKernelsMayBeDefinedAnew() {
        CDeclarations all = good("struct task_struct { int x; struct list_head l; }");
        assertThat(struct(all, "task_struct").sizeBytes()).isEqualTo(24);
    }

    @Test
    void saysWhatIsWrong() {
        assertThat(errors("struct a { int a; struct b b; };"))
                .containsExactly("C error: field has incomplete type 'struct b'");
        assertThat(errors("struct a { struct a b[2]; };")).hasSize(1);
        assertThat(errors("struct a {int a;}; struct a {int a; short b;};"))
                .containsExactly("C error: redefinition of 'a'");
        assertThat(errors("struct a { foo_t b; }"))
                .containsExactly("C error: unknown type name 'foo_t'");
        assertThat(errors("struct a { int a[-1]; }")).hasSize(1);
        assertThat(errors("struct a { int a[0x7fffffff]; int b; }")).hasSize(1);
        assertThat(errors("struct a { int a:33; }")).hasSize(1);
        assertThat(errors("struct a { int x; int x; }")).hasSize(1);
        assertThat(errors("#if 1\nstruct a { int x; }")).hasSize(1);
        assertThat(errors("#error \"no good\"")).hasSize(1);
        assertThat(errors("enum e { A = B }"))
                .containsExactly("C error: use of undeclared identifier 'B'");
    }

    @Test
    void pointsAtTheScript() {
        Scripts.Result result = Scripts.script("#define T nosuch\nstruct a {\n T x; }", KERNEL);
        assertThat(result.said().getFirst().span().place()).isEqualTo("test.bt:3:2-3");
    }

    @Test
    void stopsAtMacrosThatMakeTooMuch() {
        StringBuilder text = new StringBuilder("#define M0 a a a a a a a a\n");
        for (int i = 1; i < 40; i++) {
            text.append("#define M%d M%d M%d\n".formatted(i, i - 1, i - 1));
        }
        text.append("struct s { int x[M39]; }");
        assertThat(errors(text.toString())).isNotEmpty();
    }
}
