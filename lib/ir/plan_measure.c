/* Texts of a plan that is measured. */
#include "ir/plan_measure.h"

#include "ir/ir.h"

const char *tp__measure_keep(tp_measure *m, tp__string *string) {
  const char *text = tp__arena_strdup(&m->arena, tp__string_text(string));
  tp__string_destroy(string);
  return text ? text : "";
}

const char *tp__measure_type_text(tp_measure *m, MlirType type) {
  tp__string text = {0};
  mlirTypePrint(type, tp__append_part, &text);
  return tp__measure_keep(m, &text);
}

const char *tp__measure_string_attr(tp_measure *m, MlirAttribute attr) {
  if (mlirAttributeIsNull(attr) || !mlirAttributeIsAString(attr))
    return "";
  MlirStringRef text = mlirStringAttrGetValue(attr);
  const char *copy = tp__arena_strndup(&m->arena, text.data, text.length);
  return copy ? copy : "";
}
