// Package pysrc reads Python source without running Python, for facts that must be known before
// anything may be started.
//
//  1. [Decode] converts a file's bytes to text. All other functions read that text.
//  2. [Script] finds the metadata block in a script's comments (PEP 723). It returns the block's
//     TOML text and first line, so that errors can name a line. [Includes] reads the files that a
//     requirements file includes.
//  3. [Own] reads a script and the plugin's own files that it imports, even from directories that
//     they add to the search path ([File.SearchPath]). [Libraries] reads files of installed
//     packages that these import. [Files] lists the *.py files below a directory. All three are
//     bounded.
//  4. [ServesOf] detects how a gRPC plugin serves, with regular expressions over code and string
//     literals, without comments and docstrings.
//  5. [Descriptors] decodes the descriptors in a generated *_pb2.py.
//
// The package does not know what the metadata or the descriptors mean, or where Python finds
// installed modules. Facts that only Python knows are reported by a start.
package pysrc
