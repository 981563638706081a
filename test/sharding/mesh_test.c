/* Tests meshes and their refinement. */
#include "tp/mesh.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static tp_mesh parse(const char *text) {
  tp_mesh mesh;
  assert_int_equal(tp_mesh_parse("mesh", text, NULL, 0, &mesh), TP_OK);
  return mesh;
}

static void creates_and_parses(void **state) {
  (void)state;
  tp_mesh mesh = parse("dp=2,tp=4");
  assert_int_equal(mesh.n_axes, 2);
  assert_int_equal(tp_mesh_size(&mesh), 8);
  assert_string_equal(mesh.axes[1].name, "tp");
  assert_int_equal(tp_mesh_stride(&mesh, 0), 4);
  assert_int_equal(tp_mesh_coordinate(&mesh, 6, 0), 1);
  assert_int_equal(tp_mesh_coordinate(&mesh, 6, 1), 2);
  assert_false(tp_mesh_is_refined(&mesh));
}

/* Sizes alone name the axes by their number. */
static void parses_sizes_alone(void **state) {
  (void)state;
  static const struct {
    const char *text, *names;
    int64_t devices;
  } cases[] = {
      {"4", "tp", 4},      {"04", "tp", 4},        {"2x4", "dp tp", 8},
      {"2,4", "dp tp", 8}, {"2x3x4", "x y z", 24}, {"1x1x1x1x1x1x1x2", "x y z u v w s t", 2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    tp_mesh mesh = parse(cases[i].text);
    char names[64] = "";
    for (int a = 0; a < mesh.n_axes; a++) {
      strcat(names, a ? " " : "");
      strcat(names, mesh.axes[a].name);
    }
    assert_string_equal(names, cases[i].names);
    assert_int_equal(tp_mesh_size(&mesh), cases[i].devices);
  }
}

/* A message quotes the whole text and what was not understood. */
static void says_what_is_wrong(void **state) {
  (void)state;
  static const struct {
    const char *text, *message;
  } cases[] = {
      {" 4", "mesh ' 4': it begins with a blank; write 4"},
      {"4 ", "mesh '4 ': there is a blank after '4'; write 4"},
      {"2 4", "mesh '2 4': there is a blank after '2'; write 2,4"},
      {"2 x 4", "mesh '2 x 4': there is a blank after '2'; write 2x4"},
      {"+4", "mesh '+4': expected a size, which is at least 1, at '+4'; write dp=2,tp=4, or 2x4, "
             "or one size, without spaces (at most 8 axes)"},
      {"2X4", "mesh '2X4': expected ',' or the end at 'X4'; write"},
      {"2x", "mesh '2x': expected a size, which is at least 1, at the end; write"},
      {"dp=2, tp=4", "mesh 'dp=2, tp=4': there is a blank after 'dp=2,'; write dp=2,tp=4"},
      {"dp = 2 x = 4", "mesh 'dp = 2 x = 4': there is a blank after 'dp'; write dp=2,x=4"},
      {"=2", "mesh '=2': expected an axis name and '=' at '=2'; write"},
      {"a(b)=2",
       "mesh 'a(b)=2': the name of an axis has at most 31 bytes, and none of :()\"?; this "
       "one is 'a(b)'"},
      {"an_axis_whose_name_is_far_too_long=2",
       "mesh 'an_axis_whose_name_is_far_too_long=2': the name of an axis has at most 31 bytes, and "
       "none of :()\"?; this one is 'an_axis_whose_name_is_far_too_long'"},
      {"dp=2, tp", "mesh 'dp=2, tp': expected an axis name and '=' at ' tp'; write"},
      {"dp=2,tp", "mesh 'dp=2,tp': expected an axis name and '=' at 'tp'; write"},
      {"tp4", "mesh 'tp4': '=' is missing between name and size; write tp=4"},
      {"dp=2,tp4", "mesh 'dp=2,tp4': '=' is missing between name and size; write dp=2,tp=4"},
      {"dp2,tp4", "mesh 'dp2,tp4': '=' is missing between name and size; write dp=2,tp=4"},
      {"dp=2x4", "mesh 'dp=2x4': expected ',' or the end at 'x4'; write"},
      {"1,1,1,1,1,1,1,1,2", "mesh '1,1,1,1,1,1,1,1,2': expected the end at '2'; write"},
      {"dp=2,dp=4", "mesh 'dp=2,dp=4': axis \"dp\" occurs twice in mesh \"mesh\""},
      {"a=65536,b=65536", "mesh 'a=65536,b=65536' has more than 2147483647 devices"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char why[256] = "";
    tp_mesh mesh;
    assert_int_equal(tp_mesh_parse("mesh", cases[i].text, why, sizeof why, &mesh),
                     TP_INVALID_ARGUMENT);
    assert_memory_equal(why, cases[i].message, strlen(cases[i].message));
  }
}

static void refuses_bad_meshes(void **state) {
  (void)state;
  static const char *const bad[] = {
      "",
      "dp",
      "dp=",
      "=2",
      "dp=0",
      "dp=2,",
      "dp=2,dp=4",
      "d p=2",
      "dp=2 ",
      "dp=-1",
      "d:p=2",
      "dp=2,,tp=2",
      "dp=99999999999999999999",
      "a=65536,b=65536",
      "a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1",
      "abcdefghijklmnopqrstuvwxyz0123456789=2",
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    char why[256] = "";
    tp_mesh mesh = {.n_axes = -7};
    assert_int_equal(tp_mesh_parse("mesh", bad[i], why, sizeof why, &mesh), TP_INVALID_ARGUMENT);
    assert_int_equal(mesh.n_axes, -7); /* outputs are written only on success */
    assert_true(strlen(why) > 10);
  }
  tp_mesh mesh;
  const char *name = "a";
  int64_t size = 2;
  assert_int_equal(tp_mesh_create("", 1, &name, &size, &mesh), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_mesh_create("mesh", 0, &name, &size, &mesh), TP_INVALID_ARGUMENT);
  name = NULL;
  assert_int_equal(tp_mesh_create("mesh", 1, &name, &size, &mesh), TP_INVALID_ARGUMENT);
}

static void refines(void **state) {
  (void)state;
  tp_mesh mesh = parse("dp=2,tp=8");
  assert_int_equal(tp_mesh_refine(&mesh, "tp", 2, 2), TP_OK); /* 2 x 2 x 2 */
  assert_int_equal(mesh.n_axes, 4);
  assert_int_equal(mesh.n_parents, 2);
  assert_true(tp_mesh_is_refined(&mesh));
  for (int a = 1; a < 4; a++) {
    assert_int_equal(mesh.axes[a].size, 2);
    assert_int_equal(mesh.axes[a].pre, 1 << (a - 1));
    assert_int_equal(mesh.axes[a].parent, 1);
    assert_int_equal(mesh.axes[a].parent_size, 8);
  }
  assert_int_equal(tp_mesh_size(&mesh), 16);
  tp_mesh before = mesh;
  assert_int_equal(tp_mesh_refine(&mesh, "tp", 1, 4), TP_OK); /* already there */
  assert_int_equal(mesh.n_axes, 4);
  assert_int_equal(tp_mesh_refine(&mesh, "tp", 1, 3), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_mesh_refine(&mesh, "tp", 0, 2), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_mesh_refine(&mesh, "tp", 4, 4), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_mesh_refine(&mesh, "tp", INT64_MAX, 2), TP_INVALID_ARGUMENT);
  assert_int_equal(tp_mesh_refine(&mesh, "xx", 1, 2), TP_NOT_FOUND);
  assert_memory_equal(&mesh, &before, sizeof mesh);
  tp_mesh parent = tp_mesh_parent(&mesh), whole = parse("dp=2,tp=8");
  assert_memory_equal(&parent, &whole, sizeof parent);

  mesh = parse("x=12");
  assert_int_equal(tp_mesh_refine(&mesh, "x", 4, 3), TP_OK);
  /* boundaries at 4 and 6 are incompatible */
  assert_int_equal(tp_mesh_refine(&mesh, "x", 6, 2), TP_INVALID_ARGUMENT);
  assert_int_equal(mesh.n_axes, 2);
}

static void finds_and_prints(void **state) {
  (void)state;
  tp_mesh mesh = parse("dp=2,tp=8,one=1");
  int first = -1;
  assert_int_equal(tp_mesh_refine(&mesh, "tp", 2, 4), TP_OK); /* 2 x 4 */
  assert_int_equal(tp_mesh_find(&mesh, "tp", 0, 0, &first), 2);
  assert_int_equal(first, 1);
  assert_int_equal(tp_mesh_find(&mesh, "tp", 2, 4, &first), 1);
  assert_int_equal(first, 2);
  assert_int_equal(tp_mesh_find(&mesh, "one", 0, 0, &first), 1);
  assert_int_equal(first, 3);
  assert_int_equal(tp_mesh_find(&mesh, "tp", 4, 2, &first), 0);
  assert_int_equal(tp_mesh_find(&mesh, "tp", 1, 4, &first), 0);
  assert_int_equal(tp_mesh_find(&mesh, "no", 0, 0, &first), 0);

  char text[32];
  assert_int_equal(tp_mesh_axis_text(&mesh, 1, 2, text, sizeof text), 2);
  assert_string_equal(text, "tp");
  tp_mesh_axis_text(&mesh, 2, 1, text, sizeof text);
  assert_string_equal(text, "tp:(2)4");
  /* like snprintf: truncated, terminated, full length */
  assert_int_equal(tp_mesh_axis_text(&mesh, 2, 1, text, 4), 7);
  assert_string_equal(text, "tp:");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(creates_and_parses),
      cmocka_unit_test(parses_sizes_alone),
      cmocka_unit_test(says_what_is_wrong),
      cmocka_unit_test(refuses_bad_meshes),
      cmocka_unit_test(refines),
      cmocka_unit_test(finds_and_prints),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
