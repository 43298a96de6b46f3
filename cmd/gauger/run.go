package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"gauger/agent/memory"
	"gauger/config"
)

type runOptions struct {
	strict bool
}

func runCommand(c *call) *cobra.Command {
	o := &runOptions{}
	cmd := newCommand(c, "run", "read the site, queue and send; this is what systemd starts", o.run)
	cmd.Flags().BoolVar(&o.strict, "strict", false, "end with status 78 on a bad configuration instead of starting the last good one")
	return cmd
}

func (o *runOptions) run(ctx context.Context, c *call, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Sprintf("run takes no arguments, only flags: %q", args)}
	}
	if c.getenv("GOGC") == "" {
		debug.SetGCPercent(memory.LeastPercent)
	}
	cfg, bad, err := loadOrFallBack(c, c.config, o.strict)
	if err != nil {
		return err
	}
	log := newLogger(c, cfg.Log.Level)
	done, err := finishWithin(ctx, func() error { return runSite(ctx, c, cfg, bad, log) })
	if !done {
		log.Warn().Dur("after", shutdownLimit).Msg("gauger ends without having stopped in order; what was acknowledged is on disk")
	}
	return err
}

// runSite assembles the site and lets it work until ctx ends. bad is why an older configuration is at work; nil: none is.
func runSite(ctx context.Context, c *call, cfg *config.Config, bad error, log zerolog.Logger) error {
	for _, w := range cfg.Warnings {
		log.Warn().Msg(w.String())
	}
	for _, p := range slices.Concat(cfg.Strict, cfg.Slow) {
		log.Warn().Msg(p.String())
	}
	shut := &storelessSite{cfg: cfg, socket: c.socket, log: log, doubts: configDoubts(cfg.Strict, bad)}
	d, err := assemble(cfg, log, shut.openWhenPossible(ctx))
	if errors.Is(err, errStopped) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.close()
	if err := shut.tellOutage(d.agent.Ledger); err != nil {
		return err
	}
	if err := d.tellDoubts(shut.doubts); err != nil {
		return err
	}
	d.server.ConfigOnDisk = configOnDisk(c.config, cfg.Hash(), bad)
	if bad != nil {
		d.server.ConfigDoubts = shut.doubts[1:] // the first is that the file is bad, which the look at it tells for as long as it is
		log.Error().Err(bad).Msg("the configuration is bad; the last good one is at work")
	} else if changed, err := keepLastGood(c.config, cfg); changed {
		d.server.NoteOwn("configuration", fmt.Sprintf("%08x", cfg.Hash()))
	} else if err != nil {
		log.Warn().Err(err).Msg("the configuration could not be kept for a bad day")
	}
	letGo(cfg)
	debug.FreeOSMemory() // what reading the file took goes back to the box now, and not when the runtime comes round to it
	d.agent.Workers = append(d.agent.Workers, func(ctx context.Context) error { return memory.Run(ctx, c.getenv("GOGC") != "") })
	return d.run(ctx, c.socket)
}

// letGo forgets what the collectors have taken what they need of: of a large site it is most of the memory.
func letGo(cfg *config.Config) { cfg.Devices, cfg.Budgets = nil, nil }
