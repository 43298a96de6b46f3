package main

import (
	"context"
	"fmt"
	"strings"

	"gauger/agent"
	"gauger/agent/cloud"
	"gauger/config"
)

// runMemoAdd adds a memo to a device.
func runMemoAdd(ctx context.Context, c *call, args []string) error {
	f := flags(c, "memo add")
	email := f.String("email", "", "on whose behalf: `ADDRESS` of another user of the service")
	s := addQueueFlags(f)
	rest, err := parse(f, c, args)
	switch {
	case err != nil:
		return err
	case s.file != "" && (len(rest) != 1 || *email != ""):
		return usage{"with --file, memo add wants the device's id and nothing else"}
	case s.file == "" && len(rest) != 2:
		return usage{"memo add wants the device's id and the text in quotes, such as: memo add 4711 \"valve replaced\""}
	}
	return queueRecords(ctx, c, s, func(cfg *config.Config) ([]record, error) {
		var memos []cloud.Memo
		if s.file == "" {
			memos = []cloud.Memo{{Text: rest[1], Email: *email}}
		} else if memos, err = readMemos(c, cfg.Service.Wire, s.file); err != nil {
			return nil, err
		}
		return memoRecords(cfg.Service.Wire, rest[0], memos)
	})
}

// readMemos reads memos in the service's shape, whose names are settings.
func readMemos(c *call, w cloud.Wire, path string) ([]cloud.Memo, error) {
	raw, err := recordsOf[map[string]string](c, path)
	if err != nil {
		return nil, err
	}
	var memos []cloud.Memo
	for i, fields := range raw {
		for name := range fields {
			if name != w.MemoText && name != w.MemoEmail {
				return nil, fmt.Errorf("%s: record %d: there is no field %s; the fields are %s, %s", path, i+1, name, w.MemoText, w.MemoEmail)
			}
		}
		memos = append(memos, cloud.Memo{Text: fields[w.MemoText], Email: fields[w.MemoEmail]})
	}
	return memos, nil
}

func memoRecords(w cloud.Wire, device string, memos []cloud.Memo) ([]record, error) {
	if strings.Trim(device, ". ") == "" || len(device) > maxAddress {
		return nil, fmt.Errorf("%q is no device's id; `gauger devices query` shows them", device)
	}
	var all []record
	for _, memo := range memos {
		body, err := w.EncodeMemo(memo)
		if err != nil {
			return nil, err
		}
		all = append(all, record{agent.Memos, device, body, fmt.Sprintf("memo for device %s: %q", device, memo.Text)})
	}
	return all, nil
}
