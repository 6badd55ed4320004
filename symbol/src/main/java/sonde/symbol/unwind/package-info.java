/**
 * Call chains of user code from the registers and the piece of stack that a sample carries.
 *
 * <p>Call frame information of the mapped files comes first, frame pointers where there is none
 * (code of JIT compilers, assembly). What neither tells is not guessed: the chain ends and {@link
 * sonde.symbol.unwind.UnwindEnd} says why.
 *
 * {@snippet :
 * ModuleFrames modules = new ModuleFrames(new ModuleImages(SymbolOptions.here()));
 * StackUnwinder unwinder = new StackUnwinder(UnwindMachine.X86_64, maps, modules);
 * int count = unwinder.unwind(pid, registers, stack, chain);
 * UnwindEnd end = unwinder.end();
 * }
 */
package sonde.symbol.unwind;
