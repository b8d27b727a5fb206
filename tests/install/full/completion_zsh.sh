# As if typed at a terminal.
cat >script <<'END'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'autoload -Uz compinit; compinit -u -D; PS1="ready> "'
zpty -w -n shell $'catapults explo\t'
typeset said part
for try in {1..100}; do
    while zpty -r -t shell part; do said+=$part; done
    [[ $said == *"catapults explore"* ]] && print completed && exit 0
    sleep 0.1
done
print -r -- "$said"
exit 1
END
says completed zsh -f script
