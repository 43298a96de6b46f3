// Package maps makes points of a register map that another program has written: a tag list as CSV from Kepware (kepware.go) or
// Ignition (ignition.go), or an MBMap file (mbmap.go). read.go tells them apart, table.go reads CSV by its headings, point.go
// has what they share.
//
// # Decisions
//
// What cannot be taken over is said, tag by tag, and so is what had to be assumed: neither list of tags holds the order of
// words, which is a setting of the device there. Nothing is guessed from names.
//
// MBMap is read by its meaning and not by a schema: keys count without case, blanks, - and _, and a key of a register that
// is not known here is named among what was left. A map that does not say whether it counts from 0 or 1 is refused until
// a person has said it.
package maps
