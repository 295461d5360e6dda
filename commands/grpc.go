package commands

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/manifest"
)

const (
	grpcCategory = "gRPC plugins"
	// defaultMessage is --max-message when it is not given.
	defaultMessage = 64 << 20
)

// grpcFlags are those of every command that starts a plugin, for gRPC plugins.
func grpcFlags(g *runner.GRPC) []cli.Flag {
	g.MaxMessage = defaultMessage
	const most = 1<<31 - 1 // of HTTP/2's framing by gRPC
	var mtls bool
	decides := func(f *flag) *flag { return then(f, func() { g.Decides = "--" + f.Name }) }
	return inCategory(grpcCategory,
		decides(choiceFlag(&g.Host, "host", "start it as `HOST` does: "+strings.Join(manifest.HostNames(), ", "), manifest.HostNames()...)),
		decides(newFlag("cookie", "set the magic cookie that the plugin's host sets, `KEY=VALUE`", func(text string) error {
			var ok bool
			if g.CookieKey, g.CookieValue, ok = strings.Cut(text, "="); !ok || g.CookieKey == "" {
				return fmt.Errorf("is %q, want KEY=VALUE", text)
			}
			return nil
		})),
		decides(newFlag("protocol-versions", "offer these protocol versions, `LIST` such as 1,2 (default: 1)", func(text string) error {
			return setVersions(&g.Versions, text)
		})),
		then(switchFlag(&mtls, "mtls", "secure the connection as go-plugin's AutoMTLS does"), func() {
			if g.MTLS = &mtls; mtls {
				g.Decides = "--mtls"
			}
		}),
		choiceFlag(&g.Curve, "mtls-curve", "--mtls with a key of this `CURVE`: "+strings.Join(runner.Curves(), ", "), runner.Curves()...),
		sizeFlag(&g.MaxMessage, 0, 1, most, `"512KB" or "16MB", at most 2 GB`, "max-message", "limit messages to `SIZE`, such as 16MB (default: 64MB)"),
		nameFlag(&g.Service, "service", "ask for the health of the service `NAME` (default for a plugin: \"plugin\")"),
		repeated(newFlag("arg", "pass the plugin the argument `VALUE`", func(text string) error {
			g.Arguments = append(g.Arguments, text)
			return nil
		})),
		filesFlag(&g.Proto, "proto", "read the plugin's methods from `FILE`, a .proto or a *_pb2.py"),
		ofKind(filesFlag(&g.ProtoPath, "proto-path", "look for imports of --proto in `DIR`"), directories),
		filesFlag(&g.Protoset, "protoset", "read the plugin's methods from descriptors in `FILE`, as protoc -o writes it"),
	)
}

// checkGRPC rejects flags that contradict each other. To choose a curve is to want mTLS.
func checkGRPC(g *runner.GRPC) error {
	switch {
	case g.Curve != "" && g.MTLS != nil && !*g.MTLS:
		return usage("--mtls-curve applies only with --mtls, but --mtls=false is given")
	case len(g.ProtoPath) > 0 && len(g.Proto) == 0:
		return usage("--proto-path applies only with --proto")
	case g.Curve != "":
		on := true
		g.MTLS = &on
	}
	return nil
}

func setVersions(to *[]int, text string) error {
	*to = nil
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 0 {
			return fmt.Errorf("is %q, want numbers separated by commas", text)
		}
		*to = append(*to, n)
	}
	return nil
}

// headerFlag takes metadata of requests, which it stores as pairs of name and value.
func headerFlag(to *[]string) *flag {
	f := repeated(newFlag("header", "send this metadata, `NAME=VALUE` or \"NAME: VALUE\"; base64 if the name ends in -bin", func(text string) error {
		name, value, err := parseHeader(text)
		*to = append(*to, name, value)
		return err
	}))
	f.Category = grpcCategory
	return alias(f, "H")
}

// parseHeader reads NAME=VALUE or, as for HTTP, "NAME: VALUE".
func parseHeader(text string) (name, value string, err error) {
	name, value, ok := strings.Cut(text, "=")
	if before, after, colon := strings.Cut(text, ":"); colon && len(before) < len(name) {
		name, value, ok = before, strings.TrimLeft(after, " \t"), true
	}
	name = strings.ToLower(name)
	bad := strings.ContainsFunc(name, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-_.", r)
	})
	switch {
	case !ok || name == "" || bad:
		return "", "", fmt.Errorf("is %q, want NAME=VALUE or \"NAME: VALUE\" with a name of letters, digits, and . - or _", text)
	case strings.HasPrefix(name, "grpc-"), slices.Contains([]string{"te", "content-type", "user-agent"}, name):
		return "", "", fmt.Errorf("has the name %s, which is gRPC's own", name) // which would drop it
	case strings.HasSuffix(name, "-bin"):
		content, err := base64.StdEncoding.DecodeString(value)
		if err != nil {
			content, err = base64.RawStdEncoding.DecodeString(value)
		}
		if err != nil {
			return "", "", fmt.Errorf("has a value for %s that is not base64, which a name that ends in -bin needs", name)
		}
		value = string(content)
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }):
		return "", "", fmt.Errorf("has the value %q for %s, want printable ASCII; a name that ends in -bin takes base64 of anything", value, name)
	}
	return name, value, nil
}
