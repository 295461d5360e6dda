// Package manifest turns the path of a plugin into what runs, with everything
// that its manifest says.
//
//  1. [Resolve] looks at the path: a .py file, a directory, an executable.
//  2. It reads the manifests of that directory: pyplug.toml, [tool.pyplug] in
//     pyproject.toml, [tool.pyplug] in the script's own metadata block (PEP 723),
//     and a plugin.json as Mattermost has it.
//  3. The first of them that is about this plugin is its manifest. A second one
//     may only repeat what the first says; where it says anything else the two
//     are an error, because ignoring one of them in silence helps nobody.
//  4. Every key is checked when it is read: an unknown one, a wrong type and a
//     bad value are told with file, line, what was seen and what was wanted.
//  5. Each requires-python that was met on the way is handed on with its place,
//     also those of files that are no manifest.
//
// It never knows flags, the environment, which Python runs the plugin, nor how.
package manifest
