package sonde.testkit.guest;

import java.util.List;

/**
 * One command of a guest's job.
 *
 * @param name letters, digits and dashes; names its output file
 * @param timeoutSeconds after which it is ended: SIGQUIT, on which a JVM writes what its threads
 *     do, ten seconds later SIGKILL
 */
public record Step(String name, List<String> command, int timeoutSeconds) {
    /** What became of a step. 124 and 137 are the exit codes of one that took too long. */
    public record Result(String name, int exitCode, double seconds, String output) {}

    /** The line of the job's script. */
    String script() {
        StringBuilder line = new StringBuilder("step " + name + " " + timeoutSeconds);
        for (String word : command) {
            line.append(" '").append(word.replace("'", "'\\''")).append('\'');
        }
        return line.append('\n').toString();
    }
}
