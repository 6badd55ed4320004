package sonde.probe.dynamic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import sonde.probe.dynamic.ArgumentMaker.ArgumentParts;
import sonde.probe.dynamic.PointSpec.PointPlace;
import sonde.probe.dynamic.PointSpec.PointPlace.AddressPoint;
import sonde.probe.dynamic.PointSpec.PointPlace.FilePoint;
import sonde.probe.dynamic.PointSpec.PointPlace.FunctionPoint;
import sonde.probe.dynamic.PointSpec.PointPlace.LinePoint;
import sonde.probe.dynamic.PointSpec.PointPlace.MarkerPoint;
import sonde.probe.dynamic.PointSpec.PointPlace.TracepointPoint;
import sonde.testkit.Property;

/** Places and arguments as they are typed. */
final class PointSpecTest {
    private static PointPlace place(String text) throws ProbeException {
        return PointSpec.parse(text).place();
    }

    @Test
    void places() throws ProbeException {
        assertThat(place("vfs_read")).isEqualTo(new FunctionPoint("vfs_read", "", -1, -1, false));
        assertThat(place("f:16")).isEqualTo(new FunctionPoint("f", "", 16, -1, false));
        assertThat(place("f+0x20")).isEqualTo(new FunctionPoint("f", "", -1, 32, false));
        assertThat(place("f+010")).isEqualTo(new FunctionPoint("f", "", -1, 10, false));
        assertThat(place("f+09")).isEqualTo(new FunctionPoint("f", "", -1, 9, false));
        assertThat(place("f%return")).isEqualTo(new FunctionPoint("f", "", -1, -1, true));
        assertThat(place("f@a/b.c:3")).isEqualTo(new FunctionPoint("f", "a/b.c", 3, -1, false));
        assertThat(place("ns::cls::f:3"))
                .isEqualTo(new FunctionPoint("ns::cls::f", "", 3, -1, false));
        assertThat(place("a/b.c:12")).isEqualTo(new LinePoint("a/b.c", 12));
        assertThat(place("@x.cpp:12")).isEqualTo(new LinePoint("x.cpp", 12));
        assertThat(place("0x1139")).isEqualTo(new AddressPoint(0x1139));
        assertThat(place("%libc:setjmp")).isEqualTo(new MarkerPoint("libc", "setjmp"));
        assertThat(place("sdt_libc:setjmp")).isEqualTo(new MarkerPoint("libc", "setjmp"));
        assertThat(place("tracepoint:sched_switch")).isEqualTo(new TracepointPoint("sched_switch"));
        assertThat(place("tracepoint:sched:sched_switch"))
                .isEqualTo(new TracepointPoint("sched_switch"));
    }

    @Test
    void namesOfOtherLanguages() throws ProbeException {
        for (String name :
                new String[] {
                    "main.(*Order).Total",
                    "main.Map[...]",
                    "net/http.(*Server).Serve",
                    "gopkg.in/yaml%2ev2.Unmarshal",
                    "shop::spin(long)",
                    "shop::Cart::total(int) const",
                    "shop::scale<int, 3>",
                    "shop::Cart::operator()",
                    "shop::Cart::operator<<",
                    "shop::Cart::operator->",
                    "shop::Cart::operator==",
                    "operator new(unsigned long)",
                    "shop::(anonymous namespace)::hidden",
                    "main::{lambda(int)#1}::operator()",
                    "<shop::Item as shop::Show>::show",
                    "orders::main::{closure#0}",
                }) {
            assertThat(place(name)).isEqualTo(new FunctionPoint(name, "", -1, -1, false));
            assertThat(place(name + "%return"))
                    .isEqualTo(new FunctionPoint(name, "", -1, -1, true));
            PointSpec spec = PointSpec.parse("g:n=" + name + "+8 a->b *p");
            assertThat(spec.place()).isEqualTo(new FunctionPoint(name, "", -1, 8, false));
            assertThat(spec.arguments()).containsExactly("a->b", "*p");
        }
    }

    @Test
    void namesAndArguments() throws ProbeException {
        PointSpec spec =
                PointSpec.parse(
                        "mine:here=f:3 a->b[2] n=container_of(p, struct t, m)->pid $retval:x64");
        assertThat(spec.group()).isEqualTo("mine");
        assertThat(spec.name()).isEqualTo("here");
        assertThat(spec.arguments())
                .containsExactly("a->b[2]", "n=container_of(p, struct t, m)->pid", "$retval:x64");
    }

    @Test
    void modulesBeforeAFunction() throws ProbeException {
        PointSpec spec = PointSpec.parse("mine=nf_tables:nft_do_chain:12 a->b");
        assertThat(spec.module()).isEqualTo("nf_tables");
        assertThat(spec.name()).isEqualTo("mine");
        assertThat(spec.place()).isEqualTo(new FunctionPoint("nft_do_chain", "", 12, -1, false));
        assertThat(PointSpec.parse("g:n=f:3").module()).isEmpty();
        assertThat(PointSpec.module("ns::f:3")).isEmpty();
        assertThat(PointSpec.module("a.c:3")).isEmpty();
        assertThat(PointSpec.withoutModule("snd-hda:f%return")).isEqualTo("f%return");
    }

    @Test
    void definitionsAsTracefsWritesThem() throws ProbeException {
        PointSpec entry = PointSpec.parse("p:mine/here  do_sys_open+4 dfd=%ax mode=+4($stack)");
        assertThat(entry.group()).isEqualTo("mine");
        assertThat(entry.name()).isEqualTo("here");
        assertThat(entry.place()).isEqualTo(new FunctionPoint("do_sys_open", "", -1, 4, false));
        assertThat(entry.arguments()).containsExactly("dfd=%ax", "mode=+4($stack)");
        PointSpec back = PointSpec.parse("r:back nf_tables:nft_do_chain+0 $retval");
        assertThat(back.group()).isEmpty();
        assertThat(back.module()).isEqualTo("nf_tables");
        assertThat(back.place()).isEqualTo(new FunctionPoint("nft_do_chain", "", -1, -1, true));
        assertThat(PointSpec.parse("r:b /bin/sh:0x4245c0").place())
                .isEqualTo(new FilePoint("/bin/sh", 0x4245c0, true));
        assertThat(place("/bin/sh:0x10%return")).isEqualTo(new FilePoint("/bin/sh", 16, true));
        assertThat(PointSpec.parse("p:vfs_read").module()).isEqualTo("p");
        for (String refused :
                new String[] {"r16:b f", "e:b sched.sched_switch", "p:b n=f", "r:b f:3"}) {
            assertThatThrownBy(() -> PointSpec.parse(refused)).isInstanceOf(ProbeException.class);
        }
    }

    @Test
    void registersAreThoseOfTheCpu() {
        assertThat(FetchRegisters.X86_64.spelled("di")).isEqualTo("%di");
        assertThat(FetchRegisters.X86_64.spelled("flags")).isEqualTo("%flags");
        assertThat(FetchRegisters.X86_64.spelled("rdi")).isEmpty();
        assertThat(FetchRegisters.X86_64.unknown("rdi")).contains("x86_64", "calls it di;");
        assertThat(FetchRegisters.X86_64.unknown("ecx")).contains("calls it cx;");
        assertThat(FetchRegisters.X86_64.unknown("r8d")).contains("calls it r8;");
        assertThat(FetchRegisters.X86_64.unknown("x0"))
                .doesNotContain("calls it")
                .contains("r15 ip");
        assertThat(FetchRegisters.AARCH64.spelled("ax")).isEmpty();
        assertThat(FetchRegisters.AARCH64.unknown("w7")).contains("calls it x7;");
    }

    @Test
    void faultsPointAtTheirColumn() {
        assertThatThrownBy(() -> PointSpec.parse("f (a"))
                .isInstanceOf(ProbeException.class)
                .hasMessageContaining("not closed");
        assertThatThrownBy(() -> PointSpec.parse("f:-x"))
                .isInstanceOf(ProbeException.class)
                .hasMessageContaining("^");
        assertThatThrownBy(() -> PointSpec.parse("")).isInstanceOf(ProbeException.class);
    }

    @Test
    void anyTextIsReadOrRefused() {
        String letters = "fab_12 :+%@=()[]->.*&$x,return";
        Property.forAll(
                5,
                5000,
                random -> {
                    StringBuilder text = new StringBuilder();
                    for (int i = random.nextInt(30); i > 0; i--) {
                        text.append(letters.charAt(random.nextInt(letters.length())));
                    }
                    try {
                        for (String argument : PointSpec.parse(text.toString()).arguments()) {
                            ProbeExpressionParser.parse(ArgumentParts.of(argument).expression());
                        }
                    } catch (ProbeException e) {
                        assertThat(e.getMessage()).isNotBlank();
                    }
                });
    }
}
