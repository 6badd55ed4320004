package sonde.tools.report.answer;

import java.util.ArrayList;
import java.util.List;
import sonde.tools.report.answer.Evidence.DeathSum;

/** Judges what ended by a signal. These are facts, however short the recording is. */
final class DeathRules {
    /** A crash is what a person asks about, whatever took the time. */
    private static final double CRASH = 1.5;

    /** Whoever sends a signal mostly wants the end of the process. */
    private static final double SENT = 0.3;

    /** {@code yes | head}: a writer's usual end. */
    private static final double PIPE = 0.6;

    private DeathRules() {}

    static List<Finding> deaths(Evidence evidence) {
        List<Finding> findings = new ArrayList<>();
        for (DeathSum death : evidence.deaths()) {
            boolean sent = !death.sender().isEmpty();
            boolean pipe = death.signal().equals("SIGPIPE");
            findings.add(new Finding(sent ? SENT : pipe ? PIPE : CRASH, text(death)));
        }
        return findings;
    }

    private static String text(DeathSum death) {
        StringBuilder text = new StringBuilder();
        text.append(
                death.count() == 1
                        ? death.process()
                        : AnswerWording.count(death.count()) + " processes " + death.process());
        text.append(death.count() == 1 ? " was killed by " : " were killed by ")
                .append(death.signal());
        if (!death.sender().isEmpty()) {
            text.append(" from ").append(death.sender());
        } else if (!death.reason().isEmpty()) {
            text.append(": ").append(death.reason());
        } else {
            text.append(meaning(death.signal()));
            String object = death.object();
            text.append(object.isEmpty() ? "" : ", " + object);
        }
        String place = death.place().named();
        if (!place.isEmpty() && death.sender().isEmpty()) {
            text.append(", in ").append(place);
            text.append(death.place().own() ? "" : " of " + death.place().module());
        }
        return text.append('.').toString();
    }

    /** signal(7): what the kernel sends these for; a program may send each to itself. */
    private static String meaning(String signal) {
        return switch (signal) {
            case "SIGSEGV" -> ": it used memory that it may not use";
            case "SIGBUS" -> ": it used memory that has nothing behind it";
            case "SIGFPE" -> ": it calculated what has no result";
            case "SIGILL" -> ": it ran an instruction that the CPU does not know";
            case "SIGPIPE" -> ": it wrote what nobody reads any more";
            case "SIGXFSZ" -> ": a file reached its limit of size (ulimit -f)";
            case "SIGXCPU" -> ": it reached its limit of CPU time (ulimit -t)";
            case "SIGSYS" -> ": it made a system call that it may not make";
            default -> "";
        };
    }
}
