// Package warmtest runs pyplug itself for the tests of the warm way. Only tests
// import it.
//
//  1. A package's TestMain calls [Main].
//  2. [Run] builds pyplug when it is first called, and runs it.
//
// It never knows the commands.
package warmtest
