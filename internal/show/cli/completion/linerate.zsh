#compdef linerate
# zsh completion for linerate                              -*- shell-script -*-
#
# The words of the line are arguments of `linerate __complete`, without their quotes;
# compadd quotes what it inserts. Nothing of either is evaluated.

_linerate() {
    emulate -L zsh
    local out line name directive
    local -a lines names shown options
    out=$(command linerate __complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null) || return 1
    lines=("${(@f)out}")
    directive=${lines[-1]#:}
    [[ $directive == <-> ]] || return 1
    [[ $PREFIX == -*=* ]] && compset -P '*='
    for line in "${(@)lines[1,-2]}"; do
        [[ -n $line ]] || continue
        name=${line%%$'\t'*}
        names+=("$name")
        [[ $line == *$'\t'* ]] && name+="  -- ${line#*$'\t'}"
        shown+=("${name[1,COLUMNS-1]}")
    done
    if (( $#names == 0 )); then
        (( directive & 4 )) && return 1
        _files
        return
    fi
    (( directive & 2 )) && options=(-S '')
    [[ "$shown" == *$'  -- '* ]] && options+=(-l)
    compadd "$options[@]" -d shown -a -- names
}

# Autoloaded, this file is the body of the function.
if [[ $funcstack[1] == _linerate ]]; then
    _linerate "$@"
else
    compdef _linerate linerate
fi
