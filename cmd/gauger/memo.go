package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"gauger/agent/cloud"
	"gauger/agent/ledger"
	"gauger/config"
)

type memoAddOptions struct {
	email string
	queue *queueFlags
}

func memoAddCommand(c *call) *cobra.Command {
	o := &memoAddOptions{}
	cmd := newCommand(c, "add DEVICE TEXT", "add a memo to a device", o.run)
	f := cmd.Flags()
	f.StringVar(&o.email, "email", "", "on whose behalf: `ADDRESS` of another user of the service")
	o.queue = addQueueFlags(f)
	return cmd
}

func (o *memoAddOptions) run(ctx context.Context, c *call, args []string) error {
	switch {
	case o.queue.file != "" && (len(args) != 1 || o.email != ""):
		return usageError{"with --file, memo add wants the device's id and nothing else"}
	case o.queue.file == "" && len(args) != 2:
		return usageError{"memo add wants the device's id and the text in quotes, such as: memo add 4711 \"valve replaced\""}
	}
	return queueRecords(ctx, c, o.queue, func(cfg *config.Config) ([]outgoingRecord, error) {
		memos := []cloud.Memo{{Text: args[len(args)-1], Email: o.email}}
		if o.queue.file != "" {
			var err error
			if memos, err = readMemos(c, cfg.Service.Wire, o.queue.file); err != nil {
				return nil, err
			}
		}
		return memoRecords(cfg.Service.Wire, args[0], memos)
	})
}

// readMemos reads memos in the service's shape, whose names are settings.
func readMemos(c *call, w cloud.Wire, path string) ([]cloud.Memo, error) {
	return convertRecords(c, path, func(fields map[string]string) (cloud.Memo, error) {
		for name := range fields {
			if name != w.MemoText && name != w.MemoEmail {
				return cloud.Memo{}, fmt.Errorf("there is no field %s; the fields are %s, %s", name, w.MemoText, w.MemoEmail)
			}
		}
		return cloud.Memo{Text: fields[w.MemoText], Email: fields[w.MemoEmail]}, nil
	})
}

func memoRecords(w cloud.Wire, device string, memos []cloud.Memo) ([]outgoingRecord, error) {
	if strings.Trim(device, ". ") == "" || len(device) > maxAddress {
		return nil, fmt.Errorf("%q is no device's id; `gauger devices query` shows them", device)
	}
	var all []outgoingRecord
	for _, memo := range memos {
		body, err := w.EncodeMemo(memo)
		if err != nil {
			return nil, err
		}
		all = append(all, outgoingRecord{ledger.Memos, device, body, fmt.Sprintf("memo for device %s: %q", device, memo.Text)})
	}
	return all, nil
}
