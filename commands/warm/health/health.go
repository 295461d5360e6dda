//go:build linux || darwin

package health

import (
	"time"
	"unicode/utf8"

	"github.com/pyplug/pyplug/commands/warm"
)

const (
	// limit is how long the warm way may delay the ordinary one.
	limit = 250 * time.Millisecond
	// maxService is the longest name whose length is one byte in protobuf.
	maxService = 0x7f

	healthMethod = "/grpc.health.v1.Health/Check"
	// healthServing is a HealthCheckResponse: field 1, a varint, is SERVING.
	healthServing = "\x08\x01"
)

// health is a question for a server's health.
type health struct{ address, service string }

// readHealth reads the words behind "health", spelled in any way that the
// ordinary way accepts. It refuses all flags but these, and a flag given twice.
func readHealth(words []string) (q health, ok bool) {
	given := map[string]bool{}
	for ; len(words) > 0; words = words[1:] {
		word, dashed := warm.CutPrefix(words[0], "-")
		word, _ = warm.CutPrefix(word, "-")
		name, value, hasValue := warm.Cut(word, "=")
		if name == "addr" {
			name = "address"
		}
		if !dashed || given[name] {
			return q, false
		}
		given[name] = true
		if name == "probe-codes" && !hasValue {
			continue // a plain result has the same code with and without
		}
		if !hasValue {
			if len(words) == 1 {
				return q, false
			}
			words = words[1:]
			value = words[0]
		}
		switch name {
		case "address":
			q.address = value
		case "service":
			q.service = value
		default:
			return q, false
		}
	}
	return q, len(q.service) <= maxService && utf8.ValidString(q.service)
}

// serving asks. It is false for whatever else happens, too.
func (q health) serving() bool {
	deadline := time.Now().Add(limit)
	targets, authority, ok := readAddress(q.address)
	if !ok {
		return false
	}
	conn := dial(targets, deadline)
	if conn == nil {
		return false
	}
	defer conn.Close()
	answer, ok := call(conn, authority, healthMethod, q.message())
	return ok && answer == healthServing
}

// message is a HealthCheckRequest: field 1, a text.
func (q health) message() string {
	if q.service == "" {
		return ""
	}
	return "\x0a" + string([]byte{byte(len(q.service))}) + q.service
}
