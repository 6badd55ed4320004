/**
 * Reads object files with eBPF programs from compilers, links them, adapts them to the running
 * kernel, loads and attaches them.
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
