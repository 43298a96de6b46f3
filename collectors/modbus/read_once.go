package modbus

import (
	"context"
	"sync"

	"gauger/collectors"
	"gauger/collectors/modbus/line"
)

// Read asks the devices once and returns a reading for each of their points, in the order of the configuration.
// What could not be read is Bad and says why. The lines stay open; whoever made them closes them. The error is a
// mistake in the options, or the context's.
func Read(ctx context.Context, lines *line.Lines, devices []Device) ([]collectors.Reading, error) {
	if err := optionsError(devices); err != nil {
		return nil, err
	}
	made := make([]*device, len(devices))
	for i, options := range devices {
		d, err := newDevice(lines, options)
		if err != nil {
			return nil, err
		}
		made[i] = d
	}
	var wait sync.WaitGroup
	batches := make([][]collectors.Reading, len(made))
	for i, d := range made {
		wait.Go(func() { batches[i] = d.newRound().run(ctx).batch })
	}
	wait.Wait()
	var all []collectors.Reading
	for _, b := range batches {
		all = append(all, b...)
	}
	return all, ctx.Err()
}
