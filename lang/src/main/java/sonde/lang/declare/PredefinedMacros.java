package sonde.lang.declare;

import java.util.List;
import java.util.Map;
import sonde.lang.declare.CToken.Kind;
import sonde.lang.declare.MacroExpansion.CMacro;

/** Macros that are there before the first line: those of a compiler for x86-64. */
final class PredefinedMacros {
    private static final Map<String, String> NUMBERS =
            Map.ofEntries(
                    Map.entry("__STDC__", "1"),
                    Map.entry("__STDC_VERSION__", "201710L"),
                    Map.entry("__STDC_HOSTED__", "1"),
                    Map.entry("__GNUC__", "12"),
                    Map.entry("__GNUC_MINOR__", "2"),
                    Map.entry("__x86_64__", "1"),
                    Map.entry("__x86_64", "1"),
                    Map.entry("__amd64__", "1"),
                    Map.entry("__linux__", "1"),
                    Map.entry("__linux", "1"),
                    Map.entry("__unix__", "1"),
                    Map.entry("__ELF__", "1"),
                    Map.entry("__LP64__", "1"),
                    Map.entry("_LP64", "1"),
                    Map.entry("__CHAR_BIT__", "8"),
                    Map.entry("__SCHAR_MAX__", "127"),
                    Map.entry("__SHRT_MAX__", "32767"),
                    Map.entry("__INT_MAX__", "0x7fffffff"),
                    Map.entry("__LONG_MAX__", "0x7fffffffffffffffL"),
                    Map.entry("__LONG_LONG_MAX__", "0x7fffffffffffffffLL"),
                    Map.entry("__SIZEOF_INT__", "4"),
                    Map.entry("__SIZEOF_LONG__", "8"),
                    Map.entry("__SIZEOF_POINTER__", "8"),
                    Map.entry("__SIZEOF_INT128__", "16"),
                    Map.entry("__ORDER_LITTLE_ENDIAN__", "1234"),
                    Map.entry("__ORDER_BIG_ENDIAN__", "4321"),
                    Map.entry("__BYTE_ORDER__", "1234"),
                    Map.entry("_GNU_SOURCE", "1"));

    private static final Map<String, List<String>> WORDS =
            Map.of(
                    "__SIZE_TYPE__", List.of("long", "unsigned", "int"),
                    "__PTRDIFF_TYPE__", List.of("long", "int"),
                    "__WCHAR_TYPE__", List.of("int"),
                    "__WINT_TYPE__", List.of("unsigned", "int"),
                    "__INTPTR_TYPE__", List.of("long", "int"),
                    "__UINTPTR_TYPE__", List.of("long", "unsigned", "int"),
                    "__builtin_va_list", List.of("__int128"));

    private PredefinedMacros() {}

    static void define(MacroExpansion macros, boolean kernelIsThere, CToken place) {
        NUMBERS.forEach((name, value) -> define(macros, name, place.as(Kind.NUMBER, value)));
        WORDS.forEach((name, words) ->
                macros.define(
                        new CMacro(
                                name,
                                null,
                                false,
                                words.stream().map(w -> place.as(Kind.WORD, w)).toList(),
                                true)));
        if (kernelIsThere) {
            define(macros, "BPFTRACE_HAVE_BTF", place.as(Kind.NUMBER, "1"));
        }
    }

    private static void define(MacroExpansion macros, String name, CToken value) {
        macros.define(new CMacro(name, null, false, List.of(value), true));
    }
}
