package sonde.lang.declare;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.btf.Btf;
import sonde.binary.btf.BtfType;
import sonde.binary.btf.CHeader;
import sonde.lang.bpftrace.syntax.TypeSyntax;
import sonde.lang.declare.FunctionSignature.SignatureParameter;
import sonde.lang.type.ValueType;

/** Types of an object whose functions a script calls. */
public final class LibraryTypes {
    private final BtfTypes types;

    /** Types of a BTF. */
    public LibraryTypes(Btf btf) {
        types = new BtfTypes(btf);
    }

    /** A function; the parameter for all further arguments is void. */
    public FunctionSignature signature(BtfType.FuncProto prototype) throws MalformedInputException {
        List<SignatureParameter> parameters = new ArrayList<>();
        for (BtfType.Param param : prototype.params()) {
            parameters.add(
                    new SignatureParameter(
                            param.name(), types.type(param.type()), spelling(param.type())));
        }
        int result = prototype.returnType();
        return new FunctionSignature(parameters, types.type(result), spelling(result), 0, "");
    }

    private String spelling(int id) throws MalformedInputException {
        return CHeader.declaration(types.btf(), id, "");
    }

    /** A type; null for none of that name. */
    public @Nullable ValueType type(TypeSyntax.Kind kind, String name) {
        return types.source()
                .find(DwarfTypes.space(kind), name)
                .map(types.made()::type)
                .orElse(null);
    }
}
