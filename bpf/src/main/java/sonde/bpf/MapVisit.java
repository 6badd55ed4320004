package sonde.bpf;

/**
 * How going through a map went.
 *
 * @param entries handed over
 * @param restarts how often the kernel began anew because the key it stood at had been deleted;
 *     nothing is handed over twice for that
 * @param complete false when so much was deleted meanwhile that it gave up
 * @param batched in batches, which know no restarts
 */
public record MapVisit(long entries, int restarts, boolean complete, boolean batched) {}
