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
 */
@org.jspecify.annotations.NullMarked
package sonde.lang.probes;
