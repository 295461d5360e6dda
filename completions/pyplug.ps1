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
    $current = "$wordToComplete".Trim("'", '"')

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
        [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $description)
    }
}
