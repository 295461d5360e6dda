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
	stopKilled           = "stop-killed"
	stopFailed           = "stop-failed"
	leftBehind           = "left-behind"
	cookieUnchecked      = "cookie-unchecked"
	cookieUnknown        = "cookie-unknown"
	hostRefused          = "host-refused"
	hostHangs            = "host-hangs"
	hostCrashes          = "host-crashes"
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
		stopKilled, stopFailed, leftBehind,
		cookieUnchecked, cookieUnknown,
		hostRefused, hostHangs, hostCrashes, hostUnchecked, handshakeUnflushed, addressFixed,
		againFailed,
	}
}
