package check

// The findings, whose names never change. Each has a page in docs/findings,
// which says what it is, why hosts care and how to mend it; a test holds the
// list and the pages together.
const (
	pluginInvalid        = "plugin-invalid"
	pythonMissing        = "python-missing"
	pythonDiffers        = "python-differs"
	pythonSkipped        = "python-skipped"
	syntaxError          = "syntax-error"
	importMissing        = "import-missing"
	importUnsure         = "import-unsure"
	protobufTooOld       = "protobuf-too-old"
	grpcioTooOld         = "grpcio-too-old"
	sourceUnchecked      = "source-unchecked"
	startFailed          = "start-failed"
	stdoutNoise          = "stdout-noise"
	handshakeMissing     = "handshake-missing"
	handshakeMalformed   = "handshake-malformed"
	handshakeOdd         = "handshake-odd"
	handshakeSlow        = "handshake-slow"
	addressRefused       = "address-refused"
	addressNotOwned      = "address-not-owned"
	addressFixed         = "address-fixed"
	connectFailed        = "connect-failed"
	healthMissing        = "health-missing"
	healthUnknownService = "health-unknown-service"
	healthNotServing     = "health-not-serving"
	healthSilent         = "health-silent"
	servicesUnknown      = "services-unknown"
	noController         = "no-controller"
	noStdio              = "no-stdio"
	noBroker             = "no-broker"
	noReflection         = "no-reflection"
	noHooks              = "no-hooks"
	hooksUnknown         = "hooks-unknown"
	callFailed           = "call-failed"
	endedByItself        = "ended-by-itself"
	stopUnclean          = "stop-unclean"
	stopKilled           = "stop-killed"
	stopFailed           = "stop-failed"
	leftBehind           = "left-behind"
	cookieUnchecked      = "cookie-unchecked"
	cookieUnknown        = "cookie-unknown"
	hostRefused          = "host-refused"
	hostHangs            = "host-hangs"
	hostCrashes          = "host-crashes"
	hostKills            = "host-kills"
	hostUnchecked        = "host-unchecked"
	handshakeUnflushed   = "handshake-unflushed"
	againFailed          = "again-failed"
)

// IDs lists the findings in the order of the stages.
func IDs() []string {
	return []string{
		pluginInvalid, pythonMissing, pythonDiffers, pythonSkipped,
		syntaxError, importMissing, importUnsure, protobufTooOld, grpcioTooOld, sourceUnchecked,
		startFailed, stdoutNoise,
		handshakeMissing, handshakeMalformed, handshakeOdd, handshakeSlow, addressRefused, addressNotOwned,
		connectFailed,
		healthMissing, healthUnknownService, healthNotServing, healthSilent,
		servicesUnknown, noController, noStdio, noBroker, noReflection,
		noHooks, hooksUnknown, callFailed,
		endedByItself, stopUnclean, stopKilled, stopFailed, leftBehind,
		cookieUnchecked, cookieUnknown,
		hostRefused, hostHangs, hostCrashes, hostKills, hostUnchecked, handshakeUnflushed, addressFixed,
		againFailed,
	}
}

// fixes say what to do about a finding where its error has no hint.
var fixes = map[string]string{
	pluginInvalid:      "mend the path, the flag or the place in the manifest that the message names",
	pythonMissing:      "name Python 3.8 or later, or an environment of it, with --python",
	syntaxError:        "mend the line that is shown",
	startFailed:        "mend what the message or the last lines of its output say",
	connectFailed:      "have a gRPC server listen there, in plain unless TLS is asked for, before the handshake is printed",
	handshakeMalformed: "print a line such as 1|1|tcp|127.0.0.1:4410|grpc",
	healthNotServing:   "say SERVING, or for functions None or True, as soon as it can work, or mend what keeps it from working",
	healthSilent:       "answer at once, whatever else goes on: let health need no lock and no thread that a call may hold",
	hooksUnknown:       "generate the code again from one source, and keep the plugin running while it is asked",
	callFailed:         "mend the hook, or the arguments of --call",
	endedByItself:      "mend what the exit and the last lines of its output say; a plugin runs until it is stopped",
	stopFailed:         "mend the calls that the manifest has made before the end, or what keeps the plugin from ending",
	againFailed:        "let a start not depend on what the last run has left: sockets, locks, files",
}
