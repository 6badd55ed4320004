package sonde.probe.stack;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Memory of other processes ({@code /proc/PID/mem}). */
final class ProcessBytes {
    private ProcessBytes() {}

    /** The bytes at an address, fewer where they end; empty when they cannot be read. */
    static MemorySegment read(int pid, long address, int bytes) {
        if (address <= 0 || bytes <= 0) {
            return MemorySegment.NULL;
        }
        Path memory = Path.of("/proc", Integer.toString(pid), "mem");
        ByteBuffer buffer = ByteBuffer.allocate(bytes);
        try (FileChannel channel = FileChannel.open(memory, StandardOpenOption.READ)) {
            int read = channel.read(buffer, address);
            return read <= 0 ? MemorySegment.NULL : MemorySegment.ofBuffer(buffer.flip());
        } catch (IOException e) {
            return MemorySegment.NULL; // it is gone, or has no such memory
        }
    }
}
