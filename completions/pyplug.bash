# bash completion for pyplug. Load it with
#
#     source <(pyplug completion bash)
#
# It runs on bash 3.2, which macOS has, and needs no bash-completion package.

# _pyplug_read reads a word as the user typed it, and expands nothing. plain is the word without its
# quotes. bash replaces only raw, the end of the word: the text after the quote that is open, or else
# after the last word break.
_pyplug_read() {
    local rest=$1 breaks=${COMP_WORDBREAKS//[[:space:]\"\'\\]/} before part char
    plain='' raw='' open=''
    while [[ $rest ]]; do
        case $open in
        \') part=${rest%%\'*} ;;
        \") part=${rest%%[\"\\]*} ;;
        *) part=${rest%%[\"\'\\"$breaks"]*} ;;
        esac
        plain+=$part raw+=$part rest=${rest:${#part}}
        [[ $rest ]] || break
        char=${rest:0:1} rest=${rest:1}
        case $open$char in
        \\ | \"\\)
            char=${rest:0:1} rest=${rest:1}
            [[ $char ]] || break # raw must not end with half of an escaped character
            case $open$char in \"[!\"\\\$\`]) plain+=\\ ;; esac
            plain+=$char raw+=\\$char
            ;;
        \' | \") open=$char before=$raw raw='' ;;
        \'\' | \"\") raw=$before$char$raw$char open='' ;;
        @ | \$) plain+=$char raw=$char ;; # bash replaces these breaks, too
        *) plain+=$char raw='' ;;
        esac
    done
}

# _pyplug_add adds a word, which begins with plain, to COMPREPLY. It keeps the text that the user
# typed, and quotes the rest, so that bash expands nothing in it.
_pyplug_add() {
    local rest=${1:${#plain}} text=$raw part char
    case $1 in *[[:cntrl:]]*) return ;; esac
    while [[ $rest ]]; do
        case $open in
        \') part=${rest%%\'*} ;;
        \") part=${rest%%[\"\\\$\`!]*} ;;
        *) part=${rest%%[]\ \"\'\\\$\`!*?[(){\}<>|&;#~^]*} ;;
        esac
        text+=$part rest=${rest:${#part}}
        [[ $rest ]] || break
        char=${rest:0:1} rest=${rest:1}
        case $open$char in
        \'\') text+="'\\''" ;;
        \"!) text+="\"'!'\"" ;; # a backslash before it would stay
        *) text+=\\$char ;;
        esac
    done
    # bash treats a quote at the beginning as the open one, and a quote at the end as its end.
    if [[ $open ]]; then
        [[ ! $raw && ${text:0:1} != [!"$open"] ]] && text=$open$text
        [[ $text == *"$open" ]] && text+=$open
    fi
    COMPREPLY+=("$text")
}

_pyplug() {
    local IFS=$'\n' words=() rest word i
    local plain raw open

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

    for ((i = 0; i < ${#words[@]}; i++)); do
        word=${words[i]}
        _pyplug_read "$word"
        words[i]=$plain
        if ((i < ${#words[@]} - 1)); then
            case $word in "~/"*) words[i]=$HOME/${plain#"~/"} ;; esac
        fi
    done

    local program answer files='' kind='' base file part
    program=$(type -P -- "${COMP_WORDS[0]}") || program=pyplug
    answer=$("$program" __complete "${words[@]}" 2>/dev/null) || answer=:files

    COMPREPLY=()
    while read -r word; do
        case $word in :files$'\t'*) kind=${word#*$'\t'} ;; esac
        word=${word%%$'\t'*}
        case $word in
        :files) files=1 ;;
        "") ;;
        "$plain"*) _pyplug_add "$word" ;;
        esac
    done <<<"$answer"

    if [[ $files ]]; then
        # bash lists only the last part of paths, and must not quote them again: bash 4.3 can do both.
        compopt -o filenames -o noquote 2>/dev/null
        # The file name follows name@=, name:=@, name= or --flag=.
        part=$plain
        case ${plain%%=*} in */* | "$plain") ;; *) part=${plain#*=} ;; esac
        case ${plain%"$part"} in *:=) part=${part#@} ;; esac
        base=${plain%"$part"}
        # Always offer directories: they may contain such files. If nothing matches, offer all.
        case $kind in
        "") answer= ;;
        *) answer=$(compgen -d -- "$part"; compgen -f -X "!*$kind" -- "$part") ;;
        esac
        [[ $answer ]] || answer=$(compgen -f -- "$part")
        while read -r word; do
            case $word in
            "") continue ;;
            "~/"*) file=$HOME/${word#"~/"} ;;
            *) file=$word ;;
            esac
            [[ -d $file ]] && word+=/
            case $base$word in "$plain"*) _pyplug_add "$base$word" ;; esac
        done <<<"$answer"
    fi

    # compopt needs bash 4; without it bash adds an unwanted space.
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[=/:] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}

complete -F _pyplug pyplug
