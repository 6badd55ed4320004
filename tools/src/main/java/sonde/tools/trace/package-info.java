/**
 * Runs scripts of bpftrace's language and says what they would do: {@code sonde trace}, and the
 * scripts of {@code sonde tool}.
 *
 * {@snippet :
 * try (TraceRun run = new TraceRun(request, messages, System.err, Optional.empty())) {
 *     Optional<Result> output = run.result(text); // empty where the script is wrong
 *     // the script is loaded now, and runs while its output is rendered
 *     int status = run.status();
 * }
 * }
 */
package sonde.tools.trace;
