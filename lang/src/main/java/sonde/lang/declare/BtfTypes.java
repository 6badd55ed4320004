package sonde.lang.declare;

import sonde.binary.btf.Btf;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.PointerSpace;
import sonde.symbol.ctype.BtfSourceTypes;

/**
 * Types of one BTF.
 *
 * @param source as the BTF has them
 * @param made as the languages have them
 */
record BtfTypes(BtfSourceTypes source, ScriptTypes made) {
    BtfTypes(Btf btf) {
        this(new BtfSourceTypes(btf, Long.BYTES), new ScriptTypes(PointerSpace.KERNEL));
    }

    Btf btf() {
        return source.btf();
    }

    /** The type of an id; void where the BTF is malformed. */
    ValueType type(int id) {
        return made.type(source.type(id));
    }
}
