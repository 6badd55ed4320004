package sonde.binary.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import sonde.binary.elf.ElfFile;
import sonde.binary.machine.CodeLine.CodeBytes;

class CodeLineTest {
    private static final MachineDecoder X86 = MachineDecoder.of(ElfFile.EM_X86_64).orElseThrow();

    private static CodeLine decoded(String text) {
        return CodeLine.of(X86, CodeLine.parse(text, false).orElseThrow(), 0x1000);
    }

    @Test
    void theMarkedInstructionIsFound() {
        CodeLine line =
                decoded(
                        "05 48 89 e5 53 48 89 fb 48 85 ff 74 08 <48> 8b 47 50 48 89 03 5b 5d c3 e8");
        assertThat(line.fault().text()).isEqualTo("mov 0x50(%rdi),%rax");
        assertThat(line.fault().address()).isEqualTo(0x1000);
        assertThat(line.instructions().get(line.marked() - 1).text()).isEqualTo("je 0x1008");
        // The call at the end is cut.
        assertThat(line.instructions().getLast().text()).isEqualTo("ret");
    }

    @Test
    void textThatIsNoCodeHasNone() {
        assertThat(CodeLine.parse("Bad RIP value.", false)).isEmpty();
        assertThat(CodeLine.parse("Unable to access opcode bytes at RIP 0x0.", false)).isEmpty();
        assertThat(CodeLine.parse("", false)).isEmpty();
        CodeBytes cut = CodeLine.parse("90 <0f> 0b ---[ end trace ]---", false).orElseThrow();
        assertThat(cut.bytes()).hasSize(3);
        assertThat(cut.mark()).isEqualTo(1);
        CodeBytes words = CodeLine.parse("d503201f (d4210000)", true).orElseThrow();
        assertThat(words.bytes()).startsWith(0x1f, 0x20, 0x03, 0xd5);
        assertThat(words.mark()).isEqualTo(4);
    }

    /** Windows as the kernel prints them, from code whose instructions are known. */
    @Test
    void theStartBeforeTheMarkIsRight() throws Exception {
        byte[] code = ObjdumpListing.code(400_000, "/lib/x86_64-linux-gnu/libc.so.6");
        List<Integer> starts = new ArrayList<>();
        for (int at = 0; at < code.length; ) {
            starts.add(at);
            at += X86.decode(code, at, code.length, at).length();
        }
        Random random = new Random(3);
        int right = 0;
        int all = 0;
        for (int i = 0; i < 5_000; i++) {
            int index = 60 + random.nextInt(starts.size() - 120);
            int mark = starts.get(index);
            byte[] window = Arrays.copyOfRange(code, mark - 42, mark + 22);
            CodeLine line = CodeLine.of(X86, new CodeBytes(window, 42), mark);
            for (int k = 1; k <= 3 && line.marked() >= k; k++) {
                all++;
                long address = line.instructions().get(line.marked() - k).address();
                right += address == starts.get(index - k) ? 1 : 0;
            }
        }
        assertThat(all).isGreaterThan(14_000);
        assertThat((double) right / all).isGreaterThan(0.995);
    }

    /** The kernel marks the instruction at RIP, so the mark is an instruction in each log. */
    @Test
    void everyLogOfTheCorpusDecodes() throws Exception {
        String set = System.getProperty("sonde.corpus", System.getenv("SONDE_CORPUS"));
        Path root = Path.of(System.getProperty("sonde.root", "."), "../shared/corpus");
        Path folder = (set != null ? Path.of(set) : root).resolve("crashlogs");
        assumeTrue(Files.isDirectory(folder), "the corpus has no crash logs");
        Pattern code = Pattern.compile("RIP: 0010:.*\\R(?:.*\\R)?.*Code: (.*)");
        int lines = 0;
        int before = 0;
        List<String> bad = new ArrayList<>();
        try (var files = Files.walk(folder)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                String text = Files.readString(file, StandardCharsets.ISO_8859_1);
                for (Matcher matcher = code.matcher(text); matcher.find(); ) {
                    CodeBytes bytes = CodeLine.parse(matcher.group(1), false).orElse(null);
                    if (bytes == null || bytes.mark() < 0 || bytes.bytes().length < 60) {
                        continue;
                    }
                    CodeLine line = CodeLine.of(X86, bytes, 0);
                    lines++;
                    before += line.marked() > 5 ? 1 : 0;
                    if (!line.fault().isValid()
                            || line.instructions().subList(0, line.marked()).stream()
                                    .anyMatch(one -> !one.isValid())) {
                        bad.add(file.getFileName() + ": " + matcher.group(1));
                    }
                }
            }
        }
        assertThat(lines).isGreaterThan(100);
        assertThat(bad).hasSizeLessThan(1 + lines / 100);
        assertThat(before).isGreaterThan(lines * 9 / 10);
    }
}
