// Package protoschema describes gRPC methods, converts words and JSON to their messages, and
// messages to JSON.
//
//  1. A [Source] contains file descriptors from one place: server reflection, generated code, or a
//     protoset.
//  2. [MergeDescriptors] joins sources into one set of [Descriptors]. It reports a symbol that two
//     sources describe differently.
//  3. [Descriptors.Find] finds a [Method] by its name or an unambiguous part of it.
//  4. [BindMessage] and [DecodeMessage] make its request with protojson, from words or JSON.
//  5. [Descriptors.EncodeMessage] writes an answer with protojson.
//
// The package is separate from schema because initializing protobuf takes time, which calls of
// functions files should not spend.
//
// The package does not know files, processes, connections or how anything is printed.
package protoschema
