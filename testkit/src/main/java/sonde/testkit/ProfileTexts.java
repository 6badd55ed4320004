package sonde.testkit;

/** Small files of the formats that are text. */
public final class ProfileTexts {
    private ProfileTexts() {}

    /** Output of dmesg --json. */
    public static final String DMESG =
            """
            {
               "dmesg": [
                  {
                     "pri": 5,
                     "time":     0.000000,
                     "msg": "Linux version 6.1.0"
                  },{
                     "fac": "kern",
                     "pri": "warn",
                     "time":     1.250000,
                     "caller": "T69",
                     "msg": "a \\"quoted\\" word"
                  }
               ]
            }
            """;

    /** Chrome trace JSON, every phase; the array is not closed. */
    public static final String CHROME =
            """
            [{"name":"process_name","ph":"M","pid":1,"args":{"name":"app"}},
             {"name":"thread_name","ph":"M","pid":1,"tid":2,"args":{"name":"worker"}},
             {"name":"work","cat":"c","ph":"B","ts":10,"pid":1,"tid":2,"args":{"a":[1,"x"]}},
             {"ph":"E","ts":20.5,"pid":1,"tid":2},
             {"name":"whole","ph":"X","ts":30,"dur":1.25,"pid":1,"tid":2},
             {"name":"now","ph":"i","ts":40,"pid":1,"tid":2,"s":"t"},
             {"name":"mem","ph":"C","ts":50,"pid":1,"args":{"used":5,"free":2.5}},
             {"name":"job","cat":"net","ph":"b","ts":60,"pid":1,"tid":2,"id":"0x7"},
             {"name":"step","cat":"net","ph":"n","ts":61,"pid":1,"tid":2,"id":"0x7"},
             {"name":"job","cat":"net","ph":"e","ts":62,"pid":1,"tid":2,"id":"0x7"},
             {"name":"arrow","cat":"f","ph":"s","ts":70,"pid":1,"tid":2,"id":3},
             {"name":"arrow","cat":"f","ph":"f","ts":71,"pid":1,"tid":2,"id":3},
            """;

    /** Chrome trace JSON as an object, with samples and stack frames. */
    public static final String CHROME_OBJECT =
            """
            {"displayTimeUnit":"ms","otherData":{"version":"1"},"traceEvents":[
             {"name":"now","ph":"I","ts":1,"pid":1,"tid":2,"sf":"5"}],
             "stackFrames":{"5":{"name":"main","category":"app"},
               "7":{"name":"leaf","category":"lib","parent":"5"}},
             "samples":[{"cpu":3,"tid":2,"ts":4,"name":"cycles","sf":7,"weight":9}]}
            """;

    /** speedscope, one profile of each type. */
    public static final String SPEEDSCOPE =
            """
            {"$schema":"https://www.speedscope.app/file-format-schema.json",
             "shared":{"frames":[{"name":"main","file":"a.c"},{"name":"leaf"}]},
             "profiles":[
              {"type":"evented","name":"one","unit":"milliseconds","startValue":0,"endValue":3,
               "events":[{"type":"O","frame":0,"at":0},{"type":"O","frame":1,"at":1},
                {"type":"C","frame":1,"at":2.5},{"type":"C","frame":0,"at":3}]},
              {"type":"sampled","name":"two","unit":"microseconds","startValue":5,"endValue":12,
               "samples":[[0,1],[0]],"weights":[3,4]}]}
            """;

    /** A processed profile of version 30: tables in the thread, absolute times. */
    public static final String FIREFOX =
            """
            {"meta":{"preprocessedProfileVersion":30,"product":"app","interval":1,
              "categories":[{"name":"Other"},{"name":"Idle"}]},
             "libs":[],
             "threads":[{"name":"main","pid":5,"tid":6,"registerTime":0,
              "stringArray":["main","leaf","libx","mark"],
              "resourceTable":{"length":1,"lib":[0],"name":[2],"host":[null],"type":[1]},
              "funcTable":{"length":2,"name":[0,1],"isJS":[false,true],"resource":[0,-1]},
              "frameTable":{"length":2,"address":[-1,-1],"func":[0,1]},
              "stackTable":{"length":2,"frame":[0,1],"prefix":[null,0]},
              "samples":{"length":3,"stack":[1,null,0],"time":[1,2,3.5],"weight":null,
               "weightType":"samples"},
              "markers":{"length":2,"name":[3,3],"category":[1,0],"phase":[1,0],
               "startTime":[1,2],"endTime":[1.5,null],
               "data":[{"type":"Text"},{"type":"X","cause":{"stack":0}}]}}],
             "counters":[{"name":"malloc","pid":"5","sampleGroups":[{"id":0,
              "samples":{"length":2,"time":[1,2],"count":[100,-40],"number":[1,1]}}]}]}
            """;

    /** A processed profile of version 66: shared tables, differences of times. */
    public static final String FIREFOX_SHARED =
            """
            {"meta":{"preprocessedProfileVersion":66,"product":"app","categories":[]},
             "shared":{"stringArray":["main","leaf"],
              "resourceTable":{"length":0,"name":[]},
              "funcTable":{"length":2,"name":[0,1],"isJS":[false,false],"resource":[-1,-1]},
              "frameTable":{"length":2,"func":[0,1]},
              "stackTable":{"length":2,"frame":[0,1],"prefixOffset":[0,1]}},
             "threads":[{"name":"main","pid":"5","tid":6,
              "samples":{"length":2,"stack":[1,0],"timeDeltas":[1,2],"weight":[1.5,2],
               "weightType":"tracing-ms"},
              "markers":{"length":0,"name":[],"data":[]}}],
             "counters":[{"name":"cpu","pid":"5","samples":{"length":2,"timeDeltas":[1,1],
              "count":[3,4]}}]}
            """;

    /** callgrind.out with compressed names and positions, a call. */
    public static final String CALLGRIND =
            """
            # callgrind format
            version: 1
            creator: callgrind-3.19.0
            pid: 12
            cmd: ./a.out
            positions: line
            events: Ir Dr

            ob=(1) /bin/a.out
            fl=(1) a.c
            fn=(1) main
            16 10 2
            +1 5
            cfn=(2) leaf
            calls=3 20
            * 30 6
            fn=(2)
            20 30 6

            totals: 45 8
            """;

    /** massif.out with an empty and a detailed snapshot. */
    public static final String MASSIF =
            """
            desc: --x
            cmd: ./a.out
            time_unit: ms
            #-----------
            snapshot=0
            #-----------
            time=0
            mem_heap_B=0
            mem_heap_extra_B=0
            mem_stacks_B=0
            heap_tree=empty
            #-----------
            snapshot=1
            #-----------
            time=5
            mem_heap_B=300
            mem_heap_extra_B=8
            mem_stacks_B=0
            heap_tree=peak
            n2: 300 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.
             n1: 200 0x1149: grab (a.c:2)
              n0: 200 0x1180: main (a.c:4)
             n0: 100 in 1 place, below massif's threshold (1.00%)
            """;

    /** heaptrack, version 3 of the file. */
    public static final String HEAPTRACK =
            """
            v 10400 3
            X ./a.out
            I 1000 5e298d
            s 6 /bin/a
            s 4 grab
            s 4 main
            s 3 a.c
            i 1149 1 2 4 2
            i 1180 1 3 4 4
            t 2 0
            t 1 1
            a 3e8 2
            c 1
            + 0
            c a
            + 0
            - 0
            R 10
            # strings: 4
            """;
}
