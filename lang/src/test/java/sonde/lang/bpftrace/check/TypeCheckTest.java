package sonde.lang.bpftrace.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.lang.bpftrace.run.Compilation;
import sonde.lang.bpftrace.run.TargetMachine;
import sonde.lang.bpftrace.run.TraceOptions;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceDiagnostic;
import sonde.lang.source.SourceText;

class TypeCheckTest {
    private static final TargetMachine MACHINE = new TargetMachine(4, 0, 0, 0, 0, 6, 12);

    private static @Nullable Compilation compile(String script, CompilerDiagnostics diagnostics) {
        TraceOptions options = TraceOptions.USUAL;
        return Compilation.of(new SourceText("t", script), options, MACHINE, diagnostics);
    }

    private static List<String> messages(String script) {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        compile(script, diagnostics);
        return diagnostics.all().stream().map(SourceDiagnostic::message).toList();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\0',
            value = {
                "begin { print(com); } | did you mean 'comm'?",
                "begin { prinft(1); } | did you mean 'print' or 'printf'?",
                "begin { print((x=1, yes=2).yos); } | did you mean 'yes'?",
                "BEGN { } | did you mean 'begin'?",
                "interval:s:1 /pid = 1/ { } | values are compared with ==",
                "begin { if (pid) { $a = 1; } print($a); } | a variable lives in the block that it"
                        + " is assigned in: write `let $a;` before that block",
                "let @a = heap(3); begin { @a[1] = 1; } | one of hash, lruhash, percpuhash,"
                        + " percpulruhash",
            })
    void whatWasMeantIsAsked(String script, String hint) {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        compile(script, diagnostics);
        assertThat(diagnostics.all().getFirst().hint()).isEqualTo(hint);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\0',
            value = {
                "$x = 1; $x = \"a\"; | Type mismatch for $x: trying to assign value of type"
                        + " 'string[2]' when variable already has a type 'int8'",
                "@x = 1; @x = \"a\"; | Type mismatch for @x: trying to assign value of type"
                        + " 'string[2]' when map already has a type 'int8'",
                "@[1] = 1; @[\"a\"] = 1; | Argument mismatch for @: trying to access with"
                        + " arguments: 'string[2]' when map expects arguments: 'int8'",
                "@ = 1; @[1] = 1; | @ used as a map with an explicit key (non-scalar map),"
                        + " previously used without an explicit key (scalar map)",
                "print($y); | Undefined or undeclared variable: $y",
                "{ $y = 1; } print($y); | Undefined or undeclared variable: $y",
                "let $y; let $y; | Variable $y was already declared. Variable shadowing is not"
                        + " allowed.",
                "nothing(1); | Unknown function: 'nothing'",
                "print(nothing); | Unknown identifier: 'nothing'",
                "@ = sum(); | sum() requires one argument (0 provided)",
                "$x = kptr((1, 2)); | kptr() only supports integer or pointer"
                        + " arguments ((int8,int8) provided)",
                "@ = sum(\"a\"); | sum() only supports integer arguments (string[2] provided)",
                "$x = count(); | count() must be assigned directly to a map",
                "system(\"ls\"); | system() is unsafe. To use you need the --unsafe flag",
                "printf($x); | printf() expects a string literal as the first argument",
                "@ = lhist(1, 5, 1, 1); | lhist() min must be less than max",
                "unroll(0) { } | unroll minimum value is 1",
                "print(dw_ustack); | dw_ustack requires a target process",
                "skboutput(\"a\", curtask, 1, 0); | skboutput can not be used with \"begin\" probes",
                "break; | break statement is not within a loop",
                "print(comm + pid); | Type mismatch for '+': comparing string[16] with uint32",
                "print(1.2); | Can not access index '2' on expression of type 'int8'",
                "print((1, 2).2); | Invalid tuple index: 2. Found 2 elements in tuple.",
                "print(args.x); | The args builtin can only be used with tracepoint/fentry/uprobe"
                        + " probes (begin used here)",
                "@a[1] = 1; print(len(@b)); @b = 1; | call to len() expects a map with explicit"
                        + " keys (non-scalar map)",
                "@a = 1; for ($kv : @a) { } | @a has no explicit keys (scalar map), and cannot be"
                        + " used for iteration",
                "for ($kv : @none) { } | Undefined map: @none",
                "print(@none); | Undefined map: @none",
                "let $a; print($a); | No type available for variable $a",
                "@a = 1; @a = count(); | Type mismatch for @a: trying to assign value of type"
                        + " 'count_t' when map already has a type 'int8'",
                "@a = sum(1); @b = @a; | Map value 'sum_t' cannot be assigned from one map to"
                        + " another. The function that returns this type must be called directly"
                        + " e.g. `@b = sum(retval);`.",
                "@a[1] = hist(1); print(@a[1]); | Map type hist_t cannot print the value of"
                        + " individual keys. You must print the whole map.",
                "@a[1] = hist(1); print((1, @a[1])); | Map type hist_t cannot exist inside a"
                        + " tuple.",
                "fail(\"%s of %d\", \"one\", 2); | one of 2",
                "print(nsecs(noon)); | Invalid timestamp mode: noon",
                "let $a: uint8 = -1; | Type mismatch for $a: trying to assign value of type 'int8'"
                        + " when variable already has a type 'uint8'",
                "print(sarg1); | sarg1 is no longer part of the language",
            })
    void whatDoesNotFitIsSaid(String body, String message) {
        assertThat(messages("begin { " + body + " }")).contains(message.strip());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "if (0) { fail(\"never\"); }",
                "@a[2] = 1; print(is_scalar(@a));",
                "$a = 1; if comptime (typeinfo($a) != typeinfo(2)) { fail(\"never\"); }",
                "$a = 1; print(typeinfo($a)); $b = typeinfo($a); print($b.full_type);",
                "$a = pid == 1; $b = $a + $a; print($b);",
                "$p = (int32 *)\"abc\"; print(*$p);",
            })
    void whatFitsIsTaken(String body) {
        assertThat(messages("begin { " + body + " }")).isEmpty();
    }

    @Test
    void argumentsThatAreNoAddressesAndNoNumbers() {
        assertThat(
                        messages(
                                "begin { print(ntop(buf(\"abcd\", 4)));"
                                        + " print(macaddr((uint8[4])(uint32)5));"
                                        + " print(macaddr((1, 2))); print(macaddr(\"abcdef\"));"
                                        + " print(ksym(\"abc\")); print(usym((1, 2)));"
                                        + " print(strftime(\"%H\", \"abc\")); }"))
                .satisfiesExactly(
                        m -> assertThat(m).contains("ntop() only supports"),
                        m -> assertThat(m).contains("at least 6 bytes"),
                        m -> assertThat(m).contains("macaddr() only supports"),
                        m -> assertThat(m).contains("literal string"),
                        m -> assertThat(m).contains("ksym() expects an integer or pointer"),
                        m -> assertThat(m).contains("usym() expects an integer or pointer"),
                        m -> assertThat(m).contains("strftime() expects an integer or pointer"));
        assertThat(messages("begin { print(ntop(1)); print(ksym((uint64)1)); print(usym(1)); }"))
                .isEmpty();
    }

    @Test
    void marksOfOtherSystemsEditorsDoNoHarm() {
        assertThat(messages("\ufeff#!/usr/bin/env sonde\r\nbegin\r\n{\r\n  print(1);\r\n}\r\n"))
                .isEmpty();
        assertThat(messages("\ufeffbegin { print(1); }")).isEmpty();
    }

    @Test
    void aParameterOfAMacroMayHaveTheNameOfAFunction() {
        assertThat(messages("macro both(func, rand) { func + rand } begin { print(both(1, 2)); }"))
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\0',
            value = {
                "1 | int8",
                "-1000 | int16",
                "70000 | int32",
                "pid + 1 | uint64",
                "pid - 1 | int64",
                "(uint32)1 + (uint8)3 | uint64",
                "(uint64)1 - (uint64)2 | int64",
                "1 == 2 | bool",
                "\"abc\" | string[4]",
                "(1, \"a\") | (int8,string[2])",
                "(a=1, b=true) | (a=int8,b=bool)",
                "comm | string[16]",
                "nsecs | uint64",
                "strerror(2) | strerror",
                "bswap((uint16)1) | uint16",
                "1 ? (uint16)1 : (uint8)2 | uint16",
                "{ let $a = (int32)1; $a } | int32",
            })
    void typesFollowFromWhatIsWritten(String expression, String type) {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        Compilation compiled = compile("begin { @ = " + expression.strip() + "; }", diagnostics);
        assertThat(diagnostics.all()).isEmpty();
        assertThat(compiled).isNotNull();
        assertThat(compiled.unit().maps().get("@").value()).hasToString(type.strip());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "begin { $a = 1; $a = (uint64)2; @ = $a; }",
                "begin { @ = (int8)1; } end { @ = (uint64)2; }",
            })
    void laterValuesWiden(String script) {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        Compilation compiled = compile(script, diagnostics);
        assertThat(compiled).isNotNull();
        assertThat(compiled.unit().maps().get("@").value().sizeBytes()).isEqualTo(8);
    }
}
