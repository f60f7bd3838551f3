# SPDX-License-Identifier: GPL-2.0
# complete.zsh - as complete.bash, for zsh: its completion works only on a terminal, so a
# second zsh is typed to.

zmodload zsh/zpty
export WORK=$(mktemp -d) TERM=dumb
trap 'rm -rf "$WORK"' EXIT
cat >$WORK/setup <<'END'
PS1= PS2= RPS1=
unsetopt zle_bracketed_paste prompt_cr prompt_sp
fpath=($PWD/tool/packaging/completions $fpath)
autoload -Uz compinit && compinit -u -d $WORK/dump
LISTMAX=10000
# What is added; not what is only looked at.
compadd() {
  local -a got
  if [[ " ${(j: :)@[1,(i)(-|--)]} " != *\ -[OAD]\ * ]]; then
    builtin compadd -O got "$@"
    (( $#got )) && print -rl -- "$IPREFIX"$^got >>$WORK/got
  fi
  builtin compadd "$@"
}
clear-line() { BUFFER=; print -r -- done >$WORK/done }
zle -N clear-line
bindkey '^I' complete-word
bindkey '^X' clear-line
mkfifo $WORK/done
END
mkfifo $WORK/ready
zpty shell zsh -f -i
zpty -w shell ". $WORK/setup; print >$WORK/ready"
read <$WORK/ready
while IFS= read -r line; do
  : >$WORK/got
  zpty -w -n shell $line$'\t\x18'
  read <$WORK/done
  while zpty -r -t shell >/dev/null; do :; done
  print -r -- "== $line"
  cat $WORK/got
done
zpty -d shell
