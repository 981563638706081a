# shellcheck shell=bash
# complete.sh CASES: checks completions in bash. A line "CASE: TOOL WORD... => REPLY..." has the words
# as COMP_WORDS holds them, the last of which is completed; "" is an empty word. No reply means that
# readline completes names of files.
exec 3< <(sed -n 's/ *=>$/=> /; s/^CASE: //p' "$(realpath "$1")")
cd "$(dirname "$0")" || exit 1
failed=0 count=0
while IFS= read -r line <&3; do
  read -ra COMP_WORDS <<<"${line%%=> *}"
  wanted=${line#*=> }
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  [[ ${COMP_WORDS[COMP_CWORD]} != '""' ]] || COMP_WORDS[COMP_CWORD]=
  tool=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]}
  # What bash passes: behind a separator, the word is empty; it keeps an '@' in front.
  [[ ${COMP_WORDS[COMP_CWORD]} != '=' ]] || word=
  [[ ${COMP_WORDS[COMP_CWORD - 1]} != *@ ]] || word=@$word
  COMPREPLY=()
  # shellcheck disable=SC1090
  source <("$tool" --help=bash)
  "_${tool//-/_}" "$tool" "$word" "${COMP_WORDS[COMP_CWORD - 1]}"
  count=$((count + 1))
  if [[ ${COMPREPLY[*]} != "$wanted" ]]; then
    echo "$line: the completion is '${COMPREPLY[*]}'"
    failed=1
  fi
done
echo "$count completions"
[[ $failed == 0 && $count -gt 0 ]]
