# Writes the topology files as C: cmake -DOUTPUT=x.c -DFILES=a.json,b.json -P embed.cmake. Names are those of the files, in this order.
string(REPLACE "," ";" FILES "${FILES}")
set(arrays "")
set(rows "")
set(names "")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
  string(APPEND arrays "static const unsigned char ${name}[] = {\n${bytes}};\n")
  string(APPEND rows "    {\"${name}\", ${name}, sizeof ${name}},\n")
  string(APPEND names "\"${name}\", ")
endforeach()
file(WRITE ${OUTPUT} "/* Generated from share/topology. */\n#include \"sharding/topology.h\"\n\n${arrays}
const tp__topology_text tp__topology_texts[] = {\n${rows}    {0},\n};
const char *const tp__topology_names[] = {${names}NULL};\n")
