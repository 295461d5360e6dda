package grpcplugin

import "github.com/pyplug/pyplug/handshake"

// hostEnv is what a host sets for a plugin.
func hostEnv(cfg *Config, sockets string, certificate []byte) []string {
	return handshake.Env(handshake.Host{
		CookieKey: cfg.CookieKey, CookieValue: cfg.CookieValue,
		Versions: cfg.Versions, SocketDir: sockets, ClientCert: string(certificate),
	})
}
