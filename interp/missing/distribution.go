package missing

import (
	"maps"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/interp/pysrc"
	"github.com/pyplug/pyplug/runner/schema"
)

// wellKnown maps well-known modules to their distributions: the usual one first, then others that a
// plugin may list instead. pyplug does not guess any other name, because anybody may own it.
var wellKnown = map[string]string{
	"Crypto": "pycryptodome", "Cryptodome": "pycryptodomex", "MySQLdb": "mysqlclient", "OpenSSL": "pyOpenSSL",
	"PIL": "Pillow", "attr": "attrs", "bs4": "beautifulsoup4", "dateutil": "python-dateutil", "dns": "dnspython",
	"cv2":  "opencv-python opencv-python-headless opencv-contrib-python opencv-contrib-python-headless",
	"docx": "python-docx", "dotenv": "python-dotenv", "faiss": "faiss-cpu faiss-gpu", "fitz": "PyMuPDF",
	"git": "GitPython", "imblearn": "imbalanced-learn", "jwt": "PyJWT", "ldap": "python-ldap",
	"mysql.connector": "mysql-connector-python", "nacl": "PyNaCl", "pkg_resources": "setuptools", "pptx": "python-pptx",
	"psycopg2": "psycopg2-binary", "rest_framework": "djangorestframework", "ruamel.yaml": "ruamel.yaml",
	"serial": "pyserial", "skimage": "scikit-image", "sklearn": "scikit-learn", "usb": "pyusb",
	"websocket": "websocket-client", "yaml": "PyYAML", "zmq": "pyzmq",
	"pythoncom": "pywin32", "win32api": "pywin32", "win32com": "pywin32", "win32con": "pywin32", "win32file": "pywin32",

	"grpc": "grpcio", "grpc_health": "grpcio-health-checking", "grpc_reflection": "grpcio-reflection",
	"grpc_status": "grpcio-status", "grpc_tools": "grpcio-tools",
	"google.protobuf": "protobuf", "google.api": "googleapis-common-protos", "google.rpc": "googleapis-common-protos",
	"google.type": "googleapis-common-protos", "google.auth": "google-auth", "google.oauth2": "google-auth",

	// Distributions with the name of their module.
	"aiohttp": "aiohttp", "boto3": "boto3", "django": "django", "fastapi": "fastapi", "flask": "flask", "httpx": "httpx",
	"matplotlib": "matplotlib", "numpy": "numpy", "pandas": "pandas", "pydantic": "pydantic", "requests": "requests",
	"scipy": "scipy",

	// Modules that were in the standard library before.
	"audioop": "audioop-lts", "cgi": "legacy-cgi", "cgitb": "legacy-cgi", "distutils": "setuptools",
	"imghdr": "standard-imghdr", "telnetlib": "standard-telnetlib",
}

// distribution returns the distribution that contains a module with the given dotted name: one that
// the plugin's files list, or the distribution of a well-known module. It returns "" if
// both are unknown.
func distribution(module string, listed []string) string {
	for name := module; name != ""; name = name[:max(0, strings.LastIndexByte(name, '.'))] {
		known := strings.Fields(wellKnown[name])
		for _, d := range listed {
			same := func(other string) bool { return pysrc.Canonical(d) == pysrc.Canonical(other) }
			if same(name) || slices.ContainsFunc(known, same) {
				return d
			}
		}
		if len(known) > 0 {
			return known[0]
		}
	}
	return ""
}

// meant returns the module that is misspelled as name: a well-known one, or one with the name of a
// listed distribution. The names differ by one letter or in the order of letters. It returns "" if
// there is no such module.
func meant(name string, listed []string) string {
	known := slices.Sorted(maps.Keys(wellKnown))
	for _, d := range listed {
		known = append(known, strings.ReplaceAll(strings.ToLower(d), "-", "_"))
	}
	return schema.Misspelled(name, known)
}

// standardNames lists modules that only some Pythons have in their standard library. That depends
// on the version, the system and the build. Anybody may own a distribution with such a name.
const standardNames = " " +
	// In Python 2, and removed in 3.0.
	"ConfigParser Cookie HTMLParser Queue SocketServer StringIO Tkinter __builtin__ cPickle cStringIO commands cookielib " +
	"httplib md5 sets thread urllib2 urlparse xmlrpclib " +
	// Removed in 3.9 to 3.11.
	"_dummy_thread binhex dummy_threading formatter macpath parser symbol " +
	// Removed in 3.12.
	"asynchat asyncore imp smtpd " +
	// Removed in 3.13.
	"aifc audioop cgi cgitb chunk crypt imghdr lib2to3 mailcap msilib nis nntplib ossaudiodev pipes sndhdr spwd sunau " +
	"telnetlib uu xdrlib " +
	// New in 3.9 to 3.14.
	"annotationlib compression graphlib tomllib zoneinfo " +
	// Only on some systems.
	"_posixsubprocess _winapi curses fcntl grp msvcrt nt posix pty pwd readline resource syslog termios tty winreg winsound " +
	// Only in some builds.
	"_bz2 _ctypes _curses _dbm _gdbm _hashlib _lzma _sqlite3 _ssl _tkinter _uuid dbm idlelib test tkinter turtle venv ensurepip "

// standard reports whether some Python has the module in its standard library. The plugin's own
// Python may not have it.
func standard(module string) bool {
	return strings.Contains(standardNames, " "+topOf(module)+" ")
}

// topOf returns the first part of a module's name.
func topOf(module string) string {
	top, _, _ := strings.Cut(module, ".")
	return top
}
