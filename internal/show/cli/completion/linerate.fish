# fish completion for linerate                             -*- shell-script -*-
#
# The words of the line are arguments of `linerate __complete`; fish quotes what it
# inserts. Nothing of either is evaluated.

# __linerate_list sets __linerate_found to the completions, each with its description
# behind a tab; its status is 1 where files are to be completed instead.
function __linerate_list
    set -l words (commandline -opc)
    set -l raw (commandline -ct)
    set -l word
    # An unfinished word may lack its closing quote, or end with a backslash.
    for end in '' \' \" \\
        if set word (string unescape -- "$raw$end")
            break
        end
    end
    test -n "$raw"; or set word ''
    set -l out (command linerate __complete $words[2..-1] "$word" 2>/dev/null)
    set -g __linerate_found
    set -l directive (string match -r '^:(\d+)$' -- "$out[-1]")[2]
    test -n "$directive"; or return 1
    set -l flag (string match -r -- '^-[^=]*=' "$word")
    for line in $out[1..-2]
        test -n "$line"; and set -a __linerate_found "$flag$line"
    end
    test (count $__linerate_found) -gt 0; or test (math "floor($directive / 4) % 2") -eq 1
end

complete -c linerate -e
complete -c linerate -n __linerate_list -f -a '(printf "%s\n" $__linerate_found)'
