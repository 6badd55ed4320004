package sonde.bpf.verifier;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import sonde.bpf.MapType;
import sonde.bpf.insn.Assembler;
import sonde.bpf.insn.AssemblyException;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.verifier.KernelReport.ReportedStep;
import sonde.bpf.verifier.LogEntry.LoggedStep;

final class RefusalAnalysisTest {
    private static Explanation explain(String log) {
        return RefusalAnalysis.explain(log, null, InstructionLines.NONE, MapType::nameOf);
    }

    private static List<Integer> slots(Explanation explanation) {
        return explanation.history().stream().map(HistoryStep::slot).toList();
    }

    @Test
    void aValueIsFollowedThroughMovesAndTheStack() {
        Explanation one = explain(Logs.V6_1);
        assertThat(one.id()).isEqualTo("null-pointer");
        assertThat(one.cause())
                .isEqualTo(
                        "r3 (what bpf_map_lookup_elem returned) may be null here and is used"
                                + " without a check");
        assertThat(one.slot()).isEqualTo(13);
        assertThat(one.instruction()).isEqualTo("r4 = *(u64 *)(r3 +0)");
        assertThat(one.source()).isEqualTo(new SourceLine("", 0, 0, "*value += 1;"));
        assertThat(slots(one)).containsExactly(9, 10, 11, 12);
        assertThat(one.history().getFirst().state()).startsWith("map_value_or_null(id=2,");
        assertThat(one.history().get(2).what()).isEqualTo("r7 is saved on the stack");
        assertThat(one.statistics().processed()).isEqualTo(14);
        assertThat(one.statistics().micros()).isEqualTo(-1);
    }

    @Test
    void whatWasAddedToAPointerIsFollowedToo() {
        Explanation one = explain(Logs.V6_12);
        assertThat(one.id()).isEqualTo("index-too-large");
        assertThat(one.place()).isEqualTo("instruction 5, sum.bpf.c:10");
        assertThat(slots(one)).containsExactly(0, 1, 2, 4);
        assertThat(one.history().get(1).state()).contains("umax=");
        assertThat(one.history().get(1).source())
                .isEqualTo(new SourceLine("sum.bpf.c", 9, 0, "int at = ctx->len & 255;"));
        assertThat(one.statistics())
                .isEqualTo(
                        new VerifierStatistics(5, 1_000_000, 1, 3, 2, 0, 153, List.of(8, 0, 16)));
    }

    /** The step that limits a number is told, however long the way of the pointer was. */
    @Test
    void copiesGiveWayToStepsThatChange() {
        Explanation one =
                explain(
                        """
                        0: R1=ctx() R10=fp0
                        0: (79) r6 = *(u64 *)(r1 +16)         ; R1=ctx() R6=scalar()
                        1: (77) r6 >>= 32                     ; R6=scalar(smin=0,smax=umax=0xffffffff)
                        2: (bf) r7 = r6                       ; R6=scalar(id=1) R7=scalar(id=1)
                        3: (bf) r8 = r7                       ; R7=scalar(id=1) R8=scalar(id=1)
                        4: (bf) r9 = r8                       ; R8=scalar(id=1) R9=scalar(id=1)
                        5: (7b) *(u64 *)(r10 -8) = r9         ; R9=scalar(id=1) R10=fp0 fp-8=scalar(id=1)
                        6: (79) r2 = *(u64 *)(r10 -8)         ; R2=scalar(id=1) R10=fp0
                        7: (bf) r3 = r2                       ; R2=scalar(id=1) R3=scalar(id=1)
                        8: (bf) r4 = r3                       ; R3=scalar(id=1) R4=scalar(id=1)
                        9: (71) r0 = *(u8 *)(r4 +0)
                        R4 invalid mem access 'scalar'
                        """);
        assertThat(slots(one)).contains(0, 1).hasSizeLessThan(8);
        assertThat(one.id()).isEqualTo("number-as-pointer");
    }

    @Test
    void memoryOfTheKernelIsNoArgument() {
        Explanation one =
                explain(
                        """
                        0: R1=ctx() R10=fp0
                        0: (79) r2 = *(u64 *)(r1 +8)          ; R1=ctx() R2=trusted_ptr_task_struct()
                        1: (18) r1 = 0xffff888157ed6000       ; R1=map_ptr(map=counts,ks=8,vs=8)
                        3: (85) call bpf_map_lookup_elem#1
                        bpf_map_lookup_elem() may write into memory pointed by R2 type=trusted_ptr_
                        """);
        assertThat(one.id()).isEqualTo("kernel-memory-argument");
        assertThat(one.cause())
                .startsWith(
                        "r2 is a pointer to a structure of the kernel, which bpf_map_lookup_elem"
                                + " does not take");
        assertThat(one.remedy()).contains("to the stack first");
    }

    @Test
    void theKernelsOwnReportExplainsWhatIsNotKnownHere() {
        Explanation one = explain(Logs.V7_3);
        assertThat(one.id()).isEqualTo(Explanation.UNKNOWN);
        assertThat(one.message()).isEqualTo("R6 is quite impossible here");
        assertThat(one.cause()).isEqualTo("R6 is an integer scalar here, not a pointer to memory.");
        assertThat(one.remedy()).isEqualTo("Preserve a pointer-valued register where needed.");
        assertThat(one.register()).isEqualTo("r6");
        assertThat(slots(one)).containsExactly(0);
        KernelReport report = one.report();
        assertThat(report).isNotNull();
        assertThat(report.category()).isEqualTo("Register Type Safety");
        assertThat(report.problem()).isEqualTo("Invalid dereference");
        assertThat(report.at())
                .isEqualTo(
                        new ReportedStep(
                                2,
                                new SourceLine("walk.bpf.c", 21, 9, "value = next(it);"),
                                "error",
                                "invalid dereference of R6 (an integer scalar)"));
        assertThat(report.path()).hasSize(2);
        assertThat(report.path().getFirst().text())
                .isEqualTo("R6 changed from uninitialized value to integer scalar value 3");
        assertThat(report.path().get(1))
                .isEqualTo(
                        new ReportedStep(
                                1,
                                null,
                                "branch",
                                "took the false branch of this conditional, goto not followed"));
    }

    @Test
    void anUnknownMessageIsShownWithInstructionAndHistory() {
        String log = Logs.V7_3.substring(0, Logs.V7_3.indexOf("\nVerification"));
        Explanation one = explain(log);
        assertThat(one.id()).isEqualTo(Explanation.UNKNOWN);
        assertThat(one.cause()).isEqualTo("R6 is quite impossible here");
        assertThat(one.remedy()).isEmpty();
        assertThat(one.lines())
                .containsExactly(
                        "R6 is quite impossible here",
                        "  walk.bpf.c:21: value = next(it);",
                        "  instruction 2: r0 = *(u64 *)(r6 +8)",
                        "r6 until then:",
                        "  0: r6 = 3   [walk.bpf.c:21] r6 is a constant: 3");
    }

    @Test
    void aLogWithoutItsEndSaysSo() {
        String log = Logs.V6_1.substring(0, Logs.V6_1.indexOf("R3 invalid"));
        assertThat(explain(log).cause()).isEqualTo("the log ends before it says why");
        assertThat(explain(log).slot()).isEqualTo(13);
        assertThat(explain("").slot()).isEqualTo(-1);
    }

    @Test
    void aLogWithoutItsBeginningIsFollowedAsFarAsItGoes() {
        String log = Logs.V6_1.substring(Logs.V6_1.indexOf("_or_null(id=2"));
        Explanation one = explain(log);
        assertThat(one.id()).isEqualTo("null-pointer");
        assertThat(slots(one)).containsExactly(10, 11, 12);
    }

    @Test
    void thePathIsTheOneThatFailed() {
        List<Integer> path =
                VerifierPath.of(VerifierLog.read(Logs.V6_1)).stream()
                        .map(LoggedStep::slot)
                        .toList();
        assertThat(path).containsExactly(0, 1, 4, 5, 6, 7, 9, 10, 11, 12, 13);
    }

    @Test
    void argumentsAndResultsOfSubprogramsAreFollowed() throws AssemblyException {
        ProgramCode code =
                Assembler.assemble(
                        """
                        r1 = 7
                        call other
                        r0 = *(u8 *)(r0 +0)
                        exit
                        other: r0 = r1
                        exit
                        """);
        String log =
                """
                0: R1=ctx() R10=fp0
                0: (b7) r1 = 7                        ; R1_w=7
                1: (85) call pc+2
                caller:
                 R10=fp0
                callee:
                 frame1: R1_w=7 R10=fp0
                4: frame1: R1_w=7 R10=fp0
                4: (bf) r0 = r1                       ; frame1: R0_w=7 R1=7
                5: (95) exit
                returning from callee:
                 frame1: R0_w=7 R1=7 R10=fp0
                to caller at 2:
                 R0_w=7 R10=fp0
                2: (71) r0 = *(u8 *)(r0 +0)
                R0 invalid mem access 'scalar'
                """;
        InstructionLines lines = InstructionLines.of("x.asm", "r1 = 7\ncall other\n", code);
        Explanation one = RefusalAnalysis.explain(log, code, lines, MapType::nameOf);
        assertThat(one.id()).isEqualTo("number-as-pointer");
        assertThat(slots(one)).containsExactly(0, 1, 4);
        assertThat(one.history().get(1).what()).isEqualTo("r1 is passed to the subprogram");
        assertThat(one.history().getFirst().source())
                .isEqualTo(new SourceLine("x.asm", 1, 0, "r1 = 7"));
    }

    @Test
    void controlCharactersOfALogAreEscaped() {
        Explanation one = explain("0: (b7) r0 = 0 ; R0=0\nwhat \u001b[31mis\u0007\u009b this\r\n");
        assertThat(String.join("\n", one.lines()))
                .contains("what \\x1b[31mis\\x07\\x9b this")
                .doesNotContain("\u001b", "\u0007", "\u009b");
    }

    @Test
    void everyCauseHasASentenceAndARemedy() {
        assertThat(RefusalKind.all()).hasSizeGreaterThan(90);
        assertThat(RefusalKind.all()).extracting(RefusalKind::id).doesNotHaveDuplicates();
        assertThat(RefusalKind.all())
                .allSatisfy(cause -> {
                    // A call that ended a pointer has no message of its own.
                    boolean isBefore = cause.sentence().contains("{ended}");
                    assertThat(cause.messages().isEmpty()).isEqualTo(isBefore);
                    assertThat(cause.sentence()).isNotEmpty();
                    assertThat(cause.remedy()).isNotEmpty();
                });
    }
}
