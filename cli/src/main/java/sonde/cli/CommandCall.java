package sonde.cli;

import java.io.PrintWriter;
import java.util.List;
import sonde.tools.option.GivenOptions;

/** A command line that was read, and where its command writes. */
record CommandCall(GivenOptions given, PrintWriter out, PrintWriter err) {
    /** What runs a command. */
    @FunctionalInterface
    interface Body {
        int run(CommandCall call) throws Exception;
    }

    /** Whether an option was given. */
    boolean has(String option) {
        return given.has(option);
    }

    /** Whether the result is to be JSON. */
    boolean json() {
        return given.has("--json");
    }

    /** One sentence on standard error. */
    void say(String sentence) {
        FailureMessages.say(err, sentence);
    }

    /** Sentences on standard error. */
    void say(List<String> sentences) {
        sentences.forEach(this::say);
    }
}
