// Package manifest resolves the path of a plugin to the file or program that runs, and reads its
// manifest.
//
//  1. [Resolve] examines the path: a .py file, a package, a directory, an executable, or a
//     module to import.
//  2. It reads the manifests that can apply to the plugin: pyplug.toml, [tool.pyplug] in
//     pyproject.toml, [tool.pyplug] in the script's metadata block (PEP 723), and a
//     Mattermost-style plugin.json. The first in this order is the manifest.
//  3. Package settings decodes the keys. Unknown keys, wrong types and bad values are errors
//     with file, line, what was found and what was expected.
//  4. Resolve collects every requires-python in the files that it reads, even in those
//     without a manifest.
//
// [Expand] lists the plugins that a directory or a pattern names.
//
// The package does not know flags, the environment, or which Python runs the plugin.
package manifest
