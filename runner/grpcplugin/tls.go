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
	"os"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// certificateName is the name in go-plugin's certificates.
const certificateName = "localhost"

// newCertificate makes the certificate of one launch: the TLS configuration that
// presents it, and its PEM text for the plugin. go-plugin adds the plugin's own
// certificate to the configuration after the handshake.
func newCertificate(curve elliptic.Curve) (*tls.Config, []byte, error) {
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
		RootCAs:      x509.NewCertPool(), // empty until the handshake names one
		MinVersion:   tls.VersionTLS12,
		ServerName:   certificateName,
	}
	return cfg, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}

// TLSFiles names the PEM files for TLS with a server at an address. The zero value
// is the system's authorities and no client certificate.
type TLSFiles struct {
	// CA holds the authorities that may have signed the server's certificate.
	CA string
	// Cert and Key are the client's certificate, both or neither.
	Cert, Key string
	// ServerName is the name that the certificate must have; empty is the host
	// in the address. NoVerify accepts any certificate.
	ServerName string
	NoVerify   bool
}

// Config reads the files.
func (f TLSFiles) Config() (*tls.Config, error) {
	cfg := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: f.ServerName, InsecureSkipVerify: f.NoVerify}
	if f.CA != "" {
		text, err := os.ReadFile(f.CA)
		if err != nil {
			return nil, err
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s: no certificate in PEM", f.CA)
		}
	}
	if (f.Cert == "") != (f.Key == "") {
		return nil, errors.New("a client certificate needs both a certificate and a key")
	}
	if f.Cert != "" {
		pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
		if err != nil {
			return nil, err
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}

// transportCredentials are gRPC's credentials for a configuration; nil is no TLS.
func transportCredentials(cfg *tls.Config) credentials.TransportCredentials {
	if cfg == nil {
		return insecure.NewCredentials()
	}
	return alertCredentials{credentials.NewTLS(cfg)}
}

// alertCredentials make connections that do not lose the server's alert. With TLS
// 1.3 the client is done before the server has seen its certificate. A server that
// rejects it sends an alert and closes, and a write may fail before gRPC reads that.
type alertCredentials struct {
	credentials.TransportCredentials
}

func (c alertCredentials) ClientHandshake(ctx context.Context, authority string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := c.TransportCredentials.ClientHandshake(ctx, authority, raw)
	if err != nil {
		return nil, nil, err
	}
	return alertConn{conn}, info, nil
}

func (c alertCredentials) Clone() credentials.TransportCredentials {
	return alertCredentials{c.TransportCredentials.Clone()}
}

// alertLimit is how long a failed write waits for the server's alert.
const alertLimit = 100 * time.Millisecond

type alertConn struct{ net.Conn }

// Write returns the server's alert, if there is one, as the reason of a failure.
func (c alertConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if err != nil && c.SetReadDeadline(time.Now().Add(alertLimit)) == nil {
		_, readErr := c.Read(make([]byte, 1)) // the connection is lost anyway
		var alert *net.OpError
		if errors.As(readErr, &alert) && alert.Op == "remote error" {
			err = alert
		}
	}
	return n, err
}
