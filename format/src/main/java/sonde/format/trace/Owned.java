package sonde.format.trace;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.FrameNames;
import sonde.event.Lane;
import sonde.event.Recording;
import sonde.event.Source;
import sonde.format.Input;

/** A recording that closes its input. */
record Owned(Recording recording, Input input) implements Recording {
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
    public void close() {
        recording.close();
        input.close();
    }
}
