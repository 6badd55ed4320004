package sonde.probe.dynamic;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import sonde.binary.Input;
import sonde.binary.btf.Btf;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfNote;
import sonde.binary.elf.ElfSection;
import sonde.bpf.link.KernelTypes;
import sonde.event.NearestNames;
import sonde.symbol.files.DebugFile;
import sonde.symbol.files.FilePlace;
import sonde.symbol.files.GivenPlaces;
import sonde.symbol.files.KernelSearch;
import sonde.symbol.files.OpenElf;
import sonde.symbol.files.RequiredContent;
import sonde.sys.FileCalls;
import sonde.sys.MachineFacts;
import sonde.sys.SyscallException;

/**
 * A module of the running kernel, loaded or not, with its file where that is found: linked, so that
 * each section has addresses of its own.
 */
final class KernelModule implements AutoCloseable {
    private static final String LOADED = "/sys/module/";
    private static final int MOST_BYTES = 1 << 20;

    private final String name;
    private final boolean isLoaded;
    private final @Nullable OpenElf file;

    private KernelModule(String name, boolean isLoaded, @Nullable OpenElf file) {
        this.name = name;
        this.isLoaded = isLoaded;
        this.file = file;
    }

    /**
     * Opens.
     *
     * @param wanted a name as lsmod has it, or the path of a file
     * @param notes takes what was found and did not fit
     * @throws ProbeException when there is no such module
     */
    static KernelModule open(String wanted, GivenPlaces given, List<String> notes)
            throws IOException {
        String last = wanted.substring(wanted.lastIndexOf('/') + 1);
        String name = last.replaceFirst("\\.ko(\\.(xz|zst|gz|debug))?$", "").replace('-', '_');
        if (!name.matches("\\w+")) {
            throw new ProbeException(wanted + " is not a name of a kernel module");
        }
        boolean loaded = Files.exists(Path.of(LOADED + name + "/initstate"));
        if (!last.equals(wanted) || !last.replace('-', '_').equals(name)) {
            return new KernelModule(name, loaded, OpenElf.of(FilePlace.named(wanted)));
        }
        DebugFile found = find(name, loaded, given);
        notes.addAll(DebugEntryFiles.misfits(found));
        if (!found.isFound() && !loaded) {
            throw new ProbeException(missing(name));
        }
        return new KernelModule(name, loaded, found.isFound() ? found.open() : null);
    }

    /** With debugging information if that is anywhere, else with symbols. */
    private static DebugFile find(String name, boolean loaded, GivenPlaces given) {
        KernelSearch search = new KernelSearch(DebugEntryFiles.search(given));
        String release = MachineFacts.uname().release();
        byte[] id = loaded ? loadedBuildId(name) : new byte[0];
        DebugFile whole = search.module(name, release, id, RequiredContent.ENTRIES);
        return whole.isFound() ? whole : search.module(name, release, id, RequiredContent.SYMBOLS);
    }

    private static String missing(String name) {
        if (Files.isDirectory(Path.of(LOADED + name))) {
            return name + " is built into this kernel: name its functions without a module";
        }
        List<String> loaded = new ArrayList<>();
        try (Stream<Path> all = Files.list(Path.of(LOADED))) {
            all.forEach(path -> loaded.add(String.valueOf(path.getFileName())));
        } catch (IOException e) {
            loaded.clear();
        }
        List<String> near = NearestNames.near(name, loaded);
        return "there is no module "
                + name
                + ": none is loaded, and the files of kernel "
                + MachineFacts.uname().release()
                + " have none"
                + (near.isEmpty() ? "" : "; did you mean " + String.join(" or ", near) + "?");
    }

    /** The build-id of a loaded module; no bytes where the kernel does not tell it. */
    private static byte[] loadedBuildId(String name) {
        String folder = LOADED + name + "/notes";
        for (String note : new String[] {".note.gnu.build-id", ".notes"}) {
            try {
                byte[] notes = FileCalls.readAll(folder + "/" + note, MOST_BYTES);
                Optional<byte[]> id = ElfNote.buildIdIn(notes);
                if (id.isPresent()) {
                    return id.get();
                }
            } catch (SyscallException e) {
                // Under the other name, or not at all.
                continue;
            }
        }
        return new byte[0];
    }

    String name() {
        return name;
    }

    boolean isLoaded() {
        return isLoaded;
    }

    @Nullable ElfFile elf() {
        return file == null ? null : file.elf();
    }

    /** Where the file lies; the name where there is none. */
    String path() {
        return file == null ? name : file.place().shown();
    }

    /** Why the file is not that of the kernel's module; empty when it is, or nobody can say. */
    Optional<String> foreign() {
        ElfFile elf = elf();
        if (elf == null) {
            return Optional.empty();
        }
        byte[] own = elf.buildId().orElse(new byte[0]);
        byte[] loaded = isLoaded ? loadedBuildId(name) : new byte[0];
        if (own.length > 0 && loaded.length > 0) {
            return Arrays.equals(own, loaded)
                    ? Optional.empty()
                    : Optional.of(
                            path()
                                    + " is of build "
                                    + HexFormat.of().formatHex(own)
                                    + ", the loaded module is "
                                    + HexFormat.of().formatHex(loaded));
        }
        String release = MachineFacts.uname().release();
        String made = release(elf);
        return made.isEmpty() || made.equals(release)
                ? Optional.empty()
                : Optional.of(path() + " is of kernel " + made + ", this one is " + release);
    }

    /** The first word of {@code vermagic} in {@code .modinfo}; empty where there is none. */
    private static String release(ElfFile elf) {
        try {
            ElfSection section = elf.section(".modinfo").orElse(null);
            if (section == null || section.sizeBytes() > MOST_BYTES) {
                return "";
            }
            byte[] bytes = elf.content(section).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
            String text = new String(bytes, java.nio.charset.StandardCharsets.ISO_8859_1);
            for (String line : text.split("\0")) {
                if (line.startsWith("vermagic=")) {
                    return line.substring("vermagic=".length()).replaceFirst(" .*", "");
                }
            }
            return "";
        } catch (IOException e) {
            return "";
        }
    }

    /**
     * Its types: those that the kernel tells of a loaded module, else those in the file, which
     * count on from the types of its own kernel. A file with a base of its own (.BTF.base) is not
     * resolved.
     */
    @Nullable Btf types(Btf base) {
        try {
            if (isLoaded) {
                return Btf.readSplit(KernelTypes.file("/sys/kernel/btf/" + name), base);
            }
            ElfFile elf = elf();
            ElfSection section = elf == null ? null : elf.section(".BTF").orElse(null);
            return elf == null
                            || section == null
                            || elf.section(".BTF.base").isPresent()
                            || foreign().isPresent()
                    ? null
                    : Btf.readSplit(Input.of(path(), elf.content(section)), base);
        } catch (IOException e) {
            return null;
        }
    }

    /** Where a section of the loaded module is; 0 where the kernel does not tell. */
    long loadedAt(String section) {
        if (section.indexOf('/') >= 0) {
            return 0;
        }
        try {
            byte[] text = FileCalls.readAll(LOADED + name + "/sections/" + section, MOST_BYTES);
            String number = new String(text, java.nio.charset.StandardCharsets.US_ASCII).strip();
            return Long.parseUnsignedLong(number.replaceFirst("^0x", ""), 16);
        } catch (SyscallException | NumberFormatException e) {
            return 0;
        }
    }

    @Override
    public void close() {
        if (file != null) {
            file.close();
        }
    }
}
