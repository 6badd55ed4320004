package sonde.binary.btf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.Writer;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.binary.Input;
import sonde.binary.btf.BtfType.Member;
import sonde.binary.btf.BtfType.Struct;

/** The types of the running kernel, compared with what gcc makes of the header we write. */
@Tag("kernel")
class BtfKernelTest {
    private static final Path VMLINUX = Path.of("/sys/kernel/btf/vmlinux");

    @TempDir Path folder;

    private static Btf btf = null;

    @BeforeAll
    static void read() throws IOException {
        assumeTrue(Files.exists(VMLINUX), "this kernel has no BTF");
        byte[] bytes = Files.readAllBytes(VMLINUX);
        btf = Btf.read(Input.of("vmlinux", MemorySegment.ofArray(bytes)));
    }

    @Test
    void wellKnownTypesAreThere() throws IOException {
        Struct task = btf.struct("task_struct").orElseThrow();
        Member comm = btf.member(task, "comm").orElseThrow();
        assertThat(btf.sizeBytes(comm.type())).hasValue(16);
        assertThat(CHeader.declaration(btf, comm.type(), "comm")).isEqualTo("char comm[16]");
        Struct list = btf.struct("list_head").orElseThrow();
        assertThat(list.sizeBytes()).isEqualTo(16);
        assertThat(CHeader.declaration(btf, list.members().getFirst().type(), "next"))
                .isEqualTo("struct list_head *next");
        assertThat(btf.find("no_such_type_at_all", _ -> true)).isZero();
        assertThat(btf.search("no_such_type_at_all", _ -> true)).isZero();
        for (String name : new String[] {"task_struct", "list_head", "sk_buff", "page"}) {
            assertThat(btf.search(name, Struct.class::isInstance))
                    .isPositive()
                    .isEqualTo(btf.find(name, Struct.class::isInstance));
        }
    }

    /** Every structure has the size, and every member the offset, that its BTF says. */
    @Test
    void headerCompilesToTheSameLayout() throws Exception {
        Path header = folder.resolve("vmlinux.h");
        try (Writer out = Files.newBufferedWriter(header)) {
            CHeader.write(btf, out);
        }
        Path source = folder.resolve("check.c");
        int structs = 0;
        Set<String> several = namesOfSeveral();
        try (BufferedWriter out = Files.newBufferedWriter(source)) {
            out.write("#include \"vmlinux.h\"\n");
            for (int id = btf.firstId(); id < btf.end(); id++) {
                if (btf.type(id) instanceof Struct struct && !several.contains(struct.name())) {
                    check(out, struct);
                    structs++;
                }
            }
        }
        assertThat(structs).isGreaterThan(3000);
        Process gcc =
                new ProcessBuilder(
                                List.of("gcc", "-fsyntax-only", "-fms-extensions", "-w", "check.c"))
                        .directory(folder.toFile())
                        .redirectErrorStream(true)
                        .start();
        byte[] said = gcc.getInputStream().readAllBytes();
        assertThat(gcc.waitFor(60, TimeUnit.SECONDS)).isTrue();
        String text = new String(said, StandardCharsets.UTF_8);
        assertThat(gcc.exitValue()).as(text.substring(0, Math.min(text.length(), 4000))).isZero();
    }

    /** Tags of more than one type: the header tells them apart by a suffix. */
    private static Set<String> namesOfSeveral() throws IOException {
        Set<String> seen = new HashSet<>();
        Set<String> several = new HashSet<>();
        for (int id = btf.firstId(); id < btf.end(); id++) {
            BtfType type = btf.type(id);
            boolean tag = type instanceof Struct || type instanceof BtfType.Enum;
            if (tag && !seen.add(type.name())) {
                several.add(type.name());
            }
        }
        several.add("");
        return several;
    }

    private static void check(BufferedWriter out, Struct struct) throws IOException {
        String type = (struct.isUnion() ? "union " : "struct ") + struct.name();
        out.write(
                "_Static_assert(sizeof(" + type + ") == " + struct.sizeBytes() + ", \"size\");\n");
        for (Member member : struct.members()) {
            if (!member.name().isEmpty() && member.bits() == 0) {
                out.write(
                        "_Static_assert(__builtin_offsetof("
                                + type
                                + ", "
                                + member.name()
                                + ") == "
                                + member.bitOffset() / 8
                                + ", \""
                                + member.name()
                                + "\");\n");
            }
        }
    }
}
