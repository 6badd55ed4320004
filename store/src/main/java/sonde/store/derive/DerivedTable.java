package sonde.store.derive;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.StringJoiner;
import sonde.store.duckdb.ColumnType;

/** The tables that operators fill, with Perfetto's names where the meaning is the same. */
public enum DerivedTable {
    /** Threads, each a {@code utid} of its own however often its tid was used again. */
    THREAD(
            """
            utid INTEGER, tid INTEGER, name VARCHAR, start_ts BIGINT, end_ts BIGINT,
            upid INTEGER, is_main_thread BOOLEAN, is_kernel BOOLEAN, trace_id INTEGER\
            """),
    /** Processes, by their main threads. */
    PROCESS(
            """
            upid INTEGER, pid INTEGER, name VARCHAR, start_ts BIGINT, end_ts BIGINT,
            trace_id INTEGER\
            """),
    /** What each thread did when. */
    THREAD_STATE(
            """
            id BIGINT, ts BIGINT, dur BIGINT, cpu INTEGER, utid INTEGER, state VARCHAR,
            waker_utid INTEGER, syscall VARCHAR, kernel_dur BIGINT, callsite_id INTEGER,
            trace_id INTEGER\
            """),
    /** Which thread was on which CPU when. */
    SCHED(
            """
            id BIGINT, ts BIGINT, dur BIGINT, cpu INTEGER, utid INTEGER, end_state VARCHAR,
            trace_id INTEGER\
            """),
    /** Spans with a name: system calls, interrupts, soft interrupts, marks of programs. */
    SLICE(
            """
            id BIGINT, ts BIGINT, dur BIGINT, utid INTEGER, cpu INTEGER, category VARCHAR,
            name VARCHAR, depth INTEGER, parent_id BIGINT, ret BIGINT, trace_id INTEGER\
            """),
    /** Values that change over time. */
    COUNTER(
            """
            ts BIGINT, value DOUBLE, name VARCHAR, cpu INTEGER, utid INTEGER,
            trace_id INTEGER\
            """),
    /** Samples of perf, whatever they count. */
    SAMPLE(
            """
            id BIGINT, ts BIGINT, cpu INTEGER, utid INTEGER, callsite_id INTEGER,
            event VARCHAR, weight BIGINT, trace_id INTEGER\
            """),
    /** Call chains: each row a frame and the row of its caller. */
    STACK(
            """
            id INTEGER, parent_id INTEGER, frame_id INTEGER, depth INTEGER, trace_id INTEGER\
            """),
    /** Functions that call chains name. */
    FRAME(
            """
            id INTEGER, name VARCHAR, module VARCHAR, kind VARCHAR, inlined INTEGER,
            trace_id INTEGER\
            """),
    /** Files that processes mapped executable. */
    MAPPING(
            """
            ts BIGINT, upid INTEGER, pid INTEGER, start BIGINT, end BIGINT,
            file_offset BIGINT, name VARCHAR, trace_id INTEGER\
            """),
    /** Packets of networks, as far as they were captured and their headers are known. */
    PACKET(
            """
            ts BIGINT, source VARCHAR, length BIGINT, src_mac VARCHAR, dst_mac VARCHAR,
            vlan INTEGER, ether_type INTEGER, src VARCHAR, dst VARCHAR, ttl INTEGER,
            protocol VARCHAR, sport INTEGER, dport INTEGER, flags VARCHAR, seq BIGINT,
            ack BIGINT, window INTEGER, payload BIGINT, icmp_type INTEGER,
            icmp_code INTEGER, dns_id INTEGER, dns_name VARCHAR, dns_type VARCHAR,
            dns_response BOOLEAN, dns_rcode INTEGER, dns_answers VARCHAR, trace_id INTEGER\
            """),
    /** Lines that the kernel or programs wrote. */
    LOG(
            """
            ts BIGINT, cpu INTEGER, utid INTEGER, tag VARCHAR, msg VARCHAR, trace_id INTEGER\
            """),
    /** What the kernel's log reports: crashes, warnings, stalls. */
    LOG_INCIDENT(
            """
            id INTEGER, ts BIGINT, dur BIGINT, cpu INTEGER, utid INTEGER, class VARCHAR,
            severity VARCHAR, is_fault BOOLEAN, identity VARCHAR, what VARCHAR,
            function VARCHAR, module VARCHAR, place VARCHAR, task VARCHAR, pid INTEGER,
            kernel VARCHAR, after_id INTEGER, panicked BOOLEAN, damaged BOOLEAN,
            details VARCHAR, trace_id INTEGER\
            """),
    /** Events that are missing: lost, throttled, corrupt. */
    LOSS(
            """
            ts BIGINT, cpu INTEGER, kind VARCHAR, events BIGINT, source VARCHAR,
            trace_id INTEGER\
            """);

    private final List<String> names;
    private final List<ColumnType> types;

    /** Takes names and types as CREATE TABLE has them. */
    DerivedTable(String columns) {
        List<String> foundNames = new ArrayList<>();
        List<ColumnType> foundTypes = new ArrayList<>();
        for (String column : columns.split(",")) {
            String[] words = column.strip().split(" ");
            foundNames.add(words[0]);
            foundTypes.add(type(words[1]));
        }
        names = List.copyOf(foundNames);
        types = List.copyOf(foundTypes);
    }

    private static ColumnType type(String sql) {
        return switch (sql) {
            case "BOOLEAN" -> ColumnType.BOOLEAN;
            case "INTEGER" -> ColumnType.INTEGER;
            case "BIGINT" -> ColumnType.BIGINT;
            case "DOUBLE" -> ColumnType.DOUBLE;
            case "VARCHAR" -> ColumnType.VARCHAR;
            default -> throw new IllegalArgumentException(sql);
        };
    }

    /** How SQL names it. */
    public String table() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The table of that name. */
    public static Optional<DerivedTable> named(String table) {
        for (DerivedTable one : values()) {
            if (one.name().equalsIgnoreCase(table)) {
                return Optional.of(one);
            }
        }
        return Optional.empty();
    }

    /** Names of its columns. */
    public List<String> columns() {
        return names;
    }

    /** Types of its columns. */
    public List<ColumnType> types() {
        return types;
    }

    /** The statement that makes it, empty. */
    public String create() {
        StringJoiner columns = new StringJoiner(", ", "CREATE TABLE " + table() + " (", ")");
        for (int i = 0; i < names.size(); i++) {
            columns.add('"' + names.get(i) + "\" " + types.get(i).sql());
        }
        return columns.toString();
    }
}
