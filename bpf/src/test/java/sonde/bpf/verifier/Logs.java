package sonde.bpf.verifier;

import java.util.List;

/** Logs as kernels write them, put together by hand. */
final class Logs {
    /** Linux 6.1, level 1: a lookup that is not checked, after a branch that was put off. */
    static final String V6_1 =
            """
            0: R1=ctx(off=0,imm=0) R10=fp0
            ; int key = ctx->len;
            0: (61) r6 = *(u32 *)(r1 +0)          ; R1=ctx(off=0,imm=0) R6_w=scalar(umax=4294967295,var_off=(0x0; 0xffffffff))
            ; if (key > 10)
            1: (25) if r6 > 0xa goto pc+2         ; R6_w=scalar(umax=10,var_off=(0x0; 0xf))
            ; return 0;
            2: (b7) r0 = 0                        ; R0_w=0
            3: (95) exit

            from 1 to 4: R1=ctx(off=0,imm=0) R6_w=scalar(umin=11,umax=4294967295,var_off=(0x0; 0xffffffff)) R10=fp0
            ; *value += 1;
            4: (63) *(u32 *)(r10 -4) = r6         ; R6_w=scalar(umin=11) R10=fp0 fp-8=????mmmm
            5: (bf) r2 = r10                      ; R2_w=fp0 R10=fp0
            6: (07) r2 += -4                      ; R2_w=fp-4
            7: (18) r1 = 0xffff9d3a01c8f400       ; R1_w=map_ptr(off=0,ks=4,vs=8,imm=0)
            9: (85) call bpf_map_lookup_elem#1    ; R0_w=map_value_or_null(id=2,off=0,ks=4,vs=8,imm=0)
            10: (bf) r7 = r0                      ; R0_w=map_value_or_null(id=2,off=0,ks=4,vs=8,imm=0) R7_w=map_value_or_null(id=2,off=0,ks=4,vs=8,imm=0)
            11: (7b) *(u64 *)(r10 -16) = r7       ; R7_w=map_value_or_null(id=2,off=0,ks=4,vs=8,imm=0) R10=fp0 fp-16_w=map_value_or_null
            12: (79) r3 = *(u64 *)(r10 -16)       ; R3_w=map_value_or_null(id=2,off=0,ks=4,vs=8,imm=0) R10=fp0
            13: (79) r4 = *(u64 *)(r3 +0)
            R3 invalid mem access 'map_value_or_null'
            processed 14 insns (limit 1000000) max_states_per_insn 0 total_states 2 peak_states 2 mark_read 1
            """;

    /** Linux 6.12, level 2 with statistics: precision marks, live registers, states in between. */
    static final String V6_12 =
            """
            func#0 @0
            0: R1=ctx() R10=fp0
            ; int at = ctx->len & 255; @ sum.bpf.c:9
            0: (61) r3 = *(u32 *)(r1 +0)          ; R1=ctx() R3_w=scalar(smin=0,smax=umax=0xffffffff,var_off=(0x0; 0xffffffff))
            1: (57) r3 &= 255                     ; R3_w=scalar(smin=smin32=0,smax=umax=smax32=umax32=255,var_off=(0x0; 0xff))
            ; return table[at]; @ sum.bpf.c:10
            2: (18) r2 = 0xffff9d3a01c8f510       ; R2_w=map_value(map=table,ks=4,vs=16)
            4: (0f) r2 += r3
            mark_precise: frame0: last_idx 4 first_idx 0 subseq_idx -1
            mark_precise: frame0: regs=r3 stack= before 2: (18) r2 = 0xffff9d3a01c8f510
            mark_precise: frame0: regs=r3 stack= before 1: (57) r3 &= 255
            5: R2_w=map_value(map=table,ks=4,vs=16,smin=smin32=0,smax=umax=smax32=umax32=255,var_off=(0x0; 0xff)) R3_w=scalar(smin=smin32=0,smax=umax=smax32=umax32=255,var_off=(0x0; 0xff))
            5: (71) r0 = *(u8 *)(r2 +0)
            invalid access to map value, value_size=16 off=255 size=1
            R2 max value is outside of the allowed memory range
            verification time 153 usec
            stack depth 8+0+16
            processed 5 insns (limit 1000000) max_states_per_insn 1 total_states 3 peak_states 2 mark_read 0
            """;

    /** Linux 7.3: the verifier's own report, of a message that is not known here. */
    static final String V7_3 =
            """
            0: R1=ctx() R10=fp0
            ; value = next(it); @ walk.bpf.c:21
            0: (b7) r6 = 3                        ; R6=3
            1: (15) if r1 == 0x0 goto pc+1        ; R1=ctx()
            2: (79) r0 = *(u64 *)(r6 +8)
            R6 is quite impossible here

            Verification failed: Register Type Safety: Invalid dereference

            Reason:
              R6 is an integer scalar here, not a pointer
              to memory.

            At:
              walk @ walk.bpf.c:21:9
              Source context:
                  20 | it = start();
              >>> 21 | value = next(it);
                     | ^-- error: invalid dereference of R6 (an integer scalar)
              Instruction context:
                  1 | (15) if r1 == 0x0 goto pc+1
              >>> 2 | (79) r0 = *(u64 *)(r6 +8)

            Causal path:
              walk @ walk.bpf.c:21:9
              Source context:
              >>> 21 | value = next(it);
                     | ^-- update: R6 changed from uninitialized value to
                     |     integer scalar value 3
              Instruction context:
              >>> 0 | (b7) r6 = 3
                  1 | (15) if r1 == 0x0 goto pc+1

              insn 1
                    | ^-- branch: took the false branch of this conditional, goto not followed
              Instruction context:
              >>> 1 | (15) if r1 == 0x0 goto pc+1

            Suggestion:
              Preserve a pointer-valued register where needed.

            processed 3 insns (limit 1000000) max_states_per_insn 0 total_states 0 peak_states 0 mark_read 0
            """;

    /** All of them. */
    static final List<String> ALL = List.of(V6_1, V6_12, V7_3);

    private Logs() {}
}
