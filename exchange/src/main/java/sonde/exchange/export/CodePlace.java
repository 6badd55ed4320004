package sonde.exchange.export;

/**
 * Where code lies: what in memory, and what in a file. Equal code has the same place in every
 * process.
 *
 * @param file with its path; empty where it is what a frame's module says
 * @param buildId in hexadecimal; empty when not known
 * @param address as running, in the first process that had the file mapped
 * @param start of that mapping
 * @param limit behind its end
 * @param fileOffset of the byte at {@code start}
 */
public record CodePlace(
        String file, String buildId, long address, long start, long limit, long fileOffset) {}
