#compdef pyplug
# zsh completion for pyplug. Load it with
#
#     source <(pyplug completion zsh)
#
# after compinit, or install it as _pyplug in a directory of $fpath.

_pyplug() {
    emulate -L zsh
    setopt extended_glob
    local answer line word description files kind
    local -a before plain open

    before=("${(@Q)words[2,CURRENT-1]}")
    before=("${(@)before/#\~\//$HOME/}")
    answer=$(${~words[1]} __complete "${(@)before}" "${(Q)PREFIX}" 2>/dev/null) || answer=:files

    for line in "${(@f)answer}"; do
        word=${line%%$'\t'*}
        description=
        [[ $line == *$'\t'* ]] && description=${line#*$'\t'}
        case $word in
            ('') ;;
            (:files) files=1 kind=$description ;;
            # Add no space after a candidate that needs a value.
            (*[=/:]) open+=("${word//:/\\:}${description:+:$description}") ;;
            (*) plain+=("${word//:/\\:}${description:+:$description}") ;;
        esac
    done

    (($#plain)) && _describe -t words 'pyplug' plain
    (($#open)) && _describe -t words 'pyplug' open -S ''
    if [[ -n $files ]]; then
        # The file name follows name@=, name:=@ or --flag=.
        compset -P '*@=' || compset -P '*:=@' || compset -P '-*='
        case $kind in
            ('') _files ;;
            (*) _files -g "*$kind" ;; # and directories, and all files if there are none of either
        esac
    fi
}

if [[ $funcstack[1] == _pyplug ]]; then
    _pyplug "$@"
else
    compdef _pyplug pyplug
fi
