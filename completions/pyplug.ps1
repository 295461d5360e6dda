# PowerShell completion for pyplug. Load it with
#
#     pyplug completion powershell | Out-String | Invoke-Expression

Register-ArgumentCompleter -Native -CommandName pyplug, pyplug.exe -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $elements = $commandAst.CommandElements
    $words = @(foreach ($element in ($elements | Select-Object -Skip 1)) {
        if ($element.Extent.EndOffset -lt $cursorPosition) {
            if ($element -is [System.Management.Automation.Language.StringConstantExpressionAst]) {
                $element.Value
            } else {
                $element.Extent.Text
            }
        }
    })
    # PowerShell replaces the whole word, with a quote at its beginning that may be open. It reads the
    # typographic quotes as quotes, too.
    $current = "$wordToComplete"
    $single, $double, $escaped = '[''\u2018-\u201b]', '["\u201c-\u201e]', '`(.)'
    $quoted = $current -match "^(?:$single|$double)"
    if ($current -match "^$single") {
        $current = $current.Substring(1) -replace "$single$", '' -replace "$single($single)", '$1'
    } elseif ($quoted) {
        $current = $current.Substring(1) -replace "$double$", '' -replace $escaped, '$1'
    } else {
        $current = $current -replace $escaped, '$1'
    }
    # Nothing is expanded in single quotes. Without them, PowerShell splits -a.b and -a:b into two words.
    $text = {
        param($word)
        if ($quoted -or $word -match '[^\w./:=+-]' -or $word -match '^-.*[.:]') {
            "'" + [System.Management.Automation.Language.CodeGeneration]::EscapeSingleQuotedStringContent($word) + "'"
        } else {
            $word
        }
    }

    # Before 7.3, PowerShell drops an empty argument unless it is quoted twice.
    if ($current -eq '' -and ($PSVersionTable.PSVersion -lt [version]'7.3' -or
            $PSNativeCommandArgumentPassing -eq 'Legacy')) {
        $last = '""'
    } else {
        $last = $current
    }

    $answer = @(& $elements[0].Extent.Text __complete @words $last 2>$null)
    if ($LASTEXITCODE -ne 0) {
        $answer = @(':files')
    }
    foreach ($line in $answer) {
        $word, $description = $line -split "`t", 2
        if ($word -eq ':files') {
            # The file name follows name@=, name:=@ or --flag=.
            if ($current -match '^(?:.*@=|.*:=@|-[^=]*=)') {
                $head = $Matches[0]
            } else {
                $head = ''
            }
            $files = @([System.Management.Automation.CompletionCompleters]::CompleteFilename($current.Substring($head.Length)))
            # Always offer directories: they may contain such files. If nothing matches, offer all.
            $found = @($files | Where-Object {
                $_.ResultType -eq 'ProviderContainer' -or $_.ListItemText.EndsWith("$description")
            })
            if ($found.Count -eq 0) {
                $found = $files
            }
            foreach ($file in $found) {
                [System.Management.Automation.CompletionResult]::new(
                    $head + $file.CompletionText, $file.ListItemText, $file.ResultType, $file.ToolTip)
            }
            continue
        }
        if (-not $word) {
            continue
        }
        if (-not $description) {
            $description = $word
        }
        if ($word.StartsWith($current, [StringComparison]::Ordinal)) {
            [System.Management.Automation.CompletionResult]::new((& $text $word), $word, 'ParameterValue', $description)
        }
    }
}
