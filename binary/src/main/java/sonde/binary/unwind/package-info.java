/**
 * From one frame of a stack to its caller: call frame information of DWARF 2 to 5 ({@code
 * .eh_frame}, {@code .debug_frame}) and SFrame V1 to V3, compiled to sorted tables of rules.
 *
 * <p>Addresses are those stated in the ELF; registers have the numbers that DWARF gives them on the
 * machine.
 *
 * {@snippet :
 * UnwindTable table = UnwindTable.of(ElfFile.of(file));
 * FrameRule rule = table.find(address); // of a caller's frame: its return address - 1
 * FrameStepper stepper = new FrameStepper(UnwindMachine.X86_64);
 * FrameStepper.Outcome outcome = stepper.step(rule, registers, caller, memory);
 * }
 */
package sonde.binary.unwind;
