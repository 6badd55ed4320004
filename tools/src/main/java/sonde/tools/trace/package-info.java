/**
 * Runs scripts of bpftrace's language and says what they would do: {@code sonde trace}, and the
 * scripts of {@code sonde tool}.
 *
 * {@snippet :
 * try (TraceRecipe recipe = TraceRecipe.open(request, messages, System.err, Optional.empty())) {
 *     Optional<Result> output = recipe.result(); // empty where the script is wrong
 *     // the script runs while its output is rendered
 *     int status = recipe.status();
 * }
 * }
 */
package sonde.tools.trace;
