package grpcplugin

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// certificateName is the name that go-plugin's certificates are made out to.
const certificateName = "localhost"

// oneTime makes the certificate of one launch: the TLS configuration that
// presents it, and the text that the plugin is given to know it by. go-plugin
// adds the plugin's own certificate when it has read it from the handshake.
func oneTime(curve elliptic.Curve) (*tls.Config, []byte, error) {
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("key for the certificate: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, nil, fmt.Errorf("serial number of the certificate: %w", err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: certificateName, Organization: []string{"pyplug"}},
		DNSNames:              []string{certificateName},
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment | x509.KeyUsageKeyAgreement | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		NotBefore:             now.Add(-30 * time.Second),
		NotAfter:              now.AddDate(30, 0, 0),
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, nil, fmt.Errorf("certificate: %w", err)
	}
	cfg := &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		RootCAs:      x509.NewCertPool(), // nobody, until the handshake names one
		MinVersion:   tls.VersionTLS12,
		ServerName:   certificateName,
	}
	return cfg, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}

// credentials are those of a TLS configuration, or none. What goes wrong with
// them is noted.
func (l *link) credentials(cfg *tls.Config) credentials.TransportCredentials {
	if cfg == nil {
		return insecure.NewCredentials()
	}
	return &noting{TransportCredentials: credentials.NewTLS(cfg), link: l}
}

// noting are credentials that note why a handshake failed.
type noting struct {
	credentials.TransportCredentials
	link *link
}

func (n *noting) ClientHandshake(ctx context.Context, authority string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	n.link.reach(stageTLS, nil)
	conn, info, err := n.TransportCredentials.ClientHandshake(ctx, authority, raw)
	if err != nil {
		n.link.reach(stageTLS, err)
		return nil, nil, err
	}
	n.link.reach(stageHTTP2, nil)
	return &judged{Conn: conn, link: n.link}, info, nil
}

func (n *noting) Clone() credentials.TransportCredentials {
	return &noting{TransportCredentials: n.TransportCredentials.Clone(), link: n.link}
}

// alertLimit is how long a server that hung up is given to have said why.
const alertLimit = 100 * time.Millisecond

// judged is a connection whose server may still refuse our certificate: TLS 1.3
// is done on our side before the server has seen it.
type judged struct {
	net.Conn
	link *link
}

func (j *judged) Read(b []byte) (int, error) {
	n, err := j.Conn.Read(b)
	j.note(err)
	return n, err
}

// Write reads, when the server has hung up, what it said before that.
func (j *judged) Write(b []byte) (int, error) {
	n, err := j.Conn.Write(b)
	if err != nil && j.Conn.SetReadDeadline(time.Now().Add(alertLimit)) == nil {
		_, said := j.Conn.Read(make([]byte, 1)) // of a connection that is lost anyway
		j.note(said)
	}
	return n, err
}

// note keeps an alert of the server, which is an error that names no type.
func (j *judged) note(err error) {
	var alert *net.OpError
	if !errors.As(err, &alert) || alert.Op != "remote error" {
		return
	}
	if alert.Err.Error() == "tls: certificate required" {
		err = ErrNoCertificate
	}
	j.link.reach(stageTLS, err)
}
