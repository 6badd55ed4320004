package sonde.probe.kmem;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import sonde.bpf.BpfMap;
import sonde.bpf.MapSpec;
import sonde.bpf.MapType;
import sonde.bpf.Program;
import sonde.bpf.ProgramSpec;
import sonde.bpf.ProgramType;
import sonde.bpf.TestRun;
import sonde.bpf.map.MappedValues;
import sonde.sys.SyscallException;

/** Reads memory of the kernel by a BPF program that is run on request, attached to nothing. */
final class KernelPeek implements AutoCloseable {
    static final int MOST_BYTES = 1 << 18;

    private final BpfMap room;
    private final MappedValues values;
    private final Program program;

    private KernelPeek(BpfMap room, MappedValues values, Program program) {
        this.room = room;
        this.values = values;
        this.program = program;
    }

    static KernelPeek open() throws IOException {
        BpfMap room =
                BpfMap.create(
                        new MapSpec("sonde_peek", MapType.ARRAY, 4, MOST_BYTES, 1)
                                .with(MapSpec.MAPPABLE));
        try {
            MappedValues values = MappedValues.of(room, false);
            try {
                return new KernelPeek(
                        room,
                        values,
                        Program.load(
                                new ProgramSpec(
                                        "sonde_peek",
                                        ProgramType.RAW_TRACEPOINT,
                                        KmemCode.peek(room, MOST_BYTES))));
            } catch (IOException e) {
                values.close();
                throw e;
            }
        } catch (IOException e) {
            room.close();
            throw e;
        }
    }

    /** What lies at an address, valid until the next call; null where nothing is mapped. */
    @Nullable MemorySegment read(long address, int bytes) throws IOException {
        byte[] context = new byte[16];
        ByteBuffer.wrap(context)
                .order(ByteOrder.nativeOrder())
                .putLong(address)
                .putLong(Math.min(bytes, MOST_BYTES));
        return program.run(TestRun.context(context)).value() == 0
                ? values.segment().asSlice(0, Math.min(bytes, MOST_BYTES))
                : null;
    }

    /** A word; 0 where nothing is mapped. */
    long word(long address) throws IOException {
        MemorySegment found = read(address, 8);
        return found == null ? 0 : found.get(JAVA_LONG, 0);
    }

    @Override
    public void close() throws SyscallException {
        program.close();
        values.close();
        room.close();
    }
}
