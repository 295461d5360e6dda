package runner

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
)

// ParseHeader reads metadata of a gRPC request: NAME=VALUE or, as for HTTP, "NAME: VALUE".
// Its error reads after the name of a flag.
func ParseHeader(text string) (name, value string, err error) {
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
