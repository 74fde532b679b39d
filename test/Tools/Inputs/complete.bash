# complete.bash FILE WORD...: what FILE, a bash completion of tessera, offers for the last word.
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_tessera
echo "offers: ${COMPREPLY[*]}"
