package sonde.recording.text;

import java.util.ArrayList;
import java.util.List;
import sonde.event.Clock;

/** What is known of a text as a whole: filled by its first reading, fixed afterwards. */
abstract class TextModel {
    /** More instances in one text have no name of their own. */
    private static final int MOST_BUFFERS = 64;

    final TextSchema schema = new TextSchema();
    final TextFrames frames = new TextFrames();
    final FirstComms comms = new FirstComms();

    /** Names of ftrace instances; the first is empty. */
    final ByteTable buffers = new ByteTable(MOST_BUFFERS);

    private final List<String> notes = new ArrayList<>();

    /** Whether the first reading is still going on. */
    boolean learning = true;

    TextModel() {
        buffers.add(new byte[0], 0, 0);
    }

    /** The items of this text, from the start. */
    abstract TextItems items(LineWindow lines);

    /** What the times count; asked after the first reading. */
    abstract Clock clock();

    /** The architecture whose system calls it tells, empty when it does not say. */
    String machine() {
        return "";
    }

    /** Names of system calls beyond the table of {@link #machine}, from number 512 on. */
    List<String> moreCalls() {
        return List.of();
    }

    /** Says something about the text, once. */
    final void note(String sentence) {
        if (!notes.contains(sentence)) {
            notes.add(sentence);
        }
    }

    final List<String> notes() {
        return notes;
    }
}
