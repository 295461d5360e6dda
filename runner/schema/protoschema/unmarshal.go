package protoschema

import "google.golang.org/protobuf/proto"

// Unmarshal reads bytes that a plugin sent, as [UnmarshalMessage] does, and knows
// the plugin's own extensions. One that nobody declares is dropped from what
// EncodeMessage writes.
func (d *Descriptors) Unmarshal(content []byte, into proto.Message) error {
	return unmarshalMessage(content, into, resolver{set: d})
}
