// Package settings declares the settings of a plugin, each in one row of [Table].
//
// A row names the flag, the variable and the key of the manifest for a setting. It says which
// values are valid, what 0 means and what the default is. All other code that lists settings
// derives them from the rows: the flags of the commands and their help, the keys of a manifest, the
// tables in the documentation, and the digest that compares starts.
//
// [Settings] contains the values of one source: flags and variables, a manifest, or defaults.
// [Resolve] merges the sources.
package settings
