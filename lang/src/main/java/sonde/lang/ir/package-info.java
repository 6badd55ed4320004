/**
 * What languages are lowered to: functions of blocks of effects on virtual registers, near enough
 * to eBPF that every operation becomes a few instructions, far enough that no register is counted.
 *
 * <pre>{@code
 * Function program = new Function("count", List.of(Vreg.Kind.POINTER));
 * Vreg pid = program.scalar();
 * program.add(new Operation.Call(pid, KernelFunction.GET_CURRENT_PID_TGID, List.of()));
 * program.add(new Operation.Return(pid));
 * Code code = Assembly.of(program, new Assembly.Target(true)).code(symbols);
 * }</pre>
 *
 * <p>{@link sonde.lang.ir.Assembly} makes instructions of them, a pass after the other: what may be
 * read first is zeroed; jumps, copies, known numbers and what nobody reads go, until nothing
 * changes; what the kernel's instructions cannot say is said by several; objects that may share
 * bytes are found; arguments and results go to their registers; the others are given, or kept in
 * memory and given again; then instructions are written. Memory accesses and checks stay in their
 * order, and a check on the register of its access.
 */
@org.jspecify.annotations.NullMarked
package sonde.lang.ir;
