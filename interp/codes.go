package interp

// Code is the reason why a Python was not chosen, as a stable word for programs.
type Code string

// The codes.
const (
	Missing             Code = "missing"               // nothing is there
	Unreadable          Code = "permission-denied"     // the system does not allow a look
	BrokenSymlink       Code = "broken-symlink"        // a link to nothing
	SymlinkLoop         Code = "symlink-loop"          // links that lead to each other
	IsDirectory         Code = "is-directory"          // a directory in place of a program
	NotExecutable       Code = "not-executable"        // a file without permission to run
	BadFormat           Code = "bad-format"            // no program by its content
	DeveloperStub       Code = "clt-stub"              // macOS's python3 without the developer tools
	NotPython           Code = "not-python"            // it was asked for its version and did not say it
	UnknownVersion      Code = "unknown-version"       // no file says the version, and it was not asked
	OtherVersion        Code = "version-mismatch"      // outside requires-python, or not what was asked for
	Python2             Code = "python2"               // older than anything that pyplug runs
	OtherImplementation Code = "other-implementation"  // another implementation or variant than was asked for
	SecondChoice        Code = "second-choice"         // a pre-release and the like, for when there is no other
	PinNotInstalled     Code = "pin-not-installed"     // a file of the project asks for a version that is not installed
	OtherMinor          Code = "venv-minor-mismatch"   // an environment made for another minor version
	EnvWithoutPython    Code = "venv-no-python"        // an environment that has lost its Python
	CondaWithoutPython  Code = "conda-no-python"       // a conda environment that has none
	NoConfig            Code = "no-pyvenv-cfg"         // an environment that has lost its pyvenv.cfg
	AmbiguousEnvs       Code = "ambiguous-envs"        // several environments, and none of the known names
	UntrustedOwner      Code = "untrusted-owner"       // found without being named, and another user's
	WorldWritable       Code = "world-writable"        // found without being named, and anybody may change it
	UnrelatedActive     Code = "unrelated-active"      // activated, but the plugin has its own
	OutdatedEnv         Code = "outdated-env"          // pyplug made it, and its source has changed or it is gone
	NeedsSync           Code = "needs-sync"            // the plugin asks another tool to make its environment
	ToolRuns            Code = "tool-runs"             // another tool keeps the environment, and runs programs in it
	NotEnvironment      Code = "not-an-environment"    // something else of that name
	Shim                Code = "shim"                  // it was followed to the Python that it starts
	ShimUnresolved      Code = "shim-unresolved"       // a shim of which no file says where it leads
	ShimNoVersion       Code = "shim-no-version"       // a shim of a program that the selected version lacks
	RelativeEntry       Code = "relative-path-entry"   // an entry of PATH that depends on where one stands
	StoreStub           Code = "store-stub"            // an alias that opens Microsoft's store
	LowerPriority       Code = "lower-priority"        // it would do, but another comes first
	NoPython            Code = "no-python"             // nothing was found
	BadRequirement      Code = "bad-requirement"       // a requires-python that cannot be read
	Conflict            Code = "requirements-conflict" // no Python satisfies all of them
)
