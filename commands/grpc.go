package commands

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner"
)

const (
	grpcCategory = "gRPC plugins:"
	// defaultMessage is --max-message when it is not given.
	defaultMessage = 64 << 20
)

// grpcOptions are what every command that starts a plugin takes for gRPC plugins.
type grpcOptions struct {
	cookieKey, cookieValue string
	versions               []int
	mtls                   *bool // nil leaves it to the manifest
	curve                  string
	maxMessage             int64
	service                string
	proto, protoPath       []string
	protoset               []string
}

func (o *grpcOptions) flags() []cli.Flag {
	o.maxMessage = defaultMessage
	const most = 1<<31 - 1 // of HTTP/2's framing by gRPC
	var mtls bool
	mtlsFlag := switchFlag(&mtls, "mtls", "secure the connection as go-plugin's AutoMTLS does")
	parse := valueOf(mtlsFlag).parse
	valueOf(mtlsFlag).parse = func(text string) error {
		o.mtls = &mtls
		return parse(text)
	}
	return inCategory(grpcCategory,
		newFlag("cookie", "set the magic cookie that the plugin's host sets, `KEY=VALUE`", o.setCookie),
		newFlag("protocol-versions", "offer these protocol versions, `LIST` such as 1,2 (default: 1)", o.setVersions),
		mtlsFlag,
		choiceFlag(&o.curve, "mtls-curve", "--mtls with a key of this `CURVE`: "+strings.Join(runner.Curves(), ", "), runner.Curves()...),
		sizeFlag(&o.maxMessage, 0, most, `"512KB" or "16MB", at most 2 GB`, "max-message", "limit messages to `SIZE`, such as 16MB (default: 64MB)"),
		o.serviceFlag(),
		filesFlag(&o.proto, "proto", "read the plugin's methods from the .proto file `FILE`"),
		filesFlag(&o.protoPath, "proto-path", "look for imports of --proto in `DIR`"),
		filesFlag(&o.protoset, "protoset", "read the plugin's methods from descriptors in `FILE`, as protoc -o writes it"),
	)
}

// serviceFlag is for servers that run already, too.
func (o *grpcOptions) serviceFlag() *cli.GenericFlag {
	return nameFlag(&o.service, "service", "ask for the health of the service `NAME` (default for a plugin: \"plugin\")")
}

// config returns what they say.
func (o *grpcOptions) config() (runner.GRPC, error) {
	g := runner.GRPC{
		CookieKey: o.cookieKey, CookieValue: o.cookieValue, Versions: o.versions, MTLS: o.mtls, Curve: o.curve,
		MaxMessage: int(o.maxMessage), Service: o.service, Proto: o.proto, ProtoPath: o.protoPath, Protoset: o.protoset,
	}
	switch {
	case o.curve != "" && o.mtls == nil: // to choose a curve is to want it
		on := true
		g.MTLS = &on
	case o.curve != "" && !*o.mtls:
		return g, usage("--mtls-curve says how --mtls is done, and --mtls=false is given")
	case len(o.protoPath) > 0 && len(o.proto) == 0:
		return g, usage("--proto-path says where imports of --proto are, and that is not given")
	case o.maxMessage == 0:
		return g, usage(`--max-message is "0", want a size such as "512KB" or "16MB", at most 2 GB`)
	}
	return g, nil
}

func (o *grpcOptions) setCookie(text string) error {
	var ok bool
	if o.cookieKey, o.cookieValue, ok = strings.Cut(text, "="); !ok || o.cookieKey == "" {
		return fmt.Errorf("is %q, want KEY=VALUE", text)
	}
	return nil
}

func (o *grpcOptions) setVersions(text string) error {
	o.versions = nil
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 0 {
			return fmt.Errorf("is %q, want numbers separated by commas", text)
		}
		o.versions = append(o.versions, n)
	}
	return nil
}

// headers are the metadata of requests, in pairs of name and value.
type headers struct{ pairs []string }

// flag declares it. alias is what another program calls it.
func (h *headers) flag(alias ...string) cli.Flag {
	flag := repeated(newFlag("header", "send this metadata, `NAME=VALUE` or \"NAME: VALUE\"; base64 if the name ends in -bin", h.add))
	flag.Aliases = append([]string{"H"}, alias...)
	flag.Category = grpcCategory
	return flag
}

// add reads NAME=VALUE or, as for HTTP, "NAME: VALUE".
func (h *headers) add(text string) error {
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
		return fmt.Errorf("is %q, want NAME=VALUE or \"NAME: VALUE\" with a name of letters, digits, and . - or _", text)
	case strings.HasPrefix(name, "grpc-"), slices.Contains([]string{"te", "content-type", "user-agent"}, name):
		return fmt.Errorf("has the name %s, which is gRPC's own", name) // which would drop it
	case strings.HasSuffix(name, "-bin"):
		content, err := base64.StdEncoding.DecodeString(value)
		if err != nil {
			content, err = base64.RawStdEncoding.DecodeString(value)
		}
		if err != nil {
			return fmt.Errorf("has a value for %s that is not base64, which a name that ends in -bin needs", name)
		}
		value = string(content)
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }):
		return fmt.Errorf("has the value %q for %s, want printable ASCII; a name that ends in -bin takes base64 of anything", value, name)
	}
	h.pairs = append(h.pairs, name, value)
	return nil
}

// grpcOnly names the first flag that was typed and that only a gRPC plugin has a
// use for; empty if none was.
func (f *program) grpcOnly(c *cli.Command) string {
	return f.firstTyped(slices.DeleteFunc(slices.Clone(c.Flags), func(flag cli.Flag) bool {
		in, ok := flag.(cli.CategorizableFlag)
		return !ok || in.GetCategory() != grpcCategory
	}))
}
