/**
 * {@code sonde ftrace}: the kernel's own tracers. {@code FtraceArguments} makes an order of a
 * recording with a tracer, which {@code tools.record} runs; what was traced is shown by the section
 * {@code --functions} of a report.
 */
@org.jspecify.annotations.NullMarked
package sonde.tools.ftrace;
