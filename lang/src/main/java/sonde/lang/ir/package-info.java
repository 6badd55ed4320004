/**
 * What languages are lowered to: functions of blocks of effects on virtual registers, near enough
 * to eBPF that every operation becomes a few instructions, far enough that no register is counted.
 *
 * <pre>{@code
 * Function program = new Function("count", List.of(Vreg.Kind.POINTER));
 * Vreg pid = program.scalar();
 * program.add(new Operation.Call(pid, KernelFunction.GET_CURRENT_PID_TGID, List.of()));
 * program.add(new Operation.Return(pid));
 * }</pre>
 */
@org.jspecify.annotations.NullMarked
package sonde.lang.ir;
