package sonde.bpf;

import java.io.IOException;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.bpf.insn.Code;
import sonde.sys.Errno;

/** The verifier's no: what it said, where in the program, and its whole log. */
public final class VerifierException extends IOException {
    private static final long serialVersionUID = 1L;
    private static final Pattern INSTRUCTION = Pattern.compile("^(\\d{1,7}): \\([0-9a-f]{2}\\) .*");

    private final int errno;
    private final String cause;
    private final String position;
    private final String log;

    VerifierException(String program, Code code, int errno, String log) {
        this(program, errno, causeOf(log), positionOf(code, log), log);
    }

    private VerifierException(
            String program, int errno, String cause, String position, String log) {
        super(
                "program %s refused by the verifier (%s) at %s: %s"
                        .formatted(program, Errno.name(errno), position, cause));
        this.errno = errno;
        this.cause = cause;
        this.position = position;
        this.log = log;
    }

    /** The errno, positive. */
    public int errno() {
        return errno;
    }

    /** The verifier's sentence: {@code "R0 invalid mem access 'map_value_or_null'"}. */
    public String reason() {
        return cause;
    }

    /** The instruction it fell over, with the program's step it belongs to. */
    public String position() {
        return position;
    }

    /** Everything the verifier wrote. */
    public String log() {
        return log;
    }

    /** The last line before the statistics. */
    private static String causeOf(String log) {
        List<String> lines = log.lines().filter(line -> !line.isBlank()).toList();
        int last = lines.size() - 1;
        while (last > 0 && isStatistics(lines.get(last))) {
            last--;
        }
        return last < 0 ? "no log" : lines.get(last);
    }

    private static boolean isStatistics(String line) {
        return line.startsWith("processed ")
                || line.startsWith("verification time")
                || line.startsWith("stack depth");
    }

    private static String positionOf(Code code, String log) {
        String position = "an unknown place";
        for (String line : log.lines().toList()) {
            Matcher matcher = INSTRUCTION.matcher(line);
            if (matcher.matches()) {
                String step = code.stepAt(Integer.parseInt(matcher.group(1)));
                position = line + (step.isEmpty() ? "" : " in \"" + step + "\"");
            }
        }
        return position;
    }
}
