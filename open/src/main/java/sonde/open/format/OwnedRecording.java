package sonde.open.format;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.binary.Input;
import sonde.event.FrameNames;
import sonde.event.KernelIdentity;
import sonde.event.Lane;
import sonde.event.Recording;
import sonde.event.Source;

/** A recording that closes its input. */
record OwnedRecording(Recording recording, Input input) implements Recording {
    @Override
    public List<Source> sources() {
        return recording.sources();
    }

    @Override
    public List<Lane> lanes() throws IOException {
        return recording.lanes();
    }

    @Override
    public List<String> notes() {
        return recording.notes();
    }

    @Override
    public @Nullable FrameNames frames() {
        return recording.frames();
    }

    @Override
    public KernelIdentity kernel() {
        return recording.kernel();
    }

    @Override
    public byte[] kallsyms() {
        return recording.kallsyms();
    }

    @Override
    public Map<String, byte[]> fileIds() {
        return recording.fileIds();
    }

    @Override
    public boolean hasKernelRecords() {
        return recording.hasKernelRecords();
    }

    @Override
    public Optional<Map<Integer, String>> threadNames() {
        return recording.threadNames();
    }

    @Override
    public long sampleNanos() {
        return recording.sampleNanos();
    }

    @Override
    public List<String> moreCalls() {
        return recording.moreCalls();
    }

    @Override
    public <C> Optional<C> capability(Class<C> kind) {
        return recording.capability(kind);
    }

    @Override
    public void close() {
        recording.close();
        input.close();
    }
}
