/**
 * Contains the intermediate representation: functions of blocks of operations on virtual registers.
 * Each operation becomes a few eBPF instructions; the number of registers is not limited.
 *
 * <pre>{@code
 * IrFunction program = new IrFunction("count", List.of(VirtualRegister.Kind.POINTER));
 * VirtualRegister pid = program.scalar();
 * program.add(new IrOperation.IrCall(pid, HelperFunctionId.GET_CURRENT_PID_TGID, List.of()));
 * program.add(new IrOperation.IrReturn(pid));
 * ProgramCode code = Assembly.of(program, new Assembly.InstructionSet(true)).code(symbols);
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
