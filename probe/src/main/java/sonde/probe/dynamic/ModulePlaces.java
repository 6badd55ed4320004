package sonde.probe.dynamic;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSection;
import sonde.probe.dynamic.ObjectSymbols.ObjectSymbol;

/** Addresses of a linked module as the kernel takes them: {@code module:symbol+8}. */
final class ModulePlaces {
    private final ProbedObject subject;
    private final KernelModule module;
    private final KernelNames names;

    ModulePlaces(ProbedObject subject, KernelModule module, KernelNames names) {
        this.subject = subject;
        this.module = module;
        this.names = names;
    }

    /**
     * Code: from its symbol, or where several have the name from the nearest that is alone.
     *
     * @throws ProbeException when nothing says where it is
     */
    String code(ProbeLocation spot) throws ProbeException {
        ElfSection section = section(spot.address());
        if (module.isLoaded() && section != null && section.name().startsWith(".init")) {
            throw new ProbeException(
                    spot.function()
                            + " ran while "
                            + module.name()
                            + " was loaded, and its memory was given back");
        }
        String symbol = spot.symbol();
        if (isAlone(symbol)) {
            return module.name() + ":" + symbol + (spot.offset() == 0 ? "" : "+" + spot.offset());
        }
        ObjectSymbol anchor =
                section == null ? null : subject.symbols().before(spot.address(), this::isAlone);
        if (anchor == null || section == null || !section.contains(anchor.address())) {
            throw new ProbeException(
                    symbol
                            + " is the name of several functions of "
                            + module.name()
                            + ", and nothing tells them apart");
        }
        return module.name() + ":" + anchor.name() + "+" + (spot.address() - anchor.address());
    }

    private boolean isAlone(String symbol) {
        return !symbol.isEmpty()
                && names.count(symbol) <= 1
                && subject.symbols().named(symbol).size() <= 1;
    }

    /**
     * Data: from a symbol that is alone in the whole kernel, else where the loaded module has it.
     *
     * @throws ProbeException when nothing says where it is
     */
    String memory(long address) throws ProbeException {
        ObjectSymbol symbol = subject.symbols().objectAt(address);
        if (symbol != null && KernelNames.isAlone(symbol.name())) {
            return "@" + symbol.name() + "+" + (address - symbol.address());
        }
        ElfSection section = section(address);
        long base = section == null ? 0 : module.loadedAt(section.name());
        if (section == null || base == 0) {
            throw new ProbeException(
                    "nothing says where the data of "
                            + module.name()
                            + " are while it is not loaded");
        }
        return "@0x" + Long.toHexString(base + address - section.address());
    }

    private @Nullable ElfSection section(long address) {
        ElfFile elf = module.elf();
        List<ElfSection> all = elf == null ? List.of() : elf.sections();
        for (ElfSection section : all) {
            if ((section.flags() & ElfFile.SHF_ALLOC) != 0 && section.contains(address)) {
                return section;
            }
        }
        return null;
    }
}
