package sonde.bpf.object;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSymbols;
import sonde.bpf.link.Uprobes.UprobePoint;
import sonde.bpf.object.ObjectException.ObjectPosition;

/** Executables and libraries that probes are for: by path or name, and functions in them. */
final class UserFile {
    private static final Pattern PLACE =
            Pattern.compile("([^+]*?)(?:\\+?(0[xX][0-9a-fA-F]+|(?<=\\+)\\d+))?");

    private UserFile() {}

    /** As it stands when it has a slash; else programs of PATH, libraries of the usual folders. */
    static String find(String name, ObjectPosition place) throws ObjectException {
        if (name.indexOf('/') >= 0) {
            return name;
        }
        boolean library = name.contains(".so");
        String folders =
                library
                        ? System.getenv().getOrDefault("LD_LIBRARY_PATH", "")
                                + ":/lib64:/usr/lib64:/lib:/usr/lib:/usr/lib/"
                                + System.getProperty("os.arch").replace("amd64", "x86_64")
                                + "-linux-gnu"
                        : System.getenv().getOrDefault("PATH", "") + ":/usr/bin:/usr/sbin";
        for (String folder : folders.split(":", -1)) {
            Path path = Path.of(folder, name);
            if (!folder.isEmpty() && Files.isRegularFile(path)) {
                return path.toString();
            }
        }
        throw new ObjectException(place, "there is no " + name + " in " + folders);
    }

    /**
     * Places in a file.
     *
     * @param function a name, a name and an offset, an address, or with {@code many} a pattern
     */
    static List<UprobePoint> places(
            String path, String function, boolean many, ObjectPosition place) throws IOException {
        Matcher matcher = PLACE.matcher(function);
        if (!matcher.matches()) {
            throw new ObjectException(place, "'" + function + "' is not a function");
        }
        String name = matcher.group(1);
        long offset = AutoAttach.offset(matcher.group(2));
        if (name.isEmpty()) {
            return List.of(new UprobePoint(offset));
        }
        Pattern wanted = many ? AutoAttach.glob(name) : Pattern.compile(Pattern.quote(name));
        try (Input input = Input.open(Path.of(path))) {
            ElfFile elf = ElfFile.of(input.segment());
            TreeMap<Long, String> found = new TreeMap<>();
            for (int table : new int[] {ElfFile.SHT_DYNSYM, ElfFile.SHT_SYMTAB}) {
                ElfSymbols symbols = elf.symbols(table).orElse(null);
                if (symbols != null && (many || found.isEmpty())) {
                    add(elf, symbols, wanted, found);
                }
            }
            if (found.isEmpty()) {
                throw new ObjectException(place, path + " has no function " + name);
            }
            List<UprobePoint> places = new ArrayList<>();
            for (long at : found.keySet()) {
                places.add(new UprobePoint(at + offset));
            }
            return places;
        } catch (NoSuchFileException e) {
            throw new ObjectException(place, "there is no " + path, e);
        } catch (MalformedInputException e) {
            throw new ObjectException(place, path + ": " + e.getMessage(), e);
        }
    }

    private static void add(
            ElfFile elf, ElfSymbols symbols, Pattern wanted, TreeMap<Long, String> found) {
        for (int i = 0; i < symbols.count(); i++) {
            int type = symbols.type(i);
            if ((type == ElfSymbols.STT_FUNC || type == ElfSymbols.STT_GNU_IFUNC)
                    && symbols.section(i) != ElfSymbols.SHN_UNDEF
                    && wanted.matcher(plain(symbols.name(i))).matches()) {
                long offset = elf.offsetOf(symbols.value(i));
                if (offset >= 0) {
                    found.put(offset, symbols.name(i));
                }
            }
        }
    }

    /** Without a version: {@code malloc@@GLIBC_2.2.5}. */
    private static String plain(String name) {
        int at = name.indexOf('@');
        return at < 0 ? name : name.substring(0, at);
    }
}
