package main

import (
	"context"
	"time"
)

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
