package commands

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/manifest"
)

const (
	grpcCategory = "gRPC plugins:"
	// serviceFlag is for servers that run already, too.
	serviceFlag = "service"
	// defaultMessage is --max-message when it is not given.
	defaultMessage = 64 << 20
)

// grpcFlags are those of every command that starts a plugin, for the gRPC
// plugins among them.
func grpcFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Category: grpcCategory, Name: "cookie", Usage: "the magic cookie that a host of the plugin sets, `KEY=VALUE`"},
		&cli.StringFlag{Category: grpcCategory, Name: "protocol-versions", Usage: "`LIST` of the protocol versions that are offered (default: 1)"},
		&cli.BoolFlag{Category: grpcCategory, Name: "mtls", Usage: "secure the connection as go-plugin's AutoMTLS does"},
		&cli.StringFlag{Category: grpcCategory, Name: "mtls-curve", Usage: "--mtls with a key of this `CURVE`: " + strings.Join(runner.Curves(), ", ")},
		&cli.StringFlag{Category: grpcCategory, Name: "max-message", Usage: "the largest message, a `SIZE` such as 16MB (default: 64MB)"},
		&cli.StringFlag{Category: grpcCategory, Name: serviceFlag, Usage: "whose health is asked for, a `NAME` (of a plugin: \"plugin\")"},
		&cli.StringSliceFlag{Category: grpcCategory, Name: "proto", Usage: "a .proto `FILE` that describes the plugin's methods"},
		&cli.StringSliceFlag{Category: grpcCategory, Name: "proto-path", Usage: "a `DIR` where imports of --proto are"},
		&cli.StringSliceFlag{Category: grpcCategory, Name: "protoset", Usage: "a `FILE` of descriptors, as protoc -o writes it"},
	}
}

// headerFlag is metadata of a request. alias is what another program calls it.
func headerFlag(alias ...string) cli.Flag {
	return &cli.StringSliceFlag{Category: grpcCategory, Name: "header", Aliases: append([]string{"H"}, alias...),
		Usage: "send this metadata, `NAME=VALUE` or \"NAME: VALUE\"; of a name that ends in -bin the value is base64"}
}

// readGRPC reads what grpcFlags and, where the command has them, the flags of
// run and health say.
func readGRPC(c *cli.Context) (runner.GRPC, error) {
	g := runner.GRPC{
		MaxMessage:   defaultMessage,
		Curve:        c.String("mtls-curve"),
		Service:      c.String(serviceFlag),
		EmitDefaults: c.Bool("emit-defaults"),
		Proto:        c.StringSlice("proto"),
		ProtoPath:    c.StringSlice("proto-path"),
		Protoset:     c.StringSlice("protoset"),
	}
	if err := notEmpty(c, serviceFlag, "proto", "proto-path", "protoset"); err != nil {
		return g, err
	}
	var err error
	if g.Metadata, err = readHeaders(c.StringSlice("header")); err != nil {
		return g, err
	}
	if g.Versions, err = readVersions(c); err != nil {
		return g, err
	}
	if cookie := c.String("cookie"); c.IsSet("cookie") {
		var ok bool
		if g.CookieKey, g.CookieValue, ok = strings.Cut(cookie, "="); !ok || g.CookieKey == "" {
			return g, usage("--cookie is %q, want KEY=VALUE", cookie)
		}
	}
	if g.MTLS, err = readMTLS(c); err != nil {
		return g, err
	}
	if c.IsSet("max-message") {
		const most = 1<<31 - 1 // of HTTP/2's framing by gRPC
		size, ok := manifest.ParseSize(c.String("max-message"))
		if !ok || size < 1 || size > most {
			return g, usage(`--max-message is %q, want a size such as "512KB" or "16MB", at most 2 GB`, c.String("max-message"))
		}
		g.MaxMessage = int(size)
	}
	if len(g.ProtoPath) > 0 && len(g.Proto) == 0 {
		return g, usage("--proto-path says where imports of --proto are, and that is not given")
	}
	return g, nil
}

// notEmpty refuses flags whose value is a name and is empty, as of a shell's
// variable that is not set.
func notEmpty(c *cli.Context, flags ...string) error {
	for _, flag := range flags {
		if c.IsSet(flag) && c.String(flag) == "" || slices.Contains(c.StringSlice(flag), "") {
			return usage("--%s is empty, want a name", flag)
		}
	}
	return nil
}

// readMTLS tells whether mTLS is wanted; nil leaves it to the manifest. To name a
// curve is to want it.
func readMTLS(c *cli.Context) (*bool, error) {
	if !c.IsSet("mtls") && !c.IsSet("mtls-curve") {
		return nil, nil
	}
	on := !c.IsSet("mtls") || c.Bool("mtls")
	curve := c.String("mtls-curve")
	switch {
	case !c.IsSet("mtls-curve"):
	case !slices.Contains(runner.Curves(), curve):
		return nil, usage("--mtls-curve is %q, want one of %s", curve, strings.Join(runner.Curves(), ", "))
	case !on:
		return nil, usage("--mtls-curve says how --mtls is done, and --mtls=false is given")
	}
	return &on, nil
}

// readVersions reads "1,2".
func readVersions(c *cli.Context) ([]int, error) {
	if !c.IsSet("protocol-versions") {
		return nil, nil
	}
	var versions []int
	for word := range strings.SplitSeq(c.String("protocol-versions"), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 0 {
			return nil, usage("--protocol-versions is %q, want numbers with commas between them", c.String("protocol-versions"))
		}
		versions = append(versions, n)
	}
	return versions, nil
}

// readHeaders makes pairs of names and values. They are written as NAME=VALUE or,
// as for HTTP, as "NAME: VALUE".
func readHeaders(given []string) ([]string, error) {
	var pairs []string
	for _, h := range given {
		name, value, ok := strings.Cut(h, "=")
		if before, after, colon := strings.Cut(h, ":"); colon && len(before) < len(name) {
			name, value, ok = before, strings.TrimLeft(after, " \t"), true
		}
		name = strings.ToLower(name)
		bad := strings.ContainsFunc(name, func(r rune) bool {
			return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-_.", r)
		})
		switch {
		case !ok || name == "" || bad:
			return nil, usage("--header is %q, want NAME=VALUE or \"NAME: VALUE\" with a name of letters, digits and -_.", h)
		case strings.HasPrefix(name, "grpc-"), name == "te", name == "content-type", name == "user-agent":
			return nil, usage("--header %s: this name is gRPC's own", name) // which would drop it
		case strings.HasSuffix(name, "-bin"):
			content, err := base64.StdEncoding.DecodeString(value)
			if err != nil {
				if content, err = base64.RawStdEncoding.DecodeString(value); err != nil {
					return nil, usage("--header %s: the value is not base64, want that for a name that ends in -bin", name)
				}
			}
			value = string(content)
		case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }):
			return nil, usage("--header %s: the value is %q, want printable ASCII; a name that ends in -bin takes base64 of anything", name, value)
		}
		pairs = append(pairs, name, value)
	}
	return pairs, nil
}

// grpcOnly names the first flag that was given and that only a gRPC plugin has a
// use for.
func grpcOnly(c *cli.Context) string {
	given := c.LocalFlagNames()
	for _, f := range c.Command.Flags {
		categorized, ok := f.(cli.CategorizableFlag)
		if ok && categorized.GetCategory() == grpcCategory && slices.Contains(given, f.Names()[0]) {
			return "--" + f.Names()[0]
		}
	}
	return ""
}
