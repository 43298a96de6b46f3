package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"gauger/agent/apply"
	"gauger/agent/memory"
	"gauger/config"
)

type runOptions struct{ strict bool }

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
	v, book, err := chooseConfig(c, c.config, o.strict)
	if err != nil {
		return err
	}
	makeRuntime()
	log := newLogger(c, "trace") // the configuration's level counts for all of the process
	done, err := finishWithin(ctx, func() error { return runSite(ctx, c, v, book, log) })
	if !done {
		log.Warn().Dur("after", shutdownLimit).Msg("gauger ends without having stopped in order; what was acknowledged is on disk")
	} else if err == nil {
		log.Info().Msg("gauger has stopped in order")
	}
	return err
}

// runSite assembles the site and lets it work until ctx ends, over all changes of its configuration.
func runSite(ctx context.Context, c *call, v *revision, book *apply.Book, log zerolog.Logger) error {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP) // between two configurations, too: by itself it would end the program
	defer signal.Stop(hup)
	shut := &storelessSite{cfg: v.cfg, socket: c.socket, log: log, doubts: configDoubts(v.cfg.Strict, v.bad), hup: hup}
	site := &atWork{c: c, log: log, lasting: newLasting(log), hup: hup, book: book}
	return site.run(ctx, v, shut.openWhenPossible(ctx), func(d *daemon) error {
		if err := shut.tellOutage(d.agent.Ledger); err != nil {
			return err
		}
		if err := d.tellDoubts(shut.doubts); err != nil {
			return err
		}
		if v.bad != nil {
			d.server.ConfigDoubts = shut.doubts[1:] // the first is that the file is bad, which the look at it tells for as long as it is
			log.Error().Err(v.bad).Msg("the configuration is bad; the last good one is at work")
		}
		return nil
	})
}

// letGo forgets what the collectors have taken what they need of: of a large site it is most of the memory.
func letGo(cfg *config.Config) { cfg.Devices, cfg.Budgets = nil, nil }

// shutdownLimit of an orderly end. What takes longer hangs: a disk that does not answer, the repair of a
// large file. The process then ends as it is, which costs no more than a power cut would: nothing that was acknowledged.
const shutdownLimit = 3 * time.Second

// finishWithin does work until it is done, or until shutdownLimit after the end of ctx: done is false then, and work goes on until
// the process ends, which must be next.
func finishWithin(ctx context.Context, work func() error) (done bool, err error) {
	ended := make(chan error, 1)
	go func() { ended <- work() }()
	select {
	case err := <-ended:
		return true, err
	case <-ctx.Done():
	}
	timer := time.NewTimer(shutdownLimit)
	defer timer.Stop()
	select {
	case err := <-ended:
		return true, err
	case <-timer.C:
		return false, nil
	}
}
