package sonde.lang.bpftrace.ahead;

import java.nio.charset.StandardCharsets;
import java.util.List;
import sonde.lang.bpftrace.ahead.AotFile.AotProgramEntry;
import sonde.lang.bpftrace.ahead.AotFile.RequestedOption;
import sonde.lang.bpftrace.expand.ScriptOption;
import sonde.lang.bpftrace.lower.MapPlan;

/** Compiled scripts as bytes; the form is that of docs/compiled-scripts.md. */
public final class FileWriter {
    /** What every file begins with. */
    static final byte[] MAGIC = "sonde-bt".getBytes(StandardCharsets.US_ASCII);

    /** Version of the form. */
    static final int VERSION = 3;

    private FileWriter() {}

    /** The bytes of a file. */
    public static byte[] bytes(AotFile file) {
        AotOutput out = new AotOutput(file.sources());
        for (byte b : MAGIC) {
            out.u8(b);
        }
        out.u32(VERSION).text(System.getProperty("os.arch")).text(file.kernel());
        out.list(file.sources(), (o, source) -> o.text(source.name()).text(source.text()));
        out.block(file.texts()).u32(file.zeroBytes()).u32(file.frameBytes());
        out.list(file.maps(), FileWriter::map);
        out.list(file.actions(), ActionForm::write);
        out.block(file.types()).u32(file.programCount());
        out.list(file.pieces(), FileWriter::piece);
        out.list(file.options(), FileWriter::option);
        return out.bytes();
    }

    private static void option(AotOutput out, RequestedOption asked) {
        ScriptOption option = asked.option();
        String fixed = asked.fixed();
        out.text(option.name()).text(option.kind().name()).text(option.standard());
        out.text(option.help()).flag(fixed != null).text(fixed == null ? "" : fixed);
    }

    private static void map(AotOutput out, MapPlan map) {
        out.text(map.name()).flag(map.scalar()).text(map.type().name());
        out.u32(map.keyBytes()).u32(map.valueBytes()).u32(map.entries());
        TypeForm.write(out, map.key());
        TypeForm.write(out, map.value());
    }

    private static void piece(AotOutput out, AotProgramEntry piece) {
        out.u32(piece.number()).u32(piece.place()).flag(piece.optional());
        out.text(piece.kind().name()).span(piece.span());
        out.texts(piece.points()).text(piece.markers());
        List<Long> words = java.util.Arrays.stream(piece.code()).boxed().toList();
        out.list(words, AotOutput::u64);
        out.block(piece.records().btf())
                .block(piece.records().functions())
                .block(piece.records().lines())
                .flag(piece.records().needed());
        out.texts(piece.maps()).texts(piece.functions());
        WishForm.write(out, piece.wishes());
    }
}
