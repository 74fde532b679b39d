# complete.zsh DIR LINE...: what zsh makes of each line after a tab, with the completions in DIR.
zmodload zsh/zpty
zpty shell 'TERM=dumb zsh -f -i'
zpty -w shell "PS1=; unsetopt zle_bracketed_paste; fpath=($1 \$fpath); autoload -U compinit; compinit -u -D; echo LOA''DED"
zpty -r shell seen '*LOADED*'
shift
# Each line ends in a command of its own, whose output is waited for.
for line in "$@"; do
  zpty -n -w shell "$line"$'\t'"; echo DO''NE"$'\C-a'"true "$'\n'
  zpty -r shell seen '*DONE*'
  print -r -- "${seen//[$'\r']/}"
done
zpty -d shell
