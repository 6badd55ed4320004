package sonde.lang.declare;

import sonde.binary.btf.Btf;
import sonde.lang.type.Type;
import sonde.symbol.ctype.BtfSourceTypes;

/**
 * Types of one BTF.
 *
 * @param source as the BTF has them
 * @param made as the languages have them
 */
record BtfTypes(BtfSourceTypes source, ScriptTypes made) {
    BtfTypes(Btf btf) {
        this(new BtfSourceTypes(btf, Long.BYTES), new ScriptTypes(Type.Space.KERNEL));
    }

    Btf btf() {
        return source.btf();
    }

    /** The type of an id; void where the BTF is malformed. */
    Type type(int id) {
        return made.type(source.type(id));
    }
}
