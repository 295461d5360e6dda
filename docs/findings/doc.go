// Package findings embeds the pages of this directory. Each page explains one
// finding of `pyplug check`: what it is, why hosts care, how to fix it.
//
//   - [IDs] lists the findings, [Title] summarizes one, [Page] returns its page.
//
// It does not know when a finding occurs. Package check does; a test compares the
// ids in check with the pages. All functions are safe for concurrent use.
package findings
