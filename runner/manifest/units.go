package manifest

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// MaxDuration is a hundred years, far below the limit of time.Duration.
const MaxDuration = 100 * 365 * 24 * time.Hour

// ParseDuration parses a duration as flags and manifests have it: "30s", "1m30s" or a
// number of seconds. It is not ok if it is negative or above a hundred years.
func ParseDuration(text string) (d time.Duration, ok bool) {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		// A NaN fails the comparison, too.
		inRange := seconds >= 0 && seconds <= MaxDuration.Seconds()
		return time.Duration(seconds * float64(time.Second)), inRange
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d >= 0 && d <= MaxDuration
}

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
