package sonde.bpf.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import org.junit.jupiter.api.Test;
import sonde.binary.btf.BtfType;
import sonde.bpf.AttachType;
import sonde.bpf.MapType;
import sonde.bpf.ProgramType;
import sonde.bpf.object.GlobalSection.GlobalVariable;
import sonde.bpf.object.ObjectMap.InitialSlot;
import sonde.bpf.object.ProgramSection.AttachWay;

/** What is read of an object without a kernel. */
final class ObjectFileTest {
    @Test
    void programsMapsAndVariables() throws Exception {
        ObjectFile file = Objects.read("parts");
        assertThat(file.name()).isEqualTo("parts.bpf.o");
        assertThat(file.license()).isEqualTo("GPL");
        assertThat(file.programs())
                .extracting(ObjectProgram::name)
                .containsExactlyInAnyOrder("work", "jumped_to", "jumper");
        assertThat(file.maps())
                .extracting(ObjectMap::name)
                .containsExactlyInAnyOrder(
                        "events", "hits", "last", "first", "second", "outer", "jumps");
        ObjectMap outer =
                file.maps().stream()
                        .filter(m -> m.name().equals("outer"))
                        .findFirst()
                        .orElseThrow();
        assertThat(outer.type()).isEqualTo(MapType.ARRAY_OF_MAPS.code());
        assertThat(outer.inner()).isNotNull();
        assertThat(outer.initial())
                .containsExactlyInAnyOrder(
                        new InitialSlot(1, "first"), new InitialSlot(3, "second"));
        GlobalSection constants = file.data(".rodata").orElseThrow();
        assertThat(constants.isConstant()).isTrue();
        GlobalVariable target = constants.variable("target").orElseThrow();
        assertThat(constants.initial(target).get(ValueLayout.JAVA_INT_UNALIGNED, 0)).isEqualTo(7);
        GlobalSection data = file.data(".data").orElseThrow();
        assertThat(data.variable("sum").orElseThrow().isStatic()).isTrue();
        assertThat(data.variable("started").orElseThrow().sizeBytes()).isEqualTo(8);
        assertThat(file.data(".data.shared")).isPresent();
        assertThat(file.dataName(".data.shared")).isEqualTo(".data.shared");
        assertThat(file.dataName(".rodata")).isEqualTo("parts.rodata");
    }

    @Test
    void typesAreWhatTheKernelTakes() throws Exception {
        ObjectFile file = Objects.read("parts");
        for (BtfType type : file.types()) {
            if (type instanceof BtfType.Datasec section) {
                assertThat(section.sizeBytes()).as(section.name()).isPositive();
                assertThat(section.vars())
                        .as(section.name())
                        .isSortedAccordingTo((a, b) -> Integer.compare(a.offset(), b.offset()));
            }
            if (type instanceof BtfType.Var v) {
                assertThat(v.linkage()).as(v.name()).isNotEqualTo(BtfType.Linkage.EXTERN);
            }
            if (type instanceof BtfType.Func f) {
                assertThat(f.linkage()).as(f.name()).isNotEqualTo(BtfType.Linkage.EXTERN);
            }
        }
        assertThat(file.fixes().externs().get("CONFIG_SONDE_NO_SUCH"))
                .isEqualTo(
                        new ExternSymbol(
                                "CONFIG_SONDE_NO_SUCH",
                                ExternSymbol.Kind.CONFIG,
                                true,
                                file.fixes().externs().get("CONFIG_HZ").type()));
        assertThat(file.fixes().externs().get("bpf_prog_put").kind())
                .isEqualTo(ExternSymbol.Kind.ADDRESS);
        assertThat(file.fixes().externs().get("sonde_no_such_function").weak()).isTrue();
    }

    @Test
    void linesOfTheSourceAreKept() throws Exception {
        ObjectProgram program =
                Objects.read("switches").programs().stream().findFirst().orElseThrow();
        assertThat(program.lines())
                .anySatisfy(line -> {
                    assertThat(line.text()).contains("bpf_map_lookup_elem(&counter_map, &key)");
                    assertThat(line.file()).endsWith("switches.bpf.c");
                    assertThat(line.line()).isPositive();
                });
    }

    @Test
    void sectionsSayWhatProgramsAre() {
        ProgramSection kprobe = ProgramSection.of("?kprobe/do_unlinkat");
        assertThat(kprobe).isNotNull();
        assertThat(kprobe.optional()).isTrue();
        assertThat(kprobe.target()).isEqualTo("do_unlinkat");
        assertThat(ProgramSection.of("fentry.s/x").flags()).isEqualTo(1 << 4);
        assertThat(ProgramSection.of("xdp.frags/devmap").attach()).isEqualTo(AttachType.XDP_DEVMAP);
        assertThat(ProgramSection.of("xdp").type()).isEqualTo(ProgramType.XDP);
        assertThat(ProgramSection.of("cgroup/connect4").way()).isEqualTo(AttachWay.CGROUP);
        assertThat(ProgramSection.of("kprobe.multi/a*").attach())
                .isEqualTo(AttachType.TRACE_KPROBE_MULTI);
        assertThat(ProgramSection.of("kprobes")).isNull();
        assertThat(ProgramSection.of("xdp/other")).isNull();
        assertThat(ProgramSection.of("tp/")).isNull();
        assertThat(ProgramSection.near("?kprobes/x")).contains("kprobe/...").doesNotContain("xdp");
        assertThat(ProgramSection.near("?")).contains("xdp", "tp_btf/...");
        assertThat(ProgramSection.known()).contains("tp/...", "xdp").hasSizeGreaterThan(90);
    }

    @Test
    void severalObjectsBecomeOne() throws Exception {
        ObjectFile file = ObjectFile.read(Objects.of("link_a"), Objects.of("link_b"));
        assertThat(file.programs())
                .extracting(ObjectProgram::name)
                .containsExactlyInAnyOrder("program_a", "program_b");
        assertThat(file.maps()).extracting(ObjectMap::name).containsExactly("shared_map");
        assertThat(file.data(".data").orElseThrow().variables())
                .extracting(GlobalVariable::name)
                .containsExactly("own", "hidden", "theirs");
        assertThatThrownBy(() -> ObjectFile.read(Objects.of("link_a"), Objects.of("link_a")))
                .isInstanceOf(ObjectException.class)
                .hasMessageContaining("link_a.bpf.o, symbol")
                .hasMessageContaining("is defined in several objects");
        assertThatThrownBy(() -> ObjectFile.read(Objects.of("link_a")))
                .isInstanceOf(ObjectException.class)
                .hasMessageContaining("symbol their")
                .hasMessageContaining("is defined in none of the objects");
    }

    @Test
    void whatIsNoObject() throws Exception {
        assertThatThrownBy(() -> ObjectFile.of("x", new byte[] {1, 2, 3}))
                .isInstanceOf(ObjectException.class)
                .hasMessageContaining("x: not readable as ELF");
        byte[] bytes = Files.readAllBytes(Objects.of("switches"));
        byte[] machine = bytes.clone();
        machine[18] = 62;
        assertThatThrownBy(() -> ObjectFile.of("x", machine))
                .hasMessage("x: made for machine 62, not for BPF");
    }

    @Test
    void foreignByteOrderIsSaid() throws Exception {
        Objects.of("switches"); // skips without clang
        java.nio.file.Path source =
                java.nio.file.Path.of(
                        System.getProperty("sonde.root"),
                        "bpf/src/test/resources/sonde/bpf/object/switches.bpf.c");
        java.nio.file.Path big =
                sonde.testkit.Clang.object(source, "-target", "bpfeb", "-U__TARGET_ARCH_x86");
        assertThatThrownBy(() -> ObjectFile.read(big))
                .isInstanceOf(ObjectException.class)
                .hasMessageContaining("made for big-endian machines");
    }
}
