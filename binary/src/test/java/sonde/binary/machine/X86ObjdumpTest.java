package sonde.binary.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.binary.elf.ElfFile;

/** The instructions of this machine's own programs, as objdump prints them. */
class X86ObjdumpTest {
    private static final String[] LIBC = {
        "/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/usr/lib/libc.so.6"
    };
    private static final String[] CRYPTO = {
        "/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "/usr/lib64/libcrypto.so.3"
    };

    private static MachineDecoder decoder(int machine, boolean intel) {
        return MachineDecoder.of(machine, intel).orElseThrow();
    }

    @Test
    void everyLineOfTheCLibraryIsEqual() throws Exception {
        ObjdumpListing listing =
                ObjdumpListing.of(
                        decoder(ElfFile.EM_X86_64, false),
                        ObjdumpListing.code(600_000, LIBC),
                        "objdump",
                        "-mi386:x86-64");
        assertThat(listing.different()).isEmpty();
        assertThat(listing.equal()).isGreaterThan(100_000);
    }

    @Test
    void everyLineInIntelsSyntaxIsEqual() throws Exception {
        ObjdumpListing listing =
                ObjdumpListing.of(
                        decoder(ElfFile.EM_X86_64, true),
                        ObjdumpListing.code(300_000, LIBC),
                        "objdump",
                        "-mi386:x86-64",
                        "-Mintel");
        assertThat(listing.different()).isEmpty();
        assertThat(listing.equal()).isGreaterThan(50_000);
    }

    /** The code contains tables, whose bytes are hardly instructions. */
    @Test
    void vectorCodeOfCryptographyIsEqual() throws Exception {
        ObjdumpListing listing =
                ObjdumpListing.of(
                        decoder(ElfFile.EM_X86_64, false),
                        ObjdumpListing.code(700_000, CRYPTO),
                        "objdump",
                        "-mi386:x86-64");
        assertThat(listing.share()).as("%s", listing.different()).isGreaterThan(0.9995);
    }

    /**
     * Random bytes: what both decode is equal up to prefixes without a meaning and encodings that
     * the processor refuses.
     */
    @ParameterizedTest
    @CsvSource({"62, i386:x86-64, 0.995", "3, i386, 0.99"})
    void randomBytesAreReadAlike(int machine, String name, double share) throws Exception {
        byte[] bytes = new byte[100_000];
        new Random(5).nextBytes(bytes);
        ObjdumpListing listing =
                ObjdumpListing.of(decoder(machine, false), bytes, "objdump", "-m" + name);
        assertThat(listing.share()).as("%s", listing.different()).isGreaterThan(share);
    }
}
