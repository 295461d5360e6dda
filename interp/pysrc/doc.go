// Package pysrc reads Python source without Python: what must be known before anything may
// be started.
//
//  1. [Decode] turns a file's bytes into text. Everything else reads that text.
//  2. [Script] finds the metadata block in a script's comments (PEP 723) and returns its
//     TOML text with the line it starts on, so that a mistake in it has a place.
//     [Includes] reads the files that a requirements file includes.
//  3. [Own] reads a script and the plugin's own files that it imports, also from directories
//     that they add to the search path ([File.SearchPath]), [Libraries] the files
//     of installed packages that these import; [Files] lists the *.py files below a
//     directory. All are bounded.
//  4. [File.Serves] looks for what a gRPC plugin does: expressions over the code with its
//     string literals, without comments and docstrings.
//  5. [Descriptors] decodes the descriptors in a generated *_pb2.py.
//
// It never knows what the metadata or the descriptors mean, or which directories Python
// finds installed modules in. What only Python can know is asked of Python, by the worker and by check.
package pysrc
