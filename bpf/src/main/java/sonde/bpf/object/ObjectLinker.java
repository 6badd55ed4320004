package sonde.bpf.object;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import sonde.binary.btf.BtfExtension;
import sonde.binary.btf.BtfExtension.LineEntry;
import sonde.binary.btf.BtfType;
import sonde.binary.elf.ElfSymbols;
import sonde.bpf.object.ObjectException.ObjectPosition;
import sonde.bpf.object.ObjectImage.ImageSection;
import sonde.bpf.object.ObjectImage.ImageSymbol;
import sonde.bpf.object.ObjectImage.Reloc;
import sonde.bpf.object.ObjectImage.SectionUse;

/**
 * Makes one object of several: sections of one name behind each other, names that one object
 * defines found by the others. Types are kept side by side, each object's own.
 */
final class ObjectLinker {
    private static final int MOST_BYTES = 64 << 20;

    private final List<ObjectImage> images;
    private final String name;
    private final Map<String, Integer> parts = new LinkedHashMap<>();
    private final List<List<ImageSection>> pieces = new ArrayList<>();
    private final List<List<Integer>> starts = new ArrayList<>();
    private final List<int[]> partOf = new ArrayList<>();
    private final List<int[]> startOf = new ArrayList<>();
    private final int[] firstSymbol;
    private final int[] firstType;
    private final List<ImageSymbol> symbols = new ArrayList<>();

    /** Where the one meant by a name is: index into {@link #symbols}. */
    private final Map<String, Integer> globals = new HashMap<>();

    private ObjectLinker(List<ObjectImage> images) {
        this.images = images;
        name = images.getFirst().name();
        firstSymbol = new int[images.size()];
        firstType = new int[images.size()];
    }

    /** One is left as it is. */
    static ObjectImage link(List<ObjectImage> images) throws ObjectException {
        if (images.isEmpty()) {
            throw new ObjectException(ObjectPosition.of(""), "no object given");
        }
        return images.size() == 1 ? images.getFirst() : new ObjectLinker(images).link();
    }

    private ObjectImage link() throws ObjectException {
        for (ObjectImage image : images) {
            place(image);
        }
        for (int i = 0; i < images.size(); i++) {
            addSymbols(i);
        }
        List<BtfType> types = types();
        List<ImageSection> merged = new ArrayList<>();
        for (int part = 0; part < pieces.size(); part++) {
            merged.add(merge(part));
        }
        return new ObjectImage(
                name,
                List.copyOf(merged),
                List.copyOf(symbols),
                types,
                license(),
                images.getFirst().version());
    }

    private String license() throws ObjectException {
        String license = "";
        for (ObjectImage image : images) {
            if (license.isEmpty()) {
                license = image.license();
            } else if (!image.license().isEmpty() && !image.license().equals(license)) {
                throw new ObjectException(
                        image.place().section("license"),
                        "'%s', where %s has '%s'".formatted(image.license(), name, license));
            }
        }
        return license;
    }

    /** Gives the sections of an object their places. */
    private void place(ObjectImage image) throws ObjectException {
        int[] part = new int[image.parts().size()];
        int[] start = new int[image.parts().size()];
        for (int i = 0; i < part.length; i++) {
            ImageSection one = image.parts().get(i);
            part[i] =
                    parts.computeIfAbsent(
                            one.name(),
                            _ -> {
                                pieces.add(new ArrayList<>());
                                starts.add(new ArrayList<>());
                                return pieces.size() - 1;
                            });
            List<ImageSection> before = pieces.get(part[i]);
            if (!before.isEmpty()) {
                ImageSection last = before.getLast();
                if (last.use() != one.use()) {
                    throw new ObjectException(
                            image.place().section(one.name()),
                            "is %s, in another object %s".formatted(one.use(), last.use()));
                }
                long end = (long) starts.get(part[i]).getLast() + last.sizeBytes();
                long at = end + one.alignment() - 1 & -(long) one.alignment();
                if (at + one.sizeBytes() > MOST_BYTES) {
                    throw new ObjectException(
                            image.place().section(one.name()), "together too large");
                }
                start[i] = (int) at;
            }
            before.add(one);
            starts.get(part[i]).add(start[i]);
        }
        partOf.add(part);
        startOf.add(start);
    }

    private void addSymbols(int image) throws ObjectException {
        firstSymbol[image] = symbols.size();
        for (ImageSymbol symbol : images.get(image).symbols()) {
            ImageSymbol moved = symbol;
            if (symbol.part() >= 0) {
                moved =
                        new ImageSymbol(
                                symbol.name(),
                                partOf.get(image)[symbol.part()],
                                symbol.value() + startOf.get(image)[symbol.part()],
                                symbol.size(),
                                symbol.type(),
                                symbol.binding(),
                                symbol.visibility());
            }
            int index = symbols.size();
            symbols.add(moved);
            if (!symbol.isLocal() && !symbol.name().isEmpty()) {
                resolve(index, moved, images.get(image));
            }
        }
    }

    private void resolve(int index, ImageSymbol symbol, ObjectImage image) throws ObjectException {
        // What the loader reads by itself, each object has: LICENSE, VERSION.
        if (symbol.part() == ImageSymbol.ELSEWHERE) {
            return;
        }
        Integer before = globals.putIfAbsent(symbol.name(), index);
        if (before == null) {
            return;
        }
        ImageSymbol other = symbols.get(before);
        ObjectPosition here = image.place().symbol(symbol.name());
        if (symbol.isExtern()) {
            if (other.isExtern() && other.isWeak() && !symbol.isWeak()) {
                globals.put(symbol.name(), index); // somebody needs it
            }
            return;
        }
        if (other.isExtern()) {
            globals.put(symbol.name(), index);
            return;
        }
        if (!symbol.isWeak() && !other.isWeak()) {
            throw new ObjectException(here, "is defined in several objects");
        }
        if (other.isWeak() && !symbol.isWeak()) {
            globals.put(symbol.name(), index);
            symbols.set(before, hidden(other));
        } else {
            symbols.set(index, hidden(symbol));
        }
    }

    /** A definition that another one replaces: nobody finds it by name. */
    private static ImageSymbol hidden(ImageSymbol symbol) {
        return new ImageSymbol(
                symbol.name(),
                symbol.part(),
                symbol.value(),
                symbol.size(),
                symbol.type(),
                ElfSymbols.STB_LOCAL,
                symbol.visibility());
    }

    private int symbol(int image, int index) {
        int own = firstSymbol[image] + index;
        ImageSymbol symbol = images.get(image).symbols().get(index);
        return symbol.isLocal() || symbol.name().isEmpty()
                ? own
                : globals.getOrDefault(symbol.name(), own);
    }

    private ImageSection merge(int index) throws ObjectException {
        List<ImageSection> all = pieces.get(index);
        ImageSection first = all.getFirst();
        int size = 0;
        int alignment = 1;
        List<Reloc> relocs = new ArrayList<>();
        List<BtfExtension.Function> functions = new ArrayList<>();
        List<LineEntry> lines = new ArrayList<>();
        List<BtfExtension.CoreRelocation> core = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            size = Math.max(size, starts.get(index).get(i) + all.get(i).sizeBytes());
            alignment = Math.max(alignment, all.get(i).alignment());
        }
        byte[] bytes = new byte[first.use() == SectionUse.ZEROS ? 0 : size];
        for (int image = 0; image < images.size(); image++) {
            int[] own = partOf.get(image);
            for (int k = 0; k < own.length; k++) {
                if (own[k] != index) {
                    continue;
                }
                ImageSection piece = images.get(image).parts().get(k);
                int at = startOf.get(image)[k];
                int types = firstType[image];
                if (piece.bytes().length > 0) {
                    System.arraycopy(piece.bytes(), 0, bytes, at, piece.bytes().length);
                }
                for (Reloc r : piece.relocations()) {
                    int symbol = symbol(image, r.symbol());
                    relocs.add(new Reloc(r.offset() + at, r.type(), symbol));
                }
                piece.functions()
                        .forEach(f ->
                                functions.add(
                                        new BtfExtension.Function(
                                                f.offset() + at, f.type() + types)));
                piece.lines()
                        .forEach(l ->
                                lines.add(
                                        new LineEntry(
                                                l.offset() + at,
                                                l.file(),
                                                l.text(),
                                                l.line(),
                                                l.column())));
                piece.core()
                        .forEach(c ->
                                core.add(
                                        new BtfExtension.CoreRelocation(
                                                c.offset() + at,
                                                c.type() + types,
                                                c.access(),
                                                c.kind())));
            }
        }
        return new ImageSection(
                first.name(), first.use(), bytes, size, alignment, relocs, functions, lines, core);
    }

    /** Every object's types behind the other's, sections of one name as one. */
    private List<BtfType> types() throws ObjectException {
        List<BtfType> all = new ArrayList<>();
        all.add(new BtfType.Void());
        Map<String, Integer> sections = new HashMap<>();
        Map<String, Set<String>> listed = new HashMap<>();
        for (int image = 0; image < images.size(); image++) {
            int shift = all.size() - 1;
            firstType[image] = shift;
            List<BtfType> own = images.get(image).types();
            for (int id = 1; id < own.size(); id++) {
                BtfType moved = TypeShift.by(shift, own.get(id));
                if (moved instanceof BtfType.Datasec section) {
                    moved = placed(image, section);
                }
                all.add(moved);
            }
        }
        for (int id = 1; id < all.size(); id++) {
            if (!(all.get(id) instanceof BtfType.Datasec section)) {
                continue;
            }
            Set<String> names = listed.computeIfAbsent(section.name(), _ -> new HashSet<>());
            List<BtfType.SectionVar> vars = distinct(section, all, names);
            Integer before = sections.putIfAbsent(section.name(), id);
            boolean merged =
                    parts.containsKey(section.name())
                            || section.name().equals(TypeFixes.CONFIG_SECTION)
                            || section.name().equals(TypeFixes.KERNEL_SECTION);
            if (before != null && !merged) {
                all.set(id, new BtfType.Struct("", false, 0, List.of()));
            } else if (before == null) {
                all.set(id, new BtfType.Datasec(section.name(), section.sizeBytes(), vars));
            } else if (all.get(before) instanceof BtfType.Datasec first) {
                List<BtfType.SectionVar> both = new ArrayList<>(first.vars());
                both.addAll(vars);
                int size = Math.max(first.sizeBytes(), section.sizeBytes());
                all.set(before, new BtfType.Datasec(first.name(), size, List.copyOf(both)));
                all.set(id, new BtfType.Struct("", false, 0, List.of()));
            }
        }
        return List.copyOf(all);
    }

    /**
     * Keeps the first of several declarations of an extern, and none of an extern that an object
     * defines.
     */
    private List<BtfType.SectionVar> distinct(
            BtfType.Datasec section, List<BtfType> types, Set<String> names)
            throws ObjectException {
        ObjectPosition place = ObjectPosition.of(name).section(section.name());
        List<BtfType.SectionVar> kept = new ArrayList<>();
        for (BtfType.SectionVar one : section.vars()) {
            BtfType type = ObjectTypes.at(types, one.type(), place);
            boolean extern =
                    type instanceof BtfType.Func
                            || type instanceof BtfType.Var v
                                    && v.linkage() == BtfType.Linkage.EXTERN;
            Integer found = globals.get(type.name());
            boolean outside = found == null || symbols.get(found).isExtern();
            if (!extern || outside && names.add(type.name())) {
                kept.add(one);
            }
        }
        return kept;
    }

    /** The places of variables are those in the object's own section; it may have moved. */
    private BtfType.Datasec placed(int image, BtfType.Datasec section) {
        int part = images.get(image).part(section.name());
        int at = part < 0 ? 0 : startOf.get(image)[part];
        List<BtfType.SectionVar> vars =
                section.vars().stream()
                        .map(v -> new BtfType.SectionVar(v.type(), v.offset() + at, v.sizeBytes()))
                        .toList();
        return new BtfType.Datasec(section.name(), section.sizeBytes(), vars);
    }

    /** For messages. */
    @Override
    public String toString() {
        return Arrays.toString(images.stream().map(ObjectImage::name).toArray());
    }
}
