/* Interposer.c - stands between a program and libc (LD_PRELOAD): it lets chosen
 * calls fail, counts calls, and logs what changes a directory.
 *
 *   TESSERA_FAULT=write:7:ENOSPC    the 7th call of `write` fails
 *   TESSERA_FAULT=write:7+:ENOSPC   so do all that follow
 *   TESSERA_FAULT=recv:7:short      it does half of what was asked
 *   TESSERA_FAULT_REPORT=FILE       gets "fired" when the call fails, and in
 * the end a line "FUNCTION CALLS" per function TESSERA_FAULT_LOG=FILE gets a
 * line per change below the directory TESSERA_FAULT_ROOT=DIRECTORY    of this
 * name (PowerLoss.h reads them)
 *
 * Nothing counts before the program calls tessera_arm_faults. Calls on files 0
 * to 2 are left alone: with them the program says how it went. What libc calls
 * inside itself does not come by. `malloc` stands for all functions that
 * allocate, of which only calls by Tessera and libstdc++ count. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum function {
  WRITE,
  PWRITE,
  PREAD,
  FSYNC,
  RENAME,
  OPEN,
  MKDIR,
  MMAP,
  MALLOC,
  PTHREAD_CREATE,
  SEND,
  RECV,
  FUNCTIONS
};
static const char *const names[FUNCTIONS] = {
    "write", "pwrite", "pread",  "fsync",          "rename", "open",
    "mkdir", "mmap",   "malloc", "pthread_create", "send",   "recv"};

static const struct {
  const char *name;
  int number;
} errors[] = {
    {"ENOSPC", ENOSPC}, {"EIO", EIO},       {"ENOMEM", ENOMEM},
    {"EAGAIN", EAGAIN}, {"EINTR", EINTR},   {"ECONNRESET", ECONNRESET},
    {"EMFILE", EMFILE}, {"EACCES", EACCES}, {"EPIPE", EPIPE}};

static atomic_int armed;
static atomic_long calls[FUNCTIONS];
static int chosen = -1, failure, is_short, is_lasting;
static long first;
static int report_file = -1, log_file = -1;
static char root[4096];
static size_t root_length;

/* ---- what the environment asks for -------------------------------------- */

static void die(const char *why) {
  dprintf(2, "interposer: %s\n", why);
  _exit(99);
}

static void parse_fault(const char *text) {
  char function[32], error[32];
  if (sscanf(text, "%31[^:]:%ld", function, &first) != 2)
    die("TESSERA_FAULT is not FUNCTION:N:ERROR");
  const char *last = strrchr(text, ':');
  is_lasting = last[-1] == '+';
  snprintf(error, sizeof error, "%s", last + 1);
  is_short = strcmp(error, "short") == 0;
  for (size_t i = 0; i < sizeof errors / sizeof *errors; ++i)
    if (strcmp(error, errors[i].name) == 0)
      failure = errors[i].number;
  for (int i = 0; i < FUNCTIONS; ++i)
    if (strcmp(function, names[i]) == 0)
      chosen = i;
  if (chosen < 0 || (!failure && !is_short))
    die("TESSERA_FAULT names an unknown function or error");
}

static int open_output(const char *variable) {
  const char *path = getenv(variable);
  if (!path)
    return -1;
  int file = (int)syscall(SYS_openat, AT_FDCWD, path,
                          O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0)
    die("cannot open an output");
  return file;
}

/* The code of the program, of Tessera and of libstdc++, which allocates for its
 * callers. Other libraries may end the process for want of memory, as libc does
 * while it reads nsswitch.conf. */
static struct { uintptr_t begin, end; } ours[16];
static size_t our_count;

static int note_ours(struct dl_phdr_info *object, size_t size, void *unused) {
  const char *name = object->dlpi_name; /* "" is the program */
  if (name[0] && !strstr(name, "/libtessera_runtime.so") &&
      !strstr(name, "/libstdc++.so"))
    return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
      continue;
    if (our_count == sizeof ours / sizeof *ours)
      die("too many parts of code");
    ours[our_count].begin = object->dlpi_addr + part->p_vaddr;
    ours[our_count].end = ours[our_count].begin + part->p_memsz;
    ++our_count;
  }
  return 0;
}

EXPORT void tessera_arm_faults(void) {
  const char *fault = getenv("TESSERA_FAULT");
  const char *directory = getenv("TESSERA_FAULT_ROOT");
  if (fault)
    parse_fault(fault);
  report_file = open_output("TESSERA_FAULT_REPORT");
  log_file = open_output("TESSERA_FAULT_LOG");
  if (directory)
    root_length = (size_t)snprintf(root, sizeof root, "%s/", directory);
  dl_iterate_phdr(note_ours, NULL);
  armed = 1;
}

__attribute__((destructor)) static void report_calls(void) {
  char line[64];
  armed = 0;
  for (int i = 0; report_file >= 0 && i < FUNCTIONS; ++i) {
    int length = snprintf(line, sizeof line, "%s %ld\n", names[i],
                          atomic_load(&calls[i]));
    syscall(SYS_write, report_file, line, length);
  }
}

/* Returns 1 if this call is to fail, with errno; a call that is to be short
 * says so by *bytes. */
static int fails(enum function function, size_t *bytes) {
  if (!armed)
    return 0;
  long number = atomic_fetch_add(&calls[function], 1) + 1;
  if ((int)function != chosen ||
      (is_lasting ? number < first : number != first))
    return 0;
  if (number == first && report_file >= 0)
    syscall(SYS_write, report_file, "fired\n", 6);
  if (is_short) {
    if (bytes && *bytes > 1)
      *bytes /= 2;
    return 0;
  }
  errno = failure;
  return 1;
}

/* ---- the log: one line per change below the root ------------------------- */

static pthread_mutex_t log_mutex = PTHREAD_MUTEX_INITIALIZER;

/* The path below the root; NULL if the file is elsewhere. */
static const char *below_root(const char *path) {
  if (root_length == 0 || !armed)
    return NULL;
  if (strncmp(path, root, root_length) == 0)
    return path + root_length;
  int is_root = strlen(path) == root_length - 1 &&
                strncmp(path, root, root_length - 1) == 0;
  return is_root ? "." : NULL;
}

static const char *path_of(int file, char *buffer, size_t size) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, buffer, size - 1);
  buffer[length > 0 ? length : 0] = 0;
  return below_root(buffer);
}

/* The path of `name` in an open directory. */
static const char *path_at(int directory, const char *name, char *buffer,
                           size_t size) {
  char parent[4096];
  if (name[0] == '/' || directory == AT_FDCWD)
    snprintf(buffer, size, "%s", name);
  else {
    path_of(directory, parent, sizeof parent);
    snprintf(buffer, size, "%s/%s", parent, name);
  }
  return below_root(buffer);
}

static void log_line(const char *format, ...) {
  char line[9000];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  syscall(SYS_write, log_file, line, length);
}

static void log_data(const char *path, off_t offset, const void *data,
                     ssize_t count) {
  char hex[1025];
  const unsigned char *bytes = data;
  pthread_mutex_lock(&log_mutex);
  for (ssize_t at = 0; at < count; at += 512) {
    ssize_t part = count - at < 512 ? count - at : 512;
    for (ssize_t i = 0; i < part; ++i)
      sprintf(hex + 2 * i, "%02x", bytes[at + i]);
    log_line("write %s %ld %s\n", path, (long)(offset + at), hex);
  }
  pthread_mutex_unlock(&log_mutex);
}

static void log_written(int file, off_t offset, const void *data,
                        ssize_t count) {
  char buffer[4096];
  int saved = errno;
  if (log_file < 0 || count <= 0)
    return;
  if (file == 1)
    log_line("says %.*s", (int)count, (const char *)data);
  const char *path = file > 2 ? path_of(file, buffer, sizeof buffer) : NULL;
  if (path && offset < 0)
    offset = lseek(file, 0, SEEK_CUR) - count;
  if (path)
    log_data(path, offset, data, count);
  errno = saved;
}

static void log_change(const char *what, const char *path, const char *other) {
  int saved = errno;
  if (log_file >= 0 && path)
    log_line("%s %s %s\n", what, path, other ? other : "");
  errno = saved;
}

/* ---- files ----------------------------------------------------------------
 */

EXPORT ssize_t write(int file, const void *data, size_t bytes) {
  if (file > 2 && fails(WRITE, &bytes))
    return -1;
  ssize_t done = syscall(SYS_write, file, data, bytes);
  log_written(file, -1, data, done);
  return done;
}

EXPORT ssize_t pwrite(int file, const void *data, size_t bytes, off_t offset) {
  if (fails(PWRITE, &bytes))
    return -1;
  ssize_t done = syscall(SYS_pwrite64, file, data, bytes, offset);
  log_written(file, offset, data, done);
  return done;
}

EXPORT ssize_t pread(int file, void *data, size_t bytes, off_t offset) {
  return fails(PREAD, &bytes) ? -1
                              : syscall(SYS_pread64, file, data, bytes, offset);
}

EXPORT int ftruncate(int file, off_t length) {
  char buffer[4096], size[32];
  int result = (int)syscall(SYS_ftruncate, file, length);
  snprintf(size, sizeof size, "%ld", (long)length);
  if (result == 0 && log_file >= 0)
    log_change("truncate", path_of(file, buffer, sizeof buffer), size);
  return result;
}

EXPORT int fsync(int file) {
  char buffer[4096];
  if (fails(FSYNC, NULL))
    return -1;
  int result = (int)syscall(SYS_fsync, file);
  if (result == 0 && log_file >= 0)
    log_change("sync", path_of(file, buffer, sizeof buffer), NULL);
  return result;
}

EXPORT int rename(const char *from, const char *to) {
  if (fails(RENAME, NULL))
    return -1;
  int result = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
  if (result == 0)
    log_change("rename", below_root(from), below_root(to));
  return result;
}

EXPORT int renameat2(int at, const char *from, int to_at, const char *to,
                     unsigned flags) {
  if (fails(RENAME, NULL))
    return -1;
  int result = (int)syscall(SYS_renameat2, at, from, to_at, to, flags);
  if (result == 0)
    log_change(flags & RENAME_EXCHANGE ? "exchange" : "rename",
               below_root(from), below_root(to));
  return result;
}

EXPORT int mkdir(const char *path, mode_t mode) {
  if (fails(MKDIR, NULL))
    return -1;
  int result = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
  if (result == 0)
    log_change("mkdir", below_root(path), NULL);
  return result;
}

EXPORT int unlinkat(int directory, const char *name, int flags) {
  char buffer[8300];
  int result = (int)syscall(SYS_unlinkat, directory, name, flags);
  if (result == 0 && log_file >= 0)
    log_change("remove", path_at(directory, name, buffer, sizeof buffer), NULL);
  return result;
}

EXPORT int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
EXPORT int rmdir(const char *path) {
  return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}
EXPORT int remove(const char *path) {
  int result = unlink(path);
  return result != 0 && errno == EISDIR ? rmdir(path) : result;
}

static int open_file(int directory, const char *path, int flags, mode_t mode) {
  char buffer[8300];
  if (fails(OPEN, NULL))
    return -1;
  int is_new = faccessat(directory, path, F_OK, 0) != 0;
  errno = 0;
  int file = (int)syscall(SYS_openat, directory, path, flags, mode);
  if (file >= 0 && log_file >= 0 && (flags & O_CREAT) && is_new)
    log_change("create", path_at(directory, path, buffer, sizeof buffer), NULL);
  else if (file >= 0 && log_file >= 0 && (flags & O_TRUNC))
    log_change("truncate", path_at(directory, path, buffer, sizeof buffer),
               "0");
  return file;
}

#define MODE_OF(flags)                                                         \
  va_list arguments;                                                           \
  va_start(arguments, flags);                                                  \
  mode_t mode =                                                                \
      (flags) & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;         \
  va_end(arguments);

EXPORT int open(const char *path, int flags, ...) {
  MODE_OF(flags)
  return open_file(AT_FDCWD, path, flags, mode);
}
EXPORT int openat(int directory, const char *path, int flags, ...) {
  MODE_OF(flags)
  return open_file(directory, path, flags, mode);
}

/* ---- memory and threads ---------------------------------------------------
 */

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *old, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);

/* Checked at every allocation, where dladdr would read whole symbol tables. */
static int is_ours(const void *caller) {
  for (size_t i = 0; i < our_count; ++i)
    if ((uintptr_t)caller >= ours[i].begin && (uintptr_t)caller < ours[i].end)
      return 1;
  return 0;
}

/* Decides by the caller of the function that asks. */
#define FAILS_TO_ALLOCATE                                                      \
  (armed && is_ours(__builtin_return_address(0)) && fails(MALLOC, NULL))

EXPORT void *malloc(size_t bytes) {
  return FAILS_TO_ALLOCATE ? NULL : __libc_malloc(bytes);
}
EXPORT void *calloc(size_t count, size_t bytes) {
  return FAILS_TO_ALLOCATE ? NULL : __libc_calloc(count, bytes);
}
EXPORT void *realloc(void *old, size_t bytes) {
  return FAILS_TO_ALLOCATE ? NULL : __libc_realloc(old, bytes);
}
EXPORT void *memalign(size_t alignment, size_t bytes) {
  return FAILS_TO_ALLOCATE ? NULL : __libc_memalign(alignment, bytes);
}
EXPORT void *aligned_alloc(size_t alignment, size_t bytes) {
  return FAILS_TO_ALLOCATE ? NULL : __libc_memalign(alignment, bytes);
}
EXPORT int posix_memalign(void **out, size_t alignment, size_t bytes) {
  void *memory = FAILS_TO_ALLOCATE ? NULL : __libc_memalign(alignment, bytes);
  if (!memory)
    return ENOMEM;
  *out = memory;
  return 0;
}

EXPORT void *mmap(void *at, size_t bytes, int protection, int flags, int file,
                  off_t offset) {
  if (fails(MMAP, NULL))
    return MAP_FAILED;
  return (void *)syscall(SYS_mmap, at, bytes, protection, flags, file, offset);
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*body)(void *), void *argument) {
  static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                     void *);
  if (fails(PTHREAD_CREATE, NULL))
    return failure;
  if (!real)
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
  return real(thread, attributes, body, argument);
}

/* ---- sockets --------------------------------------------------------------
 */

EXPORT ssize_t send(int socket, const void *data, size_t bytes, int flags) {
  return fails(SEND, &bytes)
             ? -1
             : syscall(SYS_sendto, socket, data, bytes, flags, NULL, 0);
}
EXPORT ssize_t recv(int socket, void *data, size_t bytes, int flags) {
  return fails(RECV, &bytes)
             ? -1
             : syscall(SYS_recvfrom, socket, data, bytes, flags, NULL, NULL);
}

/* The same for large files, which are all files here. */
#define SAME_AS(name) __attribute__((alias(#name))) EXPORT
ssize_t pwrite64(int, const void *, size_t, off64_t) SAME_AS(pwrite);
ssize_t pread64(int, void *, size_t, off64_t) SAME_AS(pread);
int ftruncate64(int, off64_t) SAME_AS(ftruncate);
int open64(const char *, int, ...) SAME_AS(open);
int openat64(int, const char *, int, ...) SAME_AS(openat);
void *mmap64(void *, size_t, int, int, int, off64_t) SAME_AS(mmap);
