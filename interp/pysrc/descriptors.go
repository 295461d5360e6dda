package pysrc

import "strings"

// Descriptors gives the serialized descriptors that a *_pb2.py holds: the bytes
// of a google.protobuf.FileDescriptorProto each, in their order, none twice.
// text is what [Decode] gave. The forms of all protoc versions from 3.0 on are
// known:
//
//	DESCRIPTOR = _descriptor_pool.Default().AddSerializedFile(b'…')  # from 3.20
//	DESCRIPTOR = _descriptor.FileDescriptor(…, serialized_pb=b'…')   # until 3.19
//	DESCRIPTOR = _descriptor.FileDescriptor(…, serialized_pb=_b('…'))
//
// There are none where the argument is no literal: in protobuf's own code, or in
// descriptors built when the program runs. The error is a [*LiteralError], with
// the descriptors before it. They take no more memory than text.
func Descriptors(text string) ([][]byte, error) {
	if !strings.Contains(text, "AddSerializedFile") && !strings.Contains(text, "serialized_pb") {
		return nil, nil
	}
	s := newScanner(text)
	var found [][]byte
	known := map[string]bool{}
	for t := s.next(); t.kind != endOfText; {
		opens := ""
		switch {
		case s.is(t, "AddSerializedFile"):
			opens = "("
		case s.is(t, "serialized_pb"):
			opens = "="
		}
		if t = s.next(); opens == "" || !s.is(t, opens) {
			continue
		}
		t = s.next()
		for s.is(t, "(") || s.is(t, "_b") {
			t = s.next()
		}
		data, after, err := s.concatenated(t)
		if err != nil {
			return found, err
		}
		if t = after; len(data) > 0 && !known[string(data)] {
			known[string(data)] = true
			found = append(found, data)
		}
	}
	return found, nil
}

// concatenated decodes the literals that follow each other from t on, and gives
// the token after them.
func (s *scanner) concatenated(t token) (data []byte, after token, err error) {
	for t.kind == quoted && err == nil {
		if data == nil {
			data = make([]byte, 0, (t.end-t.start)/2)
		}
		data, err = literal(data, s.of(t), t.line)
		t = s.next()
	}
	return data, t, err
}
