/**
 * Texts that tracing tools print, read as events.
 *
 * {@snippet :
 * try (TextRecording trace = TextRecording.open(input)) {
 *     for (Lane lane : trace.lanes()) {
 *         for (Batch batch = lane.next(); batch != null; batch = lane.next()) {
 *             out.accept(batch);
 *         }
 *     }
 * }
 * }
 *
 * <p>A text is read twice: for its types (every {@code key=value} becomes a field whose kind all
 * lines together decide) and for its rows. What a line says is decided by these rules, the first
 * that holds, over the lines of the first 64 KiB that are neither empty nor begin with {@code #}:
 *
 * <table>
 * <caption>How a text is recognised</caption>
 * <tr><th>it has</th><th>it is</th></tr>
 * <tr><td>{@code <html} in its first 1 KiB and a mark of the trace viewer; or {@code TRACE:} and a
 *     zlib header</td><td>{@link sonde.recording.text.TextFormat#SYSTRACE}</td></tr>
 * <tr><td>{@code # tracer:} first</td><td>{@link sonde.recording.text.TextFormat#FTRACE}</td></tr>
 * <tr><td>{@code # event histogram} first</td><td>{@link
 *     sonde.recording.text.TextFormat#HISTOGRAM}</td></tr>
 * <tr><td>all lines are a name of 44 columns and numbers of 15</td><td>{@link
 *     sonde.recording.text.TextFormat#PROBE_PROFILE}</td></tr>
 * <tr><td>half of the lines begin {@code comm-tid [cpu] time:} or {@code comm-tid cpuflags Nus:}, or
 *     are {@code cpu) duration | call}</td><td>FTRACE</td></tr>
 * <tr><td>half begin with a time of the kernel's log or a priority</td><td>{@link
 *     sonde.recording.text.TextFormat#DMESG}</td></tr>
 * <tr><td>a quarter is {@code name(…) = result}, parts of such, signals or ends</td><td>{@link
 *     sonde.recording.text.TextFormat#STRACE}</td></tr>
 * <tr><td>half are {@code comm tid … event:} or frames, one of them the former; or nine of ten are
 *     {@code address symbol (module)}</td><td>{@link
 *     sonde.recording.text.TextFormat#PERF_SCRIPT}</td></tr>
 * <tr><td>half are {@code module`function} or a number alone, both there</td><td>{@link
 *     sonde.recording.text.TextFormat#STACK_BLOCKS}</td></tr>
 * <tr><td>19 of 20 end in a blank and a number, one has a semicolon</td><td>{@link
 *     sonde.recording.text.TextFormat#FOLDED}</td></tr>
 * </table>
 *
 * <p>The order settles what two rules would take: a call of strace that returns a number looks
 * folded, a message of the log with a number and a colon looks like perf's.
 */
package sonde.recording.text;
