package settings

import (
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// units are the units of a size. Each is 1024 times the one before it.
const units = "KMGT"

// ParseSize parses a number of bytes: "512MB", "1.5G", or only digits. K, M, G and T are powers of
// 1024, with or without B or iB.
func ParseSize(text string) (bytes int64, ok bool) {
	end := strings.IndexFunc(text, func(c rune) bool { return c != '.' && (c < '0' || c > '9') })
	if end < 0 {
		end = len(text)
	}
	unit := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(strings.TrimSpace(text[end:])), "B"), "I")
	n, err := strconv.ParseFloat(text[:end], 64)
	n *= math.Pow(1024, float64(1+strings.Index(units, unit)))
	if unit == "" {
		n /= 1024
	}
	return int64(n), err == nil && n < math.MaxInt64 && (unit == "" || len(unit) == 1 && strings.Contains(units, unit))
}

// show returns a value of TOML as messages print it.
func show(value any) string {
	switch v := value.(type) {
	case string:
		if len(v) > 60 {
			return fmt.Sprintf("%q…", v[:60])
		}
		return strconv.Quote(v)
	case map[string]any:
		return "a table"
	case []any:
		return "an array"
	case int64, float64, bool:
		return fmt.Sprint(v)
	}
	return "a date" // this includes times
}

// anyText accepts every text.
func anyText(string) error { return nil }

// checkCookie accepts KEY=VALUE.
func checkCookie(text string) error {
	if strings.IndexByte(text, '=') < 1 {
		return fmt.Errorf("is %q, expected KEY=VALUE", text)
	}
	return nil
}

// checkVariable accepts NAME=VALUE, which sets an environment variable, and NAME, which passes one
// on.
func checkVariable(text string) error {
	if text == "" || text[0] == '=' {
		return fmt.Errorf("is %q, expected NAME=VALUE or NAME", text)
	}
	return nil
}

// checkHeader accepts metadata that [ParseHeader] can read.
func checkHeader(text string) error {
	_, _, err := ParseHeader(text)
	return err
}

// ParseHeader reads metadata of a gRPC request: NAME=VALUE or, as in HTTP, "NAME: VALUE". Its error
// follows the name of a flag.
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
		return "", "", fmt.Errorf("is %q, expected NAME=VALUE or \"NAME: VALUE\" with a name of letters, digits, and . - or _", text)
	case strings.HasPrefix(name, "grpc-"), slices.Contains([]string{"te", "content-type", "user-agent"}, name):
		return "", "", fmt.Errorf("has the name %s, which is gRPC's own", name) // gRPC would drop it
	case strings.HasSuffix(name, "-bin"):
		content, err := base64.StdEncoding.DecodeString(value)
		if err != nil {
			content, err = base64.RawStdEncoding.DecodeString(value)
		}
		if err != nil {
			return "", "", fmt.Errorf("has a value for %s that is not base64, expected base64 for a name that ends in -bin", name)
		}
		value = string(content)
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }):
		return "", "", fmt.Errorf("has the value %q for %s, expected printable ASCII; a name that ends in -bin takes base64 of anything", value, name)
	}
	return name, value, nil
}
