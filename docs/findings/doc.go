// Package findings is the pages that explain what `pyplug check` can find, one
// for each finding, as they stand in this directory. [Page] gives the text of one,
// [Title] its one sentence, [IDs] their names.
//
// Which findings there are, and when each is told, is for package check to say;
// a test holds its list and the pages together.
package findings
