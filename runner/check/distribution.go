package check

import (
	"slices"
	"strings"
)

// distributions are the names by which well-known modules are installed, where
// those are not their own. A dotted name is of a part of a package that several
// distributions share.
var distributions = map[string]string{
	"Bio": "biopython", "Crypto": "pycryptodome", "Cryptodome": "pycryptodomex",
	"MySQLdb": "mysqlclient", "OpenSSL": "pyOpenSSL", "PIL": "Pillow", "Xlib": "python-xlib",
	"_cffi_backend": "cffi", "_distutils_hack": "setuptools", "_yaml": "PyYAML", "attr": "attrs", "bs4": "beautifulsoup4",
	"cairo": "pycairo", "cv2": "opencv-python", "dateutil": "python-dateutil", "discord": "discord.py",
	"distutils": "setuptools", "dns": "dnspython", "docx": "python-docx", "dotenv": "python-dotenv",
	"faiss": "faiss-cpu", "fitz": "PyMuPDF", "flask_cors": "Flask-Cors", "gi": "PyGObject", "git": "GitPython",
	"imblearn": "imbalanced-learn", "jwt": "PyJWT", "ldap": "python-ldap", "magic": "python-magic",
	"markdown": "Markdown", "multipart": "python-multipart", "nacl": "PyNaCl", "pdfminer": "pdfminer.six",
	"pkg_resources": "setuptools", "pptx": "python-pptx", "psycopg2": "psycopg2-binary", "pymupdf": "PyMuPDF",
	"rest_framework": "djangorestframework", "serial": "pyserial", "skimage": "scikit-image", "sklearn": "scikit-learn",
	"slugify": "python-slugify", "socks": "PySocks", "speech_recognition": "SpeechRecognition",
	"telegram": "python-telegram-bot", "umap": "umap-learn", "usb": "pyusb",
	"websocket": "websocket-client", "xdg": "pyxdg", "yaml": "PyYAML", "zmq": "pyzmq",

	"pythoncom": "pywin32", "pywintypes": "pywin32", "win32api": "pywin32", "win32com": "pywin32", "win32con": "pywin32",
	"win32event": "pywin32", "win32file": "pywin32", "win32gui": "pywin32", "win32pipe": "pywin32",
	"win32process": "pywin32", "win32security": "pywin32", "win32service": "pywin32", "win32serviceutil": "pywin32",

	"grpc": "grpcio", "grpc_health": "grpcio-health-checking",

	"google": "protobuf", "google.protobuf": "protobuf", "google._upb": "protobuf",
	"google.api": "googleapis-common-protos", "google.rpc": "googleapis-common-protos",
	"google.type": "googleapis-common-protos", "google.longrunning": "googleapis-common-protos",
	"google.auth": "google-auth", "google.oauth2": "google-auth", "google.api_core": "google-api-core",
	"mysql.connector": "mysql-connector-python", "paho.mqtt": "paho-mqtt", "ruamel.yaml": "ruamel.yaml",
	"backports.zoneinfo": "backports.zoneinfo",
}

// shared are packages that many distributions have parts of.
var shared = []string{"azure", "backports", "google", "jaraco", "mysql", "paho", "ruamel", "zope"}

// Distribution is the name by which a module, given by its dotted name, is
// installed with pip: that of its top-level package, but for well-known ones whose
// distribution is called otherwise. It is empty if that is unknown, as of
// parts of a package that many distributions share, and of modules that only
// Python's own standard library has.
func Distribution(module string) string {
	top, _, nested := strings.Cut(module, ".")
	for name := module; name != ""; name = name[:max(0, strings.LastIndexByte(name, '.'))] {
		if found := distributions[name]; found != "" && (name != "google" || !nested) {
			return found
		}
	}
	if slices.Contains(shared, top) || standard(top) {
		return ""
	}
	if rest, ok := strings.CutPrefix(top, "grpc_"); ok {
		return "grpcio-" + strings.ReplaceAll(rest, "_", "-")
	}
	return top
}

// standardNames are modules that some Pythons have in their standard library and
// others have not: by version, by system, or by what they were built with. A
// distribution of such a name may be anybody's.
const standardNames = " " +
	// gone since 3.0, as Python 2 has them
	"ConfigParser Cookie HTMLParser Queue SocketServer StringIO Tkinter __builtin__ cPickle cStringIO commands cookielib " +
	"httplib md5 sets thread urllib2 urlparse xmlrpclib " +
	// gone since 3.9 to 3.11
	"_dummy_thread binhex dummy_threading formatter macpath parser symbol " +
	// gone since 3.12
	"asynchat asyncore imp smtpd " +
	// gone since 3.13
	"aifc audioop cgi cgitb chunk crypt imghdr lib2to3 mailcap msilib nis nntplib ossaudiodev pipes sndhdr spwd sunau " +
	"telnetlib uu xdrlib " +
	// new since 3.9 to 3.14
	"annotationlib compression graphlib tomllib zoneinfo " +
	// of some systems
	"_posixsubprocess _winapi curses fcntl grp msvcrt nt posix pty pwd readline resource syslog termios tty winreg winsound " +
	// of some builds
	"_bz2 _ctypes _curses _dbm _gdbm _hashlib _lzma _sqlite3 _ssl _tkinter _uuid dbm idlelib test tkinter turtle venv ensurepip "

// standard reports whether a module is of a standard library, though maybe not of
// the one at hand.
func standard(module string) bool {
	top, _, _ := strings.Cut(module, ".")
	return strings.Contains(standardNames, " "+top+" ")
}

// successors are the distributions that have what was once, or is only since, in
// the standard library.
var successors = map[string]string{
	"asynchat": "standard-asynchat", "asyncore": "standard-asyncore", "smtpd": "standard-smtpd",
	"aifc": "standard-aifc", "audioop": "audioop-lts", "cgi": "legacy-cgi", "cgitb": "legacy-cgi",
	"chunk": "standard-chunk", "imghdr": "standard-imghdr", "nntplib": "standard-nntplib", "pipes": "standard-pipes",
	"sndhdr": "standard-sndhdr", "sunau": "standard-sunau", "telnetlib": "standard-telnetlib",
	"uu": "standard-uu", "xdrlib": "standard-xdrlib",
}
