package sonde.binary.unwind;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.binary.MalformedInputException;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSection;
import sonde.binary.elf.ElfSegment;
import sonde.binary.elf.ElfSymbols;
import sonde.binary.unwind.CompactRule.Kind;

/**
 * Rows for the kernel's unwinder against what readelf prints of the same call frame information.
 */
final class CompactUnwindTableTest {
    @ParameterizedTest
    @ValueSource(strings = {"libc.so.6", "ld-linux-x86-64.so.2", "libm.so.6", "libz.so.1"})
    void rowsAreReadelfs(String name) throws Exception {
        Path path = Path.of("/lib/x86_64-linux-gnu", name);
        Assumptions.assumeTrue(Files.exists(path), "needs " + path);
        try (FileChannel channel = FileChannel.open(path);
                Arena arena = Arena.ofConfined()) {
            MemorySegment bytes =
                    channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
            ElfFile elf = ElfFile.of(bytes);
            CompactUnwindTable table = CompactUnwindTable.of(elf).orElseThrow();
            int compared = 0;
            List<String> wrong = new ArrayList<>();
            for (String[] row : readelf(path)) {
                long address = Long.parseUnsignedLong(row[0], 16);
                String ours = text(table.find(offset(elf, address)));
                String theirs = row[1] + " " + row[2];
                if (!ours.equals(theirs) && !ours.startsWith("other")) {
                    wrong.add(row[0] + ": " + ours + ", readelf: " + theirs);
                }
                compared++;
            }
            assertThat(wrong).isEmpty();
            assertThat(compared).isGreaterThan(300);
        }
    }

    @Test
    void keptRowsAreTheSameAndDamageIsFound() throws Exception {
        Path path = Path.of("/lib/x86_64-linux-gnu/libm.so.6");
        Assumptions.assumeTrue(Files.exists(path), "needs " + path);
        CompactUnwindTable made =
                CompactUnwindTable.of(ElfFile.of(Files.readAllBytes(path))).orElseThrow();
        byte[] bytes = made.bytes().array();
        CompactUnwindTable read = CompactUnwindTable.read(ByteBuffer.wrap(bytes));
        assertThat(read.rows()).isEqualTo(made.rows()).isGreaterThan(300);
        for (int i = 0; i < read.rows(); i++) {
            assertThat(read.offset(i)).isEqualTo(made.offset(i));
            assertThat(read.rule(i)).isEqualTo(made.rule(i));
        }
        Random random = new Random(7);
        for (int i = 0; i < 200; i++) {
            byte[] damaged = bytes.clone();
            damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(8));
            byte[] cut = Arrays.copyOf(bytes, random.nextInt(bytes.length));
            for (byte[] wrong : List.of(damaged, cut)) {
                assertThatThrownBy(() -> CompactUnwindTable.read(ByteBuffer.wrap(wrong)))
                        .isInstanceOf(MalformedInputException.class);
            }
        }
    }

    /** The linker leaves the stubs without call frame information if it is told to. */
    @Test
    void stubsWithoutCallFrameInformation(@TempDir Path folder) throws Exception {
        Path source = folder.resolve("stubs.c");
        Files.writeString(
                source, "#include <stdio.h>\nint main() { puts(\"a\"); return getchar(); }");
        List<String> frames = new ArrayList<>();
        for (String option : List.of("-Wl,--ld-generated-unwind-info", NO_UNWIND_INFO)) {
            Path program = folder.resolve("stubs");
            Process gcc =
                    new ProcessBuilder(
                                    "gcc",
                                    "-O2",
                                    "-fcf-protection=none",
                                    "-Wl,-z,lazy",
                                    option,
                                    "-o",
                                    program.toString(),
                                    source.toString())
                            .inheritIO()
                            .start();
            assertThat(gcc.waitFor()).isZero();
            ElfFile elf = ElfFile.of(Files.readAllBytes(program));
            CompactUnwindTable table = CompactUnwindTable.of(elf).orElseThrow();
            ElfSection plt = elf.section(".plt").orElseThrow();
            StringBuilder text = new StringBuilder();
            // Where an instruction begins: push, jmp; jmp, push, jmp of each stub
            for (int at : new int[] {0, 6, 16, 22, 27, 32, 38, 43}) {
                int rule = table.find(plt.offset() + at);
                int offset =
                        CompactRule.kind(rule) == Kind.PLT
                                ? 8 + ((at & 15) >= CompactRule.offset(rule) / 8 ? 8 : 0)
                                : CompactRule.offset(rule);
                text.append(at).append(':').append(rule == 0 ? -1 : offset).append(' ');
            }
            frames.add(text.toString());
        }
        assertThat(frames.getFirst()).startsWith("0:16 6:24 16:8 22:8 27:16 ");
        assertThat(frames.getLast()).isEqualTo(frames.getFirst());
    }

    private static final String ASSEMBLY =
            """
            .globl _start
            f: .cfi_startproc
            nop
            ret
            .cfi_endproc
            .p2align 4
            before_continued = . - 1
            .cfi_startproc
            mov %rbx, %rsp
            ud2
            .cfi_endproc
            .p2align 4
            _start: jmp f
            .skip 200, 0x90
            behind_start: sub $24, %rsp
            mov 0x38(%rdx), %rsp
            on_another_stack: call *%rdi
            ret
            .skip 40, 0x90
            before_restorer: nop
            restorer: mov $15, %rax
            syscall
            .skip 40, 0x90
            """;

    /** Assembly without call frame information, and the byte before a function. */
    @Test
    void stacksThatBeginOrChange(@TempDir Path folder) throws Exception {
        Path source = folder.resolve("stacks.s");
        Files.writeString(source, ASSEMBLY);
        Path program = folder.resolve("stacks");
        Process gcc =
                new ProcessBuilder("gcc", "-nostdlib", "-o", program.toString(), source.toString())
                        .inheritIO()
                        .start();
        assertThat(gcc.waitFor()).isZero();
        ElfFile elf = ElfFile.of(Files.readAllBytes(program));
        CompactUnwindTable table = CompactUnwindTable.of(elf).orElseThrow();
        ElfSymbols symbols = elf.symbols(ElfFile.SHT_SYMTAB).orElseThrow();
        Map<String, Kind> kinds = new TreeMap<>();
        for (int i = 0; i < symbols.count(); i++) {
            String name = symbols.name(i);
            if (name.contains("_") && ASSEMBLY.contains(name) || name.equals("restorer")) {
                kinds.put(name, CompactRule.kind(table.find(offset(elf, symbols.value(i)))));
            }
        }
        assertThat(kinds)
                .containsEntry("before_continued", Kind.END)
                .containsEntry("_start", Kind.END)
                .containsEntry("behind_start", Kind.RSP)
                .containsEntry("on_another_stack", Kind.NONE)
                .containsEntry("before_restorer", Kind.SIGNAL)
                .containsEntry("restorer", Kind.SIGNAL);
    }

    private static final String NO_UNWIND_INFO = "-Wl,--no-ld-generated-unwind-info";

    private static long offset(ElfFile elf, long address) {
        for (ElfSegment segment : elf.segments()) {
            long inside = address - segment.address();
            if (segment.isCode() && inside >= 0 && inside < segment.fileBytes()) {
                return segment.offset() + inside;
            }
        }
        return -1;
    }

    /** As readelf prints it: the CFA, then where rbp is. */
    private static String text(int rule) {
        int offset = 8 * (rule >>> CompactRule.OFFSET_SHIFT);
        String cfa =
                switch (CompactRule.kind(rule)) {
                    case RSP, INTERPRETER_RSP -> "rsp+" + offset;
                    case RBP, INTERPRETER_RBP -> "rbp+" + offset;
                    case RBX -> "rbx+" + offset;
                    case NONE,
                            PLT,
                            AT_RBP,
                            AT_RSP,
                            REGISTER,
                            RETURN_REGISTER,
                            SIGNAL,
                            END,
                            CLONED ->
                            "other " + CompactRule.kind(rule);
                };
        int saved = rule >>> CompactRule.RBP_SHIFT & CompactRule.SAVED_MASK;
        return cfa + (saved == 0 ? " u" : " c-" + 8 * saved);
    }

    /** Address, CFA and the column of rbp of each row; rows of one address: the last. */
    private static List<String[]> readelf(Path path) throws Exception {
        Process process =
                new ProcessBuilder("readelf", "--debug-dump=frames-interp", path.toString())
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start();
        List<String[]> rows = new ArrayList<>();
        try (BufferedReader lines =
                new BufferedReader(
                        new InputStreamReader(
                                process.getInputStream(), StandardCharsets.ISO_8859_1))) {
            int rbp = -1;
            boolean function = false;
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                // "r10 (r10)": a register is in another one
                String[] words = line.replaceAll(" \\(r\\w+\\)", "").trim().split("\\s+");
                if (line.contains(" FDE ")) {
                    function = true;
                    rbp = -1;
                } else if (line.contains(" CIE ") || line.contains("ZERO terminator")) {
                    function = false;
                } else if (words[0].equals("LOC")) {
                    rbp = List.of(words).indexOf("rbp");
                } else if (function && words.length > 2 && words[0].length() == 16) {
                    String saved = rbp < 0 ? "u" : words[rbp];
                    rows.add(new String[] {words[0], words[1], saved.equals("s") ? "u" : saved});
                }
            }
        }
        process.waitFor();
        return rows;
    }

    @ParameterizedTest
    @ValueSource(strings = {"/lib/x86_64-linux-gnu/libc.so.6"})
    void specialRowsAreThere(String name) throws Exception {
        Path path = Path.of(name);
        Assumptions.assumeTrue(Files.exists(path), "needs " + path);
        ElfFile elf = ElfFile.of(Files.readAllBytes(path));
        CompactUnwindTable table = CompactUnwindTable.of(elf).orElseThrow();
        List<Kind> kinds = new ArrayList<>();
        for (int row = 0; row < table.rows(); row++) {
            Kind kind = CompactRule.kind(table.rule(row));
            if (!kinds.contains(kind)) {
                kinds.add(kind);
            }
        }
        // vfork, __restore_rt, clone's child, and the end of each function without a neighbour
        assertThat(kinds)
                .contains(
                        Kind.RETURN_REGISTER,
                        Kind.SIGNAL,
                        Kind.END,
                        Kind.CLONED,
                        Kind.NONE,
                        Kind.RSP,
                        Kind.RBP);
    }
}
