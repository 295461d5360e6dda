// Package protoschema describes gRPC's methods and turns words and JSON into
// their messages.
//
//  1. A [Source] holds file descriptors from one place: server reflection,
//     generated code, a protoset, or .proto files.
//  2. [MergeDescriptors] joins sources to one set of [Descriptors]. Those that
//     disagree about a symbol are told, with the symbol and both places.
//  3. [Descriptors.Find] finds a [Method] by as much of its name as is needed.
//  4. [BindMessage] and [DecodeMessage] make its request, and [EncodeMessage]
//     writes what came back as JSON.
//
// It is a package of its own because protobuf's descriptors take their time to
// initialise, which a program that calls functions files does not have to pay.
//
// It never knows files, processes, connections or how anything is printed: a
// file is read by a function that the caller hands in.
package protoschema
