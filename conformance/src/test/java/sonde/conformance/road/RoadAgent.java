package sonde.conformance.road;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.MethodModel;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.Map;
import java.util.function.Consumer;
import java.util.jar.JarFile;
import org.jspecify.annotations.Nullable;

/**
 * Puts a call of {@link RoadStacks} at the beginning of the methods in which a road ends: the
 * system call, the mapping or reading of a file, the writing to a standard stream; and of {@code
 * Thread.start}, since a road goes on in another thread. The argument of the agent is the path of
 * its own jar, which the boot loader needs too.
 */
public final class RoadAgent {
    private static final ClassDesc STACKS = ClassDesc.of("sonde.conformance.road.RoadStacks");

    /** A method, by class, name and descriptor, and the call that it gets. */
    private record Hook(String name, String descriptor, Consumer<CodeBuilder> call) {}

    private static final Map<String, Hook> HOOKS =
            Map.of(
                    "sonde/sys/NativeSyscall",
                    new Hook(
                            "syscall",
                            "(IJJJJJJ)J",
                            code ->
                                    code.iload(0)
                                            .lload(1)
                                            .invokestatic(STACKS, "called", type("IJ"))),
                    "sun/nio/ch/FileChannelImpl",
                    new Hook(
                            "map",
                            "(Ljava/nio/channels/FileChannel$MapMode;JJLjava/lang/foreign/Arena;)"
                                    + "Ljava/lang/foreign/MemorySegment;",
                            code -> code.aload(0).invokestatic(STACKS, "mapped", object())),
                    "java/io/FileOutputStream",
                    new Hook(
                            "write",
                            "([BII)V",
                            code -> code.aload(0).invokestatic(STACKS, "written", object())),
                    "java/lang/Thread",
                    new Hook(
                            "start",
                            "()V",
                            code -> code.aload(0).invokestatic(STACKS, "started", object())));

    private RoadAgent() {}

    private static MethodTypeDesc type(String parameters) {
        return MethodTypeDesc.ofDescriptor("(" + parameters + ")V");
    }

    private static MethodTypeDesc object() {
        return MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_Object);
    }

    /** Called by the JVM before {@code main}. */
    public static void premain(String jar, Instrumentation instrumentation) throws Exception {
        instrumentation.appendToBootstrapClassLoaderSearch(new JarFile(jar));
        instrumentation.addTransformer(
                new ClassFileTransformer() {
                    @Override
                    public byte @Nullable [] transform(
                            @Nullable ClassLoader loader,
                            String name,
                            @Nullable Class<?> redefined,
                            @Nullable ProtectionDomain domain,
                            byte[] bytes) {
                        Hook hook = HOOKS.get(name);
                        return hook == null ? null : hooked(hook, bytes);
                    }
                },
                true);
        for (Class<?> loaded : instrumentation.getAllLoadedClasses()) {
            if (HOOKS.containsKey(loaded.getName().replace('.', '/'))) {
                instrumentation.retransformClasses(loaded);
            }
        }
    }

    private static byte[] hooked(Hook hook, byte[] bytes) {
        ClassFile format = ClassFile.of();
        ClassModel model = format.parse(bytes);
        CodeTransform first =
                CodeTransform.ofStateful(() ->
                        new CodeTransform() {
                            private boolean isDone;

                            @Override
                            public void accept(CodeBuilder code, CodeElement element) {
                                if (!isDone) {
                                    isDone = true;
                                    hook.call().accept(code);
                                }
                                code.with(element);
                            }
                        });
        return format.transformClass(
                model,
                ClassTransform.transformingMethodBodies(
                        (MethodModel method) ->
                                method.methodName().equalsString(hook.name())
                                        && method.methodType().equalsString(hook.descriptor()),
                        first));
    }
}
