/* Calls of many families, also with bad arguments; what they return does not matter. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <time.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/mman.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/msg.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/resource.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/seccomp.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/mount.h>
#include <linux/landlock.h>
#include <linux/fs.h>
#include <linux/aio_abi.h>
#include <mqueue.h>
#define S(...) syscall(__VA_ARGS__)
int main(void) {
    static char buf[4096];
    void *bad = (void*)0x123;
    S(__NR_adjtimex, NULL);
    S(__NR_add_key, "user", "sonde", "pay", 3, KEY_SPEC_PROCESS_KEYRING);
    S(__NR_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_PROCESS_KEYRING, 0);
    S(__NR_keyctl, KEYCTL_READ, 1, buf, 10);
    S(__NR_keyctl, KEYCTL_DESCRIBE, KEY_SPEC_PROCESS_KEYRING, buf, 100);
    S(__NR_keyctl, KEYCTL_REVOKE, 1);
    S(__NR_keyctl, KEYCTL_SEARCH, KEY_SPEC_PROCESS_KEYRING, "user", "none", 0);
    S(__NR_request_key, "user", "nokey", "info", KEY_SPEC_SESSION_KEYRING);
    union bpf_attr a;
    memset(&a,0,sizeof a);
    a.map_type=BPF_MAP_TYPE_ARRAY;
    a.key_size=4;
    a.value_size=8;
    a.max_entries=1;
    strcpy(a.map_name,"test");
    int m=S(__NR_bpf, BPF_MAP_CREATE, &a, 72);
    S(__NR_bpf, BPF_MAP_CREATE, &a, sizeof a);
    S(__NR_bpf, 1000, &a, 8);
    S(__NR_bpf, BPF_PROG_LOAD, bad, 48);
    struct perf_event_attr p;
    memset(&p,0,sizeof p);
    p.type=PERF_TYPE_SOFTWARE;
    p.size=sizeof p;
    p.config=PERF_COUNT_SW_CPU_CLOCK;
    p.disabled=1;
    S(__NR_perf_event_open, &p, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    S(__NR_perf_event_open, bad, 0, -1, -1, 0);
    struct io_uring_params q;
    memset(&q,0,sizeof q);
    int ring=S(__NR_io_uring_setup, 4, &q);
    S(__NR_io_uring_enter, ring, 0, 0, IORING_ENTER_GETEVENTS, NULL, 8);
    S(__NR_io_uring_register, ring, IORING_REGISTER_EVENTFD, &ring, 1);
    prctl(PR_GET_SECCOMP);
    prctl(PR_SET_TIMERSLACK, 5000);
    prctl(PR_GET_TIMERSLACK);
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, 1,0,0);
    prctl(PR_SET_VMA,0,0,0,0);
    prctl(PR_GET_NO_NEW_PRIVS,0,0,0,0);
    int sr;
    prctl(PR_GET_CHILD_SUBREAPER,&sr);
    prctl(PR_GET_PDEATHSIG,&sr);
    prctl(PR_GET_SECUREBITS);
    prctl(PR_SET_SECUREBITS, 0);
    prctl(PR_GET_TSC,&sr);
    prctl(PR_GET_THP_DISABLE,0,0,0,0);
    prctl(PR_SET_THP_DISABLE,0,0,0,0);
    prctl(PR_SET_PTRACER, -1);
    prctl(1234, 1,2,3,4);
    prctl(PR_MCE_KILL_GET,0,0,0,0);
    prctl(PR_GET_SPECULATION_CTRL,0,0,0,0);
    ptrace(PTRACE_TRACEME+100,1,2,3);
    ptrace(PTRACE_CONT, 99999999, 0, SIGTERM);
    ptrace(PTRACE_SEIZE, 99999999, 0, PTRACE_O_TRACEFORK|PTRACE_O_EXITKILL);
    ptrace(PTRACE_ATTACH, 99999999,0,0);
    ptrace(PTRACE_PEEKDATA, 99999999, 8, 0);
    ptrace(PTRACE_GETREGS, 99999999, 0, buf);
    ptrace(PTRACE_DETACH, 99999999,0,0);
    ptrace(PTRACE_SETOPTIONS, 99999999, 0, PTRACE_O_TRACESYSGOOD);
    ptrace(PTRACE_KILL, 99999999,0,0);
    unsigned act=SECCOMP_RET_KILL;
    S(__NR_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &act);
    S(__NR_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL);
    struct sock_filter f[]={BPF_STMT(BPF_LD|BPF_W|BPF_ABS,0),BPF_JUMP(BPF_JMP|BPF_JEQ|BPF_K,9999,0,1),BPF_STMT(BPF_RET|BPF_K,SECCOMP_RET_ERRNO|1),BPF_STMT(BPF_RET|BPF_K,SECCOMP_RET_ALLOW)};
    struct sock_fprog fp={4,f};
    S(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &fp);
    prctl(PR_SET_NO_NEW_PRIVS,1,0,0,0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &fp);
    unsigned fu=0;
    struct timespec ts={0,1};
    S(__NR_futex,&fu,FUTEX_WAIT,1,&ts,0,0);
    S(__NR_futex,&fu,FUTEX_WAKE_OP,1,1,&fu,FUTEX_OP(FUTEX_OP_SET,1,FUTEX_OP_CMP_EQ,0));
    S(__NR_futex,&fu,FUTEX_CMP_REQUEUE,1,2,&fu,0);
    S(__NR_futex,&fu,FUTEX_TRYLOCK_PI,0,0,0,0);
    S(__NR_futex,&fu,FUTEX_UNLOCK_PI,0,0,0,0);
    S(__NR_futex,&fu,77,0,0,0,0);
    S(__NR_futex, &fu, FUTEX_WAIT_BITSET|FUTEX_CLOCK_REALTIME, 1, NULL, NULL, 3);
    S(__NR_futex_waitv, bad, 1, 0, &ts, 0);
    S(__NR_fsopen,"tmpfs",FSOPEN_CLOEXEC);
    int fs=S(__NR_fsopen,"tmpfs",0);
    S(__NR_fsconfig,fs,FSCONFIG_SET_STRING,"size","1m",0);
    S(__NR_fsconfig,fs,FSCONFIG_SET_FLAG,"ro",NULL,0);
    S(__NR_fsconfig,fs,FSCONFIG_SET_BINARY,"bin","\1\2",2);
    S(__NR_fsconfig,fs,FSCONFIG_SET_FD,"fd",NULL,1);
    S(__NR_fsconfig,fs,FSCONFIG_CMD_CREATE,NULL,NULL,0);
    int mn=S(__NR_fsmount,fs,0,MOUNT_ATTR_NOSUID|MOUNT_ATTR_RDONLY);
    S(__NR_move_mount,mn,"",AT_FDCWD,"/nonexist",MOVE_MOUNT_F_EMPTY_PATH);
    S(__NR_open_tree,AT_FDCWD,"/nonexist",OPEN_TREE_CLOEXEC|AT_RECURSIVE);
    S(__NR_fspick,AT_FDCWD,"/nonexist",FSPICK_CLOEXEC);
    struct mount_attr ma={.attr_set=MOUNT_ATTR_RDONLY};
    S(__NR_mount_setattr,AT_FDCWD,"/nonexist",AT_RECURSIVE,&ma,sizeof ma);
    struct landlock_ruleset_attr la={.handled_access_fs=LANDLOCK_ACCESS_FS_EXECUTE|LANDLOCK_ACCESS_FS_READ_FILE};
    int ll=S(__NR_landlock_create_ruleset,&la,sizeof la,0);
    S(__NR_landlock_create_ruleset,NULL,0,LANDLOCK_CREATE_RULESET_VERSION);
    struct landlock_path_beneath_attr lb={LANDLOCK_ACCESS_FS_EXECUTE,1};
    S(__NR_landlock_add_rule,ll,LANDLOCK_RULE_PATH_BENEATH,&lb,0);
    S(__NR_landlock_restrict_self,-1,0);
    S(__NR_openat2, AT_FDCWD, "/etc/hostname", &(struct {uint64_t f,m,r;}){O_RDONLY|O_CLOEXEC,0,8}, 24);
    S(__NR_faccessat2, AT_FDCWD, "/etc", R_OK, AT_EACCESS);
    S(__NR_name_to_handle_at, AT_FDCWD, "/etc/hostname", bad, bad, 0);
    struct iovec l={buf,4}, r={buf+10,4};
    S(__NR_process_vm_readv,getpid(),&l,1,&r,1,0);
    S(__NR_process_vm_writev,getpid(),&l,1,&r,1,0);
    int s=semget(IPC_PRIVATE,1,IPC_CREAT|0600);
    semctl(s,0,SETVAL,1);
    struct sembuf sb={0,-1,SEM_UNDO|IPC_NOWAIT};
    semop(s,&sb,1);
    semtimedop(s,&sb,1,&ts);
    semctl(s,0,GETVAL);
    semctl(s,0,IPC_RMID);
    int h=shmget(IPC_PRIVATE,4096,IPC_CREAT|0600);
    void*sm=shmat(h,NULL,SHM_RDONLY);
    shmdt(sm);
    struct shmid_ds sd;
    shmctl(h,IPC_RMID,NULL);
    int mq=msgget(IPC_PRIVATE,IPC_CREAT|0600);
    struct {long t; char b[8];} mb={7,"hello"};
    msgsnd(mq,&mb,6,IPC_NOWAIT);
    msgrcv(mq,&mb,8,0,IPC_NOWAIT|MSG_NOERROR);
    msgctl(mq,IPC_RMID,NULL);
    S(__NR_sched_getattr,0,buf,48,0);
    S(__NR_sched_rr_get_interval,0,&ts);
    struct sched_param sp={0};
    S(__NR_sched_setparam,0,&sp);
    struct sigevent se;
    memset(&se,0,sizeof se);
    se.sigev_notify=SIGEV_SIGNAL;
    se.sigev_signo=SIGUSR1;
    int t;
    S(__NR_timer_create,CLOCK_MONOTONIC,&se,&t);
    S(__NR_timer_getoverrun,t);
    S(__NR_timer_create,CLOCK_REALTIME,NULL,&t);
    S(__NR_utimes,"/nonexist",NULL);
    struct timeval tv[2]={{1,2},{3,4}};
    S(__NR_utimes,"/nonexist",tv);
    S(__NR_utime,"/nonexist",NULL);
    S(__NR_futimesat,AT_FDCWD,"/nonexist",tv);
    S(__NR_mq_open,"nonexist",O_RDONLY);
    S(__NR_mq_unlink,"nonexist");
    S(__NR_process_madvise,-1,&l,1,MADV_COLD,0);
    S(__NR_pidfd_getfd,-1,3,0);
    S(__NR_kcmp,getpid(),getpid(),0,1,2);
    S(__NR_process_mrelease,-1,0);
    S(__NR_memfd_secret,0);
    S(__NR_userfaultfd,O_CLOEXEC);
    S(__NR_swapon,"/nonexist",0);
    S(__NR_ustat,1,bad);
    S(__NR_sysfs,3);
    S(__NR_syslog,10,NULL,0);
    S(__NR_vmsplice,1,&l,1,SPLICE_F_NONBLOCK);
    S(__NR_mbind,sm,4096,2,NULL,0,0);
    S(__NR_set_mempolicy,0,NULL,0);
    S(__NR_move_pages,0,0,NULL,NULL,NULL,0);
    S(__NR_migrate_pages,0,0,NULL,NULL);
    int pk=S(__NR_pkey_alloc,0,0);
    S(__NR_pkey_free,pk);
    S(__NR_pkey_mprotect,sm,4096,PROT_READ,-1);
    S(__NR_remap_file_pages,sm,4096,0,0,0);
    S(__NR_ioprio_get,1,0);
    S(__NR_ioprio_set,1,0,0x4004);
    S(__NR_iopl,0);
    S(__NR_ioperm,0x80,1,0);
    S(__NR_fanotify_init,0,O_RDONLY);
    aio_context_t ctx=0;
    S(__NR_io_setup,1,&ctx);
    S(__NR_io_destroy,ctx);
    S(__NR_setdomainname,"x",0xffffffffUL);
    S(__NR_fremovexattr,0,"user.x");
    S(__NR_lremovexattr,"/nonexist","user.x");
    S(__NR_delete_module,"nonexist",O_NONBLOCK);
    S(__NR_finit_module,-1,"",0);
    S(__NR_init_module,bad,1,"");
    S(__NR_kexec_load,0,0,NULL,0xffff);
    S(__NR_quotactl,0x80000700,"/nonexist",0,NULL);
    S(__NR_reboot,0,0,0,0);
    S(__NR_uselib,"/nonexist");
    S(__NR_getdents,-1,buf,100);
    S(__NR_eventfd,1);
    S(__NR_signalfd,-1,buf,8);
    S(__NR_modify_ldt,0,buf,16);
    S(__NR_get_thread_area,buf);
    S(__NR_set_mempolicy_home_node,0,0,0,0);
    S(__NR_lookup_dcookie,0LL,buf,10);
    S(__NR_io_getevents,ctx,1,1,buf,&ts);
    S(__NR_sched_setattr,0,bad,0);
    S(__NR_membarrier,0,0,0);
    S(450+50,1,2,3,4,5,6);
    return 0;
}
