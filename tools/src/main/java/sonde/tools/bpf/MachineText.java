package sonde.tools.bpf;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import sonde.binary.elf.ElfFile;
import sonde.binary.machine.MachineDecoder;
import sonde.binary.machine.MachineInstruction;

/** Machine code of this machine as text. */
final class MachineText {
    /** An instruction. */
    record MachineLine(int offset, byte[] bytes, String text) {}

    private MachineText() {}

    static List<MachineLine> of(byte[] code) throws BpfInputException {
        String machine = System.getProperty("os.arch");
        MachineDecoder decoder =
                MachineDecoder.of(
                                machine.equals("aarch64")
                                        ? ElfFile.EM_AARCH64
                                        : machine.equals("amd64") ? ElfFile.EM_X86_64 : 0)
                        .orElseThrow(() ->
                                new BpfInputException(
                                        "machine code of "
                                                + machine
                                                + " is not decoded;"
                                                + " 'dump jited ... file PATH' writes the"
                                                + " bytes"));
        List<MachineLine> lines = new ArrayList<>();
        for (MachineInstruction one : decoder.decodeAll(code, 0)) {
            int at = (int) one.address();
            byte[] bytes = Arrays.copyOfRange(code, at, at + one.length());
            lines.add(new MachineLine(at, bytes, columns(one.text())));
        }
        return lines;
    }

    /** The operands begin in one column, as objdump has them. */
    private static String columns(String text) {
        int space = text.indexOf(' ');
        return space < 0
                ? text
                : "%-6s %s".formatted(text.substring(0, space), text.substring(space + 1));
    }
}
