package sonde.bpf.insn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sonde.bpf.BpfMap;
import sonde.bpf.MapSpec;
import sonde.bpf.MapType;
import sonde.bpf.Program;
import sonde.bpf.ProgramType;
import sonde.bpf.VerifierException;

/** Our text is the kernel's, line for line. */
@Tag("kernel")
final class DisassemblerKernelTest {
    private static final Pattern LOGGED = Pattern.compile("^(\\d+): (\\([0-9a-f]{2}\\) [^;]*).*");

    /** As the verifier of Linux 6.15 or newer prints it; {@code r5} is not readable. */
    private static final String NEWEST =
            """
            r6 = r1
            r7 = 0x123456789abc
            r8 = -3
            r8 = (s8)r8
            r8 = (s16)r8
            r8 = (s32)r8
            w8 = (s8)w8
            w8 = (s16)w8
            r8 s/= -2
            r8 s%= 7
            w8 s/= w7
            w8 s%= w7
            r8 = be16 r8
            r8 = le32 r8
            r8 = be64 r8
            r8 = bswap16 r8
            r8 = bswap32 r8
            r8 = bswap64 r8
            w8 = -w8
            *(u64 *)(r10 -8) = 81985529
            *(u32 *)(r10 -16) = 5
            *(u64 *)(r10 -16) = r8
            r1 = *(s8 *)(r10 -8)
            r1 = *(s16 *)(r10 -8)
            r1 = *(s32 *)(r10 -8)
            lock *(u64 *)(r10 -8) += r7
            lock *(u32 *)(r10 -8) &= r7
            lock *(u64 *)(r10 -8) |= r7
            lock *(u32 *)(r10 -8) ^= r7
            r7 = atomic64_fetch_add((u64 *)(r10 -8), r7)
            r7 = atomic_fetch_or((u32 *)(r10 -8), r7)
            r7 = atomic64_fetch_and((u64 *)(r10 -8), r7)
            r7 = atomic_fetch_xor((u32 *)(r10 -8), r7)
            r7 = atomic64_xchg((u64 *)(r10 -8), r7)
            r0 = 0
            r0 = atomic64_cmpxchg((u64 *)(r10 -8), r0, r7)
            r1 = load_acquire((u64 *)(r10 -8))
            store_release((u32 *)(r10 -8), r7)
            call bpf_get_prandom_u32#7
            if w0 s> 0xfffffffb goto pc+0
            if w0 & 0x8 goto pc+0
            if r0 s<= r7 goto pc+0
            gotol pc+0
            may_goto pc+0
            call bpf_get_current_pid_tgid#14
            r1 = *(u64 *)(r5 +0)
            r0 = 0
            exit
            """;

    @Test
    void verifiersLogPrintsWhatWasAssembled() throws Exception {
        ProgramCode code = Assembler.assemble(NEWEST);
        VerifierException e =
                catchThrowableOfType(
                        VerifierException.class,
                        () -> Program.load("t", ProgramType.TRACEPOINT, code));
        Assumptions.assumeFalse(
                e.reason().contains("unknown opcode"), "this kernel lacks them: " + e.reason());
        assertThat(e.reason()).isEqualTo("R5 !read_ok");
        Map<Integer, String> logged = new TreeMap<>();
        for (String line : e.log().lines().toList()) {
            Matcher matcher = LOGGED.matcher(line);
            if (matcher.matches()) {
                logged.put(Integer.parseInt(matcher.group(1)), matcher.group(2).strip());
            }
        }
        List<String> ours = Disassembler.lines(code.words());
        assertThat(ours.stream().map(line -> line.replaceAll("^\\d+: \\(..\\) ", "")).toList())
                .isEqualTo(NEWEST.lines().toList());
        assertThat(logged).hasSize(ours.size() - 2);
        logged.forEach((slot, text) -> assertThat(ours).contains(slot + ": " + text));
    }

    /** What the verifier leaves as it is, read back by bpftool; map references with ids. */
    @Test
    void bpftoolPrintsTheSame() throws Exception {
        Assumptions.assumeTrue(Files.isExecutable(Path.of("/usr/sbin/bpftool")), "no bpftool");
        try (BpfMap map = BpfMap.create(new MapSpec("t", MapType.ARRAY, 4, 16, 1))) {
            String text =
                    """
                    r6 = r1
                    r7 = 0x123456789abc
                    r8 = map[fd:FD]
                    r9 = map[fd:FD][0]+8
                    r1 = *(u64 *)(r9 +0)
                    *(u16 *)(r10 -2) = 513
                    *(u8 *)(r10 -3) = r7
                    lock *(u64 *)(r9 -8) += r7
                    r7 = atomic64_fetch_add((u64 *)(r9 +0), r7)
                    if r7 s> 0xfffffff9 goto pc+1
                    r7 <<= 3
                    w1 s>>= 3
                    w7 ^= w1
                    r7 = be16 r7
                    if w7 & 0x10 goto pc+1
                    r7 = -r7
                    call bpf_get_current_comm#16
                    r1 = r7
                    call pc+2
                    r0 = 0
                    exit
                    r0 = r1
                    exit
                    """
                            .replace("FD", Integer.toString(map.fd()))
                            .replace(
                                    "call bpf_get_current_comm#16\n",
                                    "r1 = r10\nr1 += -16\nw2 = 16\n"
                                            + "call bpf_get_current_comm#16\n");
            ProgramCode code = Assembler.assemble(text);
            String name = "sonde_" + ProcessHandle.current().pid();
            try (Program program = Program.load(name, ProgramType.TRACEPOINT, code)) {
                assertThat(program.fd()).isPositive();
                List<String> theirs = bpftool("prog", "dump", "xlated", "name", name);
                List<String> ours = Disassembler.lines(code.words(), ListingSymbols.IDS);
                assertThat(withoutIds(theirs)).isEqualTo(withoutIds(ours));
                // and what bpftool prints is read back, into the words that it was printed from
                assertThat(Assembler.assemble(String.join("\n", withoutFunctions(theirs))).words())
                        .hasSize(code.words().length);
            }
        }
    }

    /** Ids of maps are numbers we do not know; subprograms and addresses print as bpftool likes. */
    private static List<String> withoutIds(List<String> lines) {
        return withoutFunctions(lines).stream()
                .map(line -> line.replaceAll("\\[id:\\d+\\]", "[id]"))
                .toList();
    }

    private static List<String> withoutFunctions(List<String> lines) {
        return lines.stream()
                .map(String::strip)
                .filter(line -> line.matches("\\d+: .*"))
                .map(line -> line.replaceAll("(call pc[+-]\\d+)#.*", "$1"))
                .map(line -> line.replaceAll("(call [a-z_0-9]+)#-?\\d+", "$1"))
                .toList();
    }

    private static List<String> bpftool(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("/usr/sbin/bpftool"));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(out).isZero();
        return out.lines().toList();
    }
}
