package protoschema

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

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

// plain is the message that protojson reads and writes by its fields: the message
// itself, or a twin with the same fields, and the same bytes, if JSON writes it in
// a form of its own.
func plain(message protoreflect.MessageDescriptor) protoreflect.MessageDescriptor {
	if !hasOwnJSON(message) {
		return message
	}
	original := message.ParentFile()
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("twin/" + original.Path()), Package: proto.String("twin"),
		Syntax: proto.String(original.Syntax().String()), Dependency: []string{original.Path()},
		MessageType: []*descriptorpb.DescriptorProto{protodesc.ToDescriptorProto(message)},
	}, protoregistry.GlobalFiles)
	if err != nil {
		return message // its own definition is not the well-known one
	}
	return file.Messages().Get(0)
}
