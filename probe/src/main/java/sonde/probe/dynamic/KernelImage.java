package sonde.probe.dynamic;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.binary.Input;
import sonde.binary.btf.Btf;
import sonde.binary.btf.BtfType;
import sonde.binary.elf.ElfFile;
import sonde.bpf.link.KernelTypes;
import sonde.symbol.KernelRun;
import sonde.symbol.ctype.BtfSourceTypes;
import sonde.symbol.files.DebugFile;
import sonde.symbol.files.DebugSearch;
import sonde.symbol.files.FilePlace;
import sonde.symbol.files.GivenPlaces;
import sonde.symbol.files.KernelSearch;
import sonde.symbol.files.RequiredContent;
import sonde.sys.MachineFacts;
import sonde.sys.SyscallException;
import sonde.sys.TargetFile;

/**
 * The running kernel, or a module of it, with the file it was loaded from where that is there with
 * its symbols.
 */
final class KernelImage implements AutoCloseable {
    private static final String BTF = "/sys/kernel/btf/vmlinux";

    private final @Nullable TargetFile file;
    private final @Nullable ElfFile elf;
    private final @Nullable KernelModule module;
    private final List<String> notes;
    private @Nullable KernelNames names;
    private @Nullable Btf btf;
    private @Nullable Btf moduleBtf;
    private boolean btfAsked;

    private KernelImage(@Nullable TargetFile file, @Nullable ElfFile elf, List<String> notes) {
        this.file = file;
        this.elf = elf;
        this.module = null;
        this.notes = notes;
    }

    private KernelImage(KernelModule module, List<String> notes) {
        this.file = null;
        this.elf = module.elf();
        this.module = module;
        this.notes = notes;
    }

    /** A module, by its name or the path of its file. */
    static KernelImage ofModule(String name, GivenPlaces given) throws IOException {
        List<String> notes = new ArrayList<>();
        KernelModule module = KernelModule.open(name, given, notes);
        return new KernelImage(module, notes);
    }

    /** The module that is meant; null for the kernel itself. */
    @Nullable KernelModule module() {
        return module;
    }

    /** Opens the image that was named, or that of the running kernel where it is found. */
    static KernelImage open(GivenPlaces given) throws IOException {
        List<String> notes = new ArrayList<>();
        if (given.vmlinux().isPresent()) {
            String path = given.vmlinux().get().toString();
            TargetFile file = TargetFile.openTrusted(path, ProbedObject.MOST_BYTES);
            return new KernelImage(file, elf(file), notes);
        }
        DebugSearch search = DebugEntryFiles.search(given);
        String release = MachineFacts.uname().release();
        DebugFile found =
                new KernelSearch(search)
                        .kernel(release, KernelRun.buildIdHere(), RequiredContent.ENTRIES);
        notes.addAll(DebugEntryFiles.misfits(found));
        FilePlace place = found.place();
        if (place == null) {
            return new KernelImage(null, null, notes);
        }
        TargetFile file = place.open();
        return new KernelImage(file, elf(file), notes);
    }

    private static ElfFile elf(TargetFile file) throws IOException {
        try {
            return ElfFile.of(file);
        } catch (IOException | RuntimeException e) {
            file.close();
            throw e;
        }
    }

    /** Why the image is not that of the running kernel; empty when it is, or nobody can say. */
    Optional<String> foreign() {
        if (module != null) {
            return module.foreign();
        }
        ElfFile image = elf;
        byte[] running = KernelRun.buildIdHere();
        byte[] own = image == null ? running : image.buildId().orElse(running);
        return running.length == 0 || Arrays.equals(own, running)
                ? Optional.empty()
                : Optional.of(
                        "the vmlinux is of build "
                                + HexFormat.of().formatHex(own)
                                + ", the running kernel is "
                                + HexFormat.of().formatHex(running));
    }

    @Nullable TargetFile file() {
        return file;
    }

    @Nullable ElfFile elf() {
        return elf;
    }

    List<String> notes() {
        return notes;
    }

    KernelNames names() {
        KernelNames known = names;
        if (known == null) {
            try {
                known = module == null ? KernelNames.read() : KernelNames.ofModule(module.name());
            } catch (SyscallException e) {
                known = KernelNames.parse(new byte[0], "");
            }
            names = known;
        }
        return known;
    }

    private @Nullable Btf btf() {
        if (!btfAsked) {
            btfAsked = true;
            try {
                Input input = KernelTypes.file(BTF);
                btf = Btf.read(input);
            } catch (IOException e) {
                btf = null;
            }
            if (module != null && btf != null) {
                moduleBtf = module.types(btf);
            }
        }
        return moduleBtf == null ? btf : moduleBtf;
    }

    /** The kernel's own types; null where it does not tell them. */
    @Nullable BtfSourceTypes types() {
        Btf known = btf();
        return known == null ? null : new BtfSourceTypes(known, 8);
    }

    /** A declaration with the types that it counts on. */
    record Declaration(BtfType.FuncProto proto, BtfSourceTypes types) {}

    /** The declaration of a function, of any loaded module too; empty where BTF has none. */
    Optional<Declaration> function(String name) throws IOException {
        Btf known = btf();
        if (known == null) {
            return Optional.empty();
        }
        Optional<BtfType.FuncProto> own = known.function(name);
        String owner = own.isPresent() || module != null ? "" : names().module(name);
        if (own.isEmpty() && owner.matches("\\w+")) {
            try {
                known = Btf.readSplit(KernelTypes.file("/sys/kernel/btf/" + owner), known);
                own = known.function(name);
            } catch (IOException e) {
                // Its module was built without types.
                return Optional.empty();
            }
        }
        BtfSourceTypes types = new BtfSourceTypes(known, 8);
        return own.map(proto -> new Declaration(proto, types));
    }

    @Override
    public void close() {
        if (module != null) {
            module.close();
        }
        if (file != null) {
            file.close();
        }
    }
}
