/* A message of 64 bytes there and back over a Unix domain socket, between two processes that sleep while they wait.
 *
 * round-trip NANOSECONDS: prints a line "LATENCY COUNT" for each latency in steps of 100 ns.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BYTES 64
#define STEP 100
#define STEPS 100000

static uint32_t counts[STEPS];

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int moved(ssize_t (*move)(int, void *, size_t), int socket, char *bytes) {
  size_t done = 0;
  while (done < BYTES) {
    ssize_t more = move(socket, bytes + done, BYTES - done);
    if (more <= 0) {
      return 0;
    }
    done += (size_t)more;
  }
  return 1;
}

static ssize_t sent(int socket, void *bytes, size_t length) { return write(socket, bytes, length); }

int main(int count, char **arguments) {
  int ends[2];
  char bytes[BYTES] = {0};
  if (count != 2 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
    return 2;
  }
  if (fork() == 0) {
    close(ends[0]);
    while (moved(read, ends[1], bytes) && moved(sent, ends[1], bytes)) {
    }
    return 0;
  }
  close(ends[1]);
  int64_t end = now() + atoll(arguments[1]);
  for (int64_t began = now(); began < end;) {
    if (!moved(sent, ends[0], bytes) || !moved(read, ends[0], bytes)) {
      return 1;
    }
    int64_t done = now();
    int64_t step = (done - began) / STEP;
    counts[step < STEPS ? step : STEPS - 1]++;
    began = done;
  }
  for (int i = 0; i < STEPS; i++) {
    if (counts[i] > 0) {
      printf("%d %u\n", i * STEP, counts[i]);
    }
  }
  return 0;
}
