package sonde.event.heap;

import java.util.List;
import sonde.event.result.Frame;

/**
 * Calls of free that were wrong, from one stack.
 *
 * @param kind {@code "double free"}, {@code "free of an unknown block"}
 * @param address of one of the blocks
 */
public record HeapFault(String kind, int pid, List<Frame> frames, long calls, long address) {}
