package sonde.bpf.object;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import sonde.binary.Input;
import sonde.binary.btf.Btf;
import sonde.binary.btf.BtfType;
import sonde.bpf.LoadedBtf;
import sonde.bpf.Program;
import sonde.bpf.object.ObjectException.ObjectPosition;

/** The function of a loaded program that another program is to stand in for. */
final class ReplacedFunction {
    private ReplacedFunction() {}

    /** Its id in the program's own types. */
    static int find(Program program, String function) throws IOException {
        try (LoadedBtf types = LoadedBtf.openId(program.facts().btfId())) {
            Btf btf = Btf.read(Input.of("BTF", MemorySegment.ofArray(types.bytes())));
            int id = btf.find(function, BtfType.Func.class::isInstance);
            if (id == 0) {
                throw new ObjectException(
                        ObjectPosition.of("program " + program.name()).symbol(function),
                        "it has no such function");
            }
            return id;
        }
    }
}
