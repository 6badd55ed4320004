/**
 * Machine code as instructions: length, operands, flow and the text of objdump, for x86 (16, 32 and
 * 64 bits, AT&T or Intel syntax) and arm64.
 *
 * <p>The encodings are tables, {@code x86.txt} and {@code arm64.txt}.
 *
 * {@snippet :
 * MachineDecoder decoder = MachineDecoder.of(ElfFile.EM_X86_64).orElseThrow();
 * MachineInstruction first = decoder.decode(bytes, 0, bytes.length, 0x401000);
 * first.text();   // "call 0x401234"
 * first.target(); // 0x401234
 * }
 */
package sonde.binary.machine;
