// Package pysrc reads Python source without Python.
//
//  1. [Decode] turns a file's bytes into text, by its byte order mark and its
//     encoding cookie (PEP 263). All else takes that text.
//  2. [Script] finds the metadata block that a script carries in its comments
//     (PEP 723) and gives its TOML text with the line it starts on, so that a
//     mistake in it can be told by its place in the file.
//  3. [Imports] finds the import statements, and what each depends on.
//     [Import.Paths] are the files that one may mean.
//  4. [AltersPath] tells whether a file changes where Python finds modules.
//  5. [Serves] tells what a file does of what a gRPC plugin does.
//  6. [Descriptors] takes the descriptors out of a generated *_pb2.py.
//
// All but the first two cut the text into tokens as Python does; strings and comments
// deceive none of them. What is not valid Python is passed over.
//
// It never knows what the metadata or the descriptors mean, never reads files,
// and takes memory only in proportion to the text: how much text, its caller
// decides.
package pysrc
