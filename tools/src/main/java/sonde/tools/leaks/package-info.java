/**
 * {@code sonde leaks}: what the kernel allocated during one command and did not free by the end of
 * another, by stack.
 *
 * <p>{@link sonde.tools.leaks.LeaksRun} runs the commands, {@link sonde.tools.leaks.LeakJudge} says
 * of each stack whether it is a leak, {@link sonde.tools.leaks.LeakPage} shows them.
 */
@org.jspecify.annotations.NullMarked
package sonde.tools.leaks;
