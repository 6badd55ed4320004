/**
 * Resolves attach points of scripts and attaches them.
 *
 * {@snippet :
 * SourceText text = new SourceText("script.bt", "tracepoint:syscalls:sys_enter_open*");
 * CompilerDiagnostics diagnostics = new CompilerDiagnostics();
 * SourceSpan span = new SourceSpan(text, 0, text.text().length());
 * AttachPoint point = AttachPointParser.parse(span, text.text(), diagnostics);
 * try (ProbeExpander expander = new ProbeExpander(ExpanderOptions.USUAL)) {
 *     List<Probe> probes = expander.expand(point, diagnostics);
 *     for (ProbeGroup group : expander.group(span, probes, false, diagnostics)) {
 *         LoadNeeds needs = LoadNeeds.of(group);
 *         try (OpenTarget target = needs.target()) {
 *             Program program = Program.load(target.of(needs.spec("opens", code)));
 *             Link link = ProbeAttacher.attach(group, program, AttachOptions.EVERYWHERE);
 *         }
 *     }
 * }
 * }
 *
 * <p>{@code sonde.probe.dynamic} has attach points, too: those of {@code sonde probe}, which become
 * lines of text for the kernel's {@code kprobe_events} and {@code uprobe_events}. Both packages use
 * the same classes for what is the same: {@code probe.dynamic.SourcePlaces} finds lines of source,
 * {@code symbol.ctype} finds arguments and types, {@code event.Glob} matches wildcards. The rest
 * differs. A script names any of 20 kinds of probes, with wildcards over all functions of the
 * kernel, and attaches programs that are loaded for the kind. A probe of {@code sonde probe} is one
 * instruction, which may be chosen by a line and have values computed by fetch arguments.
 */
@org.jspecify.annotations.NullMarked
package sonde.lang.probes;
