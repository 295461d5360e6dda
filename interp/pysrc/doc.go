// Package pysrc reads Python source without running Python, for what must be known before
// anything may be started.
//
//  1. [Decode] turns a file's bytes into text. Everything else reads that text.
//  2. [Script] finds the metadata block in a script's comments (PEP 723). It returns the
//     block's TOML text and first line, so that errors can name a line. [Includes] reads the
//     files that a requirements file includes.
//  3. [Own] reads a script and the plugin's own files that it imports, even from directories
//     that they add to the search path ([File.SearchPath]). [Libraries] reads files of
//     installed packages that these import. [Files] lists the *.py files below a directory. All
//     three are bounded.
//  4. [ServesOf] detects what a gRPC plugin does, with regular expressions over code and
//     string literals, without comments and docstrings.
//  5. [Descriptors] decodes the descriptors in a generated *_pb2.py.
//
// The package does not know what the metadata or the descriptors mean, or where Python finds
// installed modules. What only Python can know, a start tells.
package pysrc
