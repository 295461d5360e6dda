// Command packaging makes packages of built binaries: wheels, deb, rpm and apk packages, archives
// and a Homebrew formula, with checksums, an SBOM and the licenses.
//
//	go run ./packaging VERSION                       check VERSION and print it
//	go run ./packaging VERSION FORMAT... OS/ARCH...  fill dist
//
// A package is made in three steps:
//
//  1. The Makefile builds each binary, bin/package/OS-ARCH/pyplug.
//  2. Package debug/buildinfo lists the modules in the binaries. Their licenses are read from the
//     module cache.
//  3. The standard library writes the wheels and archives, and nfpm the Linux packages.
//
// The command runs in the root of the repository, with SOURCE_DATE_EPOCH set. The same sources give
// the same bytes. Any error ends the command. It builds no binary, and no program imports it.
package main
