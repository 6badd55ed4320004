package sonde.recording;

import sonde.event.Lane;

/**
 * A capability of recordings that are read while their files grow. The recording itself was opened
 * when they were short; what was appended since is given as memory, piece by piece.
 */
public interface AppendedEvents {
    /** The offset of the first record or sub-buffer in a file. */
    long start();

    /** How many of the first bytes of a piece are whole records or sub-buffers. */
    int wholeBytes(byte[] piece);

    /**
     * The events of a piece.
     *
     * @param buffer of ftrace, where files have one ring each
     * @param cpu of the ring, alike
     * @param piece batches of the lane point into it
     * @param sizeBytes how many of its bytes are whole records or sub-buffers
     */
    Lane lane(String buffer, int cpu, byte[] piece, int sizeBytes);
}
