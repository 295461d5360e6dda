package protoschema

import "google.golang.org/protobuf/reflect/protoreflect"

// ownJSON are the messages that JSON writes in a form of their own, and what that
// form looks like, for errors.
var ownJSON = map[protoreflect.FullName]string{
	"google.protobuf.Any":         ` as an object whose "@type" is described`,
	"google.protobuf.Timestamp":   " such as 2006-01-02T15:04:05Z",
	"google.protobuf.Duration":    " such as 1.5s",
	"google.protobuf.FieldMask":   " such as user.name,age",
	"google.protobuf.Struct":      "",
	"google.protobuf.ListValue":   "",
	"google.protobuf.Value":       "",
	"google.protobuf.BoolValue":   "",
	"google.protobuf.StringValue": "",
	"google.protobuf.BytesValue":  "",
	"google.protobuf.Int32Value":  "",
	"google.protobuf.Int64Value":  "",
	"google.protobuf.UInt32Value": "",
	"google.protobuf.UInt64Value": "",
	"google.protobuf.FloatValue":  "",
	"google.protobuf.DoubleValue": "",
}

func hasOwnJSON(message protoreflect.MessageDescriptor) bool {
	_, own := ownJSON[message.FullName()]
	return own
}

// isStruct reports whether the names of a message are its keys.
func isStruct(message protoreflect.MessageDescriptor) bool {
	return message.FullName() == "google.protobuf.Struct"
}

// isWrapper reports whether a message wraps a scalar.
func isWrapper(message protoreflect.MessageDescriptor) bool {
	fields := message.Fields()
	return hasOwnJSON(message) && fields.Len() == 1 && fields.ByName("value") != nil
}
