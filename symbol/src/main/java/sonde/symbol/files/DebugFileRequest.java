package sonde.symbol.files;

import java.io.IOException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.elf.DebugLink;
import sonde.binary.elf.ElfFile;

/**
 * A binary whose separate file is looked for.
 *
 * @param binary where it lies, or lay
 * @param buildId of it; empty when it has none. Not copied
 * @param link its {@code .gnu_debuglink}; null when it has none
 * @param need what the file must have
 */
public record DebugFileRequest(
        FilePlace binary, byte[] buildId, @Nullable DebugLink link, RequiredContent need) {
    /** BUILD_ID_SIZE of tools/perf/util/build-id.h. */
    private static final int PERF_ID_BYTES = 20;

    /** What is known of a binary that is open. */
    public static DebugFileRequest of(FilePlace binary, ElfFile elf, RequiredContent need) {
        DebugLink link;
        try {
            link = elf.debugLink().orElse(null);
        } catch (MalformedInputException e) {
            link = null;
        }
        return new DebugFileRequest(binary, elf.buildId().orElse(new byte[0]), link, need);
    }

    /** A binary of which only path and build-id are known. */
    public static DebugFileRequest of(String path, byte[] buildId, RequiredContent need) {
        return new DebugFileRequest(FilePlace.claimed(path), buildId, null, need);
    }

    /** The build-id in hexadecimal digits; empty when there is none of at least two bytes. */
    Optional<String> id() {
        return buildId.length < 2
                ? Optional.empty()
                : Optional.of(HexFormat.of().formatHex(buildId));
    }

    /**
     * Why a file is of another build; null when it is not, as far as one can know. A binary without
     * a build-id is known by the checksum in its link.
     *
     * @param isNamed whether the user named the folder, whose files are believed where neither
     *     build-id nor checksum speak
     */
    @Nullable String mismatch(OpenElf candidate, boolean isNamed) throws IOException {
        if (buildId.length > 0) {
            byte[] found = candidate.elf().buildId().orElse(new byte[0]);
            return isSame(buildId, found) ? null : ids(buildId, found);
        }
        if (link == null) {
            return isNamed ? null : "neither has a build-id, nor has the binary a debug link";
        }
        int crc = candidate.file().crc32();
        return crc == link.crc32()
                ? null
                : "wanted checksum %08x, found %08x".formatted(link.crc32(), crc);
    }

    /**
     * Whether two build-ids are the same; none is that of nothing. Records of perf hold 20 bytes: a
     * shorter one is padded with zeros, a longer one cut.
     */
    public static boolean isSame(byte[] wanted, byte[] found) {
        return found.length > 0
                && (Arrays.equals(wanted, found)
                        || wanted.length == PERF_ID_BYTES
                                && Arrays.equals(wanted, Arrays.copyOf(found, PERF_ID_BYTES)));
    }

    /** What is said of two that differ. */
    public static String ids(byte[] wanted, byte[] found) {
        return "wanted build-id "
                + HexFormat.of().formatHex(wanted)
                + ", found "
                + (found.length == 0 ? "none" : HexFormat.of().formatHex(found));
    }
}
