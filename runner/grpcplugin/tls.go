package grpcplugin

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"time"
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
	now := time.Now()
	template := &x509.Certificate{
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
