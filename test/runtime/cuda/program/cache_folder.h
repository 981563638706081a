/* A cache folder of its own for a test (XDG_CACHE_HOME), and the files that the library leaves in
 * it. */
#ifndef TPRT_TEST_CUDA_CACHE_FOLDER_H
#define TPRT_TEST_CUDA_CACHE_FOLDER_H

enum { CACHE_PATH = 512 };

/* Makes the folder, sets XDG_CACHE_HOME, and removes both. cache_folder_use sets the variable
 * again. */
void cache_folder_begin(void);
void cache_folder_use(void);
void cache_folder_end(void);
/* Counts the files of the cache; `path` is that of the last one. */
int cache_files(char path[CACHE_PATH]);
void cache_files_clear(void);

/* Sets an environment variable; NULL unsets it. */
void set_variable(const char *name, const char *value);

#endif
