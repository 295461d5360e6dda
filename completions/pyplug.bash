# bash completion for pyplug. Load it with
#
#     source <(pyplug completion bash)
#
# It runs on bash 3.2, which macOS has, and needs no bash-completion package.

_pyplug() {
    local IFS=$'\n' words=() rest word i

    # bash also splits words at = : and @. Join parts without a space between
    # them, and drop the text after the cursor.
    rest=${COMP_LINE:0:COMP_POINT}
    rest=${rest#*"${COMP_WORDS[0]}"}
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        case $rest in
        [[:blank:]]*)
            rest=${rest#"${rest%%[![:blank:]]*}"}
            words+=("")
            ;;
        esac
        ((i == COMP_CWORD)) && word=$rest
        ((${#words[@]})) || words=("")
        words[${#words[@]} - 1]+=$word
        rest=${rest#"$word"}
    done
    ((${#words[@]})) || words=("")

    # Remove quotes: the words are as the user typed them.
    for ((i = 0; i < ${#words[@]}; i++)); do
        word=${words[i]//[\"\'\\]/}
        if ((i < ${#words[@]} - 1)); then
            case $word in "~/"*) word=$HOME/${word#"~/"} ;; esac
        fi
        words[i]=$word
    done

    # bash replaces only the text after the last word break in the word. A space
    # in the word is quoted and does not break it.
    local current=$word breaks=${COMP_WORDBREAKS//[[:space:]\"\']/} part head
    part=${current##*["$breaks"]}
    head=${current%"$part"}

    local program answer files= kind=
    program=$(type -P -- "${COMP_WORDS[0]}") || program=pyplug
    answer=$("$program" __complete "${words[@]}" 2>/dev/null) || answer=:files

    COMPREPLY=()
    while read -r word; do
        case $word in :files$'\t'*) kind=${word#*$'\t'} ;; esac
        word=${word%%$'\t'*}
        case $word in
        :files) files=1 ;;
        "") ;;
        "$current"*) COMPREPLY+=("${word#"$head"}") ;;
        esac
    done <<<"$answer"

    # compopt needs bash 4; without it bash adds an unwanted space.
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[=/:] ]]; then
        compopt -o nospace 2>/dev/null
    fi
    if [[ $files ]]; then
        compopt -o filenames 2>/dev/null
        # Always offer directories: they may contain such files. If nothing matches, offer all.
        case $kind in
        "") answer= ;;
        *) answer=$(compgen -d -- "$part"; compgen -f -X "!*$kind" -- "$part") ;;
        esac
        [[ $answer ]] || answer=$(compgen -f -- "$part")
        while read -r word; do
            [[ $word ]] && COMPREPLY+=("$word")
        done <<<"$answer"
    fi
}

complete -F _pyplug pyplug
