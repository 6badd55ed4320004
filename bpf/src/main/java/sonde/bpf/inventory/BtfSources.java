package sonde.bpf.inventory;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.binary.btf.Btf;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSection;
import sonde.bpf.LoadedBtf;
import sonde.bpf.LoadedBtf.BtfFacts;
import sonde.bpf.link.KernelTypes;

/** BTF where it lies: in the kernel, in loaded objects, in files. */
public final class BtfSources {
    /** The running kernel's. */
    public static final Path VMLINUX = Path.of("/sys/kernel/btf/vmlinux");

    /** 0x7f 'E' 'L' 'F'. */
    private static final int ELF = 0x464c457f;

    private BtfSources() {}

    /** Those of the running kernel, mapped. */
    public static Btf kernel() throws IOException {
        return Btf.read(KernelTypes.file(VMLINUX.toString()));
    }

    /**
     * Those of a loaded object; of a module with the kernel's below.
     *
     * @throws sonde.sys.SyscallException ENOENT when it is gone
     */
    public static Btf ofId(int id) throws IOException {
        try (LoadedBtf loaded = LoadedBtf.openId(id)) {
            BtfFacts facts = loaded.facts();
            Input types = Input.of("BTF " + id, MemorySegment.ofArray(loaded.bytes()));
            return facts.kernel() && !facts.name().equals("vmlinux")
                    ? Btf.readSplit(types, kernel())
                    : Btf.read(types);
        }
    }

    /** Those of a file: raw, or section {@code .BTF} of an ELF file; of a module of the kernel. */
    public static Btf ofFile(Path path) throws IOException {
        Path full = path.toAbsolutePath().normalize();
        return full.startsWith(VMLINUX.getParent()) && !full.equals(VMLINUX)
                ? Btf.readSplit(content(path), kernel())
                : Btf.read(content(path));
    }

    /** Those of a file that refer to another's. */
    public static Btf ofFile(Path path, Path base) throws IOException {
        return Btf.readSplit(content(path), Btf.read(content(base)));
    }

    /**
     * The bytes of a file's types: the file itself, or section {@code .BTF} of an ELF file.
     *
     * @throws MalformedInputException for an ELF file without
     */
    public static Input content(Path path) throws IOException {
        if (path.toAbsolutePath().normalize().startsWith(VMLINUX.getParent())) {
            return KernelTypes.file(path.toString());
        }
        Input input = Input.open(path);
        MemorySegment whole = input.segment();
        if (whole.byteSize() < 4 || whole.get(JAVA_INT_UNALIGNED, 0) != ELF) {
            return input;
        }
        ElfFile elf = ElfFile.of(whole);
        ElfSection section = elf.section(".BTF").orElse(null);
        if (section == null) {
            throw new MalformedInputException("ELF", path.toString(), -1, "no section .BTF");
        }
        return Input.of(path.toString(), elf.content(section));
    }
}
