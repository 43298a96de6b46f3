// Package preflight has a box's file examined by a child before it is opened: a damaged bbolt file can crash or hang its
// reader, and a child's crash is an answer.
//
// The child is bound to its process, inherits no secret, and its time limit says something of the file only if it really
// ran.
package preflight
