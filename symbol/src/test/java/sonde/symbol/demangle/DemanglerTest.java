package sonde.symbol.demangle;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DemanglerTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    main                            | main
                    _ZN4shop5scaleIiLi3EEET_S1_     | shop::scale<int, 3>
                    _ZN4shop4CartclEi.constprop.0   | shop::Cart::operator()
                    _ZN1AcvT_IiEEv                  | A::operator int<int>
                    _ZZ1fvENKUliE_clEi              | f()::{lambda(int)#1}::operator()
                    _ZThn16_N1A1fEv                 | _ZThn16_N1A1fEv
                    _ZN4core3fmt5write17h0123456789abcdefE | core::fmt::write
                    _RINvNtC3std3mem8align_ofjE     | std::mem::align_of::<usize>
                    """)
    void namesWithoutParameters(String symbol, String name) {
        assertThat(Demangler.functionName(symbol)).isEqualTo(name);
    }

    @Test
    void whatIsWrittenIsMeant() {
        String scale = "_ZN4shop5scaleIiLi3EEET_S1_";
        assertThat(Demangler.means(scale, "shop::scale<int,3>")).isTrue();
        assertThat(Demangler.means(scale, "scale<int, 3>(int)")).isTrue();
        assertThat(Demangler.means(scale, "cale<int, 3>")).isFalse();
        assertThat(Demangler.means("_ZN4shop4spinEl", "shop::spin(int)")).isFalse();
        assertThat(Demangler.means("main", "main")).isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    main                           | main
                    _Z1fv                          | f()
                    _Z3fooIiEvT_.isra.0.cold       | void foo<int>(int) [clone .isra.0] [clone .cold]
                    _ZNSs6appendEv                 | std::basic_string<char, std::char_traits<char>, std::allocator<char> >::append()
                    _ZN1AcvT_IiEEv                 | A::operator int<int>()
                    _ZNK1A1fEv                     | A::f() const
                    _ZN1AC2Ev                      | A::A()
                    _ZN1AD0Ev                      | A::~A()
                    _ZTV1A                         | vtable for A
                    _ZThn16_N1A1fEv                | non-virtual thunk to A::f()
                    _ZGVZ1fvE1x                    | guard variable for f()::x
                    _ZZ1fvENKUliE_clEi             | f()::{lambda(int)#1}::operator()(int) const
                    _ZZ3fooIiEvT_E1x               | foo<int>(int)::x
                    _Z1fPFivE                      | f(int (*)())
                    _Z1fRA3_i                      | f(int (&) [3])
                    _Z1fM1AKFivE                   | f(int (A::*)() const)
                    _Z1fIJilEEvDpT_                | void f<int, long>(int, long)
                    _Z1fILb1ELi-5EEvv              | void f<true, -5>()
                    _ZN12_GLOBAL__N_11fEv          | (anonymous namespace)::f()
                    _ZL1fv.llvm.15566399482756420281.cold | f() [clone .llvm.15566399482756420281] [clone .cold]
                    _Z1fIJA8_c4descEEvDpRKT_       | void f<char [8], desc>(char const (&) [8], desc const&)
                    _Z1fIJSt5tupleIJicEEdEEvDpT_   | void f<std::tuple<int, char>, double>(std::tuple<int, char>, double)
                    _ZN3valIZ1fIcEvT_EUlS1_E_EclIPiEEvS1_ | void val<f<char>(char)::{lambda(auto:1)#1}>::operator()<int*>(int*)
                    _Z1gIiEvDTnw_T_piLi1EEE        | void g<int>(decltype (new int(1)))
                    _ZNK1xMUlTyT_T0_E_clIiiEEDaS_S0_ | auto x::{lambda<typename $T0>($T0, auto:2)#1}::operator()<int, int>(x, int) const
                    _ZN1A1fIiEENSt9enable_ifIXsrNS_1BIT_EE5valueES2_E4typeEv | std::enable_if<A::B<int>::value, A::B>::type A::f<int>()
                    _Z1fDB3_DU8_                   | f(_BitInt(3), unsigned _BitInt(8))
                    _Z1fIiJlcEEiDTsZT0_E           | int f<int, long, char>(decltype (2))
                    _Z1fIIilEEvDpT_                | void f<int, long>(int, long)
                    _Z3abcB5cxx11v                 | abc[abi:cxx11]()
                    _GLOBAL__I_x                   | global constructors keyed to x
                    _ZN4core3fmt5Write9write_fmt17h0123456789abcdefE | core::fmt::Write::write_fmt
                    _ZN42_$LT$$RF$T$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE | <&T as core::fmt::Debug>::fmt
                    _RNvC6_123foo3bar              | 123foo::bar
                    _RNvNtCs1234_7mycrate3foo3bar  | mycrate::foo::bar
                    _RINvNtC3std3mem8align_ofjE    | std::mem::align_of::<usize>
                    _RNCNvC1a4main0                | a::main::{closure#0}
                    _RNvMC1aNtB2_3Foo3new          | <a::Foo>::new
                    """)
    void writesWhatTheProgrammerWrote(String mangled, String expected) {
        String adapted = mangled.replace("Li-5E", "Lin5E");
        assertThat(Demangler.demangle(adapted)).isEqualTo(expected);
    }

    /** Names whose size doubles at every step, and endless nesting, end soon. */
    @Test
    void isBounded() {
        StringBuilder doubling = new StringBuilder("_Z1fI1AE");
        for (int i = 0; i < 30; i++) {
            doubling.append("S").append(i < 1 ? "" : Integer.toString(i - 1, 36).toUpperCase());
            doubling.append("_IS_S_E");
        }
        assertThat(Demangler.demangle(doubling.toString()).length())
                .isLessThanOrEqualTo(DemangledText.LENGTH_LIMIT);
        String deep = "_Z1f" + "P".repeat(10_000) + "i";
        assertThat(Demangler.demangle(deep)).isEqualTo(deep);
        String rust = "_R" + "I".repeat(10_000);
        assertThat(Demangler.demangle(rust)).isEqualTo(rust);
    }

    @Test
    void survivesAnyChange() {
        String[] seeds = {
            "_ZNSt6vectorIiSaIiEE12emplace_backIJiEEERiDpOT_",
            "_ZZZ3fooIiEvT_ENKUlvE_clEvE1y",
            "_ZN3valIZ1fIcEvT_EUlTyS1_T0_E_EclIPiEEvS1_",
            "_Z1gIiJlcEEvDTnw_T_pisZT0_EEDpRKT0_",
            "_ZSt4moveIRiEONSt16remove_referenceIT_E4typeEOS2_",
            "_RINvNtC3std3mem8align_ofNtNtC4core3fmt9FormatterE",
            "_RNvXs_C1aNtB2_3FooNtNtC4core3fmt5Debug3fmt",
            "_ZN42_$LT$$RF$T$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE"
        };
        String letters = "_ZNSTILEXJDPRKMFAUsrbdo0123456789.uBtlCyXYpk";
        Random random = new Random(3);
        int changed = 0;
        for (int round = 0; round < 60_000; round++) {
            StringBuilder name = new StringBuilder(seeds[random.nextInt(seeds.length)]);
            for (int i = random.nextInt(4); i >= 0; i--) {
                char letter = letters.charAt(random.nextInt(letters.length()));
                name.setCharAt(2 + random.nextInt(name.length() - 2), letter);
            }
            String result = Demangler.demangle(name.toString());
            changed += result.equals(name.toString()) ? 0 : 1;
        }
        assertThat(changed).isPositive();
    }

    /** All C++ names of a library of this machine. */
    @Test
    void agreesWithCxxfilt() throws Exception {
        Path library = Path.of("/usr/lib/x86_64-linux-gnu/libstdc++.so.6");
        Assumptions.assumeTrue(Files.exists(library), "no libstdc++ here");
        Assumptions.assumeTrue(Files.exists(Path.of("/usr/bin/c++filt")), "no binutils here");
        List<String> names = new ArrayList<>(mangled(library));
        Path file = Files.createTempFile("names", ".txt");
        List<String> expected;
        try {
            Files.write(file, names);
            expected = run(new ProcessBuilder("c++filt").redirectInput(file.toFile()));
        } finally {
            Files.delete(file);
        }
        assertThat(names.size()).isGreaterThan(4000);
        int equal = 0;
        for (int i = 0; i < names.size(); i++) {
            equal += Demangler.demangle(names.get(i)).equals(expected.get(i)) ? 1 : 0;
        }
        assertThat((double) equal / names.size()).isGreaterThanOrEqualTo(0.999);
    }

    private static TreeSet<String> mangled(Path library) throws IOException {
        TreeSet<String> names = new TreeSet<>();
        ProcessBuilder nm =
                new ProcessBuilder("nm", "-D", "--without-symbol-versions", library.toString());
        for (String line : run(nm)) {
            String name = line.substring(line.lastIndexOf(' ') + 1);
            if (name.startsWith("_Z")) {
                names.add(name);
            }
        }
        return names;
    }

    private static List<String> run(ProcessBuilder command) throws IOException {
        Process process = command.redirectError(ProcessBuilder.Redirect.DISCARD).start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return List.of(text.split("\n"));
    }
}
