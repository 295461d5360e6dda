// Package protoschema describes gRPC methods, and turns words and JSON into
// their messages and messages into JSON.
//
//  1. A [Source] holds file descriptors from one place: server reflection,
//     generated code, a protoset, or .proto files that [CompileProto] compiles.
//  2. [MergeDescriptors] joins sources into one set of [Descriptors]. It reports
//     a symbol that two sources describe differently.
//  3. [Descriptors.Find] finds a [Method] by as much of its name as is needed.
//  4. [BindMessage] and [DecodeMessage] make its request by protojson. If
//     protojson rejects a part, the error names the path of that part.
//  5. [Descriptors.EncodeMessage] writes an answer by protojson, and takes it apart only if
//     something in it has no JSON.
//
// It is separate from schema because protobuf takes time to initialise, which a
// program that only calls functions files does not have to pay.
//
// It never knows files, processes, connections or how anything is printed: the
// caller passes in a function that reads files.
package protoschema
