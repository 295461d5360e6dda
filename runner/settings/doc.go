// Package settings declares the settings of a plugin, each in one row of [Table].
//
// A row names the flag, the variable and the key of the manifest that give a setting, and says which values are valid,
// what a 0 means and what the default is. What else knows settings derives from the rows: the flags of the commands and
// their help, the keys of a manifest, the tables in the documentation, and the digest that tells equal starts.
//
// [Settings] has the values of one source: those that flags and variables set, those of a manifest, or defaults.
// [Resolve] merges the sources.
package settings
