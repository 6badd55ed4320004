package sonde.exchange.export;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.exchange.ProtoBuffer;
import sonde.recording.json.JsonTree;

/** A JSON object as debug annotations (debug_annotation.proto). */
final class JsonArguments {
    private static final int DEBUG_ANNOTATIONS = 4;

    private JsonArguments() {}

    /** Adds the members of an object to a track event; what is not an object becomes one text. */
    static void add(String json, ProtoBuffer event) {
        if (json.isEmpty()) {
            return;
        }
        byte[] utf8 = json.getBytes(StandardCharsets.UTF_8);
        JsonTree tree = JsonTree.NULL;
        try {
            tree = JsonTree.read("arguments", Input.of("args", MemorySegment.ofArray(utf8)));
        } catch (MalformedInputException e) {
            tree = JsonTree.NULL;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (!tree.isObject()) {
            event.message(DEBUG_ANNOTATIONS, new ProtoBuffer().text(10, "args").text(6, json));
            return;
        }
        for (String key : tree.keys()) {
            event.message(DEBUG_ANNOTATIONS, value(new ProtoBuffer().text(10, key), tree.at(key)));
        }
    }

    private static ProtoBuffer value(ProtoBuffer out, JsonTree value) {
        if (value.isText()) {
            return out.text(6, value.text());
        }
        if (value.isObject()) {
            for (String key : value.keys()) {
                out.message(11, value(new ProtoBuffer().text(10, key), value.at(key)));
            }
            return out;
        }
        if (value.isArray()) {
            for (int i = 0; i < value.size(); i++) {
                out.message(12, value(new ProtoBuffer(), value.at(i)));
            }
            return out;
        }
        String json = value.json();
        switch (json) {
            case "true", "false" -> out.integer(2, json.equals("true") ? 1 : 0);
            case "" -> {}
            default -> {
                double number = value.number(0);
                boolean whole = number == Math.rint(number) && Math.abs(number) < 1L << 53;
                if (whole) {
                    out.integer(4, (long) number);
                } else {
                    out.real(5, number);
                }
            }
        }
        return out;
    }
}
