/**
 * Contains attachments. Each is a {@link sonde.bpf.Link}: closing it detaches, and so does the end
 * of this process.
 *
 * {@snippet :
 * ProgramSpec spec = new ProgramSpec("opens", ProgramType.KPROBE, code);
 * try (Program program = Program.load(spec);
 *         Link link = Kprobes.attach(program, Kprobes.Place.entry("do_sys_openat2"), 0)) {
 *     Thread.sleep(1000);
 * }
 * }
 */
package sonde.bpf.link;
