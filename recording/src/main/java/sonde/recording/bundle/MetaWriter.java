package sonde.recording.bundle;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import sonde.recording.bundle.RecordingMeta.BundleLayout;
import sonde.recording.bundle.RecordingMeta.BundlePart;
import sonde.recording.bundle.RecordingMeta.CommandExit;
import sonde.recording.bundle.RecordingMeta.EventOwner;
import sonde.recording.bundle.RecordingMeta.RecordedLoss;
import sonde.recording.bundle.RecordingMeta.RecordedMachine;
import sonde.recording.bundle.RecordingMeta.RecordedRing;
import sonde.recording.bundle.RecordingMeta.RecordedTarget;

/**
 * Writes {@code meta.json}: keys as in {@link RecordingMeta}, enums in lower case, pretty-printed.
 */
public final class MetaWriter {
    private static final JsonFactory JSON = new JsonFactory();

    private final JsonGenerator out;

    private MetaWriter(JsonGenerator out) {
        this.out = out;
    }

    /** The file's content. */
    public static byte[] write(RecordingMeta meta) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonGenerator generator = JSON.createGenerator(bytes)) {
            generator.useDefaultPrettyPrinter();
            new MetaWriter(generator).meta(meta);
        } catch (IOException e) {
            throw new UncheckedIOException("to memory", e);
        }
        bytes.write('\n');
        return bytes.toByteArray();
    }

    private void meta(RecordingMeta meta) throws IOException {
        out.writeStartObject();
        out.writeNumberField("formatVersion", meta.formatVersion());
        out.writeStringField("sondeVersion", meta.sondeVersion());
        name("state", meta.state());
        target(meta.target());
        recorder(meta.recorder());
        machine(meta.machine());
        out.writeObjectFieldStart("times");
        out.writeNumberField("startNanos", meta.times().startNanos());
        out.writeNumberField("startWallNanos", meta.times().startWallNanos());
        out.writeNumberField("execNanos", meta.times().execNanos());
        out.writeNumberField("endNanos", meta.times().endNanos());
        out.writeEndObject();
        layout(meta.layout());
        out.writeArrayFieldStart("losses");
        for (RecordedLoss loss : meta.losses()) {
            out.writeStartObject();
            out.writeStringField("source", loss.source());
            out.writeStringField("subject", loss.subject());
            out.writeNumberField("cpu", loss.cpu());
            name("kind", loss.kind());
            out.writeNumberField("count", loss.count());
            out.writeEndObject();
        }
        out.writeEndArray();
        processes(meta);
        strings("notes", meta.notes());
        out.writeEndObject();
    }

    private void target(RecordedTarget target) throws IOException {
        out.writeObjectFieldStart("target");
        name("mode", target.mode());
        strings("argv", target.argv());
        numbers("rootPids", target.rootPids());
        CommandExit exit = target.exit();
        if (exit != null) {
            out.writeObjectFieldStart("exit");
            out.writeNumberField("status", exit.status());
            out.writeNumberField("userNanos", exit.userNanos());
            out.writeNumberField("systemNanos", exit.systemNanos());
            if (exit.maxRssBytes() >= 0) {
                out.writeNumberField("maxRssBytes", exit.maxRssBytes());
            }
            out.writeNumberField("minorFaults", exit.minorFaults());
            out.writeNumberField("majorFaults", exit.majorFaults());
            out.writeNumberField("voluntarySwitches", exit.voluntarySwitches());
            out.writeNumberField("involuntarySwitches", exit.involuntarySwitches());
            out.writeEndObject();
        }
        if (!target.counters().isEmpty()) {
            out.writeArrayFieldStart("counters");
            for (RecordingMeta.TargetReading counter : target.counters()) {
                out.writeStartObject();
                out.writeStringField("name", counter.name());
                out.writeStringField("subject", counter.subject());
                out.writeNumberField("first", counter.first());
                out.writeNumberField("last", counter.last());
                out.writeNumberField("most", counter.most());
                out.writeEndObject();
            }
            out.writeEndArray();
        }
        out.writeEndObject();
    }

    private void recorder(RecordingMeta.Recorder recorder) throws IOException {
        out.writeObjectFieldStart("recorder");
        out.writeNumberField("pid", recorder.pid());
        numbers("tids", recorder.tids());
        out.writeNumberField("startTicks", recorder.startTicks());
        out.writeNumberField("cpuNanos", recorder.cpuNanos());
        out.writeNumberField("peakRssBytes", recorder.peakRssBytes());
        out.writeEndObject();
    }

    private void machine(RecordedMachine machine) throws IOException {
        out.writeObjectFieldStart("machine");
        out.writeStringField("hostname", machine.hostname());
        out.writeStringField("kernelRelease", machine.kernelRelease());
        out.writeStringField("architecture", machine.architecture());
        out.writeStringField("bootId", machine.bootId());
        out.writeNumberField("pidNamespace", machine.pidNamespace());
        numbers("cpus", machine.cpus());
        out.writeNumberField("memoryBytes", machine.memoryBytes());
        out.writeEndObject();
    }

    private void layout(BundleLayout layout) throws IOException {
        out.writeObjectFieldStart("layout");
        out.writeArrayFieldStart("owners");
        for (EventOwner owner : layout.owners()) {
            out.writeStartObject();
            out.writeStringField("event", owner.event());
            out.writeStringField("source", owner.source());
            out.writeStringField("buffer", owner.buffer());
            out.writeStringField("reason", owner.reason());
            if (owner.stacks()) {
                out.writeBooleanField("stacks", true);
            }
            if (!owner.filter().isEmpty()) {
                out.writeStringField("filter", owner.filter());
            }
            if (!owner.userStacks().isEmpty()) {
                out.writeObjectFieldStart("userStacks");
                for (Map.Entry<String, Long> end : new TreeMap<>(owner.userStacks()).entrySet()) {
                    out.writeNumberField(end.getKey(), end.getValue());
                }
                out.writeEndObject();
            }
            out.writeEndObject();
        }
        out.writeEndArray();
        out.writeArrayFieldStart("rings");
        for (RecordedRing ring : layout.rings()) {
            out.writeStartObject();
            out.writeStringField("source", ring.source());
            out.writeStringField("buffer", ring.buffer());
            out.writeNumberField("bytesPerCpu", ring.bytesPerCpu());
            out.writeBooleanField("overwrite", ring.overwrite());
            out.writeEndObject();
        }
        out.writeEndArray();
        out.writeArrayFieldStart("parts");
        for (BundlePart part : layout.parts()) {
            out.writeStartObject();
            out.writeStringField("name", part.name());
            name("kind", part.kind());
            out.writeStringField("buffer", part.buffer());
            out.writeNumberField("cpu", part.cpu());
            out.writeEndObject();
        }
        out.writeEndArray();
        out.writeEndObject();
    }

    private void processes(RecordingMeta meta) throws IOException {
        out.writeArrayFieldStart("descriptors");
        for (RecordingMeta.Descriptors table : meta.descriptors()) {
            out.writeStartObject();
            out.writeNumberField("pid", table.pid());
            out.writeNumberField("atNanos", table.atNanos());
            out.writeObjectFieldStart("targets");
            for (Map.Entry<Integer, String> entry : new TreeMap<>(table.targets()).entrySet()) {
                out.writeStringField(entry.getKey().toString(), entry.getValue());
            }
            out.writeEndObject();
            out.writeEndObject();
        }
        out.writeEndArray();
        out.writeArrayFieldStart("jvmMaps");
        for (RecordingMeta.JvmMap map : meta.jvmMaps()) {
            out.writeStartObject();
            out.writeNumberField("pid", map.pid());
            out.writeStringField("file", map.file());
            out.writeNumberField("atNanos", map.atNanos());
            out.writeEndObject();
        }
        out.writeEndArray();
    }

    private void name(String key, Enum<?> value) throws IOException {
        out.writeStringField(key, value.name().toLowerCase(Locale.ROOT));
    }

    private void strings(String key, List<String> values) throws IOException {
        out.writeArrayFieldStart(key);
        for (String value : values) {
            out.writeString(value);
        }
        out.writeEndArray();
    }

    private void numbers(String key, List<Integer> values) throws IOException {
        out.writeArrayFieldStart(key);
        for (int value : values) {
            out.writeNumber(value);
        }
        out.writeEndArray();
    }
}
