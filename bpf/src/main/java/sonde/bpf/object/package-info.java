/**
 * Objects with eBPF programs as compilers write them: read, linked, fitted to the running kernel,
 * loaded, attached.
 *
 * {@snippet :
 * ObjectFile file = ObjectFile.read(Path.of("switches.bpf.o"));
 * try (LoadedObject object = file.load()) {
 *     object.attach();
 *     Thread.sleep(1000);
 *     System.out.println(object.globals(".bss").number("switches"));
 * }
 * }
 */
package sonde.bpf.object;
