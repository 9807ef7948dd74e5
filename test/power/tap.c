/*
 * Stands between a program and the disk: notes, in one order, every change that the program makes below TAP_FOLDER, every sync,
 * and every answer 2xx that leaves through a socket. On demand the nth operation of a kind fails, or the process dies before it.
 *
 *   TAP_FOLDER   the folder that is watched
 *   TAP_LOG      where notes go
 *   TAP_FAIL     KINDS:NTH:ERRNO   that one operation fails; KINDS:NTH:ERRNO:on   and every later one
 *   TAP_KILL     KINDS:NTH         SIGKILL before that one
 *
 * Where the environment says nothing of it, as in processes that the program starts, so does a file beside the library: LIBRARY.settings.
 *
 * A note: kind, length of the path, length of the data, position, path, data. Kinds: o made, w written, t truncated, s file
 * synced, d folder synced, u unlinked, r renamed (data: the new path), a answered (position: the port of the other side;
 * data: the process), x failed (data: the kind).
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define MOST_FILES 4096

struct trap { char kinds[16]; long nth, seen; int error, on; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *files[MOST_FILES];
static char folder[1024];
static int notes = -1;
static struct trap failing, killing;

/* The function of this name behind ours. */
#define REAL(name) ((__typeof__(name) *)real(#name))
static void *real(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (!found) abort();
  return found;
}

static void arm(struct trap *trap, const char *told) {
  char on[3] = "";
  if (told) trap->on = sscanf(told, "%15[^:]:%ld:%d:%2s", trap->kinds, &trap->nth, &trap->error, on) == 4;
}

/* Takes what stands in the file beside this library into the environment. */
static void read_settings(void) {
  Dl_info self;
  char name[1100], line[2200];
  if (!dladdr(&failing, &self)) return;
  snprintf(name, sizeof name, "%s.settings", self.dli_fname);
  FILE *file = fopen(name, "r");
  if (!file) return;
  while (fgets(line, sizeof line, file)) {
    char *value = strchr(line, '=');
    if (!value) continue;
    *value++ = 0;
    value[strcspn(value, "\n")] = 0;
    setenv(line, value, 1);
  }
  fclose(file);
}

__attribute__((constructor)) static void begin(void) {
  if (!getenv("TAP_FOLDER")) read_settings();
  const char *where = getenv("TAP_FOLDER"), *log = getenv("TAP_LOG");
  if (!where || !log) return;
  snprintf(folder, sizeof folder, "%s/", where);
  arm(&failing, getenv("TAP_FAIL"));
  arm(&killing, getenv("TAP_KILL"));
  notes = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/* A folder counts as what is in it; the shared memory of a WAL is made anew after every loss of power. */
static int watched(const char *path) {
  size_t length = path ? strlen(path) : 0, all = strlen(folder);
  if (notes < 0 || all == 0 || length + 1 < all || strncmp(path, folder, length < all ? all - 1 : all) != 0) return 0;
  return length < 4 || strcmp(path + length - 4, "-shm") != 0;
}

static const char *path_of(int fd) { return fd >= 0 && fd < MOST_FILES ? files[fd] : NULL; }

static void note(char kind, const char *path, int64_t at, const void *data, uint32_t size) {
  struct __attribute__((packed)) { char kind; uint16_t path; uint32_t size; int64_t at; } head;
  head.kind = kind;
  head.path = (uint16_t)strlen(path);
  head.size = size;
  head.at = at;
  struct iovec parts[3] = {{&head, sizeof head}, {(void *)path, head.path}, {(void *)data, size}};
  if (syscall(SYS_writev, notes, parts, 3) < 0) abort();
}

static int springs(struct trap *trap, char kind) {
  if (!strchr(trap->kinds, kind)) return 0;
  trap->seen += 1;
  return trap->seen == trap->nth || (trap->on && trap->seen > trap->nth);
}

/* Takes the lock; says whether the operation shall fail, with errno set. */
static int meets_fault(char kind, const char *path) {
  pthread_mutex_lock(&lock);
  if (springs(&killing, kind)) kill(getpid(), SIGKILL);
  if (!springs(&failing, kind)) return 0;
  note('x', path, failing.error, &kind, 1);
  pthread_mutex_unlock(&lock);
  errno = failing.error;
  return 1;
}

/* Notes what was done, and gives the lock back. */
#define DONE(result, ...)                                                                                              \
  do {                                                                                                                 \
    int kept = errno;                                                                                                  \
    if ((result) >= 0) note(__VA_ARGS__);                                                                              \
    pthread_mutex_unlock(&lock);                                                                                       \
    errno = kept;                                                                                                      \
    return result;                                                                                                     \
  } while (0)

static int opened(int fd, const char *path, int flags, int is_new) {
  int kept = errno;
  if (fd >= 0 && fd < MOST_FILES) {
    free(files[fd]);
    files[fd] = strdup(path);
    if (is_new) note('o', path, 0, "", 0);
    else if (flags & O_TRUNC) note('t', path, 0, "", 0);
  }
  pthread_mutex_unlock(&lock);
  errno = kept;
  return fd;
}

int open64(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = va_arg(more, mode_t);
  va_end(more);
  if (!watched(path)) return REAL(open64)(path, flags, mode);
  int is_new = (flags & O_CREAT) && access(path, F_OK) != 0;
  if (is_new) {
    if (meets_fault('o', path)) return -1;
  } else {
    pthread_mutex_lock(&lock);
  }
  return opened(REAL(open64)(path, flags, mode), path, flags, is_new);
}

int open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = va_arg(more, mode_t);
  va_end(more);
  return open64(path, flags, mode);
}

int close(int fd) {
  pthread_mutex_lock(&lock);
  if (path_of(fd)) {
    free(files[fd]);
    files[fd] = NULL;
  }
  pthread_mutex_unlock(&lock);
  return REAL(close)(fd);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
  const char *path = path_of(fd);
  if (!path) return REAL(pwrite64)(fd, data, size, at);
  if (meets_fault('w', path)) return -1;
  ssize_t written = REAL(pwrite64)(fd, data, size, at);
  DONE(written, 'w', path, at, data, (uint32_t)written);
}

/* The port of the other side, where this is an answer 2xx: deliveries are acknowledged so. */
static int port_answered(int fd, const void *data, size_t size) {
  struct sockaddr_in other;
  socklen_t length = sizeof other;
  if (notes < 0 || size < 12 || memcmp(data, "HTTP/1.1 2", 10) != 0) return -1;
  if (getpeername(fd, (struct sockaddr *)&other, &length) != 0 || other.sin_family != AF_INET) return -1;
  return ntohs(other.sin_port);
}

static ssize_t answer(int fd, int port, const struct iovec *parts, int count) {
  pthread_mutex_lock(&lock);
  if (springs(&killing, 'a')) kill(getpid(), SIGKILL);
  ssize_t written = REAL(writev)(fd, parts, count);
  int32_t process = getpid();
  DONE(written, 'a', "", port, &process, sizeof process);
}

ssize_t write(int fd, const void *data, size_t size) {
  const char *path = path_of(fd);
  if (!path) {
    int port = port_answered(fd, data, size);
    struct iovec whole = {(void *)data, size};
    return port < 0 ? REAL(write)(fd, data, size) : answer(fd, port, &whole, 1);
  }
  if (meets_fault('w', path)) return -1;
  off64_t at = fcntl(fd, F_GETFL) & O_APPEND ? lseek64(fd, 0, SEEK_END) : lseek64(fd, 0, SEEK_CUR);
  ssize_t written = REAL(write)(fd, data, size);
  DONE(written, 'w', path, at, data, (uint32_t)written);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  int port = count > 0 ? port_answered(fd, parts[0].iov_base, parts[0].iov_len) : -1;
  return port < 0 ? REAL(writev)(fd, parts, count) : answer(fd, port, parts, count);
}

int ftruncate64(int fd, off64_t size) {
  const char *path = path_of(fd);
  if (!path) return REAL(ftruncate64)(fd, size);
  if (meets_fault('t', path)) return -1;
  int done = REAL(ftruncate64)(fd, size);
  DONE(done, 't', path, size, "", 0);
}

int fsync(int fd) {
  const char *path = path_of(fd);
  struct stat about;
  if (!path) return REAL(fsync)(fd);
  if (meets_fault('s', path)) return -1;
  int done = REAL(fsync)(fd);
  DONE(done, fstat(fd, &about) == 0 && S_ISDIR(about.st_mode) ? 'd' : 's', path, 0, "", 0);
}

int fdatasync(int fd) { return fsync(fd); }

int unlink(const char *path) {
  if (!watched(path)) return REAL(unlink)(path);
  if (meets_fault('u', path)) return -1;
  int done = REAL(unlink)(path);
  DONE(done, 'u', path, 0, "", 0);
}

int rename(const char *from, const char *to) {
  if (!watched(from) && !watched(to)) return REAL(rename)(from, to);
  if (meets_fault('r', from)) return -1;
  int done = REAL(rename)(from, to);
  DONE(done, 'r', from, 0, to, (uint32_t)strlen(to));
}
