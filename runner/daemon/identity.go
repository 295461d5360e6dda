package daemon

import "time"

// API is the version of the protocol of the socket. It is in the header
// Pyplug-Api of every message.
const API = 1

// Identity says who serves a name, and what. It is the content of NAME.json.
// [Listen] sets API, PID, Started, Mark, Boot, Log and Socket.
type Identity struct {
	Name string `json:"name"`
	// Plugin is the plugin's path as typed, Entry the absolute path of the file
	// that runs, Python the interpreter's path, Dir the working directory.
	Plugin    string `json:"plugin"`
	Entry     string `json:"entry"`
	Python    string `json:"python,omitempty"`
	Transport string `json:"transport,omitempty"`
	Dir       string `json:"dir,omitempty"`
	// About names the plugin and its Python as errors do.
	About string `json:"about,omitempty"`
	// Digest is equal for two starts with the same settings.
	Digest string `json:"digest,omitempty"`
	// Version is the version of the pyplug that runs, API that of its protocol; 0
	// for a pyplug that did not speak HTTP yet.
	Version string `json:"version,omitempty"`
	API     int    `json:"api,omitempty"`
	// PID is the daemon's process. Mark is the system's own word for when that
	// process started, and Boot for the boot: a process that got the same number
	// later has another mark.
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
	Mark    string    `json:"mark,omitempty"`
	Boot    string    `json:"boot,omitempty"`
	// AutoStarted reports whether a call started the plugin.
	AutoStarted bool   `json:"auto_started,omitempty"`
	Log         string `json:"log"`
	Socket      string `json:"socket"`
}

// same reports whether two identities are of one process.
func (id Identity) same(other Identity) bool {
	return id.PID == other.PID && id.Mark == other.Mark && id.Boot == other.Boot
}
