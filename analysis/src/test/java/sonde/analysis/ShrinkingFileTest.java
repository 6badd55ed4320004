package sonde.analysis;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.event.Recording;
import sonde.recording.ftrace.EventFormats;
import sonde.recording.ftrace.EventListing;
import sonde.recording.ftrace.EventText;
import sonde.recording.ftrace.ThreadNames;
import sonde.recording.tracedat.TraceDatReader;
import sonde.testkit.RingPage;
import sonde.testkit.TraceDatBytes;

/** A recording that somebody truncates while it is mapped: reads beyond its new end fault. */
class ShrinkingFileTest {
    private static final int PAGES = 400;

    @TempDir Path folder;

    private Recording openThenShrink() throws IOException {
        TraceDatBytes bytes = new TraceDatBytes(ByteOrder.LITTLE_ENDIAN, 8);
        byte[][] pages = new byte[PAGES][];
        for (int i = 0; i < PAGES; i++) {
            RingPage page = new RingPage(ByteOrder.LITTLE_ENDIAN, 8, TraceDatBytes.PAGE, 1000L * i);
            for (int event = 0; event < 50; event++) {
                page.event(1, bytes.hello(7, event, "x"));
            }
            pages[i] = page.toBytes();
        }
        Path file = Files.write(folder.resolve("trace.dat"), bytes.cpu(pages).version7(false));
        Recording recording = TraceDatReader.open(Input.open(file));
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(channel.size() / 2);
        }
        return recording;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void operatorsGetTheTypedException(int decoders) throws IOException {
        try (Recording recording = openThenShrink()) {
            assertThatThrownBy(() ->
                            Engine.run(List.of(recording), List.of(new EventCounts()), decoders))
                    .isInstanceOf(MalformedInputException.class)
                    .hasMessageContaining("became shorter");
        }
    }

    @Test
    void listingsGetTheTypedException() throws IOException {
        try (Recording recording = openThenShrink()) {
            EventListing listing =
                    new EventListing(
                            recording.lanes(),
                            new EventText(
                                    recording.sources().getFirst(),
                                    recording
                                            .capability(EventFormats.class)
                                            .orElseThrow()
                                            .textContext(),
                                    ThreadNames.of(Map.of())));
            assertThatThrownBy(() -> listing.writeTo(OutputStream.nullOutputStream()))
                    .isInstanceOf(MalformedInputException.class)
                    .hasMessageContaining("became shorter");
        }
    }
}
