package sonde.event.heap;

import java.util.List;
import sonde.event.result.Frame;

/**
 * What one stack allocated.
 *
 * @param pid process, or 0 where the source has one process and no number
 * @param frames innermost first; the first one is the allocating function where it is known
 */
public record HeapStack(int pid, List<Frame> frames, HeapSums sums) {}
