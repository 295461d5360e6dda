package commands

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/service"
)

// hooksOf describes the hooks of a plugin: those of a background plugin if one has the name,
// else those that its source shows. If hookName is not empty, the others are of no interest.
func hooksOf(cmd command, plugin, hookName string) []schema.Hook {
	ctx, cancel := context.WithTimeout(context.Background(), sourceLimit)
	defer cancel()
	id := daemon.Identity{}
	if service.Plain(plugin) && strings.Contains(cmd.ArgsUsage, "NAME") {
		id, _ = service.Find(ctx, plugin) // else it is a path
	}
	if c, err := daemon.Open(ctx, id.Name); err == nil {
		found, _ := c.Hooks(ctx, schema.Query{Hook: hookName})
		return found.Hooks
	}
	cfg := *cmd.config
	_ = openConfig(&cfg, plugin) // what is wrong with the flags does not matter here
	return runner.SourceHooks(ctx, cfg)
}

// hookNames lists the hooks of a plugin, with their documentation.
func hookNames(cmd command, plugin string) (lines []string) {
	for _, h := range hooksOf(cmd, plugin, "") {
		lines = append(lines, described(h.Name, h.Doc))
	}
	return lines
}

// described returns a candidate and what it is.
func described(candidate, text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	return strings.TrimSuffix(candidate+"\t"+strings.Join(strings.Fields(text), " "), "\t")
}

// hookOf describes one hook of a plugin; without parameters if it is not known.
func hookOf(cmd command, plugin, hookName string) schema.Hook {
	hooks := hooksOf(cmd, plugin, hookName)
	at := slices.IndexFunc(hooks, func(h schema.Hook) bool {
		return h.Name == hookName || strings.HasSuffix(h.Name, "/"+hookName)
	})
	if at < 0 {
		return schema.Hook{}
	}
	return hooks[at]
}

// completeArgument completes the word behind the arguments of a hook: its parameters, then the
// choices of the one that the word is for.
func completeArgument(h schema.Hook, before []string, last string) []string {
	files := []string{anyFile}
	named := func(name string) schema.Param {
		p, _ := h.Param(name)
		return p
	}
	parsed, err := schema.ParseWords(before, func(string) ([]byte, error) { return nil, nil })
	if err != nil {
		return files
	}
	if n := len(parsed); n > 0 && parsed[n-1].Form == schema.Option {
		if _, is := h.IsFlag(parsed[n-1].Name); !is {
			return choicesOrFiles(named(parsed[n-1].Name), "", last)
		}
	}
	if slices.ContainsFunc(parsed, func(w schema.Word) bool { return w.Form == schema.Rest }) {
		return files
	}
	if head, value, ok := strings.Cut(last, "="); ok {
		return choicesOrFiles(named(strings.TrimPrefix(head, "--")), head+"=", value)
	}
	var lines []string
	if last == "" || strings.HasPrefix(last, "-") {
		lines = options(h.Params, last)
	}
	if decided, err := schema.Decide(parsed, h.IsFlag); err == nil && !strings.HasPrefix(last, "--") {
		position := len(slices.DeleteFunc(decided, func(w schema.Word) bool { return w.Name != "" }))
		if position < len(h.Params) && (h.Params[position].Kind == schema.Ordinary || h.Params[position].Kind == schema.PositionOnly) {
			lines = append(lines, choices(h.Params[position], "", last)...)
		}
		lines = append(lines, files...)
	}
	return lines
}

// options lists the parameters that have names, as --NAME.
func options(params []schema.Param, typed string) (lines []string) {
	for _, p := range params {
		if p.Kind != schema.Ordinary && p.Kind != schema.NameOnly {
			continue
		}
		names := []string{schema.OptionOf(p.Name)}
		if p.IsFlag() && strings.HasPrefix(typed, "--n") {
			names = append(names, "--no-"+names[0][len("--"):])
		}
		for _, name := range names {
			lines = append(lines, described(name, p.Type))
		}
	}
	return prefixed(lines, typed, "")
}

// choicesOrFiles lists the choices of a parameter; files if it has none.
func choicesOrFiles(p schema.Param, prefix, typed string) []string {
	if len(p.Choices) == 0 {
		return []string{anyFile}
	}
	return choices(p, prefix, typed)
}

// choices lists the values of a parameter that begin with what is typed, after a head.
func choices(p schema.Param, head, typed string) []string {
	var texts []string
	for _, value := range p.Choices {
		text := string(value)
		if value[0] == '"' {
			text = string(schema.Unquote(value))
		}
		if !strings.ContainsAny(text, "\t\r\n") {
			texts = append(texts, text)
		}
	}
	return prefixed(texts, typed, head)
}
