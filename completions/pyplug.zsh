#compdef pyplug
# zsh completion for pyplug. Load it with
#
#     source <(pyplug completion zsh)
#
# after compinit, or install it as _pyplug in a directory of $fpath.

_pyplug() {
    emulate -L zsh
    setopt extended_glob
    local current=$QIPREFIX$PREFIX${compstate[quote][-1]} answer line files kind i
    local -a before found about shown flags
    local -i width

    before=("${(@Q)words[2,CURRENT-1]}")
    before=("${(@)before/#\~\//$HOME/}")
    answer=$(${~words[1]} __complete "${(@)before}" "${(Q)current}" 2>/dev/null) || answer=:files

    for line in "${(@f)answer}"; do
        case $line in
            ('') ;;
            (:files|:files$'\t'*) files=1 kind=${line#:files} kind=${kind#$'\t'} ;;
            (*)
                found+=("${line%%$'\t'*}") about+=("${${line#"$found[-1]"}#$'\t'}")
                (($#found[-1] > width)) && width=$#found[-1]
                ;;
        esac
    done

    # compadd quotes the text that it inserts.
    for ((i = 1; i <= $#found; i++)); do
        shown=("$found[i]") flags=()
        [[ -n $about[i] ]] && shown=("${${:-${(r:width:)found[i]}  -- $about[i]}[1,COLUMNS-1]}") flags=(-l)
        [[ $found[i] == *[=/:] ]] && flags+=(-S '') # a value must follow without a space
        compadd "${(@)flags}" -d shown -- "$found[i]"
    done
    if [[ -n $files ]]; then
        # The file name follows name@=, name:=@ or --flag=.
        compset -P '*@=' || compset -P '*:=@' || compset -P '-*='
        case $kind in
            ('') _files ;;
            (*) _files -g "*$kind" ;; # also offers directories, and all files if nothing matches
        esac
    fi
}

if [[ $funcstack[1] == _pyplug ]]; then
    _pyplug "$@"
else
    compdef _pyplug pyplug
fi
