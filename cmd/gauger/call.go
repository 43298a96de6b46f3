package main

import "io"

// call is one call of the program: its streams, its environment, and what the flags that all commands share say.
type call struct {
	in       io.Reader
	out, err io.Writer // the result, and the rest
	getenv   func(string) string

	config, socket, format string
	formats                []string // that the command knows
	help                   func()   // prints what the command can be told
	command                string
}

// json says that a program reads the result.
func (c *call) json() bool { return c.format == "json" }
