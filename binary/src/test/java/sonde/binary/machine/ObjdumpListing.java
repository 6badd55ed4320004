package sonde.binary.machine;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSection;

/** What objdump makes of some code, beside what the decoder makes of it. */
record ObjdumpListing(int equal, int badBytes, List<String> different) {
    private static final int SHOWN = 20;

    /** The code of the first program or library there is. */
    static byte[] code(int most, String... files) throws IOException {
        Path path =
                Stream.of(files).map(Path::of).filter(Files::isReadable).findFirst().orElse(null);
        assumeTrue(path != null, "none of these is here: " + Arrays.toString(files));
        ElfFile elf = ElfFile.of(Files.readAllBytes(path));
        ElfSection text = elf.section(".text").orElseThrow();
        byte[] all = elf.bytes(text).toArray();
        return Arrays.copyOf(all, Math.min(most, all.length));
    }

    /**
     * @param options of objdump: the machine, the syntax
     */
    static ObjdumpListing of(MachineDecoder decoder, byte[] code, String... options)
            throws IOException, InterruptedException {
        String program = options[0];
        assumeTrue(onPath(program), program + " is not installed");
        Path file = Files.createTempFile("sonde", ".code");
        Path listing = Files.createTempFile("sonde", ".text");
        try {
            Files.write(file, code);
            List<String> command = new ArrayList<>(List.of(options));
            command.addAll(
                    List.of("-z", "-w", "-D", "-b", "binary", "--no-show-raw-insn", "" + file));
            ProcessBuilder builder =
                    new ProcessBuilder(command)
                            .redirectOutput(listing.toFile())
                            .redirectError(ProcessBuilder.Redirect.DISCARD);
            builder.environment().put("LC_ALL", "C");
            assumeTrue(builder.start().waitFor() == 0, program + " does not know the machine");
            return compared(decoder, code, Files.readAllLines(listing));
        } finally {
            Files.delete(file);
            Files.delete(listing);
        }
    }

    private static boolean onPath(String program) {
        return Arrays.stream(System.getenv("PATH").split(":"))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
    }

    private static ObjdumpListing compared(
            MachineDecoder decoder, byte[] code, List<String> lines) {
        List<String> texts = new ArrayList<>();
        List<Integer> offsets = new ArrayList<>();
        for (String line : lines) {
            int tab = line.indexOf(":\t");
            if (tab > 0 && line.charAt(0) == ' ') {
                offsets.add(Integer.parseInt(line.substring(0, tab).strip(), 16));
                texts.add(plain(line.substring(tab + 2)));
            }
        }
        offsets.add(code.length);
        int equal = 0;
        int bad = 0;
        List<String> different = new ArrayList<>();
        // The last instruction may be cut.
        for (int i = 0; i < texts.size(); i++) {
            int at = offsets.get(i);
            if (at + MachineDecoder.MAX_LENGTH > code.length) {
                break;
            }
            int length = offsets.get(i + 1) - at;
            MachineInstruction own = decoder.decode(code, at, code.length, at);
            String text = plain(own.text());
            boolean same = text.equals(texts.get(i)) && own.length() == length;
            if (texts.get(i).contains("(bad)") || texts.get(i).startsWith(".")) {
                bad++;
            } else if (same) {
                equal++;
            } else if (different.size() < SHOWN) {
                String bytes = HexFormat.of().formatHex(code, at, at + length);
                different.add(bytes + ": " + texts.get(i) + " | " + text);
            } else {
                different.add("");
            }
        }
        return new ObjdumpListing(equal, bad, different);
    }

    private static String plain(String text) {
        return text.replaceAll("\\s+//.*", "").replaceAll("\\s+", " ").strip();
    }

    double share() {
        return (double) equal / (equal + different.size());
    }
}
