import java.io.IOException;
import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDesc;
import java.lang.constant.MethodTypeDesc;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * Turns switches over types into plain code. javac leaves them to {@code
 * SwitchBootstraps.typeSwitch}, which makes a class for each at its first use, half a millisecond
 * each, and the start-up cache does not keep those. Here every such call becomes one of a method of
 * the same class that asks {@code instanceof} in turn; switches with other labels stay as they are.
 */
final class Switches {
    private static final ClassDesc BOOTSTRAPS =
            ClassDesc.of("java.lang.runtime.SwitchBootstraps");

    private Switches() {}

    /**
     * Rewrites class files in place.
     *
     * @param files of which each is the work of javac, not of this method
     * @param places the folders and jars of all classes that they use
     */
    static void inline(Collection<Path> files, List<Path> places) throws IOException {
        List<URL> urls = new ArrayList<>();
        for (Path place : places) {
            urls.add(place.toUri().toURL());
        }
        try (URLClassLoader loader = new URLClassLoader(urls.toArray(URL[]::new))) {
            ClassHierarchyResolver types = ClassHierarchyResolver.ofResourceParsing(loader).cached();
            ClassFile format =
                    ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(types));
            for (Path file : files) {
                ClassModel model = format.parse(Files.readAllBytes(file));
                List<Switch> switches = find(model);
                if (!switches.isEmpty()) {
                    Files.write(file, rewrite(format, model, switches));
                }
            }
        }
    }

    /** A call site: its types, and the classes that it tells apart, in order. */
    private record Switch(MethodTypeDesc type, List<ClassDesc> labels) {
        static Switch of(InvokeDynamicInstruction call) {
            if (!call.bootstrapMethod().owner().equals(BOOTSTRAPS)
                    || !call.bootstrapMethod().methodName().equals("typeSwitch")) {
                return null;
            }
            List<ClassDesc> labels = new ArrayList<>();
            for (ConstantDesc label : call.bootstrapArgs()) {
                if (!(label instanceof ClassDesc type) || type.isPrimitive()) {
                    return null;
                }
                labels.add(type);
            }
            boolean isReference = !call.typeSymbol().parameterType(0).isPrimitive();
            return isReference ? new Switch(call.typeSymbol(), labels) : null;
        }
    }

    private static List<Switch> find(ClassModel model) {
        List<Switch> found = new ArrayList<>();
        for (MethodModel method : model.methods()) {
            for (CodeElement element : method.code().map(CodeModel::elementList).orElse(List.of())) {
                if (element instanceof InvokeDynamicInstruction call) {
                    Switch one = Switch.of(call);
                    if (one != null && !found.contains(one)) {
                        found.add(one);
                    }
                }
            }
        }
        return found;
    }

    private static byte[] rewrite(
            ClassFile format, ClassModel model, List<Switch> switches) {
        ClassDesc owner = model.thisClass().asSymbol();
        boolean isInterface = (model.flags().flagsMask() & ClassFile.ACC_INTERFACE) != 0;
        ClassTransform calls =
                ClassTransform.transformingMethodBodies(
                        (code, element) -> {
                            Switch one =
                                    element instanceof InvokeDynamicInstruction call
                                            ? Switch.of(call)
                                            : null;
                            if (one == null) {
                                code.with(element);
                            } else {
                                String name = name(switches.indexOf(one));
                                code.invokestatic(owner, name, one.type(), isInterface);
                            }
                        });
        ClassTransform methods =
                ClassTransform.endHandler(builder -> add(builder, switches));
        return format.transformClass(model, calls.andThen(methods));
    }

    private static void add(ClassBuilder builder, List<Switch> switches) {
        for (int i = 0; i < switches.size(); i++) {
            Switch one = switches.get(i);
            builder.withMethodBody(
                    name(i),
                    one.type(),
                    ClassFile.ACC_PRIVATE | ClassFile.ACC_STATIC | ClassFile.ACC_SYNTHETIC,
                    code -> body(code, one.labels()));
        }
    }

    /** The least index from the second argument on whose class the first is of; -1 for null. */
    private static void body(CodeBuilder code, List<ClassDesc> labels) {
        Label there = code.newLabel();
        code.aload(0).ifnonnull(there).iconst_m1().ireturn().labelBinding(there);
        for (int i = 0; i < labels.size(); i++) {
            Label next = code.newLabel();
            code.iload(1).loadConstant(i).if_icmpgt(next);
            code.aload(0).instanceOf(labels.get(i)).ifeq(next);
            code.loadConstant(i).ireturn().labelBinding(next);
        }
        code.loadConstant(labels.size()).ireturn();
    }

    private static String name(int index) {
        return "typeSwitch$" + index;
    }
}
