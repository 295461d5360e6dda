package ui

import (
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// Healthy prints that a probe found a plugin healthy: a line, or {"schema", "healthy",
// "took_ms", "pid", "python"}.
func (s *Streams) Healthy(took time.Duration, info hook.Info, asJSON bool) error {
	if !asJSON {
		return s.Print(Paint(Green, "healthy") + "\n")
	}
	return s.writeJSON(struct {
		Healthy bool              `json:"healthy"`
		TookMS  hook.Milliseconds `json:"took_ms"`
		PID     int               `json:"pid,omitempty"`
		Python  string            `json:"python,omitempty"`
	}{true, hook.Milliseconds(took), info.PID, info.Python})
}

// Health prints what a watch sees: a plugin's health status, or the error of a probe. A
// status is a gRPC name, such as "SERVING"; a plugin without one is healthy if there is
// no error.
//
// A line is the word "healthy" or "unhealthy", then the status and the reason; an object
// is {"schema", "time", "healthy", "status", "reason"}.
func (s *Streams) Health(status string, probe *hook.Error, asJSON bool) error {
	healthy := probe == nil && (status == "" || status == "SERVING")
	reason := ""
	if probe != nil {
		reason = probe.Error()
	}
	if asJSON {
		return s.writeJSON(struct {
			Time    string `json:"time"`
			Healthy bool   `json:"healthy"`
			Status  string `json:"status,omitempty"`
			Reason  string `json:"reason,omitempty"`
		}{s.Now().Format(timeFormat), healthy, status, reason})
	}
	line := Paint(Green, "healthy") + "    "
	if !healthy {
		line = Paint(Red, "unhealthy") + "  "
	}
	line += status
	if status != "" && reason != "" {
		line += ": "
	}
	return s.Print(strings.TrimRight(oneLine(line+reason), " ") + "\n")
}
