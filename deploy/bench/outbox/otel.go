package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/storage/filestorage"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"
)

// otel is the OpenTelemetry collector's file storage, synced, at its best: a commit of n records is one batch of n
// operations. (The collector's own queue makes one or two more batches for every element.)
type otel struct {
	ext    extension.Extension
	client storage.Client
	mu     sync.Mutex
	came   *sync.Cond
	begun  uint64 // index of the newest record that was given a key
	done   uint64 // all up to this one are stored
	waits  map[uint64]uint64
	first  uint64 // index of the oldest record
}

const otelHead = "first"

func openOTel(dir string) (store, error) {
	ctx := context.Background()
	factory := filestorage.NewFactory()
	cfg, ok := factory.CreateDefaultConfig().(*filestorage.Config)
	if !ok {
		return nil, errors.New("the file storage's configuration has another type")
	}
	cfg.Directory, cfg.FSync = filepath.Join(dir, "otel"), true
	if err := os.MkdirAll(cfg.Directory, 0o750); err != nil {
		return nil, err
	}
	id := component.NewID(factory.Type())
	ext, err := factory.Create(ctx, extension.Settings{ID: id,
		TelemetrySettings: component.TelemetrySettings{Logger: zap.NewNop()}}, cfg)
	if err != nil {
		return nil, err
	}
	if err := ext.Start(ctx, nil); err != nil {
		return nil, err
	}
	opener, ok := ext.(storage.Extension)
	if !ok {
		return nil, errors.New("the file storage gives no clients")
	}
	client, err := opener.GetClient(ctx, component.KindExporter, id, "queue")
	if err != nil {
		return nil, err
	}
	o := &otel{ext: ext, client: client, waits: map[uint64]uint64{}, first: 1}
	o.came = sync.NewCond(&o.mu)
	return o, nil
}

func otelKey(i uint64) string { return strconv.FormatUint(i, 10) }

func (o *otel) put(bodies [][]byte) error {
	o.mu.Lock()
	from := o.begun + 1
	o.begun += uint64(len(bodies))
	to := o.begun
	o.mu.Unlock()
	ops := make([]*storage.Operation, len(bodies))
	for i, body := range bodies {
		ops[i] = storage.SetOperation(otelKey(from+uint64(i)), body)
	}
	if err := o.client.Batch(context.Background(), ops...); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waits[from] = to
	for to, ok := o.waits[o.done+1]; ok; to, ok = o.waits[o.done+1] {
		delete(o.waits, o.done+1)
		o.done = to
	}
	o.came.Broadcast()
	return nil
}

func (o *otel) newest() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.done < o.first {
		o.came.Wait()
	}
	return o.done
}

func (o *otel) drain(n, batch int, sent func([][]byte)) error {
	ctx := context.Background()
	for n > 0 {
		upTo := min(o.newest(), o.first+uint64(min(batch, n))-1)
		var gets, removes []*storage.Operation
		for i := o.first; i <= upTo; i++ {
			gets = append(gets, storage.GetOperation(otelKey(i)))
			removes = append(removes, storage.DeleteOperation(otelKey(i)))
		}
		if err := o.client.Batch(ctx, gets...); err != nil {
			return err
		}
		bodies := make([][]byte, len(gets))
		for i, get := range gets {
			if bodies[i] = get.Value; get.Value == nil {
				return fmt.Errorf("record %d is not there", o.first+uint64(i))
			}
		}
		sent(bodies)
		removes = append(removes, storage.SetOperation(otelHead, []byte(otelKey(upTo+1))))
		if err := o.client.Batch(ctx, removes...); err != nil {
			return err
		}
		o.mu.Lock()
		o.first = upTo + 1
		o.mu.Unlock()
		n -= len(bodies)
	}
	return nil
}

func (o *otel) close() error {
	ctx := context.Background()
	return errors.Join(o.client.Close(ctx), o.ext.Shutdown(ctx))
}
