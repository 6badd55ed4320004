package sonde.bpf.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sonde.binary.btf.BtfType;
import sonde.bpf.Leaks;
import sonde.bpf.Program;
import sonde.bpf.ProgramFacts;
import sonde.bpf.link.KernelTypes;
import sonde.bpf.ring.RingBuffer;
import sonde.sys.MachineFacts;

/** Objects of clang on a real kernel. */
@Tag("kernel")
final class ObjectKernelTest {
    private static void somethingHappens() throws Exception {
        for (int i = 0; i < 50; i++) {
            Files.readAllBytes(Path.of("/proc/self/comm"));
            Thread.sleep(1);
        }
    }

    @Test
    void aCounterOfSwitchesIsLoadedReadAndSeen() throws Exception {
        Leaks before = Leaks.now();
        try (LoadedObject object = Objects.read("switches").load()) {
            assertThat(object.attach()).hasSize(1);
            somethingHappens();
            assertThat(object.map("counter_map").word(0)).isPositive();
            Program program = object.program("count_switch");
            assertThat(program.facts().name()).isEqualTo("count_switch");
            assertThat(program.facts().btfId()).isPositive();
            assertThat(ProgramFacts.lineRecords(program)).isNotEmpty();
            assertThat(ProgramFacts.functionRecords(program)).hasSize(2);
        }
        before.assertNothingLeftSince();
    }

    @Test
    void typesOfTheKernelAreFound() throws Exception {
        ObjectFile file = Objects.read("core");
        GlobalSection constants = file.data(".rodata").orElseThrow();
        int pid = (int) ProcessHandle.current().pid();
        constants
                .initial(constants.variable("wanted").orElseThrow())
                .set(ValueLayout.JAVA_INT_UNALIGNED, 0, pid);
        try (LoadedObject object = file.load();
                KernelTypes kernel = KernelTypes.open()) {
            object.attach();
            somethingHappens();
            GlobalMemory found = object.globals(".bss");
            BtfType.Struct task = kernel.btf().struct("task_struct").orElseThrow();
            assertThat(found.number("seen")).isPositive();
            assertThat(found.number("pid")).isEqualTo(pid);
            assertThat(found.number("parent"))
                    .isEqualTo(ProcessHandle.current().parent().orElseThrow().pid());
            assertThat(found.number("offset"))
                    .isEqualTo(kernel.btf().member(task, "pid").orElseThrow().bitOffset() / 8);
            assertThat(found.number("pid_bytes")).isEqualTo(4);
            assertThat(found.number("is_signed")).isEqualTo(1);
            assertThat(found.number("has_pid")).isEqualTo(1);
            assertThat(found.number("has_other")).isZero();
            assertThat(found.number("task_bytes")).isEqualTo(task.sizeBytes());
            assertThat(found.number("task_id"))
                    .isEqualTo(kernel.btf().find("task_struct", BtfType.Struct.class::isInstance));
            assertThat(file.types().get((int) found.number("task_local_id")).name())
                    .isEqualTo("task_struct___mine");
            assertThat(found.number("has_type")).isZero();
            assertThat(found.number("has_enum")).isEqualTo(1);
            assertThat(found.number("has_other_enum")).isZero();
            assertThat(found.number("session")).isEqualTo(3);
            assertThat(found.number("execve")).isZero();
            assertThat(object.globals(".rodata").number("wanted")).isEqualTo(pid);
            assertThatThrownBy(() -> object.globals(".rodata").number("wanted", 1))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void typesOfAFileServeToo() throws Exception {
        Path vmlinux = Path.of("/sys/kernel/btf/vmlinux");
        Path copy = Files.createTempFile("sonde", ".btf");
        try {
            Files.write(copy, Files.readAllBytes(vmlinux));
            LoadOptions options = LoadOptions.USUAL.withBtf(copy);
            try (LoadedObject object = Objects.read("core").load(options)) {
                assertThat(object.programs()).containsOnlyKeys("look");
            }
        } finally {
            Files.delete(copy);
        }
    }

    @Test
    void aMissingMemberIsToldWhereItIsReached() throws Exception {
        Leaks before = Leaks.now();
        ObjectFile file = Objects.read("broken");
        assertThatThrownBy(file::load)
                .isInstanceOfSatisfying(
                        ObjectException.class,
                        e -> {
                            assertThat(e.place().section()).isEqualTo("raw_tp/sys_enter");
                            assertThat(e.place().symbol()).isEqualTo("reach");
                            assertThat(e.place().instruction()).isNotNegative();
                            assertThat(e.reason())
                                    .contains("struct task_struct.no_such_member")
                                    .contains("the kernel has none");
                        });
        before.assertNothingLeftSince();
    }

    @Test
    void mapsVariablesSubprogramsAndExterns() throws Exception {
        Leaks before = Leaks.now();
        try (LoadedObject object = Objects.read("parts").load();
                RingBuffer ring = RingBuffer.open(object.map("events"))) {
            assertThat(object.map("events").spec().maxEntries()).isEqualTo(8192);
            object.attach();
            somethingHappens();
            GlobalMemory zeros = object.globals(".bss");
            GlobalMemory data = object.globals(".data");
            assertThat(zeros.number("counter")).isPositive();
            assertThat(zeros.number("loops")).isGreaterThanOrEqualTo(3);
            assertThat(zeros.number("jumps_taken")).isPositive();
            assertThat(data.number("sum")).isGreaterThanOrEqualTo(8);
            assertThat(data.number("started")).isGreaterThan(42);
            assertThat(object.globals(".data.shared").number("shared")).isEqualTo(11);
            assertThat(zeros.number("version")).isEqualTo(KernelBtfs.version());
            // Guests come without the file of their configuration.
            boolean settings =
                    Files.exists(Path.of("/proc/config.gz"))
                            || Files.exists(
                                    Path.of("/boot/config-" + MachineFacts.uname().release()));
            assertThat(zeros.number("syscalls")).isEqualTo(settings ? 1 : 0);
            assertThat(zeros.number("hz") > 0).isEqualTo(settings);
            assertThat(zeros.number("absent")).isZero();
            assertThat(zeros.number("weak_address")).isZero();
            assertThat(zeros.number("weak_function")).isZero();
            assertThat(zeros.number("address"))
                    .isEqualTo(
                            KernelBtfs.addresses(java.util.Set.of("bpf_prog_put"))
                                    .get("bpf_prog_put"));
            assertThat(object.map("hits").sum(0)).isPositive();
            List<String> texts = new ArrayList<>();
            ring.drain((memory, offset, bytes) -> {
                assertThat(bytes).isEqualTo(16);
                texts.add(memory.getString(offset + 8));
            });
            assertThat(texts).isNotEmpty().containsOnly("hello");
            data.number("started", 1);
            assertThat(object.map("outer").contains(1)).isTrue();
            assertThat(object.map("outer").contains(0)).isFalse();
            assertThat(object.data().get(".rodata").facts().frozen()).isTrue();
        }
        before.assertNothingLeftSince();
    }

    @Test
    void severalObjectsWorkAsOne() throws Exception {
        ObjectFile file =
                ObjectFile.read(Objects.of("link_c"), Objects.of("link_a"), Objects.of("link_b"));
        try (LoadedObject object = file.load()) {
            object.attach();
            somethingHappens();
            // their_function(3) with b's hidden 7, theirs 20, the strong chosen(0).
            assertThat(object.globals(".bss").number("result_a")).isEqualTo(21 + 20 + 1000);
            assertThat(object.globals(".bss").number("result_b")).isEqualTo(3 + 7);
            assertThat(object.map("shared_map").sum(0)).isPositive();
            // Each has a hidden of its own.
            assertThat(object.globals(".bss").number("result_c")).isEqualTo(21 + 1);
            assertThat(object.globals(".bss").number("letter_c")).isEqualTo('i');
            assertThat(object.globals(".bss").number("version_c")).isEqualTo(KernelBtfs.version());
            assertThat(object.map("third_map").sum(0)).isNotNegative();
            assertThat(object.data()).containsKey(".kconfig");
        }
    }

    @Test
    void whatCannotBeAttachedIsNamed() throws Exception {
        Leaks before = Leaks.now();
        try (LoadedObject object = Objects.read("nowhere").load()) {
            for (String program : List.of("no_tracepoint", "no_file", "no_function")) {
                assertThatThrownBy(() -> object.attach(program))
                        .isInstanceOf(ObjectException.class)
                        .hasMessageContaining("nowhere.bpf.o, section ")
                        .hasMessageContaining("symbol " + program);
            }
            assertThatThrownBy(object::attach).hasMessageContaining("no tracepoint sched/no_such");
            assertThat(object.links()).isEmpty();
        }
        before.assertNothingLeftSince();
    }

    @Test
    void whatFailsLeavesNothing() throws Exception {
        Leaks before = Leaks.now();
        ObjectFile file = Objects.read("parts");
        LoadOptions wrong = LoadOptions.USUAL.withSize("hits", 0);
        assertThatThrownBy(() -> file.load(wrong))
                .isInstanceOf(ObjectException.class)
                .hasMessageContaining("section .maps, symbol hits");
        before.assertNothingLeftSince();
    }
}
