package commands

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"
)

// flagWords says flags of a command line once more, in one way for each, whether
// they were typed or came from the environment: for another pyplug, and to tell
// whether they are the same as another time. Those that leaveOut names are left
// out.
func flagWords(c *cli.Context, flags []cli.Flag, leaveOut ...string) []string {
	var words []string
	for _, flag := range flags {
		name := flag.Names()[0]
		if !c.IsSet(name) || slices.Contains(leaveOut, name) {
			continue
		}
		for _, value := range flagValuesOf(c, flag) {
			words = append(words, "--"+name+"="+value)
		}
	}
	return words
}

// flagValuesOf are the values of a flag that is set, as they can be typed.
func flagValuesOf(c *cli.Context, flag cli.Flag) []string {
	name := flag.Names()[0]
	switch flag.(type) {
	case *cli.BoolFlag:
		return []string{strconv.FormatBool(c.Bool(name))}
	case *cli.StringSliceFlag:
		return c.StringSlice(name)
	case *cli.GenericFlag:
		value := fmt.Sprint(c.Generic(name))
		if value == "" { // a variable that is empty is as good as none
			return nil
		}
		return []string{value}
	}
	return []string{fmt.Sprint(c.Value(name))}
}
