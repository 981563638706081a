/* outputs COMMANDS KNOWN: prints which shard-opt commands change their output, fast: libtpshard is
 * loaded and registered once, and each command runs in a fork. COMMANDS has one command per line,
 * with arguments separated by tabs. Prints at once the number of each command whose output has
 * another digest than its line in the file KNOWN; with '-' for KNOWN, prints all digests, one per
 * line.
 *
 * Lines about constants that bufferization made global are excluded, because upstream numbers them
 * in no fixed order. */
#include "tp/passes.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_ARGUMENTS = 64, MAX_COMMAND = 1 << 14, MAX_COMMANDS = 1 << 13, CPU_SECONDS = 20 };

/* Read completely, because a child that ends moves the position in a file that its parent reads. */
static char commands[MAX_COMMANDS][MAX_COMMAND];
static unsigned long long known[MAX_COMMANDS];

static int read_commands(const char *path) {
  FILE *file = fopen(path, "r");
  int n = 0;
  while (file && n < MAX_COMMANDS && fgets(commands[n], MAX_COMMAND, file))
    n++;
  if (file)
    fclose(file);
  return n;
}

static int read_known(const char *path) {
  FILE *file = fopen(path, "r");
  int n = 0;
  while (file && n < MAX_COMMANDS && fscanf(file, "%llx", &known[n]) == 1)
    n++;
  if (file)
    fclose(file);
  return n;
}

static void add(uint64_t *digest, const char *text) {
  for (; *text; text++)
    *digest = (*digest ^ (unsigned char)*text) * 0x100000001b3;
}

static void child(char *command, int out) {
  char *argv[MAX_ARGUMENTS + 1];
  int argc = 0;
  for (char *next = strtok(command, "\t\n"); next && argc < MAX_ARGUMENTS;
       next = strtok(NULL, "\t\n"))
    argv[argc++] = next;
  argv[argc] = NULL;
  dup2(out, STDOUT_FILENO);
  dup2(out, STDERR_FILENO);
  setrlimit(RLIMIT_CPU, &(struct rlimit){CPU_SECONDS, CPU_SECONDS});
  exit(tp_opt_main(argc, argv));
}

static uint64_t digest_of(char *command) {
  uint64_t digest = 0xcbf29ce484222325;
  int ends[2], status = 0;
  if (pipe(ends) != 0)
    exit(2);
  pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    child(command, ends[1]);
  }
  close(ends[1]);
  FILE *output = fdopen(ends[0], "r");
  char *line = NULL;
  size_t size = 0;
  while (getline(&line, &size, output) >= 0)
    if (!strstr(line, "__constant_"))
      add(&digest, line);
  free(line);
  fclose(output);
  waitpid(pid, &status, 0);
  snprintf(command, MAX_COMMAND, "%d", status);
  add(&digest, command);
  return digest;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  bool all = strcmp(argv[2], "-") == 0;
  int n = read_commands(argv[1]);
  if (n == 0 || (!all && read_known(argv[2]) != n))
    return 2;
  for (int i = 0; i < n; i++) {
    unsigned long long digest = digest_of(commands[i]);
    if (all)
      printf("%llx\n", digest);
    else if (digest != known[i])
      printf("%d\n", i);
    fflush(stdout);
  }
  return 0;
}
