package protoschema

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/pyplug/pyplug/runner/schema"
)

// Details describes the method as [Method.Hook] does, with all of its documentation, the
// values of its enums, the messages that its request and its answer contain, and a template.
func (m Method) Details() schema.Hook {
	h := m.Hook()
	h.Documentation, h.Template = m.set.docs[m.FullName()], m.Template()
	setChoices(h.Params, m.desc.Input())
	const most = 100
	seen := map[protoreflect.FullName]bool{m.desc.Input().FullName(): true}
	var visit func(protoreflect.MessageDescriptor)
	visit = func(message protoreflect.MessageDescriptor) {
		for i := range message.Fields().Len() {
			inner := message.Fields().Get(i).Message()
			if inner == nil || hasOwnJSON(inner) || inner.IsPlaceholder() || seen[inner.FullName()] || len(seen) > most {
				continue
			}
			seen[inner.FullName()] = true
			if !inner.IsMapEntry() {
				fields := params(inner)
				setChoices(fields, inner)
				h.Messages = append(h.Messages, schema.Message{Name: string(inner.FullName()), Fields: fields})
			}
			visit(inner)
		}
	}
	visit(m.desc.Input())
	visit(m.desc.Output())
	return h
}

// setChoices names the values of the fields that are enums.
func setChoices(params []schema.Param, message protoreflect.MessageDescriptor) {
	for i := range params {
		enum := message.Fields().ByTextName(params[i].Name)
		if enum == nil || enum.Enum() == nil || enum.Enum().IsPlaceholder() {
			continue
		}
		for n := range enum.Enum().Values().Len() {
			params[i].Choices = append(params[i].Choices, schema.Quote(string(enum.Enum().Values().Get(n).Name())))
		}
	}
}
