package handshake

import (
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

// Field is one field of the line.
type Field struct {
	// Name is what errors call it.
	Name string
	// Meaning is one sentence for whoever writes a plugin.
	Meaning string
	// Example is a value that a Python plugin prints.
	Example string
}

// Fields are the fields of the line, the first one at index 0. Source:
// docs/internals.md of github.com/hashicorp/go-plugin, and client.go where that
// says less.
var Fields = [...]Field{
	{"core version", "the version of go-plugin's own protocol, always 1", "1"},
	{"app version", "the version of the host's plugin interface, one of those in PLUGIN_PROTOCOL_VERSIONS", "1"},
	{"network", "the kind of address that follows, tcp or unix", "tcp"},
	{"address", "where the plugin listens: an IP address with its port, or the path of a Unix socket", "127.0.0.1:4410"},
	{"protocol", "what the plugin speaks there, netrpc or grpc; without it a host takes it for netrpc", "grpc"},
	{"certificate", "the server's certificate under mutual TLS: DER in standard base64 without padding", ""},
	{"multiplexing", "true if all goes through one connection, printed only if PLUGIN_MULTIPLEX_GRPC is set", ""},
}

// The fields by their number.
const (
	fieldCore = 1 + iota
	fieldApp
	fieldNetwork
	fieldAddress
	fieldProtocol
	fieldCert
	fieldMux
)

// Shape is the whole line as its fields' names.
const Shape = "CORE|APP|NETWORK|ADDRESS|PROTOCOL"

// MaxLine is how many bytes of a line go-plugin reads, without its line end.
const MaxLine = 64<<10 - 1

// shortCert is how long a sixth field must be for go-plugin to take it for a
// certificate: it passes over shorter ones.
const shortCert = 50

// Line is a parsed line.
type Line struct {
	// Raw is the line as it came.
	Raw string
	// Core and App are the two versions.
	Core, App int
	// Network and Address are where it listens; Protocol is "" where the line has
	// only four fields.
	Network, Address, Protocol string
	// Cert is the certificate in DER; nil if there is none.
	Cert []byte
	// Mux says that the plugin multiplexes.
	Mux bool
	// Notes are what is odd about it.
	Notes []Note

	spans [][2]int // where the fields are in the trimmed line
	text  string   // the trimmed line
}

// Note is something odd that does not keep the line from being understood.
type Note struct {
	// Field is its number, 0 for the whole line.
	Field int
	// Text says what is odd.
	Text string
	// Refused says that go-plugin's own hosts refuse such a line.
	Refused bool
}

// Looks says whether a line that a program printed is meant as the handshake, so
// that [Parse] and [Line.Verify] are to tell what is wrong with it. A line that is
// not is noise. It is meant when, whatever the blanks around its fields,
//
//   - it has at least 4 fields, of which the third is tcp or unix, or the fifth
//     grpc or netrpc, in capitals or not. A colour around it, or a log's "INFO "
//     before it, makes its first field wrong, and the line no noise;
//   - or its first two fields are 1 and a number, like "1|1" or "1|1|udp";
//   - or it has two fields, of which the first is 1, like "1|invalid".
//
// So "1|done|x" and "12|13|tcp" are noise: they could be rows of any table.
func Looks(line string) bool {
	fields := strings.Split(line, "|")
	for i := range fields {
		fields[i] = strings.ToLower(strings.TrimSpace(fields[i]))
	}
	n := len(fields)
	if n >= 4 && (fields[fieldNetwork-1] == "tcp" || fields[fieldNetwork-1] == "unix") {
		return true
	}
	if n >= fieldProtocol && (fields[fieldProtocol-1] == "grpc" || fields[fieldProtocol-1] == "netrpc") {
		return true
	}
	return n > 1 && fields[0] == "1" && (n == 2 || digits(fields[fieldApp-1]))
}

func digits(s string) bool {
	return s != "" && len(s) < 10 && strings.Trim(s, "0123456789") == ""
}

// Parse cuts a line into its fields, with or without its line end. The error is an
// [*Error]: whatever one of go-plugin's hosts could not read. What it says is
// checked by [Line.Verify].
func Parse(line string) (Line, error) {
	l := Line{Raw: line, text: strings.TrimSpace(line)}
	if n := len(strings.TrimSuffix(line, "\n")); n > MaxLine {
		return l, l.whole(fmt.Sprintf("is %d bytes long", n), fmt.Sprintf("at most %d", MaxLine))
	}
	l.trimmed()
	fields := strings.Split(l.text, "|")
	start := 0
	for _, f := range fields {
		l.spans = append(l.spans, [2]int{start, start + len(f)})
		start += len(f) + 1
	}
	switch n := len(fields); {
	case l.text == "":
		return l, l.whole("is empty", Shape)
	case n == 1:
		return l, l.whole("has one field", Shape)
	case n < 4:
		return l, l.whole(fmt.Sprintf("has %d fields", n), Shape)
	case n > len(Fields):
		l.note(0, fmt.Sprintf("the line has %d fields; those after the seventh mean nothing", n), false)
	}
	err := l.fill(fields)
	return l, err
}

// trimmed notes what was around the line.
func (l *Line) trimmed() {
	line := strings.TrimSuffix(l.Raw, "\n")
	if rest, found := strings.CutSuffix(line, "\r"); found {
		l.note(0, "the line ends with a carriage return", false)
		line = rest
	}
	if line != l.text {
		l.note(0, "there are blanks around the line", false)
	}
}

// fill takes the fields' values.
func (l *Line) fill(fields []string) error {
	var err error
	if l.Core, err = strconv.Atoi(fields[0]); err != nil {
		return l.fail(fieldCore, "1")
	}
	if l.App, err = strconv.Atoi(fields[1]); err != nil {
		return l.fail(fieldApp, "a number")
	}
	l.Network, l.Address = fields[2], fields[3]
	if len(fields) >= fieldProtocol {
		l.Protocol = fields[fieldProtocol-1]
	}
	if len(fields) >= fieldMux {
		if l.Mux, err = strconv.ParseBool(fields[fieldMux-1]); err != nil && fields[fieldMux-1] != "" {
			l.note(fieldMux, "multiplexing is neither true nor false", false)
		}
	}
	if len(fields) >= fieldCert {
		return l.certificate(fields[fieldCert-1])
	}
	return nil
}

// certificate takes the sixth field.
func (l *Line) certificate(text string) error {
	if len(text) <= shortCert {
		if text != "" {
			l.note(fieldCert, fmt.Sprintf("the certificate is too short to be one (%d characters)", len(text)), false)
		}
		return nil
	}
	bare := strings.TrimRight(text, "=")
	if bare != text {
		l.note(fieldCert, "the certificate is padded base64", true)
	}
	der, err := base64.RawStdEncoding.DecodeString(bare)
	if err != nil {
		return l.fail(fieldCert, "standard base64")
	}
	if _, err := x509.ParseCertificate(der); err != nil {
		return l.fail(fieldCert, "an X.509 certificate in DER")
	}
	l.Cert = der
	return nil
}

func (l *Line) note(field int, text string, refused bool) {
	l.Notes = append(l.Notes, Note{Field: field, Text: text, Refused: refused})
}

// String is the line as go-plugin wants it: without what its notes are about.
func (l Line) String() string {
	fields := []string{strconv.Itoa(l.Core), strconv.Itoa(l.App), l.Network, l.Address}
	if l.Protocol != "" || l.Cert != nil || l.Mux {
		fields = append(fields, l.Protocol)
	}
	if l.Cert != nil || l.Mux {
		fields = append(fields, base64.RawStdEncoding.EncodeToString(l.Cert))
	}
	if l.Mux {
		fields = append(fields, "true")
	}
	return strings.Join(fields, "|")
}
