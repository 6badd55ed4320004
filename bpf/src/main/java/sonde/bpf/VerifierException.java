package sonde.bpf;

import java.io.IOException;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.verifier.Explanation;
import sonde.bpf.verifier.InstructionLines;
import sonde.bpf.verifier.RefusalAnalysis;
import sonde.sys.Errno;

/** The verifier's no: what it said, where in the program, why, and its whole log. */
public final class VerifierException extends IOException {
    private static final long serialVersionUID = 1L;

    private final int errno;
    private final String position;
    private final transient Explanation explanation;
    private final String log;

    VerifierException(
            String program, ProgramCode code, int errno, String log, InstructionLines sources) {
        this(
                program,
                errno,
                RefusalAnalysis.explain(log, code, sources, MapType::nameOf),
                code,
                log);
    }

    private VerifierException(
            String program, int errno, Explanation explanation, ProgramCode code, String log) {
        super(
                "program %s refused by the verifier (%s) at %s: %s"
                        .formatted(
                                program,
                                Errno.name(errno),
                                position(explanation, code),
                                explanation.message()));
        this.errno = errno;
        this.position = position(explanation, code);
        this.explanation = explanation;
        this.log = log;
    }

    /** The errno, positive. */
    public int errno() {
        return errno;
    }

    /** The verifier's sentence: {@code "R0 invalid mem access 'map_value_or_null'"}. */
    public String reason() {
        return explanation.message();
    }

    /** The instruction it fell over, with the program's step it belongs to. */
    public String position() {
        return position;
    }

    /** Why, where from, and what helps. */
    public Explanation explanation() {
        return explanation;
    }

    /** Everything the verifier wrote. */
    public String log() {
        return log;
    }

    private static String position(Explanation explanation, ProgramCode code) {
        if (explanation.slot() < 0) {
            return "no place in particular";
        }
        String step = code.stepAt(explanation.slot());
        return explanation.slot()
                + ": "
                + explanation.instruction()
                + (step.isEmpty() ? "" : " in \"" + step + "\"");
    }
}
