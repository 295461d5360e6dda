package pysrc

// OtherHost describes what starts the programs that are built on an SDK.
type OtherHost struct{ SDK, Starts string }

// otherHosts are the SDKs of hosts that are none of go-plugin.
var otherHosts = []OtherHost{
	{"cloudquery.sdk", "CloudQuery: `python FILE serve` serves at an address of its own, to which the command line of CloudQuery connects"},
	{"dify_plugin", "Dify: its plugin daemon starts it, and speaks to it on standard input and output"},
	{"pulumi.provider", "Pulumi: its engine starts it, and reads a port alone from standard output"},
}

// OtherHost returns the host whose SDK the file imports; the zero value if it imports none.
func (f File) OtherHost() OtherHost {
	for _, host := range otherHosts {
		for _, imp := range f.imports {
			if imp.Level == 0 && imp.loads(host.SDK) {
				return host
			}
		}
	}
	return OtherHost{}
}
