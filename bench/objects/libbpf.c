/* Loads an object with libbpf and attaches every program: the peer of `sonde bpf load --attach`. */
#include <bpf/libbpf.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    struct bpf_object *object = argc > 1 ? bpf_object__open_file(argv[1], NULL) : NULL;
    struct bpf_program *program;

    if (!object || bpf_object__load(object))
        return 1;
    bpf_object__for_each_program(program, object) {
        if (!bpf_program__attach(program)) {
            perror(bpf_program__name(program));
            return 2;
        }
    }
    return 0;
}
