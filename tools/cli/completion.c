/* Prints the completion of a tool for bash: a script that defines a function for `complete`. */
#include "completion.h"

#include <fnmatch.h>
#include <string.h>

enum { COLUMNS = 98 };

/* What completes a value where no values are known, by the name that the help gives the value. The
 * first row that matches counts; all other values are names of files. */
static const struct {
  const char *pattern, *kind;
} kinds[] = {
    {"@FILE*", "at_path"}, {"FOLDER", "folder"}, {"G", "none"},      {"MS", "none"},
    {"N", "none"},         {"NAME", "none"},     {"BYTES", "none"},  {"LIST", "none"},
    {"SECONDS", "none"},   {"SIZES", "none"},    {"=<int>", "none"}, {"=<uint>", "none"},
    {"=<number>", "none"}, {"*", "path"},
};

/* The lines around the cases of the options. '=' and '@' are words of their own, unless
 * COMP_WORDBREAKS lacks them. readline completes names of files where COMPREPLY stays empty. */
static const char *const before[] = {
    "  local cur=$2 prefix='' name='' joined='' kind=operand values='' list='' word i=$COMP_CWORD",
    "  [[ ${COMP_WORDS[i]} =~ ^[=@]+$ ]] || i=$((i - 1))",
    "  while [[ $i -gt 0 && ${COMP_WORDS[i]} =~ ^[=@]+$ ]]; do",
    "    [[ ${COMP_WORDS[i]} != *=* ]] || joined='='",
    "    i=$((i - 1))",
    "  done",
    "  [[ $i -eq 0 ]] || name=${COMP_WORDS[i]}",
    "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do",
    "    [[ $word != -- ]] || return 0",
    "  done",
    "  if [[ $cur == -*=* ]]; then",
    "    name=${cur%%=*} prefix=${cur%%=*}= cur=${cur#*=} joined='='",
    "  fi",
    NULL};
static const char *const after[] = {
    "  if [[ $kind == operand && $cur == -* ]]; then",
    "    kind=value values=$options",
    "  elif [[ -n $list && $cur == *,* ]]; then",
    "    prefix+=${cur%,*}, cur=${cur##*,}",
    "  fi",
    "  case $kind in",
    "    operand | path | value)",
    ("      [[ -z $values ]] || mapfile -t COMPREPLY < <(compgen -P \"$prefix\" -W \"$values\" -- "
     "\"$cur\")"),
    "      if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then",
    "        compopt -o nospace 2>/dev/null",
    "      elif [[ -n $prefix && ${#COMPREPLY[@]} -eq 0 ]]; then",
    "        mapfile -t COMPREPLY < <(compgen -P \"$prefix\" -f -- \"$cur\")",
    "      fi",
    "      ;;",
    "    at_path)",
    "      while IFS= read -r word; do",
    "        printf -v name '%s@%q' \"$prefix\" \"$word\"",
    "        [[ ! -d $word ]] || name+=/",
    "        COMPREPLY+=(\"$name\")",
    "      done < <(compgen -f -- \"${cur#@}\")",
    "      [[ ${COMPREPLY[0]} != */ ]] || compopt -o nospace 2>/dev/null",
    "      ;;",
    "    folder) compopt +o default -o dirnames 2>/dev/null ;;",
    "    none) compopt +o default 2>/dev/null ;;",
    "  esac",
    "  return 0",
    NULL};

static void print_lines(const char *const *lines) {
  for (; *lines; lines++)
    printf("%s\n", *lines);
}

/* A list of words in lines of at most COLUMNS columns. */
typedef struct word_list {
  const char *between, *wrap; /* in a line; where a line ends */
  int at, n;
} word_list;

static void print_word(word_list *list, const char *dashes, const char *word, size_t n,
                       const char *end) {
  int width = (int)(strlen(dashes) + n + strlen(end));
  if (list->n > 0 && list->at + width + 4 > COLUMNS) {
    printf("%s\n      ", list->wrap);
    list->at = 6;
  } else if (list->n > 0) {
    list->at += printf("%s", list->between);
  }
  list->at += printf("%s%.*s%s", dashes, (int)n, word, end);
  list->n++;
}

const char *cli_next_value(const char **values, size_t *length) {
  while (**values) {
    const char *value = *values;
    size_t n = *length = strcspn(value, "|");
    *values += n + (value[n] != 0);
    if (n > 0 && strcspn(value, "|$`\\\"'*?[]{}()<>&;!~ ") == n)
      return value;
  }
  return NULL;
}

static void print_values(word_list *list, const char *values, const char *end) {
  const char *value;
  for (size_t n; (value = cli_next_value(&values, &n));)
    print_word(list, "", value, n, end);
}

/* Prints the names of the options, which is what completes a word that begins with '-'. */
static void print_names(const cli_tool *tool) {
  const cli_option *o;
  word_list list = {.between = " ", .wrap = "", .at = 17};
  printf("  local options='");
  for (int i = 0; (o = cli_option_at(tool, i)); i++) {
    bool is_named = o->help && !o->is_part;
    if (is_named && o->letter)
      print_word(&list, "-", &o->letter, 1, "");
    if (is_named && o->name)
      print_word(&list, "--", o->name, strlen(o->name),
                 o->argument && o->argument[0] == '=' ? "=" : "");
  }
  printf("'\n");
}

const char *cli_kind_of(const cli_option *o) {
  size_t i = 0;
  while (fnmatch(kinds[i].pattern, o->argument, 0) != 0)
    i++;
  return kinds[i].kind;
}

bool cli_is_optional(const cli_option *o) { return o->argument && o->argument[0] == '['; }

bool cli_has_parts(const cli_tool *tool, int i) {
  const cli_option *part = cli_option_at(tool, i + 1);
  return part && part->is_part;
}

static void print_pattern(word_list *list, const cli_option *o) {
  if (o->letter)
    print_word(list, "-", &o->letter, 1, "");
  if (o->name)
    print_word(list, "--", o->name, strlen(o->name), "");
}

/* Prints the case of an option whose values are known: listed, or the parts of its value. */
static void print_value_case(const cli_tool *tool, int i) {
  const cli_option *o = cli_option_at(tool, i), *part;
  word_list pattern = {.between = " | ", .wrap = " | \\", .at = 4},
            list = {.between = " ", .wrap = "", .at = 30};
  printf("    ");
  print_pattern(&pattern, o);
  printf(")\n      kind=value%s values='", o->is_list ? " list=1" : "");
  if (cli_values(o))
    print_values(&list, cli_values(o), "");
  for (; (part = cli_option_at(tool, i + 1)) && part->is_part; i++)
    print_values(&list, part->name, part->argument ? "=" : "");
  printf("'\n      ;;\n");
}

/* Prints the cases of the options whose value may be missing, or of those that need one. */
static void print_cases(const cli_tool *tool, bool optional) {
  const cli_option *o;
  for (int i = 0; (o = cli_option_at(tool, i)); i++)
    if (o->help && o->argument && !o->is_part && cli_is_optional(o) == optional &&
        (cli_values(o) || cli_has_parts(tool, i)))
      print_value_case(tool, i);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds && !optional; k++) {
    if (strcmp(kinds[k].kind, "path") == 0 && !tool->operand.values)
      continue; /* operands are names of files, too */
    word_list pattern = {.between = " | ", .wrap = " | \\", .at = 4};
    bool is_first = true;
    for (size_t before_k = 0; before_k < k; before_k++)
      is_first &= strcmp(kinds[before_k].kind, kinds[k].kind) != 0;
    for (int i = 0; (o = cli_option_at(tool, i)) && is_first; i++)
      if (o->help && o->argument && !cli_is_optional(o) && !o->is_part && !cli_values(o) &&
          strcmp(cli_kind_of(o), kinds[k].kind) == 0) {
        printf("%s", pattern.n == 0 ? "    " : "");
        print_pattern(&pattern, o);
      }
    if (pattern.n > 0)
      printf(")\n      kind=%s\n      ;;\n", kinds[k].kind);
  }
}

static void print_operand(const cli_option *operand) {
  word_list list = {.between = " ", .wrap = "", .at = 20};
  if (!operand->values)
    return;
  printf("    *)\n      %svalues='", operand->is_list ? "list=1 " : "");
  print_values(&list, operand->values, "");
  printf("'\n      ;;\n");
}

void cli_print_completion(const cli_tool *tool) {
  char function[64];
  snprintf(function, sizeof function, "_%s", tool->name);
  for (char *c = function; *c; c++)
    *c = *c == '-' ? '_' : *c;
  printf("# Completion of %s for bash. Printed by %s --help=bash from the table of its options.\n"
         "%s() {\n",
         tool->name, tool->name, function);
  print_names(tool);
  print_lines(before);
  printf("  case $name in\n");
  print_cases(tool, false);
  print_operand(&tool->operand);
  printf("  esac\n  [[ -z $joined ]] || case $name in\n");
  print_cases(tool, true);
  printf("  esac\n");
  print_lines(after);
  printf("}\ncomplete -o default -F %s %s\n", function, tool->name);
}
