# fish completion for pyplug. Load it with
#
#     pyplug completion fish | source
#
# or install it as ~/.config/fish/completions/pyplug.fish

function __pyplug_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    set words (string replace -r '^~/' "$HOME/" -- $words)

    # fish quotes the text that it inserts. The typed text may have an open quote, or end with a backslash.
    set current (string unescape -- "$current"; or string unescape -- (string sub -e -1 -- "$current"))
    set -l answer ($program __complete $words "$current" 2>/dev/null)
    or set answer :files

    for line in $answer
        if not string match -qr -- '^:files(\t|$)' "$line"
            printf '%s\n' $line
            continue
        end
        set -l kind (string split \t -- "$line")[2]
        # The file name follows name@=, name:=@ or --flag=.
        set -l head (string match -r -- '^(?:.*@=|.*:=@|-[^=]*=)' "$current")
        set -l part (string sub -s (math (string length -- "$head") + 1) -- "$current")
        # Always offer directories: they may contain such files. If nothing matches, offer all.
        set -l all (__fish_complete_path "$part")
        set -l found (string match -r -- '^[^\t]*/(?:\t.*)?$|^[^\t]*'(string escape --style=regex -- "$kind")'(?:\t.*)?$' $all)
        test -n "$found"; or set found $all
        for file in $found
            printf '%s%s\n' "$head" $file
        end
    end
end

complete -c pyplug -f -a '(__pyplug_complete)'
