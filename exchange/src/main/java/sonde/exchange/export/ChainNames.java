package sonde.exchange.export;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.FrameNames;
import sonde.event.Recording;
import sonde.event.result.Frame;

/** Names of the entries of call chains, whichever recording they come from. */
@FunctionalInterface
public interface ChainNames {
    /**
     * The frames that an entry stands for, callee first: calls that were inlined, and the function.
     *
     * @param pid process of the row, -1 when unknown
     * @param entry an address or what the recording's own names take; markers are not asked for
     */
    List<Frame> frames(Recording recording, int pid, long entry);

    /**
     * Where the code of an entry lies; null where chains have names only.
     *
     * @param pid process of the row, -1 when unknown
     */
    default @Nullable CodePlace place(Recording recording, int pid, long entry) {
        return null;
    }

    /** Takes note of a row, before its call chain is asked for. */
    default void follow(Batch batch, int row) {}

    /** Names of the recordings themselves; addresses in hexadecimal where there are none. */
    static ChainNames own() {
        return (recording, pid, entry) -> {
            FrameNames names = recording.frames();
            return List.of(
                    names != null
                            ? names.frame(entry)
                            : new Frame("0x" + Long.toHexString(entry), "", Frame.Kind.USER));
        };
    }
}
