// Package disk does what os has no function for: blocks that are reserved or written ahead, a folder that is synced, a file
// of which some blocks cannot be read any more, one in whose place no link is followed.
package disk
