package manifest

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// maxDuration is a hundred years, which fits into a time.Duration with room.
const maxDuration = 100 * 365 * 24 * time.Hour

// duration reads "2s", "1m30s", or a bare number of seconds.
func duration(to **time.Duration, zero bool) setter {
	wanted := `a duration such as "30s", "2m" or a number of seconds`
	return func(value any) *problem {
		d, ok := parseDuration(value)
		switch {
		case !ok:
			return &problem{seen: show(value), wanted: wanted, suggest: likelyDuration(value)}
		case d < 0 || d > maxDuration || d == 0 && !zero:
			return &problem{seen: show(value), wanted: "a duration above 0 and below a hundred years"}
		}
		*to = &d
		return nil
	}
}

func parseDuration(value any) (time.Duration, bool) {
	var seconds float64
	switch v := value.(type) {
	case int64:
		seconds = float64(v)
	case float64:
		seconds = v
	case string:
		if d, err := time.ParseDuration(v); err == nil {
			return d, true
		}
		n, err := strconv.ParseFloat(v, 64)
		if err != nil {
			return 0, false
		}
		seconds = n
	default:
		return 0, false
	}
	if math.IsNaN(seconds) {
		return 0, false
	}
	if math.Abs(seconds) > maxDuration.Seconds() {
		seconds = math.Copysign(maxDuration.Seconds()+1, seconds)
	}
	return time.Duration(seconds * float64(time.Second)), true
}

// wordy matches durations as people write them: "2 s", "30sec", "5 minutes", "1d".
var wordy = expression(`(?i)^\s*(\d{1,9})\s*(ms|millis|s|sec|m|min|h|hour|d|day)[a-z]*\s*$`)

func likelyDuration(value any) string {
	s, _ := value.(string)
	m := wordy().FindStringSubmatch(s)
	if m == nil {
		return ""
	}
	switch unit := strings.ToLower(m[2]); {
	case unit[0] == 'd':
		n, _ := strconv.Atoi(m[1])
		return strconv.Itoa(n*24) + "h"
	case unit == "ms" || unit == "millis":
		return m[1] + "ms"
	default:
		return m[1] + unit[:1]
	}
}

var memoryText = expression(`(?i)^(\d{1,15}(?:\.\d{1,9})?)\s*([kmgt]?)(?:i?b)?$`)

// LeastMemory is the lowest limit on memory, in bytes. It is below what any Python
// takes: who says less forgot the unit.
const LeastMemory = 1 << 20

// memory reads "512MB", "1.5G", or a bare number of bytes.
func memory(to *int64) setter {
	return func(value any) *problem {
		var bytes int64
		switch v := value.(type) {
		case int64:
			bytes = v
		case string:
			if size, ok := ParseSize(v); ok {
				bytes = size
			}
		}
		switch {
		case bytes < 1:
			return &problem{seen: show(value), wanted: `a size above 0 such as "512MB" or "2GB"`}
		case bytes < LeastMemory:
			return &problem{seen: show(value), wanted: "at least 1MB"}
		}
		*to = bytes
		return nil
	}
}

// ParseSize reads a number of bytes: "512MB", "1.5G", or the bare number. K, M, G
// and T are powers of 1024, with or without B or iB behind them.
func ParseSize(text string) (bytes int64, ok bool) {
	m := memoryText().FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, _ := strconv.ParseFloat(m[1], 64) // digits
	if m[2] != "" {
		n *= math.Pow(1024, float64(1+strings.Index("kmgt", strings.ToLower(m[2]))))
	}
	return int64(n), n < math.MaxInt64
}

// cores reads 0.5, 2, or "50%".
func cores(to *float64) setter {
	return func(value any) *problem {
		var n float64
		switch v := value.(type) {
		case int64:
			n = float64(v)
		case float64:
			n = v
		case string:
			if strings.HasSuffix(v, "%") {
				n, _ = ParseCores(v)
			}
		}
		if !(n > 0 && n <= 4096) {
			return &problem{seen: show(value), wanted: `a number of cores above 0 such as 0.5, 2 or "50%"`}
		}
		*to = n
		return nil
	}
}

// ParseCores reads a number of cores above 0: "0.5", "2", or "50%".
func ParseCores(text string) (cores float64, ok bool) {
	digits, percent := strings.CutSuffix(text, "%")
	n, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if percent {
		n /= 100
	}
	return n, err == nil && n > 0 && n <= 4096
}
