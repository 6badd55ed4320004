package sonde.binary.machine;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import sonde.binary.elf.ElfFile;

/** Reads the instructions of one machine. An object serves one thread. */
public interface MachineDecoder {
    /** The longest instruction of x86. */
    int MAX_LENGTH = 15;

    /**
     * The instruction at an offset. It never fails: bytes that are no instruction become one with
     * {@link MachineFlow#INVALID} and the length that objdump skips.
     *
     * @param end the offset behind the last byte that may be read
     * @param address the address of the byte at {@code offset}
     */
    MachineInstruction decode(byte[] code, int offset, int end, long address);

    /** All instructions of some bytes. */
    default List<MachineInstruction> decodeAll(byte[] code, long address) {
        List<MachineInstruction> all = new ArrayList<>();
        for (int at = 0; at < code.length; ) {
            MachineInstruction one = decode(code, at, code.length, address + at);
            all.add(one);
            at += one.length();
        }
        return all;
    }

    /** The decoder for the machine of an ELF file; AT&T syntax for x86. */
    static Optional<MachineDecoder> of(int elfMachine) {
        return of(elfMachine, false);
    }

    /**
     * @param intel write x86 in Intel's syntax
     */
    static Optional<MachineDecoder> of(int elfMachine, boolean intel) {
        MachineSyntax syntax = intel ? MachineSyntax.INTEL : MachineSyntax.ATT;
        return switch (elfMachine) {
            case ElfFile.EM_X86_64 -> Optional.of(new X86Decoder(64, syntax));
            case ElfFile.EM_AARCH64 -> Optional.of(new Arm64Decoder());
            case ElfFile.EM_386 -> Optional.of(new X86Decoder(32, syntax));
            default -> Optional.empty();
        };
    }
}
