import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Compiles the sources that changed, and those that depend on what other classes see of them.
 *
 * <p>A source changed when its time or size is not that of the last build, or when a class file of
 * it is not the one that build has left, as after a failed or interrupted one. After each run of
 * javac the facts of the new classes are compared with those of the last build. Where they differ,
 * the next run compiles every source whose classes mention the class, one of its subtypes, or, when
 * its header changed, a class with it in a signature. javac copies constants and leaves no mention,
 * and a new class can hide another; sources that contain the word are compiled then. The state is
 * written last.
 */
final class Compilation {
    /**
     * A folder of sources and the folder of their classes.
     *
     * @param sources the root of packages
     * @param classes the root of packages
     */
    record Unit(Path sources, Path classes) {}

    private static final int MOST_RUNS = 4;

    private final Path kept;
    private final String version;
    private final List<Unit> units;
    private final List<String> options;

    /** What the last build left: stamps of sources and class files, facts of classes. */
    private final Map<Path, String> oldSources = new HashMap<>();

    private final Map<Path, String> oldClasses = new HashMap<>();
    private final Map<Path, ClassFacts> oldFacts = new HashMap<>();
    private final Map<String, ClassFacts> oldUsed = new HashMap<>();

    private final Map<Path, String> sources = new TreeMap<>();
    private final Map<Path, ClassFacts> facts = new HashMap<>();
    private Map<String, ClassFacts> used = Map.of();
    private List<Path> usedPlaces = List.of();

    /**
     * Nothing is read yet.
     *
     * @param kept the file of the state
     * @param version everything else that the result depends on; another one compiles all
     * @param options of javac, without the sources
     */
    Compilation(Path kept, String version, List<Unit> units, List<String> options) {
        this.kept = kept;
        this.version = version.replaceAll("\\s", " ");
        this.units = units;
        this.options = options;
    }

    /** Names classes outside of the units that sources here use, and the folders of their files. */
    void uses(Map<String, ClassFacts> classes, List<Path> places) {
        used = classes;
        usedPlaces = places;
    }

    /** The facts of all classes, for those that use them. */
    Map<String, ClassFacts> facts() {
        Map<String, ClassFacts> named = new HashMap<>();
        facts.values().forEach(one -> named.put(one.name(), one));
        return named;
    }

    /** What happens to class files that javac wrote. */
    interface Rewriting {
        void rewrite(Collection<Path> files) throws IOException;
    }

    /**
     * Compiles.
     *
     * @return the number of sources that were compiled
     * @throws IOException when javac finds errors, which it has printed
     */
    int run(Rewriting rewriting) throws IOException {
        for (Unit unit : units) {
            for (Path file : list(unit.sources(), ".java")) {
                sources.put(file, stamp(file));
            }
        }
        boolean isKept = read();
        Set<Path> dirty = isKept ? dirty() : sources.keySet();
        Path failed = kept.resolveSibling(kept.getFileName() + ".failed");
        String signature = dirty.stream().map(file -> file + sources.get(file)).toList().toString();
        boolean isRepeated = Files.exists(failed) && Files.readString(failed).equals(signature);
        if (dirty.isEmpty() && !isKept) {
            return 0;
        }
        boolean isFull =
                !isKept
                        || isRepeated
                        || dirty.stream().anyMatch(file -> file.endsWith("module-info.java"))
                        || oldSources.keySet().stream()
                                .anyMatch(file -> file.endsWith("module-info.java") && !sources.containsKey(file));
        Files.createDirectories(kept.getParent());
        Files.writeString(failed, signature);
        int count = isFull ? all(rewriting) : changed(dirty, rewriting);
        Files.deleteIfExists(failed);
        if (count > 0 || isFull || !oldUsed.equals(used) || !oldSources.equals(sources)) {
            write();
        }
        return count;
    }

    private int all(Rewriting rewriting) throws IOException {
        Files.deleteIfExists(kept);
        for (Unit unit : units) {
            Build.deleteTree(unit.classes());
            Files.createDirectories(unit.classes());
        }
        facts.clear();
        compile(sources.keySet(), rewriting);
        return sources.size();
    }

    private int changed(Set<Path> first, Rewriting rewriting) throws IOException {
        Set<Path> done = new HashSet<>();
        Set<Path> next = first;
        for (int run = 0; !next.isEmpty(); run++) {
            if (run == MOST_RUNS) {
                return all(rewriting);
            }
            Map<String, ClassFacts> before = new HashMap<>();
            for (Path source : next) {
                for (Path file : classesOf(source)) {
                    ClassFacts old = facts.remove(file);
                    before.put(old.name(), old);
                    Files.deleteIfExists(file);
                }
            }
            next.retainAll(sources.keySet());
            Map<String, ClassFacts> after = next.isEmpty() ? Map.of() : compile(next, rewriting);
            done.addAll(next);
            Set<Path> dependents = dependents(new Change(before, after));
            dependents.removeAll(next);
            next = dependents;
        }
        return done.size();
    }

    private List<Path> classesOf(Path source) {
        return facts.entrySet().stream()
                .filter(one -> source.equals(sourceOf(one.getKey(), one.getValue())))
                .map(Map.Entry::getKey)
                .toList();
    }

    private Path sourceOf(Path file, ClassFacts one) {
        for (Unit unit : units) {
            if (file.startsWith(unit.classes())) {
                Path folder = unit.classes().relativize(file).getParent();
                return (folder == null ? unit.sources() : unit.sources().resolve(folder))
                        .resolve(one.source());
            }
        }
        throw new IllegalStateException(file + " belongs to no unit");
    }

    /** Sources to compile first, those that are gone included; drops class files of unknown origin. */
    private Set<Path> dirty() throws IOException {
        Set<Path> dirty = new TreeSet<>();
        sources.forEach((file, stamp) -> {
            if (!stamp.equals(oldSources.get(file))) {
                dirty.add(file);
            }
        });
        Set<Path> gone = new TreeSet<>(oldSources.keySet());
        gone.removeAll(sources.keySet());
        dirty.addAll(gone);
        facts.putAll(oldFacts);
        Set<Path> present = new HashSet<>();
        for (Unit unit : units) {
            for (Path file : list(unit.classes(), ".class")) {
                if (oldClasses.containsKey(file)) {
                    present.add(file);
                    if (!stamp(file).equals(oldClasses.get(file))) {
                        dirty.add(sourceOf(file, oldFacts.get(file)));
                    }
                } else {
                    Files.delete(file);
                }
            }
        }
        for (var one : oldFacts.entrySet()) {
            if (!present.contains(one.getKey())) {
                dirty.add(sourceOf(one.getKey(), one.getValue()));
            }
        }
        // Those that use what is gone are compiled with the rest, in which it may have a new place.
        Map<String, ClassFacts> removed = new HashMap<>();
        for (Path source : gone) {
            classesOf(source).forEach(file -> removed.put(facts.get(file).name(), facts.get(file)));
        }
        dirty.addAll(dependents(new Change(removed, Map.of())));
        dirty.addAll(dependents(new Change(oldUsed, used)));
        return dirty;
    }

    /** The difference between the facts of classes before and after. */
    private static final class Change {
        /** Classes whose members or header changed. */
        final Set<String> types = new HashSet<>();

        /** Those of them whose header changed. */
        final Set<String> headers = new HashSet<>();

        /** Names of constants with another value, and of classes that are new or gone. */
        final Set<String> words = new HashSet<>();

        Change(Map<String, ClassFacts> before, Map<String, ClassFacts> after) {
            Set<String> names = new HashSet<>(before.keySet());
            names.addAll(after.keySet());
            for (String name : names) {
                add(name, before.get(name), after.get(name));
            }
        }

        private void add(String name, ClassFacts old, ClassFacts fresh) {
            ClassFacts either = old == null ? fresh : old;
            if (either.isLocal() || old != null && old.equals(fresh)) {
                return;
            }
            if (old == null || fresh == null) {
                types.add(name);
                headers.add(name);
                words.add(either.simpleName());
                words.addAll(either.constants().keySet());
                return;
            }
            if (!old.header().equals(fresh.header())) {
                headers.add(name);
                types.add(name);
            }
            if (!old.members().equals(fresh.members())) {
                types.add(name);
            }
            Set<String> constants = new HashSet<>(old.constants().keySet());
            constants.addAll(fresh.constants().keySet());
            constants.removeIf(one ->
                    Objects.equals(old.constants().get(one), fresh.constants().get(one)));
            words.addAll(constants);
        }
    }

    /** The sources, of those that are there, which a change may concern. */
    private Set<Path> dependents(Change change) throws IOException {
        Set<Path> dependents = new TreeSet<>();
        if (!change.types.isEmpty()) {
            Map<Path, Set<String>> mentions = new HashMap<>();
            for (Unit unit : units) {
                for (Path file : list(unit.classes(), ".class")) {
                    mentions.put(file, ClassFacts.mentions(file));
                }
            }
            Map<Path, Set<String>> theirs = new HashMap<>(mentions);
            for (Path place : usedPlaces) {
                for (Path file : list(place, ".class")) {
                    theirs.put(file, ClassFacts.mentions(file));
                }
            }
            close(change, theirs);
            mentions.forEach((file, names) -> {
                ClassFacts one = facts.get(file);
                if (one != null && names.stream().anyMatch(change.types::contains)) {
                    dependents.add(sourceOf(file, one));
                }
            });
        }
        if (!change.words.isEmpty()) {
            for (Path source : sources.keySet()) {
                if (contains(Files.readString(source), change.words)) {
                    dependents.add(source);
                }
            }
        }
        dependents.retainAll(sources.keySet());
        return dependents;
    }

    /** Adds subtypes of what changed, and classes with a type of another header in a signature. */
    private static void close(Change change, Map<Path, Set<String>> mentions) throws IOException {
        Map<String, List<Path>> users = new HashMap<>();
        mentions.forEach((file, names) -> {
            for (String name : names) {
                users.computeIfAbsent(name, unused -> new ArrayList<>()).add(file);
            }
        });
        ArrayDeque<String> open = new ArrayDeque<>(change.types);
        while (!open.isEmpty()) {
            String type = open.remove();
            boolean isHeader = change.headers.contains(type);
            for (Path file : users.getOrDefault(type, List.of())) {
                ClassFacts.Relation relation = ClassFacts.relation(file, type);
                boolean isSubtype = relation == ClassFacts.Relation.SUBTYPE;
                if (isSubtype || isHeader && relation == ClassFacts.Relation.SIGNATURE) {
                    String name = ClassFacts.of(Files.readAllBytes(file)).name();
                    boolean isNews = change.types.add(name);
                    if (isSubtype && isHeader) {
                        isNews |= change.headers.add(name);
                    }
                    if (isNews) {
                        open.add(name);
                    }
                }
            }
        }
    }

    private static boolean contains(String text, Set<String> words) {
        int at = 0;
        while (at < text.length()) {
            if (!Character.isJavaIdentifierStart(text.charAt(at))) {
                at++;
                continue;
            }
            int end = at + 1;
            while (end < text.length() && Character.isJavaIdentifierPart(text.charAt(end))) {
                end++;
            }
            if (words.contains(text.substring(at, end))) {
                return true;
            }
            at = end;
        }
        return false;
    }

    private Map<String, ClassFacts> compile(Set<Path> files, Rewriting rewriting) throws IOException {
        List<String> args = new ArrayList<>(options);
        files.forEach(file -> args.add(file.toString()));
        Build.tool("javac", args);
        List<Path> fresh = new ArrayList<>();
        for (Unit unit : units) {
            for (Path file : list(unit.classes(), ".class")) {
                if (!facts.containsKey(file)) {
                    fresh.add(file);
                }
            }
        }
        rewriting.rewrite(fresh);
        Map<String, ClassFacts> after = new HashMap<>();
        for (Path file : fresh) {
            ClassFacts one = ClassFacts.of(Files.readAllBytes(file));
            facts.put(file, one);
            after.put(one.name(), one);
        }
        return after;
    }

    private boolean read() throws IOException {
        if (!Files.exists(kept)) {
            return false;
        }
        List<String> lines = Files.readAllLines(kept);
        if (lines.isEmpty() || !lines.getFirst().equals(version)) {
            return false;
        }
        for (String line : lines.subList(1, lines.size())) {
            String[] parts = line.split("\t", 4);
            switch (parts[0]) {
                case "source" -> oldSources.put(Path.of(parts[1]), parts[2]);
                case "class" -> {
                    oldClasses.put(Path.of(parts[1]), parts[2]);
                    oldFacts.put(Path.of(parts[1]), ClassFacts.parse(parts[3]));
                }
                case "used" -> {
                    ClassFacts one = ClassFacts.parse(parts[3]);
                    oldUsed.put(one.name(), one);
                }
                default -> {
                    return false;
                }
            }
        }
        return true;
    }

    private void write() throws IOException {
        StringBuilder text = new StringBuilder(version).append('\n');
        sources.forEach((file, stamp) ->
                text.append("source\t").append(file).append('\t').append(stamp).append('\n'));
        for (var one : facts.entrySet()) {
            text.append("class\t").append(one.getKey()).append('\t').append(stamp(one.getKey()))
                    .append('\t').append(one.getValue().line()).append('\n');
        }
        used.values().forEach(one -> text.append("used\t\t\t").append(one.line()).append('\n'));
        Path fresh = kept.resolveSibling(kept.getFileName() + ".new");
        Files.writeString(fresh, text);
        Files.move(fresh, kept, StandardCopyOption.ATOMIC_MOVE);
    }

    static String stamp(Path file) throws IOException {
        BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
        return attributes.lastModifiedTime().to(TimeUnit.NANOSECONDS)
                + "-" + attributes.size();
    }

    static List<Path> list(Path folder, String ending) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().endsWith(ending)).filter(Files::isRegularFile).sorted().toList();
        }
    }
}
