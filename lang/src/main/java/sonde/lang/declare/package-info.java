/**
 * Provides the types and constants of a script: from its own C definitions, the kernel's BTF, the
 * formats of tracepoints, and a table of common constants.
 *
 * <pre>{@code
 * try (KernelTypeSource kernel = new KernelTypeSource()) {
 *     CDeclarations own =
 *             CDeclarations.parse(text, script.definitions(), kernel, diagnostics);
 *     own.type(TypeSyntax.Kind.STRUCT, "event"); // Struct, laid out as gcc does
 *     own.constant("AF_INET"); // of #define AF_INET 2
 *     kernel.type(TypeSyntax.Kind.STRUCT, "task_struct");
 *     TracepointTypes.arguments(kernel, "sched", "sched_switch").field("prev_comm");
 * }
 * }</pre>
 */
@org.jspecify.annotations.NullMarked
package sonde.lang.declare;
