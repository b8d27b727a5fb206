cat >script <<'END'
. /usr/share/bash-completion/bash_completion
_completion_loader catapults || [[ $? == 124 ]]
function=$(complete -p catapults | sed 's/.*-F \([^ ]*\) .*/\1/')
COMP_WORDS=(catapults exp) COMP_CWORD=1 COMP_LINE="catapults exp" COMP_POINT=13
$function catapults exp catapults
echo "${COMPREPLY[@]}"
COMP_WORDS=(catapults new --like tok) COMP_CWORD=3 COMP_LINE="catapults new --like tok" COMP_POINT=24
$function catapults tok --like
echo "${COMPREPLY[@]}"
END
says explore bash --norc script
says explain bash --norc script
says token_bucket bash --norc script
