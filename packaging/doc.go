// Command packaging turns built binaries into what users install: wheels, deb, rpm and apk
// packages, archives and a Homebrew formula, with checksums, an SBOM and the licences.
//
//		go run ./packaging VERSION                       check VERSION and print it
//		go run ./packaging VERSION FORMAT... OS/ARCH...  fill dist
//
//	 1. The Makefile builds bin/package/OS-ARCH/pyplug, with its own flags.
//	 2. Package debug/buildinfo names the modules in it; their licences are read from the
//	    module cache.
//	 3. The wheels and archives are written by the standard library, the Linux packages by nfpm.
//
// It runs in the root of the repository, with SOURCE_DATE_EPOCH set. The same sources give the
// same bytes. Any error ends the program. It builds no binary, and no program imports it.
package main
