# bash completion for linerate                             -*- shell-script -*-
#
# The words of the line are arguments of `linerate __completeNoDesc`, and the completions
# are quoted before they are inserted. Nothing of either is evaluated.

# _linerate_words splits the line up to the cursor as the shell would, without expanding
# anything: words, word (the last one), quote (open at its end) and loose (it ends with a
# backslash).
_linerate_words() {
    local text=${COMP_LINE:0:COMP_POINT} c begun=
    words=() word='' quote='' loose=''
    while [[ -n $text ]]; do
        c=${text:0:1} text=${text:1}
        case $quote$c in
        "''" | '""') quote='' ;;
        "'"?) word+=$c ;;
        '"\' | '\')
            if [[ -z $text ]]; then
                loose=1
            elif [[ -z $quote || ${text:0:1} == [\"\\\$\`] ]]; then
                word+=${text:0:1} text=${text:1}
            else
                word+=$c
            fi
            begun=1
            ;;
        '"'?) word+=$c ;;
        "'" | '"') quote=$c begun=1 ;;
        ' ' | $'\t' | $'\n')
            [[ -n $begun ]] && words+=("$word")
            word='' begun=''
            ;;
        *) word+=$c begun=1 ;;
        esac
    done
}

# _linerate_quote sets quoted to a text as it is typed within the open quote.
_linerate_quote() {
    local text=$1 c
    quoted=''
    while [[ -n $text ]]; do
        c=${text:0:1} text=${text:1}
        case $quote$c in
        "''") quoted+="'\\''" ;;
        "'"?) quoted+=$c ;;
        '""' | '"\' | '"$' | '"`') quoted+=\\$c ;;
        '"!') quoted+='"\!"' ;;
        '"'?) quoted+=$c ;;
        [[:alnum:]_@%+=:,./-]) quoted+=$c ;;
        *) quoted+=\\$c ;;
        esac
    done
}

_linerate() {
    local words word quote loose quoted out line directive value prefix
    COMPREPLY=()
    _linerate_words
    out=$(command linerate __completeNoDesc "${words[@]:1}" "$word" 2>/dev/null) || return
    directive=${out##*:}
    [[ $directive =~ ^[0-9]+$ ]] || return
    if type compopt &>/dev/null; then
        ((directive & 2)) && compopt -o nospace
        ((directive & 4)) && compopt +o default
    fi
    value=$word
    [[ $word == -*=* ]] && value=${word#*=} # of a flag
    # $2 is the part of the word that readline replaces; it may have begun a quote before.
    prefix=$2
    [[ -n $loose ]] && prefix=${prefix%\\}
    while IFS= read -r line; do
        [[ $line == "$value"* ]] || continue
        _linerate_quote "${line:${#value}}"
        COMPREPLY+=("$prefix$quoted")
    done <<<"${out%:*}"
    if [[ -z ${COMPREPLY[*]} ]]; then
        COMPREPLY=()
    elif ((${#COMPREPLY[@]} == 1 && !(directive & 2))); then
        COMPREPLY[0]+=$quote # readline does not close a quote behind a character that is one
    fi
}

complete -o default -F _linerate linerate
