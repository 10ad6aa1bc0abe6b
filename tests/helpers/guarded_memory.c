/* Memory of which the byte behind the last one, and all of a page, may not be touched. */
#define _DEFAULT_SOURCE
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

void *__wrap_calloc(size_t items, size_t size);
void *__wrap_calloc(size_t items, size_t size) {
    size_t page = sysconf(_SC_PAGESIZE), needed = items * size;
    size_t room = (needed + page - 1) / page * page;
    char *memory = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + room, page, PROT_NONE))
        return NULL;
    return memory + room - needed;
}
