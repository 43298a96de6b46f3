package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"gauger/config"
)

// check looks the configuration over. It needs no network and no credentials.
func (m *Main) check(_ context.Context, args []string) error {
	f, c := m.flags("check")
	print := f.Bool("print", false, "print the effective configuration, secrets by their source only")
	example := f.Bool("example", false, "print the example configuration, which is the documentation")
	schema := f.Bool("schema", false, "print the JSON Schema for an editor")
	rest, err := parse(f, c, args)
	switch {
	case err != nil:
		return err
	case len(rest) > 1:
		return usage{fmt.Sprintf("check takes one file, not %q", rest)}
	case len(rest) == 1:
		c.config = rest[0]
	}
	switch {
	case *example:
		_, err := m.Out.Write(config.Example)
		return err
	case *schema:
		_, err := m.Out.Write(config.Schema())
		return err
	}
	cfg, err := config.Load(c.config)
	if err != nil {
		return unreadable(err)
	}
	for _, w := range cfg.Warnings {
		fmt.Fprintln(m.Err, "warning: "+w.String())
	}
	if *print {
		return cfg.Print(m.Out)
	}
	fmt.Fprintf(m.Out, "%s: good: %s, %s, %s\n", c.config, count(len(cfg.Devices), "device"), count(len(cfg.Points()), "point"), count(len(cfg.Tanks), "tank"))
	return nil
}

// unreadable is a configuration that is not there: as bad as a wrong one, exit status 78.
func unreadable(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return config.Problems{{File: path.Path, Message: fmt.Sprintf("cannot be read: %v; `gauger check --example` prints one to begin with", path.Err)}}
	}
	return err
}

// count is "1 tank" or "2 tanks".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
