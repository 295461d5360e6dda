package manifest

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// size is compiled when it is first used: most runs need none.
var size = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(\d{1,15}(?:\.\d{1,9})?)\s*([kmgt]?)(?:i?b)?$`)
})

// ParseSize parses a number of bytes: "512MB", "1.5G", or only digits. K, M, G and T
// are powers of 1024, with or without B or iB.
func ParseSize(text string) (bytes int64, ok bool) {
	m := size().FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, _ := strconv.ParseFloat(m[1], 64) // cannot fail: digits
	if m[2] != "" {
		n *= math.Pow(1024, float64(1+strings.Index("kmgt", strings.ToLower(m[2]))))
	}
	return int64(n), n < math.MaxInt64
}
