package commands

import "errors"

// descriptorHints are about sources that disagree, some of which flags name.
func (f *program) descriptorHints(err error, add adder) {
	known := (interface{ Reason() string })(nil)
	if errors.As(err, &known) && known.Reason() == "descriptors-disagree" && len(f.cfg.GRPC.Proto)+len(f.cfg.GRPC.Protoset) > 0 {
		add("or leave out the --proto or --protoset")
	}
}

// noHooksHint is about a plugin of which no hook is known.
func (f *program) noHooksHint(add adder) {
	if f.session != nil && f.session.Settings().Transport == "grpc" {
		add("--proto FILE describes its methods, and so does grpcio-reflection in the plugin")
		return
	}
	add("it has no hooks: define a public function in it")
}
