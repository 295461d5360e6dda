package handshake

import (
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// The fields. The first is 1.
const (
	fieldCore     = 1 + iota // version of go-plugin's own protocol, always 1
	fieldApp                 // version of the host's plugin interface
	fieldNetwork             // tcp or unix
	fieldAddress             // IP address with port, or the path of a Unix socket
	fieldProtocol            // netrpc (the default) or grpc
	fieldCert                // server certificate for mutual TLS: DER in unpadded base64
)

var fieldNames = [...]string{"core version", "app version", "network", "address", "protocol", "certificate"}

const (
	// shape is how messages show the format of the line.
	shape = "CORE|APP|NETWORK|ADDRESS|PROTOCOL"
	// minCert is the minimum length at which go-plugin treats the sixth field as a
	// certificate. It ignores shorter ones.
	minCert = 51
)

// Line is a parsed line.
type Line struct {
	// Core and App are the two versions.
	Core, App int
	// Network and Address say where the plugin listens. Protocol is empty if the
	// line has only four fields.
	Network, Address, Protocol string
	// Cert is the certificate in DER, or nil.
	Cert []byte
	// Notes are oddities of a line that can be understood.
	Notes []Note

	text string // the line without surrounding blanks
}

// Note is an oddity of a line.
type Note struct {
	// Field is the number of the field, from 1. 0 is the whole line.
	Field int
	// Text describes the oddity.
	Text string
	// Refused reports whether go-plugin's own hosts reject such a line.
	Refused bool
}

// Looks reports whether a printed line is meant as the handshake, so that [Parse] and [Line.Verify]
// can say what is wrong with it. Any other line is noise. Looks ignores blanks around the fields. A
// line is meant as the handshake if
//
//   - it has at least 4 fields and the third is tcp or unix, or the fifth is grpc
//     or netrpc, in any case. A color around such a line, or "INFO " before it, is
//     a fault of its first field;
//   - or its first two fields are 1 and a number, like "1|1" or "1|1|udp";
//   - or it has two fields and the first is 1, like "1|invalid".
//
// So "1|done|x" and "12|13|tcp" are noise: they could be rows of any table.
func Looks(line string) bool {
	fields := strings.Split(strings.ToLower(line), "|")
	field := func(number int) string { return strings.TrimSpace(fields[number-1]) }
	n := len(fields)
	return n >= fieldAddress && (field(fieldNetwork) == "tcp" || field(fieldNetwork) == "unix") ||
		n >= fieldProtocol && (field(fieldProtocol) == "grpc" || field(fieldProtocol) == "netrpc") ||
		n > 1 && field(fieldCore) == "1" && (n == 2 || isNumber(field(fieldApp)))
}

// LooksGRPC reports whether a line looks like the handshake of a gRPC plugin. It is for programs
// that were not started as such a plugin.
func LooksGRPC(line string) bool { return strings.Contains(line, "|grpc") && Looks(line) }

func isNumber(s string) bool {
	return s != "" && len(s) < 10 && strings.Trim(s, "0123456789") == ""
}

// Parse splits a line into its fields. It accepts a line end. It returns an [*Error] if a
// go-plugin host could not read the line. [Line.Verify] checks what the fields say.
func Parse(line string) (Line, error) {
	l := Line{text: strings.TrimSpace(line)}
	if strings.TrimSuffix(line, "\n") != l.text {
		l.addNote(0, "there are blanks or a carriage return around the line")
	}
	fields := strings.Split(l.text, "|")
	if len(fields) < fieldAddress {
		e := &Error{Seen: fmt.Sprintf("has %d fields", len(fields)), Wanted: shape, Line: l.text, End: len(l.text)}
		switch {
		case l.text == "":
			e.Seen = "is empty"
		case len(fields) == 1:
			e.Seen = "has one field"
		}
		return l, e
	}
	fields = append(fields, "", "") // the other fields are optional
	var err error
	if l.Core, err = strconv.Atoi(fields[fieldCore-1]); err != nil {
		return l, l.fieldError(fieldCore, "1")
	}
	if l.App, err = strconv.Atoi(fields[fieldApp-1]); err != nil {
		return l, l.fieldError(fieldApp, "a number")
	}
	l.Network, l.Address, l.Protocol = fields[fieldNetwork-1], fields[fieldAddress-1], fields[fieldProtocol-1]
	return l, l.setCert(fields[fieldCert-1])
}

func (l *Line) setCert(text string) error {
	if len(text) < minCert {
		if text != "" {
			l.addNote(fieldCert, fmt.Sprintf("the certificate is too short to be one (%d characters)", len(text)))
		}
		return nil
	}
	bare := strings.TrimRight(text, "=")
	if bare != text {
		l.Notes = append(l.Notes, Note{Field: fieldCert, Text: "the certificate is padded base64", Refused: true})
	}
	der, err := base64.RawStdEncoding.DecodeString(bare)
	if err != nil {
		return l.fieldError(fieldCert, "standard base64")
	}
	if _, err := x509.ParseCertificate(der); err != nil {
		return l.fieldError(fieldCert, "an X.509 certificate in DER")
	}
	l.Cert = der
	return nil
}

func (l *Line) addNote(field int, text string) {
	l.Notes = append(l.Notes, Note{Field: field, Text: text})
}

// String returns the line as go-plugin expects it, without the oddities in Notes.
func (l Line) String() string {
	fields := []string{
		strconv.Itoa(l.Core), strconv.Itoa(l.App), l.Network, l.Address, l.Protocol,
		base64.RawStdEncoding.EncodeToString(l.Cert),
	}
	return strings.TrimRight(strings.Join(fields, "|"), "|")
}

// Want describes the line that the host expects.
type Want struct {
	// Versions are the app versions that the host offered. An empty list allows any version.
	Versions []int
	// TLS reports whether the connection will be encrypted, with [Host].ClientCert.
	TLS bool
	// Dirs are the directories that may contain the Unix socket, at any depth. An empty list allows
	// any directory. Verify compares paths as text, so a directory with two paths must be listed
	// twice.
	Dirs []string
}

// Verify checks that the line fits the host's request, and that its address must be on this
// machine. It returns an [*Error] about the first wrong field.
func (l Line) Verify(w Want) error {
	switch {
	case l.Core != 1:
		return l.fieldError(fieldCore, "1")
	case l.Protocol != "grpc":
		return l.fieldError(fieldProtocol, `"grpc"`) // first, because a netrpc plugin also has another version
	case len(w.Versions) > 0 && !slices.Contains(w.Versions, l.App):
		return l.fieldError(fieldApp, strings.Join(decimals(w.Versions), " or "))
	}
	wanted := ""
	switch l.Network {
	case "tcp":
		wanted = wantedPort(l.Address)
	case "unix":
		wanted = wantedSocket(l.Address, w.Dirs)
	default:
		return l.fieldError(fieldNetwork, `"tcp" or "unix"`)
	}
	if wanted != "" {
		return l.fieldError(fieldAddress, wanted)
	}
	switch {
	case w.TLS && l.Cert == nil:
		return l.fieldError(fieldCert, "a certificate, because TLS was requested")
	case !w.TLS && l.Cert != nil:
		e := l.fieldError(fieldCert, "none, because TLS was not requested")
		e.Unasked = true
		return e
	}
	return nil
}

// Resolve replaces the name localhost in the address by an IP address that lookup returns, as
// go-plugin's hosts do: the first IPv4 address, or else the first address. It keeps other addresses
// unchanged. Call Resolve before [Line.Verify], so that Verify checks the address that is used.
func (l *Line) Resolve(lookup func(host string) ([]netip.Addr, error)) error {
	host, port, err := net.SplitHostPort(l.Address)
	if l.Network != "tcp" || err != nil || !strings.EqualFold(host, "localhost") {
		return nil
	}
	found, err := lookup(host)
	if err != nil || len(found) == 0 {
		return l.fieldError(fieldAddress, "an IP address, or a name that can be resolved")
	}
	chosen := found[max(0, slices.IndexFunc(found, func(ip netip.Addr) bool { return ip.Unmap().Is4() }))].Unmap()
	if !chosen.IsLoopback() {
		return l.fieldError(fieldAddress, "a name of a loopback address; it is one of "+chosen.String())
	}
	l.addNote(fieldAddress, "the address is the name "+host+", which a host resolves to "+chosen.String())
	l.Address = net.JoinHostPort(chosen.String(), port)
	return nil
}

// wantedPort returns a description of the expected address, or "" if the address is a loopback IP
// address and a port. It never looks up a name: the result could change between the check and the
// connection.
func wantedPort(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "an IP address and a port, such as 127.0.0.1:4410 or [::1]:4410"
	}
	ip, err := netip.ParseAddr(host)
	number, portErr := strconv.ParseUint(port, 10, 16)
	switch {
	case err != nil:
		return "an IP address, not a name, such as 127.0.0.1:4410"
	case !ip.Unmap().IsLoopback():
		return "a loopback address, such as 127.0.0.1:4410"
	case portErr != nil || number == 0:
		return "a port from 1 to 65535"
	}
	return ""
}

// wantedSocket returns a description of the expected path, or "" if the path of a socket is valid.
func wantedSocket(path string, dirs []string) string {
	switch {
	case strings.ContainsRune(path, 0):
		return "a path without a zero byte"
	case !filepath.IsAbs(path):
		return "an absolute path"
	case len(path) > MaxSocket():
		return "a path of at most " + strconv.Itoa(MaxSocket()) + " bytes"
	case len(dirs) == 0:
		return ""
	}
	// If a symbolic link precedes it, ".." could leave the directory.
	above := slices.Contains(strings.Split(filepath.ToSlash(path), "/"), "..")
	for _, dir := range dirs {
		if in, err := filepath.Rel(dir, path); err == nil && !above && in != "." && filepath.IsLocal(in) {
			return ""
		}
	}
	return "a path in " + strings.Join(dirs, " or ")
}

// MaxSocket is the maximum length of a Unix socket path on this system, in bytes.
func MaxSocket() int {
	switch runtime.GOOS {
	case "linux", "windows":
		return 107
	}
	return 103
}

// Error is a fault in a handshake line.
type Error struct {
	// Field is the number of the field, from 1. 0 is the whole line.
	Field int
	// Name is the field's name, such as "address". It is empty for the whole line.
	Name string
	// Seen is the field's text, or empty if the field is missing. For the whole line it is a phrase
	// such as "has 2 fields". Wanted is a phrase, too.
	Seen, Wanted string
	// Line is the line without surrounding blanks. Line[Start:End] is the fault. If the field is
	// missing, both are the position where it should begin.
	Line       string
	Start, End int

	// Unasked reports whether the fault is a certificate that was not requested.
	Unasked bool
}

const (
	maxShown   = 60  // bytes of a field in a message
	maxDrawing = 100 // columns of a drawing
)

// Error names the field, what the plugin printed and what was expected.
func (e *Error) Error() string {
	if e.Field == 0 {
		return fmt.Sprintf("the line %s, expected %s", e.Seen, e.Wanted)
	}
	seen := strconv.Quote(e.Seen)
	switch {
	case e.Seen == "":
		seen = "missing"
	case isNumber(e.Seen):
		seen = e.Seen
	case len(e.Seen) > maxShown && e.Field == fieldCert:
		seen = fmt.Sprintf("%d characters", len(e.Seen))
	case len(e.Seen) > maxShown:
		seen = strconv.Quote(strings.ToValidUTF8(e.Seen[:maxShown], "")) + "..."
	}
	return fmt.Sprintf("field %d (%s) is %s, expected %s", e.Field, e.Name, seen, e.Wanted)
}

// Drawing returns the line, and a line with carets below the fault. It escapes unprintable
// characters and cuts long texts, so that both lines are ASCII and at most 100 columns wide. It
// returns nil for an empty line, and for a fault after the part that is shown.
func (e *Error) Drawing() []string {
	if e.Line == "" {
		return nil
	}
	before, fault := escape(e.Line[:e.Start]), escape(e.Line[e.Start:e.End])
	line := before + fault + escape(e.Line[e.End:])
	room := maxDrawing - len(before)
	if room <= 0 {
		return nil
	}
	return []string{
		line[:min(len(line), maxDrawing)],
		strings.Repeat(" ", len(before)) + strings.Repeat("^", min(max(1, len(fault)), room)),
	}
}

var unquote = strings.NewReplacer(`\\`, `\`, `\"`, `"`)

// escape replaces characters that are not printable ASCII with Go escapes.
func escape(s string) string {
	quoted := strconv.QuoteToASCII(s)
	return unquote.Replace(quoted[1 : len(quoted)-1])
}

// fieldError returns an error about a fault in one field.
func (l Line) fieldError(field int, wanted string) *Error {
	e := &Error{
		Field: field, Name: fieldNames[field-1], Wanted: wanted,
		Line: l.text, Start: len(l.text), End: len(l.text),
	}
	if fields := strings.Split(l.text, "|"); field <= len(fields) {
		e.Seen = fields[field-1]
		e.End = len(strings.Join(fields[:field], "|"))
		e.Start = e.End - len(e.Seen)
	}
	return e
}
