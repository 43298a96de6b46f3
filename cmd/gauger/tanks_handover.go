package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"gauger/agent/ledger"
	"gauger/collectors"
	"gauger/config"
	"gauger/outbox"
)

// mostHandover bounds a file of tanks, in bytes.
const mostHandover = 64 << 20

type tanksExportOptions struct {
	shards int
	out    string
}

func tanksExportCommand(c *call) *cobra.Command {
	o := &tanksExportOptions{}
	cmd := takes(newCommand(c, "export --shards N --out FOLDER", "hand tanks over before the number of instances changes", o.run), 0, "tanks export takes flags only")
	cmd.Flags().IntVar(&o.shards, "shards", 0, "`N`: how many instances share the site from now on; 1 is none but one")
	cmd.Flags().StringVar(&o.out, "out", "", "`FOLDER` for the files, one for each instance that tanks go to")
	return cmd
}

// run takes the tanks out of this instance's store that others watch from now on. gauger must not be running on it.
func (o *tanksExportOptions) run(_ context.Context, c *call, _ []string) error {
	cfg, err := config.Load(c.config)
	switch {
	case err != nil:
		return asConfigError(err)
	case o.out == "":
		return usageError{"tanks export wants a folder for the files: --out FOLDER"}
	}
	shard := func(i int) config.Shard { return config.Shard{Index: i, Of: o.shards} }
	if o.shards == 1 {
		shard = func(int) config.Shard { return config.Shard{} }
	} else if _, err := config.ParseShard(shard(0).String()); err != nil || o.shards < 1 {
		return usageError{"tanks export wants the number of instances that there are to be: --shards 4"}
	}
	owner := map[string]string{}
	for i := range o.shards {
		theirs, err := config.LoadShard(c.config, shard(i))
		if err != nil {
			return asConfigError(err)
		}
		for _, t := range theirs.Tanks {
			owner[t.ID] = shard(i).String()
		}
	}
	stays := ledger.HandedAll // more instances than there are to be
	if cfg.Shard.Index < o.shards {
		stays = shard(cfg.Shard.Index).String()
	}
	return withStore(c, cfg, func(box *outbox.Box) error {
		to := func(id string) (string, bool) {
			of, watched := owner[id]
			return of, watched && of != stays
		}
		return ledger.HandOver(box, newAgentSite(cfg), cfg.Shard.String(), to, stays, func(all []ledger.Handover) error { return o.keep(c, all) })
	})
}

// keep writes a file for each instance.
func (o *tanksExportOptions) keep(c *call, all []ledger.Handover) error {
	for _, h := range all {
		name := fmt.Sprintf("handover-%s-to-%s.json", shardInName(h.From), shardInName(h.To))
		path := filepath.Join(o.out, name)
		if err := writeFile(path, "tanks", 0o600, func(w io.Writer) error { return json.NewEncoder(w).Encode(h) }); err != nil {
			return fmt.Errorf("%w; nothing was taken out of the store", err)
		}
		fmt.Fprintf(c.out, "%s: %s; import it there: gauger tanks import --shard %s %s\n", path, countText(len(h.Tanks), "tank"), h.To, name)
	}
	if len(all) == 0 {
		fmt.Fprintln(c.out, "no tank goes to another instance")
	}
	return nil
}

// shardInName is a shard as a part of a file's name.
func shardInName(shard string) string {
	if shard == "" {
		return "all"
	}
	return strings.Replace(shard, "/", "of", 1)
}

func tanksImportCommand(c *call) *cobra.Command {
	return newCommand(c, "import FILE...", "take over tanks that another instance has handed over", runTanksImport)
}

// runTanksImport puts handed over tanks into this instance's store. gauger must not be running on it.
func runTanksImport(_ context.Context, c *call, files []string) error {
	cfg, err := config.Load(c.config)
	switch {
	case err != nil:
		return asConfigError(err)
	case len(files) == 0:
		return usageError{"tanks import wants the files that `gauger tanks export` has written"}
	}
	return withStore(c, cfg, func(box *outbox.Box) error {
		for _, path := range files {
			b, err := collectors.ReadFile(path, mostHandover)
			if err != nil {
				return fmt.Errorf("read tanks: %w", err)
			}
			var h ledger.Handover
			if err := json.Unmarshal(b, &h); err != nil {
				return fmt.Errorf("%s is no file of `gauger tanks export`: %w", path, err)
			}
			if err := ledger.TakeOver(box, newAgentSite(cfg), cfg.Shard.String(), h); err != nil {
				return fmt.Errorf("take over the tanks in %s: %w; nothing of it was taken", path, err)
			}
			fmt.Fprintf(c.out, "%s: %s taken over from %s\n", path, countText(len(h.Tanks), "tank"), shardInName(h.From))
		}
		return nil
	})
}

// withStore opens the outbox of a site on which nothing runs.
func withStore(c *call, cfg *config.Config, do func(*outbox.Box) error) error {
	back, err := becomeOwner(c, cfg.Store.Path)
	if err != nil {
		return err
	}
	box, err := openOutbox(cfg, nil, func(outbox.Note) {})
	if errors.Is(err, outbox.ErrHeld) {
		err = fmt.Errorf("%w: stop gauger first, since the tanks are another's from now on", err)
	}
	if err == nil {
		err = errors.Join(do(box), box.Close())
	}
	return errors.Join(err, back())
}
