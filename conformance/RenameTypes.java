import module java.base;
import module jdk.compiler;

import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.Tree;
import javax.lang.model.element.Modifier;
import javax.tools.ToolProvider;

/**
 * Renames types everywhere in a checkout: declarations, uses, Javadoc, comments, tests of the
 * renamed types, service files, documents.
 *
 * <pre>
 * java conformance/RenameTypes.java [--libraries BUILD] [--check] MAP…
 * </pre>
 *
 * <p>A line of a map has an old name and a new simple name. Nested types are written with a dollar;
 * all parts of the old name are those from before any renaming:
 *
 * <pre>
 * sonde.store.Words            SqlIdentifiers
 * sonde.store.index.Index$Entry IndexEntry
 * in docs/FILE.md Words SqlIdentifiers     in the code of a page, in a text of a Java file
 * </pre>
 *
 * <p>Entries whose type is not there are skipped, so the tool runs on any branch and does nothing
 * the second time. A type that moved to another package is found by its simple name, if the name
 * has several words or is nested, only one type has it, and no {@code !} ends the entry. The
 * libraries are those of {@code build/classpath} and {@code build/deps}, of the checkout or of the
 * folder BUILD. {@code --check} changes nothing.
 */
public final class RenameTypes {
    private static final Pattern IDENTIFIER = Pattern.compile("[A-Za-z_$][\\w$]*");
    private static final Pattern TYPE_CHAIN =
            Pattern.compile("(?<![\\w$\"#@])[A-Za-z][\\w]*(?:\\s*\\.\\s*[A-Za-z]\\w*)*");
    private static final Pattern TWO_HUMPS = Pattern.compile("[A-Z]+[a-z0-9]+\\w*[A-Z]\\w*");
    private static final Pattern CODE_OF_PAGE =
            Pattern.compile("```.*?```|`[^`\\n]+`", Pattern.DOTALL);
    private static final Pattern COMMENT_OR_TEXT =
            Pattern.compile(
                    "//[^\\n]*|/\\*.*?\\*/|\"\"\".*?(?<!\\\\)\"\"\"|\"(?:[^\"\\\\\\n]|\\\\.)*\""
                            + "|'(?:[^'\\\\\\n]|\\\\.)+'",
                    Pattern.DOTALL);

    /** Kinds of test classes, by what follows the name of the tested type. */
    private static final List<String> TESTS =
            List.of("Test", "PropertyTest", "FuzzTest", "KernelTest", "ConformanceTest");

    private final Path root;
    private final boolean checkOnly;
    private final Map<String, String> wanted = new LinkedHashMap<>();
    private final Set<String> fixed = new HashSet<>();
    private final List<String[]> mentions = new ArrayList<>();

    /** Types by old name: package, dot, names of the classes around joined by dollars. */
    private final Map<String, Declared> types = new TreeMap<>();

    private final Map<TypeElement, String> renamed = new HashMap<>();
    private final Map<Path, TreeMap<Integer, Edit>> edits = new TreeMap<>();
    private final Map<Path, Set<String>> imports = new HashMap<>();
    private final Map<Path, String> texts = new HashMap<>();
    private DocTrees trees;
    private Elements elements;

    private record Declared(
            String key, TypeElement element, CompilationUnitTree unit, boolean isTopLevel) {
        String simple() {
            return key.substring(Math.max(key.lastIndexOf('.'), key.lastIndexOf('$')) + 1);
        }

        /** The names of the class and of those around it, without the package. */
        String nesting() {
            return key.substring(key.lastIndexOf('.') + 1);
        }
    }

    private record Edit(int from, int to, String text) {}

    private RenameTypes(Path root, boolean checkOnly) {
        this.root = root;
        this.checkOnly = checkOnly;
    }

    /**
     * Renames.
     *
     * @param args options and maps
     */
    public static void main(String[] args) throws Exception {
        Path root = Path.of("").toAbsolutePath();
        Path build = root.resolve("build");
        boolean checkOnly = false;
        List<Path> maps = new ArrayList<>();
        for (int i = 0; i < args.length; i++) {
            switch (args[i]) {
                case "--libraries" -> build = Path.of(args[++i]).toAbsolutePath();
                case "--check" -> checkOnly = true;
                default -> maps.add(Path.of(args[i]));
            }
        }
        RenameTypes tool = new RenameTypes(root, checkOnly);
        for (Path map : maps) {
            tool.readMap(map);
        }
        tool.run(build);
    }

    private void readMap(Path map) throws IOException {
        for (String line : Files.readAllLines(map)) {
            String[] words = line.strip().split("\\s+");
            if (words.length == 4 && words[0].equals("in")) {
                mentions.add(words);
            } else if (!line.isBlank() && !line.startsWith("#")) {
                boolean isFixed = words.length == 3 && words[2].equals("!");
                if (words.length != 2 && !isFixed || wanted.put(words[0], words[1]) != null) {
                    throw new IOException(map + ": not OLD NEW, or twice: " + line);
                }
                if (isFixed) {
                    fixed.add(words[0]);
                }
            }
        }
    }

    private void run(Path build) throws Exception {
        List<Path> sources =
                tracked().stream()
                        .filter(path -> path.toString().endsWith(".java"))
                        .filter(path -> !path.endsWith("module-info.java"))
                        .filter(path -> !path.getFileName().toString().equals("RenameTypes.java"))
                        .toList();
        var compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        try (StandardJavaFileManager files =
                compiler.getStandardFileManager(found, null, StandardCharsets.UTF_8)) {
            List<String> options =
                    List.of("-proc:none", "-implicit:none", "-Xlint:none", "-Xmaxerrs", "100000",
                            "-cp", libraries(build));
            JavacTask task =
                    (JavacTask)
                            compiler.getTask(
                                    null, files, found, options, null,
                                    files.getJavaFileObjectsFromPaths(sources));
            trees = DocTrees.instance(task);
            elements = task.getElements();
            List<CompilationUnitTree> units = new ArrayList<>();
            task.parse().forEach(units::add);
            task.analyze();
            refuseErrors(found);
            for (CompilationUnitTree unit : units) {
                new Declarations().scan(unit, null);
            }
            choose();
            tellShared();
            refuseCollisions(units);
            for (CompilationUnitTree unit : units) {
                new Uses(unit).scan(unit, null);
            }
        }
        inComments();
        if (!checkOnly) {
            write();
        }
    }

    private static void refuseErrors(DiagnosticCollector<JavaFileObject> found) {
        List<String> errors =
                found.getDiagnostics().stream()
                        .filter(each -> each.getKind() == Diagnostic.Kind.ERROR)
                        .map(Object::toString)
                        .toList();
        if (!errors.isEmpty()) {
            errors.stream().limit(20).forEach(System.err::println);
            System.err.println(errors.size() + " errors: the tree must compile before");
            System.exit(1);
        }
    }

    private String libraries(Path build) throws IOException {
        Set<String> jars = new TreeSet<>();
        try (Stream<Path> deps = Files.list(build.resolve("deps"))) {
            deps.map(Path::toString).filter(name -> name.endsWith(".jar")).forEach(jars::add);
        }
        Path classpath = build.resolve("classpath");
        if (Files.exists(classpath)) {
            for (String place : Files.readString(classpath).split("[\\t\\n:]")) {
                if (place.endsWith(".jar")) {
                    jars.add(place);
                }
            }
        }
        return String.join(":", jars);
    }

    private List<Path> tracked() throws IOException {
        Process git =
                new ProcessBuilder("git", "ls-files", "-z").directory(root.toFile()).start();
        String names = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return Stream.of(names.split("\0"))
                .map(root::resolve)
                .filter(Files::isRegularFile)
                .toList();
    }

    private Path path(CompilationUnitTree unit) {
        return Path.of(unit.getSourceFile().toUri());
    }

    private String text(Path path) {
        return texts.computeIfAbsent(
                path,
                key -> {
                    try {
                        return Files.readString(key);
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                });
    }

    /** Collects the types by their place in the source; local ones too. */
    private final class Declarations extends TreePathScanner<Void, Void> {
        @Override
        public Void visitClass(ClassTree tree, Void unused) {
            if (!tree.getSimpleName().isEmpty()
                    && trees.getElement(getCurrentPath()) instanceof TypeElement element) {
                CompilationUnitTree unit = getCurrentPath().getCompilationUnit();
                String key = key(getCurrentPath());
                boolean isTopLevel = getCurrentPath().getParentPath().getLeaf() == unit;
                types.putIfAbsent(key, new Declared(key, element, unit, isTopLevel));
            }
            return super.visitClass(tree, unused);
        }
    }

    private static String key(TreePath path) {
        String names = "";
        for (TreePath at = path; at != null; at = at.getParentPath()) {
            if (at.getLeaf() instanceof ClassTree around && !around.getSimpleName().isEmpty()) {
                names = around.getSimpleName() + (names.isEmpty() ? "" : "$" + names);
            }
        }
        PackageTree folder = path.getCompilationUnit().getPackage();
        return folder == null ? names : folder.getPackageName() + "." + names;
    }

    /** From entries of the map to types that are there, and to the tests of these. */
    private void choose() {
        Map<String, List<Declared>> byNesting =
                types.values().stream().collect(Collectors.groupingBy(Declared::nesting));
        Set<String> simple =
                types.values().stream().map(Declared::simple).collect(Collectors.toSet());
        List<String> missing = new ArrayList<>();
        Map<Declared, String> chosen = new LinkedHashMap<>();
        wanted.forEach(
                (old, name) -> {
                    Declared type = types.get(old);
                    if (type == null) {
                        type = types.get(withNewNames(old));
                    }
                    String nesting = old.substring(old.lastIndexOf('.') + 1);
                    List<Declared> moved = byNesting.getOrDefault(nesting, List.of());
                    boolean isTelling =
                            nesting.contains("$") || TWO_HUMPS.matcher(nesting).matches();
                    if (type == null
                            && isTelling
                            && !fixed.contains(old)
                            && !simple.contains(name)
                            && moved.size() == 1
                            && !wanted.containsKey(moved.getFirst().key())) {
                        type = moved.getFirst();
                        System.err.println("moved: " + old + " to " + type.key());
                    }
                    if (type == null) {
                        missing.add(old);
                    } else if (!type.simple().equals(name)) {
                        chosen.put(type, name);
                    }
                });
        chosen.forEach((type, name) -> renamed.put(type.element(), name));
        chosen.forEach((type, name) -> chooseTests(type, name));
        System.err.println(
                renamed.size() + " types to rename; not there: " + missing.size() + " entries");
        missing.removeIf(old -> simple.contains(wanted.get(old)));
        missing.forEach(old -> System.err.println("not there: " + old));
    }

    /** The old name of a nested type with the new ones of those around it. */
    private String withNewNames(String old) {
        String[] names = old.split("\\$");
        StringBuilder key = new StringBuilder();
        String around = "";
        for (int i = 0; i < names.length; i++) {
            around = i == 0 ? names[0] : around + "$" + names[i];
            String name = wanted.get(around);
            boolean isLast = i == names.length - 1;
            if (i == 0) {
                String folder = around.substring(0, around.lastIndexOf('.') + 1);
                key.append(name == null || isLast ? around : folder + name);
            } else {
                key.append('$').append(name == null || isLast ? names[i] : name);
            }
        }
        return key.toString();
    }

    private void chooseTests(Declared type, String name) {
        if (!type.isTopLevel()) {
            return;
        }
        for (String test : TESTS) {
            Declared tests = types.get(type.key() + test);
            String folder = type.key().substring(0, type.key().lastIndexOf('.') + 1);
            if (tests != null && !types.containsKey(folder + name + test)) {
                renamed.putIfAbsent(tests.element(), name + test);
            }
        }
    }

    /** A new name belongs to one type only, and to none of a library that some file imports. */
    private void refuseCollisions(List<CompilationUnitTree> units) {
        Set<String> taken = new HashSet<>();
        for (CompilationUnitTree unit : units) {
            for (ImportTree each : unit.getImports()) {
                String name = each.getQualifiedIdentifier().toString();
                if (!name.startsWith("sonde.")) {
                    taken.add(name.substring(name.lastIndexOf('.') + 1));
                }
            }
        }
        elements.getPackageElement("java.lang").getEnclosedElements().stream()
                .map(element -> element.getSimpleName().toString())
                .forEach(taken::add);
        Map<String, String> owners = new HashMap<>();
        for (Declared type : types.values()) {
            if (!renamed.containsKey(type.element())) {
                taken.add(type.simple());
            }
        }
        boolean isFree = true;
        for (Map.Entry<TypeElement, String> entry : renamed.entrySet()) {
            String old = String.valueOf(entry.getKey());
            String other = owners.put(entry.getValue(), old);
            if (other != null || taken.contains(entry.getValue())) {
                System.err.println("taken: " + entry.getValue() + " for " + old
                        + (other == null ? "" : " and " + other));
                isFree = false;
            }
        }
        if (!isFree) {
            System.exit(1);
        }
    }

    /** Tells the simple names that several types of the main sources have afterwards. */
    private void tellShared() {
        Map<String, Integer> counts = new TreeMap<>();
        for (Declared type : types.values()) {
            String place = root.relativize(path(type.unit())).toString();
            if (place.contains("/src/main/") && !place.startsWith("testkit")) {
                counts.merge(renamed.getOrDefault(type.element(), type.simple()), 1, Integer::sum);
            }
        }
        counts.values().removeIf(count -> count == 1);
        System.err.println(counts.size() + " shared names: " + counts);
    }

    private String newName(TypeElement type) {
        String name = renamed.getOrDefault(type, type.getSimpleName().toString());
        return type.getEnclosingElement() instanceof TypeElement around
                ? newName(around) + "." + name
                : elements.getPackageOf(type).getQualifiedName() + "." + name;
    }

    private void edit(Path path, int from, String old, String name) {
        String text = text(path);
        if (from >= 0 && text.startsWith(old, from)) {
            edits.computeIfAbsent(path, key -> new TreeMap<>())
                    .put(from, new Edit(from, from + old.length(), name));
        }
    }

    /** Collects the edits of one file. */
    private final class Uses extends TreePathScanner<Void, Void> {
        private final CompilationUnitTree unit;
        private final Path path;
        private final String text;
        private final DocSourcePositions positions = trees.getSourcePositions();

        Uses(CompilationUnitTree unit) {
            this.unit = unit;
            this.path = path(unit);
            this.text = text(path);
        }

        private void edit(int from, String old, String name) {
            RenameTypes.this.edit(path, from, old, name);
        }

        /** What is written at a position, without blanks, comments and annotations before it. */
        private int declared(Tree tree, ModifiersTree modifiers) {
            int end = (int) positions.getEndPosition(unit, modifiers);
            return end < 0 ? (int) positions.getStartPosition(unit, tree) : end;
        }

        @Override
        public Void visitClass(ClassTree tree, Void unused) {
            comment();
            Element element = trees.getElement(getCurrentPath());
            String name = renamed.get(element);
            if (name != null) {
                String old = tree.getSimpleName().toString();
                Matcher head =
                        Pattern.compile("\\b(?:class|record|enum|interface)\\s+(" + old + ")\\b")
                                .matcher(text);
                if (head.find(declared(tree, tree.getModifiers()))) {
                    edit(head.start(1), old, name);
                }
            }
            return super.visitClass(tree, unused);
        }

        @Override
        public Void visitMethod(MethodTree tree, Void unused) {
            comment();
            Element element = trees.getElement(getCurrentPath());
            if (tree.getName().contentEquals("<init>") && element != null) {
                TypeElement type = (TypeElement) element.getEnclosingElement();
                String name = renamed.get(type);
                int from = declared(tree, tree.getModifiers());
                String old = type.getSimpleName().toString();
                Matcher head =
                        Pattern.compile("\\s*(?:<[^(]*>\\s*)?(" + old + ")\\s*[({]").matcher(text);
                if (name != null && from >= 0 && head.region(from, text.length()).lookingAt()) {
                    edit(head.start(1), old, name);
                }
            }
            return super.visitMethod(tree, unused);
        }

        @Override
        public Void visitVariable(VariableTree tree, Void unused) {
            comment();
            return super.visitVariable(tree, unused);
        }

        @Override
        public Void visitPackage(PackageTree tree, Void unused) {
            comment();
            return super.visitPackage(tree, unused);
        }

        @Override
        public Void visitIdentifier(IdentifierTree tree, Void unused) {
            String name = renamed.get(trees.getElement(getCurrentPath()));
            if (name != null) {
                edit((int) positions.getStartPosition(unit, tree), tree.getName().toString(), name);
            }
            return null;
        }

        @Override
        public Void visitMemberSelect(MemberSelectTree tree, Void unused) {
            String old = tree.getIdentifier().toString();
            Element element = trees.getElement(getCurrentPath());
            String name = renamed.get(element);
            if (name == null
                    && getCurrentPath().getParentPath().getLeaf() instanceof ImportTree
                    && element == null) {
                name = importedMember(tree);
            }
            if (name != null) {
                int end = (int) positions.getEndPosition(unit, tree);
                if (element instanceof TypeElement type && unqualified(tree, type, old)) {
                    return null;
                }
                edit(end - old.length(), old, name);
            }
            return super.visitMemberSelect(tree, unused);
        }

        /**
         * The new name says what the outer one said before, and belongs to one type only: it needs
         * an import, and no qualifier.
         */
        private boolean unqualified(MemberSelectTree tree, TypeElement type, String old) {
            int from = (int) positions.getStartPosition(unit, tree);
            int end = (int) positions.getEndPosition(unit, tree);
            if (from < 0
                    || end <= from
                    || !text.startsWith(old, end - old.length())
                    || !text.substring(from, end).matches("[\\w$.\\s]+")
                    || isPrivate(type)
                    || !isInBody(getCurrentPath())) {
                return false;
            }
            RenameTypes.this.edit(path, from, text.substring(from, end), renamed.get(type));
            if (!type.equals(inScope(old, getCurrentPath()))) {
                imports.computeIfAbsent(path, key -> new TreeSet<>()).add(newName(type));
            }
            return true;
        }

        /** No import reaches it. */
        private static boolean isPrivate(Element type) {
            return type instanceof TypeElement
                    && (type.getModifiers().contains(Modifier.PRIVATE)
                            || isPrivate(type.getEnclosingElement()));
        }

        /** Neither an import nor the head of a class, where its members have no simple names. */
        private boolean isInBody(TreePath place) {
            boolean isInClass = false;
            for (TreePath at = place; at.getParentPath() != null; at = at.getParentPath()) {
                if (at.getParentPath().getLeaf() instanceof ClassTree around) {
                    if (!around.getMembers().contains(at.getLeaf())) {
                        return false;
                    }
                    isInClass = true;
                }
            }
            return isInClass;
        }

        /** A nested type that is imported as a static member. */
        private String importedMember(MemberSelectTree tree) {
            TreePath around = new TreePath(getCurrentPath(), tree.getExpression());
            return trees.getElement(around) instanceof TypeElement type
                    ? renamed.get(member(type, tree.getIdentifier().toString()))
                    : null;
        }

        private void comment() {
            DocCommentTree comment = trees.getDocCommentTree(getCurrentPath());
            if (comment == null) {
                return;
            }
            TreePath around = getCurrentPath();
            new DocTreeScanner<Void, Void>() {
                @Override
                public Void visitReference(ReferenceTree tree, Void unused) {
                    names(tree, tree.getSignature(), around);
                    return null;
                }

                @Override
                public Void visitLiteral(com.sun.source.doctree.LiteralTree tree, Void unused) {
                    if (tree.getKind() == DocTree.Kind.CODE) {
                        names(tree, tree.getBody().getBody(), around);
                    }
                    return null;
                }

                private void names(DocTree tree, String words, TreePath around) {
                    int from = (int) positions.getStartPosition(unit, comment, tree);
                    int end = (int) positions.getEndPosition(unit, comment, tree);
                    if (from >= 0 && end >= from) {
                        inText(from, end, around);
                    }
                }
            }.scan(comment, null);
        }

        /** Names of types in a part of a comment, as the compiler would find them there. */
        private void inText(int from, int end, TreePath around) {
            Matcher chains = TYPE_CHAIN.matcher(text);
            int at = from;
            while (at < end && chains.find(at) && chains.start() < end) {
                at = chains.end();
                chain(chains.start(), chains.end(), around);
            }
        }

        private void chain(int from, int end, TreePath around) {
            Matcher names = IDENTIFIER.matcher(text);
            Object scope = null;
            int at = from;
            String folder = "";
            while (at < end && names.find(at) && names.start() < end) {
                at = names.end();
                String word = names.group();
                TypeElement type;
                if (scope instanceof TypeElement outer) {
                    type = member(outer, word);
                } else {
                    type =
                            folder.isEmpty()
                                    ? inScope(word, around)
                                    : elements.getTypeElement(folder + "." + word);
                    folder = folder.isEmpty() ? word : folder + "." + word;
                }
                if (type == null && scope != null) {
                    return;
                }
                if (type != null) {
                    scope = type;
                    String name = renamed.get(type);
                    if (name != null) {
                        edit(names.start(), word, name);
                    }
                }
            }
        }

        private TypeElement inScope(String name, TreePath around) {
            if (!Character.isUpperCase(name.charAt(0))) {
                return null;
            }
            for (TreePath at = around; at != null; at = at.getParentPath()) {
                if (at.getLeaf() instanceof ClassTree
                        && trees.getElement(at) instanceof TypeElement type) {
                    boolean isSelf = type.getSimpleName().contentEquals(name);
                    TypeElement found = isSelf ? type : member(type, name);
                    if (found != null) {
                        return found;
                    }
                }
            }
            for (ImportTree each : unit.getImports()) {
                String imported = each.getQualifiedIdentifier().toString();
                if (imported.endsWith("." + name)) {
                    return elements.getTypeElement(imported);
                }
            }
            PackageTree folder = unit.getPackage();
            return folder == null
                    ? null
                    : elements.getTypeElement(folder.getPackageName() + "." + name);
        }
    }

    private TypeElement member(TypeElement type, String name) {
        for (Element element : elements.getAllMembers(type)) {
            if (element instanceof TypeElement nested
                    && nested.getSimpleName().contentEquals(name)) {
                return nested;
            }
        }
        return null;
    }

    /** Names of several words that one type has: these may be replaced wherever they stand. */
    private Map<String, String> telling() {
        Map<String, List<Declared>> bySimple =
                types.values().stream().collect(Collectors.groupingBy(Declared::simple));
        Map<String, String> telling = new HashMap<>();
        renamed.forEach(
                (type, name) -> {
                    String old = type.getSimpleName().toString();
                    if (bySimple.get(old).size() == 1) {
                        telling.put(old, name);
                    }
                });
        return telling;
    }

    /** Comments of Java files, and all other files. */
    private void inComments() throws IOException {
        Map<String, String> unique = telling();
        Map<String, String> telling = new HashMap<>(unique);
        telling.keySet().removeIf(old -> !TWO_HUMPS.matcher(old).matches());
        for (Path path : tracked()) {
            String name = path.getFileName().toString();
            String place = root.relativize(path).toString();
            if (name.endsWith(".java") && !name.equals("RenameTypes.java")) {
                Matcher parts = COMMENT_OR_TEXT.matcher(text(path));
                while (parts.find()) {
                    if (parts.group().startsWith("/")) {
                        words(path, parts.start(), parts.end(), telling);
                    }
                }
                qualified(path);
            } else if (isText(path, place)) {
                if (!name.contains(".") || name.matches(".*\\.(md|sh|xml)")) {
                    words(path, 0, text(path).length(), telling);
                }
                qualified(path);
            }
        }
    }

    private boolean isText(Path path, String place) throws IOException {
        if (place.startsWith("bench/results")
                || place.endsWith("RenameTypes.java")
                || place.endsWith(".map")
                || Files.size(path) > 1 << 20) {
            return false;
        }
        byte[] bytes = Files.readAllBytes(path);
        for (byte each : bytes) {
            if (each == 0) {
                return false;
            }
        }
        String text = new String(bytes, StandardCharsets.UTF_8);
        texts.put(path, text);
        return Arrays.equals(text.getBytes(StandardCharsets.UTF_8), bytes);
    }

    private void words(Path path, int from, int end, Map<String, String> names) {
        Matcher words = Pattern.compile("\\b[A-Z]\\w*\\b").matcher(text(path)).region(from, end);
        while (words.find()) {
            String name = names.get(words.group());
            if (name != null) {
                edit(path, words.start(), words.group(), name);
            }
        }
    }

    /** {@code sonde.a.B$C} and {@code sonde/a/B}, in texts of Java files too. */
    private void qualified(Path path) {
        Matcher found =
                Pattern.compile("\\bsonde[./](?:[a-z]\\w*[./])+([A-Z]\\w*(?:[.$][A-Z]\\w*)*)")
                        .matcher(text(path));
        while (found.find()) {
            String folder = text(path).substring(found.start(), found.start(1)).replace('/', '.');
            Matcher names = Pattern.compile("[A-Z]\\w*").matcher(text(path))
                    .region(found.start(1), found.end());
            String key = folder;
            while (names.find()) {
                key += (key.equals(folder) ? "" : "$") + names.group();
                Declared type = types.get(key);
                if (type != null && renamed.containsKey(type.element())) {
                    edit(path, names.start(), names.group(), renamed.get(type.element()));
                }
            }
        }
    }

    private void write() throws Exception {
        Map<Path, Path> moves = new LinkedHashMap<>();
        for (Declared type : types.values()) {
            String name = renamed.get(type.element());
            Path path = path(type.unit());
            if (name != null && path.endsWith(type.simple() + ".java")) {
                moves.put(path, path.resolveSibling(name + ".java"));
            }
        }
        for (String[] words : mentions) {
            mention(root.resolve(words[1]), words[2], words[3]);
        }
        int count = 0;
        for (Map.Entry<Path, TreeMap<Integer, Edit>> file : edits.entrySet()) {
            String old = text(file.getKey());
            StringBuilder text = new StringBuilder();
            int at = 0;
            for (Edit edit : file.getValue().values()) {
                if (edit.from() >= at) { // else within one that takes a qualifier away
                    text.append(old, at, edit.from()).append(edit.text());
                    at = edit.to();
                    count++;
                }
            }
            text.append(old, at, old.length());
            addImports(text, imports.getOrDefault(file.getKey(), Set.of()));
            Files.writeString(file.getKey(), text);
        }
        for (Map.Entry<Path, Path> move : moves.entrySet()) {
            Process git =
                    new ProcessBuilder("git", "mv", "" + move.getKey(), "" + move.getValue())
                            .directory(root.toFile())
                            .inheritIO()
                            .start();
            if (git.waitFor() != 0) {
                throw new IOException("git mv " + move);
            }
        }
        System.err.println(
                count + " places in " + edits.size() + " files; " + moves.size() + " files moved");
    }

    /** Behind the package; the formatter sorts them, and takes out those no longer used. */
    private static void addImports(StringBuilder text, Set<String> names) {
        String lines =
                names.stream().map(name -> "import " + name + ";\n").collect(Collectors.joining());
        Matcher folder = Pattern.compile("(?m)^package [\\w.]+;\\n").matcher(text);
        if (!names.isEmpty() && folder.find()) {
            text.insert(folder.end(), "\n" + lines);
        }
    }

    /** A name in the code of a page, or in a text of a Java file. */
    private void mention(Path path, String old, String name) {
        if (!Files.exists(path)) {
            System.err.println("not there: " + path);
            return;
        }
        boolean isJava = path.toString().endsWith(".java");
        Matcher parts = (isJava ? COMMENT_OR_TEXT : CODE_OF_PAGE).matcher(text(path));
        Matcher found =
                Pattern.compile("(?<!\\w)" + Pattern.quote(old) + "(?!\\w)").matcher(text(path));
        while (parts.find()) {
            found.region(parts.start(), parts.end()).useTransparentBounds(true);
            while (!parts.group().startsWith("/") && found.find()) {
                edit(path, found.start(), old, name);
            }
        }
    }
}
