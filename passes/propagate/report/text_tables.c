/* Prints Markdown tables that are also readable in a terminal: all cells of a column have equal
 * width. */
#include "passes/propagate/report/plan_text.h"

#include <string.h>

enum { MAX_COLUMNS = 8, MIN_WIDTH = 3 };

void tp__sheet_cell(tp_sheet *sheet, const char *format, ...) {
  tp__string text = {0}, cell = {0};
  va_list args;
  va_start(args, format);
  tp__string_vprintf(&text, format, args);
  va_end(args);
  for (const char *c = tp__string_text(&text); *c; c++) {
    if (*c == '|') /* an unescaped | would end the cell */
      tp__string_append(&cell, "\\");
    tp__string_append_bytes(&cell, c, 1);
  }
  tp__string_append(&cell, ""); /* allocates an empty text for an empty cell */
  cell.failed |= text.failed;
  tp__string_destroy(&text);
  char *taken = tp__string_take(&cell);
  if (!taken || tp__grow((void **)&sheet->cells, &sheet->capacity, sheet->n + 1,
                         sizeof *sheet->cells) != TP_OK) {
    tp__free(taken);
    sheet->failed = true;
    return;
  }
  sheet->cells[sheet->n++] = taken;
}

/* Counts characters, not bytes, of UTF-8. */
static int width_of(const char *cell) {
  int width = 0;
  for (; *cell; cell++)
    width += ((unsigned char)*cell & 0xC0) != 0x80;
  return width;
}

static void print_rule(tp__string *t, const char *align, const int *widths) {
  for (int c = 0; align[c]; c++) {
    tp__string_append(t, "|");
    for (int i = 0; i < widths[c] + 1; i++)
      tp__string_append(t, "-");
    tp__string_append(t, align[c] == 'r' ? ":" : "-");
  }
  tp__string_append(t, "|\n");
}

static void print_row(tp__string *t, char *const *cells, const char *align, const int *widths) {
  for (int c = 0; align[c]; c++) {
    int room = widths[c] - width_of(cells[c]);
    if (align[c] == 'r')
      tp__string_printf(t, "| %*s%s ", room, "", cells[c]);
    else
      tp__string_printf(t, "| %s%*s ", cells[c], room, "");
  }
  tp__string_append(t, "|\n");
}

void tp__sheet_print(tp_sheet *sheet, tp__string *t) {
  int columns = (int)strlen(sheet->align), widths[MAX_COLUMNS];
  size_t rows = sheet->n / (size_t)columns;
  for (int c = 0; c < MAX_COLUMNS; c++)
    widths[c] = MIN_WIDTH;
  for (size_t i = 0; i < sheet->n; i++) {
    int width = width_of(sheet->cells[i]), c = (int)(i % (size_t)columns);
    widths[c] = width > widths[c] ? width : widths[c];
  }
  t->failed |= sheet->failed;
  for (size_t row = 0; row < rows && rows > 1 && !sheet->failed; row++) {
    print_row(t, sheet->cells + row * (size_t)columns, sheet->align, widths);
    if (row == 0)
      print_rule(t, sheet->align, widths);
  }
  if (rows > 1)
    tp__string_append(t, "\n");
  for (size_t i = 0; i < sheet->n; i++)
    tp__free(sheet->cells[i]);
  tp__free(sheet->cells);
  *sheet = (tp_sheet){.align = sheet->align};
}
