package sonde.lang.ir;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.binary.btf.BtfType;
import sonde.binary.btf.BtfType.Int.IntEncoding;
import sonde.binary.btf.BtfWriter;
import sonde.lang.source.SourceSpan;

/**
 * The BTF of a program: its functions, whose parameters are numbers of 64 bits and pointers to
 * nothing known, and the lines of its source.
 */
final class ProgramBtf {
    /** struct bpf_func_info: insn_off, type_id. */
    static final int FUNCTION_RECORD = 8;

    /** struct bpf_line_info: insn_off, file_name_off, line_off, line_col. */
    static final int LINE_RECORD = 16;

    private static final int MOST_COLUMN = 0x3ff;
    private static final int MOST_LINE = 0x3fffff;

    private final BtfWriter types;
    private final List<Integer> functions = new ArrayList<>();
    private final List<Integer> lines = new ArrayList<>();
    private @Nullable IrFunction current;
    private @Nullable SourceSpan last;

    /**
     * Adds the types of a program.
     *
     * @param types those that are there already stay
     */
    ProgramBtf(List<CompiledFunction> program, CodeEncoder encoder, BtfWriter types) {
        this.types = types;
        int result = types.add(integer("int", 4, IntEncoding.SIGNED));
        int number = types.add(integer("u64", 8, IntEncoding.UNSIGNED));
        int pointer = types.add(new BtfType.Ptr(0));
        for (CompiledFunction one : program) {
            IrFunction function = one.source();
            List<BtfType.Param> parameters = new ArrayList<>();
            for (VirtualRegister parameter : function.parameters()) {
                boolean address = parameter.kind() == VirtualRegister.Kind.POINTER;
                parameters.add(
                        new BtfType.Param("a" + parameters.size(), address ? pointer : number));
            }
            int prototype = types.add(new BtfType.FuncProto(result, parameters));
            functions.add(encoder.start(function));
            functions.add(
                    types.add(
                            new BtfType.Func(function.name(), BtfType.Linkage.STATIC, prototype)));
        }
        encoder.places(this::line);
    }

    private static BtfType.Int integer(String name, int bytes, IntEncoding encoding) {
        return new BtfType.Int(name, bytes, encoding, 0, 8 * bytes);
    }

    /** Every function needs a record for its first instruction. */
    private void line(int slot, IrFunction function, @Nullable SourceSpan span) {
        if (function == current && (span == null || span.equals(last))) {
            return;
        }
        current = function;
        last = span;
        lines.add(slot);
        if (span == null) {
            lines.addAll(List.of(0, 0, 0));
            return;
        }
        int line = span.source().line(span.from());
        int column = span.source().column(span.from());
        lines.add(types.string(span.source().name()));
        lines.add(types.string(span.source().lineText(line)));
        lines.add(Math.min(line, MOST_LINE) << 10 | Math.min(column, MOST_COLUMN));
    }

    byte[] btf() {
        return types.bytes();
    }

    byte[] functionRecords() {
        return bytes(functions);
    }

    byte[] lineRecords() {
        return bytes(lines);
    }

    private static byte[] bytes(List<Integer> words) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * words.size()).order(ByteOrder.nativeOrder());
        words.forEach(bytes::putInt);
        return bytes.array();
    }
}
